"""The controller node: one command for each actuator state, towards a goal or along a path."""

from __future__ import annotations

import time
from collections import Counter, deque
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from geometry_msgs.msg import PointStamped, Pose, PoseArray
from pliant_msgs.action import FollowEffectorPath
from pliant_msgs.msg import ActuatorCommand, ActuatorState, CondensedModel, EffectorStates
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.clock import Clock, ClockType

from pliant.control import InverseParameters, InverseResult, Status
from pliant.control.follow import FollowCode, FollowParameters, result
from pliant.parameters import parameter, validate
from pliant.robot import load_robot
from pliant_nodes import conversions as convert
from pliant_nodes.controller_core import ControllerCore, Reference, Snapshot
from pliant_nodes.diagnostics import OK, WARN, gate_values
from pliant_nodes.gate import CommandClock, MeasurementClock, MessageGate, Reason
from pliant_nodes.joining import StampJoiner
from pliant_nodes.path_task import PathTask, single_reference
from pliant_nodes.running import FRESH, LATCHED, RELIABLE, RobotNode, refuse_bad_names, run
from pliant_nodes.simulated_robot import expected_messages

Code = FollowEffectorPath.Result

INPUTS = ("actuator_states", "effector_states", "condensed_model")
WATCH_PERIOD_S = 0.05
FAULT, UNHOMED = 8, 4  # bits of ActuatorState
CODES = {
    FollowCode.SUCCEEDED: Code.REACHED,
    FollowCode.TOLERANCE_MISSED: Code.TIMEOUT,
    FollowCode.UNREACHABLE: Code.UNREACHABLE,
}
BROKEN = (Status.INFEASIBLE, Status.SINGULAR, Status.FAILED)


@dataclass(frozen=True)
class ControllerParameters:
    """Whose controller, and how long it waits."""

    robot: str = parameter("", unit="", description="Robot file, or the name of a shipped robot.")
    name: str = parameter(
        "", unit="", description="Name of the robot in the graph; that of its file if empty."
    )
    rate: float = parameter(
        100.0, unit="Hz", minimum=1.0, maximum=1000.0, description="Expected rate of the actuator states."
    )
    state_timeout: float = parameter(
        0.5, unit="s", minimum=0.05, maximum=60.0, description="Silence after which a path is aborted."
    )
    queue: int = parameter(
        20, unit="", minimum=2, maximum=1000, description="Incomplete sets of messages kept."
    )
    autostart: bool = parameter(True, unit="", description="Whether to configure and activate at once.")

    def __post_init__(self) -> None:
        validate(self)


class InverseController(RobotNode):
    """Joins state, measurement and model by their stamp, and answers each set with one command."""

    def __init__(self, **options: Any) -> None:
        super().__init__("inverse_controller", **options)
        self._options = self.parameters.declare(ControllerParameters)
        self._inverse = self.parameters.declare(InverseParameters, prefix="inverse")
        self._follow = self.parameters.declare(FollowParameters, prefix="follow")
        self.parameters.refuse_unknown()
        if self._options.autostart:
            self.start()

    def configure(self) -> None:
        """Load the robot's limits and open every topic."""
        robot = load_robot(self._options.robot)
        self._name = self._options.name or robot.name
        refuse_bad_names(self._name)
        self._expected = expected_messages(robot, f"{self._name}/base")
        self._gate = MessageGate(self._expected)
        self._core = ControllerCore(
            robot.limits, robot.length_driven, self._inverse, period=1.0 / self._options.rate
        )
        self._joiner = StampJoiner(INPUTS, depth=self._options.queue)
        self._clocks = {topic: MeasurementClock() for topic in INPUTS}
        timeout = int(self._options.state_timeout * convert.NANOSECONDS)
        self._goal_clock = CommandClock(timeout)
        self._restarts = 0
        self._task: PathTask | None = None
        self._handle: ServerGoalHandle | None = None
        self._reference: Reference | None = None
        self._last: InverseResult | None = None
        self._broken = 0
        self._heard = dict.fromkeys((*INPUTS, "set"), 0.0)
        self._silent = True
        self._statuses: Counter[str] = Counter()
        self._times: deque[float] = deque(maxlen=200)
        self._reported = (time.monotonic(), 0)
        self._n_commands = 0
        self._commands = self.create_publisher(ActuatorCommand, "actuator_command", RELIABLE)
        self._references = self.create_publisher(EffectorStates, "reference", RELIABLE)
        self._goals = self.create_publisher(PoseArray, "goals", LATCHED)
        self.create_subscription(ActuatorState, INPUTS[0], self._on_actuators, FRESH)
        self.create_subscription(EffectorStates, INPUTS[1], self._on_effectors, FRESH)
        self.create_subscription(CondensedModel, INPUTS[2], self._on_model, FRESH)
        self.create_subscription(PointStamped, "goal", self._on_goal, RELIABLE)
        self.create_timer(WATCH_PERIOD_S, self._watch, clock=Clock(clock_type=ClockType.STEADY_TIME))
        self._server = ActionServer(
            self,
            FollowEffectorPath,
            "follow_effector_path",
            execute_callback=lambda handle: Code(),
            goal_callback=self._on_path,
            handle_accepted_callback=self._on_accepted,
            cancel_callback=lambda handle: CancelResponse.ACCEPT,
        )

    def deactivate(self) -> None:
        """Stop commanding; a path ends."""
        self._finish(Code.SHUTDOWN, "the controller was deactivated")
        self._forget()

    def report(self) -> list[tuple[str, bytes, str, dict[str, object]]]:
        """Rate, what the inverse problem found, refused and lost messages."""
        if not self.active:
            return []
        before, count = self._reported
        self._reported = (time.monotonic(), self._n_commands)
        values: dict[str, object] = {
            "rate [Hz]": f"{(self._n_commands - count) / (time.monotonic() - before):.1f}",
            "commands": self._n_commands,
            "status": self._last.status.name if self._last else "HOLDING",
            "predicted error [m]": f"{self._last.error_m:.3g}" if self._last else "none",
            "median time of a command [ms]": f"{1e3 * float(np.median(self._times)):.2f}"
            if self._times
            else "none",
            "restarts of the robot": self._restarts,
        }
        values |= {f"status {name}": count for name, count in sorted(self._statuses.items())}
        values |= {
            f"{Reason.LOST_PARTNER} of {topic}": count for topic, count in sorted(self._joiner.lost.items())
        }
        message = f"no {self._missing()}" if self._silent else "commanding"
        return [(self._name, WARN if self._silent else OK, message, {**values, **gate_values(self._gate)})]

    # ------------------------------------------------------------ measurements

    def _on_actuators(self, message: ActuatorState) -> None:
        if self.active and self._gate.actuator_state(message, self._clocks[INPUTS[0]]):
            self._join(INPUTS[0], convert.actuator_reading(message, self._expected.actuators))

    def _on_effectors(self, message: EffectorStates) -> None:
        if self.active and self._gate.effector_states(message, self._clocks[INPUTS[1]]):
            self._join(INPUTS[1], convert.effector_reading(message, self._expected.effectors))

    def _on_model(self, message: CondensedModel) -> None:
        if self.active and self._gate.condensed_model(message, self._clocks[INPUTS[2]]):
            self._join(
                INPUTS[2], (convert.nanoseconds(message.header.stamp), convert.condensed_model(message))
            )

    def _join(self, topic: str, message: Any) -> None:
        self._heard[topic] = time.monotonic()
        stamp = message[0] if isinstance(message, tuple) else message.stamp
        restarts = sum(clock.restarts for clock in self._clocks.values())
        if restarts != self._restarts:
            self._restarts = restarts
            self._finish(Code.STALE_STATE, "the robot started again")
            self._forget()
        complete = self._joiner.add(topic, stamp, message)
        if complete is not None:
            self._answer(Snapshot(complete[INPUTS[0]], complete[INPUTS[1]], complete[INPUTS[2]][1]))

    def _answer(self, snapshot: Snapshot) -> None:
        began = time.perf_counter()
        stamp = snapshot.actuators.stamp
        estimate = self._core.estimate(snapshot)
        self._follow_path(snapshot, estimate)
        order, self._last = self._core.order(snapshot, estimate, self._reference)
        self._commands.publish(
            convert.actuator_command_message(order, self._expected.actuators, self._expected.frame)
        )
        self._n_commands += 1
        self._silent, self._heard["set"] = False, time.monotonic()
        if self._last is not None and self._reference is not None:
            self._statuses[self._last.status.name] += 1
            self._publish_reference(self._reference, stamp)
            self._feed_back(snapshot)
        self._times.append(time.perf_counter() - began)

    # ------------------------------------------------------------ goals

    def _on_goal(self, message: PointStamped) -> None:
        now = self._clocks[INPUTS[0]].last
        if self.active and self._gate.goal(message, self._goal_clock, now):
            self._finish(Code.PREEMPTED, "a goal on the topic took over")
            position = convert.xyz([message.point])[0]
            self._reference = single_reference(position, 0, len(self._expected.effectors))
            self._show_goals(position[None])

    def _on_path(self, goal: FollowEffectorPath.Goal) -> GoalResponse:
        accepted = self.active and self._gate.path(goal)
        if not accepted:
            self.get_logger().warn(
                "a path is refused; /diagnostics says why" if self.active else "not active"
            )
        return GoalResponse.ACCEPT if accepted else GoalResponse.REJECT

    def _on_accepted(self, handle: ServerGoalHandle) -> None:
        self._finish(Code.PREEMPTED, "another path took over")
        goal = handle.request
        parameters = replace(self._follow, settle=goal.settle)
        if goal.tolerance > 0.0:
            parameters = replace(parameters, tolerance=goal.tolerance)
        effectors = self._expected.effectors
        self._handle = handle
        self._task = PathTask(
            goals=convert.xyz([pose.position for pose in goal.path.poses]),
            effector=effectors.index(goal.effector) if goal.effector else 0,
            n_effectors=len(effectors),
            parameters=parameters,
            due=tuple(convert.seconds(convert.nanoseconds(due)) for due in goal.time),
        )
        self._broken, self._heard["set"] = 0, time.monotonic()
        self._show_goals(self._task.goals)

    def _follow_path(self, snapshot: Snapshot, estimate: np.ndarray) -> None:
        task = self._task
        if (snapshot.actuators.flags & (FAULT | UNHOMED)).any():
            self._finish(Code.ROBOT_FAULT, "an actuator reports FAULT or UNHOMED")
            self._reference = None
        elif task is not None:
            task.advance(estimate, convert.seconds(snapshot.actuators.stamp))
            self._reference = task.reference()
            if task.done and task.state is not None:
                ended = result(task.state)
                self._finish(CODES[ended.code], ended.message)

    def _feed_back(self, snapshot: Snapshot) -> None:
        if self._task is None or self._handle is None or self._last is None:
            return
        self._task.reachable = self._last.reachable
        self._broken = self._broken + 1 if self._last.status in BROKEN else 0
        if self._broken > self._follow.max_steps:
            self._finish(Code.SOLVER_FAILED, f"the inverse problem is {self._last.status.name}")
            return
        feedback = FollowEffectorPath.Feedback(
            index=self._task.index, error=self._task.error, reachable=self._last.reachable
        )
        feedback.position = convert.point(snapshot.effectors.position[self._task.effector])
        self._handle.publish_feedback(feedback)

    def _finish(self, code: int, message: str) -> None:
        """End the path, if there is one, with a result."""
        handle, task = self._handle, self._task
        self._handle = self._task = None
        if handle is None or task is None:
            return
        errors = task.state.errors if task.state is not None else ()
        answer = Code(
            code=code,
            message=message,
            mean_error=float(np.mean(errors)) if errors else float("nan"),
            max_error=float(np.max(errors)) if errors else float("nan"),
            error=list(errors),
            steps=task.steps,
        )

        def conclude(ending: ServerGoalHandle) -> Code:
            if code == Code.REACHED:
                ending.succeed()
            elif code == Code.CANCELED:
                ending.canceled()
            else:
                ending.abort()
            return answer

        # Executing only now: a coroutine that waits would keep the executor spinning.
        handle.execute(conclude)
        self.get_logger().info(f"path ended: {message}")

    # ------------------------------------------------------------ silence

    def _watch(self) -> None:
        """Look at the real clock: it decides nothing but when to give up waiting."""
        if not self.active:
            return
        if self._handle is not None and self._handle.is_cancel_requested:
            self._finish(Code.CANCELED, "the client canceled")
            self._reference = None
        late = time.monotonic() - self._heard["set"] > self._options.state_timeout
        if late and (self._task is not None or not self._silent):
            self._give_up()

    def _give_up(self) -> None:
        missing = self._missing()
        self.get_logger().warn(f"no {missing} for {self._options.state_timeout} s: no more commands")
        wrong = self._gate.rejected["condensed_model", Reason.WRONG_ROBOT]
        mismatch = wrong and missing == "condensed_model"
        self._finish(Code.MODEL_MISMATCH if mismatch else Code.STALE_STATE, f"no {missing}")
        self._forget()
        self._silent = True

    def _missing(self) -> str:
        now, timeout = time.monotonic(), self._options.state_timeout
        silent = [topic for topic in INPUTS if now - self._heard[topic] > timeout]
        return ", ".join(silent) or "complete set of messages"

    def _forget(self) -> None:
        self._joiner.clear()
        self._reference = None

    # ------------------------------------------------------------ publishing

    def _publish_reference(self, reference: Reference, stamp: int) -> None:
        wanted = [i for i, weight in enumerate(reference.weight) if weight > 0.0]
        reading = convert.EffectorReading(
            stamp, reference.position[wanted], None, None, EffectorStates.WANTED
        )
        names = [self._expected.effectors[i] for i in wanted]
        self._references.publish(convert.effector_states_message(reading, names, self._expected.frame))

    def _show_goals(self, positions: np.ndarray) -> None:
        poses = [Pose(position=convert.point(position)) for position in positions]
        stamp = self.get_clock().now().nanoseconds
        self._goals.publish(PoseArray(header=convert.header(stamp, self._expected.frame), poses=poses))


def main() -> None:
    """Run the node."""
    run(InverseController)
