"""Points of a mesh: which nodes carry a point of the material, and with which weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from pliant.errors import MeshError
from pliant.geometry.mesh.distance import nearest_on_surface
from pliant.geometry.mesh.tet_mesh import EDGES, Array, Indices, TetMesh

SAME_POINT = 1e-6
"""A point this close to a node, in diagonals of the mesh's bounding box, is that node."""

INSIDE = 1e-9
"""Barycentric coordinates above minus this count as inside."""

CURVED_STEPS = 20
"""Newton steps of the inverse isoparametric map; a straight element needs one."""


@dataclass(frozen=True)
class Embedding:
    """Points as weighted sums of nodes: p = sum_k weights[:, k] x[nodes[:, k]].

    Attributes:
        nodes: Nodes of the element that carries each point, shape (n_points, 4 or 10).
        weights: Weights of those nodes, of sum 1, shape (n_points, 4 or 10).
        distance_m: Distance of each point from the mesh [m], 0 inside, shape (n_points,).
    """

    nodes: Indices
    weights: Array
    distance_m: Array


def embed(mesh: TetMesh, points: Array) -> Embedding:
    """Carry points by the mesh.

    Policy, in this order: a node within 1e-6 of the bounding box's diagonal carries the point alone;
    else the tetrahedron that contains it, with its shape functions as weights (the one with the largest
    smallest barycentric coordinate, where several do); else the tetrahedron nearest to it, whose shape
    functions are extrapolated to first order from the nearest surface point. Linear fields are
    reproduced exactly everywhere, quadratic ones inside quadratic meshes.

    Args:
        mesh: The mesh.
        points: Positions [m], shape (n_points, 3).

    Raises:
        MeshError: If a position is not finite.
    """
    points = np.asarray(points, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 3 or not np.isfinite(points).all():
        raise MeshError(f"points to embed have shape {points.shape}; allowed: (n_points, 3), finite")
    tet, xi = _containing(mesh, points)
    distance = np.zeros(len(points))
    outside = np.flatnonzero(tet < 0)
    weights = shape_functions(xi, mesh.order)
    if outside.size:
        tet[outside], anchor, distance[outside] = nearest_on_surface(mesh, points[outside])
        xi[outside] = _natural(mesh, tet[outside], anchor)
        weights[outside] = _extrapolated(mesh, tet[outside], xi[outside], points[outside])
    nodes = mesh.tets[tet]
    _snap(mesh, points, nodes, weights, distance)
    return Embedding(nodes, weights, distance)


def shape_functions(xi: Array, order: int) -> Array:
    """Shape functions at barycentric coordinates xi, shape (n, 4) -> (n, 4 or 10).

    Linear: N_i = xi_i. Quadratic: N_i = xi_i (2 xi_i - 1) at corners, 4 xi_i xi_j on edges.
    """
    if order == 1:
        return xi.copy()
    return np.hstack([xi * (2.0 * xi - 1.0), 4.0 * xi[:, EDGES[:, 0]] * xi[:, EDGES[:, 1]]])


def shape_gradients(xi: Array, order: int) -> Array:
    """Derivatives by xi_1, xi_2, xi_3 (xi_0 = 1 - their sum), shape (n, 4 or 10, 3)."""
    free = np.vstack([-np.ones(3), np.eye(3)])
    if order == 1:
        return np.broadcast_to(free, (len(xi), 4, 3))
    corners = (4.0 * xi - 1.0)[:, :, None] * free
    i, j = EDGES.T
    edges = 4.0 * (xi[:, i, None] * free[j] + xi[:, j, None] * free[i])
    return np.concatenate([corners, edges], axis=1)


def _containing(mesh: TetMesh, points: Array) -> tuple[Indices, Array]:
    """Tetrahedron that contains each point (-1: none) and barycentric coordinates there."""
    corners = mesh.nodes[mesh.tets]
    centres = corners.mean(axis=1)
    reach = np.linalg.norm(corners - centres[:, None], axis=2).max()
    near = cKDTree(centres).query_ball_point(points, 1.0001 * reach)
    point = np.repeat(np.arange(len(points)), [len(tets) for tets in near])
    candidate = np.concatenate([*map(np.asarray, near), []]).astype(np.int64)
    box = corners[candidate]
    margin = 1e-6 * reach
    kept = ((points[point] >= box.min(axis=1) - margin) & (points[point] <= box.max(axis=1) + margin)).all(
        axis=1
    )
    point, candidate = point[kept], candidate[kept]
    xi = _natural(mesh, candidate, points[point])
    depth = xi.min(axis=1)
    tet, coordinates = np.full(len(points), -1), np.full((len(points), 4), 0.25)
    best = np.lexsort((depth, point))
    best = best[depth[best] >= -INSIDE]
    tet[point[best]], coordinates[point[best]] = candidate[best], xi[best]
    return tet, coordinates


def _natural(mesh: TetMesh, tet: Indices, points: Array) -> Array:
    """Barycentric coordinates in given tetrahedra, by Newton on the isoparametric map, shape (n, 4)."""
    x = mesh.nodes[mesh.tets[tet]]
    xi = np.full((len(tet), 4), 0.25)
    for _ in range(1 if mesh.order == 1 else CURVED_STEPS):
        gap = points - np.einsum("nk,nkd->nd", shape_functions(xi, mesh.order), x)
        jacobian = np.einsum("nkd,nkj->ndj", x, shape_gradients(xi, mesh.order))
        step = np.linalg.solve(jacobian, gap[:, :, None])[:, :, 0]
        xi[:, 1:] += step
        xi[:, 0] -= step.sum(axis=1)
        if np.abs(step).max(initial=0.0) < 1e-14:
            break
    return xi


def _extrapolated(mesh: TetMesh, tet: Indices, xi: Array, points: Array) -> Array:
    """N(xi) + dN/dx (p - x(xi)): first-order extrapolation from coordinates xi, shape (n, 4 or 10)."""
    x = mesh.nodes[mesh.tets[tet]]
    value, gradient = shape_functions(xi, mesh.order), shape_gradients(xi, mesh.order)
    gap = points - np.einsum("nk,nkd->nd", value, x)
    jacobian = np.einsum("nkd,nkj->ndj", x, gradient)
    step = np.linalg.solve(jacobian, gap[:, :, None])
    return value + (gradient @ step)[:, :, 0]


def _snap(mesh: TetMesh, points: Array, nodes: Indices, weights: Array, distance: Array) -> None:
    """Give a point that is a node to that node alone, in place."""
    tolerance = SAME_POINT * np.linalg.norm(np.ptp(mesh.nodes, axis=0))
    gap, node = cKDTree(mesh.nodes).query(points)
    for i in np.flatnonzero(gap <= tolerance):
        tet, slot = np.argwhere(mesh.tets == node[i])[0]
        nodes[i], weights[i], distance[i] = mesh.tets[tet], 0.0, 0.0
        weights[i, slot] = 1.0
