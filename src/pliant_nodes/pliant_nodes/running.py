"""What every node shares: parameters, lifecycle with autostart, diagnostics, a clean start and end."""

from __future__ import annotations

import signal
import sys
import traceback
from collections.abc import Callable
from typing import Any

import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.action import ActionServer
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from pliant.config_file import NAME
from pliant.errors import PliantError
from pliant_nodes.diagnostics import diagnostic_array
from pliant_nodes.parameters import NodeParameters

RELIABLE = QoSProfile(depth=50, reliability=ReliabilityPolicy.RELIABLE)
FRESH = QoSProfile(
    depth=5, reliability=ReliabilityPolicy.RELIABLE
)  # who is late skips, and does not fall behind
NEWEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE)
LATCHED = QoSProfile(
    depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
)

DIAGNOSTICS_PERIOD_S = 1.0


class RobotNode(LifecycleNode):
    """A lifecycle node of one or more robots.

    A subclass declares its parameters in its constructor, loads in `configure`, starts and stops
    in `activate` and `deactivate`, and reports in `report`.
    """

    def __init__(self, name: str, **options: Any) -> None:
        super().__init__(name, automatically_declare_parameters_from_overrides=True, **options)
        self.parameters = NodeParameters(self)
        self.active = False
        self._permanent: set[Any] = set()
        self._diagnostics = self.create_publisher(DiagnosticArray, "/diagnostics", RELIABLE)
        self.create_timer(DIAGNOSTICS_PERIOD_S, self._report)

    def configure(self) -> None:
        """Load what the node needs; raise PliantError where that fails."""

    def activate(self) -> None:
        """Begin."""

    def deactivate(self) -> None:
        """Stop."""

    def finish(self) -> None:
        """Give back what outlives ROS, such as files; called once at the end."""

    def report(self) -> list[tuple[str, bytes, str, dict[str, object]]]:
        """Hardware id, level, message and values of each diagnostic status."""
        return []

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Lifecycle transition: load."""
        self._permanent = self._entities()
        return self._transition(self.configure)

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Lifecycle transition: begin."""
        outcome = self._transition(self.activate)
        self.active = outcome == TransitionCallbackReturn.SUCCESS
        return super().on_activate(state) if self.active else outcome

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Lifecycle transition: stop."""
        self.active = False
        self.deactivate()
        return super().on_deactivate(state)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Lifecycle transition: give back what `configure` made."""
        for waitable in [w for w in self.waitables if isinstance(w, ActionServer)]:
            waitable.destroy()
        for entity in self._entities() - self._permanent:
            for destroy in (
                self.destroy_publisher,
                self.destroy_subscription,
                self.destroy_service,
                self.destroy_timer,
            ):
                if destroy(entity):
                    break
        return super().on_cleanup(state)

    def start(self) -> None:
        """Configure and activate, as `autostart` asks for.

        Raises:
            PliantError: If a transition fails.
        """
        for transition in (self.trigger_configure, self.trigger_activate):
            if transition() != TransitionCallbackReturn.SUCCESS:
                raise PliantError(f"{self.get_fully_qualified_name()} did not start; see above")

    def _transition(self, change: Callable[[], None]) -> TransitionCallbackReturn:
        """Make a change; rclpy would swallow its exception without a word."""
        try:
            change()
        except PliantError as error:
            self.get_logger().error(f"{change.__name__}: {error}")
            return TransitionCallbackReturn.FAILURE
        except Exception:
            self.get_logger().fatal(f"{change.__name__}: {traceback.format_exc()}")
            return TransitionCallbackReturn.ERROR
        return TransitionCallbackReturn.SUCCESS

    def _entities(self) -> set[Any]:
        return {*self.publishers, *self.subscriptions, *self.services, *self.timers}

    def _report(self) -> None:
        for hardware_id, level, message, values in self.report():
            name = f"{self.get_fully_qualified_name().lstrip('/')}: {hardware_id}"
            stamp = self.get_clock().now().to_msg()
            self._diagnostics.publish(diagnostic_array(stamp, name, hardware_id, level, message, values))


def refuse_bad_names(*names: str) -> None:
    """Refuse names of robots that cannot be topics and frames, or that are not one's own.

    Raises:
        PliantError: If there is one.
    """
    for index, name in enumerate(names):
        if not NAME.fullmatch(name):
            raise PliantError(f"robot name: given {name!r}; allowed: letters, digits and '_', a letter first")
        if name in names[:index]:
            raise PliantError(f"robot name: given {name!r} twice; allowed: a name of its own for each robot")


def run(make_node: Callable[[], RobotNode]) -> None:
    """Run one node until the end: its exit status is 1 where it could not start."""
    rclpy.init()
    status = 0
    node: RobotNode | None = None
    try:
        node = make_node()
        executor = SingleThreadedExecutor()
        executor.add_node(node)
        executor.spin()
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    except RuntimeError:  # an interrupt inside rclpy's compiled code comes out as this
        if rclpy.ok():
            raise
    except PliantError as error:
        sys.stderr.write(f"{error}\n")
        status = 1
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal and a launcher may both send it
        if node is not None:
            node.finish()
        rclpy.try_shutdown()
    sys.exit(status)
