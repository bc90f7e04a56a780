"""ROS parameters are what their dataclasses say, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

pytest.importorskip("rclpy", reason="needs ROS 2")
pytest.importorskip("pliant_msgs", reason="needs the built message package: ./dev build")

import rclpy
from rclpy.node import Node
from rclpy.parameter import Parameter

from pliant.control import InverseParameters
from pliant.control.follow import FollowParameters
from pliant.errors import PliantError
from pliant.parameters import from_mapping
from pliant_nodes.condensed_model import ModelParameters
from pliant_nodes.fem_simulator import SimulatorParameters
from pliant_nodes.inverse_controller import ControllerParameters
from pliant_nodes.parameters import NodeParameters
from pliant_nodes.record import RecorderParameters
from pliant_nodes.safety import SafetyParameters

ROOT = Path(__file__).parents[3]
SCHEMAS: dict[str, dict[str, Any]] = {
    "fem_simulator": {"": SimulatorParameters, "safety": SafetyParameters},
    "condensed_model": {"": ModelParameters},
    "inverse_controller": {
        "": ControllerParameters,
        "inverse": InverseParameters,
        "follow": FollowParameters,
    },
    "record": {"": RecorderParameters},
}


@pytest.fixture(scope="module", autouse=True)
def ros() -> Iterator[None]:
    rclpy.init(domain_id=102)
    yield
    rclpy.try_shutdown()


def node_with(**given: Any) -> tuple[Node, NodeParameters]:
    overrides = [Parameter(name.replace("__", "."), value=value) for name, value in given.items()]
    node = Node("n", parameter_overrides=overrides, automatically_declare_parameters_from_overrides=True)
    return node, NodeParameters(node)


def test_parameters_come_from_the_dataclass_with_unit_and_range() -> None:
    node, parameters = node_with(safety__hold=3.0)
    options = parameters.declare(SafetyParameters, prefix="safety")
    assert options == SafetyParameters(hold=3.0)
    assert node.get_parameter("safety.hold").value == 3.0
    descriptor = node.describe_parameter("safety.command_timeout")
    assert descriptor.description.endswith("[s]")
    assert descriptor.floating_point_range[0].from_value == 0.01
    assert descriptor.read_only
    (answer,) = node.set_parameters([Parameter("safety.hold", value=4.0)])
    assert not answer.successful
    node.destroy_node()


def test_a_whole_number_is_a_real_one() -> None:
    node, parameters = node_with(rate=50)
    assert parameters.declare(SimulatorParameters).rate == 50.0
    node.destroy_node()


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"rate": 1e6}, ("rate", "1000000.0", "1.0 to 1000.0 Hz")),
        ({"rate": "fast"}, ("rate", "'fast'", "float")),
        ({"rate": float("nan")}, ("rate", "nan")),
        ({"lockstep": 1}, ("lockstep", "1", "bool")),
        ({"plant": 7}, ("plant", "7", "str")),
    ],
)
def test_wrong_values_are_refused_with_what_is_allowed(given: dict[str, Any], named: tuple[str, ...]) -> None:
    node, parameters = node_with(**given)
    with pytest.raises(PliantError) as error:
        parameters.declare(SimulatorParameters)
    for word in named:
        assert word in str(error.value)
    node.destroy_node()


def test_unknown_parameters_are_refused() -> None:
    node, parameters = node_with(ratte=50.0)
    parameters.declare(SimulatorParameters)
    with pytest.raises(PliantError, match="ratte"):
        parameters.refuse_unknown()
    node.destroy_node()


def test_lists_of_names() -> None:
    node, parameters = node_with(robots=["left", "right"])
    assert parameters.declare_names("robots", "Names.") == ("left", "right")
    assert parameters.declare_names("files", "Files.") == ()
    parameters.refuse_unknown()
    node.destroy_node()
    node, parameters = node_with(robots="left")
    with pytest.raises(PliantError, match="a list of names"):
        parameters.declare_names("robots", "Names.")
    node.destroy_node()


@pytest.mark.parametrize("file", sorted((ROOT / "config/nodes").glob("*.yaml")), ids=lambda file: file.stem)
def test_every_shipped_file_builds_its_dataclasses(file: Path) -> None:
    values = yaml.safe_load(file.read_text())["/**"]["ros__parameters"]
    schemas = SCHEMAS[file.stem]
    for prefix, cls in schemas.items():
        own = values.get(prefix, {}) if prefix else {k: v for k, v in values.items() if k not in schemas}
        from_mapping(cls, own, source=str(file))
        with pytest.raises(PliantError, match="not_a_key"):
            from_mapping(cls, {**own, "not_a_key": 1}, source=str(file))
