"""Nodes in this process: lockstep and several robots, the model node, a full disk, a failing start."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="needs ROS 2")
pytest.importorskip("pliant_msgs", reason="needs the built message package: ./dev build")

import rclpy
from listener import Listener
from pliant_msgs.msg import CondensedModel
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from std_srvs.srv import Trigger

from pliant.errors import PliantError
from pliant_nodes import conversions as convert
from pliant_nodes.bag import open_bag, read_bag
from pliant_nodes.condensed_model import CondensedModelNode
from pliant_nodes.fem_simulator import FemSimulator
from pliant_nodes.inverse_controller import InverseController
from pliant_nodes.record import Recorder

pytestmark = pytest.mark.launch

PERIOD_NS = 10_000_000


@pytest.fixture
def executor(monkeypatch: pytest.MonkeyPatch) -> Iterator[SingleThreadedExecutor]:
    """An executor of this process on a ROS domain of its own."""
    from pliant_nodes.launching import domain_of_this_process

    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    rclpy.init(domain_id=domain_of_this_process())
    one = SingleThreadedExecutor()
    yield one
    for node in one.get_nodes():
        node.destroy_node()
    one.shutdown()
    rclpy.try_shutdown()


def given(**values: Any) -> list[Parameter]:
    return [Parameter(name, value=value) for name, value in values.items()]


def until(executor: SingleThreadedExecutor, so: Callable[[], bool], steps: int = 2000) -> bool:
    for _ in range(steps):
        if so():
            return True
        executor.spin_once(timeout_sec=0.01)
    return so()


def test_lockstep_gives_one_state_for_each_command_of_every_robot(executor: SingleThreadedExecutor) -> None:
    names = ["left", "right"]
    simulator = FemSimulator(parameter_overrides=given(robots=names, files=["diamond"] * 2, lockstep=True))
    controllers = [
        InverseController(namespace=name, parameter_overrides=given(robot="diamond", name=name))
        for name in names
    ]
    listeners = [Listener(name) for name in names]
    listeners[1].hear("condensed_model", CondensedModel)
    for node in (simulator, *controllers, *listeners):
        executor.add_node(node)
    caller = listeners[0].create_client(Trigger, "/fem_simulator/step")
    assert until(
        executor,
        lambda: (
            caller.service_is_ready() and all(one.count_publishers("actuator_states") for one in listeners)
        ),
    )
    assert until(executor, lambda: simulator.count_subscribers("/left/actuator_states") == 2)
    assert until(executor, lambda: simulator.count_subscribers("/right/condensed_model") == 2)
    caller.call_async(Trigger.Request())
    assert until(executor, lambda: all(len(one.heard["actuator_command"]) > 20 for one in listeners))
    for listener, name in zip(listeners, names, strict=True):
        stamps = [convert.nanoseconds(m.header.stamp) for _, m in listener.heard["actuator_states"]]
        assert set(np.diff(stamps)) == {PERIOD_NS}, "simulated time goes on by one period a step"
        answered = [convert.nanoseconds(m.header.stamp) for _, m in listener.heard["actuator_command"]]
        assert answered[:20] == stamps[:20], "exactly one command for each state, in order"
        assert {m.header.frame_id for _, m in listener.heard["actuator_states"]} == {f"{name}/base"}


def test_the_model_node_models_where_the_actuators_are(executor: SingleThreadedExecutor) -> None:
    simulator = FemSimulator(
        namespace="diamond", parameter_overrides=given(robots=["diamond"], lockstep=True, publish_model=False)
    )
    model = CondensedModelNode(namespace="diamond", parameter_overrides=given(robot="diamond"))
    listener = Listener()
    listener.hear("condensed_model", CondensedModel)
    for node in (simulator, model, listener):
        executor.add_node(node)
    caller = listener.create_client(Trigger, "fem_simulator/step")
    assert until(
        executor, lambda: caller.service_is_ready() and model.count_subscribers("condensed_model") == 1
    )
    assert until(executor, lambda: simulator.count_subscribers("actuator_states") == 2)
    for step in range(3):
        caller.call_async(Trigger.Request())
        assert until(executor, lambda step=step: len(listener.heard["condensed_model"]) > step)
    message, truth = listener.newest("condensed_model"), listener.newest("ground_truth/effector_states")
    assert message.header == truth.header, "the stamp of the measurement"
    assert np.allclose(message.x_e, convert.xyz(truth.position).ravel(), atol=1e-8), "the plant is the model"


class FullDisk:
    """A bag on a disk that is full after some messages."""

    def __init__(self, room: int) -> None:
        self.room, self.closed = room, False

    def write(self, topic: str, stamp: int, content: bytes) -> None:
        """Write while there is room."""
        if self.room == 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        self.room -= 1

    def close(self) -> None:
        """The index does not fit either."""
        self.closed = True
        raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_stops_the_record_and_not_the_robot(executor: SingleThreadedExecutor) -> None:
    disk = FullDisk(room=30)
    simulator = FemSimulator(namespace="diamond", parameter_overrides=given(robots=["diamond"]))
    recorder = Recorder(namespace="diamond", open_bag=lambda folder, types: disk)
    listener = Listener()
    for node in (simulator, recorder, listener):
        executor.add_node(node)
    assert until(
        executor,
        lambda: (
            "diamond/record" in listener.diagnostics
            and listener.diagnostics["diamond/record"].level != b"\x00"
        ),
    )
    status = listener.diagnostics["diamond/record"]
    assert "No space left on device" in status.message and status.hardware_id == "diamond"
    heard = len(listener.heard["actuator_states"])
    assert until(executor, lambda: len(listener.heard["actuator_states"]) > heard + 20), "the robot goes on"
    recorder.finish()
    assert disk.closed and disk.room == 0


def test_a_record_is_a_bag_that_can_be_read(executor: SingleThreadedExecutor, tmp_path: Path) -> None:
    simulator = FemSimulator(namespace="diamond", parameter_overrides=given(robots=["diamond"]))
    recorder = Recorder(namespace="diamond", parameter_overrides=given(folder=str(tmp_path / "bag")))
    listener = Listener()
    listener.hear("condensed_model", CondensedModel)
    for node in (simulator, recorder, listener):
        executor.add_node(node)
    assert until(executor, lambda: len(listener.heard["condensed_model"]) > 50)
    recorder.finish()
    assert {file.suffix for file in (tmp_path / "bag").iterdir()} == {".yaml", ".mcap"}
    read = {
        convert.nanoseconds(m.header.stamp): m
        for topic, _, m in read_bag(tmp_path / "bag")
        if topic == "/diamond/condensed_model"
    }
    heard = {convert.nanoseconds(m.header.stamp): m for _, m in listener.heard["condensed_model"]}
    common = set(read) & set(heard)
    assert len(common) > 20 and all(read[stamp] == heard[stamp] for stamp in common)
    with pytest.raises(PliantError, match="exists already"):
        open_bag(tmp_path / "bag", {})


@pytest.mark.parametrize(
    ("node", "values", "names"),
    [
        (FemSimulator, {}, "robots"),
        (FemSimulator, {"robots": ["diamond"], "files": ["a", "b"]}, "files"),
        (FemSimulator, {"robots": ["a b"]}, "'a b'"),
        (FemSimulator, {"robots": ["diamond", "diamond"]}, "twice"),
        (FemSimulator, {"robots": ["no_such_robot"]}, "did not start"),
        (FemSimulator, {"robots": ["diamond"], "plant": "none"}, "did not start"),
        (CondensedModelNode, {"robot": "diamond", "source": "learned"}, "'learned'"),
        (InverseController, {"robot": "diamond", "inverse.solver": "guess"}, "osqp, daqp"),
        (InverseController, {"robot": "diamond", "inverse.solvr": "osqp"}, "inverse.solvr"),
    ],
)
def test_what_cannot_start_says_why(
    executor: SingleThreadedExecutor, node: Any, values: dict[str, Any], names: str
) -> None:
    with pytest.raises(PliantError) as error:
        node(parameter_overrides=given(**values))
    assert names in str(error.value)


def test_a_node_without_autostart_waits_for_its_transitions(executor: SingleThreadedExecutor) -> None:
    simulator = FemSimulator(
        namespace="diamond", parameter_overrides=given(robots=["diamond"], autostart=False)
    )
    listener = Listener()
    executor.add_node(simulator)
    executor.add_node(listener)
    until(executor, lambda: False, 20)
    assert not listener.heard["actuator_states"]
    simulator.trigger_configure()
    simulator.trigger_activate()
    assert until(executor, lambda: len(listener.heard["actuator_states"]) > 5)
    simulator.trigger_deactivate()
    until(executor, lambda: False, 20)
    heard = len(listener.heard["actuator_states"])
    until(executor, lambda: False, 20)
    assert len(listener.heard["actuator_states"]) == heard
    simulator.trigger_cleanup()
    assert listener.count_publishers("actuator_states") == 0 or until(
        executor, lambda: listener.count_publishers("actuator_states") == 0
    )
    simulator.trigger_configure()
    simulator.trigger_activate()
    assert until(executor, lambda: len(listener.heard["actuator_states"]) > heard + 5)
