"""The boundary problem that other programs solve too: a cantilever with its weight and a force on its tip."""

from __future__ import annotations

import numpy as np
from fem_meshes import at, irregular_mesh

from pliant.fem import Material, NewtonOptions, make_body, make_cable, make_system, rest, solve_equilibrium
from pliant.geometry.mesh import Embedding, TetMesh

SIZE = np.array([0.12, 0.03, 0.04])
TIP_FORCE = np.array([0.05, 0.15, -0.4])
GRAVITY = np.array([0.0, 0.0, -9.81])
TIGHT = NewtonOptions(tolerance=1e-11, residual_tolerance=1e-9)


def beam_mesh() -> TetMesh:
    """Irregular elements stretched to a beam along x."""
    mesh = irregular_mesh(4, np.random.default_rng(11))
    return TetMesh(mesh.nodes * SIZE, mesh.tets)


def solve(element: str, material: Material) -> tuple[TetMesh, np.ndarray, int, np.ndarray]:
    """Mesh, fixed nodes, loaded node and nodal displacements [m]."""
    mesh = make_body(beam_mesh(), material, element=element).mesh
    fixed = np.flatnonzero(mesh.nodes[:, 0] < 1e-9)
    body = make_body(mesh, material, element=element, fixed=fixed)
    tip = int(at(mesh, tuple(SIZE * [1.0, 0.5, 0.5]))[0])
    cable = make_cable(mesh, "slack", -SIZE, mesh.nodes[[tip]])
    effector = Embedding(np.array([[tip]]), np.ones((1, 1)), np.zeros(1))
    system = make_system(body, [cable], effector, GRAVITY)
    state = solve_equilibrium(
        system,
        rest(system),
        command=np.zeros(1),
        length_driven=np.zeros(1, dtype=bool),
        effector_force=TIP_FORCE[None],
        options=TIGHT,
    )
    displacement = state.x - mesh.nodes
    assert np.abs(displacement).max() > 0.05 * SIZE[0]  # far from linear
    return mesh, fixed, tip, displacement
