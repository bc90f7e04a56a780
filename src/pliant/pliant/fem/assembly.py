"""Assembly: from node positions to energy, forces, tangent stiffness and mass of a body."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import bsr_matrix, csr_matrix

from pliant.fem import element, neo_hookean
from pliant.fem.body import Body, mass_weights

Array = NDArray[np.float64]
IntArray = NDArray[np.int64]

_NO_SLOTS = np.zeros((0, 0), dtype=np.int64)
_NO_BLOCKS = np.zeros((0, 3, 3))


@dataclass(frozen=True)
class Pattern:
    """Which 3 x 3 blocks of a symmetric matrix over the free nodes are stored: the lower ones.

    Attributes:
        n_free: Number of block rows.
        row, column: Block row and column, row >= column, sorted by row, shape (n_blocks,).
        slots: Block of each node pair of each element, -1 if a node is fixed.
        diagonal: Block of each diagonal entry, shape (n_free,).
    """

    n_free: int
    row: IntArray
    column: IntArray
    slots: IntArray
    diagonal: IntArray

    def find(self, pairs: IntArray) -> IntArray:
        """Blocks of pairs of free nodes (row >= column), shape (n_pairs,)."""
        return np.searchsorted(self.row * self.n_free + self.column, pairs[:, 0] * self.n_free + pairs[:, 1])


def make_pattern(body: Body, extra: IntArray) -> Pattern:
    """Pattern of the tangent stiffness.

    Args:
        body: The body.
        extra: Further coupled pairs of free nodes, shape (n_extra, 2).
    """
    n_free = body.n_free
    of = body.unknown[body.elements]
    a, b = np.tril_indices(of.shape[1])
    high, low = of[:, a], of[:, b]
    key = high * n_free + low
    coupled = low >= 0
    extra_key = extra.max(axis=1) * n_free + extra.min(axis=1) if len(extra) else np.zeros(0, dtype=np.int64)
    own = np.arange(n_free) * (n_free + 1)
    keys = np.unique(np.concatenate([key[coupled], extra_key, own]))
    slots = np.where(coupled, np.searchsorted(keys, key), -1)
    return Pattern(
        n_free, keys // n_free, keys % n_free, np.ascontiguousarray(slots), np.searchsorted(keys, own)
    )


def elastic_energy(body: Body, x: Array) -> float:
    """Elastic energy of the body and its springs [J]; infinite if an element is inverted."""
    stretch = x - body.mesh.nodes
    return element.energy(x, *body.kernel) + 0.5 * float(np.sum(body.springs[:, None] * stretch**2))


def internal_force(body: Body, x: Array) -> Array:
    """dE/dx [N], shape (n_nodes, 3). Not a number if an element is inverted."""
    force = body.springs[:, None] * (x - body.mesh.nodes)
    if not _add_force_and_stiffness(body, x, _NO_SLOTS, force, _NO_BLOCKS) > 0:
        force[:] = np.nan
    return force


def tangent_stiffness(body: Body, pattern: Pattern, x: Array) -> tuple[Array, Array, float]:
    """Internal force, tangent stiffness and smallest J.

    Args:
        body: The body.
        pattern: Its pattern.
        x: Node positions [m], shape (n_nodes, 3).

    Returns:
        dE/dx [N], shape (n_nodes, 3); the blocks of d2E/dx2 over the free nodes [N/m], shape
        (n_blocks, 3, 3); the smallest J, which must be positive for the others to hold.
    """
    force = body.springs[:, None] * (x - body.mesh.nodes)
    blocks = np.zeros((pattern.row.size, 3, 3))
    smallest = _add_force_and_stiffness(body, x, pattern.slots, force, blocks)
    if body.springs.any():
        blocks[pattern.diagonal] += body.springs[body.free][:, None, None] * np.eye(3)
    return force, blocks, smallest


def _add_force_and_stiffness(body: Body, x: Array, slots: IntArray, force: Array, blocks: Array) -> float:
    """Add both over the elements of every law; the smallest J."""
    neo_hookeans = neo_hookean.force_and_stiffness(x, *body.lane_kernel, slots, force, blocks)
    others = element.force_and_stiffness(x, *body.kernel, slots, force, blocks)
    return float(np.minimum(neo_hookeans, others))


def smallest_jacobian(body: Body, x: Array) -> float:
    """Smallest J over all quadrature points; below 0 an element is inverted."""
    return neo_hookean.smallest_jacobian(x, body.elements, body.lane_gradients, body.weights.shape[1])


def third_derivative(body: Body, x: Array, left: Array, right: Array) -> Array:
    """d(left' K(x) right)/dx, the energy's third derivative applied to two nodal vectors.

    Args:
        body: The body.
        x: Node positions [m], shape (n_nodes, 3).
        left, right: Nodal vectors, shape (n_nodes, 3).

    Returns:
        Shape (n_nodes, 3).
    """
    out = np.zeros_like(x)
    element.third_derivative(x, *body.kernel, left, right, out)
    return out


def as_sparse(pattern: Pattern, blocks: Array) -> csr_matrix:
    """The symmetric matrix as scipy's CSR over the coordinates of the free nodes."""
    return sparse_from_blocks(pattern.n_free, pattern.row, pattern.column, blocks)


def sparse_from_blocks(n_rows: int, row: IntArray, column: IntArray, blocks: Array) -> csr_matrix:
    """A symmetric matrix from its lower 3 x 3 blocks, shape (3 n_rows, 3 n_rows)."""
    off = row != column
    values = np.concatenate([blocks, blocks[off].transpose(0, 2, 1)])
    i, j = np.concatenate([row, column[off]]), np.concatenate([column, row[off]])
    order = np.lexsort((j, i))
    start = np.concatenate([[0], np.cumsum(np.bincount(i, minlength=n_rows))])
    return bsr_matrix((values[order], j[order], start), shape=(3 * n_rows, 3 * n_rows)).tocsr()


def mass_matrix(body: Body) -> csr_matrix:
    """Consistent mass of all nodes, one scalar a node pair [kg], shape (n_nodes, n_nodes)."""
    local = np.einsum("eq,eqa,eqb->eab", mass_weights(body) * body.density[:, None], body.shapes, body.shapes)
    n_en = body.elements.shape[1]
    row = np.repeat(body.elements, n_en, axis=1).ravel()
    column = np.tile(body.elements, (1, n_en)).ravel()
    return csr_matrix((local.ravel(), (row, column)), shape=(body.n_nodes,) * 2)


def lumped_mass(body: Body) -> Array:
    """Mass of each node [kg], shape (n_nodes,): the consistent diagonal scaled to the element's
    mass (Hinton, Rock and Zienkiewicz 1976), positive for quadratic elements too."""
    diagonal = np.einsum("eq,eqa,eqa->ea", mass_weights(body), body.shapes, body.shapes)
    diagonal *= (body.density * body.volumes / diagonal.sum(axis=1))[:, None]
    return np.bincount(body.elements.ravel(), diagonal.ravel(), minlength=body.n_nodes).astype(np.float64)


def gravity_force(body: Body, gravity: Array) -> Array:
    """Weight of each node [N] under an acceleration [m/s^2] of shape (3,), shape (n_nodes, 3)."""
    local = np.einsum("eq,eqa->ea", mass_weights(body) * body.density[:, None], body.shapes)
    share = np.bincount(body.elements.ravel(), local.ravel(), minlength=body.n_nodes)
    return share[:, None] * np.asarray(gravity, dtype=float)
