"""One closed loop, put together: a robot's FEM model controls a plant along goals."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.condensed.source import FemModel
from pliant.control import FollowParameters, InverseParameters, TrackResult, track
from pliant.plant import Plant, PlantParameters, PlantSample
from pliant.robot import Robot

Array = NDArray[np.float64]

PERIOD_S = 0.05


@dataclass(frozen=True)
class ClosedLoop:
    """What a closed loop came to.

    Attributes:
        robot: The robot as its controller knows it.
        plant: The plant that was controlled, as the loop left it.
        result: The record.
        seconds: How long it took to compute [s].
        plant_seconds: How much of that was the plant [s].
    """

    robot: Robot
    plant: Plant
    result: TrackResult
    seconds: float
    plant_seconds: float


def closed_loop(
    robot: Robot,
    goals: Array,
    *,
    plant: PlantParameters,
    inverse: InverseParameters,
    follow: FollowParameters,
    period: float = PERIOD_S,
    progress: Callable[[int, int], None] | None = None,
) -> ClosedLoop:
    """Follow goals with the full FEM model in the loop.

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
    real, model = _TimedPlant(Plant(robot, plant)), FemModel(robot)
    start = time.perf_counter()
    result = track(
        real,
        model,
        goals,
        robot.limits,
        inverse,
        start=real.plant.sample,
        length_driven=robot.length_driven,
        period=period,
        follow=follow,
        progress=progress,
    )
    return ClosedLoop(robot, real.plant, result, time.perf_counter() - start, real.seconds)


class _TimedPlant:
    """A plant that knows how long its steps took to compute."""

    def __init__(self, plant: Plant) -> None:
        self.plant, self.seconds = plant, 0.0

    def step(self, command: Array, dt: float) -> PlantSample:
        start = time.perf_counter()
        sample = self.plant.step(command, dt)
        self.seconds += time.perf_counter() - start
        return sample


def summary(loop: ClosedLoop) -> dict[str, Any]:
    """The figures of a closed loop, units in their names, ready for JSON."""
    robot, plant, result = loop.robot, loop.plant, loop.result
    errors_mm = 1e3 * result.goal_error
    own = {key: value for key, value in asdict(plant.parameters).items() if key != "resolution"}
    return {
        "robot": robot.name,
        "model": {"element": robot.spec.element, "nodes": robot.mesh.n_nodes, "resolution": robot.resolution},
        "plant": {"nodes": plant.robot.mesh.n_nodes, "resolution": plant.robot.resolution, **own},
        "goals": len(errors_mm),
        "mean_error_mm": float(errors_mm.mean()),
        "max_error_mm": float(errors_mm.max()),
        "settle_steps": int(result.goal_steps.max()),
        "settle_steps_mean": float(result.goal_steps.mean()),
        "control_steps": len(result.time),
        "control_rate_hz": len(result.time) / (loop.seconds - loop.plant_seconds),
        "loop_rate_hz": len(result.time) / loop.seconds,
        "greatest_tension_n": float(result.effort.max()),
        "kkt_residual_max": float(result.kkt_residual.max()),
        "result": result.follow.message,
    }


def reached(result: TrackResult) -> Array:
    """True position of the first effector when each goal was left [m], shape (n_goals, 3)."""
    last = np.flatnonzero(np.diff(result.index, append=result.index[-1] + 1))
    return result.effector[last, 0]
