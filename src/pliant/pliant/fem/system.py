"""A system: one body with its actuators, effectors and gravity, ready for the equilibrium."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pliant.errors import PliantError
from pliant.fem.actuator import Actuator, subtract_blocks
from pliant.fem.assembly import Pattern, gravity_force, make_pattern, tangent_stiffness
from pliant.fem.body import Body
from pliant.fem.rigid import Reduction, make_reduction
from pliant.fem.solver import Solver, make_solver
from pliant.geometry.mesh import Embedding

Array = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass
class Memory:
    """What the last solve left behind, good for predicting the next one from the same state.

    Attributes:
        x: Positions of the state it belongs to, recognised by identity; None before any.
        pulls: L^-1 P times the pulls at that state, shape (n_rows, 3 n_unknown).
        motion: H K^-1 times the pulls: motion per effector force and effort, shape (n_rows, n_rows).
    """

    x: Array | None = None
    pulls: Array = field(default_factory=lambda: np.zeros((0, 0)))
    motion: Array = field(default_factory=lambda: np.zeros((0, 0)))


@dataclass(frozen=True)
class Coupling:
    """Where an actuator meets the free nodes.

    Attributes:
        stencil: Which of its nodes are free.
        unknown: Their numbers among the free nodes.
        pairs: Which of its pairs are free.
        blocks: Their blocks in the pattern.
    """

    stencil: IntArray
    unknown: IntArray
    pairs: IntArray
    blocks: IntArray


@dataclass(frozen=True)
class System:
    """Everything an equilibrium needs.

    `solver` and `memory` are overwritten by each solve and shared by copies made with
    `dataclasses.replace`: one thread at a time. A deep copy has its own.

    Attributes:
        body: The body.
        actuators: What pulls it, in the order of every effort and course vector.
        effectors: Its effector points as sums of nodes.
        weight: Gravity force on each node [N], shape (n_nodes, 3).
        pattern: Pattern of the tangent over the free nodes, geometric stiffness included.
        couplings: Where each actuator meets the free nodes.
        reduction: How rigid groups reduce the unknowns.
        solver: Factorises the tangent; overwritten by each solve.
        effector_rows: H_e, effector motion per motion of the free nodes, shape (3 n_e, 3 n_free).
        size: Diagonal of the bounding box [m].
        memory: What the last solve left in `solver`.
    """

    body: Body
    actuators: tuple[Actuator, ...]
    effectors: Embedding
    weight: Array
    pattern: Pattern
    couplings: tuple[Coupling, ...]
    reduction: Reduction
    solver: Solver
    effector_rows: Array
    size: float
    memory: Memory = field(default_factory=Memory)

    @property
    def n_a(self) -> int:
        """Number of actuators."""
        return len(self.actuators)

    @property
    def n_e(self) -> int:
        """Number of effectors."""
        return len(self.effectors.nodes)

    @property
    def unilateral(self) -> NDArray[np.bool_]:
        """Whether the effort of each actuator cannot be negative, shape (n_a,)."""
        return np.array([a.unilateral for a in self.actuators], dtype=bool)

    @property
    def frictionless(self) -> bool:
        """Whether every actuator's force follows from its course, so that W is symmetric."""
        return not any(getattr(a, "drag", 0.0) for a in self.actuators)

    def effector(self, x: Array) -> Array:
        """Effector positions [m], shape (n_e, 3)."""
        return np.einsum("ek,eki->ei", self.effectors.weights, x[self.effectors.nodes])

    def course(self, x: Array) -> Array:
        """Course of each actuator [m], shape (n_a,)."""
        return np.array([a.course(x) for a in self.actuators])


@dataclass(frozen=True)
class Linearization:
    """The system at one state: everything Newton's method and the condensation read.

    Attributes:
        blocks: Tangent K - sum lambda d2s/dx2 over the unknowns [N/m], lower blocks.
        residual: f_int - f_ext - H_a' lambda over the unknowns [N], shape (3 n_unknown,).
        course: Course of each actuator [m], shape (n_a,).
        rows: H_e and H_a over the unknowns, shape (3 n_e + n_a, 3 n_unknown).
        pulls: Force on the unknowns per effector force and effort; the same array as `rows`
            without friction.
        smallest_jacobian: Smallest J; nothing else is meaningful unless it is positive.
        force_scale: Size of the forces in balance [N], to measure the residual against.
    """

    blocks: Array
    residual: Array
    course: Array
    rows: Array
    pulls: Array
    smallest_jacobian: float
    force_scale: float


def make_system(body: Body, actuators: Sequence[Actuator], effectors: Embedding, gravity: Array) -> System:
    """Join a body with its actuators and effectors.

    Args:
        body: The body.
        actuators: At least one.
        effectors: Points of the body, from `pliant.geometry.mesh.embed` on `body.mesh`.
        gravity: Acceleration [m/s^2], shape (3,).

    Raises:
        PliantError: If two actuators share a name.
    """
    names = [a.name for a in actuators]
    if len(set(names)) != len(names):
        raise PliantError(f"actuators need distinct names; given: {names}")
    pairs = [body.unknown[a.pairs] for a in actuators]
    free = [np.flatnonzero((p >= 0).all(axis=1)) for p in pairs]
    sorted_pairs = [np.sort(p[f], axis=1)[:, ::-1] for p, f in zip(pairs, free, strict=True)]
    pattern = make_pattern(body, np.concatenate([np.zeros((0, 2), dtype=np.int64), *sorted_pairs]))
    couplings = tuple(
        _coupling(body, a, f, pattern.find(p)) for a, f, p in zip(actuators, free, sorted_pairs, strict=True)
    )
    reduction = make_reduction(body, pattern)
    n_e = len(effectors.nodes)
    rows = np.zeros((n_e, 3, body.n_free, 3))
    for e in range(n_e):
        for node, w in zip(effectors.nodes[e], effectors.weights[e], strict=True):
            if body.unknown[node] >= 0:
                rows[e, :, body.unknown[node], :] += w * np.eye(3)
    return System(
        body=body,
        actuators=tuple(actuators),
        effectors=effectors,
        weight=gravity_force(body, gravity),
        pattern=pattern,
        couplings=couplings,
        reduction=reduction,
        solver=make_solver(reduction.n_unknown, reduction.row, reduction.column),
        effector_rows=rows.reshape(3 * n_e, 3 * body.n_free),
        size=float(np.linalg.norm(np.ptp(body.mesh.nodes, axis=0))),
    )


def _coupling(body: Body, actuator: Actuator, pairs: IntArray, blocks: IntArray) -> Coupling:
    unknown = body.unknown[actuator.nodes]
    stencil = np.flatnonzero(unknown >= 0)
    return Coupling(stencil, unknown[stencil], pairs, blocks)


def linearize(system: System, x: Array, effort: Array, effector_force: Array) -> Linearization:
    """Residual, tangent and constraint rows at one state (Ménager et al. 2023, eq. 1).

    Args:
        system: The system.
        x: Node positions [m], shape (n_nodes, 3).
        effort: Effort of each actuator [N], shape (n_a,).
        effector_force: External force on each effector [N], shape (n_e, 3).
    """
    body, n_e = system.body, system.n_e
    force, blocks, smallest = tangent_stiffness(body, system.pattern, x)
    rows = np.zeros((3 * n_e + system.n_a, body.n_free, 3))
    rows[: 3 * n_e] = system.effector_rows.reshape(3 * n_e, body.n_free, 3)
    pulls = rows if system.frictionless else rows.copy()
    course = np.empty(system.n_a)
    for a, actuator in enumerate(system.actuators):
        at = actuator.derivatives(x)
        course[a] = at.course
        on = system.couplings[a]
        rows[3 * n_e + a, on.unknown] = at.jacobian[on.stencil]
        if pulls is not rows:
            pulls[3 * n_e + a, on.unknown] = at.pull[on.stencil]
        subtract_blocks(blocks, on.blocks, at.curvature, on.pairs, effort[a])
    applied = np.concatenate([effector_force.ravel(), effort])
    external = np.take(system.weight, body.free, axis=0).ravel() + applied @ pulls.reshape(len(pulls), -1)
    residual = np.take(force, body.free, axis=0).ravel() - external
    supports = np.take(force, body.held, axis=0).ravel()
    scale = math.sqrt(external @ external) + 1e-3 * math.sqrt(supports @ supports)
    reduced = system.reduction.reduce(x, blocks, residual, rows.reshape(len(rows), -1))
    blocks, residual, unknown_rows = reduced
    if pulls is rows:
        unknown_pulls = unknown_rows
    else:
        unknown_pulls = system.reduction.reduce_rows(x, pulls.reshape(len(pulls), -1))
    return Linearization(blocks, residual, course, unknown_rows, unknown_pulls, smallest, scale)


def advance(system: System, x: Array, step: Array) -> Array:
    """Node positions after a step of the unknowns.

    Args:
        system: The system.
        x: Node positions [m], shape (n_nodes, 3).
        step: Displacements [m], and rotation vectors of rigid groups, shape (3 n_unknown,).
    """
    return system.reduction.advance(x, step)
