"""Reach: by going there, by the linear model, and both on the toy."""

import numpy as np
import pytest
from random_models import random_limits
from toy_robot import condense, limits, toy

from pliant.control import InverseParameters, inverse_step
from pliant.control.reach import horizontal_directions, linear_reach, reach
from pliant.errors import PliantError


def test_reach_of_a_box() -> None:
    def step(goal: np.ndarray) -> tuple[np.ndarray, bool]:
        inside = np.clip(goal, -0.02, 0.0305)
        return inside, bool(np.allclose(inside, goal))

    found = reach(step, (0, 0, 0), horizontal_directions(4), maximum=0.1, resolution=0.001)
    np.testing.assert_allclose(found, [0.030, 0.030, 0.020, 0.020], atol=1e-12)
    assert reach(step, (1, 0, 0), horizontal_directions(1), maximum=0.1, resolution=0.01)[0] == 0.0


def test_reach_needs_lengths() -> None:
    with pytest.raises(PliantError):
        reach(lambda g: (g, True), (0, 0, 0), horizontal_directions(1), maximum=0.0, resolution=0.1)


def test_linear_reach_is_close_to_the_true_one_for_a_stiff_small_motion() -> None:
    robot, parameters = toy(4), InverseParameters(pretension=0.0)
    bounds = limits(robot, effort_max=0.6)
    command = np.full(4, 0.003)

    def step(goal: np.ndarray) -> tuple[np.ndarray, bool]:
        nonlocal command
        for _ in range(6):
            model = condense(robot, command)
            result = inverse_step(model, goal[None], bounds, parameters, period=0.02)
            command = result.course
        return model.x_e[0], bool(np.linalg.norm(model.x_e[0] - goal) < 1e-4)

    model = condense(robot, command)
    center, around = model.x_e[0], horizontal_directions(4)
    true = reach(step, center, around[:2], maximum=0.02, resolution=5e-4)
    linear = linear_reach(model, bounds, center, around)
    np.testing.assert_allclose(linear, linear[0], rtol=1e-6)  # the toy has four-fold symmetry
    np.testing.assert_allclose(linear[:2], true, rtol=0.25, atol=5e-4)
    assert (true > 1e-3).all()


def test_linear_reach_of_a_centre_out_of_reach_is_zero() -> None:
    model = condense(toy(4), np.full(4, 0.003))
    assert linear_reach(model, random_limits(4), (1.0, 0, 0), horizontal_directions(2)).tolist() == [0, 0]
