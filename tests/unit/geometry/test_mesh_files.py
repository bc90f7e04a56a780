"""Meshes in files: round trips, units, frames, formats, and what is refused."""

from __future__ import annotations

import shutil
from pathlib import Path

import meshio
import numpy as np
import pytest
from bent_block import bent_block
from scipy.spatial.transform import Rotation

from pliant.errors import MeshError
from pliant.geometry.mesh import TetMesh, mesh_quality, quadratic, read_mesh, write_mesh

PUBLIC_COUNTS = {
    "diamond.vtu": (1628, 4147),
    "finger_coarse.vtk": (521, 1557),
    "finger_fine.vtk": (2335, 8895),
    "trunk.vtk": (709, 1972),
}


@pytest.mark.parametrize("unit", ["m", "cm", "mm", "in"])
def test_round_trip(mesh: TetMesh, tmp_path: Path, unit: str) -> None:
    numbered = TetMesh(mesh.nodes, mesh.tets, np.arange(mesh.n_tets) % 3)
    write_mesh(tmp_path / "a.vtu", numbered, unit=unit)
    back = read_mesh(tmp_path / "a.vtu", unit=unit)
    assert back.nodes == pytest.approx(mesh.nodes, abs=1e-15)
    assert np.array_equal(back.tets, mesh.tets)
    assert np.array_equal(back.region, numbered.region)


def test_unit_rotation_translation_in_this_order(mesh: TetMesh, tmp_path: Path) -> None:
    write_mesh(tmp_path / "a.vtu", mesh, unit="m")
    turn = Rotation.from_euler("xyz", [90.0, 0.0, 0.0], degrees=True)
    placed = read_mesh(tmp_path / "a.vtu", unit="mm", rotation=turn, translation_m=(0.0, 0.0, 0.035))
    wanted = 1e-3 * np.stack([mesh.nodes[:, 0], -mesh.nodes[:, 2], mesh.nodes[:, 1]], axis=1) + [0, 0, 0.035]
    assert placed.nodes == pytest.approx(wanted, abs=1e-15)


@pytest.mark.parametrize("name", ["a.vtk", "a.vtu", "a.msh"])
def test_formats_keep_the_order_of_quadratic_nodes(tmp_path: Path, name: str) -> None:
    mesh = quadratic(bent_block())
    content = meshio.Mesh(mesh.nodes, [("tetra10", mesh.tets)])
    kind = "gmsh" if name.endswith("msh") else name[-3:]
    meshio.write(tmp_path / name, content, file_format=kind)
    assert np.array_equal(read_mesh(tmp_path / name).tets, mesh.tets)


def test_surface_cells_and_unused_nodes_are_skipped(tmp_path: Path) -> None:
    mesh = bent_block()
    nodes = np.vstack([[9.0, 9.0, 9.0], mesh.nodes])
    cells = [("triangle", mesh.tets[:5, :3] + 1), ("tetra", mesh.tets + 1)]
    region = [np.zeros(5, dtype=int), np.full(mesh.n_tets, 4)]
    meshio.Mesh(nodes, cells, cell_data={"medit:ref": region}).write(tmp_path / "a.vtu")
    back = read_mesh(tmp_path / "a.vtu")
    assert back.nodes == pytest.approx(mesh.nodes)
    assert np.array_equal(back.region, region[1])


def _broken(folder: Path, case: str) -> Path:
    mesh = bent_block()
    path = folder / "a.vtu"
    if case == "hexahedra":
        meshio.Mesh(np.eye(8, 3), [("hexahedron", [list(range(8))])]).write(path)
    elif case == "surface alone":
        meshio.Mesh(mesh.nodes, [("triangle", mesh.tets[:, :3])]).write(path)
    elif case == "fractional regions":
        half = np.full(mesh.n_tets, 0.5)
        meshio.Mesh(mesh.nodes, [("tetra", mesh.tets)], cell_data={"region": [half]}).write(path)
    elif case == "both orders":
        both = quadratic(mesh)
        meshio.Mesh(both.nodes, [("tetra", both.corners), ("tetra10", both.tets)]).write(path)
    elif case == "inverted":
        meshio.Mesh(mesh.nodes, [("tetra", np.vstack([mesh.tets[:-1], mesh.tets[-1:, [1, 0, 2, 3]]]))]).write(
            path
        )
    elif case == "cut off":
        write_mesh(path, mesh)
        path.write_bytes(path.read_bytes()[:700])
    elif case == "xml in vtk":
        write_mesh(path, mesh)
        path = path.rename(folder / "a.vtk")
    elif case == "text":
        path.write_text("no mesh")
    elif case == "other kind":
        path = folder / "a.obj"
    return path


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ("hexahedra", "cells of hexahedron; allowed"),
        ("surface alone", "is it a surface"),
        ("fractional regions", "one whole number a tetrahedron"),
        ("both orders", "cells of tetra, tetra10"),
        ("inverted", r"a\.vtu: tetrahedron 59: inverted"),
        ("cut off", "not a readable .vtu file"),
        ("xml in vtk", "rename it to .vtu"),
        ("text", "not a readable .vtu file"),
        ("other kind", "allowed: a mesh file that ends in .vtk, .vtu, .msh"),
        ("missing", "No such file"),
    ],
)
def test_broken_files_are_refused(tmp_path: Path, case: str, message: str) -> None:
    with pytest.raises(MeshError, match=message):
        read_mesh(_broken(tmp_path, case))


def test_wrong_names_and_units_are_refused(tmp_path: Path, mesh: TetMesh) -> None:
    with pytest.raises(MeshError, match=r"ends in \.vtu"):
        write_mesh(tmp_path / "a.vtk", mesh)
    with pytest.raises(MeshError, match="allowed: m, cm, mm, in"):
        write_mesh(tmp_path / "a.vtu", mesh, unit="ft")
    with pytest.raises(MeshError, match="No such file"):
        write_mesh(tmp_path / "no" / "a.vtu", mesh)


@pytest.mark.parametrize("name", PUBLIC_COUNTS)
def test_public_meshes_are_read(public: Path, name: str) -> None:
    mesh = read_mesh(public / name, unit="mm")
    assert (mesh.n_nodes, mesh.n_tets) == PUBLIC_COUNTS[name]
    assert 0.003 < mesh_quality(mesh).minimum < 0.06


def test_public_file_with_a_misleading_name(public: Path, tmp_path: Path) -> None:
    shutil.copy(public / "diamond.vtu", tmp_path / "diamond.vtk")
    with pytest.raises(MeshError, match="XML inside"):
        read_mesh(tmp_path / "diamond.vtk")
