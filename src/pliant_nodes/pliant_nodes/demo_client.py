"""A client of one robot: sends a path, and records what the topics say meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import rclpy
from geometry_msgs.msg import Pose
from numpy.typing import NDArray
from pliant_msgs.action import FollowEffectorPath
from pliant_msgs.msg import ActuatorCommand, ActuatorState, EffectorStates
from rclpy.action import ActionClient
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy

from pliant.errors import PliantError
from pliant_nodes import conversions as convert

Array = NDArray[np.float64]

DEEP = QoSProfile(depth=1000, reliability=ReliabilityPolicy.RELIABLE)
RATE_WINDOW_S = 1.0


@dataclass
class Record:
    """What was heard while a path was followed.

    Attributes:
        goals: The path [m], shape (n_visits, 3).
        truth: True position of the first effector by stamp [ns].
        wanted: Goal that the controller pursued by stamp [ns].
        actuators: Actuator readings by stamp [ns].
        commands: Stamps of commands [ns].
        heard: When each actuator state was heard, by stamp [s].
        answered: When each command was heard, by the stamp that it answers [s].
        steps: Control steps until each goal was settled.
        message: The result in words.
        complete: Whether every goal was met.
    """

    goals: Array
    truth: dict[int, Array] = field(default_factory=dict)
    wanted: dict[int, Array] = field(default_factory=dict)
    actuators: dict[int, convert.ActuatorReading] = field(default_factory=dict)
    commands: list[int] = field(default_factory=list)
    heard: dict[int, float] = field(default_factory=dict)
    answered: dict[int, float] = field(default_factory=dict)
    steps: list[int] = field(default_factory=list)
    message: str = ""
    complete: bool = False

    def reached(self) -> Array:
        """True position when each goal was left [m], shape (n_visits, 3).

        The controller's reference changes at the stamp whose measurement ended a goal.

        Raises:
            PliantError: If the record does not hold every goal.
        """
        left: list[Array] = []
        for stamp in sorted(stamp for stamp in self.wanted if stamp in self.truth):
            following = len(left) + 1
            if following < len(self.goals) and np.array_equal(self.wanted[stamp], self.goals[following]):
                left.append(self.truth[stamp])
        left.append(self.truth[max(self.truth)])
        if len(left) != len(self.goals):
            raise PliantError(f"heard of {len(left)} goals; {len(self.goals)} were sent")
        return np.array(left)

    def errors(self) -> Array:
        """True distance from each goal when it was left [m], shape (n_visits,)."""
        return np.linalg.norm(self.reached() - self.goals, axis=1)

    def rate(self) -> float:
        """Commands a second.

        Raises:
            PliantError: If fewer than two were heard.
        """
        if len(self.commands) < 2:
            raise PliantError(f"heard {len(self.commands)} commands; a rate needs two")
        return (len(self.commands) - 1) * convert.NANOSECONDS / max(1, self.commands[-1] - self.commands[0])

    def answer_time(self) -> float:
        """Median time between an actuator state and the command for it [s].

        Raises:
            PliantError: If no state was heard together with its command.
        """
        both = set(self.heard) & set(self.answered)
        if not both:
            raise PliantError("heard no actuator state together with the command for it")
        return float(np.median([max(1e-6, self.answered[stamp] - self.heard[stamp]) for stamp in both]))

    @property
    def _stamps(self) -> list[int]:
        return sorted(set(self.truth) & set(self.actuators))

    @property
    def time(self) -> Array:
        """Times of the record from its start [s], shape (n,)."""
        return np.array([stamp - self._stamps[0] for stamp in self._stamps]) / convert.NANOSECONDS

    @property
    def trail(self) -> Array:
        """True effector [m], shape (n, 3)."""
        return np.array([self.truth[stamp] for stamp in self._stamps])

    @property
    def effort(self) -> Array:
        """Tensions [N], shape (n, n_a)."""
        return np.array([self.actuators[stamp].effort for stamp in self._stamps])

    @property
    def last_actuators(self) -> convert.ActuatorReading:
        """The last reading."""
        return self.actuators[max(self.actuators)]


class PathClient:
    """Talks to the nodes of one robot.

    Args:
        name: Its name in the graph.
        actuators: Names of its actuators.
        effectors: Names of its effectors.
    """

    def __init__(self, name: str, actuators: tuple[str, ...], effectors: tuple[str, ...]) -> None:
        self._names, self._effectors, self._frame = actuators, effectors, f"{name}/base"
        self._node = Node("path_client", namespace=name)
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self._node)
        self._record = Record(np.zeros((0, 3)))
        self._recording = False
        self._feedback: tuple[int, float] = (0, np.inf)
        self._client = ActionClient(self._node, FollowEffectorPath, "follow_effector_path")
        self._node.create_subscription(ActuatorCommand, "actuator_command", self._on_command, DEEP)
        self._node.create_subscription(ActuatorState, "actuator_states", self._on_actuators, DEEP)
        self._node.create_subscription(EffectorStates, "ground_truth/effector_states", self._on_truth, DEEP)
        self._node.create_subscription(EffectorStates, "reference", self._on_reference, DEEP)

    def wait_until_commanded(self, timeout: float) -> float:
        """Wait until the controller answers the robot; its commands a second.

        Raises:
            PliantError: If that does not happen in time [s].
        """
        deadline = time.monotonic() + timeout
        record = self._record
        while not (self._client.server_is_ready() and self._heard_all(record)):
            if time.monotonic() > deadline:
                raise PliantError(f"no commands in {timeout:g} s: did the nodes start? Their output is above")
            self._executor.spin_once(timeout_sec=0.1)
        record.commands.clear()
        self._spin(lambda: False, RATE_WINDOW_S)
        return record.rate()

    def follow(
        self,
        goals: Array,
        *,
        tolerance: float,
        patience: float,
        progress: Callable[[int, int, float], None] | None = None,
    ) -> Record:
        """Send a path and wait for its end.

        Args:
            goals: Points [m], shape (n_visits, 3).
            tolerance: Distance that meets a point [m].
            patience: Time after which the path is given up [s].
            progress: Called with goals done, all goals, and the last distance [m].

        Raises:
            PliantError: If the path is refused, or does not end in time.
        """
        record = self._record = Record(goals)
        goal = FollowEffectorPath.Goal(effector=self._effectors[0], tolerance=tolerance)
        goal.path.header.frame_id = self._frame
        goal.path.poses = [Pose(position=convert.point(position)) for position in goals]
        sending = self._client.send_goal_async(goal, feedback_callback=self._on_feedback)
        self._spin(sending.done, 10.0)
        handle = sending.result() if sending.done() else None
        if handle is None or not handle.accepted:
            raise PliantError("the controller refused the path; /diagnostics says why")
        ending = handle.get_result_async()
        deadline = time.monotonic() + patience
        done = 0
        while not ending.done():
            self._executor.spin_once(timeout_sec=0.1)
            if time.monotonic() > deadline:
                handle.cancel_goal_async()
                raise PliantError("the path did not end in time")
            if progress is not None and self._feedback[0] > done:
                done = self._feedback[0]
                progress(done, len(goals), self._feedback[1])
        result = ending.result().result
        record.steps, record.message = list(result.steps), result.message
        record.complete = result.code == FollowEffectorPath.Result.REACHED
        if len(result.steps) < len(goals):
            raise PliantError(f"the path ended early: {result.message} (code {result.code})")
        if progress is not None:
            progress(len(goals), len(goals), float(result.error[-1]))
        return record

    def close(self) -> None:
        """Leave the graph."""
        self._executor.shutdown()
        self._client.destroy()
        self._node.destroy_node()

    def _spin(self, done: Callable[[], bool], timeout: float) -> None:
        deadline = time.monotonic() + timeout
        while not done() and time.monotonic() < deadline and rclpy.ok():
            self._executor.spin_once(timeout_sec=0.05)

    @staticmethod
    def _heard_all(record: Record) -> bool:
        return min(len(record.commands), len(record.truth), len(record.actuators)) > 1

    def _on_command(self, message: ActuatorCommand) -> None:
        stamp = convert.nanoseconds(message.header.stamp)
        self._record.commands.append(stamp)
        self._record.answered[stamp] = time.monotonic()

    def _on_actuators(self, message: ActuatorState) -> None:
        reading = convert.actuator_reading(message, self._names)
        self._record.actuators[reading.stamp] = reading
        self._record.heard[reading.stamp] = time.monotonic()

    def _on_truth(self, message: EffectorStates) -> None:
        reading = convert.effector_reading(message, self._effectors)
        self._record.truth[reading.stamp] = reading.position[0]

    def _on_reference(self, message: EffectorStates) -> None:
        self._record.wanted[convert.nanoseconds(message.header.stamp)] = convert.xyz(message.position)[0]

    def _on_feedback(self, message: Any) -> None:
        self._feedback = (message.feedback.index, message.feedback.error)
