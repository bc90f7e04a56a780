"""One step of the inverse problem: from a condensed model and goals to an actuator command."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from pliant.condensed import CondensedModel
from pliant.control.problem import (
    Scaling,
    StepBounds,
    centring_problem,
    goal_problem,
    null_space,
    rescue_problem,
    scaling,
    step_bounds,
)
from pliant.control.qp import QPSolution, QPStatus, QuadraticProgram, solve_qp
from pliant.errors import PliantError
from pliant.limits import ActuatorLimits
from pliant.parameters import parameter, validate

Array = NDArray[np.float64]


class Status(IntEnum):
    """What a step of the inverse problem found."""

    CONVERGED = 0
    """The model predicts every effector within tolerance of its goal after this step."""
    APPROACHING = 1
    """The step is bounded by rates, trust region or regularisation; the next ones get closer."""
    UNREACHABLE = 2
    """No step gets closer: the command holds the effectors at the nearest reachable point."""
    INFEASIBLE = 3
    """No step meets all limits; the command violates them least."""
    SINGULAR = 4
    """The compliance cannot be used; the command holds the present state."""
    FAILED = 5
    """No solver met the optimality conditions; the command holds the present state."""


@dataclass(frozen=True)
class InverseParameters:
    """Options of the inverse problem and of the feedback around it."""

    solver: str = parameter(
        "osqp", unit="", choices=("osqp", "daqp"), description="Solver of the quadratic programs."
    )
    regularisation: float = parameter(
        1e-4,
        unit="",
        minimum=1e-9,
        maximum=1.0,
        description="Weight of the elastic energy of a step beside the effectors' error.",
    )
    step_fraction: float = parameter(
        0.1,
        unit="",
        minimum=1e-4,
        maximum=1.0,
        description="Largest change of course in one step, as a fraction of the course range.",
    )
    pretension: float = parameter(
        0.02,
        unit="N",
        minimum=0.0,
        maximum=1e3,
        description="Tension that no actuator is sent below, so that cables stay taut.",
    )
    centring_gain: float = parameter(
        0.5,
        unit="",
        minimum=0.0,
        maximum=1.0,
        description="Fraction of the superfluous tension that one step removes.",
    )
    null_tolerance: float = parameter(
        1e-6,
        unit="",
        minimum=1e-12,
        maximum=1e-2,
        description="Relative singular value under which a direction does not move the effectors.",
    )
    reach_tolerance: float = parameter(
        1e-4,
        unit="m",
        minimum=1e-9,
        maximum=1.0,
        description="Predicted error above which a goal that no step approaches is unreachable.",
    )

    sensor_noise: float = parameter(
        5e-5,
        unit="m",
        minimum=0.0,
        maximum=1.0,
        description="Standard deviation of the measured effector, an axis; 0 believes it whole.",
    )
    model_error: float = parameter(
        0.2,
        unit="",
        minimum=0.0,
        maximum=1.0,
        description="Relative error of the model's effector motion, for the feedback.",
    )
    feedback_gain_min: float = parameter(
        0.1,
        unit="",
        minimum=1e-3,
        maximum=1.0,
        description="Least weight of a new measurement in the feedback.",
    )

    def __post_init__(self) -> None:
        validate(self)


@dataclass(frozen=True)
class InverseResult:
    """A command and what is known about it. Course and effort say the same in two ways.

    Attributes:
        effort: Effort to command [N], shape (n_a,).
        course: Course to command [m], shape (n_a,): delta_a + W_aa (effort - lambda_a).
        effector: Predicted effector positions [m], shape (n_e, 3).
        status: What was found.
        reachable: False if the goal cannot be met, as far as the linear model sees.
        error_m: Largest predicted distance of a weighted effector from its goal [m].
        kkt_residual: Largest violation of the optimality conditions of the scaled, regularised
            programs (`pliant.control.qp.kkt_residual`).
        iterations: Iterations of the solver, all programs together.
    """

    effort: Array
    course: Array
    effector: Array
    status: Status
    reachable: bool
    error_m: float
    kkt_residual: float
    iterations: int


STALLED = 0.9  # a step that leaves this part of the error does not approach the goal
ACTIVE_MULTIPLIER = 1e-7  # a bound with a larger scaled multiplier presses
SINGULAR_COMPLIANCE = 1e-12  # least eigenvalue of W_aa, scaled to a unit diagonal


def inverse_step(
    model: CondensedModel,
    goal: Array,
    limits: ActuatorLimits,
    parameters: InverseParameters,
    *,
    period: float,
    effector: Array | None = None,
    weight: Array | None = None,
) -> InverseResult:
    """One step of eq. 4 (Ménager et al. 2023) from the model's present state.

    First the change of the effort that brings the effectors to their goals within course,
    effort, rate and trust limits (`goal_problem`); then, where actuators are redundant, the
    part of the tension that does not move the effectors goes towards the pretension
    (`centring_problem`).

    Args:
        model: Condensed model at the present state of the actuators.
        goal: Wanted effector positions [m], shape (n_e, 3).
        limits: Limits of the actuators.
        parameters: Options.
        period: Time until the next step [s].
        effector: Present effector positions, measured or estimated [m], shape (n_e, 3); the
            model's if None.
        weight: Weight of each effector, shape (n_e,); 1 if None. An effector of weight 0 is
            free, and its goal is not read.

    Raises:
        PliantError: If a shape is wrong or a goal, measurement, weight or period is not finite.
    """
    position = model.x_e if effector is None else effector
    weight = np.ones(len(model.effectors)) if weight is None else np.asarray(weight, dtype=float)
    _check(model, goal, limits, position, weight, period)
    if not _usable(model, weight):
        return _hold(model, goal, position, weight, Status.SINGULAR, 0)
    coordinate_weight = np.repeat(weight, 3)
    kept = coordinate_weight > 0.0
    error = np.sqrt(coordinate_weight[kept]) * (goal - position).ravel()[kept]
    bounds = step_bounds(
        model,
        limits,
        pretension=parameters.pretension,
        step_fraction=parameters.step_fraction,
        period=period,
    )
    scale = scaling(model, limits, bounds, coordinate_weight)
    problem = goal_problem(model, bounds, scale, error, regularisation=parameters.regularisation)
    solution = solve_qp(problem, parameters.solver)
    if solution.status is QPStatus.INFEASIBLE:
        return _rescue(model, goal, position, weight, problem, bounds, scale, parameters.solver)
    if solution.status is QPStatus.FAILED:
        return _hold(model, goal, position, weight, Status.FAILED, solution.iterations)
    centred = _centre(model, problem, solution, scale, parameters)
    change = scale.effort * centred.x
    effort, course, predicted = _command(model, position, change, bounds)
    distance, before = _distance(predicted, goal, weight), _distance(position, goal, weight)
    status = Status.APPROACHING
    if distance <= parameters.reach_tolerance:
        status = Status.CONVERGED
    elif distance > STALLED * before and not _step_bound(problem, solution, bounds, scale):
        status = Status.UNREACHABLE
    return InverseResult(
        effort=effort,
        course=course,
        effector=predicted,
        status=status,
        reachable=status is not Status.UNREACHABLE,
        error_m=distance,
        kkt_residual=centred.kkt_residual,
        iterations=centred.iterations,
    )


def _centre(
    model: CondensedModel,
    problem: QuadraticProgram,
    solution: QPSolution,
    scale: Scaling,
    parameters: InverseParameters,
) -> QPSolution:
    """Move along the null space of W_ea; the first solution where there is none."""
    directions = null_space(scale.motion, tolerance=parameters.null_tolerance)
    if directions.shape[1] == 0 or parameters.centring_gain == 0.0:
        return solution
    unit = float(scale.effort.mean())
    relative = scale.effort / unit
    excess = (model.lambda_a - parameters.pretension) / unit + relative * solution.x
    second = solve_qp(centring_problem(directions, problem, solution.x, relative, excess), parameters.solver)
    if second.status is not QPStatus.SOLVED:
        return solution
    return replace(
        solution,
        x=solution.x + parameters.centring_gain * (directions @ second.x),
        kkt_residual=max(solution.kkt_residual, second.kkt_residual),
        iterations=solution.iterations + second.iterations,
    )


def _step_bound(problem: QuadraticProgram, solution: QPSolution, bounds: StepBounds, scale: Scaling) -> bool:
    """Whether a rate or the trust region, not a limit, presses on the solution."""
    y = solution.multipliers
    own = np.where(y > 0, bounds.high, -bounds.low) >= bounds.step
    return bool((own & (np.abs(y) > ACTIVE_MULTIPLIER)).any())


def _command(
    model: CondensedModel, position: Array, change: Array, bounds: StepBounds
) -> tuple[Array, Array, Array]:
    """Effort [N], course [m] and predicted effectors [m], within bounds to the last bit."""
    command = bounds.apply(np.concatenate([change, model.w_aa @ change]))
    predicted = position + (model.w_ea @ change).reshape(-1, 3)
    return command[: change.size], command[change.size :], predicted


def _rescue(
    model: CondensedModel,
    goal: Array,
    position: Array,
    weight: Array,
    problem: QuadraticProgram,
    bounds: StepBounds,
    scale: Scaling,
    solver: str,
) -> InverseResult:
    solution = solve_qp(rescue_problem(problem, bounds, scale), solver)
    if solution.status is not QPStatus.SOLVED:
        return _hold(model, goal, position, weight, Status.INFEASIBLE, solution.iterations)
    change = scale.effort * solution.x[:-1]
    predicted = position + (model.w_ea @ change).reshape(-1, 3)
    return InverseResult(
        effort=model.lambda_a + change,
        course=model.delta_a + model.w_aa @ change,
        effector=predicted,
        status=Status.INFEASIBLE,
        reachable=False,
        error_m=_distance(predicted, goal, weight),
        kkt_residual=solution.kkt_residual,
        iterations=solution.iterations,
    )


def _hold(
    model: CondensedModel,
    goal: Array,
    position: Array,
    weight: Array,
    status: Status,
    iterations: int,
) -> InverseResult:
    return InverseResult(
        effort=model.lambda_a.copy(),
        course=model.delta_a.copy(),
        effector=position.copy(),
        status=status,
        reachable=False,
        error_m=_distance(position, goal, weight),
        kkt_residual=np.inf,
        iterations=iterations,
    )


def _distance(position: Array, goal: Array, weight: Array) -> float:
    kept = weight > 0.0
    return float(np.linalg.norm(position[kept] - goal[kept], axis=1).max(initial=0.0))


def _usable(model: CondensedModel, weight: Array) -> bool:
    diagonal = np.diag(model.w_aa)
    if not (diagonal > 0.0).all():
        return False
    root = np.sqrt(diagonal)
    least = np.linalg.eigvalsh(model.w_aa / np.outer(root, root))[0]
    return bool(least > SINGULAR_COMPLIANCE and np.any(model.w_ea[np.repeat(weight, 3) > 0.0]))


def _check(
    model: CondensedModel,
    goal: Array,
    limits: ActuatorLimits,
    position: Array,
    weight: Array,
    period: float,
) -> None:
    n_e, n_a = len(model.effectors), len(model.actuators)
    for name, value, shape in (
        ("goal", goal, (n_e, 3)),
        ("effector", position, (n_e, 3)),
        ("weight", weight, (n_e,)),
    ):
        if np.shape(value) != shape:
            raise PliantError(f"{name}: given shape {np.shape(value)}; allowed: {shape}")
    if limits.n_actuators != n_a:
        raise PliantError(f"limits of {limits.n_actuators} actuators; the model has {n_a}")
    if not (np.isfinite(weight).all() and (weight >= 0.0).all()):
        raise PliantError(f"weight: given {weight}; allowed: finite, not negative")
    if not np.isfinite(goal[weight > 0.0]).all() or not np.isfinite(position).all():
        raise PliantError(f"goal {goal.tolist()} or effector {position.tolist()} is not finite")
    if not (np.isfinite(period) and period > 0.0):
        raise PliantError(f"period: given {period}; allowed: above 0 s")
