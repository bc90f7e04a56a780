"""Motion of a body: implicit Euler steps with consistent mass and Rayleigh damping."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.errors import NotConvergedError, PliantError
from pliant.fem.assembly import mass_matrix
from pliant.fem.equilibrium import NEWTON, NewtonOptions, State, guarded_step
from pliant.fem.system import System, linearize

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Damping:
    """Rayleigh damping D = alpha M + beta K.

    Attributes:
        alpha: Mass-proportional part [1/s].
        beta: Stiffness-proportional part [s], on the tangent at the start of the step.
    """

    alpha: float = 0.0
    beta: float = 0.0


UNDAMPED = Damping()


@dataclass(frozen=True)
class Motion:
    """Positions and velocities of all nodes.

    Attributes:
        x: Node positions [m], shape (n_nodes, 3).
        v: Node velocities [m/s], shape (n_nodes, 3).
    """

    x: Array
    v: Array


@dataclass(frozen=True)
class Inertia:
    """The constant part of a dynamic step.

    Attributes:
        blocks: Consistent mass in the system's pattern [kg], shape (n_blocks,).
    """

    blocks: Array


def make_inertia(system: System) -> Inertia:
    """Mass of a system in the pattern of its tangent.

    Raises:
        PliantError: If the system has rigid groups, whose inertia is not constant.
    """
    if system.body.rigid:
        raise PliantError("dynamics with rigid groups is not available; use statics or a stiff region")
    free = np.flatnonzero(system.body.unknown >= 0)
    mass = mass_matrix(system.body)[free][:, free].tocsr()
    return Inertia(np.asarray(mass[system.pattern.row, system.pattern.column]).ravel())


def implicit_euler(
    system: System,
    inertia: Inertia,
    motion: Motion,
    time_step: float,
    *,
    effort: Array,
    effector_force: Array,
    damping: Damping = UNDAMPED,
    options: NewtonOptions = NEWTON,
) -> tuple[Motion, Array]:
    """One implicit Euler step under given efforts, solved to equilibrium.

    M (x - x_i - h v_i) / h^2 + D (x - x_i) / h + f_int(x) = f_ext + H_a' lambda_a,
    with the tangent A / h^2 = M / h^2 + D / h + K of "Differentiable simulation of soft robots
    with frictional contacts", eq. 1, and the damping of the current velocity kept (the equation
    as printed drops it and misses the terminal velocity g / alpha of a falling body).

    Args:
        system: The system.
        inertia: Its mass, from `make_inertia`.
        motion: Where it is.
        time_step: h [s].
        effort: Effort of each actuator [N], shape (n_a,).
        effector_force: External force on each effector [N], shape (n_e, 3).
        damping: Rayleigh damping.
        options: How hard to try.

    Returns:
        The motion after the step, and the dynamic compliance H (M / h^2 + D / h + K)^-1 H' in
        m/N, which tends to the static one as h grows, shape (3 n_e + n_a, 3 n_e + n_a).

    Raises:
        PliantError: If the time step is not positive.
        NotConvergedError: If Newton's method does not converge.
    """
    if not (np.isfinite(time_step) and time_step > 0):
        raise PliantError(f"time_step: given {time_step} s; allowed: above 0")
    body, h = system.body, time_step
    free = body.unknown >= 0
    mass = inertia.blocks[:, None, None] * np.eye(3)
    viscous = damping.alpha * mass
    if damping.beta:
        viscous = viscous + damping.beta * linearize(system, motion.x, effort, effector_force).blocks
    added = mass / h**2 + viscous / h
    x, _ = guarded_step(system, motion.x, h * motion.v[free].ravel())
    system.memory.x = None
    count = 0
    while count < options.max_steps:
        count += 1
        at = linearize(system, x, effort, effector_force)
        moved = (x - motion.x)[free]
        inertial = _multiply(system, mass, moved - h * motion.v[free]) / h**2
        residual = at.residual + (inertial + _multiply(system, viscous, moved) / h).ravel()
        if not (at.smallest_jacobian > 0 and system.solver.factorize(at.blocks + added)):
            break
        y = system.solver.solve_forward(np.vstack([-residual, at.rows]))
        step = system.solver.solve_backward(y[:1])[0]
        x, ratio = guarded_step(system, x, step)
        if ratio == 1.0 and np.abs(step).max() <= options.tolerance * system.size:
            return Motion(x, (x - motion.x) / h), y[1:] @ y[1:].T
    state = State(
        x, effort, system.course(x), effector_force, system.effector(x),
        np.zeros((len(at.rows),) * 2), float(np.linalg.norm(residual)), count, False,
    )  # fmt: skip
    raise NotConvergedError(
        f"no implicit Euler step of {h} s ({count} Newton steps): take a shorter one", state
    )


def _multiply(system: System, blocks: Array, vector: Array) -> Array:
    """Symmetric block matrix times a nodal vector, shape (n_free, 3)."""
    row, column = system.pattern.row, system.pattern.column
    off = row != column
    out = np.zeros_like(vector)
    np.add.at(out, row, np.einsum("bij,bj->bi", blocks, vector[column]))
    np.add.at(out, column[off], np.einsum("bji,bj->bi", blocks[off], vector[row[off]]))
    return out
