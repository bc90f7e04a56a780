"""The full finite-element model as a source of condensed models."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pliant.condensed.exact import condense
from pliant.condensed.model import CondensedModel
from pliant.fem import State, solve_equilibrium
from pliant.robot import Robot, start_state

Array = NDArray[np.float64]


class ActuatorReading(Protocol):
    """What the actuators of a robot report."""

    @property
    def position(self) -> Array:
        """Encoder of each actuator: pulled length [m], shape (n_a,)."""

    @property
    def effort(self) -> Array:
        """Tension of each actuator [N], shape (n_a,)."""


class FemModel:
    """A robot's finite-element model that follows its actuators (Ménager et al. 2023, III-C2, steps 1 and 4).

    Length-driven actuators are followed by their encoder, so that a slack cable is slack in the
    model as well; the others by their effort.

    Args:
        robot: The robot as the controller knows it.

    Raises:
        EquilibriumError: If it has no equilibrium at rest.
    """

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.state: State = start_state(robot)

    def __call__(self, reading: ActuatorReading, stamp: float = 0.0) -> CondensedModel:
        """The condensed model at a reading.

        Args:
            reading: What the actuators report.
            stamp: Time of the reading [s].

        Raises:
            EquilibriumError: If the model has no equilibrium there; it stays where it was.
        """
        robot = self.robot
        command = np.where(robot.length_driven, reading.position, reading.effort)
        self.state = solve_equilibrium(
            robot.system, self.state, command=command, length_driven=robot.length_driven
        )
        return condense(
            robot.system,
            self.state,
            robot=robot.name,
            robot_hash=robot.hash,
            effectors=robot.effector_names,
            stamp=stamp,
        )
