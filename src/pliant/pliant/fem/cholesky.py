"""Sparse Cholesky factorisation of symmetric matrices made of 3 x 3 blocks.

Left-looking and supernodal: neighbouring columns with the same rows form one dense panel.
Finite-element meshes of soft robots are thin, fill little and give panels of ten to a hundred
rows, too small for a BLAS call.
The analysis is done once for a pattern, the factorisation once for each Newton step.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from pliant.fem.lanes import LANES, lanes, load, load_at, store, store_at, total
from pliant.fem.material import FAST
from pliant.fem.symbolic import minimum_degree, supernodes

U = np.uint64
Array = NDArray[np.float64]
IntArray = NDArray[np.int64]

TILE = 2 * LANES
"""Rows of a panel that are computed at once; column strides are multiples of it."""

RELAXED_ZEROS = 0.12
"""Share of explicit zeros up to which two supernodes are merged."""


@dataclass(frozen=True)
class Factorization:
    """Analysis of a block pattern and the memory of its factor.

    Attributes:
        order: Elimination order, block `order[i]` is eliminated i-th, shape (n_blocks,).
        first: First column of each supernode and the end, shape (n_supernodes + 1,).
        row_start: Where the block rows of each supernode start, shape (n_supernodes + 1,).
        rows: Block rows of each supernode, its own columns first.
        panel_start: Where the panel of each supernode starts, shape (n_supernodes + 1,).
        target: Panel entry of each matrix block's [0, 0] entry, shape (n_entries,).
        stride: Column stride of the panel it lies in, shape (n_entries,).
        transposed: Whether the block lands transposed, shape (n_entries,).
        panels: The factor's values, column by column in each panel.
        flops: Floating-point operations of one factorisation.
    """

    order: IntArray
    first: IntArray
    row_start: IntArray
    rows: IntArray
    panel_start: IntArray
    target: IntArray
    stride: IntArray
    transposed: NDArray[np.bool_]
    panels: Array
    flops: float

    @property
    def fill(self) -> float:
        """Operations per entry of the factor."""
        return self.flops / self.panels.size


def analyse(n_blocks: int, row: IntArray, column: IntArray) -> Factorization:
    """Order and analyse a symmetric block pattern.

    Args:
        n_blocks: Number of block rows.
        row: Block row of each stored block, row >= column, shape (n_entries,).
        column: Block column of each stored block, shape (n_entries,).

    Returns:
        The factorisation, whose `panels` are not yet meaningful.
    """
    order = minimum_degree(n_blocks, row, column)
    first, row_start, rows, order, counts = supernodes(n_blocks, row, column, order, RELAXED_ZEROS)
    width = np.diff(first)
    height = np.diff(row_start)
    stride_of = 3 * height + (-3 * height) % TILE
    panel_start = np.concatenate([[0], np.cumsum(3 * width * stride_of)])
    rank = np.empty(n_blocks, dtype=np.int64)
    rank[order] = np.arange(n_blocks)
    i, j = rank[row], rank[column]
    transposed = i < j
    low, high = np.maximum(i, j), np.minimum(i, j)
    owner = np.searchsorted(first, high, side="right") - 1
    position = _positions(owner, low, row_start, rows)
    stride = stride_of[owner]
    target = panel_start[owner] + 3 * (high - first[owner]) * stride + 3 * position
    flops = float(np.sum(27.0 * counts.astype(np.float64) ** 2))
    return Factorization(
        order, first, row_start, rows, panel_start, target, stride, transposed,
        np.zeros(panel_start[-1] + TILE), flops,
    )  # fmt: skip


@njit(cache=True)
def _padded(n_rows):
    """Column stride of a panel with `n_rows` block rows."""
    return (3 * n_rows + TILE - 1) // TILE * TILE


@njit(cache=True)
def _positions(owner, low, row_start, rows):
    """Position of block row `low` in the row list of supernode `owner`, for each entry."""
    position = np.empty(low.size, dtype=np.int64)
    for e in range(low.size):
        start, stop = row_start[owner[e]], row_start[owner[e] + 1]
        position[e] = np.searchsorted(rows[start:stop], low[e])
    return position


def factorize(factorization: Factorization, blocks: Array, shift: float = 0.0) -> bool:
    """Factorise K + shift I in place.

    Args:
        factorization: Analysis of the pattern; its panels are overwritten.
        blocks: Lower blocks of K in the order of the pattern, shape (n_entries, 3, 3).
        shift: Added to the diagonal [unit of K].

    Returns:
        Whether the matrix is positive definite; if not, the panels are meaningless.
    """
    f = factorization
    _scatter(blocks, f.target, f.stride, f.transposed, f.panels)
    return _factorize(f.first, f.row_start, f.rows, f.panel_start, f.panels, shift)


@njit(cache=True, boundscheck=False)
def _scatter(blocks, target, stride, transposed, panels):
    panels[:] = 0.0
    for e in range(target.size):
        start, step = target[e], stride[e]
        if transposed[e]:
            for i in range(3):
                for j in range(3):
                    panels[start + i * step + j] = blocks[e, i, j]
        else:
            for i in range(3):
                for j in range(3):
                    panels[start + j * step + i] = blocks[e, i, j]


@njit(cache=True, boundscheck=False, fastmath=FAST, error_model="numpy")
def _factorize(first, row_start, rows, panel_start, panels, shift):
    n_supernodes = first.size - 1
    n_blocks = first[-1]
    local = np.zeros(n_blocks, dtype=np.int64)
    owner = np.zeros(n_blocks, dtype=np.int64)
    for s in range(n_supernodes):
        owner[first[s] : first[s + 1]] = s
    head = np.full(n_supernodes, -1, dtype=np.int64)
    following = np.full(n_supernodes, -1, dtype=np.int64)
    progress = np.zeros(n_supernodes, dtype=np.int64)
    update = np.empty(3 * _padded(np.diff(row_start).max()))
    for s in range(n_supernodes):
        n_rows = row_start[s + 1] - row_start[s]
        width = first[s + 1] - first[s]
        ld = _padded(n_rows)
        base = panel_start[s]
        for r in range(n_rows):
            local[rows[row_start[s] + r]] = r
        for d in range(3 * width):
            panels[base + d * ld + d] += shift
        k = head[s]
        while k >= 0:
            after = following[k]
            _apply_update(k, s, first, row_start, rows, panel_start, panels, progress, local, update)
            if progress[k] < row_start[k + 1] - row_start[k]:
                p = owner[rows[row_start[k] + progress[k]]]
                following[k] = head[p]
                head[p] = k
            k = after
        if not _factorize_panel(panels, base, 3 * width, ld):
            return False
        progress[s] = width
        if width < n_rows:
            p = owner[rows[row_start[s] + width]]
            following[s] = head[p]
            head[p] = s
    return True


@njit(cache=True, boundscheck=False, fastmath=FAST)
def _products(panels, row, column, ld, depth):
    """Sums over d < depth of panels[row + d ld + i] panels[column + d ld + j], j = 0, 1, 2 and i < TILE.

    They stay in vector registers: the factorisation spends its time here.
    """
    x = y = z = x2 = y2 = z2 = lanes(0.0)
    for d in range(depth):
        a, a2 = load_at(panels, row + d * ld), load_at(panels, row + LANES + d * ld)
        b = U(column + d * ld)
        b0, b1, b2 = panels[b], panels[b + U(1)], panels[b + U(2)]
        x += a * b0
        y += a * b1
        z += a * b2
        x2 += a2 * b0
        y2 += a2 * b1
        z2 += a2 * b2
    return x, y, z, x2, y2, z2


@njit(cache=True, boundscheck=False, fastmath=FAST, error_model="numpy")
def _apply_update(k, s, first, row_start, rows, panel_start, panels, progress, local, update):
    """Subtract L_k L_k' of supernode k from the panel of supernode s, three columns at a time."""
    n_rows = row_start[k + 1] - row_start[k]
    start = row_start[k]
    begin = progress[k]
    stop = begin
    while stop < n_rows and rows[start + stop] < first[s + 1]:
        stop += 1
    progress[k] = stop
    ld_k = _padded(n_rows)
    n_columns = 3 * (first[k + 1] - first[k])
    ld = _padded(row_start[s + 1] - row_start[s])
    for cb in range(begin, stop):
        source = panel_start[k] + 3 * cb
        for r in range(0, 3 * (n_rows - cb), TILE):
            x, y, z, x2, y2, z2 = _products(panels, source + r, source, ld_k, n_columns)
            store_at(update, r, x)
            store_at(update, ld_k + r, y)
            store_at(update, 2 * ld_k + r, z)
            store_at(update, r + LANES, x2)
            store_at(update, ld_k + r + LANES, y2)
            store_at(update, 2 * ld_k + r + LANES, z2)
        target = panel_start[s] + 3 * (rows[start + cb] - first[s]) * ld
        for rb in range(n_rows - cb):
            t = target + 3 * local[rows[start + cb + rb]]
            for j in range(3):
                for i in range(3):
                    panels[U(t + j * ld + i)] -= update[U(j * ld_k + 3 * rb + i)]


@njit(cache=True, boundscheck=False, fastmath=FAST, error_model="numpy")
def _factorize_panel(panels, base, n_columns, ld):
    """Dense Cholesky of the first rows of a panel and triangular solve of the others.

    Tiles start at multiples of their size; what they write above the diagonal is never read.
    Dividing by pivots before their roots are taken shortens the chain of operations that wait
    for each other.
    """
    for c in range(0, n_columns, 3):
        t0, t1, t2 = base + c * ld, base + (c + 1) * ld, base + (c + 2) * ld
        low = c - c % TILE
        if c > 0:
            for r in range(low, ld, TILE):
                x, y, z, x2, y2, z2 = _products(panels, base + r, base + c, ld, c)
                store_at(panels, t0 + r, load_at(panels, t0 + r) - x)
                store_at(panels, t1 + r, load_at(panels, t1 + r) - y)
                store_at(panels, t2 + r, load_at(panels, t2 + r) - z)
                r2 = r + LANES
                store_at(panels, t0 + r2, load_at(panels, t0 + r2) - x2)
                store_at(panels, t1 + r2, load_at(panels, t1 + r2) - y2)
                store_at(panels, t2 + r2, load_at(panels, t2 + r2) - z2)
        p00, p10, p20 = panels[U(t0 + c)], panels[U(t0 + c + 1)], panels[U(t0 + c + 2)]
        m10, m20 = p10 / p00, p20 / p00
        p11 = panels[U(t1 + c + 1)] - m10 * p10
        p21 = panels[U(t1 + c + 2)] - m20 * p10
        p22 = panels[U(t2 + c + 2)] - m20 * p20 - p21 * (p21 / p11)
        if not (p00 > 0.0 and p11 > 0.0 and p22 > 0.0):
            return False
        i0, i1, i2 = 1.0 / np.sqrt(p00), 1.0 / np.sqrt(p11), 1.0 / np.sqrt(p22)
        l10, l20, l21 = p10 * i0, p20 * i0, p21 * i1
        for r in range(low, ld, LANES):
            x = load_at(panels, t0 + r) * i0
            y = (load_at(panels, t1 + r) - x * l10) * i1
            store_at(panels, t0 + r, x)
            store_at(panels, t1 + r, y)
            store_at(panels, t2 + r, (load_at(panels, t2 + r) - x * l20 - y * l21) * i2)
    return True


def solve(factorization: Factorization, rhs: Array) -> Array:
    """Solve K X = B with the last factorisation.

    Args:
        factorization: A factorised matrix.
        rhs: The columns of B, one a row, shape (n_rhs, 3 n_blocks).

    Returns:
        The columns of X, one a row, shape (n_rhs, 3 n_blocks).
    """
    return solve_backward(factorization, solve_forward(factorization, rhs))


def solve_forward(factorization: Factorization, rhs: Array) -> Array:
    """Solve L Y = P B; rows of Y count in elimination order.

    K^-1 = P' L^-T L^-1 P, so B' K^-1 C = (L^-1 P B)' (L^-1 P C).

    Args:
        factorization: A factorised matrix.
        rhs: The columns of B, one a row, shape (n_rhs, 3 n_blocks).

    Returns:
        The columns of Y, one a row, shape (n_rhs, 3 n_blocks), side by side in memory.
    """
    f = factorization
    n_rhs, n = rhs.shape
    y = np.zeros((n, n_rhs + (-n_rhs) % LANES))
    _enter(np.ascontiguousarray(rhs), f.order, y)
    _forward(f.first, f.row_start, f.rows, f.panel_start, f.panels, y)
    return y.T[:n_rhs]


def solve_backward(factorization: Factorization, y: Array) -> Array:
    """Solve L' P X = Y, the second half of `solve`; shapes as there."""
    f = factorization
    x = np.empty(y.shape)
    _backward(f.first, f.row_start, f.rows, f.panel_start, f.panels, np.array(y, order="C"), f.order, x)
    return x


@njit(cache=True, boundscheck=False)
def _enter(rhs, order, y):
    """y = (P rhs')."""
    n_rhs = rhs.shape[0]
    for i in range(order.size):
        for d in range(3):
            for j in range(n_rhs):
                y[U(3 * i + d), U(j)] = rhs[U(j), U(3 * order[i] + d)]


@njit(cache=True, boundscheck=False, fastmath=FAST, error_model="numpy")
def _forward(first, row_start, rows, panel_start, panels, y):
    """Solve L y = y, eight right-hand sides side by side, shape (3 n_blocks, n_rhs)."""
    n_groups = y.shape[1] // LANES
    flat = y.reshape(y.size)
    for s in range(first.size - 1):
        width = 3 * (first[s + 1] - first[s])
        ld = _padded(row_start[s + 1] - row_start[s])
        top = n_groups * 3 * first[s]
        for at in range(top, top + n_groups):
            square = lanes(0.0)
            for d in range(width):
                square += load(flat, at + n_groups * d) * load(flat, at + n_groups * d)
            if total(square) == 0.0:
                continue
            for d in range(width):
                value = load(flat, at + n_groups * d)
                row = panel_start[s] + d
                for c in range(d):
                    value -= load(flat, at + n_groups * c) * panels[U(row + c * ld)]
                store(flat, at + n_groups * d, value * (1.0 / panels[row + d * ld]))
            for rb in range(row_start[s] + width // 3, row_start[s + 1]):
                to = at - top + n_groups * 3 * rows[rb]
                x0, x1, x2 = load(flat, to), load(flat, to + n_groups), load(flat, to + 2 * n_groups)
                row = panel_start[s] + 3 * (rb - row_start[s])
                for d in range(width):
                    value = load(flat, at + n_groups * d)
                    entry = U(row + d * ld)
                    x0 -= value * panels[entry]
                    x1 -= value * panels[entry + U(1)]
                    x2 -= value * panels[entry + U(2)]
                store(flat, to, x0)
                store(flat, to + n_groups, x1)
                store(flat, to + 2 * n_groups, x2)


@njit(cache=True, boundscheck=False, fastmath=FAST, error_model="numpy")
def _backward(first, row_start, rows, panel_start, panels, y, order, x):
    """Solve L' P x = y for each row, three columns of L at a time; y is overwritten."""
    known = np.empty(_padded(np.diff(row_start).max()) + LANES)
    for s in range(first.size - 2, -1, -1):
        width = 3 * (first[s + 1] - first[s])
        n_rows = row_start[s + 1] - row_start[s]
        ld = _padded(n_rows)
        for j in range(y.shape[0]):
            for rb in range(n_rows):
                source = 3 * rows[row_start[s] + rb]
                for i in range(3):
                    known[U(3 * rb + i)] = y[U(j), U(source + i)]
            for r in range(3 * n_rows, 3 * n_rows + LANES):
                known[U(r)] = 0.0
            for d in range(width - 3, -1, -3):
                t0 = panel_start[s] + d * ld
                t1, t2 = t0 + ld, t0 + 2 * ld
                s0 = s1 = s2 = lanes(0.0)
                for r in range(d + 3, 3 * n_rows, LANES):
                    value = load_at(known, r)
                    s0 += load_at(panels, t0 + r) * value
                    s1 += load_at(panels, t1 + r) * value
                    s2 += load_at(panels, t2 + r) * value
                k2 = (known[d + 2] - total(s2)) / panels[t2 + d + 2]
                k1 = (known[d + 1] - total(s1) - panels[t1 + d + 2] * k2) / panels[t1 + d + 1]
                k0 = known[d] - total(s0) - panels[t0 + d + 1] * k1 - panels[t0 + d + 2] * k2
                known[d], known[d + 1], known[d + 2] = k0 / panels[t0 + d], k1, k2
            for d in range(width):
                y[j, 3 * first[s] + d] = known[d]
    for j in range(y.shape[0]):
        for i in range(order.size):
            for d in range(3):
                x[U(j), U(3 * order[i] + d)] = y[U(j), U(3 * i + d)]
