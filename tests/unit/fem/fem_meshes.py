"""Meshes, bodies and small systems that the finite-element tests share."""

from __future__ import annotations

from itertools import permutations

import numpy as np

from pliant.fem import Body, Cable, Material, System, make_body, make_cable, make_system
from pliant.geometry.mesh import TetMesh, embed

E, NU = 2e5, 0.3


def box_mesh(n: tuple[int, int, int], size: tuple[float, float, float] = (1.0, 1.0, 1.0)) -> TetMesh:
    """Six tetrahedra a cell around its diagonal (Kuhn), one corner at the origin."""
    x = np.meshgrid(*(np.linspace(0.0, s, k + 1) for s, k in zip(size, n, strict=True)), indexing="ij")
    stride = np.array([(n[1] + 1) * (n[2] + 1), n[2] + 1, 1])
    cell = np.stack(np.meshgrid(*map(np.arange, n), indexing="ij"), axis=-1).reshape(-1, 3) @ stride
    tets = []
    for order in permutations(range(3)):
        path = np.concatenate([[0], np.cumsum(stride[list(order)])])
        odd = np.linalg.det(np.eye(3)[list(order)]) < 0
        tets.append(cell[:, None] + path[[0, 2, 1, 3] if odd else [0, 1, 2, 3]])
    return TetMesh(np.stack([a.ravel() for a in x], axis=1), np.concatenate(tets))


def on_boundary(nodes: np.ndarray) -> np.ndarray:
    """Nodes on the faces of an axis-parallel box."""
    low, high = nodes.min(axis=0), nodes.max(axis=0)
    return np.flatnonzero((np.isclose(nodes, low) | np.isclose(nodes, high)).any(axis=1))


def irregular_mesh(n: int, rng: np.random.Generator) -> TetMesh:
    """The unit cube with every inner node moved by up to a fifth of a cell a direction."""
    mesh = box_mesh((n, n, n))
    nodes = mesh.nodes.copy()
    inner = np.setdiff1d(np.arange(len(nodes)), on_boundary(nodes))
    nodes[inner] += rng.uniform(-0.2, 0.2, (inner.size, 3)) / n
    return TetMesh(nodes, mesh.tets)


def irregular_body(element: str, law: str, rng: np.random.Generator, *, nu: float = NU) -> Body:
    """A cube of irregular elements with all its boundary fixed, and several nodes inside."""
    n = 3 if element == "tet4" else 2
    material = Material(law, E, nu, 1000.0)
    mesh = make_body(irregular_mesh(n, rng), material, element=element).mesh
    return make_body(mesh, material, element=element, fixed=on_boundary(mesh.nodes))


def deformed(body: Body, rng: np.random.Generator, amount: float = 0.02) -> np.ndarray:
    """Positions under a finite homogeneous deformation with a random field on top."""
    F = np.eye(3) + 0.15 * rng.standard_normal((3, 3)) / np.sqrt(3)
    size = np.ptp(body.mesh.nodes, axis=0).max()
    return body.mesh.nodes @ F.T + amount * size * rng.uniform(-1, 1, body.mesh.nodes.shape)


def at(mesh: TetMesh, *points: tuple[float, float, float]) -> np.ndarray:
    """Nodes at these places."""
    gaps = np.linalg.norm(mesh.nodes[None] - np.array(points)[:, None], axis=2)
    assert gaps.min(axis=1).max() < 1e-9
    return gaps.argmin(axis=1)


def beam_system(
    element: str = "tet10_mean",
    *,
    n: tuple[int, int, int] = (4, 1, 1),
    size: tuple[float, float, float] = (0.08, 0.02, 0.02),
    material: Material | None = None,
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81),
    rigid_beyond: float | None = None,
    springs_n_m: float | None = None,
    cables: int = 2,
) -> System:
    """A cantilever along x with cables along its sides and one effector in the middle of its tip."""
    material = Material("neo_hookean", E, 0.45, 1070.0) if material is None else material
    length, width, height = size
    mesh = make_body(box_mesh(n, size), material, element=element).mesh
    root = np.flatnonzero(mesh.nodes[:, 0] < 1e-9)
    rigid = [] if rigid_beyond is None else [np.flatnonzero(mesh.nodes[:, 0] > rigid_beyond - 1e-9)]
    body = make_body(
        mesh,
        material,
        element=element,
        fixed=root if springs_n_m is None else np.zeros(0, dtype=np.int64),
        attached=root if springs_n_m is not None else np.zeros(0, dtype=np.int64),
        attachment_stiffness=springs_n_m or 0.0,
        rigid=rigid,
    )
    return make_system(
        body,
        beam_cables(mesh, size)[:cables],
        embed(mesh, np.array([[length, width / 2, height / 2]])),
        np.array(gravity),
    )


def beam_cables(mesh: TetMesh, size: tuple[float, float, float]) -> list[Cable]:
    """Four cables along the four long edges, routed through the middle of the beam."""
    length, width, height = size
    cables = []
    for i, (y, z) in enumerate(
        [(width / 2, height), (width / 2, 0.0), (0.0, height / 2), (width, height / 2)]
    ):
        pull = np.array([-0.1 * length, y, z])
        via = np.array([[length / 2, y, z], [length, y, z]])
        cables.append(make_cable(mesh, f"cable{i}", pull, via))
    return cables
