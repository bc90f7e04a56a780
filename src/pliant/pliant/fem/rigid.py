"""Rigid groups of nodes: six unknowns in place of three a node.

A group moves by a translation v and a rotation vector w about its centroid c,

    x_a = c + v + exp([w]x) (x_a - c),   dx_a = v + w x r_a + w x (w x r_a) / 2 + ...

so the tangent is J'KJ plus the curvature of this map contracted with the nodal residual g,

    sum_a (g_a r_a' + r_a g_a') / 2 - (g_a . r_a) I    on the rotations of the group.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.spatial.transform import Rotation

from pliant.fem.assembly import Pattern, as_sparse
from pliant.fem.body import Body

Array = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class Reduction:
    """Map between the free nodes and the unknowns.

    Attributes:
        body: The body.
        pattern: Pattern over the free nodes.
        n_unknown: Blocks of three unknowns: single nodes first, then translation and rotation
            of each rigid group.
        row, column: Pattern over the unknowns, row >= column.
        diagonal: Block of each diagonal entry, shape (n_unknown,).
        single: Free nodes (as nodes of the mesh) in no group.
        moving: Number of each node among the single ones, their count if it is none of them,
            shape (n_nodes,).
    """

    body: Body
    pattern: Pattern
    n_unknown: int
    row: IntArray
    column: IntArray
    diagonal: IntArray
    single: IntArray
    moving: IntArray

    def advance(self, x: Array, step: Array) -> Array:
        """Node positions after a step of the unknowns, shape (n_nodes, 3)."""
        step = step.reshape(-1, 3)
        moves = np.zeros((self.single.size + 1, 3))
        moves[:-1] = step[: self.single.size]
        moved = x + np.take(moves, self.moving, axis=0)
        for g, group in enumerate(self.body.rigid):
            translation, rotation = step[self.single.size + 2 * g : self.single.size + 2 * g + 2]
            centre = x[group].mean(axis=0)
            moved[group] = centre + translation + Rotation.from_rotvec(rotation).apply(x[group] - centre)
        return moved

    def reduce(self, x: Array, blocks: Array, residual: Array, rows: Array) -> tuple[Array, Array, Array]:
        """Tangent, residual and constraint rows over the unknowns.

        Args:
            x: Node positions [m], shape (n_nodes, 3).
            blocks: Tangent over the free nodes [N/m].
            residual: Nodal residual [N], shape (3 n_free,).
            rows: Constraint rows, shape (n_rows, 3 n_free).
        """
        if not self.body.rigid:
            return blocks, residual, rows
        J = self._jacobian(x)
        reduced = (J.T @ as_sparse(self.pattern, blocks) @ J).toarray()
        for g, group in enumerate(self.body.rigid):
            at = 3 * (self.single.size + 2 * g + 1)
            r = x[group] - x[group].mean(axis=0)
            f = residual.reshape(-1, 3)[self.body.unknown[group]]
            moment = f.T @ r
            reduced[at : at + 3, at : at + 3] += 0.5 * (moment + moment.T) - np.trace(moment) * np.eye(3)
        dense = reduced.reshape(self.n_unknown, 3, self.n_unknown, 3)
        return dense[self.row, :, self.column, :], J.T @ residual, (J.T @ rows.T).T

    def reduce_rows(self, x: Array, rows: Array) -> Array:
        """Rows over the free nodes as rows over the unknowns, shape (n_rows, 3 n_unknown)."""
        return (self._jacobian(x).T @ rows.T).T if self.body.rigid else rows

    def _jacobian(self, x: Array) -> csr_matrix:
        """dx/dq of the free nodes, shape (3 n_free, 3 n_unknown)."""
        entries = [(self.body.unknown[self.single], np.arange(self.single.size), np.eye(3)[None])]
        for g, group in enumerate(self.body.rigid):
            node = self.body.unknown[group]
            at = np.full(group.size, self.single.size + 2 * g)
            r = x[group] - x[group].mean(axis=0)
            zero = np.zeros(group.size)
            spin = np.array([[zero, r[:, 2], -r[:, 1]], [-r[:, 2], zero, r[:, 0]], [r[:, 1], -r[:, 0], zero]])
            entries += [(node, at, np.eye(3)[None]), (node, at + 1, spin.transpose(2, 0, 1))]
        row, column, value = [], [], []
        for node, unknown, block in entries:
            i = 3 * node[:, None, None] + np.arange(3)[None, :, None]
            j = 3 * unknown[:, None, None] + np.arange(3)[None, None, :]
            shape = (node.size, 3, 3)
            row.append(np.broadcast_to(i, shape).ravel())
            column.append(np.broadcast_to(j, shape).ravel())
            value.append(np.broadcast_to(block, shape).ravel())
        index = np.concatenate(row), np.concatenate(column)
        size = 3 * self.pattern.n_free, 3 * self.n_unknown
        return csr_matrix((np.concatenate(value), index), shape=size)


def make_reduction(body: Body, pattern: Pattern) -> Reduction:
    """Number the unknowns of a body and find their pattern.

    Args:
        body: The body.
        pattern: Pattern over its free nodes.
    """
    grouped = np.concatenate([*body.rigid, np.zeros(0, dtype=np.int64)])
    free = np.flatnonzero(body.unknown >= 0)
    single = np.setdiff1d(free, grouped)
    moving = np.full(body.n_nodes, single.size, dtype=np.int64)
    moving[single] = np.arange(single.size)
    if not body.rigid:
        return Reduction(
            body, pattern, free.size, pattern.row, pattern.column, pattern.diagonal, single, moving
        )
    first = np.empty(body.n_free, dtype=np.int64)
    first[body.unknown[single]] = np.arange(single.size)
    for g, group in enumerate(body.rigid):
        first[body.unknown[group]] = single.size + 2 * g
    n_unknown = single.size + 2 * len(body.rigid)
    i, j = first[pattern.row], first[pattern.column]
    keys = {(a, b) for a, b in zip(i.tolist(), j.tolist(), strict=True)}
    wide = {
        (a + p, b + q)
        for a, b in keys
        for p in range(1 + (a >= single.size))
        for q in range(1 + (b >= single.size))
    }
    lower = np.array(sorted({(max(p), min(p)) for p in wide}), dtype=np.int64)
    row, column = lower.T.copy()
    return Reduction(body, pattern, n_unknown, row, column, np.flatnonzero(row == column), single, moving)
