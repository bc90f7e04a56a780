"""One simulated robot without ROS: its plant, its guard, its gate, and its measurements."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.condensed import CondensedModel
from pliant.condensed.exact import condense
from pliant.plant import Plant, PlantSample
from pliant.robot import Robot
from pliant_nodes.controller_core import MODE_LENGTH, MODE_TENSION
from pliant_nodes.conversions import ActuatorOrder, ActuatorReading, EffectorReading, seconds
from pliant_nodes.gate import CommandClock, Expected, MessageGate
from pliant_nodes.safety import CommandGuard, SafetyParameters

Array = NDArray[np.float64]

SLACK, SATURATED, FAULT = 1, 2, 8  # bits of ActuatorState
TRUTH, MEASURED = 0, 2  # constants of EffectorStates


@dataclass(frozen=True)
class Measurement:
    """What one step of a simulated robot gives to the world, all of one time."""

    actuators: ActuatorReading
    measured: EffectorReading
    truth: EffectorReading
    model: CondensedModel | None


def expected_messages(robot: Robot, frame: str) -> Expected:
    """What messages about a robot must agree with."""
    modes = np.where(robot.length_driven, MODE_LENGTH, MODE_TENSION)
    return Expected(
        robot.name, robot.hash, frame, robot.actuator_names, robot.effector_names, tuple(modes.tolist())
    )


class SimulatedRobot:
    """Steps a plant by the commands that its guard lets through.

    Args:
        name: Name of this robot in the graph; its frames begin with it.
        robot: The robot as its controller knows it.
        plant: The plant.
        safety: When commands are given up.
        publish_model: Whether to condense the plant itself.
    """

    def __init__(
        self, name: str, robot: Robot, plant: Plant, safety: SafetyParameters, *, publish_model: bool
    ) -> None:
        self.name, self.robot, self.plant = name, robot, plant
        self.frame = f"{name}/base"
        self.gate = MessageGate(expected_messages(robot, self.frame))
        timeout = int(safety.command_timeout * 1e9)
        self.command_clock, self.load_clock = CommandClock(timeout), CommandClock(timeout)
        self.load = np.zeros((len(robot.effector_names), 3))
        self._publish_model = publish_model
        limits, driven = robot.limits, robot.length_driven
        self.guard = CommandGuard(
            safety,
            safe=self._applied(plant.sample),
            low=np.where(driven, limits.course_min, limits.effort_min),
            high=np.where(driven, limits.course_max, limits.effort_max),
        )

    def command(self, order: ActuatorOrder, now: int) -> None:
        """Take an accepted order at the time `now` [ns]."""
        self.guard.command(order.value, order.max_rate, now)

    def step(self, stamp: int, dt: float) -> Measurement:
        """Go on by `dt` [s] to the time `stamp` [ns]."""
        before = self.plant.sample
        target = self.guard.target(self._applied(before), stamp, dt)
        return self._measurement(self.plant.step(target, dt, self.load), before.position, stamp, dt)

    def rest(self, stamp: int) -> Measurement:
        """What is measured before the first step."""
        return self._measurement(self.plant.sample, self.plant.sample.position, stamp, 1.0)

    def _applied(self, sample: PlantSample) -> Array:
        return np.where(self.robot.length_driven, sample.position, sample.effort)

    def _measurement(self, sample: PlantSample, before: Array, stamp: int, dt: float) -> Measurement:
        fault = 0 if sample.fault is None else FAULT
        flags = SLACK * sample.slack + SATURATED * sample.saturated + fault
        variance = self.plant.parameters.effector_noise_m**2
        covariance = np.tile(variance * np.eye(3), (len(sample.effector), 1, 1))
        force = sample.state.effector_force
        return Measurement(
            actuators=ActuatorReading(
                stamp, sample.position, (sample.position - before) / dt, sample.effort, flags.astype(np.uint8)
            ),
            measured=EffectorReading(stamp, sample.measured, covariance, None, MEASURED),
            truth=EffectorReading(stamp, sample.effector, None, force, TRUTH),
            model=self._model(sample, stamp) if self._publish_model else None,
        )

    def _model(self, sample: PlantSample, stamp: int) -> CondensedModel:
        return condense(
            self.plant.robot.system,
            sample.state,
            robot=self.robot.name,
            robot_hash=self.plant.robot.hash,
            effectors=self.robot.effector_names,
            stamp=seconds(stamp),
        )
