"""What a valid robot file says comes through, whatever the YAML looks like."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from block import block_robot, write_robot

from pliant import fem, robot_file
from pliant.errors import RobotFileError
from pliant.robot_file import mesh_folder, read_robot_file


def test_every_value_comes_through(block_file: Path) -> None:
    spec, content = read_robot_file(block_file), block_robot()
    assert (spec.name, spec.description, spec.element) == ("block", content["description"], "tet10_mean")
    assert spec.material.young_modulus_pa == 2e5
    assert spec.gravity_m_s2 == (0.0, 0.0, -9.81)
    assert spec.mesh.files["fine"] == block_file.with_name("block_fine.vtu")
    assert [actuator.name for actuator in spec.actuators] == ["east", "west"]
    assert spec.actuators[1].via_points_m == ((-0.01, 0.0, 0.04), (-0.01, 0.0, 0.08))
    assert spec.actuators[0].course_m == (0.0, 0.01)
    assert spec.effectors[0].point_m == (0.0, 0.0, 0.08)
    assert spec.path is None


def test_the_schema_knows_every_element_law_and_actuator_of_the_fem() -> None:
    assert set(robot_file.ELEMENTS) == set(fem.ELEMENTS)
    assert robot_file.ELEMENTS[0] == fem.DEFAULT_ELEMENT
    assert set(robot_file.MATERIALS) == set(fem.LAWS)
    assert set(robot_file.ACTUATOR_TYPES) == set(fem.ACTUATORS)


def test_what_may_be_left_out(tmp_path: Path) -> None:
    content = block_robot()
    for key in ("description", "element", "gravity_m_s2"):
        del content[key]
    content["mesh"] = {"file": "block.vtu"}
    for actuator in content["actuators"]:
        del actuator["command"], actuator["pretension_n"]
    spec = read_robot_file(write_robot(tmp_path, content))
    assert spec.element == "tet10_mean"
    assert spec.gravity_m_s2 == (0.0, 0.0, -9.81)
    assert (spec.mesh.unit, spec.mesh.resolution) == ("m", "default")
    assert [actuator.command for actuator in spec.actuators] == ["length", "length"]


def test_numbers_are_those_of_yaml_1_2(tmp_path: Path) -> None:
    file = write_robot(tmp_path, block_robot())
    text = file.read_text().replace("young_modulus_pa: 200000.0", "young_modulus_pa: 2e5")
    file.write_text(text.replace("name: east", "name: on"))
    spec = read_robot_file(file)
    assert spec.material.young_modulus_pa == 2e5  # YAML 1.1 reads 2e5 as text
    assert spec.actuators[0].name == "on"  # and on as true


def test_anchors_and_merges(tmp_path: Path) -> None:
    content = block_robot()
    cables = content.pop("actuators")
    file = write_robot(tmp_path, content)
    first = yaml.safe_dump(cables[0], default_flow_style=True, width=1000).strip()
    second = "{<<: *east, name: west, pull_point_m: [-0.01, 0, 0], via_points_m: [[-0.01, 0, 0.08]]}"
    file.write_text(file.read_text() + f"actuators:\n- &east {first}\n- {second}\n")
    spec = read_robot_file(file)
    assert spec.actuators[1].name == "west"
    assert spec.actuators[1].effort_n == spec.actuators[0].effort_n


def test_a_path_to_try(tmp_path: Path) -> None:
    content = block_robot() | {"path": {"center_m": [0, 0, 0.078], "radius_m": 0.005}}
    spec = read_robot_file(write_robot(tmp_path, content))
    assert spec.path is not None
    assert (spec.path.radius_m, spec.path.normal) == (0.005, (0.0, 0.0, 1.0))


@pytest.mark.parametrize("typo", ["youngs_modulus_pa", "Young_modulus_pa", "young_modulus"])
def test_did_you_mean(tmp_path: Path, typo: str) -> None:
    content = block_robot()
    content["material"][typo] = content["material"].pop("young_modulus_pa")
    with pytest.raises(RobotFileError, match="did you mean 'young_modulus_pa'"):
        read_robot_file(write_robot(tmp_path, content))


def test_meshes_of_shipped_robots_start_from_urdf(tmp_path: Path) -> None:
    robots = tmp_path / "config" / "robots"
    robots.mkdir(parents=True)
    assert mesh_folder(robots / "block.yaml") == robots
    (tmp_path / "urdf").mkdir()
    assert mesh_folder(robots / "block.yaml") == tmp_path / "urdf"
