"""Volume meshes of a user's own part, a STEP or STL file, through Gmsh."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import numpy as np

from pliant.errors import MeshError
from pliant.geometry.mesh import UNITS_M, TetMesh, quadratic

INSTALL = "meshing a part needs Gmsh: python -m pip install gmsh"
LIBRARIES = "and on Debian or Ubuntu: apt-get install libglu1-mesa libxcursor1 libxft2 libxinerama1"

CREASE = np.radians(40.0)
"""Two facets of an STL file that meet at a larger angle meet at an edge of the part."""

TETRAHEDRON = 4
"""Gmsh's number of the linear tetrahedron."""


def mesh_part(path: str | Path, *, unit: str, size_m: float, order: int) -> TetMesh:
    """Fill a part with tetrahedra; a part of several solids gets a region for each, from 1 on.

    Args:
        path: A .step or .stp file, or a .stl file of one closed surface.
        unit: Unit of an STL file, a key of `UNITS_M`; a STEP file says its own.
        size_m: Length of an edge [m].
        order: 1 for linear tetrahedra, 2 for quadratic ones with straight edges.

    Raises:
        MeshError: If Gmsh is missing, the file cannot be meshed, or an argument is out of range.
    """
    path = Path(path)
    surface = path.suffix.lower() == ".stl"
    if not surface and path.suffix.lower() not in (".step", ".stp"):
        raise MeshError(f"{path.name}: allowed: a part that ends in .step, .stp, .stl")
    if not path.is_file():
        raise MeshError(f"{path}: no such file")
    if unit not in UNITS_M or order not in (1, 2) or not (np.isfinite(size_m) and size_m > 0.0):
        raise MeshError(
            f"given unit {unit!r}, size {size_m!r} m, order {order!r}; allowed: a unit of "
            f"{', '.join(UNITS_M)}, a size above 0, order 1 or 2"
        )
    scale = UNITS_M[unit] if surface else 1.0
    with _session() as gmsh:
        try:
            (_surface if surface else _solids)(gmsh, path)
            gmsh.option.setNumber("Mesh.MeshSizeMax", size_m / scale)
            gmsh.option.setNumber("Mesh.MeshSizeMin", 0.5 * size_m / scale)
            gmsh.option.setNumber("Mesh.OptimizeNetgen", 1)
            gmsh.model.mesh.generate(3)
            mesh = _tetrahedra(gmsh, path, scale)
        except MeshError:
            raise
        except Exception as reason:  # Gmsh raises bare exceptions with its last message
            raise MeshError(f"{path.name}: Gmsh cannot mesh it: {reason}") from reason
    return quadratic(mesh) if order == 2 else mesh


@contextmanager
def _session() -> Iterator[ModuleType]:
    """A quiet Gmsh with one empty model."""
    try:
        import gmsh  # an optional extra, large to load
    except ImportError as reason:
        raise MeshError(INSTALL) from reason
    except OSError as reason:
        raise MeshError(f"{INSTALL}; {LIBRARIES} ({reason})") from reason
    gmsh.initialize(interruptible=False)
    try:
        gmsh.option.setNumber("General.Terminal", 0)
        gmsh.option.setString("Geometry.OCCTargetUnit", "M")
        yield gmsh
    finally:
        gmsh.finalize()


def _solids(gmsh: ModuleType, path: Path) -> None:
    """The solids of a STEP file, sharing the faces where they touch."""
    solids = [entity for entity in gmsh.model.occ.importShapes(str(path)) if entity[0] == 3]
    if not solids:
        raise MeshError(f"{path.name}: no solid inside; allowed: a STEP file of closed solids")
    if len(solids) > 1:
        gmsh.model.occ.fragment(solids[:1], solids[1:])
    gmsh.model.occ.synchronize()


def _surface(gmsh: ModuleType, path: Path) -> None:
    """The volume inside a triangulated surface, whose facets become faces that can be meshed anew."""
    gmsh.merge(str(path))
    gmsh.model.mesh.classifySurfaces(CREASE, True, True, np.pi)
    gmsh.model.mesh.createGeometry()
    faces = [tag for _, tag in gmsh.model.getEntities(2)]
    if not faces:
        raise MeshError(f"{path.name}: no triangles inside")
    gmsh.model.geo.addVolume([gmsh.model.geo.addSurfaceLoop(faces)])
    gmsh.model.geo.synchronize()


def _tetrahedra(gmsh: ModuleType, path: Path, scale: float) -> TetMesh:
    tags, coordinates, _ = gmsh.model.mesh.getNodes()
    volumes = gmsh.model.getEntities(3)
    blocks = [gmsh.model.mesh.getElementsByType(TETRAHEDRON, tag)[1].reshape(-1, 4) for _, tag in volumes]
    tets = np.concatenate([*blocks, np.zeros((0, 4), dtype=np.uint64)]).astype(np.int64)
    if not len(tets):
        raise MeshError(f"{path.name}: Gmsh made no tetrahedra; is the surface closed?")
    used, numbered = np.unique(tets, return_inverse=True)
    place = np.empty(int(tags.max()) + 1, dtype=np.int64)
    place[tags.astype(np.int64)] = np.arange(len(tags))
    nodes = scale * coordinates.reshape(-1, 3)[place[used]]
    region = np.repeat(np.arange(1, len(blocks) + 1), [len(block) for block in blocks])
    return TetMesh(
        nodes, numbered.reshape(-1, 4), region if len(blocks) > 1 else np.zeros(len(tets), np.int64)
    )
