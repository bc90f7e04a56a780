"""docs/interfaces.md against the running graph: every topic, its type and its direction."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("rclpy", reason="needs ROS 2")
pytest.importorskip("pliant_msgs", reason="needs the built message package: ./dev build")

import rclpy
from rclpy.node import Node
from rclpy.parameter import Parameter

from pliant_nodes.condensed_model import CondensedModelNode
from pliant_nodes.fem_simulator import FemSimulator
from pliant_nodes.gate import Reason
from pliant_nodes.inverse_controller import InverseController
from pliant_nodes.launching import domain_of_this_process
from pliant_nodes.record import Recorder

pytestmark = pytest.mark.launch

PAGE = Path(__file__).parents[2] / "docs/interfaces.md"
ROW = re.compile(r"^\| `([^`]+)` \| `([^`]+)` \| (in|out) \|", re.MULTILINE)
OF_EVERY_NODE = re.compile(r"/(rosout|parameter_events)$|/transition_event$|/_action/")

Topics = set[tuple[str, str, str]]


def documented(node: str) -> Topics:
    """Topic, type and direction of each row of a node's table."""
    section = PAGE.read_text().split(f"### {node}\n")[1].split("\n### ")[0].split("\n## ")[0]
    return {
        (name if name.startswith("/") else f"/diamond/{name}", kind, way)
        for name, kind, way in ROW.findall(section)
    }


def running(watcher: Node, node: str) -> Topics:
    """The same of a node in the graph."""
    found = {
        "out": watcher.get_publisher_names_and_types_by_node(node, "/diamond"),
        "in": watcher.get_subscriber_names_and_types_by_node(node, "/diamond"),
    }
    return {
        (name, kinds[0], way)
        for way, topics in found.items()
        for name, kinds in topics
        if not OF_EVERY_NODE.search(name)
    }


@pytest.fixture(scope="module")
def watcher(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    """A node beside all nodes of the Diamond."""

    def given(**values: Any) -> list[Parameter]:
        return [Parameter(name, value=value) for name, value in values.items()]

    rclpy.init(domain_id=domain_of_this_process())
    folder = str(tmp_path_factory.mktemp("record") / "bag")
    nodes = [
        FemSimulator(namespace="diamond", parameter_overrides=given(robots=["diamond"])),
        CondensedModelNode(namespace="diamond", parameter_overrides=given(robot="diamond")),
        InverseController(namespace="diamond", parameter_overrides=given(robot="diamond")),
        Recorder(namespace="diamond", parameter_overrides=given(folder=folder)),
    ]
    yield nodes[2]
    for node in nodes:
        node.finish()
        node.destroy_node()
    rclpy.try_shutdown()


@pytest.mark.parametrize("node", ["fem_simulator", "condensed_model", "inverse_controller", "record"])
def test_the_page_says_what_runs(watcher: Node, node: str) -> None:
    assert documented(node) == running(watcher, node)


def test_the_page_names_every_reason() -> None:
    text = " ".join(PAGE.read_text().split())
    assert [reason for reason in Reason if f"`{reason}`" not in text] == []
