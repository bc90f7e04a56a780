"""The linear solver of a system, chosen by how much its matrix fills.

Thin robots fill little, and the project's own block Cholesky is the fastest that was measured
(`benchmarks/fem.py`). Solid blocks fill much, and there a supernodal library with nested
dissection wins: Intel's PARDISO, where `pypardiso` is installed. What tells them apart, better
than the operations alone, is how many of them fall on each entry of the factor.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Protocol
from weakref import finalize

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, triu

from pliant.fem import cholesky
from pliant.fem.assembly import sparse_from_blocks

Array = NDArray[np.float64]
IntArray = NDArray[np.int64]

LARGE_FILL = 250.0
"""Floating-point operations per entry of the factor above which the library is used."""


class Solver(Protocol):
    """A symmetric positive definite matrix of 3 x 3 blocks, factorised in place as L L'."""

    def factorize(self, blocks: Array, shift: float = 0.0) -> bool:
        """Factorise K + shift I; whether it is positive definite. Blocks [N/m], shape (n_blocks, 3, 3)."""

    def solve_forward(self, rhs: Array) -> Array:
        """Rows y of L y = P b for rows b, shape (n_rhs, 3 n_unknown); b' K^-1 c = y_b . y_c."""

    def solve_backward(self, y: Array) -> Array:
        """Rows x of L' P x = y, shape (n_rhs, 3 n_unknown)."""


def make_solver(n_unknown: int, row: IntArray, column: IntArray) -> Solver:
    """Analyse a pattern and choose the solver for it.

    Args:
        n_unknown: Number of block rows.
        row, column: Lower blocks, row >= column, sorted by row, shape (n_blocks,).
    """
    factorization = cholesky.analyse(n_unknown, row, column)
    if factorization.fill > LARGE_FILL and find_spec("pypardiso"):
        return Pardiso(n_unknown, row, column)
    return BlockCholesky(factorization)


@dataclass(frozen=True)
class BlockCholesky:
    """The project's own factorisation."""

    factorization: cholesky.Factorization

    def factorize(self, blocks: Array, shift: float = 0.0) -> bool:
        return cholesky.factorize(self.factorization, blocks, shift)

    def solve_forward(self, rhs: Array) -> Array:
        return cholesky.solve_forward(self.factorization, rhs)

    def solve_backward(self, y: Array) -> Array:
        return cholesky.solve_backward(self.factorization, y)


class Pardiso:
    """Intel's PARDISO, one thread unless MKL is told otherwise."""

    _POSITIVE_DEFINITE = 2
    _ANALYSE, _FACTORIZE, _FORWARD, _BACKWARD = 11, 22, 331, 333

    def __init__(self, n_unknown: int, row: IntArray, column: IntArray) -> None:
        import pypardiso

        self._error = pypardiso.pardiso_wrapper.PyPardisoError
        self._pardiso: Any = pypardiso.PyPardisoSolver(mtype=self._POSITIVE_DEFINITE)
        entry = np.arange(1, 9 * len(row) + 1, dtype=float).reshape(-1, 3, 3)
        upper = triu(sparse_from_blocks(n_unknown, row, column, entry)).tocsr()
        self._entry = upper.data.astype(np.int64) - 1
        self._diagonal = upper.indptr[:-1]
        self._matrix = csr_matrix((np.ones(upper.nnz), upper.indices, upper.indptr), shape=upper.shape)
        self._call(self._ANALYSE, np.zeros((1, upper.shape[0])))
        finalize(self, self._pardiso.free_memory, everything=True)

    def factorize(self, blocks: Array, shift: float = 0.0) -> bool:
        self._matrix.data[:] = blocks.ravel()[self._entry]
        self._matrix.data[self._diagonal] += shift
        try:
            self._call(self._FACTORIZE, np.zeros((1, self._matrix.shape[0])))
        except self._error:
            return False
        return True

    def solve_forward(self, rhs: Array) -> Array:
        return self._call(self._FORWARD, rhs)

    def solve_backward(self, y: Array) -> Array:
        return self._call(self._BACKWARD, y)

    def _call(self, phase: int, rhs: Array) -> Array:
        self._pardiso.set_phase(phase)
        return np.ascontiguousarray(self._pardiso._call_pardiso(self._matrix, np.asfortranarray(rhs.T)).T)
