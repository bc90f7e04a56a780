"""The mesh of the Trunk: a tapered stack of discs between ten waists, swept along z.

The dimensions [mm] are those of the published robot of Inria's Defrost team: 195 mm long, radius 13 at the
base and 5 at the tip, a waist every 17.4853 mm, cables in grooves at 3 mm on either side of each waist. The
section is an octagon whose corners lie on the published radius and whose sides' middles are the grooves.
The waists are wider than the published ones, which taper to 2.5 mm: on a mesh that has converged, such a
trunk cannot carry its weight. A node is at each via point and at the effector, (0, 0, 195).

    python urdf/meshes/make_trunk.py --resolution coarse
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from shipping import ship

from pliant.geometry.hexes import divided, split, swept_block
from pliant.geometry.mesh import TetMesh

Array = NDArray[np.float64]

LENGTH, BASE_RADIUS, TIP_RADIUS, FIXED = 195.0, 13.0, 5.0, 20.0
"""Length, radii of the ends, and length of the part that is held [mm]."""

FIRST_WAIST, PITCH, N_WAISTS, HALF_WAIST = 24.0, 17.4853, 10, 3.0
"""Place, distance, number and half length of the waists [mm]."""

FIRST_GROOVE, NARROWING = 10.0, 0.71734
"""Radius of the cables at the first waist, and how much less it is at each further one [mm]."""

WAIST = 0.95
"""Radius of a waist as a fraction of its cables' radius."""

LAST_SHORT, SHORT_VIAS = 4, 9
"""Waist before which the short cables end; number of their via points."""

DIVISIONS = {"coarse": (1, 1, 1), "medium": (2, 1, 1), "fine": (1, 2, 2)}
"""Parts of each hexahedron along z and in the two directions across."""

SILICONE, MOUNT = 1, 2


def mesh(divisions: tuple[int, int, int]) -> TetMesh:
    """The robot in metres, its hexahedra divided along and across."""
    hexahedra = swept_block(_sections())
    z = hexahedra[..., 2].mean(axis=1)
    short = (z > _waist(LAST_SHORT - 1) + HALF_WAIST) & (z < _waist(LAST_SHORT) - HALF_WAIST)
    region = np.where(short | (z > _waist(N_WAISTS - 1) + HALF_WAIST), MOUNT, SILICONE)
    return split(1e-3 * divided(hexahedra, divisions), np.repeat(region, np.prod(divisions)))


def via_points(*, short: bool, angle: int) -> Array:
    """Via points of a cable at a quarter turn `angle` from +y [mm], shape (20 or 9, 3)."""
    x, y = [(0.0, 1.0), (-1.0, 0.0), (0.0, -1.0), (1.0, 0.0)][angle]
    waists = np.repeat(np.arange(N_WAISTS), 2)
    z = _waist(waists) + np.tile([-HALF_WAIST, HALF_WAIST], N_WAISTS)
    points = np.stack([x * _groove(waists), y * _groove(waists), z], axis=1)
    return points[:SHORT_VIAS] if short else points


def _sections() -> list[Array]:
    """Sections from the base to the tip [mm], shape (3, 3, 3) each."""
    sections = [_octagon(0.0, _radius(0.0), _radius(0.0)), _octagon(FIXED, _radius(FIXED), _radius(FIXED))]
    for n in range(N_WAISTS):
        before, after = _waist(n) - HALF_WAIST, _waist(n) + HALF_WAIST
        sections.append(_octagon(before, _groove(n), _radius(before)))
        sections.append(_octagon(_waist(n), WAIST * _groove(n), WAIST * _groove(n)))
        sections.append(_octagon(after, _groove(n), _radius(after)))
    return [*sections, _octagon(LENGTH, TIP_RADIUS, TIP_RADIUS)]


def _octagon(z: float, middle: float, corner: float) -> Array:
    """Centre, four points at radius `middle` on the axes, four at `corner` between them, shape (3, 3, 3)."""
    x, y = np.meshgrid([-1.0, 0.0, 1.0], [-1.0, 0.0, 1.0], indexing="ij")
    size = np.where(x * y == 0.0, middle, corner / np.sqrt(2.0))
    return np.stack([x * size, y * size, np.full((3, 3), z)], axis=-1)


def _radius(z: float) -> float:
    """Radius of the discs at height z [mm]."""
    return BASE_RADIUS + (TIP_RADIUS - BASE_RADIUS) * z / LENGTH


def _waist(n: ArrayLike) -> Array:
    """Place of waist n along z [mm]."""
    return FIRST_WAIST + PITCH * np.asarray(n)


def _groove(n: ArrayLike) -> Array:
    """Radius of the cables at waist n [mm]."""
    return FIRST_GROOVE - NARROWING * np.asarray(n)


if __name__ == "__main__":
    ship("trunk", DIVISIONS, mesh)
