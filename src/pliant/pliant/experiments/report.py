"""What an experiment says: the paper's figures, the measured ones, and the bars."""

from __future__ import annotations

import json
import platform
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from pliant import __version__
from pliant.errors import PliantError


@dataclass(frozen=True)
class Bar:
    """One figure with the limit it is held to; `sense` is "<=" or ">="."""

    name: str
    value: float
    limit: float
    sense: str
    unit: str

    def __post_init__(self) -> None:
        if self.sense not in ("<=", ">="):
            raise PliantError(f"bar {self.name!r}: sense is {self.sense!r}; allowed: '<=', '>='")

    @property
    def met(self) -> bool:
        """Whether the value keeps the limit."""
        return self.value <= self.limit if self.sense == "<=" else self.value >= self.limit


@dataclass(frozen=True)
class Outcome:
    """What an experiment's module returns: measured figures, bars, and the seed it used."""

    measured: dict[str, Any]
    bars: tuple[Bar, ...]
    seed: int


@dataclass(frozen=True)
class Report:
    """An experiment's result as written to JSON.

    Attributes:
        name: Name of the experiment.
        paper: What the paper reports, with its table or figure.
        measured: What was measured here, units in the names.
        bars: Figures held to a limit.
        seed: Seed of every random number.
        seconds: How long it took [s].
        quick: Whether it was the smaller version.
        versions: Versions of Python, the machine and the libraries.
    """

    name: str
    paper: dict[str, str]
    measured: dict[str, Any]
    bars: tuple[Bar, ...]
    seed: int
    seconds: float
    quick: bool
    versions: dict[str, str] = field(default_factory=lambda: versions())

    def write(self, path: Path) -> None:
        """Write the JSON file."""
        content = asdict(self)
        content["bars"] = [asdict(bar) | {"met": bar.met} for bar in self.bars]
        path.write_text(json.dumps(content, indent=2, allow_nan=False) + "\n")


def versions() -> dict[str, str]:
    """Versions of what a result depends on."""
    machine = f"{platform.system()} {platform.machine()}"
    found = {"pliant": __version__, "python": platform.python_version(), "machine": machine}
    for name in ("numpy", "scipy", "numba", "osqp", "daqp"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found
