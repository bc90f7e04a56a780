"""Random actuations of the shipped robots, for the tests that must hold for each of them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

from pliant.fem import State, rest, solve_equilibrium
from pliant.robot import Robot, load_robot, shipped_robots

ROBOTS = tuple(shipped_robots())

CABLE_STEP_M = {"diamond": 3e-3}
"""Largest cable step along a path; 1 mm for every other robot."""


@cache
def robot_at_rest(name: str) -> tuple[Robot, State]:
    robot = load_robot(name)
    return robot, rest(robot.system)


def random_course(robot: Robot, rng: np.random.Generator) -> np.ndarray:
    """Command within the limits [m]."""
    return rng.uniform(robot.limits.course_min, robot.limits.course_max)


def path_to(name: str, course: np.ndarray) -> Iterator[State]:
    """The equilibria on the way from rest to a command of courses, in steps of one cable step."""
    robot, state = robot_at_rest(name)
    n = int(np.ceil(np.abs(course).max() / CABLE_STEP_M.get(name, 1e-3)))
    for i in range(1, n + 1):
        state = solve_equilibrium(
            robot.system,
            state,
            command=course * i / n,
            length_driven=np.ones(robot.system.n_a, dtype=bool),
        )
        yield state
