"""What may come in: every message is checked here, and each refusal is counted by its reason.

Pure Python on anything that has a message's fields; no ROS. A refused message changes nothing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np

from pliant.control import FollowParameters
from pliant.errors import PliantError

NANOSECONDS = 1_000_000_000
FARTHEST_M = 1e3
LARGEST_VALUE = 1e9  # no course, tension or rate of a robot file is larger
LONGEST_PATH = 2_000
SYMMETRY_TOLERANCE = 1e-9  # of W, relative to its largest entry


class Reason(StrEnum):
    """Why a message was refused."""

    NOT_FINITE = "not finite"
    WRONG_SIZE = "wrong size"
    UNKNOWN_NAME = "unknown name"
    DUPLICATE_NAME = "duplicate name"
    MISSING_NAME = "missing name"
    WRONG_FRAME = "wrong frame"
    WRONG_ROBOT = "wrong robot"
    WRONG_MODE = "wrong mode"
    OUT_OF_RANGE = "out of range"
    NOT_SYMMETRIC = "compliance not symmetric"
    NOT_CONVERGED = "not converged"
    BAD_STAMP = "bad stamp"
    STALE = "stale"
    FUTURE = "future"
    OUT_OF_ORDER = "out of order"
    LOST_PARTNER = "lost partner"


Check = Callable[[], Reason | None]


@dataclass(frozen=True)
class Expected:
    """What messages of one robot must agree with.

    Attributes:
        robot: Name of the robot.
        robot_hash: Hash of its file and mesh.
        frame: Its base frame.
        actuators: Actuator names.
        effectors: Effector names.
        modes: Mode of ActuatorCommand for each actuator.
    """

    robot: str
    robot_hash: str
    frame: str
    actuators: tuple[str, ...]
    effectors: tuple[str, ...]
    modes: tuple[int, ...]


@dataclass
class MeasurementClock:
    """Judges the stamps of one measured topic by its own stamps alone, so that a replay judges alike.

    Stamps must increase, by at most `largest_gap`. A source that starts again, earlier or much
    later, is believed after its own stamps have run for `confirmation` without a single
    message of the old time in between.

    Attributes:
        largest_gap: Largest step forward [ns].
        confirmation: How long a new time must run [ns].
        last: Last accepted stamp [ns], None before the first.
        restarts: How often a new time was accepted.
    """

    largest_gap: int = NANOSECONDS
    confirmation: int = NANOSECONDS // 2
    last: int | None = None
    restarts: int = 0
    _first_candidate: int = 0
    _candidate: int | None = None

    def judge(self, stamp: int) -> Reason | None:
        """Accept a stamp [ns] (None) or say why not."""
        if self.last is None or 0 < stamp - self.last <= self.largest_gap:
            self.last, self._candidate = stamp, None
            return None
        if self._candidate is None or not 0 < stamp - self._candidate <= self.largest_gap:
            self._first_candidate = stamp
        self._candidate = stamp
        if stamp - self._first_candidate >= self.confirmation:
            self.last, self._candidate = stamp, None
            self.restarts += 1
            return None
        return Reason.FUTURE if stamp > self.last else Reason.OUT_OF_ORDER


@dataclass
class CommandClock:
    """Judges the stamps of one commanded topic by the time of who obeys.

    Attributes:
        largest_age: Oldest acceptable command [ns].
        tolerance: How far ahead of the present a stamp may be [ns].
        last: Last accepted stamp [ns], None before the first.
    """

    largest_age: int
    tolerance: int = NANOSECONDS // 10
    last: int | None = None

    def judge(self, stamp: int, now: int) -> Reason | None:
        """Accept a stamp [ns] at the time `now` [ns] (None) or say why not."""
        if stamp < now - self.largest_age:
            return Reason.STALE
        if stamp > now + self.tolerance:
            return Reason.FUTURE
        if self.last is not None and stamp <= self.last:
            return Reason.OUT_OF_ORDER
        self.last = stamp
        return None


@dataclass
class MessageGate:
    """Checks messages of one robot and counts what it refuses.

    Attributes:
        expected: What they must agree with.
        rejected: How many messages of a topic were refused for a reason.
        accepted: How many of each topic were let in.
    """

    expected: Expected
    rejected: Counter[tuple[str, Reason]] = field(default_factory=Counter)
    accepted: Counter[str] = field(default_factory=Counter)

    def admit(self, topic: str, *checks: Check) -> bool:
        """Whether a message passes all checks, in this order; the first failure is counted."""
        for check in checks:
            reason = check()
            if reason is not None:
                self.reject(topic, reason)
                return False
        self.accepted[topic] += 1
        return True

    def reject(self, topic: str, reason: Reason, count: int = 1) -> None:
        """Count a refusal that was decided elsewhere."""
        self.rejected[topic, reason] += count

    def actuator_state(self, message: Any, clock: MeasurementClock, topic: str = "actuator_states") -> bool:
        """Whether an ActuatorState is let in."""
        arrays = (message.position, message.velocity, message.effort)
        return self.admit(
            topic,
            lambda: _frame(message, self.expected.frame),
            lambda: _names(message.name, self.expected.actuators),
            lambda: _sizes(message.name, *arrays, message.flags),
            lambda: _numbers(*arrays, largest=LARGEST_VALUE),
            lambda: _stamped(message, clock.judge),
        )

    def effector_states(self, message: Any, clock: MeasurementClock, topic: str = "effector_states") -> bool:
        """Whether an EffectorStates is let in."""
        n = len(message.name)
        return self.admit(
            topic,
            lambda: _frame(message, self.expected.frame),
            lambda: _names(message.name, self.expected.effectors),
            lambda: _sizes(message.name, message.position),
            lambda: _size(message.covariance, 0, 9 * n) or _size(message.force, 0, n),
            lambda: _numbers(_xyz(message.position), largest=FARTHEST_M),
            lambda: _numbers(message.covariance, _xyz(message.force), largest=LARGEST_VALUE),
            lambda: _stamped(message, clock.judge),
        )

    def condensed_model(self, message: Any, clock: MeasurementClock, topic: str = "condensed_model") -> bool:
        """Whether a CondensedModel is let in."""
        arrays = (message.x_e, message.x_e_free, message.lambda_e, message.delta_a, message.delta_a_free)
        scalars = [message.time_step, message.extrapolation, message.residual]
        return self.admit(
            topic,
            lambda: _frame(message, self.expected.frame),
            lambda: _robot(message, self.expected),
            lambda: _names(message.effector, self.expected.effectors, ordered=True),
            lambda: _names(message.actuator, self.expected.actuators, ordered=True),
            lambda: _model_sizes(message),
            lambda: _numbers(message.w, *arrays, message.lambda_a, scalars, largest=math.inf),
            lambda: _numbers(message.x_e, message.delta_a, largest=FARTHEST_M),
            lambda: None if message.source in (0, 1, 2) else Reason.WRONG_MODE,
            lambda: _symmetric(message.w),
            lambda: None if message.converged else Reason.NOT_CONVERGED,
            lambda: _stamped(message, clock.judge),
        )

    def actuator_command(
        self, message: Any, clock: CommandClock, now: int, topic: str = "actuator_command"
    ) -> bool:
        """Whether an ActuatorCommand is let in at the time `now` [ns]."""
        return self.admit(
            topic,
            lambda: _frame(message, self.expected.frame),
            lambda: _names(message.name, self.expected.actuators),
            lambda: _sizes(message.name, message.mode, message.value, message.max_rate),
            lambda: _numbers(message.value, message.max_rate, largest=LARGEST_VALUE),
            lambda: _modes(message, self.expected),
            lambda: Reason.OUT_OF_RANGE if min(message.max_rate, default=0.0) < 0.0 else None,
            lambda: _valid_stamp(message.model_stamp),
            lambda: _stamped(message, lambda stamp: clock.judge(stamp, now)),
        )

    def effector_loads(
        self, message: Any, clock: CommandClock, now: int, topic: str = "effector_loads"
    ) -> bool:
        """Whether an EffectorLoads is let in at the time `now` [ns]."""
        return self.admit(
            topic,
            lambda: _frame(message, self.expected.frame),
            lambda: _names(message.name, self.expected.effectors, complete=False),
            lambda: _sizes(message.name, message.force),
            lambda: _numbers(_xyz(message.force), largest=LARGEST_VALUE),
            lambda: _stamped(message, lambda stamp: clock.judge(stamp, now)),
        )

    def goal(self, message: Any, clock: CommandClock, now: int | None, topic: str = "goal") -> bool:
        """Whether a PointStamped goal is let in at the time `now` [ns]; its stamp may be 0, for "at once"."""
        at_once = now is None or (message.header.stamp.sec, message.header.stamp.nanosec) == (0, 0)
        return self.admit(
            topic,
            lambda: None if message.header.frame_id in ("", self.expected.frame) else Reason.WRONG_FRAME,
            lambda: _numbers(_xyz([message.point]), largest=FARTHEST_M),
            lambda: None if at_once else _stamped(message, lambda stamp: clock.judge(stamp, now or 0)),
        )

    def path(self, goal: Any, topic: str = "follow_effector_path") -> bool:
        """Whether a FollowEffectorPath goal is let in."""
        points = [pose.position for pose in goal.path.poses]
        times = [time.sec * NANOSECONDS + time.nanosec for time in goal.time]
        effectors = self.expected.effectors
        known = goal.effector in effectors or (goal.effector == "" and len(effectors) == 1)
        increasing = times == sorted(set(times)) and min(times, default=0) >= 0
        return self.admit(
            topic,
            lambda: None if known else Reason.UNKNOWN_NAME,
            lambda: None if goal.path.header.frame_id in ("", self.expected.frame) else Reason.WRONG_FRAME,
            lambda: None if 0 < len(points) <= LONGEST_PATH else Reason.WRONG_SIZE,
            lambda: _size(times, 0, len(points)),
            lambda: _numbers(_xyz(points), [goal.tolerance, goal.settle], largest=FARTHEST_M),
            lambda: None if increasing and _followable(goal) else Reason.OUT_OF_RANGE,
        )


def _followable(goal: Any) -> bool:
    """Whether tolerance and settle, where given, are what the follower allows."""
    given = {name: getattr(goal, name) for name in ("tolerance", "settle") if getattr(goal, name) != 0.0}
    try:
        FollowParameters(**given)
    except PliantError:
        return False
    return True


def _frame(message: Any, frame: str) -> Reason | None:
    return None if message.header.frame_id == frame else Reason.WRONG_FRAME


def _robot(message: Any, expected: Expected) -> Reason | None:
    same = (message.robot, message.robot_hash) == (expected.robot, expected.robot_hash)
    return None if same else Reason.WRONG_ROBOT


def _names(
    given: Sequence[str], wanted: Sequence[str], *, complete: bool = True, ordered: bool = False
) -> Reason | None:
    if not set(given) <= set(wanted):
        return Reason.UNKNOWN_NAME
    if len(set(given)) < len(given):
        return Reason.DUPLICATE_NAME
    if complete and len(given) < len(wanted):
        return Reason.MISSING_NAME
    return Reason.WRONG_SIZE if ordered and tuple(given) != tuple(wanted) else None


def _sizes(names: Sequence[str], *arrays: Sequence[Any]) -> Reason | None:
    return next((Reason.WRONG_SIZE for array in arrays if len(array) != len(names)), None)


def _size(array: Sequence[Any], *allowed: int) -> Reason | None:
    return None if len(array) in allowed else Reason.WRONG_SIZE


def _model_sizes(message: Any) -> Reason | None:
    n_e, n_a = 3 * len(message.effector), len(message.actuator)
    return (
        _size(message.w, (n_e + n_a) ** 2)
        or _size(message.x_e, n_e)
        or _size(message.x_e_free, n_e)
        or _size(message.lambda_e, n_e)
        or _size(message.delta_a, n_a)
        or _size(message.delta_a_free, n_a)
        or _size(message.lambda_a, n_a)
    )


def _numbers(*arrays: Iterable[float], largest: float) -> Reason | None:
    for array in arrays:
        values = np.asarray(array, dtype=np.float64)
        if not np.isfinite(values).all():
            return Reason.NOT_FINITE
        if values.size and np.abs(values).max() > largest:
            return Reason.OUT_OF_RANGE
    return None


def _symmetric(w: Sequence[float]) -> Reason | None:
    n = math.isqrt(len(w))
    matrix = np.asarray(w, dtype=np.float64).reshape(n, n)
    uneven = np.abs(matrix - matrix.T).max(initial=0.0)
    return None if uneven <= SYMMETRY_TOLERANCE * np.abs(matrix).max(initial=0.0) else Reason.NOT_SYMMETRIC


def _modes(message: Any, expected: Expected) -> Reason | None:
    wanted = dict(zip(expected.actuators, expected.modes, strict=True))
    same = all(mode == wanted[name] for name, mode in zip(message.name, message.mode, strict=True))
    return None if same else Reason.WRONG_MODE


def _valid_stamp(stamp: Any) -> Reason | None:
    return None if stamp.sec >= 0 and 0 <= stamp.nanosec < NANOSECONDS else Reason.BAD_STAMP


def _stamped(message: Any, judge: Callable[[int], Reason | None]) -> Reason | None:
    stamp = message.header.stamp
    return _valid_stamp(stamp) or judge(stamp.sec * NANOSECONDS + stamp.nanosec)


def _xyz(items: Iterable[Any]) -> list[float]:
    return [value for item in items for value in (item.x, item.y, item.z)]
