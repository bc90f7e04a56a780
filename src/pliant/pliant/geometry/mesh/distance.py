"""The point of a mesh's surface that is nearest to a point outside."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from pliant.geometry.mesh.surface import surface_faces
from pliant.geometry.mesh.tet_mesh import Array, Indices, TetMesh


def nearest_on_surface(mesh: TetMesh, points: Array) -> tuple[Indices, Array, Array]:
    """Tetrahedron behind the nearest surface point, that point [m], and the distance to it [m].

    A six-node face counts as its four flat triangles. Of triangles at one distance (the nearest point
    is on their common edge) the one that faces the point most wins, then the lower number.

    Args:
        mesh: The mesh.
        points: Positions [m], shape (n_points, 3).

    Returns:
        Shapes (n_points,), (n_points, 3), (n_points,).
    """
    triangles, behind = surface_faces(mesh)
    x = mesh.nodes[triangles]
    centres = x.mean(axis=1)
    reach = np.linalg.norm(x - centres[:, None], axis=2).max()
    surface = np.unique(triangles)
    bound = cKDTree(mesh.nodes[surface]).query(points)[0]
    near = cKDTree(centres).query_ball_point(points, 1.0001 * (bound + reach))
    tet, anchor, distance = (
        np.empty(len(points), dtype=np.int64),
        np.empty_like(points),
        np.empty(len(points)),
    )
    for i, (point, candidates) in enumerate(zip(points, near, strict=True)):
        corners = x[np.sort(candidates)]
        feet = nearest_on_triangles(corners, point)
        gaps = np.linalg.norm(point - feet, axis=1)
        tied = np.flatnonzero(gaps <= gaps.min() + 1e-9 * reach)
        normals = np.cross(corners[tied, 1] - corners[tied, 0], corners[tied, 2] - corners[tied, 0])
        facing = np.einsum("td,td->t", normals, point - feet[tied]) / np.linalg.norm(normals, axis=1)
        best = tied[np.argmax(facing)]
        tet[i], anchor[i], distance[i] = behind[np.sort(candidates)[best]], feet[best], gaps[best]
    return tet, anchor, distance


def nearest_on_triangles(corners: Array, point: Array) -> Array:
    """The nearest point of each triangle to one point [m], shapes (n, 3, 3), (3,) -> (n, 3).

    The projection onto the plane where it falls inside, else the nearest point of the three sides.
    """
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    normal = np.cross(b - a, c - a)
    area = np.einsum("nd,nd->n", normal, normal)
    foot = point - normal * (np.einsum("nd,nd->n", normal, point - a) / area)[:, None]
    starts, ends = np.stack([a, b, c], axis=1), np.stack([b, c, a], axis=1)
    sides = ends - starts
    left = np.einsum("nsd,nd->ns", np.cross(sides, foot[:, None] - starts), normal)
    inside = (left >= 0.0).all(axis=1)
    along = np.einsum("nsd,nsd->ns", sides, point - starts) / np.einsum("nsd,nsd->ns", sides, sides)
    on_sides = starts + np.clip(along, 0.0, 1.0)[:, :, None] * sides
    best = np.linalg.norm(on_sides - point, axis=2).argmin(axis=1)
    nearest: Array = np.where(inside[:, None], foot, on_sides[np.arange(len(corners)), best])
    return nearest
