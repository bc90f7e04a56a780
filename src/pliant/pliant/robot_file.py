"""The schema of a soft robot's file: what a robot is, checked value by value.

SI units; every key carries its unit. The frame is the mesh's, after its rotation and
translation. Nothing here opens a mesh: `pliant.robot` makes the objects.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from pliant.config_file import NAME, Entry, Shown, read_yaml, unique
from pliant.geometry.mesh import UNITS_M

Point = tuple[float, ...]
Box = tuple[Point, Point]

ELEMENTS = ("tet10_mean", "tet10", "tet4")
MATERIALS = ("neo_hookean", "st_venant_kirchhoff", "corotational")
ACTUATOR_TYPES = ("cable",)
COMMANDS = ("length", "tension")
FARTHEST_M = 1e3
SHORTEST_M = 1e-6


@dataclass(frozen=True)
class MeshSpec:
    """Mesh files by resolution, and their place in the base frame.

    Attributes:
        unit: Unit of the files, a key of `pliant.geometry.mesh.UNITS_M`.
        resolution: The default one.
        files: Path of each resolution.
        rotation_deg: Rotation about the fixed axes x, then y, then z [deg].
        translation_m: Translation after the rotation [m].
    """

    unit: str
    resolution: str
    files: dict[str, Path]
    rotation_deg: Point = (0.0, 0.0, 0.0)
    translation_m: Point = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class MaterialSpec:
    """One material: model, Young's modulus [Pa], Poisson's ratio, density [kg/m3]."""

    model: str
    young_modulus_pa: float
    poisson_ratio: float
    density_kg_m3: float


@dataclass(frozen=True)
class RegionSpec:
    """The nodes in a box (minimum, maximum corner) [m], and the springs that hold each [N/m]."""

    box_m: Box
    stiffness_n_m: float = 0.0


@dataclass(frozen=True)
class ActuatorSpec:
    """One cable: where it runs and what its winch can do.

    Attributes:
        name: Its name, one of its own.
        type: Kind of actuator.
        command: "length" or "tension".
        pull_point_m: Where the winch pulls, fixed in the base frame [m].
        via_points_m: Points on the robot that it runs through, the last one its end [m].
        course_m: Least and greatest pulled length [m].
        effort_n: Least and greatest tension [N].
        course_rate_m_s: Greatest speed of the course [m/s].
        effort_rate_n_s: Greatest rate of the tension [N/s].
        pretension_n: Tension at rest [N].
    """

    name: str
    type: str
    command: str
    pull_point_m: Point
    via_points_m: tuple[Point, ...]
    course_m: Point
    effort_n: Point
    course_rate_m_s: float
    effort_rate_n_s: float
    pretension_n: float


@dataclass(frozen=True)
class EffectorSpec:
    """One controlled point of the robot [m, undeformed]."""

    name: str
    point_m: Point


@dataclass(frozen=True)
class PathSpec:
    """A circle within reach, to try a robot on: centre [m], radius [m], normal of its plane."""

    center_m: Point
    radius_m: float
    normal: Point = (0.0, 0.0, 1.0)


@dataclass(frozen=True)
class RobotSpec:
    """What a robot file says."""

    file: Path = field(compare=False)
    name: str
    description: str
    mesh: MeshSpec
    element: str
    material: MaterialSpec
    regions: dict[int, MaterialSpec]
    gravity_m_s2: Point
    fixed: tuple[RegionSpec, ...]
    attached: tuple[RegionSpec, ...]
    rigid: tuple[RegionSpec, ...]
    actuators: tuple[ActuatorSpec, ...]
    effectors: tuple[EffectorSpec, ...]
    path: PathSpec | None


def read_robot_file(path: str | Path) -> RobotSpec:
    """Read and check one robot file.

    Raises:
        RobotFileError: On the first thing that is wrong, with its key and what is allowed.
    """
    root = read_yaml(path)
    kind = root.contents.get("kind")
    if kind != "soft":
        raise root.below("kind", kind).error("'soft' (the kind of robot that this schema describes)")
    top = root.mapping(
        ("kind", "name", "mesh", "material", "fixed", "actuators", "effectors"),
        ("description", "element", "regions", "gravity_m_s2", "attached", "rigid", "path"),
    )
    actuators = tuple(_actuator(entry) for entry in top["actuators"].entries())
    effectors = tuple(_effector(entry) for entry in top["effectors"].entries())
    unique(top["actuators"], [actuator.name for actuator in actuators])
    unique(top["effectors"], [effector.name for effector in effectors])
    return RobotSpec(
        file=Path(path),
        name=top["name"].text(NAME),
        description=top["description"].text() if "description" in top else "",
        mesh=_mesh(top["mesh"]),
        element=top["element"].text(choices=ELEMENTS) if "element" in top else ELEMENTS[0],
        material=_material(top["material"]),
        regions={n: _material(entry) for n, entry in top["regions"].numbered().items()}
        if "regions" in top
        else {},
        gravity_m_s2=top["gravity_m_s2"].vector(3, -100, 100, "m/s2")
        if "gravity_m_s2" in top
        else (0.0, 0.0, -9.81),
        fixed=_boxes(top["fixed"], _region),
        attached=_boxes(top["attached"], _attached) if "attached" in top else (),
        rigid=_boxes(top["rigid"], _region) if "rigid" in top else (),
        actuators=actuators,
        effectors=effectors,
        path=_path(top["path"]) if "path" in top else None,
    )


def mesh_folder(file: Path) -> Path:
    """Folder that the paths of a robot file's meshes start from.

    `urdf/` for a file in `config/robots/` beside it (the shipped layout), else the file's own folder.
    """
    shared = file.parent.parent.parent / "urdf"
    shipped = file.parent.name == "robots" and file.parent.parent.name == "config" and shared.is_dir()
    return shared if shipped else file.parent


def _mesh(entry: Entry) -> MeshSpec:
    keys = entry.mapping((), ("unit", "resolution", "files", "file", "rotation_deg", "translation_m"))
    if ("file" in keys) == ("files" in keys):
        both = Shown("both" if "file" in keys else "nothing")
        raise entry.below("files", None).error("either file: PATH or files: {resolution: PATH, ...}", both)
    files = keys["files"].named() if "files" in keys else {"default": keys["file"]}
    folder = mesh_folder(entry.file)
    first = next(iter(files))
    return MeshSpec(
        unit=keys["unit"].text(choices=tuple(UNITS_M)) if "unit" in keys else "m",
        resolution=keys["resolution"].text(choices=tuple(files)) if "resolution" in keys else first,
        files={name: folder / file.text() for name, file in files.items()},
        rotation_deg=keys["rotation_deg"].vector(3, -360, 360, "deg")
        if "rotation_deg" in keys
        else (0.0,) * 3,
        translation_m=_point(keys["translation_m"]) if "translation_m" in keys else (0.0,) * 3,
    )


def _material(entry: Entry) -> MaterialSpec:
    keys = entry.mapping(("young_modulus_pa", "poisson_ratio", "density_kg_m3"), ("model",))
    return MaterialSpec(
        model=keys["model"].text(choices=MATERIALS) if "model" in keys else MATERIALS[0],
        young_modulus_pa=keys["young_modulus_pa"].number(1.0, 1e12, "Pa"),
        poisson_ratio=keys["poisson_ratio"].number(-0.9, 0.499, ""),
        density_kg_m3=keys["density_kg_m3"].number(5.0, 25e3, "kg/m3"),
    )


def _boxes(entry: Entry, read: Callable[[Entry], RegionSpec]) -> tuple[RegionSpec, ...]:
    return tuple(read(item) for item in entry.entries())


def _region(entry: Entry) -> RegionSpec:
    return RegionSpec(_box(entry.mapping(("box_m",))["box_m"]))


def _attached(entry: Entry) -> RegionSpec:
    keys = entry.mapping(("box_m", "stiffness_n_m"))
    return RegionSpec(_box(keys["box_m"]), keys["stiffness_n_m"].number(1e-3, 1e12, "N/m"))


def _box(entry: Entry) -> Box:
    if not isinstance(entry.value, list) or len(entry.value) != 2:
        raise entry.error("[[x, y, z] minimum, [x, y, z] maximum] in m")
    low, high = (_point(corner) for corner in entry.entries())
    if not all(a <= b for a, b in zip(low, high, strict=True)):
        raise entry.error("[minimum, maximum] with each minimum <= its maximum")
    return low, high


def _actuator(entry: Entry) -> ActuatorSpec:
    keys = entry.mapping(
        (
            *("name", "type", "pull_point_m", "via_points_m", "course_m", "effort_n"),
            *("course_rate_m_s", "effort_rate_n_s"),
        ),
        ("command", "pretension_n"),
    )
    course = keys["course_m"].interval(-FARTHEST_M, FARTHEST_M, "m")
    effort = keys["effort_n"].interval(0.0, 1e6, "N")
    if not course[0] <= 0.0 <= course[1]:
        raise keys["course_m"].error("[minimum, maximum] around 0, the course of the undeformed robot")
    points = _distinct(keys["pull_point_m"], keys["via_points_m"])
    pretension = keys["pretension_n"].number(0.0, 1e6, "N") if "pretension_n" in keys else 0.0
    if not pretension <= effort[1]:
        raise keys["effort_n"].error(f"a maximum of at least the pretension, {pretension:g} N")
    return ActuatorSpec(
        name=keys["name"].text(NAME),
        type=keys["type"].text(choices=ACTUATOR_TYPES),
        command=keys["command"].text(choices=COMMANDS) if "command" in keys else COMMANDS[0],
        pull_point_m=points[0],
        via_points_m=points[1:],
        course_m=course,
        effort_n=effort,
        course_rate_m_s=keys["course_rate_m_s"].number(1e-6, 1e3, "m/s"),
        effort_rate_n_s=keys["effort_rate_n_s"].number(1e-6, 1e9, "N/s"),
        pretension_n=pretension,
    )


def _distinct(pull_point: Entry, via_points: Entry) -> tuple[Point, ...]:
    entries = [pull_point, *via_points.entries()]
    points = [_point(entry) for entry in entries]
    for entry, point, before in zip(entries[1:], points[1:], points, strict=False):
        if math.dist(point, before) < SHORTEST_M:
            raise entry.error(f"a point at least {SHORTEST_M:g} m from the one before it")
    return tuple(points)


def _effector(entry: Entry) -> EffectorSpec:
    keys = entry.mapping(("name", "point_m"))
    return EffectorSpec(keys["name"].text(NAME), _point(keys["point_m"]))


def _path(entry: Entry) -> PathSpec:
    keys = entry.mapping(("center_m", "radius_m"), ("normal",))
    radius = keys["radius_m"].number(1e-6, FARTHEST_M, "m")
    normal = keys["normal"].vector(3, -1.0, 1.0, "any length") if "normal" in keys else (0.0, 0.0, 1.0)
    if not any(normal):
        raise keys["normal"].error("a direction, not zero")
    return PathSpec(_point(keys["center_m"]), radius, normal)


def _point(entry: Entry) -> Point:
    return entry.vector(3, -FARTHEST_M, FARTHEST_M, "m")
