"""Following a path of goals: when a goal is done, and what the journey came to."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from pliant.errors import PliantError
from pliant.parameters import parameter, validate

Array = NDArray[np.float64]


class FollowCode(IntEnum):
    """How a path ended."""

    SUCCEEDED = 0
    """Every goal was met within tolerance."""
    TOLERANCE_MISSED = 1
    """A goal that looked reachable was not met in time."""
    UNREACHABLE = 2
    """A goal was out of reach; the effectors went to the nearest reachable point."""


@dataclass(frozen=True)
class FollowParameters:
    """When a goal counts as met, and when it is given up."""

    tolerance: float = parameter(
        5e-5,
        unit="m",
        minimum=1e-9,
        maximum=1.0,
        description="Distance of the effectors from a goal at which it is met.",
    )
    settle: float = parameter(
        0.03,
        unit="s",
        minimum=0.0,
        maximum=1e3,
        description="Time that the effectors stay within tolerance before the goal is met.",
    )
    max_steps: int = parameter(
        20,
        unit="",
        minimum=1,
        maximum=100_000,
        description="Control steps after which the next goal is tried.",
    )

    def __post_init__(self) -> None:
        validate(self)


@dataclass(frozen=True)
class FollowState:
    """Where on the path the effectors are.

    Attributes:
        due: Time before which each goal is not left, from the start [s]; its length is the
            number of goals.
        start: Time of the start [s].
        index: Goal that is being followed; the number of goals once all are done.
        steps: Control steps spent on it.
        within_since: Time since which its tolerance has been met [s]; inf if it is not.
        errors: Distance at which each goal was left [m].
        missed: Whether each goal was left out of tolerance.
        unreachable: Whether each goal was out of reach when it was left.
    """

    due: tuple[float, ...]
    start: float
    index: int = 0
    steps: int = 0
    within_since: float = np.inf
    errors: tuple[float, ...] = ()
    missed: tuple[bool, ...] = ()
    unreachable: tuple[bool, ...] = ()

    @property
    def done(self) -> bool:
        """Whether every goal has been met or given up."""
        return self.index == len(self.due)


@dataclass(frozen=True)
class FollowResult:
    """What the action reports: code, message, mean and largest error of the goals [m]."""

    code: FollowCode
    message: str
    mean_error: float
    max_error: float


def start_following(n_goals: int, *, time: float, due: tuple[float, ...] = ()) -> FollowState:
    """The state at the start of a path.

    Args:
        n_goals: Number of goals, at least one.
        time: Present time [s].
        due: Time from the start before which each goal is not left [s]; empty for no schedule.

    Raises:
        PliantError: If there is no goal, or the schedule has another length or runs backwards.
    """
    if n_goals < 1:
        raise PliantError("path: given no goal; allowed: one or more")
    schedule = due or (0.0,) * n_goals
    if len(schedule) != n_goals or not np.isfinite(schedule).all() or np.any(np.diff(schedule) < 0):
        raise PliantError(
            f"path times: given {len(schedule)} for {n_goals} goals; "
            "allowed: none, or one finite time a goal, not decreasing"
        )
    return FollowState(due=tuple(schedule), start=time)


def advance(
    state: FollowState,
    parameters: FollowParameters,
    *,
    error: float,
    reachable: bool,
    time: float,
) -> FollowState:
    """The state after one sensor reading, before the command that answers it.

    A goal is left when it was within tolerance for `settle`, or after `max_steps`, and not
    before it is due.

    Args:
        state: The last state, not done.
        parameters: Options.
        error: Present distance of the effectors from the goal `state.index` [m].
        reachable: What the last command said of that goal; True before the first.
        time: Time of the reading [s].
    """
    within = error <= parameters.tolerance
    since = min(state.within_since, time) if within else np.inf
    settled = time - since >= parameters.settle
    due = time - state.start >= state.due[state.index]
    if not (due and (settled or state.steps >= parameters.max_steps)):
        return replace(state, steps=state.steps + 1, within_since=since)
    return FollowState(
        due=state.due,
        start=state.start,
        index=state.index + 1,
        steps=1,
        errors=(*state.errors, error),
        missed=(*state.missed, not within),
        unreachable=(*state.unreachable, not within and not reachable),
    )


def result(state: FollowState) -> FollowResult:
    """The result of a path that is done, or of the part that was followed."""
    n_missed, n_unreachable = sum(state.missed), sum(state.unreachable)
    code = FollowCode.SUCCEEDED
    if n_unreachable:
        code = FollowCode.UNREACHABLE
    elif n_missed:
        code = FollowCode.TOLERANCE_MISSED
    message = f"{len(state.errors)} of {len(state.due)} goals followed"
    if n_missed:
        message += f", {n_missed} out of tolerance, {n_unreachable} of them out of reach"
    errors = state.errors or (np.inf,)
    return FollowResult(code, message, float(np.mean(errors)), float(np.max(errors)))
