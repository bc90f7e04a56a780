"""Small dense quadratic programs: the problem, two solvers, and one check of both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

import daqp
import numpy as np
import osqp
from numpy.typing import NDArray
from scipy.sparse import csc_matrix

Array = NDArray[np.float64]

INFINITE = 1e30  # what both solvers read as "no bound"
OPTIMAL_RESIDUAL = 1e-7  # what passes for a solution
EXACT_RESIDUAL = 1e-11  # what needs no second opinion: rounding error, with room


class QPStatus(IntEnum):
    """How a solve ended."""

    SOLVED = 0
    INFEASIBLE = 1
    FAILED = 2


@dataclass(frozen=True)
class QuadraticProgram:
    """Minimise x'Px/2 + q'x subject to lower <= Ax <= upper, all scaled to order one.

    Attributes:
        P: Hessian, symmetric positive definite, shape (n, n).
        q: Gradient at zero, shape (n,).
        A: Constraint rows, shape (m, n).
        lower: Lower bounds, -inf for none, shape (m,).
        upper: Upper bounds, inf for none, shape (m,).
    """

    P: Array
    q: Array
    A: Array
    lower: Array
    upper: Array


@dataclass(frozen=True)
class QPSolution:
    """A solution and the proof of it.

    Attributes:
        x: Minimiser, shape (n,).
        multipliers: Positive where an upper bound presses, negative for a lower one, shape (m,).
        status: How the solve ended; x means nothing unless SOLVED.
        kkt_residual: See `kkt_residual`.
        iterations: Iterations of the solver.
        solver: Who found it.
    """

    x: Array
    multipliers: Array
    status: QPStatus
    kkt_residual: float
    iterations: int
    solver: str


def kkt_residual(problem: QuadraticProgram, x: Array, multipliers: Array) -> float:
    """Largest violation of the optimality conditions, relative to max(1, |q|).

    Stationarity Px + q + A'y = 0, feasibility lower <= Ax <= upper, and complementarity: the
    product of each multiplier's positive (negative) part with its distance to the upper
    (lower) bound.
    """
    y, row = multipliers, problem.A @ x
    stationarity = np.abs(problem.P @ x + problem.q + problem.A.T @ y)
    infeasibility = np.maximum(problem.lower - row, row - problem.upper)
    slack = np.where(y > 0, problem.upper - row, row - problem.lower)
    complementarity = np.abs(np.where(y == 0.0, 0.0, y) * np.where(y == 0.0, 0.0, slack))
    scale = max(1.0, float(np.abs(problem.q).max(initial=0.0)))
    dual = max(stationarity.max(initial=0.0), complementarity.max(initial=0.0)) / scale
    return float(max(dual, infeasibility.max(initial=0.0)))


def solve_qp(problem: QuadraticProgram, solver: str = "osqp") -> QPSolution:
    """Solve by one of `SOLVERS`; the answer is checked here, not believed.

    A solution is polished on its active set and must meet the optimality conditions. Where it
    does not to rounding error (an ADMM solver at a degenerate corner: about one problem in two
    thousand), or where the solver calls the problem infeasible, the other solver is asked, and
    the better answer is taken. Nothing is kept between calls: the same problem gives the same bits.
    """
    nothing = np.zeros_like(problem.q), np.zeros_like(problem.lower)
    best = QPSolution(*nothing, QPStatus.FAILED, np.inf, 0, solver)
    for name in (solver, *(other for other in SOLVERS if other != solver)):
        x, y, status, iterations = SOLVERS[name](problem)
        residual = np.inf
        if status is QPStatus.SOLVED:
            found = (x, y, kkt_residual(problem, x, y))
            x, y, residual = min(found, _polish(problem, x, y), key=lambda answer: answer[2])
        if residual < best.kkt_residual and residual <= OPTIMAL_RESIDUAL:
            best = QPSolution(x, y, status, residual, best.iterations + iterations, name)
        elif status is QPStatus.INFEASIBLE and best.status is QPStatus.FAILED:
            best = QPSolution(*nothing, status, np.inf, best.iterations + iterations, name)
        if best.kkt_residual <= EXACT_RESIDUAL:
            break
    return best


def _polish(problem: QuadraticProgram, x: Array, y: Array) -> tuple[Array, Array, float]:
    """Solve exactly for the active set: bounds nearer than their multiplier is large.

    Where the active rows are dependent it gives up, with an infinite residual.
    """
    row = problem.A @ x
    at_low, at_high = row - problem.lower < -y, problem.upper - row < y
    active = np.flatnonzero(at_low | at_high)
    n, rows = problem.q.size, problem.A[active]
    bound = np.where(at_high, problem.upper, problem.lower)[active]
    kkt = np.zeros((n + active.size, n + active.size))
    kkt[:n, :n], kkt[:n, n:], kkt[n:, :n] = problem.P, rows.T, rows
    try:
        solution = np.linalg.solve(kkt, np.concatenate([-problem.q, bound]))
    except np.linalg.LinAlgError:
        return x, y, np.inf
    multipliers = np.zeros_like(y)
    multipliers[active] = solution[n:]
    return solution[:n], multipliers, kkt_residual(problem, solution[:n], multipliers)


_Raw = tuple[Array, Array, QPStatus, int]


def _solve_osqp(problem: QuadraticProgram) -> _Raw:
    solver = osqp.OSQP(algebra="builtin")  # looking for others takes as long as solving
    n, m = problem.q.size, problem.lower.size
    solver.setup(
        _csc(problem.P, np.arange(1, n + 1)),
        problem.q,
        _csc(problem.A, np.full(n, m)),
        np.maximum(problem.lower, -INFINITE),
        np.minimum(problem.upper, INFINITE),
        verbose=False,
        eps_abs=1e-9,
        eps_rel=1e-9,
        max_iter=4_000,
    )
    result = solver.solve(raise_error=False)
    status = _OSQP_STATUS.get(result.info.status_val, QPStatus.FAILED)
    return result.x, result.y, status, int(result.info.iter)


_OSQP_STATUS = {
    osqp.SolverStatus.OSQP_SOLVED: QPStatus.SOLVED,
    osqp.SolverStatus.OSQP_SOLVED_INACCURATE: QPStatus.SOLVED,
    osqp.SolverStatus.OSQP_MAX_ITER_REACHED: QPStatus.SOLVED,  # the active set is often right by then
    osqp.SolverStatus.OSQP_PRIMAL_INFEASIBLE: QPStatus.INFEASIBLE,
    osqp.SolverStatus.OSQP_PRIMAL_INFEASIBLE_INACCURATE: QPStatus.INFEASIBLE,
}


def _solve_daqp(problem: QuadraticProgram) -> _Raw:
    x, _, flag, info = daqp.solve(
        np.ascontiguousarray(problem.P),
        np.ascontiguousarray(problem.q),
        np.ascontiguousarray(problem.A),
        np.minimum(problem.upper, INFINITE),
        np.maximum(problem.lower, -INFINITE),
        primal_tol=1e-11,
        eps_prox=0.0,
    )
    status = _DAQP_STATUS.get(int(flag), QPStatus.FAILED)
    return np.asarray(x), np.asarray(info["lam"]), status, int(info["iterations"])


_DAQP_STATUS = {1: QPStatus.SOLVED, -1: QPStatus.INFEASIBLE}


def _csc(matrix: Array, height: NDArray[np.int64]) -> csc_matrix:
    """The first entries of each column, `height` of them, zeros too: the pattern depends on no value."""
    starts = np.concatenate([[0], np.cumsum(height)]).astype(np.int32)
    rows = np.concatenate([np.arange(h, dtype=np.int32) for h in height])
    columns = np.repeat(np.arange(len(height)), height)
    return csc_matrix((matrix[rows, columns], rows, starts), shape=matrix.shape)


SOLVERS: dict[str, Callable[[QuadraticProgram], _Raw]] = {
    "osqp": _solve_osqp,
    "daqp": _solve_daqp,
}
