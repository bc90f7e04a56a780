"""Eight elements side by side: the arithmetic of lanes, and batches that are not full or not of one law."""

from __future__ import annotations

import numpy as np
import pytest
from fem_meshes import NU, E, deformed, irregular_mesh
from numba import njit

from pliant.fem import ELEMENTS, LAWS, Material, make_body
from pliant.fem.assembly import (
    as_sparse,
    elastic_energy,
    internal_force,
    make_pattern,
    smallest_jacobian,
    tangent_stiffness,
)
from pliant.fem.lanes import LANES, lanes, load, side_by_side, store, total, transpose
from pliant.geometry.mesh import TetMesh

DIFFERENCES = 1e-7  # relative truncation and rounding of central differences
ROUNDING = 1e-13


@njit
def arithmetic(a, b, out):
    x, y = load(a, 0), load(b, 1)
    store(out, 0, 2.0 * (x + y) - x * y / y + lanes(1.0))
    return total(x)


@njit
def transposed(matrix):
    transpose(matrix, 0)


def test_lanes_compute_as_numpy_does() -> None:
    rng = np.random.default_rng(0)
    a, b, out = rng.uniform(1, 2, LANES), rng.uniform(1, 2, 2 * LANES), np.empty(LANES)
    assert arithmetic(a, b, out) == pytest.approx(a.sum(), rel=ROUNDING)
    np.testing.assert_allclose(out, a + 2 * b[LANES:] + 1, rtol=ROUNDING)
    matrix = rng.standard_normal((LANES, LANES))
    flat = matrix.ravel().copy()
    transposed(flat)
    np.testing.assert_array_equal(flat.reshape(LANES, LANES), matrix.T)


@pytest.mark.parametrize("n_elements", [1, 8, 11])
def test_elements_stand_side_by_side(n_elements: int) -> None:
    rng = np.random.default_rng(0)
    values = rng.standard_normal((n_elements, 2, 3))
    flat = side_by_side(values).reshape(-1, 2, 3, LANES)
    for e in range(flat.shape[0] * LANES):
        np.testing.assert_array_equal(flat[e // LANES, :, :, e % LANES], values[min(e, n_elements - 1)])


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("n_elements", [5, 16, 27])
def test_every_law_in_one_batch(element: str, n_elements: int) -> None:
    rng = np.random.default_rng(0)
    mesh = irregular_mesh(2, rng)
    laws = {region: Material(law, E * (1 + region), NU) for region, law in enumerate(LAWS)}
    tets = mesh.tets[:n_elements]
    used, tets = np.unique(tets, return_inverse=True)
    mesh = TetMesh(mesh.nodes[used], tets.reshape(-1, 4), rng.integers(0, len(LAWS), n_elements))
    body = make_body(mesh, laws, element=element, fixed=np.array([0, 3]))
    x, step = deformed(body, rng, 0.01), rng.standard_normal(body.mesh.nodes.shape)
    step[body.fixed] = 0.0
    h = 1e-5 / np.abs(step).max()
    pattern = make_pattern(body, np.zeros((0, 2), dtype=np.int64))
    force, blocks, smallest = tangent_stiffness(body, pattern, x)
    np.testing.assert_allclose(force, internal_force(body, x), rtol=0, atol=ROUNDING * np.abs(force).max())
    assert smallest == pytest.approx(smallest_jacobian(body, x), rel=ROUNDING)
    slope = (elastic_energy(body, x + h * step) - elastic_energy(body, x - h * step)) / (2 * h)
    assert np.sum(force * step) == pytest.approx(slope, rel=DIFFERENCES)
    change = (internal_force(body, x + h * step) - internal_force(body, x - h * step))[body.free] / (2 * h)
    product = as_sparse(pattern, blocks) @ step[body.free].ravel()
    np.testing.assert_allclose(product, change.ravel(), rtol=0, atol=DIFFERENCES * np.abs(product).max())
