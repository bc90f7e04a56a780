"""A soft robot's file becomes objects: its mesh, its finite-element system, its limits."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pliant.config_file import Entry
from pliant.errors import EquilibriumError, MeshError, PliantError
from pliant.fem import (
    ACTUATORS,
    Body,
    Material,
    State,
    System,
    make_body,
    make_system,
    rest,
    solve_equilibrium,
)
from pliant.geometry.mesh import TetMesh, embed
from pliant.limits import ActuatorLimits
from pliant.robot_file import ELEMENTS, MaterialSpec, RobotSpec, read_robot_file
from pliant.robot_listing import robot_path, robots_in, shipped_robots
from pliant.robot_mesh import HeldNodes, file_error, held_nodes, refuse_far_points, robot_mesh

Array = NDArray[np.float64]

__all__ = [
    "Robot",
    "build_robot",
    "limits_of",
    "load_robot",
    "robot_hash",
    "robots_in",
    "shipped_robots",
    "start_state",
]


@dataclass(frozen=True)
class Robot:
    """A soft robot, ready to be computed.

    Attributes:
        name: Its name.
        hash: SHA-256 of what its file says and of its mesh file.
        file: The robot file.
        spec: What the file says.
        resolution: The mesh resolution in use.
        mesh: Its mesh in the base frame, of the element's order.
        system: Its finite-element system.
        actuator_names: Names, length n_a.
        effector_names: Names, length n_e.
        limits: Limits of the actuators.
        length_driven: Whether an actuator is commanded by its length, shape (n_a,).
        pretension: Effort at rest [N], shape (n_a,).
    """

    name: str
    hash: str
    file: Path
    spec: RobotSpec
    resolution: str
    mesh: TetMesh
    system: System
    actuator_names: tuple[str, ...]
    effector_names: tuple[str, ...]
    limits: ActuatorLimits
    length_driven: NDArray[np.bool_]
    pretension: Array


def load_robot(
    name_or_path: str | Path,
    *,
    resolution: str | None = None,
    element: str | None = None,
    young_scale: float = 1.0,
) -> Robot:
    """Load a robot by its file, or a shipped one by its name.

    Args:
        name_or_path: A path (with a separator or an ending), or a name of `shipped_robots`.
        resolution: Mesh resolution; the file's default if None.
        element: Element; the file's if None.
        young_scale: Factor on every Young's modulus.

    Raises:
        RobotFileError: If the file or its mesh cannot become a robot.
    """
    spec = read_robot_file(robot_path(name_or_path))
    if element is not None:
        Entry(spec.file, "element", element).text(choices=ELEMENTS)
        spec = replace(spec, element=element)
    if young_scale != 1.0:
        spec = _scaled(spec, young_scale)
    resolution = spec.mesh.resolution if resolution is None else resolution
    if resolution not in spec.mesh.files:
        Entry(spec.file, "mesh.resolution", resolution).text(choices=tuple(spec.mesh.files))
    return build_robot(spec, resolution)


def build_robot(spec: RobotSpec, resolution: str) -> Robot:
    """The robot of a specification on the mesh of one resolution.

    Raises:
        RobotFileError: If the mesh does not fit the specification.
    """
    mesh = robot_mesh(spec, resolution)
    body = _body(spec, mesh, held_nodes(spec, mesh), resolution)
    refuse_far_points(spec, mesh)
    actuators = [
        ACTUATORS[a.type](mesh, a.name, np.array(a.pull_point_m), np.array(a.via_points_m))
        for a in spec.actuators
    ]
    effectors = embed(mesh, np.array([effector.point_m for effector in spec.effectors]))
    return Robot(
        name=spec.name,
        hash=robot_hash(spec, resolution),
        file=spec.file,
        spec=spec,
        resolution=resolution,
        mesh=mesh,
        system=make_system(body, actuators, effectors, np.array(spec.gravity_m_s2)),
        actuator_names=tuple(actuator.name for actuator in spec.actuators),
        effector_names=tuple(effector.name for effector in spec.effectors),
        limits=limits_of(spec),
        length_driven=np.array([actuator.command == "length" for actuator in spec.actuators]),
        pretension=np.array([actuator.pretension_n for actuator in spec.actuators]),
    )


def start_state(robot: Robot) -> State:
    """Equilibrium under gravity and the pretension: where a robot starts and is safe.

    Raises:
        EquilibriumError: If there is none.
        RobotFileError: If the pretension needs more course than an actuator has.
    """
    try:
        state = rest(robot.system)
    except EquilibriumError as error:
        hint = "are young_modulus_pa, density_kg_m3, gravity_m_s2 and mesh.unit right?"
        raise type(error)(
            f"{robot.file}: the robot cannot carry its own weight; {hint} ({error})", error.state
        ) from None
    if not robot.pretension.any():
        return state
    tension_driven = np.zeros(len(robot.actuator_names), dtype=bool)
    state = solve_equilibrium(robot.system, state, command=robot.pretension, length_driven=tension_driven)
    for index, course in enumerate(state.course):
        if course > robot.limits.course_max[index]:
            allowed = f"a maximum of at least {course:.4g} m, what the pretension pulls"
            given = list(robot.spec.actuators[index].course_m)
            raise file_error(robot.spec, f"actuators[{index}].course_m", given, allowed)
    return state


def limits_of(spec: RobotSpec) -> ActuatorLimits:
    """The limits that a robot file gives its actuators."""
    actuators = spec.actuators
    return ActuatorLimits(
        effort_min=np.array([a.effort_n[0] for a in actuators]),
        effort_max=np.array([a.effort_n[1] for a in actuators]),
        course_min=np.array([a.course_m[0] for a in actuators]),
        course_max=np.array([a.course_m[1] for a in actuators]),
        effort_rate=np.array([a.effort_rate_n_s for a in actuators]),
        course_rate=np.array([a.course_rate_m_s for a in actuators]),
    )


def robot_hash(spec: RobotSpec, resolution: str) -> str:
    """SHA-256 of what the file says, in a canonical order, and of the mesh file's bytes.

    Comments, key order and number style of the YAML do not matter, nor do the description,
    the mesh's path and the path to try.
    """
    content = asdict(spec)
    for key in ("file", "description", "path"):
        del content[key]
    for key in ("files", "resolution"):
        del content["mesh"][key]
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode())
    digest.update(spec.mesh.files[resolution].read_bytes())
    return digest.hexdigest()


def _scaled(spec: RobotSpec, young_scale: float) -> RobotSpec:
    if not 1e-3 <= young_scale <= 1e3:
        raise PliantError(f"young_scale is {young_scale!r}; allowed: 0.001 to 1000")

    def scaled(material: MaterialSpec) -> MaterialSpec:
        return replace(material, young_modulus_pa=material.young_modulus_pa * young_scale)

    regions = {number: scaled(material) for number, material in spec.regions.items()}
    return replace(spec, material=scaled(spec.material), regions=regions)


def _body(spec: RobotSpec, mesh: TetMesh, held: HeldNodes, resolution: str) -> Body:
    used = {int(number): spec.regions.get(int(number), spec.material) for number in np.unique(mesh.region)}
    try:
        return make_body(
            mesh,
            {number: _fem_material(material) for number, material in used.items()},
            element=spec.element,
            fixed=held.fixed,
            attached=held.attached,
            attachment_stiffness=held.stiffness,
            rigid=held.rigid,
        )
    except MeshError as reason:
        file = str(spec.mesh.files[resolution])
        raise file_error(
            spec, f"mesh.files.{resolution}", file, f"elements that compute; {reason}"
        ) from reason


def _fem_material(spec: MaterialSpec) -> Material:
    return Material(spec.model, spec.young_modulus_pa, spec.poisson_ratio, spec.density_kg_m3)
