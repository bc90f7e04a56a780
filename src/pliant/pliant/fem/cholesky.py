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
from scipy.sparse import coo_matrix
from scipy.sparse.linalg import splu

from pliant.fem.simd import COLUMNS, TILE, tile_product
from pliant.fem.symbolic import supernodes

U = np.uint64
Array = NDArray[np.float64]
IntArray = NDArray[np.int64]

RELAXED_ZEROS = 0.15
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


def analyse(n_blocks: int, row: IntArray, column: IntArray) -> Factorization:
    """Order and analyse a symmetric block pattern.

    The order is SuperLU's minimum degree on A + A'.

    Args:
        n_blocks: Number of block rows.
        row: Block row of each stored block, row >= column, shape (n_entries,).
        column: Block column of each stored block, shape (n_entries,).

    Returns:
        The factorisation, whose `panels` are not yet meaningful.
    """
    order = _minimum_degree(n_blocks, row, column)
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


def _minimum_degree(n_blocks: int, row: IntArray, column: IntArray) -> IntArray:
    """Minimum-degree order of a symmetric pattern, shape (n_blocks,)."""
    off = row != column
    value = -np.ones(2 * int(off.sum()))
    i = np.concatenate([row[off], column[off]])
    j = np.concatenate([column[off], row[off]])
    pattern = coo_matrix((value, (i, j)), shape=(n_blocks, n_blocks)).tocsc()
    degree = np.asarray(-pattern.sum(axis=1)).ravel() + 1.0
    pattern = pattern + coo_matrix((degree, (np.arange(n_blocks),) * 2), shape=pattern.shape).tocsc()
    lu = splu(pattern, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    return np.argsort(lu.perm_c).astype(np.int64)


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


@njit(cache=True, boundscheck=False, fastmath={"contract", "reassoc"})
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
    largest = 0
    for s in range(n_supernodes):
        largest = max(largest, row_start[s + 1] - row_start[s])
    update = np.empty(COLUMNS * _padded(largest))
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
        if not _factorize_panel(panels, base, 3 * width, ld, update):
            return False
        progress[s] = width
        if width < n_rows:
            p = owner[rows[row_start[s] + width]]
            following[s] = head[p]
            head[p] = s
    return True


@njit(cache=True, boundscheck=False, fastmath={"contract", "reassoc"})
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
        height = 3 * (n_rows - cb)
        source = panel_start[k] + 3 * cb
        for r in range(0, height, TILE):
            tile_product(panels, source + r, ld_k, n_columns, panels, source, ld_k, 1, update, r, ld_k)
        target = panel_start[s] + 3 * (rows[start + cb] - first[s]) * ld
        for rb in range(n_rows - cb):
            t = target + 3 * local[rows[start + cb + rb]]
            for j in range(3):
                for i in range(3):
                    panels[U(t + j * ld + i)] -= update[U(j * ld_k + 3 * rb + i)]


@njit(cache=True, boundscheck=False, fastmath={"contract", "reassoc"})
def _factorize_panel(panels, base, n_columns, ld, update):
    """Dense Cholesky of the first rows of a panel and triangular solve of the others.

    Tiles start at multiples of their size; what they write above the diagonal is never read.
    """
    for c in range(0, n_columns, 3):
        t = base + c * ld
        low = c - c % TILE
        if c > 0:
            for r in range(low, ld, TILE):
                tile_product(panels, base + r, ld, c, panels, base + c, ld, 1, update, r, ld)
            for j in range(3):
                for r in range(low, ld):
                    panels[U(t + j * ld + r)] -= update[U(j * ld + r)]
        if not panels[t + c] > 0.0:
            return False
        l00 = np.sqrt(panels[t + c])
        l10, l20 = panels[t + c + 1] / l00, panels[t + c + 2] / l00
        pivot = panels[t + ld + c + 1] - l10 * l10
        if not pivot > 0.0:
            return False
        l11 = np.sqrt(pivot)
        l21 = (panels[t + ld + c + 2] - l20 * l10) / l11
        pivot = panels[t + 2 * ld + c + 2] - l20 * l20 - l21 * l21
        if not pivot > 0.0:
            return False
        i0, i1, i2 = 1.0 / l00, 1.0 / l11, 1.0 / np.sqrt(pivot)
        for r in range(low, ld):
            x = panels[U(t + r)] * i0
            y = (panels[U(t + ld + r)] - l10 * x) * i1
            panels[U(t + 2 * ld + r)] = (panels[U(t + 2 * ld + r)] - l20 * x - l21 * y) * i2
            panels[U(t + ld + r)] = y
            panels[U(t + r)] = x
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
        The columns of Y, one a row, shape (n_rhs, 3 n_blocks).
    """
    f = factorization
    n_rhs, n = rhs.shape
    y = np.zeros((n_rhs + (-n_rhs) % COLUMNS, n))
    y[:n_rhs] = rhs.reshape(n_rhs, -1, 3)[:, f.order].reshape(n_rhs, n)
    _forward(f.first, f.row_start, f.rows, f.panel_start, f.panels, y)
    return y[:n_rhs]


def solve_backward(factorization: Factorization, y: Array) -> Array:
    """Solve L' P X = Y, the second half of `solve`; shapes as there."""
    f = factorization
    z = y.copy()
    _backward(f.first, f.row_start, f.rows, f.panel_start, f.panels, z)
    x = np.empty_like(z)
    x.reshape(len(y), -1, 3)[:, f.order] = z.reshape(len(y), -1, 3)
    return x


@njit(cache=True, boundscheck=False, fastmath={"contract", "reassoc"})
def _forward(first, row_start, rows, panel_start, panels, y):
    m, n = y.shape
    flat = y.reshape(m * n)
    largest = 0
    for s in range(first.size - 1):
        largest = max(largest, row_start[s + 1] - row_start[s])
    update = np.empty(COLUMNS * _padded(largest))
    for s in range(first.size - 1):
        width = 3 * (first[s + 1] - first[s])
        n_rows = row_start[s + 1] - row_start[s]
        ld = _padded(n_rows)
        base = panel_start[s]
        top = 3 * first[s]
        for j in range(0, m, COLUMNS):
            if not _any_nonzero(flat, j * n + top, n, width):
                continue
            for i in range(j, j + COLUMNS):
                at = i * n + top
                for d in range(width):
                    value = flat[at + d] / panels[base + d * ld + d]
                    flat[at + d] = value
                    for r in range(d + 1, width):
                        flat[U(at + r)] -= panels[U(base + d * ld + r)] * value
            for r in range(width - width % TILE, 3 * n_rows, TILE):
                tile_product(panels, base + r, ld, width, flat, j * n + top, 1, n, update, r, ld)
            for rb in range(width // 3, n_rows):
                target = j * n + 3 * rows[row_start[s] + rb]
                for c in range(COLUMNS):
                    for i in range(3):
                        flat[U(target + c * n + i)] -= update[U(c * ld + 3 * rb + i)]


@njit(cache=True, boundscheck=False)
def _any_nonzero(flat, start, n, width):
    for c in range(COLUMNS):
        for d in range(width):
            if flat[start + c * n + d] != 0.0:
                return True
    return False


@njit(cache=True, boundscheck=False, fastmath={"contract", "reassoc"})
def _backward(first, row_start, rows, panel_start, panels, y):
    m, n = y.shape
    largest = 0
    for s in range(first.size - 1):
        largest = max(largest, row_start[s + 1] - row_start[s])
    known = np.empty(_padded(largest))
    for s in range(first.size - 2, -1, -1):
        width = 3 * (first[s + 1] - first[s])
        n_rows = row_start[s + 1] - row_start[s]
        ld = _padded(n_rows)
        top = 3 * first[s]
        for j in range(m):
            for rb in range(n_rows):
                source = 3 * rows[row_start[s] + rb]
                for i in range(3):
                    known[U(3 * rb + i)] = y[j, U(source + i)]
            for d in range(width - 1, -1, -1):
                column = panel_start[s] + d * ld
                total = 0.0
                for r in range(d + 1, 3 * n_rows):
                    total += panels[U(column + r)] * known[U(r)]
                known[d] = (known[d] - total) / panels[column + d]
                y[j, top + d] = known[d]
