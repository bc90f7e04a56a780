"""Actuators: what pulls a body, seen by the equilibrium as a course and its derivatives.

An actuator has a course s(x), its Jacobian H = ds/dx and a conjugate effort lambda, and puts
the force H' lambda on the body (Ménager et al. 2023, eq. 1). Its geometric stiffness
-lambda d2s/dx2 belongs to the tangent. A new kind is a class with these members, a line in
`ACTUATORS` and the keys that it needs in `pliant.robot_file`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np
from numba import njit
from numpy.typing import NDArray

from pliant.errors import PliantError
from pliant.geometry.mesh import TetMesh, embed

Array = NDArray[np.float64]
IntArray = NDArray[np.int64]

_SHORTEST = 1e-9
"""Segments shorter than this [m] have no direction and carry no stiffness."""


class Actuator(Protocol):
    """What the equilibrium asks of an actuator.

    Attributes:
        name: Its name.
        unilateral: Whether its effort cannot be negative (a cable pulls).
        nodes: Nodes it acts on, shape (n_stencil,).
        pairs: Pairs of these nodes coupled by its geometric stiffness, shape (n_pairs, 2).
    """

    @property
    def name(self) -> str: ...
    @property
    def unilateral(self) -> bool: ...
    @property
    def nodes(self) -> IntArray: ...
    @property
    def pairs(self) -> IntArray: ...

    def course(self, x: Array) -> float:
        """Course s [m] at node positions x [m], shape (n_nodes, 3)."""

    def derivatives(self, x: Array) -> Derivatives:
        """Course and its derivatives at node positions x [m], shape (n_nodes, 3)."""


class Derivatives(NamedTuple):
    """An actuator at one state.

    Attributes:
        course: Course s [m].
        jacobian: H = ds/dx, shape (n_stencil, 3).
        pull: Force on the nodes per effort; the same as `jacobian` without friction.
        curvature: d(pull)/dx [1/m], symmetric part, shape (n_pairs, 3, 3).
    """

    course: float
    jacobian: Array
    pull: Array
    curvature: Array


@dataclass(frozen=True)
class Cable:
    """An inextensible cable, pulled at a point fixed in space.

    It runs straight from the pull point through the via points to the last one, where it is
    attached. Its course is the pulled length s = L0 - L(x), its effort the tension at the winch.

    With a drag (a plant's, never a condensed model's) the tension decays along the cable by the
    capstan equation, T_i = lambda exp(-drag Theta_i), Theta_i the angle turned before segment i.

    Attributes:
        name: Its name.
        drag: Friction coefficient times the direction of sliding: positive while the cable is
            pulled in, negative while it runs out, 0 without friction.
        pull_point: Where the winch pulls [m], shape (3,).
        rest_length: L0, its length on the undeformed body [m].
        nodes, pairs: As in `Actuator`.
        stencil_start, stencil_node, weight: The via points as sums of nodes, in rows.
        entry_segment, entry_pair, entry_weight: The geometric stiffness as a sum over segments.
    """

    name: str
    pull_point: Array
    rest_length: float
    nodes: IntArray
    pairs: IntArray
    stencil_start: IntArray
    stencil_node: IntArray
    weight: Array
    entry_segment: IntArray
    entry_pair: IntArray
    entry_weight: Array
    drag: float = 0.0
    unilateral: bool = True

    def points(self, x: Array) -> Array:
        """Pull point and via points [m], shape (n_via + 1, 3)."""
        return _points(x, self.pull_point, self.nodes, self.stencil_start, self.stencil_node, self.weight)

    def course(self, x: Array) -> float:
        """Pulled length s = L0 - L(x) [m]."""
        return self.rest_length - _length(self.points(x))

    def derivatives(self, x: Array) -> Derivatives:
        """Course [m], H = -dL/dx, pull = -sum_i exp(-drag Theta_i) dL_i/dx and its curvature [1/m]."""
        jacobian = np.zeros((self.nodes.size, 3))
        pull = np.zeros_like(jacobian) if self.drag else jacobian
        curvature = np.zeros((len(self.pairs), 3, 3))
        length = _derivatives(
            self.points(x), self.drag, self.stencil_start, self.stencil_node, self.weight,
            self.entry_segment, self.entry_pair, self.entry_weight, jacobian, pull, curvature,
        )  # fmt: skip
        return Derivatives(self.rest_length - length, jacobian, pull, curvature)


def make_cable(mesh: TetMesh, name: str, pull_point: Array, via_points: Array) -> Cable:
    """Thread a cable through a body.

    Via points are embedded by `pliant.geometry.mesh.embed`: a node where one coincides, else the shape
    functions of the element that holds the point.

    Args:
        mesh: The body's mesh, as in `Body.mesh`.
        name: Name of the cable.
        pull_point: Where the winch pulls [m], fixed in space, shape (3,).
        via_points: Points of the body that the cable runs through, the last one its attachment
            [m], shape (n_via, 3).

    Raises:
        PliantError: If there is no via point or two consecutive points coincide.
    """
    via_points = np.atleast_2d(np.asarray(via_points, dtype=float))
    pull_point = np.asarray(pull_point, dtype=float)
    if via_points.size == 0:
        raise PliantError(f"cable {name!r} has no via point; allowed: one or more")
    lengths = np.linalg.norm(np.diff(np.vstack([pull_point, via_points]), axis=0), axis=1)
    if lengths.min() < 1e-6:
        raise PliantError(f"cable {name!r}: points {lengths.argmin()} and {lengths.argmin() + 1} coincide")
    embedding = embed(mesh, via_points)
    used = [np.flatnonzero(w) for w in embedding.weights]
    stencils = [n[u] for n, u in zip(embedding.nodes, used, strict=True)]
    weights = [w[u] for w, u in zip(embedding.weights, used, strict=True)]
    nodes = np.unique(np.concatenate(stencils))
    local = [np.searchsorted(nodes, s) for s in stencils]
    pairs, entries = _couplings(local, weights)
    cable = Cable(
        name=name,
        pull_point=pull_point,
        rest_length=0.0,
        nodes=nodes,
        pairs=nodes[pairs],
        stencil_start=np.concatenate([[0], np.cumsum([s.size for s in stencils])]),
        stencil_node=np.concatenate(local),
        weight=np.concatenate(weights),
        entry_segment=entries[:, 0].astype(np.int64),
        entry_pair=entries[:, 1].astype(np.int64),
        entry_weight=np.ascontiguousarray(entries[:, 2]),
    )
    return replace(cable, rest_length=-cable.course(mesh.nodes))


def _couplings(local: list[IntArray], weights: list[Array]) -> tuple[IntArray, Array]:
    """Node pairs coupled by the segments, and rows (segment, pair, product of weights).

    Segment i stretches by sum_k v_k x_k over the nodes of both its ends; a node pair appears
    once, with both orders of an off-diagonal pair meaning the block and its transpose.
    """
    index: dict[tuple[int, int], int] = {}
    rows = []
    for i, (here, w) in enumerate(zip(local, weights, strict=True)):
        signed: dict[int, float] = dict(zip(here.tolist(), w.tolist(), strict=True))
        if i:
            for node, value in zip(local[i - 1].tolist(), weights[i - 1].tolist(), strict=True):
                signed[node] = signed.get(node, 0.0) - value
        for a in signed:
            for b in signed:
                if a >= b:
                    pair = index.setdefault((a, b), len(index))
                    rows.append((i, pair, signed[a] * signed[b]))
    return np.array(list(index), dtype=np.int64), np.array(rows)


ACTUATORS: dict[str, Callable[..., Actuator]] = {"cable": make_cable}
"""Kinds of actuators that a robot file may name, and what builds them."""


@njit(cache=True)
def subtract_blocks(blocks, at, values, which, scale):
    """blocks[at] -= scale values[which] for blocks of 3 x 3, each at most once."""
    for i in range(at.size):
        for k in range(3):
            for m in range(3):
                blocks[at[i], k, m] -= scale * values[which[i], k, m]


@njit(cache=True)
def _points(x, pull_point, nodes, start, node, weight):
    points = np.zeros((start.size, 3))
    points[0] = pull_point
    for i in range(start.size - 1):
        for p in range(start[i], start[i + 1]):
            for k in range(3):
                points[i + 1, k] += weight[p] * x[nodes[node[p]], k]
    return points


@njit(cache=True)
def _length(points):
    length = 0.0
    for i in range(points.shape[0] - 1):
        square = 0.0
        for k in range(3):
            square += (points[i + 1, k] - points[i, k]) ** 2
        length += np.sqrt(square)
    return length


@njit(cache=True)
def _derivatives(
    points, drag, start, node, weight, entry_segment, entry_pair, entry_weight, jacobian, pull, curvature
):
    """Add -dL/dx, the pull and its curvature of all segments; return L."""
    n_segments = points.shape[0] - 1
    stiffness = np.zeros((n_segments, 3, 3))
    before, t = np.zeros(3), np.zeros(3)
    length = turned = 0.0
    for i in range(n_segments):
        d = 0.0
        for k in range(3):
            t[k] = points[i + 1, k] - points[i, k]
            d += t[k] * t[k]
        d = np.sqrt(d)
        length += d
        if d < _SHORTEST:
            continue
        bend = 0.0
        for k in range(3):
            t[k] /= d
            bend += (t[k] - before[k]) ** 2
        if i > 0:
            turned += 2.0 * np.arcsin(min(1.0, 0.5 * np.sqrt(bend)))
        share = np.exp(-drag * turned)
        for k in range(3):
            before[k] = t[k]
            for m in range(3):
                stiffness[i, k, m] = share * ((1.0 if k == m else 0.0) - t[k] * t[m]) / d
        _add_segment(start[i], start[i + 1], node, weight, -1.0, t, jacobian)
        if i > 0:
            _add_segment(start[i - 1], start[i], node, weight, 1.0, t, jacobian)
        if drag != 0.0:
            _add_segment(start[i], start[i + 1], node, weight, -share, t, pull)
            if i > 0:
                _add_segment(start[i - 1], start[i], node, weight, share, t, pull)
    for entry in range(entry_segment.size):
        for k in range(3):
            for m in range(3):
                curvature[entry_pair[entry], k, m] -= (
                    entry_weight[entry] * stiffness[entry_segment[entry], k, m]
                )
    return length


@njit(cache=True)
def _add_segment(start, stop, node, weight, scale, t, out):
    """out[node] += scale weight t over the stencil of one via point."""
    for p in range(start, stop):
        for k in range(3):
            out[node[p], k] += scale * weight[p] * t[k]
