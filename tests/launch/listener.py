"""A node that listens to everything about one robot, and can talk to it."""

from __future__ import annotations

import time
from collections import defaultdict
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import Point, Pose
from pliant_msgs.action import FollowEffectorPath
from pliant_msgs.msg import ActuatorCommand, ActuatorState, EffectorStates
from rclpy.action import ActionClient
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from std_msgs.msg import Bool

from pliant_nodes import conversions as convert
from pliant_nodes.running import LATCHED

DEEP = QoSProfile(depth=5000, reliability=ReliabilityPolicy.RELIABLE)


class Listener(Node):
    """Keeps what it hears, with the time that it heard it."""

    def __init__(self, robot: str = "diamond") -> None:
        super().__init__("listener", namespace=robot)
        self.heard: dict[str, list[tuple[float, Any]]] = defaultdict(list)
        self.diagnostics: dict[str, Any] = {}
        self.feedback: list[Any] = []
        for topic, kind in (
            ("actuator_states", ActuatorState),
            ("actuator_command", ActuatorCommand),
            ("effector_states", EffectorStates),
            ("ground_truth/effector_states", EffectorStates),
        ):
            self.hear(topic, kind)
        self.create_subscription(DiagnosticArray, "/diagnostics", self._on_diagnostics, DEEP)
        self.stop = self.create_publisher(Bool, "emergency_stop", LATCHED)
        self.follow = ActionClient(self, FollowEffectorPath, "follow_effector_path")

    def hear(self, topic: str, kind: Any) -> None:
        """Listen to one more topic."""
        self.create_subscription(kind, topic, lambda message: self._keep(topic, message), DEEP)

    def since(self, topic: str, instant: float) -> list[Any]:
        """Messages of a topic that were heard after an instant."""
        return [message for heard, message in self.heard[topic] if heard > instant]

    def newest(self, topic: str) -> Any:
        """The last message of a topic."""
        return self.heard[topic][-1][1]

    def tip(self) -> np.ndarray:
        """Where the effector truly is [m]."""
        return convert.xyz(self.newest("ground_truth/effector_states").position)[0]

    def value(self, node: str, key: str) -> str:
        """One value of the last diagnostics of a node."""
        status = self.diagnostics.get(node)
        return {v.key: v.value for v in status.values}.get(key, "") if status else ""

    def path(self, points: np.ndarray, **options: Any) -> FollowEffectorPath.Goal:
        """A path through points [m], shape (n, 3)."""
        goal = FollowEffectorPath.Goal(**options)
        goal.path.poses = [Pose(position=Point(x=float(x), y=float(y), z=float(z))) for x, y, z in points]
        return goal

    def _keep(self, topic: str, message: Any) -> None:
        self.heard[topic].append((time.monotonic(), message))

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            self.diagnostics[status.name.split(":")[0]] = status
