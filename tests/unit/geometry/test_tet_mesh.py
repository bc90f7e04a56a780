"""Laws of meshes: volume, closed surface, orders, quality; and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.errors import MeshError
from pliant.geometry.mesh import (
    EDGES,
    TetMesh,
    linear,
    mesh_quality,
    quadratic,
    surface_triangles,
    tet_quality,
)

ROUNDING = 1e-12
"""Sums of a few hundred products, relative."""

CORNERS = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
TWO = np.vstack([CORNERS, [1.0, 1, 1]])


def _areas(mesh: TetMesh) -> np.ndarray:
    x = mesh.nodes[surface_triangles(mesh)]
    return 0.5 * np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0])


def test_surface_is_closed(mesh: TetMesh) -> None:
    areas = _areas(mesh)
    assert np.abs(areas.sum(axis=0)).max() < ROUNDING * np.linalg.norm(areas, axis=1).sum()


def test_surface_encloses_the_volume(mesh: TetMesh) -> None:
    centres = mesh.nodes[surface_triangles(mesh)].mean(axis=1)
    enclosed = np.einsum("td,td->", centres, _areas(mesh)) / 3.0
    assert enclosed == pytest.approx(mesh_quality(mesh).volume_m3, rel=ROUNDING)
    assert enclosed > 0.0


def test_quadratic_nodes_are_in_the_middle_of_edges(mesh: TetMesh) -> None:
    elevated = quadratic(mesh)
    middles = elevated.nodes[elevated.tets[:, EDGES]].mean(axis=2)
    assert np.array_equal(elevated.nodes[elevated.tets[:, 4:]], middles)


def test_linear_undoes_quadratic(mesh: TetMesh) -> None:
    once = linear(mesh)
    twice = linear(quadratic(once))
    assert np.array_equal(once.nodes, twice.nodes)
    assert np.array_equal(once.tets, twice.tets)


def test_neighbours_share_their_middle_node(mesh: TetMesh) -> None:
    elevated = quadratic(mesh)
    assert len(np.unique(elevated.nodes, axis=0)) == elevated.n_nodes


def test_regular_tetrahedron_has_quality_one() -> None:
    regular = np.array([[1.0, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    assert tet_quality(regular, np.array([[0, 2, 1, 3]])) == pytest.approx([1.0])
    assert tet_quality(regular, np.array([[0, 1, 2, 3]])) == pytest.approx([-1.0])


def test_quality_does_not_depend_on_size_and_place(mesh: TetMesh) -> None:
    moved = tet_quality(3.0 * mesh.nodes[:, [1, 2, 0]] + 5.0, mesh.tets)
    assert moved == pytest.approx(tet_quality(mesh.nodes, mesh.tets), abs=1e-9)


def test_arrays_cannot_be_written(mesh: TetMesh) -> None:
    with pytest.raises(ValueError, match="read-only"):
        mesh.nodes[0, 0] = 1.0


@pytest.mark.parametrize(
    ("nodes", "tets", "region", "message"),
    [
        (CORNERS[:, :2], [[0, 1, 2, 3]], (), "nodes have shape"),
        (CORNERS, [[0, 1, 2]], (), "tets have shape"),
        (CORNERS, np.zeros((0, 4), int), (), "at least one"),
        (CORNERS, [[0.0, 1.0, 2.0, 3.0]], (), "integers"),
        (CORNERS, [[0, 1, 2, 4]], (), "tetrahedron 0: node index outside 0 to 3"),
        (CORNERS, [[0, 1, 2, -1]], (), "tetrahedron 0: node index"),
        (CORNERS, [[0, 1, 2, 2]], (), "tetrahedron 0: a node is repeated"),
        (TWO, [[0, 1, 2, 3]], (), "node 4: in no tetrahedron"),
        (TWO, [[0, 1, 2, 3], [1, 3, 2, 4]], (), "tetrahedron 1: inverted"),
        (CORNERS, [[0, 2, 1, 3]], (), "every tetrahedron is inverted"),
        (CORNERS * [1, 1, 1e-12], [[0, 1, 2, 3]], (), "tetrahedron 0: flat"),
        (CORNERS * [1, 1, np.nan], [[0, 1, 2, 3]], (), "node 0, 1, 2, 3: position is not finite"),
        (CORNERS, [[0, 1, 2, 3]], [1, 2], "region has shape"),
    ],
)
def test_broken_meshes_are_refused(nodes, tets, region, message) -> None:
    with pytest.raises(MeshError, match=message):
        TetMesh(np.asarray(nodes), np.asarray(tets), np.asarray(region, dtype=np.int64))


def test_wrong_order_of_middle_nodes_is_refused() -> None:
    elevated = quadratic(TetMesh(CORNERS, np.array([[0, 1, 2, 3]])))
    with pytest.raises(MeshError, match="01 12 02 03 13 23"):
        TetMesh(elevated.nodes, elevated.tets[:, [0, 1, 2, 3, 4, 5, 6, 7, 9, 8]])
