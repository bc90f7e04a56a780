"""A user's own part becomes a volume mesh."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import meshio
import numpy as np
import pytest
from bent_block import bent_block

from pliant.errors import MeshError
from pliant.geometry.mesh import mesh_quality, surface_triangles
from pliant.geometry.meshing import mesh_part

FINGER_CM3 = 34.83
"""Volume of the public finger, from its volume mesh."""


@pytest.fixture
def gmsh() -> None:
    try:
        importlib.import_module("gmsh")
    except (ImportError, OSError) as reason:
        pytest.skip(f"no Gmsh: {reason}")


@pytest.mark.usefixtures("gmsh")
@pytest.mark.parametrize("order", [1, 2])
def test_surface_is_filled(tmp_path: Path, order: int) -> None:
    mesh = bent_block()
    skin = meshio.Mesh(1e3 * mesh.nodes, [("triangle", surface_triangles(mesh))])
    skin.write(tmp_path / "part.stl")
    made = mesh_part(tmp_path / "part.stl", unit="mm", size_m=0.01, order=order)
    assert made.order == order
    assert mesh_quality(made).volume_m3 == pytest.approx(mesh_quality(mesh).volume_m3, rel=1e-3)


@pytest.mark.usefixtures("gmsh")
def test_solids_that_touch_share_nodes_and_become_regions(tmp_path: Path) -> None:
    import gmsh

    gmsh.initialize(interruptible=False)
    gmsh.option.setNumber("General.Terminal", 0)
    gmsh.model.occ.addBox(0, 0, 0, 10, 10, 10)
    gmsh.model.occ.addBox(0, 0, 10, 10, 10, 20)
    gmsh.model.occ.synchronize()
    gmsh.write(str(tmp_path / "part.step"))
    gmsh.finalize()
    made = mesh_part(tmp_path / "part.step", unit="m", size_m=0.005, order=1)
    assert set(made.region) == {1, 2}
    assert np.ptp(made.nodes, axis=0) == pytest.approx([0.01, 0.01, 0.03])
    shared = np.intersect1d(made.tets[made.region == 1], made.tets[made.region == 2])
    assert made.nodes[shared, 2] == pytest.approx(0.01)


@pytest.mark.usefixtures("gmsh")
@pytest.mark.parametrize("name", ["finger_parametric.step", "finger_surface.stl"])
def test_public_parts_are_filled(public: Path, name: str) -> None:
    made = mesh_part(public / name, unit="mm", size_m=0.006, order=1)
    assert 1e6 * mesh_quality(made).volume_m3 == pytest.approx(FINGER_CM3, rel=0.01)
    assert np.ptp(made.nodes, axis=0) == pytest.approx([0.0295, 0.023, 0.12], abs=1e-5)


@pytest.mark.usefixtures("gmsh")
@pytest.mark.parametrize(("name", "text"), [("a.stl", "solid a\nendsolid a\n"), ("a.step", "no part")])
def test_broken_parts_are_refused(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(MeshError, match=name):
        mesh_part(tmp_path / name, unit="mm", size_m=0.01, order=1)


@pytest.mark.parametrize(
    ("name", "unit", "size", "order", "message"),
    [
        ("a.obj", "mm", 0.01, 1, "ends in .step, .stp, .stl"),
        ("no.stl", "mm", 0.01, 1, "no such file"),
        ("a.stl", "ft", 0.01, 1, "a unit of m, cm, mm, in"),
        ("a.stl", "mm", -1.0, 1, "a size above 0"),
        ("a.stl", "mm", 0.01, 3, "order 1 or 2"),
    ],
)
def test_wrong_arguments_are_refused(tmp_path: Path, name, unit, size, order, message) -> None:
    (tmp_path / "a.stl").write_text("")
    with pytest.raises(MeshError, match=message):
        mesh_part(tmp_path / name, unit=unit, size_m=size, order=order)


def test_a_missing_gmsh_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gmsh", None)
    (tmp_path / "a.stl").write_text("")
    with pytest.raises(MeshError, match=r"pip install gmsh"):
        mesh_part(tmp_path / "a.stl", unit="mm", size_m=0.01, order=1)
