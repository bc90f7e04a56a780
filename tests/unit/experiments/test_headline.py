"""The headline: each shipped robot follows its own circle, on its model and on another plant."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.control import FollowParameters, InverseParameters
from pliant.control.paths import circle
from pliant.experiments.closed_loop import closed_loop
from pliant.experiments.goals import default_path, reachable_goals
from pliant.plant import read_plant
from pliant.robot import load_robot, shipped_robots

# Mean and largest distance of the true effector from its goal [m]: the project's own bars.
BARS = {"same": (1e-5, 5e-5), "other": (1e-4, 3e-4)}
STEPS_A_GOAL = 20


def follow_circle(name: str, plant: str, n_goals: int, laps: int = 1):
    robot = load_robot(name)
    path = default_path(robot)
    goals = reachable_goals(robot, circle(path.center_m, path.radius_m, n_goals, normal=path.normal))
    follow = FollowParameters(tolerance=1e-5, max_steps=STEPS_A_GOAL)
    return closed_loop(
        robot, np.tile(goals, (laps, 1)), plant=read_plant(plant), inverse=InverseParameters(), follow=follow
    )


def check_bars(loop, plant: str, record_property) -> None:
    error = loop.result.goal_error
    record_property("mean_error_m", float(error.mean()))
    record_property("max_error_m", float(error.max()))
    mean, largest = BARS[plant]
    assert error.mean() <= mean
    assert error.max() <= largest
    limits = loop.robot.limits
    assert (loop.result.effort <= limits.effort_max * (1 + 1e-6)).all()
    assert (loop.result.effort >= limits.effort_min - 1e-9).all()


@pytest.mark.parametrize("plant", BARS)
@pytest.mark.parametrize("name", shipped_robots())
def test_robots_follow_their_circle(name, plant, record_property):
    check_bars(follow_circle(name, plant, 6), plant, record_property)


@pytest.mark.full
@pytest.mark.parametrize("plant", BARS)
@pytest.mark.parametrize("name", shipped_robots())
def test_robots_follow_thirty_goals(name, plant, record_property):
    check_bars(follow_circle(name, plant, 30), plant, record_property)


@pytest.mark.full
def test_ten_laps_leave_no_growth(record_property):
    """Neither error nor tension grows from the second lap to the tenth (<= 1 %)."""
    n_goals, laps = 10, 10
    loop = follow_circle("diamond", "same", n_goals, laps)
    last = np.flatnonzero(np.diff(loop.result.index, append=loop.result.index[-1] + 1))
    tension = loop.result.effort[last].reshape(laps, n_goals, -1).sum(axis=(1, 2))
    record_property("tension_growth", float(tension[-1] / tension[1] - 1))
    assert tension[-1] <= 1.01 * tension[1]
    error = loop.result.goal_error.reshape(laps, n_goals).mean(axis=1)
    assert error[-1] <= max(1.01 * error[1], 1e-6)
