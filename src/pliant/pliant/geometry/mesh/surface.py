"""The outer surface of a tetrahedral mesh."""

from __future__ import annotations

import numpy as np

from pliant.geometry.mesh.tet_mesh import Indices, TetMesh

FACES: Indices = np.array([[0, 2, 1, 6, 5, 4], [0, 1, 3, 4, 8, 7], [1, 2, 3, 5, 9, 8], [0, 3, 2, 7, 9, 6]])
"""Outward faces of a tetrahedron: three corners and the middles of the edges between them, shape (4, 6)."""

QUARTERS: Indices = np.array([[0, 3, 5], [3, 1, 4], [5, 4, 2], [3, 4, 5]])
"""The four flat triangles of a six-node face, shape (4, 3)."""


def surface_triangles(mesh: TetMesh) -> Indices:
    """Triangles of the surface, normals outward; a six-node face gives four, shape (n_triangles, 3)."""
    return surface_faces(mesh)[0]


def surface_faces(mesh: TetMesh) -> tuple[Indices, Indices]:
    """Triangles of the surface and the tetrahedron behind each, shapes (n_triangles, 3), (n_triangles,)."""
    corners = np.sort(mesh.tets[:, FACES[:, :3]].reshape(-1, 3), axis=1)
    _, first, count = np.unique(corners, axis=0, return_index=True, return_counts=True)
    outer = np.sort(first[count == 1])
    tet, face = outer // 4, outer % 4
    if mesh.order == 1:
        return mesh.tets[tet[:, None], FACES[face, :3]], tet
    six = mesh.tets[tet[:, None], FACES[face]]
    return six[:, QUARTERS].reshape(-1, 3), np.repeat(tet, len(QUARTERS))
