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
Indices = NDArray[np.int64]

STATIONS = np.array([
    # inner side: r, z, half width; outer side: r, z, half width
    [15.0, -10.0, 15.0, 15.0, -37.0, 15.0],
    [23.0, -9.5, 14.4, 24.0, -37.0, 14.4],
    [31.0, -9.0, 13.9, 33.0, -37.0, 13.8],
    [48.0, 0.0, 12.7, 62.0, -24.5, 11.8],
    [62.0, 13.5, 11.8, 81.0, -3.0, 10.5],
    [74.0, 25.0, 11.0, 89.0, 18.5, 9.9],
    [84.0, 35.5, 10.3, 94.5, 34.5, 9.6],
    [89.2, 42.0, 9.9, 97.0, 42.0, 9.4],
    [89.2, 48.0, 9.9, 97.0, 48.0, 9.4],
    [86.8, 50.9, 10.1, 95.2, 50.9, 9.6],
    [84.5, 53.8, 10.3, 93.3, 53.8, 9.7],
    [78.0, 56.7, 10.7, 88.3, 58.0, 10.0],
    [72.0, 59.1, 11.1, 84.0, 61.6, 10.3],
    [67.5, 61.0, 11.4, 80.2, 64.8, 10.6],
    [63.0, 62.8, 11.7, 76.5, 68.0, 10.8],
    [44.0, 71.0, 13.0, 60.0, 82.0, 11.9],
    [34.0, 86.0, 13.7, 42.0, 97.0, 13.2],
    [29.2, 94.0, 14.0, 34.5, 103.5, 13.7],
    [24.5, 102.0, 14.4, 27.0, 110.0, 14.2],
    [20.0, 106.0, 14.7, 18.5, 117.5, 12.6],
    [15.0, 109.5, 15.0, 10.0, 125.0, 10.0],
])  # fmt: skip
"""Sections of a leg from the base over the elbow to the top [mm]."""

ELBOW = 7
"""Number of the piece between two sections whose outer half is the mount of a cable."""

DIVISIONS = {"coarse": (1, 1, 1), "medium": (2, 1, 1), "fine": (2, 1, 2)}
"""Parts of each hexahedron along a leg, through half its thickness, and across its width."""

SILICONE, MOUNT = 1, 2


def mesh(divisions: tuple[int, int, int]) -> TetMesh:
    """The robot in metres, its hexahedra divided along, through and across the legs."""
    _, through, across = divisions
    leg, leg_region = _leg()
    caps, cap_region = _caps()
    legs = [divided(leg @ _quarter_turns(n).T, divisions) for n in range(4)]
    hexahedra = np.concatenate([*legs, divided(caps, (through, across, across))])
    regions = [
        np.tile(np.repeat(leg_region, np.prod(divisions)), 4),
        np.repeat(cap_region, through * across**2),
    ]
    return split(1e-3 * hexahedra, np.concatenate(regions))


def _leg() -> tuple[Array, Indices]:
    """Corners [mm] and regions of the hexahedra of the leg along +x, two through its thickness."""
    sides = STATIONS.reshape(-1, 2, 3)
    lines = np.stack([sides[:, 0], sides.mean(axis=1), sides[:, 1]], axis=1)
    points = np.stack([lines * [1, 1, -1], lines], axis=2)[..., [0, 2, 1]]
    region = np.full((len(STATIONS) - 1, 2), SILICONE)
    region[ELBOW, 1] = MOUNT
    return swept_block(points), region.ravel()


def _caps() -> tuple[Array, Indices]:
    """Corners [mm] and regions of the base and the top between the ends of the legs, two each."""
    ends = STATIONS.reshape(-1, 2, 3)[[0, -1]]
    base, top = (np.array([a, (a + b) / 2.0, b]) for a, b in (ends[0, ::-1], ends[1]))
    blocks = [
        swept_block([[[[x, y, z] for y in (-r, r)] for x in (-r, r)] for r, z, _ in cap])
        for cap in (base, top)
    ]
    return np.concatenate(blocks), np.array([SILICONE, SILICONE, SILICONE, MOUNT])


def _quarter_turns(n: int) -> Array:
    """Rotation by n right angles about z, exact, shape (3, 3)."""
    c, s = [(1, 0), (0, 1), (-1, 0), (0, -1)][n]
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]], dtype=np.float64)


if __name__ == "__main__":
    ship("diamond", DIVISIONS, mesh)
