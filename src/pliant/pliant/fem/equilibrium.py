"""Static equilibrium by Newton's method, driven by cable length or by force."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pliant.errors import (
    EquilibriumError,
    InvertedElementError,
    LimitPointError,
    NotConvergedError,
    PliantError,
)
from pliant.fem.assembly import smallest_jacobian
from pliant.fem.complementarity import complementary_efforts
from pliant.fem.system import Linearization, System, advance, linearize

Array = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

_ROUNDING = 1e-12
"""Residual that rounding alone leaves, relative to mean stiffness times the system's size."""

_HOPELESS_CUT, _HOPELESS_STEP = 0.2, 0.5
"""A Newton step cut below this ratio, or longer than this share of the system's size, leads nowhere:
the command is subdivided at once."""


@dataclass(frozen=True)
class NewtonOptions:
    """How hard to try.

    Attributes:
        tolerance: Largest nodal step of the last Newton step, relative to the system's size. The
            positions it leads to are exact to about its square; the compliance belongs to the
            state before it.
        residual_tolerance: Largest residual before that step, relative to the forces in balance.
        max_steps: Newton steps before the command is subdivided.
        max_subdivisions: How often the command may be halved.
    """

    tolerance: float = 2e-6
    residual_tolerance: float = 1e-3
    max_steps: int = 14
    max_subdivisions: int = 7


NEWTON = NewtonOptions()


@dataclass(frozen=True)
class State:
    """An equilibrium.

    Attributes:
        x: Node positions [m], shape (n_nodes, 3).
        effort: Effort of each actuator [N], shape (n_a,).
        course: Course of each actuator [m], shape (n_a,). For a slack cable it is the pulled
            length of the straight path, not what its winch has reeled in.
        effector_force: External force on each effector [N], shape (n_e, 3).
        effector: Effector positions [m], shape (n_e, 3).
        compliance: W = H K^-1 H' with the exact tangent, effectors (xyz) first, then actuators
            [m/N], shape (3 n_e + n_a, 3 n_e + n_a). Ménager et al. 2023, eqs. 3 and 6.
        residual: Norm of the unbalanced force before the last Newton step [N].
        newton_steps: Factorisations that led here from the state before.
        converged: False only in states attached to errors, and in a state not yet solved.
    """

    x: Array
    effort: Array
    course: Array
    effector_force: Array
    effector: Array
    compliance: Array
    residual: float
    newton_steps: int
    converged: bool


def undeformed(system: System) -> State:
    """The stress-free state, as a start for `solve_equilibrium`; its compliance is zero."""
    n = 3 * system.n_e + system.n_a
    x = system.body.mesh.nodes.copy()
    return State(
        x, np.zeros(system.n_a), system.course(x), np.zeros((system.n_e, 3)), system.effector(x),
        np.zeros((n, n)), np.inf, 0, False,
    )  # fmt: skip


def rest(system: System, options: NewtonOptions = NEWTON) -> State:
    """Equilibrium under gravity with every effort zero.

    Raises:
        EquilibriumError: As `solve_equilibrium`.
    """
    driven = np.zeros(system.n_a, dtype=bool)
    return solve_equilibrium(
        system, undeformed(system), command=np.zeros(system.n_a), length_driven=driven, options=options
    )


def solve_equilibrium(
    system: System,
    state: State,
    *,
    command: Array,
    length_driven: BoolArray,
    effector_force: Array | None = None,
    options: NewtonOptions = NEWTON,
) -> State:
    """Equilibrium under a command, starting from a state.

    Force-driven actuators take the commanded effort. Length-driven ones take the commanded
    course s_c; unilateral ones pull only: 0 <= lambda, s - s_c >= 0, lambda (s - s_c) = 0.

    Newton's method uses the exact tangent, the cables' geometric stiffness included, and steps
    back from inverted elements. With friction its unsymmetric part, which couples the tension
    along a cable to the angles it turns, is left out: the equilibrium is the same, reached
    linearly and still by the symmetric factor.

    Where it does not converge to a stable state, the command is approached in halved increments,
    on the way to which what the first state leaves unbalanced (its weight, say) is carried in
    proportion. A shift that helps over an indefinite tangent never enters the compliance.

    Args:
        system: The system.
        state: Where to start.
        command: Course [m] or effort [N] of each actuator, shape (n_a,).
        length_driven: Which of the two, shape (n_a,).
        effector_force: External force on each effector [N], shape (n_e, 3); as in `state` if None.
        options: How hard to try.

    Raises:
        PliantError: If an argument has the wrong shape or is not finite, or an effort is negative
            where the actuator only pulls.
        InvertedElementError: If every step inverts an element.
        LimitPointError: If the equilibrium found is unstable.
        NotConvergedError: If Newton's method does not converge otherwise.
        The last three carry the last equilibrium on the way as `state`.
    """
    force = state.effector_force if effector_force is None else np.asarray(effector_force, dtype=float)
    command, length_driven = np.asarray(command, dtype=float), np.asarray(length_driven, dtype=bool)
    _check_command(system, command, length_driven, force)
    start = np.where(length_driven, state.course, state.effort)
    goal = (command, force)
    here, reached, stride, steps = state, 0.0, 1.0, 0
    unbalanced = np.zeros(3 * system.reduction.n_unknown)
    while reached < 1.0:
        fraction = min(reached + stride, 1.0)
        part = (
            start + fraction * (command - start),
            state.effector_force + fraction * (force - state.effector_force),
        )
        at_command, at_force = goal if fraction == 1.0 else part
        try:
            here = _newton(
                system, here, at_command, length_driven, at_force, (1.0 - fraction) * unbalanced, options
            )
        except np.linalg.LinAlgError:
            raise NotConvergedError(
                "the compliance between the actuators is singular: one ends on held nodes, or two pull alike",
                here,
            ) from None
        except EquilibriumError as error:
            if stride == 1.0:
                unbalanced = linearize(system, state.x, state.effort, state.effector_force).residual
            stride *= 0.5
            steps += error.state.newton_steps
            if stride < 0.5**options.max_subdivisions:
                raise type(error)(f"{error} (at {fraction:.3f} of the command)", here) from None
            continue
        reached = fraction
        steps += here.newton_steps
    return replace(here, newton_steps=steps)


def _check_command(system: System, command: Array, length_driven: BoolArray, force: Array) -> None:
    if system.body.fixed.size == 0 and not system.body.springs.any():
        raise PliantError("the body floats: no node is fixed or attached")
    expected = {"command": (command, (system.n_a,)), "length_driven": (length_driven, (system.n_a,)),
                "effector_force": (force, (system.n_e, 3))}  # fmt: skip
    for name, (value, shape) in expected.items():
        if value.shape != shape or not np.isfinite(value).all():
            raise PliantError(f"{name}: given {value.tolist()}; allowed: finite, shape {shape}")
    pushed = system.unilateral & ~length_driven & (command < 0)
    if pushed.any():
        name = system.actuators[int(np.argmax(pushed))].name
        raise PliantError(
            f"command: {name!r} can only pull; given {command[pushed][0]} N; allowed: 0 or more"
        )


def _newton(
    system: System,
    state: State,
    command: Array,
    length_driven: BoolArray,
    force: Array,
    unbalanced: Array,
    options: NewtonOptions,
) -> State:
    """Newton's method for one command, up to a residual that is left unbalanced on purpose.

    Raises the named errors with the state reached attached.
    """
    x, effort = _predict(system, state, command, length_driven, force)
    n_e, n_a = 3 * system.n_e, system.n_a
    system.memory.x = None
    for step in range(1, options.max_steps + 1):
        at = linearize(system, x, effort, force)
        if not at.smallest_jacobian > 0.0:
            raise InvertedElementError("the state to start from has an inverted element", state)
        stable = system.solver.factorize(at.blocks)
        if not stable and not _factorize_shifted(system, at):
            raise NotConvergedError(f"no shift makes the tangent definite (Newton step {step})", state)
        with_friction = [] if at.pulls is at.rows else [at.pulls]
        missing = at.residual - unbalanced
        y = system.solver.solve_forward(np.vstack([-missing, at.rows, *with_friction]))
        products = y @ y.T
        W = products[1 : 1 + n_e + n_a, 1 : 1 + n_e + n_a].copy()
        motion = products[1 : 1 + n_e + n_a, -n_e - n_a :]
        pulls, gain = y[-n_e - n_a :], motion[n_e:, n_e:]
        free_course = at.course + products[1 + n_e : 1 + n_e + n_a, 0] - gain @ effort
        wanted = complementary_efforts(gain, free_course, command, length_driven, system.unilateral)
        load = y[0] + (wanted - effort) @ pulls[n_e:]
        move = system.solver.solve_backward(load[None])[0]
        largest = float(np.abs(move).max())
        residual = float(np.linalg.norm(missing))
        x, ratio = guarded_step(system, x, move)
        effort = effort + ratio * (wanted - effort)
        hopeless = ratio < _HOPELESS_CUT or not largest < _HOPELESS_STEP * system.size
        small = ratio == 1.0 and largest <= options.tolerance * system.size
        settled = small and _balanced(system, at, residual, options)
        if not (hopeless or settled or step == options.max_steps):
            continue
        converged = settled and stable
        reached = State(x, effort, system.course(x), force, system.effector(x), W, residual, step, converged)
        if hopeless and not stable:
            raise LimitPointError(f"no stable equilibrium is near (Newton step {step})", reached)
        if ratio < _HOPELESS_CUT:
            raise InvertedElementError(
                f"Newton step {step} inverts elements, even cut to {ratio:.2g}", reached
            )
        if hopeless:
            raise NotConvergedError(f"Newton step {step} moves a node by {largest:.2g} m", reached)
        if settled and not stable:
            raise LimitPointError(
                "the equilibrium is unstable: its tangent is not positive definite", reached
            )
        if settled:
            system.memory.x, system.memory.pulls, system.memory.motion = x, pulls, motion
            return reached
    raise (NotConvergedError if stable else LimitPointError)(
        f"no equilibrium after {options.max_steps} Newton steps: last step {largest:.2e} m, "
        f"residual {residual:.2e} N of {at.force_scale:.2e} N",
        reached,
    )


def _predict(
    system: System, state: State, command: Array, length_driven: BoolArray, force: Array
) -> tuple[Array, Array]:
    """Positions and efforts to start from: moved along the tangent of `state` if it is still factorised."""
    start = np.where(length_driven, state.effort, command)
    if system.memory.x is not state.x:
        return state.x, start
    pulls, motion, n_e = system.memory.pulls, system.memory.motion, 3 * system.n_e
    pushed = (force - state.effector_force).ravel()
    gain = motion[n_e:, n_e:]
    free_course = state.course + motion[n_e:, :n_e] @ pushed - gain @ state.effort
    effort = complementary_efforts(gain, free_course, command, length_driven, system.unilateral)
    loads = np.concatenate([pushed, effort - state.effort]) @ pulls
    x, ratio = guarded_step(system, state.x, system.solver.solve_backward(loads[None])[0])
    return (x, effort) if ratio == 1.0 else (state.x, start)


def _balanced(system: System, at: Linearization, residual: float, options: NewtonOptions) -> bool:
    """Whether a residual [N] is small against the forces in balance, or is rounding."""
    if residual <= options.residual_tolerance * at.force_scale:
        return True
    return residual <= _ROUNDING * _stiffness_scale(system, at) * system.size


def _factorize_shifted(system: System, at: Linearization) -> bool:
    """Factorise K + shift I with the first shift of a geometric row that makes it definite."""
    scale = _stiffness_scale(system, at)
    return any(system.solver.factorize(at.blocks, scale * 10.0**power) for power in range(-4, 3))


def _stiffness_scale(system: System, at: Linearization) -> float:
    """Mean magnitude of the tangent's diagonal [N/m]."""
    diagonal = np.einsum("bii->bi", at.blocks[system.reduction.diagonal])
    return float(np.abs(diagonal).mean())


def guarded_step(system: System, x: Array, move: Array) -> tuple[Array, float]:
    """Positions [m] after the largest of the steps 1, 1/2, ... that inverts no element, and its ratio."""
    for halving in range(4):
        ratio = 0.5**halving
        moved = advance(system, x, ratio * move)
        if smallest_jacobian(system.body, moved) > 0.0:
            return moved, ratio
    return x, 0.0
