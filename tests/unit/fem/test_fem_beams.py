"""Slender beams against beam theory: the elastica, and locking."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from fem_meshes import box_mesh

from pliant.fem import Material, System, make_body, make_cable, make_system, rest, solve_equilibrium
from pliant.geometry.hexes import divided, split, swept_block
from pliant.geometry.mesh import TetMesh, embed

ELASTICA = {1.0: 0.30172, 2.0: 0.49346, 5.0: 0.71379, 10.0: 0.81061}
"""Tip deflection over length of a cantilever under a dead end load P, by P L^2 / EI
(Bisshopp and Drucker 1945)."""
BAR = 0.02
"""The elastica neither shears nor stretches; at slenderness 20 that is about 0.4 % of the deflection."""
MOST_NODES = 3000

LENGTH, HEIGHT, YOUNG = 0.2, 0.01, 1e6


def cantilever(element: str, nu: float, mesh: TetMesh) -> System:
    """Fixed at x = 0, its effector the middle of the tip; a cable that stays slack."""
    material = Material("neo_hookean", YOUNG, nu, 0.0)
    mesh = make_body(mesh, material, element=element).mesh
    root = mesh.nodes[:, 0] < 1e-9
    body = make_body(mesh, material, element=element, fixed=np.flatnonzero(root))
    tip = np.array([[LENGTH, HEIGHT / 2, HEIGHT / 2]])
    cable = make_cable(mesh, "slack", tip[0] - [2 * LENGTH, 0, 0], tip)
    return make_system(body, [cable], embed(mesh, tip), np.zeros(3))


def swept(cells: tuple[int, int, int]) -> TetMesh:
    """Five tetrahedra a cell, mirrored from cell to cell, as the shipped robots are."""
    corners = np.array(np.meshgrid([0, LENGTH], [0, HEIGHT], [0, HEIGHT], indexing="ij")).transpose(
        1, 2, 3, 0
    )
    return split(divided(swept_block(corners), cells))


@cache
def deflections(element: str, nu: float, cells: tuple[int, int, int]) -> dict[float, float]:
    """Relative error of the tip deflection for each load of the elastica."""
    system = cantilever(element, nu, swept(cells))
    assert system.body.n_nodes <= MOST_NODES
    bending_stiffness = YOUNG * HEIGHT**4 / 12
    state, errors = rest(system), {}
    for load, expected in ELASTICA.items():
        P = load * bending_stiffness / LENGTH**2
        state = solve_equilibrium(
            system,
            state,
            command=np.zeros(1),
            length_driven=np.zeros(1, dtype=bool),
            effector_force=np.array([[0.0, 0.0, -P]]),
        )
        errors[load] = (HEIGHT / 2 - state.effector[0, 2]) / LENGTH / expected - 1
    return errors


@pytest.mark.parametrize("nu", [0.3, 0.45])
@pytest.mark.parametrize("load", ELASTICA)
def test_default_element_bends_as_the_elastica(load, nu, record_property):
    error = deflections("tet10_mean", nu, (40, 2, 2))[load]
    record_property("relative_error", float(error))
    assert abs(error) <= BAR


@pytest.mark.parametrize("nu", [0.3, 0.45])
def test_one_cell_through_the_thickness_bends_softly_where_linear_elements_lock(nu):
    """The mean dilatation drops the volumetric energy that varies through an element: too soft by a tenth."""
    assert 0.0 < deflections("tet10_mean", nu, (20, 1, 1))[1.0] < 0.13
    assert deflections("tet4", nu, (20, 1, 1))[1.0] < -0.5


def test_bar_under_its_own_weight_stretches_by_the_formula():
    """u(L) = rho g L^2 / 2E at nu = 0, for small stretch."""
    material = Material("st_venant_kirchhoff", 1e7, 0.0, 1000.0)
    mesh = make_body(box_mesh((2, 2, 8), (0.05, 0.05, 0.2)), material).mesh
    body = make_body(mesh, material, fixed=np.flatnonzero(mesh.nodes[:, 2] > 0.2 - 1e-9))
    bottom = np.array([[0.025, 0.025, 0.0]])
    cable = make_cable(mesh, "slack", bottom[0] - [0, 0, 0.1], bottom)
    state = rest(make_system(body, [cable], embed(mesh, bottom), np.array([0.0, 0.0, -9.81])))
    expected = 1000.0 * 9.81 * 0.2**2 / (2 * 1e7)
    assert -state.effector[0, 2] == pytest.approx(expected, rel=1e-3)  # strain 1e-4 of geometric nonlinearity
