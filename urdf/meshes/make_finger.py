"""The mesh of the Finger: three segments with two accordion joints, swept along z.

The dimensions [mm] are those of the published robot of Inria's Defrost team (120 mm long, 17.5 mm wide,
20 mm high, joints of 9 mm with a half disc of 14.75 mm between two notches). The bottoms of the notches
are 2 mm flats, for a sharp one has no mesh-converged compliance, and the tip ends at a height of 13 mm, so
that the effector, (0, 10, -120), is a node; on the public meshes it lies 3 mm outside. The flange that
clamps the robot is left out. The cables' via points lie on element edges at |x| = 5.

    python urdf/meshes/make_finger.py --resolution coarse
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from shipping import ship

from pliant.geometry.hexes import divided, split, swept_block
from pliant.geometry.mesh import TetMesh

Array = NDArray[np.float64]

HALF_WIDTH, TIP = 8.75, -106.0
"""Half width of the segments; where the stiffer tip begins [mm]."""

VIA = 46.0 / 3.0
"""Height of the cables, which leave the body where it is as high [mm]."""

DISC, CORNER = 14.75, np.radians(45.0)
"""Radius of the joints' half discs [mm]; angle of the disc's point that the segments' upper edges meet."""

JOINT = np.array([
    # distance from the joint's middle, height, middle row as a fraction of the height
    [14.0, 20.0, 0.5],
    [28.0 / 3.0, VIA, 0.65],
    [6.2, 10.6, 0.65],
    [4.6, 9.0, 0.65],
    [2.6, 9.0, 0.65],
])  # fmt: skip
"""Sections on either side of a joint [mm]; its middle is the half disc."""

DIVISIONS = {"coarse": (1, 1, 1), "medium": (2, 1, 1), "fine": (2, 2, 1)}
"""Parts of each hexahedron along z, across half the width, and through half the height."""

SILICONE, MOUNT = 1, 2


def mesh(divisions: tuple[int, int, int]) -> TetMesh:
    """The robot in metres, its hexahedra divided along, across and through the height."""
    hexahedra = swept_block(_sections())
    region = np.where(hexahedra[..., 2].mean(axis=1) < TIP, MOUNT, SILICONE)
    return split(1e-3 * divided(hexahedra, divisions), np.repeat(region, np.prod(divisions)))


def _sections() -> list[Array]:
    """Sections from the base to the tip [mm], shape (3, 3, 3) each."""
    base = [
        _rectangle(0.0, 20.0, 0.5),
        _rectangle(-3.0, 20.0, 0.5),
        _rectangle(-28.0 / 3.0, 20.0, VIA / 20.0),
    ]
    tip = [
        _rectangle(TIP, 20.0, 0.5),
        _rectangle(-332.0 / 3.0, VIA, 0.65),
        _rectangle(-120.0, 13.0, 10.0 / 13.0),
    ]
    return [*base, *_joint(-40.0), _rectangle(-60.0, 20.0, 0.5), *_joint(-80.0), *tip]


def _joint(z: float) -> list[Array]:
    before = [_rectangle(z + away, height, middle) for away, height, middle in JOINT]
    after = [_rectangle(z - away, height, middle) for away, height, middle in JOINT[::-1]]
    return [*before, _half_disc(z, JOINT[-1, 2]), *after]


def _rectangle(z: float, height: float, middle: float) -> Array:
    """Section of a segment: three points across from +x to -x, three rows up, shape (3, 3, 3)."""
    return np.array(
        [[[x, y, z] for y in (0.0, middle * height, height)] for x in (HALF_WIDTH, 0.0, -HALF_WIDTH)]
    )


def _half_disc(z: float, middle: float) -> Array:
    """Section in the middle of a joint: the points of `_rectangle` on half an octagon, shape (3, 3, 3)."""
    side = [[DISC * np.cos(f * CORNER), DISC * np.sin(f * CORNER), z] for f in (0.0, middle, 1.0)]
    centre = [[0.0, f * DISC, z] for f in (0.0, middle, 1.0)]
    return np.array([side, centre, np.array(side) * [-1, 1, 1]])


if __name__ == "__main__":
    ship("finger", DIVISIONS, mesh)
