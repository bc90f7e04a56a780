"""Convergence rate of the displacement against a manufactured solution at finite strain.

A cube whose boundary follows u_i = a_i sin(k_i . X + i) takes this displacement inside as well under
the body force b = -div P(I + grad u) of the Neo-Hookean law, applied by the consistent mass.
"""

from __future__ import annotations

import numpy as np
import pytest
from fem_meshes import box_mesh, on_boundary

from pliant.fem import Body, Material, cholesky, make_body
from pliant.fem.assembly import make_pattern, mass_matrix, tangent_stiffness
from pliant.fem.body import mass_weights

AMPLITUDE = np.array([0.05, 0.04, -0.06])
WAVES = np.array([[1.0, 2.5, 1.5], [2.0, -1.0, 1.5], [-1.5, 2.0, 1.0]])
PHASE = np.arange(3)
DIFFERENCE = 1e-4
"""Step of the divergence by central differences of fourth order: its fourth power leaves 1e-16,
rounding 1e-12."""
LINEAR_RATE, QUADRATIC_RATE = 1.9, 2.8
"""Theory: 2 and 3, less what meshes of this size have yet to gain."""
MEAN_RATE = 1.5
"""The mean dilatation is constant in an element: theory promises order 1 for it, so 2 for the displacement,
which meshes of this size approach from below. What the element buys is no locking."""


def displacement(X: np.ndarray) -> np.ndarray:
    return AMPLITUDE * np.sin(X @ WAVES.T + PHASE)


def piola_stress(X: np.ndarray, material: Material) -> np.ndarray:
    """P = mu (F - F^-T) + lambda ln J F^-T, with F from the formula for u."""
    F = np.eye(3) + (AMPLITUDE * np.cos(X @ WAVES.T + PHASE))[..., None] * WAVES
    inverse_transpose = np.linalg.inv(F).swapaxes(-1, -2)
    log_j = np.log(np.linalg.det(F))[..., None, None]
    return material.mu * (F - inverse_transpose) + material.lam * log_j * inverse_transpose


def body_force(X: np.ndarray, material: Material) -> np.ndarray:
    """-div P [N/m^3]."""
    total = np.zeros_like(X)
    for j in range(3):
        for k, w in ((-2, 1 / 12), (-1, -8 / 12), (1, 8 / 12), (2, -1 / 12)):
            total -= w / DIFFERENCE * piola_stress(X + k * DIFFERENCE * np.eye(3)[j], material)[..., j]
    return total


def solution(body: Body, force: np.ndarray) -> np.ndarray:
    """Node positions in balance with a nodal force, by plain Newton steps."""
    pattern = make_pattern(body, np.zeros((0, 2), dtype=np.int64))
    factorization = cholesky.analyse(pattern.n_free, pattern.row, pattern.column)
    free = body.unknown >= 0
    x = body.mesh.nodes + displacement(body.mesh.nodes)
    for _ in range(10):
        internal, blocks, _ = tangent_stiffness(body, pattern, x)
        assert cholesky.factorize(factorization, blocks)
        step = cholesky.solve(factorization, (force - internal)[free].reshape(1, -1)).reshape(-1, 3)
        x[free] += step
        if np.abs(step).max() < 1e-12:
            return x
    raise AssertionError("Newton's method did not converge")


def l2_error(element: str, nu: float, n: int) -> float:
    """Norm of the displacement error over the cube, by the quadrature of the mass."""
    material = Material("neo_hookean", 1.0, nu, 1.0)
    mesh = make_body(box_mesh((n, n, n)), material, element=element).mesh
    body = make_body(mesh, material, element=element, fixed=on_boundary(mesh.nodes))
    x = solution(body, mass_matrix(body) @ body_force(mesh.nodes, material))
    X = np.einsum("eqa,eai->eqi", body.shapes, mesh.nodes[body.elements])
    u = np.einsum("eqa,eai->eqi", body.shapes, x[body.elements]) - X
    return float(np.sqrt(np.sum(mass_weights(body)[..., None] * (u - displacement(X)) ** 2)))


def rate(element: str, nu: float, coarse: int, fine: int) -> float:
    return float(np.log(l2_error(element, nu, coarse) / l2_error(element, nu, fine)) / np.log(fine / coarse))


@pytest.mark.parametrize("nu", [0.3, 0.45])
def test_linear_elements_converge_quadratically(nu):
    assert rate("tet4", nu, 6, 12) >= LINEAR_RATE


@pytest.mark.parametrize("nu", [0.3, 0.45])
def test_quadratic_elements_converge_cubically(nu):
    assert rate("tet10", nu, 3, 6) >= QUADRATIC_RATE


@pytest.mark.parametrize("nu", [0.3, 0.45])
def test_mean_dilatation_converges_with_its_own_order(nu, record_property):
    value = rate("tet10_mean", nu, 4, 8)
    record_property("rate", float(value))
    assert value >= MEAN_RATE
