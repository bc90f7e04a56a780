"""Random actuations within the limits of each shipped robot: all converge, in few Newton steps."""

from __future__ import annotations

import numpy as np
import pytest
from robot_states import ROBOTS, path_to, random_course, robot_at_rest

from pliant.fem import solve_equilibrium

MEAN_STEPS = 4.5
"""Factorisations an equilibrium along a path of one cable step each (1 mm; 3 mm for the Diamond)."""
LENGTH_EXACT_M = 1e-8
"""A taut cable has its commanded length to the square of the last step's tolerance, with a wide margin."""


def newton_steps(name: str, n: int) -> np.ndarray:
    """Factorisations of each equilibrium on the way to n random actuations; checks the law of slack."""
    robot, _ = robot_at_rest(name)
    rng = np.random.default_rng(7)
    steps = []
    for _ in range(n):
        course = random_course(robot, rng)
        state = None
        for state in path_to(name, course):
            steps.append(state.newton_steps)
        assert state is not None
        gap = state.course - course
        assert (state.effort >= 0).all()
        assert (gap >= -LENGTH_EXACT_M).all()
        assert (np.abs(gap[state.effort > 0]) <= LENGTH_EXACT_M).all()
    return np.array(steps)


@pytest.mark.parametrize("name", ROBOTS)
def test_random_actuations_converge_in_few_steps(name, record_property):
    steps = newton_steps(name, 10)
    record_property("mean_newton_steps", float(steps.mean()))
    assert steps.mean() <= MEAN_STEPS


@pytest.mark.full
@pytest.mark.parametrize("name", ROBOTS)
def test_two_hundred_random_actuations_converge_in_few_steps(name, record_property):
    steps = newton_steps(name, 200)
    record_property("mean_newton_steps", float(steps.mean()))
    assert steps.mean() <= MEAN_STEPS


@pytest.mark.parametrize("name", ROBOTS)
def test_jump_from_rest_finds_the_same_equilibrium_as_the_path(name):
    robot, state = robot_at_rest(name)
    course = 0.5 * random_course(robot, np.random.default_rng(3))
    jumped = solve_equilibrium(
        robot.system, state, command=course, length_driven=np.ones(robot.system.n_a, dtype=bool)
    )
    walked = list(path_to(name, course))[-1]
    assert np.abs(jumped.x - walked.x).max() <= 1e-6 * robot.system.size
