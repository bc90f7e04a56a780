"""The mesh of the Diamond: a base, a top, and four legs swept along the x and y axes.

The dimensions [mm] are those of the published robot of Inria's Defrost team (elbows at 97 mm, top at
125 mm); a leg is thin at its elbow and at its shoulder, as there. The base is a square of 30 mm, which
is the region held fixed. Every mesh has a node at each cable attachment, (+-97, 0, 45) and
(0, +-97, 45), and at the effector, (0, 0, 125), the middle of the top's upper side.

    python urdf/meshes/make_diamond.py --resolution coarse
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from shipping import ship

from pliant.geometry.hexes import divided, split, swept_block
from pliant.geometry.mesh import TetMesh

Array = NDArray[np.float64]

HALF_BASE, HALF_ELBOW, REACH = 15.0, 9.4, 97.0
"""Half width of the base and the top, half width of a leg at its elbow, distance of the elbows [mm]."""

STATIONS = np.array([
    # inner r, inner z, outer r, outer z, how far the section's sides hang below its middle
    [15.0, -10.0, 15.0, -37.0, 0.0],
    [31.0, -9.0, 31.0, -37.0, 0.0],
    [40.0, -6.0, 47.0, -32.0, 0.0],
    [49.0, 1.0, 64.0, -23.0, 0.0],
    [59.5, 11.0, 79.0, -8.0, 0.0],
    [71.0, 22.0, 87.5, 15.0, 0.0],
    [84.0, 35.5, 94.5, 34.5, 0.0],
    [89.5, 45.0, 97.0, 45.0, 0.0],
    [84.0, 54.0, 93.0, 54.0, 0.0],
    [70.0, 60.0, 83.0, 62.5, 0.0],
    [55.0, 66.0, 71.0, 73.0, 0.0],
    [41.0, 73.0, 56.0, 85.5, 0.5],
    [35.0, 84.0, 43.5, 96.0, 1.5],
    [28.5, 95.0, 33.0, 104.5, 2.5],
    [22.0, 104.5, 24.0, 112.0, 3.5],
    [15.0, 109.5, 15.0, 119.0, 4.5],
])  # fmt: skip
"""Sections of a leg from the base over the elbow to the top [mm]."""

TOP_MIDDLE = (113.5, 125.0)
"""Lower and upper side of the top in its middle [mm]."""

DIVISIONS = {"coarse": (1, 1, 1), "fine": (2, 1, 2)}
"""Parts of each hexahedron of `hexahedra` along a leg, through its thickness, and across half its width."""


def mesh(divisions: tuple[int, int, int]) -> TetMesh:
    """The robot in metres, its hexahedra divided along, through and across the legs."""
    along, through, across = divisions
    legs, caps = hexahedra()
    return split(1e-3 * np.concatenate([divided(legs, divisions), divided(caps, (through, across, across))]))


def hexahedra() -> tuple[Array, Array]:
    """Corners [mm] of the hexahedra of the four legs, and of the base and the top, shape (n, 8, 3) each."""
    leg = swept_block([_section(*station) for station in STATIONS])
    legs = [leg @ _quarter_turns(n).T for n in range(4)]
    base = _cap(STATIONS[0, 3], STATIONS[0, 1], (STATIONS[0, 3], STATIONS[0, 1]), 0.0)
    top = _cap(STATIONS[-1, 1], STATIONS[-1, 3], TOP_MIDDLE, STATIONS[-1, 4])
    return np.concatenate(legs), np.concatenate([base, top])


def _section(inner_r: float, inner_z: float, outer_r: float, outer_z: float, hang: float) -> Array:
    """Section of the leg along +x: inner and outer side, three points across, shape (2, 3, 3)."""
    across = np.array([-1.0, 0.0, 1.0])
    points = np.empty((2, 3, 3))
    for side, (r, z) in enumerate(((inner_r, inner_z), (outer_r, outer_z))):
        half = HALF_BASE + (HALF_ELBOW - HALF_BASE) * (r - HALF_BASE) / (REACH - HALF_BASE)
        points[side] = np.stack([np.full(3, r), half * across, z - hang * np.abs(across)], axis=1)
    return points


def _cap(low: float, high: float, middle: tuple[float, float], hang: float) -> Array:
    """The square between the legs: sides at `low` and `high` where the legs begin, shape (4, 8, 3)."""
    x, y = np.meshgrid(*2 * [HALF_BASE * np.array([-1.0, 0.0, 1.0])], indexing="ij")
    sections = []
    for z, centre in zip((low, high), middle, strict=True):
        sections.append(np.stack([x, y, np.full((3, 3), z) - hang * (np.abs(x * y) > 0.0)], axis=-1))
        sections[-1][1, 1, 2] = centre
    return swept_block(sections)


def _quarter_turns(n: int) -> Array:
    """Rotation by n right angles about z, exact, shape (3, 3)."""
    c, s = [(1, 0), (0, 1), (-1, 0), (0, -1)][n]
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]], dtype=np.float64)


if __name__ == "__main__":
    ship("diamond", DIVISIONS, mesh)
