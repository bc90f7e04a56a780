"""Laws of points carried by a mesh."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from bent_block import bent_block

from pliant.errors import MeshError
from pliant.geometry.mesh import TetMesh, embed, quadratic, read_mesh, surface_triangles

ROUNDING = 1e-11
"""Weights are of order one; a point far outside multiplies rounding by theirs."""


def _points(mesh: TetMesh, rng: np.random.Generator, margin: float = 0.3) -> np.ndarray:
    low, high = mesh.nodes.min(axis=0), mesh.nodes.max(axis=0)
    return rng.uniform(low - margin * (high - low), high + margin * (high - low), (200, 3))


def _carried(mesh: TetMesh, points: np.ndarray, field: np.ndarray) -> np.ndarray:
    found = embed(mesh, points)
    return np.einsum("nk,nk...->n...", found.weights, field[found.nodes])


def test_weights_sum_to_one(mesh: TetMesh, rng: np.random.Generator) -> None:
    assert embed(mesh, _points(mesh, rng)).weights.sum(axis=1) == pytest.approx(1.0, abs=ROUNDING)


def test_linear_fields_are_exact_inside_and_outside(mesh: TetMesh, rng: np.random.Generator) -> None:
    points, gradient = _points(mesh, rng), rng.normal(size=(3, 2))
    assert _carried(mesh, points, mesh.nodes @ gradient) == pytest.approx(points @ gradient, abs=ROUNDING)


def test_quadratic_fields_are_exact_inside_quadratic_meshes(rng: np.random.Generator) -> None:
    mesh = quadratic(bent_block())
    points = _points(mesh, rng, margin=0.0)
    points = points[embed(mesh, points).distance_m == 0.0]
    form = rng.normal(size=(3, 3))
    wanted = np.einsum("ni,ij,nj->n", points, form, points)
    assert len(points) > 20
    assert _carried(mesh, points, np.einsum("ni,ij,nj->n", mesh.nodes, form, mesh.nodes)) == pytest.approx(
        wanted, abs=ROUNDING
    )


def test_a_node_carries_itself_alone(mesh: TetMesh) -> None:
    found = embed(mesh, mesh.nodes + 1e-9)
    carrier = found.nodes[np.arange(mesh.n_nodes), found.weights.argmax(axis=1)]
    assert np.array_equal(carrier, np.arange(mesh.n_nodes))
    assert np.array_equal(np.sort(found.weights, axis=1)[:, -2:], np.tile([0.0, 1.0], (mesh.n_nodes, 1)))


def test_points_inside_have_no_distance_and_weights_of_a_containing_tetrahedron(
    mesh: TetMesh, rng: np.random.Generator
) -> None:
    share = rng.dirichlet(np.ones(4), mesh.n_tets)
    points = np.einsum("nk,nkd->nd", share, mesh.nodes[mesh.corners])
    found = embed(mesh, points)
    assert np.array_equal(found.distance_m, np.zeros(mesh.n_tets))
    assert np.abs(found.weights).max() <= 1.0 + ROUNDING


def test_distance_outside_is_that_to_the_surface(mesh: TetMesh, rng: np.random.Generator) -> None:
    points = _points(mesh, rng)
    found = embed(mesh, points)
    outside = points[found.distance_m > 0.0]
    share = rng.dirichlet(np.ones(3), 400)
    samples = np.einsum("sk,tkd->tsd", share, mesh.nodes[surface_triangles(mesh)]).reshape(-1, 3)
    sampled = np.array([np.linalg.norm(samples - point, axis=1).min() for point in outside])
    distance = found.distance_m[found.distance_m > 0.0]
    assert (distance <= sampled + ROUNDING).all()
    assert distance == pytest.approx(sampled, abs=1e-3)


def test_a_point_above_a_face_is_carried_by_it(mesh: TetMesh) -> None:
    x = mesh.nodes[surface_triangles(mesh)]
    normals = np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0])
    points = x.mean(axis=1) + 1e-4 * normals / np.linalg.norm(normals, axis=1)[:, None]
    assert embed(mesh, points).distance_m == pytest.approx(1e-4, rel=0.3)


@pytest.mark.parametrize("points", [[[0.0, 0.0, np.nan]], [0.0, 0.0, 0.0], [[0.0, 0.0]]])
def test_points_that_are_none_are_refused(mesh: TetMesh, points: list) -> None:
    with pytest.raises(MeshError, match="finite"):
        embed(mesh, np.array(points))


def test_public_effector_is_outside_its_mesh(public: Path) -> None:
    """It lies 4 mm beyond the end of a chamfer of 45 degrees."""
    finger = read_mesh(public / "finger_coarse.vtk", unit="mm")
    found = embed(finger, np.array([[0.0, 0.010, -0.120]]))
    assert found.distance_m == pytest.approx([4e-3 / np.sqrt(2.0)], rel=1e-6)
