"""A robot file becomes the system that it describes, in SI units and with a hash of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import meshio
import numpy as np
import pytest
import yaml
from block import block_mesh, block_robot, write_robot

from pliant.errors import PliantError, RobotFileError
from pliant.fem import solve_equilibrium
from pliant.robot import load_robot, start_state
from pliant.robot_mesh import held_nodes, outside_distances

SAME_SHAPE_M = 1e-9  # two routes to one equilibrium, each solved to about 1e-10 m


def changed(**keys: Any) -> dict[str, Any]:
    return block_robot() | keys


def test_the_system_is_what_the_file_says(block_file: Path) -> None:
    robot = load_robot(block_file)
    assert robot.actuator_names == ("east", "west")
    assert robot.effector_names == ("tip",)
    assert robot.length_driven.tolist() == [True, True]
    assert robot.limits.course_max.tolist() == [0.01, 0.01]
    assert robot.limits.effort_rate.tolist() == [50.0, 50.0]
    assert robot.mesh.order == 2
    assert robot.system.effector(robot.mesh.nodes)[0] == pytest.approx([0.0, 0.0, 0.08])


def test_resolution_element_and_stiffness_can_be_chosen(block_file: Path) -> None:
    robot = load_robot(block_file)
    fine = load_robot(block_file, resolution="fine", element="tet4")
    soft = load_robot(block_file, young_scale=0.5)
    assert fine.mesh.order == 1
    assert (fine.mesh.nodes.shape[0], fine.resolution) == (81, "fine")
    assert soft.system.body.mu == pytest.approx(0.5 * robot.system.body.mu)
    with pytest.raises(RobotFileError, match=r"mesh\.resolution"):
        load_robot(block_file, resolution="finest")
    with pytest.raises(RobotFileError, match="element"):
        load_robot(block_file, element="hex8")
    with pytest.raises(PliantError, match="young_scale"):
        load_robot(block_file, young_scale=-1.0)


@pytest.mark.parametrize(("unit", "length_m"), [("m", 1.0), ("cm", 0.01), ("mm", 0.001), ("in", 0.0254)])
def test_one_robot_in_any_unit_of_its_mesh(tmp_path: Path, unit: str, length_m: float) -> None:
    reference = load_robot(write_robot(tmp_path, block_robot()))
    content = block_robot()
    content["mesh"]["unit"] = unit
    file = write_robot(tmp_path, content)
    mesh = block_mesh()
    meshio.Mesh(mesh.points / length_m, mesh.cells).write(tmp_path / "block.vtu")
    robot = load_robot(file)
    assert robot.mesh.nodes == pytest.approx(reference.mesh.nodes, abs=1e-12)
    assert start_state(robot).effector == pytest.approx(start_state(reference).effector, abs=SAME_SHAPE_M)


def test_rotation_and_translation_place_the_mesh(tmp_path: Path) -> None:
    content = block_robot()
    content["mesh"] |= {"rotation_deg": [90, 0, 0], "translation_m": [0, 0.08, 0.0]}
    file = write_robot(tmp_path, content)
    points = block_mesh().points @ np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]])  # x, z, -y of the base frame
    lying = meshio.Mesh(points - np.array([0.0, 0.0, -0.08]), block_mesh().cells)
    lying.write(tmp_path / "block.vtu")
    nodes = load_robot(file).mesh.nodes
    assert nodes.max(axis=0) - nodes.min(axis=0) == pytest.approx([0.02, 0.02, 0.08])


def test_hash_is_of_content_not_of_looks(tmp_path: Path) -> None:
    first = load_robot(write_robot(tmp_path, block_robot()))
    file = tmp_path / "block.yaml"
    file.write_text(
        "# a comment\n" + yaml.safe_dump(block_robot() | {"description": "Another."}, sort_keys=True)
    )
    again = load_robot(file)
    assert again.hash == first.hash
    assert len(first.hash) == 64


@pytest.mark.parametrize(
    "change",
    [
        {"gravity_m_s2": [0, 0, 0]},
        {"element": "tet10"},
        {"name": "brick"},
        {"effectors": [{"name": "tip", "point_m": [0, 0, 0.0799]}]},
    ],
    ids=str,
)
def test_hash_changes_with_content(tmp_path: Path, change: dict[str, Any]) -> None:
    first = load_robot(write_robot(tmp_path, block_robot()))
    assert load_robot(write_robot(tmp_path, changed(**change))).hash != first.hash


def test_hash_changes_with_the_mesh_and_the_options(block_file: Path) -> None:
    robots = [load_robot(block_file), load_robot(block_file, resolution="fine")]
    robots.append(load_robot(block_file, young_scale=0.8))
    block_mesh(nz=5).write(block_file.with_name("block.vtu"))
    robots.append(load_robot(block_file))
    assert len({robot.hash for robot in robots}) == len(robots)


def test_springs_and_rigid_parts(tmp_path: Path) -> None:
    top = [[-1, -1, 0.0799], [1, 1, 1]]
    middle = {"box_m": [[-1, -1, 0.0399], [1, 1, 0.0401]], "stiffness_n_m": 1e4}
    robot = load_robot(write_robot(tmp_path, changed(rigid=[{"box_m": top}], attached=[middle])))
    held = held_nodes(robot.spec, robot.mesh)
    assert held.stiffness.tolist() == [1e4] * held.attached.size
    state = start_state(robot)
    pulled = solve_equilibrium(
        robot.system, state, command=np.array([0.001, 0.0]), length_driven=robot.length_driven
    )
    part = held.rigid[0]
    before, after = state.x[part], pulled.x[part]
    distances = [np.linalg.norm(x[:, None] - x[None], axis=2) for x in (before, after)]
    assert distances[1] == pytest.approx(distances[0], abs=1e-9)
    assert not np.allclose(before, after, atol=1e-5)


def test_regions_have_materials_of_their_own(tmp_path: Path) -> None:
    stiff = block_robot()["material"] | {"young_modulus_pa": 2e6}
    file = write_robot(tmp_path, changed(regions={2: stiff}))
    mesh = block_mesh()
    region = np.where(mesh.points[mesh.cells_dict["tetra"]].mean(axis=1)[:, 2] > 0.04, 2, 1)
    meshio.Mesh(mesh.points, mesh.cells, cell_data={"region": [region]}).write(tmp_path / "block.vtu")
    mu = load_robot(file).system.body.mu
    assert np.unique(mu) == pytest.approx(np.array([2e5, 2e6]) / 2.9)


def test_points_a_little_outside_are_carried_by_the_mesh(tmp_path: Path) -> None:
    robot = load_robot(write_robot(tmp_path, changed(effectors=[{"name": "tip", "point_m": [0, 0, 0.081]}])))
    assert outside_distances(robot.spec, robot.mesh)["effectors[0].point_m"] == pytest.approx(0.001)
    assert robot.system.effector(robot.mesh.nodes)[0] == pytest.approx([0, 0, 0.081])


def test_the_start_has_the_pretension(tmp_path: Path) -> None:
    content = block_robot()
    for actuator in content["actuators"]:
        actuator["pretension_n"] = 0.5
    state = start_state(load_robot(write_robot(tmp_path, content)))
    assert state.effort == pytest.approx([0.5, 0.5])


def test_a_course_shorter_than_the_pretension_needs_is_refused(tmp_path: Path) -> None:
    content = block_robot()
    for actuator in content["actuators"]:
        actuator |= {"pretension_n": 1.0, "course_m": [0.0, 1e-4]}
    robot = load_robot(write_robot(tmp_path, content))
    with pytest.raises(RobotFileError, match=r"actuators\[0\]\.course_m.*what the pretension pulls"):
        start_state(robot)
