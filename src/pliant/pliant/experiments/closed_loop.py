"""One closed loop, put together: a robot's FEM model controls a plant along goals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.condensed.source import FemModel
from pliant.control import FollowParameters, InverseParameters, TrackResult, track
from pliant.plant import Plant, PlantParameters
from pliant.robot import Robot

Array = NDArray[np.float64]

PERIOD_S = 0.05


def closed_loop(
    robot: Robot,
    goals: Array,
    *,
    plant: PlantParameters,
    inverse: InverseParameters,
    follow: FollowParameters,
    period: float = PERIOD_S,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[TrackResult, Plant]:
    """Follow goals with the full FEM model in the loop, and return the record and the plant at its end.

    Args:
        robot: The robot as the controller knows it.
        goals: Goals of the first effector [m], shape (n_goals, 3).
        plant: How the real robot differs.
        inverse: Options of the inverse problem.
        follow: When a goal counts as met.
        period: Time of a control step [s].
        progress: Called with the number of goals done and of all goals.

    Raises:
        PliantError: If a model or the plant fails.
    """
    real = Plant(robot, plant)
    result = track(
        real,
        FemModel(robot),
        goals,
        robot.limits,
        inverse,
        start=real.sample,
        length_driven=robot.length_driven,
        period=period,
        follow=follow,
        progress=progress,
    )
    return result, real


def summary(robot: Robot, plant: Plant, result: TrackResult, seconds: float) -> dict[str, Any]:
    """The figures of a record, units in their names, ready for JSON.

    Args:
        robot: The controller's robot.
        plant: The plant that was controlled.
        result: The record.
        seconds: How long the loop took to compute [s].
    """
    errors_mm = 1e3 * result.goal_error
    return {
        "robot": robot.name,
        "model": {"element": robot.spec.element, "nodes": robot.mesh.n_nodes, "resolution": robot.resolution},
        "plant": {"nodes": plant.robot.mesh.n_nodes, "resolution": plant.robot.resolution}
        | _plain(plant.parameters),
        "goals": len(errors_mm),
        "mean_error_mm": float(errors_mm.mean()),
        "max_error_mm": float(errors_mm.max()),
        "settle_steps_max": int(result.goal_steps.max()),
        "settle_steps_mean": float(result.goal_steps.mean()),
        "control_steps": len(result.time),
        "control_rate_hz": len(result.time) / seconds,
        "greatest_tension_n": float(result.effort.max()),
        "kkt_residual_max": float(result.kkt_residual.max()),
        "result": result.follow.message,
    }


def _plain(parameters: PlantParameters) -> dict[str, Any]:
    return {key: value for key, value in asdict(parameters).items() if key != "resolution"}


def reached(result: TrackResult) -> Array:
    """True position of the first effector when each goal was left [m], shape (n_goals, 3)."""
    last = np.flatnonzero(np.diff(result.index, append=result.index[-1] + 1))
    return result.effector[last, 0]
