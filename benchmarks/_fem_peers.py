"""The linear solvers that a Newton step could use, each fed with the same tangent.

A step factorises and solves for the residual and all constraint rows; the first row of what it
returns is K^-1 times the first right-hand side.
"""

from __future__ import annotations

from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy.sparse import csc_matrix, tril
from scipy.sparse.linalg import splu

from pliant.fem import System
from pliant.fem.assembly import sparse_from_blocks
from pliant.fem.cholesky import analyse
from pliant.fem.solver import BlockCholesky, Pardiso


class Own:
    """Pliant's block Cholesky: factor, forward solves of all right-hand sides, one backward."""

    def __init__(self, system: System) -> None:
        r = system.reduction
        self.solver: Any = BlockCholesky(analyse(r.n_unknown, r.row, r.column))

    def step(self, blocks: np.ndarray, rhs: np.ndarray) -> np.ndarray:
        if not self.solver.factorize(blocks):
            raise ArithmeticError("the tangent is not positive definite")
        return self.solver.solve_backward(self.solver.solve_forward(rhs)[:1])


class PardisoHalves(Own):
    """PARDISO as Pliant uses it for solid blocks: forward solves, one backward."""

    def __init__(self, system: System) -> None:
        r = system.reduction
        self.solver = Pardiso(r.n_unknown, r.row, r.column)


class PardisoWhole(PardisoHalves):
    """PARDISO as its users do: analysis once; factor and whole solves a step."""

    _WHOLE = 33

    def step(self, blocks: np.ndarray, rhs: np.ndarray) -> np.ndarray:
        self.solver.factorize(blocks)
        return self.solver._call(self._WHOLE, rhs)


class Cholmod:
    """CHOLMOD's supernodal factor through cvxopt: symbolic once; numeric and solves a step."""

    def __init__(self, system: System) -> None:
        from cvxopt import cholmod, matrix, spmatrix

        self.cholmod, self.matrix = cholmod, matrix
        lower = tril(_numbered(system)).tocoo()
        pattern = spmatrix(matrix(lower.data), lower.row.tolist(), lower.col.tolist(), lower.shape)
        self.entry = np.array(pattern.V).ravel().astype(np.int64) - 1
        pattern.V = matrix(np.where(np.array(pattern.I).ravel() == np.array(pattern.J).ravel(), 1.0, 0.0))
        self.lower, self.factor = pattern, cholmod.symbolic(pattern)

    def step(self, blocks: np.ndarray, rhs: np.ndarray) -> np.ndarray:
        self.lower.V = self.matrix(blocks.ravel()[self.entry])
        self.cholmod.numeric(self.lower, self.factor)
        x = self.matrix(rhs.T)
        self.cholmod.solve(self.factor, x)
        return np.array(x).T


class SuperLU:
    """scipy's splu in its symmetric mode; it cannot keep its analysis."""

    def __init__(self, system: System) -> None:
        matrix = _numbered(system).tocsc()
        self.entry = matrix.data.astype(np.int64) - 1
        self.matrix = csc_matrix((np.ones(matrix.nnz), matrix.indices, matrix.indptr), shape=matrix.shape)

    def step(self, blocks: np.ndarray, rhs: np.ndarray) -> np.ndarray:
        self.matrix.data[:] = blocks.ravel()[self.entry]
        symmetric = {"SymmetricMode": True}
        lu = splu(self.matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=symmetric)
        return lu.solve(np.asfortranarray(rhs.T)).T


PEERS = {"splu": (SuperLU, "scipy"), "cholmod": (Cholmod, "cvxopt"), "pardiso": (PardisoWhole, "pypardiso")}
"""Class of each peer, and the module that it needs."""


def installed_peers() -> dict[str, Any]:
    """Classes of the peers that are installed; says which are not."""
    missing = [name for name, (_, module) in PEERS.items() if find_spec(module) is None]
    for name in missing:
        print(f"{name}: not installed ({PEERS[name][1]})")
    return {name: kind for name, (kind, _) in PEERS.items() if name not in missing}


def peer_versions() -> dict[str, str]:
    """Versions of the modules that the peers come from."""
    modules = [module for _, module in PEERS.values()]
    return {module: version(module) if find_spec(module) else "not installed" for module in modules}


def _numbered(system: System) -> Any:
    """The tangent's pattern, each entry the number (from 1) of the block entry that it holds."""
    r = system.reduction
    number = np.arange(1.0, 9 * len(r.row) + 1).reshape(-1, 3, 3)
    lower_diagonal = number[r.diagonal].transpose(0, 2, 1)
    number[r.diagonal] = np.minimum(number[r.diagonal], lower_diagonal)
    return sparse_from_blocks(r.n_unknown, r.row, r.column, number)
