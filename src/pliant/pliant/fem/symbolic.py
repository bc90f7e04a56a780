"""Symbolic Cholesky: elimination order, elimination tree, column structures and relaxed supernodes."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.linalg import splu

IntArray = NDArray[np.int64]


def minimum_degree(n_blocks: int, row: IntArray, column: IntArray) -> IntArray:
    """Elimination order of a symmetric pattern, shape (n_blocks,): SuperLU's minimum degree on A + A'."""
    off = row != column
    value = -np.ones(2 * int(off.sum()))
    i = np.concatenate([row[off], column[off]])
    j = np.concatenate([column[off], row[off]])
    pattern = coo_matrix((value, (i, j)), shape=(n_blocks, n_blocks)).tocsc()
    degree = np.asarray(-pattern.sum(axis=1)).ravel() + 1.0
    pattern = pattern + coo_matrix((degree, (np.arange(n_blocks),) * 2), shape=pattern.shape).tocsc()
    lu = splu(pattern, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    return np.argsort(lu.perm_c).astype(np.int64)


def supernodes(
    n: int, row: IntArray, column: IntArray, order: IntArray, zeros: float
) -> tuple[IntArray, IntArray, IntArray, IntArray, IntArray]:
    """Group the columns of the Cholesky factor of a symmetric pattern.

    Args:
        n: Number of columns.
        row: Row of each entry of the lower triangle, shape (n_entries,).
        column: Column of each entry, shape (n_entries,).
        order: Elimination order, shape (n,).
        zeros: Share of explicit zeros up to which two supernodes are merged.

    Returns:
        first: First column of each supernode and n, shape (n_supernodes + 1,).
        row_start: Where its rows start, shape (n_supernodes + 1,).
        rows: Sorted rows of each supernode, its own columns first.
        order: The order made postorder, shape (n,); columns and rows above count in it.
        counts: Entries of each column of the factor, shape (n,).
    """
    start, neighbours = _adjacency(n, row, column, order)
    parent = _elimination_tree(start, neighbours)
    postorder = _postorder(parent)
    order = order[postorder]
    start, neighbours = _adjacency(n, row, column, order)
    parent = _elimination_tree(start, neighbours)
    structure_start, structure = _column_structures(start, neighbours, parent)
    counts = np.diff(structure_start) + 1
    first = _relaxed_supernodes(parent, counts, zeros)
    width = np.diff(first)
    below = counts[first[1:] - 1] - 1
    row_start = np.concatenate([[0], np.cumsum(width + below)])
    rows = np.empty(row_start[-1], dtype=np.int64)
    for s in range(first.size - 1):
        at = row_start[s]
        rows[at : at + width[s]] = np.arange(first[s], first[s + 1])
        last = first[s + 1] - 1
        rows[at + width[s] : row_start[s + 1]] = structure[structure_start[last] : structure_start[last + 1]]
    return first, row_start, rows, order, counts


def _adjacency(n: int, row: IntArray, column: IntArray, order: IntArray) -> tuple[IntArray, IntArray]:
    """Earlier neighbours of each column in elimination order, as (start, neighbours)."""
    rank = np.empty(n, dtype=np.int64)
    rank[order] = np.arange(n)
    i, j = rank[row], rank[column]
    high, low = np.maximum(i, j), np.minimum(i, j)
    keep = high != low
    high, low = high[keep], low[keep]
    sort = np.lexsort((low, high))
    start = np.concatenate([[0], np.cumsum(np.bincount(high, minlength=n))])
    return start, low[sort]


@njit(cache=True)
def _elimination_tree(start, neighbours):
    """Parent of each column, -1 for roots (Liu 1986)."""
    n = start.size - 1
    parent = np.full(n, -1, dtype=np.int64)
    ancestor = np.full(n, -1, dtype=np.int64)
    for i in range(n):
        for p in range(start[i], start[i + 1]):
            k = neighbours[p]
            while k != -1 and k < i:
                up = ancestor[k]
                ancestor[k] = i
                if up == -1:
                    parent[k] = i
                k = up
    return parent


@njit(cache=True)
def _postorder(parent):
    """Order in which every column follows its children directly."""
    n = parent.size
    head = np.full(n, -1, dtype=np.int64)
    following = np.full(n, -1, dtype=np.int64)
    for v in range(n - 1, -1, -1):
        if parent[v] != -1:
            following[v] = head[parent[v]]
            head[parent[v]] = v
    order = np.empty(n, dtype=np.int64)
    stack = np.empty(n, dtype=np.int64)
    count = 0
    for root in range(n):
        if parent[root] != -1:
            continue
        top = 0
        stack[0] = root
        while top >= 0:
            v = stack[top]
            child = head[v]
            if child == -1:
                order[count] = v
                count += 1
                top -= 1
            else:
                head[v] = following[child]
                top += 1
                stack[top] = child
    return order


@njit(cache=True)
def _column_structures(start, neighbours, parent):
    """Sorted rows below the diagonal of each column of the factor, as (start, rows)."""
    n = parent.size
    counts = np.zeros(n, dtype=np.int64)
    mark = np.full(n, -1, dtype=np.int64)
    for i in range(n):
        mark[i] = i
        for p in range(start[i], start[i + 1]):
            k = neighbours[p]
            while mark[k] != i:
                mark[k] = i
                counts[k] += 1
                k = parent[k]
    begin = np.zeros(n + 1, dtype=np.int64)
    for j in range(n):
        begin[j + 1] = begin[j] + counts[j]
    rows = np.empty(begin[n], dtype=np.int64)
    fill = begin[:-1].copy()
    mark[:] = -1
    for i in range(n):
        mark[i] = i
        for p in range(start[i], start[i + 1]):
            k = neighbours[p]
            while mark[k] != i:
                mark[k] = i
                rows[fill[k]] = i
                fill[k] += 1
                k = parent[k]
    return begin, rows


@njit(cache=True)
def _relaxed_supernodes(parent, counts, zeros):
    """First column of each supernode and n, after merging those that add few zeros."""
    n = parent.size
    begin = np.empty(n + 1, dtype=np.int64)
    end = np.empty(n + 1, dtype=np.int64)
    added = np.zeros(n + 1, dtype=np.int64)
    top = -1
    j = 0
    while j < n:
        stop = j + 1
        while stop < n and parent[stop - 1] == stop and counts[stop] == counts[stop - 1] - 1:
            stop += 1
        top += 1
        begin[top], end[top], added[top] = j, stop, 0
        while top > 0 and parent[end[top - 1] - 1] == begin[top]:
            child, here = top - 1, top
            width = end[child] - begin[child]
            below = counts[end[here] - 1] - 1
            tall = end[here] - begin[here] + below
            extra = added[child] + added[here] + width * (tall - counts[end[child] - 1] + 1)
            full = (end[here] - begin[child]) * (tall + width)
            narrow = end[here] - begin[child] <= 3
            if extra > (2.0 * zeros if narrow else zeros) * full:
                break
            end[child], added[child] = end[here], extra
            top -= 1
        j = stop
    first = np.empty(top + 2, dtype=np.int64)
    first[: top + 1] = begin[: top + 1]
    first[top + 1] = n
    return first
