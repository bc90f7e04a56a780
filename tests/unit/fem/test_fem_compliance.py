"""Every entry of the compliance W against central differences of whole equilibria, on each shipped robot."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from robot_states import ROBOTS, path_to, random_course, robot_at_rest

from pliant.fem import NewtonOptions, State, System, solve_equilibrium

EXACT = 1e-5
"""Difference allowed, relative to sqrt(W_ii W_jj). The stencil leaves its fourth power, the equilibria their
rounding over the step."""
MOTION = 1e-5
"""How far a perturbation moves what it acts on, relative to the robot's size."""
SYMMETRIC = 1e-12
DEFINITE = 1e-12
"""Smallest eigenvalue over the largest may be negative by rounding only."""
TIGHT = NewtonOptions(tolerance=1e-11, residual_tolerance=1e-6)
STENCIL = ((-2, 1 / 12), (-1, -8 / 12), (1, 8 / 12), (2, -1 / 12))


def loaded(system: System, state: State, load: np.ndarray) -> np.ndarray:
    """Effector positions and courses [m] under other effector forces and efforts, shape (3 n_e + n_a,)."""
    n_e = 3 * system.n_e
    there = solve_equilibrium(
        system,
        state,
        command=load[n_e:],
        length_driven=np.zeros(system.n_a, dtype=bool),
        effector_force=load[:n_e].reshape(-1, 3),
        options=TIGHT,
    )
    return np.concatenate([there.effector.ravel(), there.course])


def largest_error(system: System, state: State) -> float:
    """Largest |W - differences| / sqrt(W_ii W_jj)."""
    system = replace(system, actuators=tuple(replace(a, unilateral=False) for a in system.actuators))
    W = state.compliance
    load = np.concatenate([state.effector_force.ravel(), state.effort])
    numeric = np.empty_like(W)
    for j in range(len(W)):
        h = MOTION * system.size / W[j, j]
        numeric[:, j] = (
            sum(w * loaded(system, state, load + k * h * np.eye(len(W))[j]) for k, w in STENCIL) / h
        )
    scale = np.sqrt(np.diag(W))
    return float((np.abs(W - numeric) / np.outer(scale, scale)).max())


def check(system: System, state: State) -> float:
    W = state.compliance
    assert np.abs(W - W.T).max() <= SYMMETRIC * np.abs(W).max()
    eigenvalues = np.linalg.eigvalsh(W)
    assert eigenvalues[0] >= -DEFINITE * eigenvalues[-1]
    error = largest_error(system, state)
    assert error <= EXACT
    return error


def settled(system: System, state: State) -> State:
    """The same equilibrium, solved as tightly as the differences."""
    return solve_equilibrium(
        system, state, command=state.effort, length_driven=np.zeros(system.n_a, dtype=bool), options=TIGHT
    )


def check_random_states(name: str, n: int) -> float:
    """Rest and n random actuations; the largest error."""
    robot, rest_state = robot_at_rest(name)
    rng = np.random.default_rng(5)
    states = [rest_state, *(list(path_to(name, random_course(robot, rng)))[-1] for _ in range(n))]
    return max(check(robot.system, settled(robot.system, state)) for state in states)


@pytest.mark.parametrize("name", ROBOTS)
def test_compliance_is_the_derivative_of_the_equilibrium(name, record_property):
    record_property("largest_error", float(check_random_states(name, 2)))


@pytest.mark.full
@pytest.mark.parametrize("name", ROBOTS)
def test_compliance_is_the_derivative_of_the_equilibrium_at_twenty_states(name, record_property):
    record_property("largest_error", float(check_random_states(name, 20)))
