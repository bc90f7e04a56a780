"""Tetrahedral meshes: the type, its files, points inside it, its quality."""

from pliant.geometry.mesh.embedding import Embedding, embed
from pliant.geometry.mesh.files import UNITS_M, read_mesh, write_mesh
from pliant.geometry.mesh.quality import MeshQuality, mesh_quality, tet_quality
from pliant.geometry.mesh.surface import surface_triangles
from pliant.geometry.mesh.tet_mesh import EDGES, TetMesh, linear, quadratic

__all__ = [
    "EDGES",
    "UNITS_M",
    "Embedding",
    "MeshQuality",
    "TetMesh",
    "embed",
    "linear",
    "mesh_quality",
    "quadratic",
    "read_mesh",
    "surface_triangles",
    "tet_quality",
    "write_mesh",
]
