"""Eq. 4 as quadratic programs in scaled variables: the goal, the null space, the rescue."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.condensed import CondensedModel
from pliant.control.qp import QuadraticProgram
from pliant.limits import ActuatorLimits

Array = NDArray[np.float64]

RESCUE_REGULARISATION = 1e-6  # weight of the motion beside the violation of a limit


@dataclass(frozen=True)
class StepBounds:
    """How far one step may go: effort [N], then course [m], all of shape (2 n_a,).

    Attributes:
        present: Present values.
        step: Largest change allowed by trust region and rates; infinite where none bounds it.
        limit_min: Smallest values allowed.
        limit_max: Largest values allowed.
    """

    present: Array
    step: Array
    limit_min: Array
    limit_max: Array

    @property
    def low(self) -> Array:
        """Lower bound of the change. Outside its limits a quantity returns at full step."""
        return np.clip(self.limit_min - self.present, -self.step, self.step)

    @property
    def high(self) -> Array:
        """Upper bound of the change."""
        return np.clip(self.limit_max - self.present, -self.step, self.step)

    def apply(self, change: Array) -> Array:
        """Present values plus a change that the bounds allow, exact at the limits."""
        value = self.present + np.clip(change, self.low, self.high)
        out = np.maximum(self.limit_min - self.present, self.present - self.limit_max)
        clipped = np.clip(value, self.limit_min, self.limit_max)
        return np.where(out <= self.step, clipped, value)


def step_bounds(
    model: CondensedModel,
    limits: ActuatorLimits,
    *,
    pretension: float,
    step_fraction: float,
    period: float,
) -> StepBounds:
    """Bounds of one step from the model's actuator state.

    Args:
        model: The condensed model, linearised at the present state.
        limits: Limits of the actuators.
        pretension: Effort that no actuator goes below [N].
        step_fraction: Trust region, as a fraction of each finite course range.
        period: Time that the step may take [s].
    """
    course_range = limits.course_max - limits.course_min
    course_step = np.minimum(step_fraction * course_range, limits.course_rate * period)
    effort_min = np.maximum(limits.effort_min, np.minimum(pretension, limits.effort_max))
    return StepBounds(
        present=np.concatenate([model.lambda_a, model.delta_a]),
        step=np.concatenate([limits.effort_rate * period, course_step]),
        limit_min=np.concatenate([effort_min, limits.course_min]),
        limit_max=np.concatenate([limits.effort_max, limits.course_max]),
    )


@dataclass(frozen=True)
class Scaling:
    """From efforts and metres to numbers of order one, the same in any system of units.

    Attributes:
        effort: Effort that one unit of each variable stands for [N], shape (n_a,).
        row: Effort [N], then course [m], that one unit of each bound stands for, shape (2 n_a,).
        rows: Constraint matrix in scaled variables, shape (2 n_a, n_a).
        motion: Weighted effector motion per scaled variable, Frobenius norm 1, shape (k, n_a).
        length: Length that one unit of motion stands for [m].
    """

    effort: Array
    row: Array
    rows: Array
    motion: Array
    length: float


def scaling(model: CondensedModel, limits: ActuatorLimits, bounds: StepBounds, weight: Array) -> Scaling:
    """Scale by the largest step that each actuator may take.

    Args:
        model: The condensed model; its W_aa must have a positive diagonal.
        limits: Limits of the actuators.
        bounds: Bounds of the step.
        weight: Weight of each effector coordinate, shape (3 n_e,).
    """
    diagonal = np.diag(model.w_aa)
    n_a = diagonal.size
    effort = np.minimum.reduce(
        [bounds.step[:n_a], bounds.step[n_a:] / diagonal, limits.effort_max - limits.effort_min]
    )
    row = np.concatenate([effort, effort * diagonal])
    rows = np.vstack([np.diag(effort), model.w_aa * effort]) / row[:, None]
    kept = weight > 0.0
    motion = np.sqrt(weight[kept])[:, None] * model.w_ea[kept] * effort
    length = float(np.linalg.norm(motion))
    return Scaling(effort, row, rows, motion / length, length)


def goal_problem(
    model: CondensedModel,
    bounds: StepBounds,
    scale: Scaling,
    error: Array,
    *,
    regularisation: float,
) -> QuadraticProgram:
    """Eq. 4 in the change of the effort: the effectors to their goals.

    Minimises |error - W_ea dlambda|^2 + eps dlambda' W_aa dlambda (Ménager et al. 2023, eq. 4,
    with the regularisation of the authors' code on the *change* of the effort instead of the
    effort: on the effort it leaves a steady error that feedback cannot remove), with
    eps = regularisation |W_ea D|_F^2 / tr(D W_aa D), D = diag(scale.effort), which makes it
    independent of units.

    Args:
        model: The condensed model.
        bounds: Bounds of the step.
        scale: Scaling of the variables.
        error: Goal minus effector position, weighted by sqrt(weight) [m], shape (k,).
        regularisation: Dimensionless.
    """
    elastic = scale.effort[:, None] * model.w_aa * scale.effort
    eps = regularisation / float(np.trace(elastic))
    return QuadraticProgram(
        P=scale.motion.T @ scale.motion + eps * elastic,
        q=-scale.motion.T @ (error / scale.length),
        A=scale.rows,
        lower=bounds.low / scale.row,
        upper=bounds.high / scale.row,
    )


def null_space(motion: Array, *, tolerance: float) -> Array:
    """Orthonormal directions of the scaled effort that leave the effectors at rest.

    Args:
        motion: Scaled effector motion, shape (k, n_a).
        tolerance: Singular values below this fraction of the largest count as zero.

    Returns:
        Columns, shape (n_a, n_null).
    """
    _, sigma, vt = np.linalg.svd(motion)
    rank = int((sigma > tolerance * sigma[0]).sum())
    return vt[rank:].T


def centring_problem(
    directions: Array,
    goal: QuadraticProgram,
    step: Array,
    relative: Array,
    excess: Array,
) -> QuadraticProgram:
    """The least tension above the target among all efforts that move the effectors alike.

    Minimises |excess + diag(relative) N z|^2 over z, subject to the bounds of `goal` around its
    solution; it is a program of its own, after the first, so that no weight trades the
    effectors against the tension.

    Args:
        directions: N, from `null_space`, shape (n_a, n_null).
        goal: The first program.
        step: Its solution, shape (n_a,).
        relative: Effort of each scaled variable over a common unit, shape (n_a,).
        excess: Effort after `step` minus its target, over the same unit, shape (n_a,).
    """
    at = goal.A @ step
    tension = relative[:, None] * directions
    return QuadraticProgram(
        P=tension.T @ tension,
        q=tension.T @ excess,
        A=goal.A @ directions,
        lower=np.minimum(goal.lower - at, 0.0),
        upper=np.maximum(goal.upper - at, 0.0),
    )


def rescue_problem(goal: QuadraticProgram, bounds: StepBounds, scale: Scaling) -> QuadraticProgram:
    """The step that violates the limits least, where no step meets them all.

    Variables are the scaled change and one common violation t >= 0, in scaled units.
    """
    m, n = goal.A.shape
    one = np.ones((m, 1))
    P = np.zeros((n + 1, n + 1))
    P[:n, :n] = RESCUE_REGULARISATION * goal.P
    P[n, n] = 1.0
    step = bounds.step / scale.row
    free = np.full(m, np.inf)
    return QuadraticProgram(
        P=P,
        q=np.zeros(n + 1),
        A=np.vstack(
            [
                np.hstack([goal.A, 0 * one]),
                np.hstack([goal.A, one]),
                np.hstack([goal.A, -one]),
            ]
        ),
        lower=np.concatenate([-step, (bounds.limit_min - bounds.present) / scale.row, -free]),
        upper=np.concatenate([step, free, (bounds.limit_max - bounds.present) / scale.row]),
    )
