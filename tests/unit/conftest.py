"""Fixtures of all unit tests."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # for `block`, in pytest's importlib mode

from block import block_robot, write_robot


@pytest.fixture
def block_file(tmp_path: Path) -> Path:
    """The file of the small block robot, with its meshes beside it."""
    return write_robot(tmp_path, block_robot())
