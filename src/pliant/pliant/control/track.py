"""The control loop without ROS: a plant, a source of models and a path become a record."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pliant.condensed import CondensedModel
from pliant.control.feedback import initial_state, observe
from pliant.control.follow import (
    FollowParameters,
    FollowResult,
    FollowState,
    advance,
    result,
    start_following,
)
from pliant.control.inverse import InverseParameters, InverseResult, Status, inverse_step
from pliant.limits import ActuatorLimits

Array = NDArray[np.float64]


class Sample(Protocol):
    """What a plant's sensors say, and what only a simulation knows."""

    @property
    def position(self) -> Array:
        """Actuator course [m], shape (n_a,)."""

    @property
    def effort(self) -> Array:
        """Actuator effort [N], shape (n_a,)."""

    @property
    def effector(self) -> Array:
        """True effectors [m], shape (n_e, 3)."""

    @property
    def measured(self) -> Array:
        """Measured effectors [m], shape (n_e, 3)."""


class Plant(Protocol):
    """What takes a command and answers with a sample."""

    def step(self, command: Array, dt: float) -> Sample:
        """Apply a command for dt [s]: course [m] or effort [N] as each actuator is driven."""


ModelSource = Callable[[Sample], CondensedModel]


@dataclass(frozen=True)
class TrackResult:
    """One row a control step, in the order of time, and what it came to.

    Attributes:
        time: Time of the sample [s], shape (n,).
        index: Goal that it belongs to, shape (n,).
        goal: That goal [m], shape (n, n_e, 3).
        effector: True effectors [m], shape (n, n_e, 3).
        measured: Measured effectors [m], shape (n, n_e, 3).
        estimate: Effectors as the feedback estimates them [m], shape (n, n_e, 3).
        course: Course [m], shape (n, n_a).
        effort: Effort [N], shape (n, n_a).
        status: Status of the command that led to the sample, shape (n,).
        kkt_residual: Optimality of that command, shape (n,).
        goal_error: True distance of the effectors from each goal when it was left [m],
            shape (n_goals,).
        goal_steps: Control steps spent on each goal, shape (n_goals,).
        follow: The result in terms of the estimate, as a robot without a simulation knows it.
    """

    time: Array
    index: NDArray[np.int64]
    goal: Array
    effector: Array
    measured: Array
    estimate: Array
    course: Array
    effort: Array
    status: NDArray[np.int64]
    kkt_residual: Array
    goal_error: Array
    goal_steps: NDArray[np.int64]
    follow: FollowResult


def track(
    plant: Plant,
    model_source: ModelSource,
    path: Array,
    limits: ActuatorLimits,
    parameters: InverseParameters,
    *,
    start: Sample,
    length_driven: NDArray[np.bool_],
    period: float,
    follow: FollowParameters | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> TrackResult:
    """Follow a path with the loop of Ménager et al. 2023, III-C2, closed by the measurement.

    Args:
        plant: The robot, or its simulation.
        model_source: The condensed model at a sample's actuator state.
        path: Goals [m], shape (n_goals, n_e, 3), or (n_goals, 3) for one effector.
        limits: Limits of the actuators.
        parameters: Options of the inverse problem.
        start: The plant's sample before the first command.
        length_driven: Whether each actuator takes a course (else an effort), shape (n_a,).
        period: Time between control steps [s].
        follow: When a goal counts as met.
        progress: Called with the number of goals done and of all goals.

    Raises:
        PliantError: If the path is empty or shapes disagree; and whatever the plant and the
            model source raise.
    """
    options = follow or FollowParameters()
    goals = np.asarray(path, dtype=np.float64).reshape(len(path), -1, 3)
    following, sample, command, time = start_following(len(goals), time=0.0), start, None, 0.0
    controller = initial_state(model_source(sample))
    record = _Record()
    while not following.done:
        model = model_source(sample)
        controller = observe(controller, model, sample.measured, parameters)
        estimate = model.x_e + controller.offset
        goal = goals[following.index]
        record.append(time, following, goal, sample, estimate, command)
        next_following = advance(
            following,
            options,
            error=_distance(estimate, goal),
            reachable=command is None or command.reachable,
            time=time,
        )
        if next_following.index > following.index:
            record.leave(_distance(sample.effector, goal), following.steps)
            if progress is not None:
                progress(next_following.index, len(goals))
        following = next_following
        if not following.done:
            command = inverse_step(
                model,
                goals[following.index],
                limits,
                parameters,
                period=period,
                effector=estimate,
            )
            sample = plant.step(np.where(length_driven, command.course, command.effort), period)
            time += period
    return record.result(result(following))


def _distance(position: Array, goal: Array) -> float:
    return float(np.linalg.norm(position - goal, axis=1).max())


class _Record:
    """Rows while they are being collected."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.goals: list[tuple[float, int]] = []

    def append(
        self,
        time: float,
        following: FollowState,
        goal: Array,
        sample: Sample,
        estimate: Array,
        command: InverseResult | None,
    ) -> None:
        self.rows.append(
            {
                "time": time,
                "index": following.index,
                "goal": goal,
                "effector": sample.effector,
                "measured": sample.measured,
                "estimate": estimate,
                "course": sample.position,
                "effort": sample.effort,
                "status": int(Status.APPROACHING if command is None else command.status),
                "kkt_residual": 0.0 if command is None else command.kkt_residual,
            }
        )

    def leave(self, error: float, steps: int) -> None:
        self.goals.append((error, steps))

    def result(self, follow: FollowResult) -> TrackResult:
        columns: dict[str, Any] = {name: np.array([row[name] for row in self.rows]) for name in self.rows[0]}
        errors, steps = (np.array(column) for column in zip(*self.goals, strict=True))
        return TrackResult(**columns, goal_error=errors, goal_steps=steps, follow=follow)
