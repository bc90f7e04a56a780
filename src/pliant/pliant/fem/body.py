"""A body: mesh, materials and supports turned into the arrays that the kernels read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from pliant.errors import MeshError, PliantError
from pliant.fem.lanes import side_by_side
from pliant.fem.material import LAWS, Material
from pliant.geometry.mesh import TetMesh, linear, quadratic

Array = NDArray[np.float64]
IntArray = NDArray[np.int64]

ELEMENTS = ("tet4", "tet10", "tet10_mean")
DEFAULT_ELEMENT = "tet10_mean"

_NONE = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True)
class Body:
    """A deformable body ready for assembly.

    Attributes:
        mesh: Its mesh, quadratic for quadratic elements.
        element: One of `ELEMENTS`.
        elements: Nodes of each element in ascending order of their unknown, fixed nodes first,
            shape (n_elements, n_en).
        gradients: Shape function gradients dN/dX [1/m], shape (n_elements, n_q, n_en, 3).
        lane_gradients: The same, eight elements side by side (`lanes.py`), flat.
        shapes: Shape functions at the quadrature points of the mass, shape (n_elements, n_m, n_en).
        weights: Volume of each quadrature point [m^3], shape (n_elements, n_q).
        volumes: Volume of each element [m^3], shape (n_elements,).
        law, mu, lam, density: Material of each element, shape (n_elements,).
        fixed: Nodes that never move.
        unknown: Index of each node among the free nodes, -1 if fixed, shape (n_nodes,).
        springs: Stiffness of the spring that ties each node to its rest position [N/m], shape (n_nodes,).
        rigid: Groups of nodes that move as rigid bodies.
    """

    mesh: TetMesh
    element: str
    elements: IntArray
    gradients: Array
    lane_gradients: Array
    shapes: Array
    weights: Array
    volumes: Array
    law: IntArray
    mu: Array
    lam: Array
    density: Array
    fixed: IntArray
    unknown: IntArray
    springs: Array
    rigid: tuple[IntArray, ...]

    @property
    def mean(self) -> bool:
        """Whether the volumetric energy uses the element's mean dilatation."""
        return self.element == "tet10_mean"

    @cached_property
    def free(self) -> IntArray:
        """Nodes that can move, in the order of their unknowns, shape (n_free,)."""
        return np.flatnonzero(self.unknown >= 0)

    @cached_property
    def held(self) -> IntArray:
        """Nodes that cannot move, shape (n_nodes - n_free,)."""
        return np.flatnonzero(self.unknown < 0)

    @property
    def n_nodes(self) -> int:
        return len(self.mesh.nodes)

    @property
    def n_free(self) -> int:
        """Number of nodes that can move."""
        return self.free.size

    @property
    def kernel(self) -> tuple[IntArray, Array, Array, IntArray, Array, Array, bool]:
        """Leading arguments of the element kernels after x."""
        return self.elements, self.gradients, self.weights, self.law, self.mu, self.lam, self.mean

    @property
    def lane_kernel(self) -> tuple[IntArray, Array, Array, IntArray, Array, Array, bool]:
        """Leading arguments of the Neo-Hookean element kernels after x."""
        return self.elements, self.lane_gradients, *self.kernel[2:]


def make_body(
    mesh: TetMesh,
    materials: Material | Mapping[int, Material],
    *,
    element: str = DEFAULT_ELEMENT,
    fixed: IntArray = _NONE,
    attached: IntArray = _NONE,
    attachment_stiffness: float | Array = 0.0,
    rigid: Sequence[IntArray] = (),
) -> Body:
    """Prepare a body for assembly.

    A linear mesh is made quadratic with straight edges where the element asks for it, and a
    quadratic one linear; the corner nodes keep their numbers.

    Args:
        mesh: Tetrahedra [m].
        materials: One material, or one for each region number of the mesh.
        element: One of `ELEMENTS`.
        fixed: Nodes held at their rest position (numbers of the final mesh).
        attached: Nodes tied to their rest position by springs.
        attachment_stiffness: Stiffness of these springs [N/m], one or one each.
        rigid: Groups of nodes, each moving as one rigid body.

    Raises:
        PliantError: If the element is unknown, a region has no material, or rigid groups overlap.
        MeshError: If a quadratic element has a quadrature point with J <= 0 at rest.
    """
    if element not in ELEMENTS:
        raise PliantError(f"element: given {element!r}; allowed: {', '.join(ELEMENTS)}")
    mesh = linear(mesh) if element == "tet4" else quadratic(mesh)
    laws = (
        {int(r): materials for r in np.unique(mesh.region)} if isinstance(materials, Material) else materials
    )
    missing = sorted(set(np.unique(mesh.region).tolist()) - set(laws))
    if missing:
        raise PliantError(f"regions {missing} of the mesh have no material; given: {sorted(laws)}")
    _check_rigid(rigid, fixed)
    unknown = np.full(len(mesh.nodes), -1, dtype=np.int64)
    free = np.setdiff1d(np.arange(len(mesh.nodes)), fixed)
    unknown[free] = np.arange(free.size)
    springs = np.zeros(len(mesh.nodes))
    springs[attached] = attachment_stiffness
    order = np.argsort(unknown[mesh.tets], axis=1, kind="stable")
    elements = np.take_along_axis(mesh.tets, order, axis=1)
    points, point_weights = _QUADRATURE[1 if element == "tet4" else 4]
    shape_gradients = _shape_gradients(points, mesh.tets.shape[1])
    gradients, weights = _reference_gradients(mesh, shape_gradients, point_weights)
    gradients = np.take_along_axis(gradients, order[:, None, :, None], axis=2)
    mass_points, _ = _QUADRATURE[4 if element == "tet4" else 15]
    shapes = _shape_functions(mass_points, mesh.tets.shape[1])[None].repeat(len(mesh.tets), 0)
    shapes = np.take_along_axis(shapes, order[:, None, :], axis=2)
    of = [laws[int(r)] for r in mesh.region]
    return Body(
        mesh=mesh,
        element=element,
        elements=np.ascontiguousarray(elements),
        gradients=np.ascontiguousarray(gradients),
        lane_gradients=side_by_side(gradients),
        shapes=np.ascontiguousarray(shapes),
        weights=weights,
        volumes=weights.sum(axis=1),
        law=np.array([LAWS[m.model] for m in of], dtype=np.int64),
        mu=np.array([m.mu for m in of]),
        lam=np.array([m.lam for m in of]),
        density=np.array([m.density for m in of]),
        fixed=np.asarray(fixed, dtype=np.int64),
        unknown=unknown,
        springs=springs,
        rigid=tuple(np.asarray(group, dtype=np.int64) for group in rigid),
    )


def _check_rigid(rigid: Sequence[IntArray], fixed: IntArray) -> None:
    together = np.concatenate([*rigid, fixed]) if rigid else _NONE
    if np.unique(together).size != together.size:
        raise PliantError(
            "rigid groups overlap each other or the fixed nodes; each node belongs to one at most"
        )
    if any(len(group) < 3 for group in rigid):
        raise PliantError("a rigid group needs three nodes or more")


def mass_weights(body: Body) -> Array:
    """Volume of each quadrature point of the mass [m^3], shape (n_elements, n_m)."""
    _, weights = _QUADRATURE[body.shapes.shape[1]]
    return body.volumes[:, None] * weights


def _reference_gradients(mesh: TetMesh, shape_gradients: Array, weights: Array) -> tuple[Array, Array]:
    """dN/dX at the quadrature points and their volumes."""
    X = mesh.nodes[mesh.tets]
    jacobian = np.einsum("eai,qak->eqik", X, shape_gradients)
    determinant = np.linalg.det(jacobian)
    bad = np.flatnonzero((determinant <= 0).any(axis=1))
    if bad.size:
        raise MeshError(f"{bad.size} elements are inverted or degenerate, the first is number {bad[0]}")
    gradients = np.einsum("qak,eqki->eqai", shape_gradients, np.linalg.inv(jacobian))
    return gradients, determinant * weights / 6.0


_EDGES = ((0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3))
_BARYCENTRIC_GRADIENTS = np.array([[-1.0, -1.0, -1.0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])


def _shape_functions(points: Array, n_en: int) -> Array:
    """N of the 4- or 10-node tetrahedron at barycentric points, shape (n_points, n_en)."""
    if n_en == 4:
        return points
    corners = points * (2 * points - 1)
    edges = np.stack([4 * points[:, i] * points[:, j] for i, j in _EDGES], axis=1)
    return np.hstack([corners, edges])


def _shape_gradients(points: Array, n_en: int) -> Array:
    """dN/dxi of the 4- or 10-node tetrahedron at barycentric points, shape (n_points, n_en, 3)."""
    g = _BARYCENTRIC_GRADIENTS
    if n_en == 4:
        return np.broadcast_to(g, (len(points), 4, 3)).copy()
    corners = (4 * points[:, :, None] - 1) * g
    edges = [4 * (points[:, i, None] * g[j] + points[:, j, None] * g[i]) for i, j in _EDGES]
    return np.concatenate([corners, np.stack(edges, axis=1)], axis=1)


def _orbits(*orbits: tuple[tuple[float, ...], float]) -> tuple[Array, Array]:
    """Quadrature rule from its orbits: a barycentric point, permuted, and its weight."""
    points = [sorted(set(permutations(point))) for point, _ in orbits]
    weights = [np.full(len(p), weight) for p, (_, weight) in zip(points, orbits, strict=True)]
    return np.array([point for orbit in points for point in orbit]), np.concatenate(weights)


_A4, _B4 = 0.5854101966249685, 0.1381966011250105
_A15, _B15, _C15 = 0.0919710780527230, 0.3197936278296299, 0.0563508326896291
# Degrees 1, 2 (Hammer and Stroud 1956) and 5 (Stroud 1971, T3:5-1) on the tetrahedron, weights of sum 1.
_QUADRATURE = {
    1: (np.full((1, 4), 0.25), np.ones(1)),
    4: _orbits(((_A4, _B4, _B4, _B4), 0.25)),
    15: _orbits(
        ((0.25,) * 4, 16 / 135),
        ((1 - 3 * _A15, _A15, _A15, _A15), 0.0719370837790186),
        ((1 - 3 * _B15, _B15, _B15, _B15), 0.0690682072262724),
        ((_C15, _C15, 0.5 - _C15, 0.5 - _C15), 20 / 378),
    ),
}
