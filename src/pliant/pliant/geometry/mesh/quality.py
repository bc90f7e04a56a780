"""How well-shaped the tetrahedra of a mesh are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.geometry.mesh.tet_mesh import Array, Indices, TetMesh, corner_volumes, edge_lengths


@dataclass(frozen=True)
class MeshQuality:
    """Shape and size of a mesh's tetrahedra; a quality of 1 is a regular one, 0 a flat one.

    Attributes:
        minimum: Worst quality.
        percentile_5: Quality that 5 % of the tetrahedra are below.
        median: Median quality.
        volume_m3: Volume of the corner tetrahedra together [m^3].
        shortest_edge_m: Shortest straight edge [m].
        median_edge_m: Median straight edge [m].
        longest_edge_m: Longest straight edge [m].
    """

    minimum: float
    percentile_5: float
    median: float
    volume_m3: float
    shortest_edge_m: float
    median_edge_m: float
    longest_edge_m: float


def mesh_quality(mesh: TetMesh) -> MeshQuality:
    """Quality of the mesh's corner tetrahedra (none is inverted: a `TetMesh` refuses those)."""
    quality = tet_quality(mesh.nodes, mesh.tets)
    lengths = edge_lengths(mesh.nodes, mesh.tets)
    return MeshQuality(
        minimum=float(quality.min()),
        percentile_5=float(np.percentile(quality, 5)),
        median=float(np.median(quality)),
        volume_m3=float(corner_volumes(mesh.nodes, mesh.tets).sum()),
        shortest_edge_m=float(lengths.min()),
        median_edge_m=float(np.median(lengths)),
        longest_edge_m=float(lengths.max()),
    )


def tet_quality(nodes: Array, tets: Indices) -> Array:
    """q = 6 sqrt(2) V / l_rms^3 of each tetrahedron; negative where inverted.

    Args:
        nodes: Positions [m], shape (n_nodes, 3).
        tets: Corner nodes first, shape (n_tets, 4 or 10).

    Returns:
        Quality, shape (n_tets,).
    """
    l_rms = np.sqrt((edge_lengths(nodes, tets) ** 2).mean(axis=1))
    quality: Array = 6.0 * np.sqrt(2.0) * corner_volumes(nodes, tets) / l_rms**3
    return quality
