"""The controller as a function of its messages: no clock, no transport, so a record replays bit for bit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.condensed import CondensedModel
from pliant.control import InverseParameters, InverseResult, inverse_step
from pliant.control.feedback import ControllerState, initial_state, observe
from pliant.limits import ActuatorLimits
from pliant_nodes.conversions import NANOSECONDS, ActuatorOrder, ActuatorReading, EffectorReading

Array = NDArray[np.float64]

LONGEST_GAP = NANOSECONDS // 2  # between two snapshots of one run [ns]
MODE_TENSION, MODE_LENGTH = 0, 1  # constants of ActuatorCommand


@dataclass(frozen=True)
class Snapshot:
    """What the controller knows of one time: three messages with one stamp."""

    actuators: ActuatorReading
    effectors: EffectorReading
    model: CondensedModel


@dataclass(frozen=True)
class Reference:
    """Where effectors shall be.

    Attributes:
        position: Wanted positions [m], shape (n_e, 3).
        weight: 1 for an effector that has a goal, 0 for a free one, shape (n_e,).
    """

    position: Array
    weight: Array


class ControllerCore:
    """Estimates the effectors, then answers each snapshot with one order.

    Without a reference it holds the last order. A reference after none starts from a clean
    memory, so that a record replays from there on, whenever it began. Stamps that jump, as when
    the robot starts again, make it forget everything, the order that it held as well.

    Args:
        limits: Limits of the actuators.
        length_driven: Whether each actuator takes a course (else a tension), shape (n_a,).
        parameters: Options of the inverse problem.
        period: Time until the next step where stamps do not tell [s].
    """

    def __init__(
        self,
        limits: ActuatorLimits,
        length_driven: NDArray[np.bool_],
        parameters: InverseParameters,
        *,
        period: float,
    ) -> None:
        self._limits, self._parameters, self._period = limits, parameters, period
        self._length_driven = length_driven
        self._mode = np.where(length_driven, MODE_LENGTH, MODE_TENSION).astype(np.uint8)
        self._memory: ControllerState | None = None
        self._last_stamp: int | None = None
        self._referred = False
        self.held: Array | None = None

    def estimate(self, snapshot: Snapshot) -> Array:
        """Positions of the effectors by model and measurement [m], shape (n_e, 3)."""
        stamp = snapshot.actuators.stamp
        if self._last_stamp is not None and not 0 < stamp - self._last_stamp <= LONGEST_GAP:
            self._memory, self._last_stamp, self._referred, self.held = None, None, False, None
        memory = initial_state(snapshot.model) if self._memory is None else self._memory
        self._memory = observe(memory, snapshot.model, snapshot.effectors.position, self._parameters)
        estimate: Array = snapshot.model.x_e + self._memory.offset
        return estimate

    def order(
        self, snapshot: Snapshot, estimate: Array, reference: Reference | None
    ) -> tuple[ActuatorOrder, InverseResult | None]:
        """The order that answers a snapshot, and what the inverse problem said of the reference."""
        stamp = snapshot.actuators.stamp
        result: InverseResult | None = None
        if reference is None:
            self._memory = None
            if self.held is None:
                self.held = np.where(
                    self._length_driven, snapshot.actuators.position, snapshot.actuators.effort
                )
        else:
            result = inverse_step(
                snapshot.model,
                reference.position,
                self._limits,
                self._parameters,
                period=self._step_time(stamp),
                effector=estimate,
                weight=reference.weight,
            )
            self.held = np.where(self._length_driven, result.course, result.effort)
        self._last_stamp, self._referred = stamp, reference is not None
        order = ActuatorOrder(stamp, self._mode, self.held, np.zeros_like(self.held), stamp)
        return order, result

    def _step_time(self, stamp: int) -> float:
        """Time since the last snapshot [s], which is the best guess of the time until the next."""
        if self._last_stamp is None or not self._referred:
            return self._period
        return min((stamp - self._last_stamp) / NANOSECONDS, 5.0 * self._period)
