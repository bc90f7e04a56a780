"""What is worth saying of a robot that its file alone does not show."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.condensed.source import FemModel
from pliant.errors import PliantError
from pliant.fem import State
from pliant.geometry.mesh import mesh_quality
from pliant.plant import Plant, PlantParameters
from pliant.robot import Robot
from pliant.robot_file import mesh_folder
from pliant.robot_mesh import held_nodes, mesh_diagonal, outside_distances

Array = NDArray[np.float64]

OK, NOTE, WARNING = "ok", "note", "warning"
POOR_QUALITY = 0.05
OUTSIDE_M, OUTSIDE_SHARE = 2e-3, 0.02
USUAL_YOUNG_PA = (1e3, 1e10)
USUAL_DENSITY_KG_M3 = (50.0, 8e3)
USUAL_SIZE_M = (0.01, 3.0)
USUAL_COURSE_SHARE = 1.0
USUAL_COURSE_RATE_M_S = 2.0
CONVERGED_PERCENT = 3.0
REACH_STEPS = 8
RATE_STEPS = 30


@dataclass(frozen=True)
class Finding:
    """One line of a check: a level ("ok", "note" or "warning"), what it is about, and what was found."""

    level: str
    subject: str
    text: str


def check_robot(robot: Robot) -> Iterator[Finding]:
    """Look at a robot, the cheap checks first.

    Raises:
        EquilibriumError: If it has no equilibrium at rest.
    """
    yield from _mesh(robot)
    yield from _points(robot)
    yield from _units(robot)
    plant = Plant(robot, PlantParameters())
    yield from _rest(robot, plant.sample.state)
    yield from _reach(robot, plant)
    yield from _rate(robot)


def _mesh(robot: Robot) -> Iterator[Finding]:
    mesh, quality = robot.mesh, mesh_quality(robot.mesh)
    size = " x ".join(f"{1e3 * extent:.4g}" for extent in np.ptp(mesh.nodes, axis=0))
    counts = f"{mesh.n_nodes} nodes, {mesh.n_tets} {robot.spec.element} elements ({robot.resolution})"
    yield Finding(OK, "mesh", f"{counts}, {size} mm, {1e6 * quality.volume_m3:.4g} cm3")
    edges = f"edges {1e3 * quality.shortest_edge_m:.3g} to {1e3 * quality.longest_edge_m:.3g} mm"
    shape = f"least {quality.minimum:.3f}, 5 % below {quality.percentile_5:.3f}, median {quality.median:.3f}"
    shape += f"; {edges}"
    if quality.minimum < POOR_QUALITY:
        yield Finding(WARNING, "mesh quality", f"{shape}; slivers slow convergence: remesh")
    else:
        yield Finding(OK, "mesh quality", shape)
    held = held_nodes(robot.spec, mesh)
    rigid = f", {sum(part.size for part in held.rigid)} in rigid parts" if held.rigid else ""
    yield Finding(OK, "held", f"{held.fixed.size} nodes fixed, {held.attached.size} on springs{rigid}")


def _points(robot: Robot) -> Iterator[Finding]:
    limit = min(OUTSIDE_M, OUTSIDE_SHARE * mesh_diagonal(robot.mesh))
    distances = outside_distances(robot.spec, robot.mesh)
    outside = {key: distance for key, distance in distances.items() if distance > 1e-9}
    for key, distance in outside.items():
        text = f"{1e3 * distance:.3g} mm outside the mesh; the nearest element carries it"
        yield Finding(WARNING if distance > limit else NOTE, key, text)
    if not outside:
        yield Finding(OK, "points", f"all {len(distances)} cable and effector points are on the mesh")


def _units(robot: Robot) -> Iterator[Finding]:
    spec, diagonal = robot.spec, mesh_diagonal(robot.mesh)
    odd = []
    for key, material in {
        "material": spec.material,
        **{f"regions.{n}": m for n, m in spec.regions.items()},
    }.items():
        odd += _unusual(f"{key}.young_modulus_pa", material.young_modulus_pa, USUAL_YOUNG_PA, "Pa")
        odd += _unusual(f"{key}.density_kg_m3", material.density_kg_m3, USUAL_DENSITY_KG_M3, "kg/m3")
    odd += _unusual("mesh.unit: the robot's size", diagonal, USUAL_SIZE_M, "m")
    strength = float(np.linalg.norm(spec.gravity_m_s2))
    if strength and not 1.0 < strength < 12.0:
        odd.append(Finding(WARNING, "gravity_m_s2", f"{strength:.3g} m/s2; the Earth's is 9.81"))
    for index, actuator in enumerate(spec.actuators):
        key = f"actuators[{index}]"
        odd += _unusual(f"{key}.course_m", actuator.course_m[1], (0.0, USUAL_COURSE_SHARE * diagonal), "m")
        odd += _unusual(
            f"{key}.course_rate_m_s", actuator.course_rate_m_s, (1e-4, USUAL_COURSE_RATE_M_S), "m/s"
        )
    yield from odd or [
        Finding(OK, "units", "stiffness, density, size, gravity, courses and rates look usual")
    ]


def _unusual(key: str, value: float, usual: tuple[float, float], unit: str) -> list[Finding]:
    if usual[0] <= value <= usual[1]:
        return []
    return [
        Finding(
            WARNING,
            key,
            f"{value:.4g} {unit} is unusual ({usual[0]:g} to {usual[1]:.3g}): is the unit right?",
        )
    ]


def _rest(robot: Robot, state: State) -> Iterator[Finding]:
    sag = state.effector - robot.system.effector(robot.mesh.nodes)
    for name, motion in zip(robot.effector_names, sag, strict=True):
        yield Finding(OK, "rest", f"{name} moves by {_mm(motion)} mm under gravity and pretension")
    compliance = np.diag(state.compliance)
    n_e = len(robot.effector_names)
    for index, name in enumerate(robot.effector_names):
        yield Finding(OK, "compliance", f"{name} {_mm(compliance[3 * index : 3 * index + 3])} mm/N (x, y, z)")
    actuators = ", ".join(
        f"{n} {1e3 * c:.4g}" for n, c in zip(robot.actuator_names, compliance[3 * n_e :], strict=True)
    )
    yield Finding(OK, "compliance", f"cables {actuators} mm/N")
    yield from _deviation(robot, compliance)


def _deviation(robot: Robot, compliance: Array) -> Iterator[Finding]:
    """How far this mesh's compliance at rest is from the mesh-converged one, where that is known."""
    file = mesh_folder(robot.file) / "meshes" / f"{robot.name}_reference.json"
    if not file.is_file():
        yield Finding(NOTE, "mesh error", f"unknown: no {file.name} with the mesh-converged compliance")
        return
    try:
        reference = json.loads(file.read_text())
        converged = np.array(reference["rest_compliance_m_n"], dtype=np.float64)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise PliantError(f"{file}: not a reference with a list rest_compliance_m_n ({error!r})") from error
    if converged.shape != compliance.shape:
        raise PliantError(
            f"{file}: rest_compliance_m_n has {converged.size} entries, {robot.name} {compliance.size}"
        )
    deviation = 100.0 * (compliance / converged - 1.0)
    level = OK if np.abs(deviation).max() <= CONVERGED_PERCENT else WARNING
    numbers = ", ".join(f"{value:+.1f}" for value in deviation)
    yield Finding(level, "mesh error", f"compliance off by ({numbers}) % of the mesh-converged one")
    for resolution, mesh in reference.get("meshes", {}).items():
        if resolution in robot.spec.mesh.files and resolution != robot.resolution:
            largest = max(mesh["rest_deviation_percent"], key=abs)
            yield Finding(
                NOTE, "mesh error", f"the {resolution} mesh, {mesh['nodes']} nodes: {largest:+.1f} % at most"
            )


def _reach(robot: Robot, plant: Plant) -> Iterator[Finding]:
    """Box of the effector over each actuator alone, neighbours in pairs, and all together."""
    limits, n_a = plant.robot.limits, len(robot.actuator_names)
    full = np.where(robot.length_driven, limits.course_max, limits.effort_max)
    start = plant.sample.position
    groups = (
        [[i] for i in range(n_a)]
        + [[i, (i + 1) % n_a] for i in range(n_a if n_a > 2 else 0)]
        + [list(range(n_a))]
    )
    seen, stopped = [plant.sample.effector], []
    for group in groups:
        pull = np.zeros(n_a)
        pull[group] = full[group]
        for fraction in np.linspace(0.0, 1.0, REACH_STEPS + 1)[1:]:
            sample = plant.step(np.maximum(fraction * pull, start), dt=1e3)
            if sample.fault is not None:
                names = ", ".join(robot.actuator_names[i] for i in group)
                stopped.append(f"{names} at {100 * fraction:.0f} % of the course: {sample.fault}")
                break
            seen.append(sample.effector)
        plant.release()
    box = np.ptp(np.array(seen), axis=0)
    for name, extent in zip(robot.effector_names, box, strict=True):
        yield Finding(OK, "reach", f"{name} over a box of {_mm(extent)} mm")
    yield from (Finding(WARNING, "reach", f"no equilibrium with {text}") for text in stopped)


def _rate(robot: Robot) -> Iterator[Finding]:
    """Median time of a control step's model: one equilibrium after a small command, condensed."""
    plant, model = Plant(robot, PlantParameters()), FemModel(robot)
    limits = robot.limits
    full = np.where(robot.length_driven, limits.course_max, limits.effort_max)
    seconds, steps = [], []
    for number in range(RATE_STEPS):
        sample = plant.step(0.01 * number * full, dt=1e3)
        if sample.fault is not None:
            break
        start = time.perf_counter()
        model(sample)
        seconds.append(time.perf_counter() - start)
        steps.append(model.state.newton_steps)
    if seconds:
        rate, newton = 1.0 / float(np.median(seconds)), float(np.mean(steps))
        yield Finding(
            OK, "rate", f"{rate:.0f} condensed models a second here, {newton:.1f} Newton steps each"
        )


def _mm(values: Array) -> str:
    return "(" + ", ".join(f"{1e3 * value:.4g}" for value in values) + ")"
