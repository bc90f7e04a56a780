"""The project's exceptions: one root, and each failure carries the problem that failed."""

from __future__ import annotations

from pathlib import Path
from typing import Any


class PliantError(Exception):
    """Root of every error that Pliant raises on purpose."""


class MeshError(PliantError):
    """A mesh that cannot carry a finite-element model."""


class RobotFileError(PliantError):
    """A robot file that cannot become a robot.

    Attributes:
        file: The file that was read.
        key: The key inside it, dotted and indexed ("actuators[2].course_m").
        given: What stands there.
        allowed: What may stand there.
    """

    def __init__(self, file: str | Path, key: str, given: object, allowed: str) -> None:
        self.file, self.key, self.given, self.allowed = str(file), key, given, allowed
        super().__init__(f"{file}: {key}: given {given!r}; allowed: {allowed}")


class EquilibriumError(PliantError):
    """No equilibrium was found. The last `fem.State` reached is attached as `state`."""

    def __init__(self, message: str, state: Any) -> None:
        self.state = state
        super().__init__(message)


class NotConvergedError(EquilibriumError):
    """Newton's method and the subdivision of the step are exhausted."""


class InvertedElementError(EquilibriumError):
    """Every admissible step inverts an element (J <= 0)."""


class LimitPointError(EquilibriumError):
    """The tangent stiffness is not positive definite: the equilibrium is unstable under constant efforts.

    Fixed lengths might hold it, but it has no compliance W to be controlled by.
    """
