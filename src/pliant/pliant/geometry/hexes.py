"""Swept meshes: blocks of hexahedra, divided and split into tetrahedra without a preferred direction."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import coo_array
from scipy.sparse.csgraph import breadth_first_order, connected_components

from pliant.errors import MeshError
from pliant.geometry.mesh import TetMesh
from pliant.geometry.mesh.tet_mesh import Array, Indices

CUBE: Indices = np.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)])
"""Corner c of a hexahedron is at CUBE[c] of its three directions, shape (8, 3)."""

SIDES: Indices = np.array(
    [[a, b] for a in range(8) for b in range(a, 8) if np.abs(CUBE[a] - CUBE[b]).sum() == 1]
)
"""The twelve edges of a hexahedron, shape (12, 2)."""

EVEN: Indices = np.array([[0, 3, 5, 6], [0, 4, 6, 5], [0, 2, 3, 6], [0, 1, 5, 3], [3, 7, 5, 6]])
"""Five tetrahedra on the diagonals between corners 0, 3, 5, 6, shape (5, 4)."""

ODD: Indices = np.array([[1, 2, 7, 4], [1, 2, 4, 0], [1, 7, 2, 3], [1, 4, 7, 5], [2, 7, 4, 6]])
"""Five tetrahedra on the diagonals between corners 1, 2, 4, 7, shape (5, 4)."""

TOLERANCE = 1e-7
"""Corners closer than this fraction of the body's size are one node."""


def swept_block(sections: ArrayLike) -> Array:
    """Hexahedra between consecutive sections of the same grid.

    Args:
        sections: Grid points of each section [m], shape (n_sections, n_i, n_j, 3).

    Returns:
        Corners of each hexahedron in the order of `CUBE`, shape (n_hexahedra, 8, 3).
    """
    x = np.asarray(sections, dtype=np.float64)
    n = np.array(x.shape[:3]) - 1
    first = np.stack(np.meshgrid(*map(np.arange, n), indexing="ij"), axis=-1).reshape(-1, 1, 3)
    at = first + CUBE
    corners: Array = x[at[..., 0], at[..., 1], at[..., 2]]
    return corners


def divided(hexahedra: Array, divisions: Sequence[int]) -> Array:
    """Each hexahedron cut into n_i x n_j x n_k by its trilinear map, shape (n n_i n_j n_k, 8, 3)."""
    n = np.array(divisions)
    first = np.stack(np.meshgrid(*map(np.arange, n), indexing="ij"), axis=-1).reshape(-1, 1, 3)
    t = (first + CUBE) / n
    weights = np.where(CUBE == 1, t[:, :, None, :], 1.0 - t[:, :, None, :]).prod(axis=3)
    parts: Array = np.einsum("pcw,nwd->npcd", weights, hexahedra).reshape(-1, 8, 3)
    return parts


def split(hexahedra: Array, region: ArrayLike = ()) -> TetMesh:
    """Five tetrahedra a hexahedron: equal corners become one node, neighbours are mirror images.

    Nodes are coloured even and odd so that no edge joins one colour; each hexahedron is split along
    the diagonals between its even corners, so faces match and a symmetric grid gives a symmetric mesh.

    Args:
        hexahedra: Corners [m], shape (n_hexahedra, 8, 3), positive in the order of `CUBE`.
        region: Region of each hexahedron, shape (n_hexahedra,); 0 if empty.

    Raises:
        MeshError: If a ring has an odd number of hexahedra, or a tetrahedron comes out flat or inverted.
    """
    points = np.asarray(hexahedra, dtype=np.float64).reshape(-1, 3)
    grid = np.round((points - points.min(axis=0)) / (TOLERANCE * np.ptp(points, axis=0).max())).astype(
        np.int64
    )
    _, first, node = np.unique(grid, axis=0, return_index=True, return_inverse=True)
    corners = node.reshape(-1, 8)
    even = _colours(corners, len(first))[corners[:, 0]] == 0
    tets = np.where(even[:, None, None], corners[:, EVEN], corners[:, ODD]).reshape(-1, 4)
    regions = (
        np.repeat(np.asarray(region, dtype=np.int64), 5) if np.size(region) else np.zeros(len(tets), np.int64)
    )
    return TetMesh(points[first], tets, regions)


def _colours(corners: Indices, n_nodes: int) -> Indices:
    """Colour 0 or 1 of each node, different at the two ends of each edge, shape (n_nodes,)."""
    ends = corners[:, SIDES].reshape(-1, 2)
    graph = coo_array((np.ones(len(ends)), ends.T), shape=(n_nodes, n_nodes)).tocsr()
    colour = np.zeros(n_nodes, dtype=np.int64)
    n_parts, part = connected_components(graph, directed=False)
    for i in range(n_parts):
        order, parent = breadth_first_order(graph, np.flatnonzero(part == i)[0], directed=False)
        for node in order[1:]:
            colour[node] = 1 - colour[parent[node]]
    if (colour[ends[:, 0]] == colour[ends[:, 1]]).any():
        raise MeshError("a ring of hexahedra has an odd number of them: divide one direction once more")
    return colour
