"""The solvers against a library that Pliant does not use, and the check of optimality."""

import numpy as np
import pytest
import quadprog
from random_models import EFFORT_RANGE, random_limits, random_model

from pliant.control.problem import goal_problem, scaling, step_bounds
from pliant.control.qp import SOLVERS, QPStatus, QuadraticProgram, kkt_residual, solve_qp

N_PROBLEMS = 2000
AGREEMENT = 1e-6  # of the effort range: the bar of the controller
KKT = 1e-11  # polished or asked of the other solver: rounding error, with room


def random_problem(rng: np.random.Generator) -> tuple[QuadraticProgram, np.ndarray]:
    """Eq. 4 at a random state, and the effort that one scaled unit stands for [N]."""
    n_a, n_e = int(rng.choice([2, 4, 8])), int(rng.choice([1, 1, 2]))
    model, limits = random_model(rng, n_a, n_e), random_limits(n_a)
    bounds = step_bounds(model, limits, pretension=0.02, step_fraction=0.1, period=0.02)
    scale = scaling(model, limits, bounds, np.ones(3 * n_e))
    error = rng.normal(size=3 * n_e) * 10.0 ** rng.uniform(-5, 0)
    return goal_problem(model, bounds, scale, error, regularisation=1e-4), scale.effort


def reference(problem: QuadraticProgram) -> np.ndarray:
    """Goldfarb and Idnani's dual method: exact up to rounding."""
    rows = np.vstack([problem.A, -problem.A])
    bounds = np.concatenate([problem.lower, -problem.upper])
    return quadprog.solve_qp(problem.P, -problem.q, rows.T, bounds)[0]


@pytest.mark.parametrize("solver", SOLVERS)
def test_agrees_with_the_reference_on_random_problems(solver: str) -> None:
    rng = np.random.default_rng(1)
    deviation, residual, own = np.zeros(N_PROBLEMS), np.zeros(N_PROBLEMS), 0
    for i in range(N_PROBLEMS):
        problem, effort = random_problem(rng)
        solution = solve_qp(problem, solver)
        assert solution.status is QPStatus.SOLVED
        difference = effort * (solution.x - reference(problem))
        deviation[i] = np.abs(difference).max() / EFFORT_RANGE
        residual[i] = solution.kkt_residual
        own += solution.solver == solver
    print(
        f"\n{solver}: {N_PROBLEMS} problems, largest deviation {deviation.max():.1e} of the range; "
        f"KKT residual median {np.median(residual):.1e}, largest {residual.max():.1e}; "
        f"{N_PROBLEMS - own} left to the other solver"
    )
    assert deviation.max() <= AGREEMENT
    assert residual.max() <= KKT
    assert own >= 0.998 * N_PROBLEMS


@pytest.mark.parametrize("solver", SOLVERS)
def test_infeasible_is_a_status(solver: str) -> None:
    problem = QuadraticProgram(
        P=np.eye(2),
        q=np.ones(2),
        A=np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]),
        lower=np.array([0.0, 0.0, -np.inf]),
        upper=np.array([1.0, 1.0, -1.0]),
    )
    solution = solve_qp(problem, solver)
    assert solution.status is QPStatus.INFEASIBLE
    assert solution.kkt_residual == np.inf


@pytest.mark.parametrize("solver", SOLVERS)
def test_same_problem_same_bits(solver: str) -> None:
    rng = np.random.default_rng(2)
    problems = [random_problem(rng)[0] for _ in range(20)]
    first = [solve_qp(problem, solver) for problem in problems]
    second = [solve_qp(problem, solver) for problem in reversed(problems)][::-1]
    for a, b in zip(first, second, strict=True):
        assert a.x.tobytes() == b.x.tobytes()
        assert a.kkt_residual == b.kkt_residual


def test_kkt_residual_sees_every_kind_of_violation() -> None:
    problem = QuadraticProgram(np.eye(1), np.array([-2.0]), np.eye(1), np.array([-1.0]), np.array([1.0]))
    one = np.ones(1)
    assert kkt_residual(problem, one, one) == 0.0
    assert kkt_residual(problem, 1.1 * one, 0.9 * one) == pytest.approx(0.1)  # infeasible
    assert kkt_residual(problem, one, 0.5 * one) == pytest.approx(0.25)  # not stationary
    assert kkt_residual(problem, 0.5 * one, 1.5 * one) == pytest.approx(0.375)  # not complementary
    assert kkt_residual(problem, one, -one) >= 1.0  # pushes the wrong way
