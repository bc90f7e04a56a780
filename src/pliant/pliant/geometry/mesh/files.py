"""Meshes in files: VTK, VTU and Gmsh MSH in, VTU out."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Sequence
from pathlib import Path

import meshio
import numpy as np
from scipy.spatial.transform import Rotation

from pliant.errors import MeshError
from pliant.geometry.mesh.tet_mesh import Array, Indices, TetMesh

UNITS_M = {"m": 1.0, "cm": 1e-2, "mm": 1e-3, "in": 0.0254}
"""Length of each unit that a mesh file may be in [m]."""

REGION_KEYS = ("region", "gmsh:physical", "medit:ref")
"""Cell data that number a mesh's material regions, in order of preference."""

READERS: dict[str, Callable[[str], meshio.Mesh]] = {
    ".vtk": meshio.vtk.read,
    ".vtu": meshio.vtu.read,
    ".msh": meshio.gmsh.read,
}

FLAT_CELLS = ("vertex", "line", "line3", "triangle", "triangle6", "quad", "quad8", "quad9")
"""Cells that bound a body; they are skipped."""


def read_mesh(
    path: str | Path,
    *,
    unit: str = "m",
    rotation: Rotation | None = None,
    translation_m: Sequence[float] = (0.0, 0.0, 0.0),
) -> TetMesh:
    """The tetrahedra of a file, in metres, rotated and then translated into the base frame.

    Points, lines and surface cells are skipped, and so are nodes that no tetrahedron uses.
    Quadratic tetrahedra stay quadratic (meshio turns Gmsh's node order into VTK's).

    Args:
        path: A .vtk, .vtu or .msh file.
        unit: Unit of the file, a key of `UNITS_M`.
        rotation: Rotation from the file's frame to the base frame; none by default.
        translation_m: Translation after the rotation [m], shape (3,).

    Raises:
        MeshError: If the file cannot be read or holds no sound mesh of tetrahedra.
    """
    path = Path(path)
    scale = _length(unit)
    content = _content(path)
    kind, tets, region = _tetrahedra(path, content)
    points = np.asarray(content.points, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 3:
        raise MeshError(f"{path.name}: points have shape {points.shape}; allowed: three coordinates each")
    if tets.size and (tets.min() < 0 or tets.max() >= len(points)):
        raise MeshError(f"{path.name}: {kind} cells use node {tets.max()} of {len(points)}")
    used, numbered = np.unique(tets, return_inverse=True)
    nodes = scale * points[used]
    if rotation is not None:
        nodes = rotation.apply(nodes)
    try:
        return TetMesh(
            nodes + np.asarray(translation_m, dtype=np.float64), numbered.reshape(tets.shape), region
        )
    except MeshError as reason:
        raise MeshError(f"{path.name}: {reason}") from reason


def write_mesh(path: str | Path, mesh: TetMesh, *, unit: str = "m") -> None:
    """Write a compressed VTU file with the regions as cell data `region`.

    Args:
        path: A file name that ends in .vtu.
        mesh: The mesh.
        unit: Unit of the file, a key of `UNITS_M`.

    Raises:
        MeshError: If the name or the unit is not one of those, or the file cannot be written.
    """
    path = Path(path)
    if path.suffix.lower() != ".vtu":
        raise MeshError(f"{path.name}: allowed: a name that ends in .vtu")
    kind = "tetra" if mesh.order == 1 else "tetra10"
    content = meshio.Mesh(
        mesh.nodes / _length(unit), [(kind, mesh.tets)], cell_data={"region": [mesh.region]}
    )
    try:
        meshio.vtu.write(str(path), content, binary=True, compression="zlib")
    except OSError as reason:
        raise MeshError(f"{path}: {reason.strerror or reason}") from reason


def _length(unit: str) -> float:
    if unit not in UNITS_M:
        raise MeshError(f"unit {unit!r}; allowed: {', '.join(UNITS_M)}")
    return UNITS_M[unit]


def _content(path: Path) -> meshio.Mesh:
    read = READERS.get(path.suffix.lower())
    if read is None:
        raise MeshError(f"{path.name}: allowed: a mesh file that ends in {', '.join(READERS)}")
    try:
        with path.open("rb") as file:
            start = file.read(64).lstrip()
    except OSError as reason:
        raise MeshError(f"{path}: {reason.strerror or reason}") from reason
    if path.suffix.lower() == ".vtk" and start.startswith(b"<"):
        raise MeshError(f"{path.name}: a .vtk name, but XML inside: rename it to .vtu")
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            return read(str(path))
    except (Exception, SystemExit) as reason:  # whatever a broken file makes a reader trip over
        what = f"{type(reason).__name__}: {reason}"
        raise MeshError(f"{path.name}: not a readable {path.suffix} file ({what})") from reason


def _tetrahedra(path: Path, content: meshio.Mesh) -> tuple[str, Indices, Indices]:
    kinds = {block.type for block in content.cells if len(block.data)} - set(FLAT_CELLS)
    if not kinds:
        raise MeshError(
            f"{path.name}: no tetrahedra inside; is it a surface? `pliant mesh` makes a volume mesh of one"
        )
    if kinds not in ({"tetra"}, {"tetra10"}):
        raise MeshError(
            f"{path.name}: cells of {', '.join(sorted(kinds))}; allowed: tetra alone or tetra10 alone"
        )
    kind = kinds.pop()
    blocks = [i for i, block in enumerate(content.cells) if block.type == kind and len(block.data)]
    tets = np.concatenate([np.asarray(content.cells[i].data, dtype=np.int64) for i in blocks])
    key = next((key for key in REGION_KEYS if key in content.cell_data), None)
    if key is None:
        return kind, tets, np.zeros(len(tets), dtype=np.int64)
    values: Array = np.concatenate([np.asarray(content.cell_data[key][i], dtype=np.float64) for i in blocks])
    if values.shape != (len(tets),) or not np.isfinite(values).all() or (values != np.round(values)).any():
        raise MeshError(f"{path.name}: cell data {key!r}; allowed: one whole number a tetrahedron")
    return kind, tets, values.astype(np.int64)
