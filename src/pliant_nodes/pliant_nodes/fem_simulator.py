"""The simulator node: one or several finite-element robots behind the topics of real ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from pliant_msgs.msg import ActuatorCommand, ActuatorState, CondensedModel, EffectorLoads, EffectorStates
from std_msgs.msg import Bool
from std_srvs.srv import Trigger
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import MarkerArray

from pliant.errors import PliantError
from pliant.parameters import parameter, validate
from pliant.plant import Plant, read_plant
from pliant.robot import load_robot
from pliant_nodes import conversions as convert
from pliant_nodes.diagnostics import ERROR, OK, WARN, gate_values
from pliant_nodes.markers import RobotMarkers
from pliant_nodes.running import FRESH, LATCHED, RELIABLE, RobotNode, refuse_bad_names, run
from pliant_nodes.safety import Drive, SafetyParameters
from pliant_nodes.simulated_robot import Measurement, SimulatedRobot

MARKER_PERIOD_NS = 100_000_000
TRANSFORM_PERIOD_NS = 33_000_000
LONGEST_STEPS = 5.0  # a late step covers at most this many periods


@dataclass(frozen=True)
class SimulatorParameters:
    """What is simulated, and how time runs."""

    plant: str = parameter("same", unit="", description="Plant file, or the name of a shipped one.")
    publish_model: bool = parameter(
        True, unit="", description="Whether to publish the condensed model of the plant itself."
    )
    rate: float = parameter(100.0, unit="Hz", minimum=1.0, maximum=1000.0, description="Steps a second.")
    lockstep: bool = parameter(
        False,
        unit="",
        description="Step only when a command or a call of `step` asks for it, in simulated time.",
    )
    world_frame: str = parameter("world", unit="", description="Frame that the base frames are fixed in.")
    publish_base_frame: bool = parameter(
        True,
        unit="",
        description="Whether to publish the transform from world to base, where nothing else does.",
    )
    autostart: bool = parameter(True, unit="", description="Whether to configure and activate at once.")

    def __post_init__(self) -> None:
        validate(self)


class FemSimulator(RobotNode):
    """Steps the plants and publishes what their sensors see, each robot under its name.

    A single robot uses the namespace of the node; of several, each has its own below it.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__("fem_simulator", **options)
        self._options = self.parameters.declare(SimulatorParameters)
        self._safety = self.parameters.declare(SafetyParameters, prefix="safety")
        self._names = self.parameters.declare_names("robots", "Names of the robots in the graph.")
        self._files = self.parameters.declare_names(
            "files", "Robot file of each, or a shipped name; the name if empty."
        )
        self.parameters.refuse_unknown()
        if not self._names or len(self._files) not in (0, len(self._names)):
            raise PliantError(
                f"robots: given {self._names} with files {self._files}; allowed: names, a file each or none"
            )
        refuse_bad_names(*self._names)
        self._ports: list[_Port] = []
        self._timer = None
        self._last = 0
        if self._options.autostart:
            self.start()

    def configure(self) -> None:
        """Load the robots and build their plants."""
        self._ports = [
            _Port(self, self._robot(name, file), prefix=f"{name}/" if len(self._names) > 1 else "")
            for name, file in zip(self._names, self._files or self._names, strict=True)
        ]
        self.create_subscription(Bool, "emergency_stop", self._on_emergency_stop, LATCHED)
        self._latched_transforms = self.create_publisher(TFMessage, "/tf_static", LATCHED)
        self.transforms = self.create_publisher(TFMessage, "/tf", RELIABLE)
        if self._options.lockstep:
            self.create_service(Trigger, "~/step", self._on_step)

    def activate(self) -> None:
        """Let time run."""
        self._last = self.get_clock().now().nanoseconds if not self._options.lockstep else 0
        if self._options.publish_base_frame:
            frames = [(self._options.world_frame, port.simulated.frame) for port in self._ports]
            self._latched_transforms.publish(
                TFMessage(
                    transforms=[convert.transform_message(np.eye(4), self._last, *pair) for pair in frames]
                )
            )
        for port in self._ports:
            port.publish(port.simulated.rest(self._last))
        if not self._options.lockstep:
            self._timer = self.create_timer(1.0 / self._options.rate, self._tick)

    def deactivate(self) -> None:
        """Stop time."""
        if self._timer is not None:
            self.destroy_timer(self._timer)
            self._timer = None

    @property
    def now(self) -> int:
        """Time that commands are judged by [ns]."""
        return self._last if self._options.lockstep else self.get_clock().now().nanoseconds

    def commanded(self) -> None:
        """In lockstep, step once every robot has its command for the present."""
        if (
            self._options.lockstep
            and self.active
            and all(p.simulated.command_clock.last == self._last for p in self._ports)
        ):
            self._step(1.0 / self._options.rate)

    def report(self) -> list[tuple[str, bytes, str, dict[str, object]]]:
        """Each robot's drive, rate and refused messages."""
        return [port.report() for port in self._ports] if self.active else []

    def _robot(self, name: str, file: str) -> SimulatedRobot:
        robot = load_robot(file)
        plant = Plant(robot, read_plant(self._options.plant))
        return SimulatedRobot(name, robot, plant, self._safety, publish_model=self._options.publish_model)

    def _tick(self) -> None:
        elapsed = (self.get_clock().now().nanoseconds - self._last) / convert.NANOSECONDS
        if elapsed > 0.0:
            self._step(min(elapsed, LONGEST_STEPS / self._options.rate), elapsed)

    def _step(self, dt: float, elapsed: float | None = None) -> None:
        self._last += round((dt if elapsed is None else elapsed) * convert.NANOSECONDS)
        for port in self._ports:
            port.publish(port.simulated.step(self._last, dt))

    def _on_step(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        if self.active:
            self._step(1.0 / self._options.rate)
        response.success, response.message = self.active, f"{convert.seconds(self._last)} s"
        return response

    def _on_emergency_stop(self, message: Bool) -> None:
        for port in self._ports:
            port.simulated.guard.emergency_stop(message.data)
        self.get_logger().warn("emergency stop" if message.data else "emergency stop is released")


class _Port:
    """Publishers and subscriptions of one simulated robot."""

    def __init__(self, node: FemSimulator, simulated: SimulatedRobot, *, prefix: str) -> None:
        self._node, self.simulated = node, simulated
        self._actuators = node.create_publisher(ActuatorState, f"{prefix}actuator_states", RELIABLE)
        self._effectors = node.create_publisher(EffectorStates, f"{prefix}effector_states", RELIABLE)
        self._truth = node.create_publisher(EffectorStates, f"{prefix}ground_truth/effector_states", RELIABLE)
        self._markers = node.create_publisher(MarkerArray, f"{prefix}markers", RELIABLE)
        self._model = node.create_publisher(CondensedModel, f"{prefix}condensed_model", RELIABLE)
        node.create_subscription(ActuatorCommand, f"{prefix}actuator_command", self._on_command, FRESH)
        node.create_subscription(EffectorLoads, f"{prefix}effector_loads", self._on_loads, RELIABLE)
        self._drawing = RobotMarkers(simulated.plant.robot, simulated.frame)
        self._drawn = self._transformed = 0
        self._steps = 0
        self._reported = node.get_clock().now().nanoseconds

    def publish(self, measurement: Measurement) -> None:
        """Publish one measurement, and now and then what is only for the eye."""
        frame, robot = self.simulated.frame, self.simulated.robot
        stamp, truth = measurement.actuators.stamp, measurement.truth
        if measurement.model is not None:
            self._model.publish(convert.condensed_model_message(measurement.model, stamp, frame))
        self._effectors.publish(
            convert.effector_states_message(measurement.measured, robot.effector_names, frame)
        )
        self._truth.publish(convert.effector_states_message(truth, robot.effector_names, frame))
        self._actuators.publish(
            convert.actuator_state_message(measurement.actuators, robot.actuator_names, frame)
        )
        self._steps += 1
        if stamp - self._drawn >= MARKER_PERIOD_NS and self._markers.get_subscription_count():
            self._drawn = stamp
            self._markers.publish(
                self._drawing.message(self.simulated.plant.sample.state.x, truth.position, stamp)
            )
        if (
            stamp - self._transformed >= TRANSFORM_PERIOD_NS
            and self._node.transforms.get_subscription_count()
        ):
            self._transformed = stamp
            self._node.transforms.publish(TFMessage(transforms=list(self._effector_frames(measurement))))

    def report(self) -> tuple[str, bytes, str, dict[str, object]]:
        """This robot's diagnostic status."""
        now, simulated = self._node.get_clock().now().nanoseconds, self.simulated
        rate = self._steps * convert.NANOSECONDS / max(1, now - self._reported)
        self._steps, self._reported = 0, now
        fault, drive = simulated.plant.sample.fault, simulated.guard.drive
        level = ERROR if fault else OK if drive in (Drive.FOLLOWING, Drive.WAITING) else WARN
        values: dict[str, object] = {"drive": drive, "rate [Hz]": f"{rate:.1f}", "fault": fault or "none"}
        return simulated.name, level, fault or str(drive), {**values, **gate_values(simulated.gate)}

    def _effector_frames(self, measurement: Measurement) -> Any:
        for name, position in zip(
            self.simulated.robot.effector_names, measurement.truth.position, strict=True
        ):
            T_base_effector = np.eye(4)
            T_base_effector[:3, 3] = position
            child = f"{self.simulated.name}/{name}"
            yield convert.transform_message(
                T_base_effector, measurement.truth.stamp, self.simulated.frame, child
            )

    def _on_command(self, message: ActuatorCommand) -> None:
        simulated, now = self.simulated, self._node.now
        if simulated.gate.actuator_command(message, simulated.command_clock, now):
            simulated.command(convert.actuator_order(message, simulated.robot.actuator_names), now)
            self._node.commanded()

    def _on_loads(self, message: EffectorLoads) -> None:
        simulated = self.simulated
        if simulated.gate.effector_loads(message, simulated.load_clock, self._node.now):
            simulated.load = convert.effector_loads(message, simulated.robot.effector_names, simulated.load)


def main() -> None:
    """Run the node."""
    run(FemSimulator)
