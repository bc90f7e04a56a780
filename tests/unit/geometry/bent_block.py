"""A block without a face parallel to an axis."""

from __future__ import annotations

import numpy as np

from pliant.geometry.hexes import split, swept_block
from pliant.geometry.mesh import TetMesh


def bent_block(n: tuple[int, int, int] = (2, 2, 3)) -> TetMesh:
    """A block of hexahedra, twisted and bent so that no face is parallel to an axis."""
    axes = [np.linspace(0.0, length, count + 1) for length, count in zip((0.03, 0.02, 0.05), n, strict=True)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    x, y, z = np.moveaxis(grid, -1, 0)
    return split(swept_block(np.stack([x + 4.0 * z**2, y + 3.0 * x * z, z + 0.1 * y], axis=-1)))
