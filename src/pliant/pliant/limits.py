"""What an actuator may do: its range and its speed."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from pliant.errors import PliantError

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ActuatorLimits:
    """Limits of effort, course and their rates, one entry an actuator.

    Course limits and rates may be infinite; effort limits may not, because they set the
    scale of the control problem.

    Attributes:
        effort_min: Smallest effort [N], >= 0 (a cable only pulls), shape (n_a,).
        effort_max: Largest effort [N], shape (n_a,).
        course_min: Smallest course [m], shape (n_a,).
        course_max: Largest course [m], shape (n_a,).
        effort_rate: Largest change of effort [N/s], shape (n_a,).
        course_rate: Largest change of course [m/s], shape (n_a,).

    Raises:
        PliantError: If shapes differ, a range is empty or a rate is not positive.
    """

    effort_min: Array
    effort_max: Array
    course_min: Array
    course_max: Array
    effort_rate: Array
    course_rate: Array

    def __post_init__(self) -> None:
        for field in fields(self):
            value = np.array(getattr(self, field.name), dtype=np.float64)
            value.setflags(write=False)
            object.__setattr__(self, field.name, value)
            if value.shape != (self.n_actuators,):
                _refuse(field.name, f"shape {value.shape}", f"shape ({self.n_actuators},)")
            if np.isnan(value).any():
                _refuse(field.name, value, "no NaN")
        if not (np.isfinite(self.effort_max).all() and (self.effort_min >= 0).all()):
            _refuse("effort", (self.effort_min, self.effort_max), "0 <= minimum, finite maximum [N]")
        for name in ("effort", "course"):
            low, high = getattr(self, f"{name}_min"), getattr(self, f"{name}_max")
            if not (low < high).all():
                _refuse(name, (low, high), "minimum below maximum")
            if not (getattr(self, f"{name}_rate") > 0).all():
                _refuse(f"{name}_rate", getattr(self, f"{name}_rate"), "above zero")

    @property
    def n_actuators(self) -> int:
        """Number of actuators."""
        return int(np.size(self.effort_min))


def _refuse(name: str, given: object, allowed: str) -> None:
    raise PliantError(f"actuator limits: {name}: given {given}; allowed: {allowed}")
