"""Joining, holding, ramping, following: the parts of the nodes that have state, without ROS."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("pliant_msgs", reason="needs the built message package: ./dev build")

from pliant.condensed import CondensedModel, Source
from pliant.control import InverseParameters
from pliant.control.follow import FollowParameters
from pliant.limits import ActuatorLimits
from pliant_nodes.controller_core import ControllerCore, Snapshot
from pliant_nodes.conversions import ActuatorReading, EffectorReading
from pliant_nodes.joining import StampJoiner
from pliant_nodes.path_task import PathTask, single_reference
from pliant_nodes.safety import CommandGuard, Drive, SafetyParameters

NS = 1_000_000_000
PERIOD = NS // 100


def test_a_set_is_complete_in_any_order_and_comes_once() -> None:
    rng = np.random.default_rng(0)
    topics = ("x", "y", "z")
    joiner = StampJoiner(topics, depth=10)
    stamps = range(0, 50, 5)
    for stamp in stamps:
        found = [joiner.add(topic, stamp, (topic, stamp)) for topic in rng.permutation(topics)]
        assert found[:2] == [None, None] and found[2] == {topic: (topic, stamp) for topic in topics}
    assert not joiner.lost


def test_lost_partners_are_counted_and_memory_is_bounded() -> None:
    joiner = StampJoiner(("x", "y"), depth=4)
    for stamp in range(100):
        joiner.add("x", stamp, None)
    assert joiner.lost == {"x": 96}
    assert joiner.add("y", 98, None) is not None
    assert joiner.lost == {"x": 98}
    assert joiner.add("y", 99, None) is not None
    joiner.add("y", 100, None)
    joiner.clear()
    assert joiner.lost == {"x": 98, "y": 1}


def guard() -> CommandGuard:
    parameters = SafetyParameters(command_timeout=0.5, hold=1.0, ramp=2.0)
    return CommandGuard(parameters, safe=np.array([0.0, 0.1]), low=np.zeros(2), high=np.ones(2))


def drive(
    watchman: CommandGuard, applied: np.ndarray, start: int, seconds: float
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Apply every target at once, as an ideal motor would."""
    path = []
    for i in range(1, round(100 * seconds) + 1):
        applied = watchman.target(applied, start + i * PERIOD, 0.01)
        path.append(applied)
    return applied, path


def test_nothing_moves_before_the_first_command() -> None:
    applied, _ = drive(guard(), np.array([0.3, 0.4]), 0, 20.0)
    assert np.array_equal(applied, [0.3, 0.4])


def test_silence_holds_then_ramps_to_safety_at_a_bounded_rate() -> None:
    watchman = guard()
    watchman.command(np.array([0.6, 0.6]), np.zeros(2), 0)
    applied, _ = drive(watchman, np.zeros(2), 0, 0.5)
    assert watchman.drive is Drive.FOLLOWING and np.array_equal(applied, [0.6, 0.6])
    applied, _ = drive(watchman, np.array([0.5, 0.6]), NS // 2, 1.0)
    assert watchman.drive is Drive.HOLDING and np.array_equal(applied, [0.5, 0.6]), (
        "where it is, not where it was sent"
    )
    applied, path = drive(watchman, applied, 3 * NS // 2, 1.5)
    assert watchman.drive is Drive.SAFE and np.array_equal(applied, [0.0, 0.1])
    fastest = np.abs(np.diff([[0.5, 0.6], *path], axis=0)).max() / 0.01
    assert fastest <= 0.5 * (1 + 1e-9), "a range of 1 in 2 s"


def test_a_command_ends_the_ramp() -> None:
    watchman = guard()
    watchman.command(np.ones(2), np.zeros(2), 0)
    drive(watchman, np.ones(2), 2 * NS, 0.1)
    assert watchman.drive is Drive.RAMPING
    watchman.command(np.full(2, 0.7), np.full(2, 0.1), 3 * NS)
    target = watchman.target(np.full(2, 0.5), 3 * NS, 0.01)
    assert watchman.drive is Drive.FOLLOWING and np.allclose(target, 0.501), (
        "no faster than the command allows"
    )


def test_the_emergency_stop_holds_and_then_waits_for_a_new_command() -> None:
    watchman = guard()
    watchman.command(np.ones(2), np.zeros(2), 0)
    watchman.emergency_stop(True)
    applied, _ = drive(watchman, np.full(2, 0.5), 0, 10.0)
    assert watchman.drive is Drive.STOPPED and np.array_equal(applied, [0.5, 0.5])
    watchman.command(np.ones(2), np.zeros(2), 10 * NS)
    assert np.array_equal(watchman.target(applied, 10 * NS, 0.01), [0.5, 0.5]), (
        "commands do not count while stopped"
    )
    watchman.emergency_stop(False)
    watchman.target(applied, 10 * NS, 0.01)
    assert watchman.drive is Drive.WAITING
    watchman.command(np.ones(2), np.zeros(2), 11 * NS)
    assert np.array_equal(watchman.target(applied, 11 * NS, 0.01), [1.0, 1.0])


W = np.diag([1e-3, 1e-3, 1e-3, 2e-3, 2e-3, 2e-3])
W[:3, 3:] = W[3:, :3] = 0.9e-3 * np.eye(3)
LIMITS = ActuatorLimits(
    effort_min=np.zeros(3),
    effort_max=np.full(3, 50.0),
    course_min=np.full(3, -1.0),
    course_max=np.ones(3),
    effort_rate=np.full(3, 1e4),
    course_rate=np.full(3, 10.0),
)


class LinearRobot:
    """A robot whose condensed model holds everywhere, with an offset that the model does not know."""

    offset = np.array([[1e-3, -2e-3, 0.5e-3]])

    def __init__(self) -> None:
        self.course = W[3:, 3:] @ np.full(3, 5.0)

    def snapshot(self, stamp: int) -> Snapshot:
        effort = np.linalg.solve(W[3:, 3:], self.course)
        x_e = (W[:3, 3:] @ effort)[None]
        model = CondensedModel(
            "linear", "", Source.FEM, stamp / NS, 0.0, ("tip",), ("a", "b", "c"), W, x_e, np.zeros((1, 3)),
            self.course, np.zeros(3), effort, np.zeros((1, 3)),
        )  # fmt: skip
        zero = np.zeros(3)
        actuators = ActuatorReading(stamp, self.course, zero, effort, np.zeros(3, np.uint8))
        return Snapshot(actuators, EffectorReading(stamp, x_e + self.offset, None, None, 2), model)


def core() -> ControllerCore:
    return ControllerCore(LIMITS, np.ones(3, dtype=bool), InverseParameters(), period=0.01)


def test_without_a_reference_the_controller_holds() -> None:
    robot, controller = LinearRobot(), core()
    for i in range(5):
        snapshot = robot.snapshot(i * PERIOD)
        order, result = controller.order(snapshot, controller.estimate(snapshot), None)
        assert result is None and np.array_equal(order.value, robot.course)
        assert order.stamp == order.model_stamp == i * PERIOD


def test_a_path_is_followed_with_one_order_for_each_snapshot_and_replays_bit_for_bit() -> None:
    robot, controller = LinearRobot(), core()
    start = robot.snapshot(0).effectors.position[0]
    goals = start + 1e-3 * np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
    task = PathTask(goals, 0, 1, FollowParameters(tolerance=1e-5, settle=0.02))
    heard = []
    for i in range(100):
        snapshot = robot.snapshot(i * PERIOD)
        estimate = controller.estimate(snapshot)
        assert np.allclose(estimate, snapshot.effectors.position, atol=1e-12)
        task.advance(estimate, i * PERIOD / NS)
        if task.done:
            break
        order, result = controller.order(snapshot, estimate, task.reference())
        assert result is not None
        heard.append((snapshot, task.reference(), order))
        robot.course = order.value
    assert task.done and task.state is not None and max(task.state.errors) < 1e-5
    assert len(task.steps) == 3 and max(task.steps) <= 10
    again = core()
    for snapshot, reference, order in heard:
        repeated, _ = again.order(snapshot, again.estimate(snapshot), reference)
        assert repeated.value.tobytes() == order.value.tobytes()


def test_a_goal_after_none_starts_from_a_clean_memory() -> None:
    robot, used, fresh = LinearRobot(), core(), core()
    goal = single_reference(robot.snapshot(0).effectors.position[0] + 1e-3, 0, 1)
    for i, reference in enumerate([goal, goal, None]):
        snapshot = robot.snapshot(i * PERIOD)
        used.order(snapshot, used.estimate(snapshot), reference)
    snapshot = robot.snapshot(3 * PERIOD)
    orders = [c.order(snapshot, c.estimate(snapshot), goal)[0] for c in (used, fresh)]
    assert orders[0].value.tobytes() == orders[1].value.tobytes()
