"""The block Cholesky against scipy's LU and dense algebra on random block patterns."""

from __future__ import annotations

import numpy as np
import pytest
from fem_meshes import box_mesh
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import bsr_matrix
from scipy.sparse.linalg import splu

from pliant.fem import Material, cholesky, make_body
from pliant.fem.assembly import as_sparse, make_pattern, tangent_stiffness
from pliant.fem.symbolic import supernodes

BACKWARD = 1e-12
"""Residual over |K| |x| of a backward stable solve with a few hundred unknowns."""
FORWARD = 1e-9
"""Difference of two solvers: condition number (below 1e3 here) times rounding, with a wide margin."""

patterns = st.tuples(st.integers(1, 40), st.floats(0.0, 0.6), st.integers(0, 2**32 - 1))


def random_pattern(n, density, rng):
    """Lower block pattern with every diagonal block, in random order of its entries."""
    row, column = np.tril_indices(n, -1)
    keep = rng.random(row.size) < density
    row = np.concatenate([row[keep], np.arange(n)])
    column = np.concatenate([column[keep], np.arange(n)])
    shuffled = rng.permutation(row.size)
    return row[shuffled], column[shuffled]


def random_blocks(n, row, column, rng, *, definite=True):
    """Blocks of a diagonally dominant matrix."""
    blocks = rng.standard_normal((row.size, 3, 3))
    dominance = np.zeros((n, 3))
    for r, c, block in zip(row, column, blocks, strict=True):
        dominance[r] += np.abs(block).sum(axis=1)
        dominance[c] += np.abs(block).sum(axis=0)
    diagonal = row == column
    blocks[diagonal] = 0.5 * (blocks[diagonal] + blocks[diagonal].transpose(0, 2, 1))
    blocks[diagonal] += np.einsum("bi,ij->bij", dominance[row[diagonal]] + 1.0, np.eye(3)) * (
        1 if definite else -1
    )
    return blocks


def full(n, row, column, blocks):
    """The symmetric matrix, dense."""
    dense = np.zeros((n, 3, n, 3))
    dense[row, :, column, :] = blocks
    dense[column, :, row, :] = blocks.transpose(0, 2, 1)
    return dense.reshape(3 * n, 3 * n)


@settings(max_examples=150, deadline=None)
@given(patterns, st.integers(1, 20))
def test_solve_agrees_with_splu(pattern, n_rhs):
    n, density, seed = pattern
    rng = np.random.default_rng(seed)
    row, column = random_pattern(n, density, rng)
    blocks = random_blocks(n, row, column, rng)
    K = full(n, row, column, blocks)
    factorization = cholesky.analyse(n, row, column)
    assert cholesky.factorize(factorization, blocks)
    rhs = rng.standard_normal((n_rhs, 3 * n))
    kept = rhs.copy()
    x = cholesky.solve(factorization, rhs)
    assert (rhs == kept).all()
    assert np.abs(x @ K - rhs).max() <= BACKWARD * np.abs(K).max() * max(np.abs(x).max(), 1.0) * 3 * n
    reference = splu(bsr_matrix(K, blocksize=(3, 3)).tocsc()).solve(rhs.T).T
    assert np.abs(x - reference).max() <= FORWARD * np.abs(reference).max()


@settings(max_examples=60, deadline=None)
@given(patterns, st.integers(1, 9))
def test_forward_half_gives_the_compliance_as_a_product(pattern, n_rhs):
    n, density, seed = pattern
    rng = np.random.default_rng(seed)
    row, column = random_pattern(n, density, rng)
    blocks = random_blocks(n, row, column, rng)
    factorization = cholesky.analyse(n, row, column)
    assert cholesky.factorize(factorization, blocks)
    H = rng.standard_normal((n_rhs, 3 * n)) * (rng.random((n_rhs, 3 * n)) < 0.3)
    y = cholesky.solve_forward(factorization, H)
    W = H @ np.linalg.solve(full(n, row, column, blocks), H.T)
    assert np.abs(y @ y.T - W).max() <= FORWARD * max(np.abs(W).max(), 1e-12)


@settings(max_examples=60, deadline=None)
@given(patterns, st.floats(-0.999, 10.0))
def test_shift_and_definiteness_agree_with_the_eigenvalues(pattern, beyond):
    """Shifted just so far that the smallest eigenvalue is clearly positive or clearly negative."""
    n, density, seed = pattern
    rng = np.random.default_rng(seed)
    row, column = random_pattern(n, density, rng)
    blocks = rng.standard_normal((row.size, 3, 3))
    diagonal = row == column
    blocks[diagonal] = 0.5 * (blocks[diagonal] + blocks[diagonal].transpose(0, 2, 1))
    K = full(n, row, column, blocks)
    smallest = np.linalg.eigvalsh(K)[0]
    factorization = cholesky.analyse(n, row, column)
    margin = 1e-3 * np.abs(K).max()
    assert not cholesky.factorize(factorization, blocks, -smallest - margin)
    shift = -smallest + margin * (2.0 + beyond)
    assert cholesky.factorize(factorization, blocks, shift)
    b = rng.standard_normal((1, 3 * n))
    x = cholesky.solve(factorization, b)
    residual = x @ (K + shift * np.eye(3 * n)) - b
    assert np.abs(residual).max() <= BACKWARD * (np.abs(K).max() + abs(shift)) * np.abs(x).max() * 3 * n
    assert not cholesky.factorize(factorization, blocks, -smallest - margin)  # after a success as well


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_matrix_with_a_number_that_is_none_is_refused(value):
    rng = np.random.default_rng(0)
    row, column = random_pattern(12, 0.4, rng)
    blocks = random_blocks(12, row, column, rng)
    factorization = cholesky.analyse(12, row, column)
    blocks[np.flatnonzero(row == column)[5], 1, 1] = -value
    assert not cholesky.factorize(factorization, blocks)


def test_zero_and_negative_definite_matrices_are_refused():
    rng = np.random.default_rng(0)
    row, column = random_pattern(12, 0.4, rng)
    factorization = cholesky.analyse(12, row, column)
    assert not cholesky.factorize(factorization, np.zeros((row.size, 3, 3)))
    assert not cholesky.factorize(factorization, random_blocks(12, row, column, rng, definite=False))


@settings(max_examples=100, deadline=None)
@given(patterns, st.sampled_from([0.0, 0.15, 0.5]))
def test_symbolic_factor_holds_the_dense_one(pattern, zeros):
    """The dense factor in the given order is zero outside the predicted structure, which merges nothing
    needlessly: without relaxation, its size is the dense factor's exactly."""
    n, density, seed = pattern
    rng = np.random.default_rng(seed)
    row, column = random_pattern(n, density, rng)
    first, row_start, rows, order, counts = supernodes(n, row, column, rng.permutation(n), zeros)
    assert sorted(order) == list(range(n))
    predicted = np.zeros((n, n), dtype=bool)
    for s in range(first.size - 1):
        own = rows[row_start[s] : row_start[s + 1]]
        assert (np.diff(own) > 0).all()
        assert (own[: first[s + 1] - first[s]] == np.arange(first[s], first[s + 1])).all()
        for c in range(first[s], first[s + 1]):
            predicted[own[own >= c], c] = True
    filled = symbolic_fill(n, row, column, order)
    assert not (filled & ~predicted).any()
    assert (counts == filled.sum(axis=0)).all()
    if zeros == 0.0:
        assert (filled == predicted).all()


def symbolic_fill(n, row, column, order):
    """Nonzero blocks of the Cholesky factor by elimination on a dense boolean matrix."""
    rank = np.empty(n, dtype=int)
    rank[order] = np.arange(n)
    filled = np.eye(n, dtype=bool)
    filled[np.maximum(rank[row], rank[column]), np.minimum(rank[row], rank[column])] = True
    for c in range(n):
        below = c + 1 + np.flatnonzero(filled[c + 1 :, c])
        for r in below:
            filled[below[below >= r], r] = True
    return filled


@pytest.mark.parametrize("element", ["tet4", "tet10_mean"])
def test_stiffness_of_a_body_agrees_with_splu(element):
    mesh = box_mesh((5, 3, 2))
    material = Material("neo_hookean", 1e5, 0.45, 1e3)
    mesh = make_body(mesh, material, element=element).mesh
    body = make_body(mesh, material, element=element, fixed=np.flatnonzero(mesh.nodes[:, 0] == 0))
    pattern = make_pattern(body, np.zeros((0, 2), dtype=np.int64))
    _, blocks, _ = tangent_stiffness(body, pattern, body.mesh.nodes)
    factorization = cholesky.analyse(pattern.n_free, pattern.row, pattern.column)
    assert cholesky.factorize(factorization, blocks)
    rhs = np.random.default_rng(0).standard_normal((12, 3 * pattern.n_free))
    reference = splu(as_sparse(pattern, blocks).tocsc()).solve(rhs.T).T
    # condition about 1e4 times rounding
    assert np.abs(cholesky.solve(factorization, rhs) - reference).max() <= FORWARD * np.abs(reference).max()
    again = cholesky.solve(factorization, rhs)
    assert cholesky.factorize(factorization, blocks)
    assert (cholesky.solve(factorization, rhs) == again).all()
