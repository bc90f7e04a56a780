"""Meshes that the geometry tests share."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from pliant.geometry.mesh import TetMesh, quadratic

sys.path.insert(0, str(Path(__file__).parent))  # for `bent_block`, in pytest's importlib mode

from bent_block import bent_block

PUBLIC = Path(__file__).parents[4] / "shared" / "data" / "soft"


@pytest.fixture(params=["linear", "quadratic"])
def mesh(request: pytest.FixtureRequest) -> TetMesh:
    """The bent block of either order."""
    return bent_block() if request.param == "linear" else quadratic(bent_block())


@pytest.fixture
def public() -> Path:
    """The folder of public meshes; the test is skipped where it is missing."""
    if not PUBLIC.is_dir():
        pytest.skip(f"no public meshes in {PUBLIC}")
    return PUBLIC


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)
