"""Compile every kernel once, so that the first user does not wait: `python -m pliant.fem.warm`."""

from __future__ import annotations

import numpy as np

from pliant.fem import ELEMENTS, LAWS, Material, make_body, make_cable, make_system, rest, solve_equilibrium
from pliant.fem.assembly import elastic_energy, third_derivative
from pliant.geometry.mesh import TetMesh, embed


def warm() -> None:
    """Solve one small robot with every element and material law."""
    nodes = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]], dtype=float)
    mesh = TetMesh(nodes, np.array([[0, 1, 2, 3], [1, 2, 3, 4]]), np.zeros(2, dtype=np.int64))
    for element in ELEMENTS:
        for law in LAWS:
            body = make_body(mesh, Material(law), element=element, fixed=np.arange(3))
            cable = make_cable(body.mesh, "cable", np.array([0.5, 0.5, -1.0]), nodes[4:])
            system = make_system(body, [cable], embed(body.mesh, nodes[3:4]), np.zeros(3))
            state = solve_equilibrium(
                system, rest(system), command=np.array([1e-3]), length_driven=np.array([True])
            )
            elastic_energy(body, state.x)
            third_derivative(body, state.x, state.x, state.x)


if __name__ == "__main__":
    warm()
