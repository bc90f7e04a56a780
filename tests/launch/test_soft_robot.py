"""The shipped launch file in one sitting: a path, bad messages, both ends killed, a replay."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="needs ROS 2")
pytest.importorskip("pliant_msgs", reason="needs the built message package: ./dev build")

from action_msgs.msg import GoalStatus
from builtin_interfaces.msg import Duration
from geometry_msgs.msg import PointStamped
from listener import DEEP, Listener
from pliant_msgs.action import FollowEffectorPath
from pliant_msgs.msg import ActuatorCommand, ActuatorState, CondensedModel, EffectorStates
from std_msgs.msg import Bool

from pliant.control import InverseParameters
from pliant.robot import load_robot
from pliant_nodes import conversions as convert
from pliant_nodes.gate import Reason
from pliant_nodes.replay import replay
from pliant_nodes.safety import Drive

pytestmark = pytest.mark.launch

Code = FollowEffectorPath.Result
Until = Callable[..., bool]

N_CIRCLE = 30
MODEL_IS_PLANT_M = 5e-5  # error of a settled goal where the model is the plant
COMMAND_TIMEOUT_S, HOLD_S, RAMP_S = 0.5, 2.0, 5.0  # of config/nodes/fem_simulator.yaml
STATE_TIMEOUT_S = 0.5  # of config/nodes/inverse_controller.yaml
SLACK_S = 3.0  # a loaded machine may be this late
SPEED_TOLERANCE = 1e-4  # stamps are rounded to nanoseconds
CONTROLLER, SIMULATOR = "diamond/inverse_controller", "diamond/fem_simulator"


@pytest.fixture(scope="module")
def bag(session: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The launched robot's record."""
    folder = tmp_path_factory.mktemp("bag") / "run"
    session.launch("diamond", record="true", bag=folder)
    return folder


@pytest.fixture
def listener(bag: Path, spin: Until) -> Iterator[Listener]:
    """A listener that hears commands."""
    node = Listener()
    topics = ("actuator_command", "actuator_states", "ground_truth/effector_states")
    assert spin(node, lambda: min(len(node.heard[topic]) for topic in topics) > 5, 60.0)
    assert spin(node, node.follow.server_is_ready, 10.0)
    yield node
    node.follow.destroy()
    node.destroy_node()


def send(listener: Listener, spin: Until, goal: Any) -> Any:
    sending = listener.follow.send_goal_async(
        goal, feedback_callback=lambda message: listener.feedback.append(message.feedback)
    )
    assert spin(listener, sending.done, 10.0)
    return sending.result()


def result(listener: Listener, spin: Until, handle: Any, timeout: float = 30.0) -> Any:
    ending = handle.get_result_async()
    assert spin(listener, ending.done, timeout)
    return ending.result()


def circle(n: int) -> np.ndarray:
    """The first n of thirty points on half the circle that the robot's file names."""
    path = load_robot("diamond").spec.path
    angle = 2 * np.pi * np.arange(n) / N_CIRCLE
    return np.array(path.center_m) + path.radius_m / 2 * np.column_stack(
        [np.cos(angle), np.sin(angle), 0 * angle]
    )


def follow(listener: Listener, spin: Until, points: np.ndarray, **options: Any) -> Any:
    handle = send(listener, spin, listener.path(points, **options))
    assert handle.accepted
    return result(listener, spin, handle)


def arrived(listener: Listener, spin: Until, wanted: np.ndarray) -> None:
    """The true effector is where it is wanted, as soon as that has been heard."""
    near = spin(listener, lambda: np.linalg.norm(listener.tip() - wanted) < MODEL_IS_PLANT_M, 20.0)
    assert near, f"{listener.tip()} is not {wanted}"


def approach(listener: Listener, spin: Until) -> None:
    for _ in range(20):
        if follow(listener, spin, circle(6)[:1], tolerance=1e-5).result.code == Code.REACHED:
            arrived(listener, spin, circle(6)[0])
            return
    raise AssertionError(f"the first goal was not reached: {listener.diagnostics}")


def test_a_path_is_accepted_followed_and_succeeds(listener: Listener, spin: Until) -> None:
    approach(listener, spin)
    listener.feedback.clear()
    start = time.monotonic()
    unhurried = [Duration(sec=i // 2, nanosec=i % 2 * 500_000_000) for i in range(1, 7)]
    answer = follow(listener, spin, circle(6), tolerance=MODEL_IS_PLANT_M, time=unhurried)
    assert answer.status == GoalStatus.STATUS_SUCCEEDED and answer.result.code == Code.REACHED
    assert len(answer.result.steps) == 6 and answer.result.max_error <= MODEL_IS_PLANT_M
    arrived(listener, spin, circle(6)[-1])
    assert {0, 1, 2, 3, 4, 5} >= {feedback.index for feedback in listener.feedback} > {5}, (
        "as many as were heard"
    )
    assert all(feedback.reachable for feedback in listener.feedback)
    before = start - 10.0  # the first commands heard answer states that were heard before
    states = {convert.nanoseconds(m.header.stamp) for m in listener.since("actuator_states", before)}
    answered = [convert.nanoseconds(m.header.stamp) for m in listener.since("actuator_command", start)]
    assert len(answered) == len(set(answered)), "never two commands for one state"
    assert len(set(answered) - states) <= 2, "never one for none (the newest state may be on its way)"


def test_a_goal_out_of_reach_is_named(listener: Listener, spin: Until) -> None:
    listener.feedback.clear()
    answer = follow(listener, spin, np.array([[0.0, 0.0, -1.0]]))
    assert answer.status == GoalStatus.STATUS_ABORTED and answer.result.code in (
        Code.UNREACHABLE,
        Code.TIMEOUT,
    )
    assert np.isfinite(listener.tip()).all()
    approach(listener, spin)


def test_a_goal_on_the_topic_is_reached_and_a_bad_one_is_refused(listener: Listener, spin: Until) -> None:
    publisher = listener.create_publisher(PointStamped, "goal", DEEP)
    assert spin(listener, lambda: publisher.get_subscription_count() >= 2, 10.0)
    wanted = circle(4)[3]
    publisher.publish(PointStamped(point=convert.point(wanted)))
    arrived(listener, spin, wanted)
    publisher.publish(PointStamped(point=convert.point(np.array([np.nan, 0.0, 0.1]))))
    key = f"rejected goal: {Reason.NOT_FINITE}"
    assert spin(listener, lambda: listener.value(CONTROLLER, key) == "1", 5.0)
    assert np.linalg.norm(listener.tip() - wanted) < MODEL_IS_PLANT_M
    listener.destroy_publisher(publisher)


@pytest.mark.parametrize(
    "change",
    [
        {"effector": "nose"},
        {"tolerance": -1.0},
        {"tolerance": float("nan")},
        {"tolerance": 2.0},
        {"tolerance": 1e-12},
        {"time": [Duration(sec=1)]},
        {"points": np.array([[np.nan, 0, 0.138]])},
        {"points": np.zeros((0, 3))},
        {"frame": "world"},
    ],
)
def test_bad_paths_are_refused(listener: Listener, spin: Until, change: dict[str, Any]) -> None:
    goal = listener.path(change.pop("points", circle(3)))
    goal.path.header.frame_id = change.pop("frame", "")
    for name, value in change.items():
        setattr(goal, name, value)
    assert not send(listener, spin, goal).accepted


def test_a_path_can_be_canceled_and_preempted(listener: Listener, spin: Until) -> None:
    slow = {"time": [Duration(sec=60)]}
    first = send(listener, spin, listener.path(circle(6)[:1], **slow))
    second = send(listener, spin, listener.path(circle(6)[1:2], **slow))
    assert result(listener, spin, first).result.code == Code.PREEMPTED
    canceling = second.cancel_goal_async()
    assert spin(listener, canceling.done, 5.0)
    answer = result(listener, spin, second)
    assert answer.status == GoalStatus.STATUS_CANCELED and answer.result.code == Code.CANCELED


def test_malformed_messages_on_every_topic_change_nothing(listener: Listener, spin: Until) -> None:
    """Each input topic of both nodes, while the robot holds: nothing moves, all is counted."""
    approach(listener, spin)
    before = listener.tip()
    kinds = {
        "actuator_states": (ActuatorState, "position"),
        "effector_states": (EffectorStates, "covariance"),
        "condensed_model": (CondensedModel, "w"),
        "actuator_command": (ActuatorCommand, "value"),
    }
    listener.hear("condensed_model", CondensedModel)
    assert spin(listener, lambda: bool(listener.heard["condensed_model"]), 10.0)
    publishers = {topic: listener.create_publisher(kind, topic, DEEP) for topic, (kind, _) in kinds.items()}
    assert spin(listener, lambda: all(p.get_subscription_count() >= 2 for p in publishers.values()), 10.0)
    rng = np.random.default_rng(0)
    good = {topic: listener.newest(topic) for topic in kinds}
    for _ in range(50):
        for topic, publisher in publishers.items():
            good[topic].header.stamp = listener.get_clock().now().to_msg()
            for message in spoiled(good[topic], kinds[topic][1], rng):
                publisher.publish(message)
        spin(listener, lambda: False, 0.02)
    expected = f"rejected actuator_command: {Reason.NOT_FINITE}"
    assert spin(listener, lambda: int(listener.value(SIMULATOR, expected) or 0) > 10, 10.0), "counted"
    for topic in ("actuator_states", "effector_states", "condensed_model"):
        for reason in (
            Reason.NOT_FINITE,
            Reason.WRONG_SIZE,
            Reason.WRONG_FRAME,
            Reason.FUTURE,
            Reason.OUT_OF_ORDER,
        ):
            key = f"rejected {topic}: {reason}"
            assert spin(listener, lambda key=key: int(listener.value(CONTROLLER, key) or 0) > 0, 5.0), key
    spin(listener, lambda: False, 0.2)
    assert np.linalg.norm(listener.tip() - before) < MODEL_IS_PLANT_M
    for publisher in publishers.values():
        listener.destroy_publisher(publisher)
    assert follow(listener, spin, circle(6), tolerance=1e-5).result.code in (Code.REACHED, Code.TIMEOUT)


def spoiled(good: Any, field: str, rng: np.random.Generator) -> list[Any]:
    """Five bad versions of a message."""
    versions = [copy.deepcopy(good) for _ in range(5)]
    values = list(getattr(good, field))
    values[rng.integers(len(values))] = float(rng.choice([np.nan, np.inf, -np.inf]))
    setattr(versions[0], field, values)
    setattr(versions[1], field, list(getattr(good, field))[:-1])
    versions[2].header.frame_id = "world"
    versions[3].header.stamp.sec += 3600
    versions[4].header.stamp.sec -= 3600
    return versions


def test_the_emergency_stop_holds_the_robot(listener: Listener, spin: Until) -> None:
    handle = send(listener, spin, listener.path(circle(6), time=[Duration(sec=i + 1) for i in range(6)]))
    listener.stop.publish(Bool(data=True))
    assert spin(listener, lambda: "emergency" in listener.value(SIMULATOR, "drive"), 5.0)
    held = np.array(listener.newest("actuator_states").position)
    spin(listener, lambda: False, 0.5)
    assert np.array_equal(held, listener.newest("actuator_states").position)
    canceling = handle.cancel_goal_async()
    assert spin(listener, canceling.done, 5.0)
    listener.stop.publish(Bool(data=False))
    assert spin(listener, lambda: "following" in listener.value(SIMULATOR, "drive"), 5.0)


def test_without_the_simulator_the_controller_stops_reports_and_recovers(
    session: Any, listener: Listener, spin: Until
) -> None:
    handle = send(listener, spin, listener.path(circle(6), time=[Duration(sec=i + 1) for i in range(6)]))
    spin(listener, lambda: False, 0.5)
    session.kill("fem_simulator")
    killed = time.monotonic()
    answer = result(listener, spin, handle, timeout=STATE_TIMEOUT_S + 5.0)
    assert time.monotonic() - killed < STATE_TIMEOUT_S + SLACK_S
    assert answer.status == GoalStatus.STATUS_ABORTED and answer.result.code == Code.STALE_STATE
    assert spin(listener, lambda: "no actuator_states" in listener.diagnostics[CONTROLLER].message, 5.0)
    assert not listener.since("actuator_command", killed + STATE_TIMEOUT_S + SLACK_S), (
        "no command without a state"
    )
    session.launch("soft_robot", robot="diamond", controller="false")
    returned = time.monotonic()
    assert spin(listener, lambda: len(listener.since("actuator_command", returned)) > 5, 30.0)
    approach(listener, spin)
    assert listener.diagnostics[CONTROLLER].level == b"\x00" or spin(
        listener, lambda: listener.diagnostics[CONTROLLER].level == b"\x00", 5.0
    )


def test_without_the_controller_the_simulator_holds_then_ramps(
    session: Any, listener: Listener, spin: Until
) -> None:
    send(listener, spin, listener.path(circle(6), time=[Duration(sec=i + 1) for i in range(6)]))
    spin(listener, lambda: False, 1.2)
    session.kill("inverse_controller")
    killed = listener.get_clock().now().nanoseconds
    assert spin(listener, lambda: listener.value(SIMULATOR, "drive") == Drive.SAFE and still(listener), 20.0)
    messages = [m for _, m in listener.heard["actuator_states"]]
    after = np.array([(convert.nanoseconds(m.header.stamp) - killed) / convert.NANOSECONDS for m in messages])
    position = np.array([m.position for m in messages])
    held = position[(after > COMMAND_TIMEOUT_S + 0.2) & (after < COMMAND_TIMEOUT_S + HOLD_S - 0.2)]
    assert len(held) > 20 and np.ptp(held, axis=0).max() == 0.0, "it holds"
    limits = load_robot("diamond").limits
    fastest = (limits.course_max - limits.course_min) / RAMP_S
    ramp = after > COMMAND_TIMEOUT_S + 0.2
    speed = np.abs(np.diff(position[ramp], axis=0)) / np.diff(after[ramp])[:, None]
    assert (speed <= fastest * (1 + SPEED_TOLERANCE)).all(), "no faster than the ramp"
    assert np.abs(position[-1] - held[0]).max() > 1e-3, "it goes to the safe state"


def still(listener: Listener) -> bool:
    return np.abs(listener.newest("actuator_states").velocity).max() == 0.0


def test_the_record_replays_bit_for_bit(session: Any, bag: Path) -> None:
    session.end()
    outcome = replay(bag, "diamond", InverseParameters(), period=0.01)
    assert outcome.compared > 200 and outcome.different == 0
