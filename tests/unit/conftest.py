"""Fixtures of all unit tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from block import block_robot, write_robot


@pytest.fixture
def block_file(tmp_path: Path) -> Path:
    """The file of the small block robot, with its meshes beside it."""
    return write_robot(tmp_path, block_robot())
