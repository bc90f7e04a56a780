"""The mesh of a robot file: read, placed, and checked against what the file says of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial.transform import Rotation

from pliant.config_file import Shown
from pliant.errors import MeshError, RobotFileError
from pliant.geometry.mesh import TetMesh, embed, linear, quadratic, read_mesh
from pliant.robot_file import Point, RegionSpec, RobotSpec

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

SMALLEST_M, LARGEST_M = 5e-3, 20.0
FARTHEST_OUTSIDE = 0.05
FARTHEST_PULL_POINT = 20.0
BOX_TOLERANCE = 1e-6


@dataclass(frozen=True)
class HeldNodes:
    """Nodes that do not move freely.

    Attributes:
        fixed: Nodes that do not move, shape (n_fixed,).
        attached: Nodes that springs hold in place, shape (n_attached,).
        stiffness: Stiffness of those springs, isotropic [N/m], shape (n_attached,).
        rigid: Nodes of each part that moves as one rigid body.
    """

    fixed: Indices
    attached: Indices
    stiffness: Array
    rigid: tuple[Indices, ...]


def robot_mesh(spec: RobotSpec, resolution: str) -> TetMesh:
    """The mesh of one resolution in the base frame, of the element's order.

    Raises:
        RobotFileError: If it cannot be read, cannot be computed with, or its unit looks wrong.
    """
    file = spec.mesh.files[resolution]
    key = f"mesh.files.{resolution}"
    if not file.is_file():
        raise file_error(spec, key, str(file), "a mesh file that exists")
    turned = any(spec.mesh.rotation_deg)
    rotation = Rotation.from_euler("xyz", spec.mesh.rotation_deg, degrees=True) if turned else None
    try:
        mesh = read_mesh(file, unit=spec.mesh.unit, rotation=rotation, translation_m=spec.mesh.translation_m)
        mesh = _of_order(mesh, 1 if spec.element == "tet4" else 2)
    except MeshError as reason:
        raise file_error(spec, key, str(file), f"a sound volume mesh of tetrahedra; {reason}") from reason
    diagonal = mesh_diagonal(mesh)
    if not SMALLEST_M <= diagonal <= LARGEST_M:
        size = f"the robot would be {diagonal:.3g} m across, not {SMALLEST_M:g} to {LARGEST_M:g} m"
        raise file_error(spec, "mesh.unit", spec.mesh.unit, f"the unit of {file.name}; in this one {size}")
    for region in spec.regions:
        if not (mesh.region == region).any():
            known = ", ".join(str(value) for value in np.unique(mesh.region)[:20])
            raise file_error(spec, f"regions.{region}", Shown("a material"), f"a region of the mesh: {known}")
    return mesh


def held_nodes(spec: RobotSpec, mesh: TetMesh) -> HeldNodes:
    """The nodes that a file's regions hold; a fixed node is not attached as well.

    Raises:
        RobotFileError: If a region holds no node, rigid parts overlap, or a part of the mesh is loose.
    """
    fixed = np.unique(np.concatenate([_inside(spec, mesh, "fixed", i) for i in range(len(spec.fixed))]))
    if fixed.size == mesh.n_nodes:
        raise file_error(spec, "fixed", Shown("all nodes"), "boxes that leave a node free")
    springs: dict[int, float] = {}
    for index, region in enumerate(spec.attached):
        springs |= dict.fromkeys(_inside(spec, mesh, "attached", index).tolist(), region.stiffness_n_m)
    for node in fixed.tolist():
        springs.pop(node, None)
    attached = np.array(sorted(springs), dtype=np.int64)
    rigid = [_inside(spec, mesh, "rigid", index) for index in range(len(spec.rigid))]
    taken = fixed
    for index, part in enumerate(rigid):
        if part.size < 3 or np.isin(part, taken).any():
            allowed = "a box of three or more nodes, none of them fixed or in another rigid part"
            raise file_error(spec, f"rigid[{index}].box_m", spec.rigid[index].box_m, allowed)
        taken = np.concatenate([taken, part])
    _refuse_loose_parts(spec, mesh, np.concatenate([fixed, attached]))
    return HeldNodes(fixed, attached, np.array([springs[node] for node in attached.tolist()]), tuple(rigid))


def mesh_points(spec: RobotSpec) -> Iterator[tuple[str, Point]]:
    """Key and place [m] of every point of a file that belongs on the mesh."""
    for index, actuator in enumerate(spec.actuators):
        for i, point in enumerate(actuator.via_points_m):
            yield f"actuators[{index}].via_points_m[{i}]", point
    for index, effector in enumerate(spec.effectors):
        yield f"effectors[{index}].point_m", effector.point_m


def outside_distances(spec: RobotSpec, mesh: TetMesh) -> dict[str, float]:
    """How far each point of `mesh_points` lies outside the mesh [m], by its key; 0 inside."""
    keys, points = zip(*mesh_points(spec), strict=True)
    return dict(zip(keys, embed(mesh, np.array(points)).distance_m.tolist(), strict=True))


def refuse_far_points(spec: RobotSpec, mesh: TetMesh) -> None:
    """Refuse points that cannot be meant: off the mesh by 5 % of its size, pulled from 20 sizes away.

    Public robots have points outside by up to 3 mm; those are embedded in the nearest element.

    Raises:
        RobotFileError: With a hint where the point fits when read as millimetres.
    """
    diagonal = mesh_diagonal(mesh)
    limit = FARTHEST_OUTSIDE * diagonal
    distances = outside_distances(spec, mesh)
    for key, point in mesh_points(spec):
        if distances[key] > limit:
            as_mm = embed(mesh, np.array([point]) / 1000.0).distance_m[0] <= limit
            hint = "; read as mm it lies on the robot" if as_mm and distances[key] > 10 * diagonal else ""
            allowed = f"a point in m, at most {limit:.3g} m outside the mesh ({_span(mesh)})"
            allowed += f", not {distances[key]:.3g} m"
            raise file_error(spec, key, list(point), allowed + hint)
    for index, actuator in enumerate(spec.actuators):
        away = np.linalg.norm(np.array(actuator.pull_point_m) - mesh.nodes.mean(axis=0)) / diagonal
        if away > FARTHEST_PULL_POINT:
            allowed = f"a point in m, at most {FARTHEST_PULL_POINT:g} sizes of the robot away, not {away:.3g}"
            raise file_error(spec, f"actuators[{index}].pull_point_m", list(actuator.pull_point_m), allowed)


def mesh_diagonal(mesh: TetMesh) -> float:
    """Diagonal of the mesh's bounding box [m]."""
    return float(np.linalg.norm(np.ptp(mesh.nodes, axis=0)))


def file_error(spec: RobotSpec, key: str, given: object, allowed: str) -> RobotFileError:
    """The error of a key of this robot's file."""
    return RobotFileError(spec.file, key, given, allowed)


def _inside(spec: RobotSpec, mesh: TetMesh, kind: str, index: int) -> Indices:
    region: RegionSpec = getattr(spec, kind)[index]
    tolerance = BOX_TOLERANCE * mesh_diagonal(mesh)
    low, high = (np.array(corner) for corner in region.box_m)
    inside = ((mesh.nodes >= low - tolerance) & (mesh.nodes <= high + tolerance)).all(axis=1)
    if not inside.any():
        given = [list(corner) for corner in region.box_m]
        raise file_error(
            spec,
            f"{kind}[{index}].box_m",
            given,
            f"a box in m with a node inside; the mesh spans {_span(mesh)}",
        )
    return np.flatnonzero(inside)


def _refuse_loose_parts(spec: RobotSpec, mesh: TetMesh, held: Indices) -> None:
    rows = np.repeat(mesh.tets[:, 0], mesh.tets.shape[1])
    graph = coo_array((np.ones(rows.size), (rows, mesh.tets.ravel())), shape=(mesh.n_nodes, mesh.n_nodes))
    n_parts, part = connected_components(graph, directed=False)
    loose = np.setdiff1d(np.arange(n_parts), part[held])
    if loose.size:
        nodes = np.flatnonzero(np.isin(part, loose))
        first = np.array2string(mesh.nodes[nodes[0]], precision=4)
        given = Shown(f"{nodes.size} nodes that nothing holds, the first at {first} m")
        raise file_error(spec, "fixed", given, "a fixed or attached box in each connected part of the mesh")


def _of_order(mesh: TetMesh, order: int) -> TetMesh:
    if mesh.order == order:
        return mesh
    return quadratic(mesh) if order == 2 else linear(mesh)


def _span(mesh: TetMesh) -> str:
    corners = (mesh.nodes.min(axis=0), mesh.nodes.max(axis=0))
    return " to ".join(np.array2string(corner, precision=4, suppress_small=True) for corner in corners) + " m"
