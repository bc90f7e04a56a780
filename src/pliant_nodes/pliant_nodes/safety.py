"""What a driver does with commands: obeys fresh ones, holds when they stop, then goes to safety.

Pure Python.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from pliant.parameters import parameter, validate

Array = NDArray[np.float64]

NANOSECONDS = 1_000_000_000


class Drive(StrEnum):
    """What a driver is doing."""

    WAITING = "waiting for the first command"
    FOLLOWING = "following commands"
    HOLDING = "holding: no command in time"
    RAMPING = "ramping to the safe state"
    SAFE = "in the safe state"
    STOPPED = "held by the emergency stop"


@dataclass(frozen=True)
class SafetyParameters:
    """When a driver gives up on its commander, and how fast it goes to safety."""

    command_timeout: float = parameter(
        0.5,
        unit="s",
        minimum=0.01,
        maximum=60.0,
        description="Age of the last command after which the driver holds.",
    )
    hold: float = parameter(
        2.0,
        unit="s",
        minimum=0.0,
        maximum=3600.0,
        description="How long it holds before it ramps to the safe state.",
    )
    ramp: float = parameter(
        5.0,
        unit="s",
        minimum=0.1,
        maximum=3600.0,
        description="Time of a ramp over the whole range of an actuator.",
    )

    def __post_init__(self) -> None:
        validate(self)


class CommandGuard:
    """Turns accepted commands and the passing of time into the target of each step.

    Args:
        parameters: Options.
        safe: Value of the safe state, course [m] or tension [N], shape (n_a,).
        low: Least value, shape (n_a,).
        high: Greatest value, shape (n_a,).
    """

    def __init__(self, parameters: SafetyParameters, *, safe: Array, low: Array, high: Array) -> None:
        self._parameters, self._safe = parameters, safe
        self._low, self._high = low, high
        self._ramp_rate = (high - low) / parameters.ramp
        self._value: Array | None = None
        self._max_rate = np.zeros_like(safe)
        self._held: Array | None = None
        self._since = 0
        self._stopped = False
        self.drive = Drive.WAITING

    def command(self, value: Array, max_rate: Array, now: int) -> None:
        """Take an accepted command at the time `now` [ns]; ignored while stopped."""
        if not self._stopped:
            self._value, self._max_rate, self._since, self._held = value, max_rate, now, None

    def emergency_stop(self, stopped: bool) -> None:
        """Hold from now on, or wait for the next command."""
        if stopped != self._stopped:
            self._stopped, self._value, self._held = stopped, None, None

    def target(self, applied: Array, now: int, dt: float) -> Array:
        """The value to go to in the next step.

        Args:
            applied: Value that is applied at present, shape (n_a,).
            now: Present time [ns].
            dt: Time of the step [s].
        """
        age = (now - self._since) / NANOSECONDS - self._parameters.command_timeout
        if self._stopped:
            self.drive = Drive.STOPPED
        elif self._value is None:
            self.drive = Drive.WAITING
        elif age <= 0.0:
            self.drive = Drive.FOLLOWING
            largest = np.where(self._max_rate > 0.0, self._max_rate * dt, np.inf)
            return np.clip(self._value, applied - largest, applied + largest)
        elif age <= self._parameters.hold:
            self.drive = Drive.HOLDING
        else:
            return self._ramped(applied, dt)
        if self._held is None:
            self._held = np.clip(applied, self._low, self._high)
        return self._held

    def _ramped(self, applied: Array, dt: float) -> Array:
        step = self._ramp_rate * dt
        target = applied + np.clip(self._safe - applied, -step, step)
        self.drive = Drive.SAFE if np.array_equal(target, self._safe) else Drive.RAMPING
        return target
