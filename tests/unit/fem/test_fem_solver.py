"""The solver is chosen by fill, and both solve the same system."""

from __future__ import annotations

import numpy as np
import pytest
from fem_meshes import NU, E, irregular_mesh, on_boundary

from pliant.fem import Material, cholesky, make_body, solver
from pliant.fem.assembly import as_sparse, make_pattern, tangent_stiffness
from pliant.fem.solver import BlockCholesky, Pardiso, make_solver

SOLVED = 1e-9  # rounding times the condition number of a few hundred unknowns


@pytest.fixture
def tangent() -> tuple:
    rng = np.random.default_rng(0)
    mesh = irregular_mesh(6, rng)
    material = Material("neo_hookean", E, NU)
    body = make_body(mesh, material, element="tet4", fixed=on_boundary(mesh.nodes))
    pattern = make_pattern(body, np.zeros((0, 2), dtype=np.int64))
    _, blocks, _ = tangent_stiffness(body, pattern, mesh.nodes)
    return pattern, blocks, rng.standard_normal((3, 3 * body.n_free))


def test_the_fill_chooses(tangent: tuple, monkeypatch: pytest.MonkeyPatch) -> None:
    pattern, *_ = tangent
    fill = cholesky.analyse(pattern.n_free, pattern.row, pattern.column).fill
    assert 1 < fill < solver.LARGE_FILL
    assert isinstance(make_solver(pattern.n_free, pattern.row, pattern.column), BlockCholesky)
    monkeypatch.setattr(solver, "LARGE_FILL", 0.5 * fill)
    monkeypatch.setattr(solver, "find_spec", lambda name: None)
    assert isinstance(make_solver(pattern.n_free, pattern.row, pattern.column), BlockCholesky)


def test_pardiso_solves_as_the_block_cholesky(tangent: tuple, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pypardiso")
    pattern, blocks, rhs = tangent
    monkeypatch.setattr(solver, "LARGE_FILL", 0.0)
    library = make_solver(pattern.n_free, pattern.row, pattern.column)
    assert isinstance(library, Pardiso)
    assert library.factorize(blocks)
    y = library.solve_forward(rhs)
    other = Pardiso(pattern.n_free, pattern.row, pattern.column)
    assert other.factorize(2.0 * blocks)
    del other  # releases its memory and leaves the first one alone
    x = library.solve_backward(y)
    np.testing.assert_allclose(as_sparse(pattern, blocks) @ x.T, rhs.T, atol=SOLVED)
    own = BlockCholesky(cholesky.analyse(pattern.n_free, pattern.row, pattern.column))
    assert own.factorize(blocks)
    z = own.solve_forward(rhs)
    np.testing.assert_allclose(y @ y.T, z @ z.T, rtol=SOLVED)
    assert not library.factorize(-blocks)
