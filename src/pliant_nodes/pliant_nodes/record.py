"""The recorder node: topics of one robot into a rosbag2 MCAP bag.

A full disk ends the record, not the robot.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from pliant.errors import PliantError
from pliant.parameters import parameter, validate
from pliant_nodes.bag import message_class, open_bag
from pliant_nodes.diagnostics import ERROR, OK
from pliant_nodes.running import RobotNode, run

QUEUE = 10_000
DEEP = QoSProfile(depth=1000, reliability=ReliabilityPolicy.RELIABLE)
DEEP_LATCHED = QoSProfile(
    depth=10, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
)
TOPICS = {
    "actuator_states": "pliant_msgs/msg/ActuatorState",
    "effector_states": "pliant_msgs/msg/EffectorStates",
    "ground_truth/effector_states": "pliant_msgs/msg/EffectorStates",
    "predicted/effector_states": "pliant_msgs/msg/EffectorStates",
    "condensed_model": "pliant_msgs/msg/CondensedModel",
    "actuator_command": "pliant_msgs/msg/ActuatorCommand",
    "effector_loads": "pliant_msgs/msg/EffectorLoads",
    "reference": "pliant_msgs/msg/EffectorStates",
    "goal": "geometry_msgs/msg/PointStamped",
    "goals": "geometry_msgs/msg/PoseArray",
    "/diagnostics": "diagnostic_msgs/msg/DiagnosticArray",
    "/tf": "tf2_msgs/msg/TFMessage",
    "/tf_static": "tf2_msgs/msg/TFMessage",
}
LATCHED_TOPICS = ("goals", "/tf_static")


class Bag(Protocol):
    """Where messages go."""

    def write(self, topic: str, stamp: int, content: bytes) -> None:
        """Append a serialized message of a topic at a time [ns]; OSError where that fails."""

    def close(self) -> None:
        """Finish the file; OSError where that fails."""


@dataclass(frozen=True)
class RecorderParameters:
    """Where the record goes."""

    folder: str = parameter("", unit="", description="Folder of the bag, made new; bags/<time> if empty.")
    autostart: bool = parameter(True, unit="", description="Whether to configure and activate at once.")

    def __post_init__(self) -> None:
        validate(self)


class Recorder(RobotNode):
    """Writes what it hears, in a thread of its own, as it came over the wire.

    Args:
        open_bag: Opens a bag in a folder for topics with their types.
    """

    def __init__(self, open_bag: Callable[[Path, dict[str, str]], Bag] = open_bag, **options: Any) -> None:
        super().__init__("record", **options)
        self._options = self.parameters.declare(RecorderParameters)
        self.parameters.refuse_unknown()
        self._open = open_bag
        self._written = 0
        self._lost = 0
        self._failure = ""
        self._thread: threading.Thread | None = None
        if self._options.autostart:
            self.start()

    def configure(self) -> None:
        """Open the bag and every topic."""
        self._folder = Path(self._options.folder or time.strftime("bags/%Y-%m-%d-%H-%M-%S"))
        types = {self.resolve_topic_name(topic): kind for topic, kind in TOPICS.items()}
        try:
            self._bag = self._open(self._folder, types)
        except OSError as error:
            raise PliantError(f"record: {self._folder}: {error.strerror or error}") from error
        self._queue: queue.Queue[tuple[str, int, bytes] | None] = queue.Queue(QUEUE)
        for topic, kind in TOPICS.items():
            callback = partial(self._on_message, self.resolve_topic_name(topic))
            qos = DEEP_LATCHED if topic in LATCHED_TOPICS else DEEP
            self.create_subscription(message_class(kind), topic, callback, qos, raw=True)
        self._thread = threading.Thread(target=self._write, name="record", daemon=True)
        self._thread.start()
        self.get_logger().info(f"recording to {self._folder}")

    def finish(self) -> None:
        """Write what is waiting and close the bag."""
        if self._thread is not None:
            self._queue.put(None)
            self._thread.join(timeout=10.0)
            self._thread = None

    def report(self) -> list[tuple[str, bytes, str, dict[str, object]]]:
        """How much was written, and why it stopped if it did."""
        if self._thread is None:
            return []
        values: dict[str, object] = {
            "folder": self._folder,
            "messages": self._written,
            "not written": self._lost,
        }
        name = self.get_namespace().strip("/")
        return [(name, ERROR if self._failure else OK, self._failure or "recording", values)]

    def _on_message(self, topic: str, content: bytes) -> None:
        if not self.active or self._failure:
            self._lost += 1
            return
        try:
            self._queue.put_nowait((topic, self.get_clock().now().nanoseconds, content))
        except queue.Full:
            self._lost += 1

    def _write(self) -> None:
        """The thread: the only one that touches the bag."""
        while (item := self._queue.get()) is not None:
            if self._failure:
                self._lost += 1
                continue
            try:
                self._bag.write(*item)
                self._written += 1
            except OSError as error:
                self._stop(error)
        try:
            self._bag.close()
        except OSError as error:
            self._stop(error)

    def _stop(self, error: OSError) -> None:
        if self._failure:
            return
        self._failure = f"recording stopped: {error.strerror or error}"
        self.get_logger().error(f"{self._failure} ({self._folder}); the robot goes on")


def main() -> None:
    """Run the node."""
    run(Recorder)
