"""Swept meshes: hexahedra divided and split."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.errors import MeshError
from pliant.geometry.hexes import divided, split, swept_block
from pliant.geometry.mesh import TetMesh, linear, mesh_quality, quadratic, surface_triangles


def _grid(n: tuple[int, int, int]) -> np.ndarray:
    return np.stack(np.meshgrid(*[np.linspace(-1.0, 1.0, k + 1) for k in n], indexing="ij"), axis=-1)


def _sorted_tets(mesh: TetMesh, nodes: np.ndarray) -> set[frozenset]:
    return {frozenset(map(tuple, np.round(nodes[tet], 9) + 0.0)) for tet in mesh.tets}


def test_counts_and_volume() -> None:
    mesh = split(swept_block(_grid((2, 3, 4))))
    assert (mesh.n_nodes, mesh.n_tets) == (3 * 4 * 5, 5 * 24)
    assert mesh_quality(mesh).volume_m3 == pytest.approx(8.0)
    assert len(surface_triangles(mesh)) == 2 * 2 * (6 + 8 + 12)


def test_quadratic_nodes_are_the_lattice_without_the_middles_of_cells() -> None:
    mesh = quadratic(split(swept_block(_grid((2, 2, 2)))))
    assert mesh.n_nodes == 5**3 - 8


def test_symmetric_grids_give_symmetric_meshes() -> None:
    mesh = split(swept_block(_grid((2, 2, 4))))
    for image in (mesh.nodes * [-1, 1, 1], mesh.nodes * [1, 1, -1], mesh.nodes[:, [1, 0, 2]]):
        assert _sorted_tets(mesh, image) == _sorted_tets(mesh, mesh.nodes)


def test_division_keeps_the_body(rng: np.random.Generator) -> None:
    grid = _grid((1, 2, 2)) + 0.1 * rng.uniform(-1.0, 1.0, (2, 3, 3, 3))
    parts = divided(swept_block(grid), (2, 3, 1))
    assert len(parts) == 4 * 6
    finer = split(divided(swept_block(grid), (8, 8, 8)))
    assert mesh_quality(split(parts)).volume_m3 == pytest.approx(mesh_quality(finer).volume_m3, rel=0.01)


def test_regions_follow_their_hexahedra() -> None:
    mesh = split(swept_block(_grid((2, 1, 1))), [3, 5])
    left = mesh.nodes[linear(mesh).tets].mean(axis=1)[:, 0] < 0.0
    assert np.array_equal(mesh.region, np.where(left, 3, 5))


def test_an_odd_ring_is_refused() -> None:
    angle = np.radians([0.0, 120.0, 240.0, 360.0])
    ring = np.array(
        [[[[r * np.cos(a), r * np.sin(a), z] for z in (0.0, 1.0)] for r in (1.0, 2.0)] for a in angle]
    )
    with pytest.raises(MeshError, match="odd number"):
        split(swept_block(ring[:, ::-1]))
