"""The model node: from what the actuators do to the condensed model, for a robot that has none itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pliant_msgs.msg import ActuatorState, CondensedModel, EffectorStates

from pliant.condensed.source import FemModel
from pliant.errors import EquilibriumError
from pliant.parameters import parameter, validate
from pliant.robot import Robot, load_robot
from pliant_nodes import conversions as convert
from pliant_nodes.diagnostics import ERROR, OK, gate_values
from pliant_nodes.gate import MeasurementClock, MessageGate
from pliant_nodes.running import NEWEST, RELIABLE, RobotNode, refuse_bad_names, run
from pliant_nodes.simulated_robot import expected_messages

SOURCES = {"fem": FemModel}


@dataclass(frozen=True)
class ModelParameters:
    """Whose model, and what computes it."""

    robot: str = parameter("", unit="", description="Robot file, or the name of a shipped robot.")
    name: str = parameter(
        "", unit="", description="Name of the robot in the graph; that of its file if empty."
    )
    source: str = parameter("fem", unit="", choices=("fem",), description="What computes the model.")
    autostart: bool = parameter(True, unit="", description="Whether to configure and activate at once.")

    def __post_init__(self) -> None:
        validate(self)


class CondensedModelNode(RobotNode):
    """Answers the newest actuator state with the condensed model there, and where that puts the effectors."""

    def __init__(self, **options: Any) -> None:
        super().__init__("condensed_model", **options)
        self._options = self.parameters.declare(ModelParameters)
        self.parameters.refuse_unknown()
        self._robot: Robot | None = None
        self._failure = ""
        self._failures = self._published = 0
        if self._options.autostart:
            self.start()

    def configure(self) -> None:
        """Load the robot and solve its rest state."""
        self._robot = robot = load_robot(self._options.robot)
        self._source = SOURCES[self._options.source](robot)
        self._name = self._options.name or robot.name
        refuse_bad_names(self._name)
        self._frame = f"{self._name}/base"
        self._gate = MessageGate(expected_messages(robot, self._frame))
        self._stamps = MeasurementClock()
        self._models = self.create_publisher(CondensedModel, "condensed_model", RELIABLE)
        self._predictions = self.create_publisher(EffectorStates, "predicted/effector_states", RELIABLE)
        self.create_subscription(ActuatorState, "actuator_states", self._on_state, NEWEST)

    def report(self) -> list[tuple[str, bytes, str, dict[str, object]]]:
        """Rate, failures, refused messages."""
        if not self.active:
            return []
        values: dict[str, object] = {"models": self._published, "without equilibrium": self._failures}
        level, failure = (ERROR if self._failure else OK), self._failure
        return [
            (self._name, level, failure or "following the actuators", {**values, **gate_values(self._gate)})
        ]

    def _on_state(self, message: ActuatorState) -> None:
        if not self.active or self._robot is None or not self._gate.actuator_state(message, self._stamps):
            return
        reading = convert.actuator_reading(message, self._robot.actuator_names)
        try:
            model = self._source(reading, convert.seconds(reading.stamp))
        except EquilibriumError as error:
            self._failure = str(error)
            self._failures += 1
            self.get_logger().error(f"no model: {error}", throttle_duration_sec=1.0)
            return
        self._failure = ""
        self._published += 1
        self._models.publish(convert.condensed_model_message(model, reading.stamp, self._frame))
        predicted = convert.EffectorReading(reading.stamp, model.x_e, None, model.lambda_e, int(model.source))
        self._predictions.publish(convert.effector_states_message(predicted, model.effectors, self._frame))


def main() -> None:
    """Run the node."""
    run(CondensedModelNode)
