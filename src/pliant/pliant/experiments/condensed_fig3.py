"""Ménager et al. 2023, IV-C1, Fig. 3: the Diamond follows thirty goals on a circle by its full FEM model."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from pliant.control import FollowParameters, InverseParameters
from pliant.control.paths import circle
from pliant.experiments.closed_loop import closed_loop, reached
from pliant.experiments.goals import default_path
from pliant.experiments.report import Bar, Outcome
from pliant.pictures import Trace, track_picture
from pliant.plant import read_plant
from pliant.robot import load_robot
from pliant.text import length_text

GOALS, QUICK_GOALS = 30, 10


def run(*, quick: bool, figure: Path, advance: Callable[[int, int], None]) -> Outcome:
    """Follow the circle with the plant that is the model, then with the one that is not.

    Args:
        quick: Ten goals instead of thirty.
        figure: Where the picture of the second plant goes.
        advance: Told how many goals of how many are done, both runs together.
    """
    robot = load_robot("diamond")
    path = default_path(robot)
    goals = circle(path.center_m, path.radius_m, QUICK_GOALS if quick else GOALS)
    measured: dict[str, float | int] = {"goals": len(goals), "radius_mm": 1e3 * path.radius_m}
    errors = {}
    for run_number, name in enumerate(("same", "other")):
        parameters = read_plant(name)
        loop = closed_loop(
            robot,
            goals,
            plant=parameters,
            inverse=InverseParameters(),
            follow=FollowParameters(tolerance=1e-5),
            progress=partial(_advance, advance, run_number),
        )
        result = loop.result
        errors[name] = 1e3 * result.goal_error
        measured |= {
            f"{name}_mean_error_mm": float(errors[name].mean()),
            f"{name}_max_error_mm": float(errors[name].max()),
            f"{name}_steps_max": int(result.goal_steps.max()),
            f"{name}_control_rate_hz": len(result.time) / (loop.seconds - loop.plant_seconds),
        }
    title = f"Diamond, plant unlike its model: mean error {length_text(result.goal_error.mean())}"
    trace = Trace(
        title,
        goals,
        reached(result),
        result.effector[:, 0],
        result.effort,
        result.time,
        loop.plant.sample.state.x,
    )
    track_picture(figure, loop.plant.robot, trace)
    bars = tuple(
        Bar(
            f"{statistic} error, {name} plant", float(getattr(np, statistic)(errors[name])), limit, "<=", "mm"
        )
        for name, statistic, limit in (
            ("same", "mean", 0.01),
            ("same", "max", 0.05),
            ("other", "mean", 0.1),
            ("other", "max", 0.3),
        )
    )
    return Outcome(measured, bars, parameters.seed)


def _advance(advance: Callable[[int, int], None], run_number: int, done: int, total: int) -> None:
    advance(run_number * total + done, 2 * total)
