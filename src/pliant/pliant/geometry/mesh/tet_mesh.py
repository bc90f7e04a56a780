"""A mesh of linear or quadratic tetrahedra, sound by construction."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pliant.errors import MeshError

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

EDGES: Indices = np.array([[0, 1], [1, 2], [0, 2], [0, 3], [1, 3], [2, 3]])
"""Corners of the edge on which nodes 4 to 9 of a quadratic tetrahedron lie (VTK order), shape (6, 2)."""

SMALLEST_VOLUME = 1e-9
"""A tetrahedron whose volume is below this fraction of (longest edge)^3 is flat."""

FARTHEST_MIDDLE = 0.4
"""A mid-edge node lies within this fraction of the edge's length of its middle."""


def _no_region() -> Indices:
    return np.zeros(0, dtype=np.int64)


@dataclass(frozen=True)
class TetMesh:
    """Nodes and tetrahedra of one body; all arrays are read-only.

    Attributes:
        nodes: Positions [m], shape (n_nodes, 3).
        tets: Node indices, shape (n_tets, 4), or (n_tets, 10) with the mid-edge nodes in the
            order of `EDGES`. Corners 1, 2, 3 turn anticlockwise seen from outside past corner 0,
            so that det[x1 - x0, x2 - x0, x3 - x0] > 0.
        region: Number of the material region of each tetrahedron, shape (n_tets,); 0 unless given.

    Raises:
        MeshError: If a node is not finite or unused, an index is out of range, or a tetrahedron
            repeats a node, is flat, is inverted, or has a mid-edge node far from its edge's middle.
    """

    nodes: Array
    tets: Indices
    region: Indices = field(default_factory=_no_region)

    def __post_init__(self) -> None:
        nodes = np.array(self.nodes, dtype=np.float64)
        tets = np.array(self.tets)
        _check_shapes(nodes, tets)
        region = (
            np.array(self.region, dtype=np.int64)
            if np.size(self.region)
            else np.zeros(len(tets), dtype=np.int64)
        )
        if region.shape != (len(tets),):
            raise MeshError(
                f"region has shape {region.shape}; allowed: one number for each of {len(tets)} tetrahedra"
            )
        tets = tets.astype(np.int64)
        _check_indices(nodes, tets)
        _check_volumes(nodes, tets)
        if tets.shape[1] == 10:
            _check_middles(nodes, tets)
        for name, value in (("nodes", nodes), ("tets", tets), ("region", region)):
            value.flags.writeable = False
            object.__setattr__(self, name, value)

    @property
    def order(self) -> int:
        """Polynomial order of the elements: 1 (4 nodes) or 2 (10 nodes)."""
        return 1 if self.tets.shape[1] == 4 else 2

    @property
    def n_nodes(self) -> int:
        """Number of nodes, mid-edge nodes included."""
        return len(self.nodes)

    @property
    def n_tets(self) -> int:
        """Number of tetrahedra."""
        return len(self.tets)

    @property
    def corners(self) -> Indices:
        """Corner nodes of each tetrahedron, shape (n_tets, 4)."""
        return self.tets[:, :4]


def quadratic(mesh: TetMesh) -> TetMesh:
    """The mesh with a node in the middle of every straight edge; a quadratic mesh is returned as it is.

    The corner nodes keep their numbers; the new nodes follow them.
    """
    if mesh.order == 2:
        return mesh
    ends = np.sort(mesh.tets[:, EDGES], axis=2).reshape(-1, 2)
    edges, edge_of = np.unique(ends, axis=0, return_inverse=True)
    nodes = np.vstack([mesh.nodes, mesh.nodes[edges].mean(axis=1)])
    middles = mesh.n_nodes + edge_of.reshape(mesh.n_tets, 6)
    return TetMesh(nodes, np.hstack([mesh.tets, middles]), mesh.region)


def linear(mesh: TetMesh) -> TetMesh:
    """The mesh of the corners alone, renumbered in their order; a linear mesh is returned as it is."""
    if mesh.order == 1:
        return mesh
    kept, corners = np.unique(mesh.corners, return_inverse=True)
    return TetMesh(mesh.nodes[kept], corners.reshape(-1, 4), mesh.region)


def corner_volumes(nodes: Array, tets: Indices) -> Array:
    """Signed volumes det[x1 - x0, x2 - x0, x3 - x0] / 6 of the corner tetrahedra [m^3], shape (n_tets,)."""
    sides = nodes[tets[:, 1:4]] - nodes[tets[:, :1]]
    volumes: Array = np.linalg.det(sides) / 6.0
    return volumes


def edge_lengths(nodes: Array, tets: Indices) -> Array:
    """Lengths of the six straight edges of each tetrahedron [m], shape (n_tets, 6)."""
    ends = nodes[tets[:, EDGES]]
    lengths: Array = np.linalg.norm(ends[:, :, 1] - ends[:, :, 0], axis=2)
    return lengths


def _check_shapes(nodes: Array, tets: Indices) -> None:
    if nodes.ndim != 2 or nodes.shape[1] != 3:
        raise MeshError(f"nodes have shape {nodes.shape}; allowed: (n_nodes, 3)")
    if tets.ndim != 2 or tets.shape[1] not in (4, 10) or not len(tets):
        raise MeshError(f"tets have shape {tets.shape}; allowed: (n_tets, 4) or (n_tets, 10), at least one")
    if not np.issubdtype(tets.dtype, np.integer):
        raise MeshError(f"tets hold {tets.dtype}; allowed: integers")
    bad = np.flatnonzero(~np.isfinite(nodes).all(axis=1))
    if bad.size:
        raise MeshError(f"{listed('node', bad)}: position is not finite")


def _check_indices(nodes: Array, tets: Indices) -> None:
    bad = np.flatnonzero(((tets < 0) | (tets >= len(nodes))).any(axis=1))
    if bad.size:
        raise MeshError(f"{listed('tetrahedron', bad)}: node index outside 0 to {len(nodes) - 1}")
    ordered = np.sort(tets, axis=1)
    bad = np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1))
    if bad.size:
        raise MeshError(f"{listed('tetrahedron', bad)}: a node is repeated")
    unused = np.flatnonzero(np.bincount(tets.ravel(), minlength=len(nodes)) == 0)
    if unused.size:
        raise MeshError(f"{listed('node', unused)}: in no tetrahedron")


def _check_volumes(nodes: Array, tets: Indices) -> None:
    volumes = corner_volumes(nodes, tets)
    smallest = SMALLEST_VOLUME * edge_lengths(nodes, tets).max(axis=1) ** 3
    inverted = np.flatnonzero(volumes < -smallest)
    if inverted.size == len(tets):
        raise MeshError("every tetrahedron is inverted: swap two corners of each")
    if inverted.size:
        raise MeshError(f"{listed('tetrahedron', inverted)}: inverted (negative volume)")
    flat = np.flatnonzero(volumes <= smallest)
    if flat.size:
        raise MeshError(f"{listed('tetrahedron', flat)}: flat (no volume)")


def _check_middles(nodes: Array, tets: Indices) -> None:
    away = np.linalg.norm(nodes[tets[:, 4:]] - nodes[tets[:, EDGES]].mean(axis=2), axis=2)
    bad = np.flatnonzero((away > FARTHEST_MIDDLE * edge_lengths(nodes, tets)).any(axis=1))
    if bad.size:
        raise MeshError(
            f"{listed('tetrahedron', bad)}: mid-edge nodes are not in the order 01 12 02 03 13 23"
        )


def listed(noun: str, indices: Indices) -> str:
    """Name and count of the first few indices, such as "tetrahedron 3, 7 and 12 more"."""
    first = ", ".join(str(index) for index in indices[:4])
    return f"{noun} {first}" + (f" and {len(indices) - 4} more" if len(indices) > 4 else "")
