"""How far a robot reaches: by one linear model, or by going there."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linprog

from pliant.condensed import CondensedModel
from pliant.errors import PliantError
from pliant.limits import ActuatorLimits

Array = NDArray[np.float64]

Step = Callable[[Array], tuple[Array, bool]]


def horizontal_directions(n: int) -> Array:
    """Unit vectors in the horizontal plane, from x on, counter-clockwise, shape (n, 3)."""
    angle = 2.0 * np.pi * np.arange(n) / n
    return np.column_stack([np.cos(angle), np.sin(angle), np.zeros(n)])


def reach(step: Step, center: ArrayLike, directions: Array, *, maximum: float, resolution: float) -> Array:
    """Distance that an effector gets from a centre along each direction, by going there.

    From the centre the goal moves outward by `resolution` until it is out of reach, and comes
    back: neighbouring goals keep a nonlinear robot on one branch of its equilibria.

    Args:
        step: Goes to a goal [m], shape (3,), and says where it got and whether that is it.
        center: Centre [m], shape (3,).
        directions: Unit vectors, shape (n, 3).
        maximum: Distance at which to stop looking [m].
        resolution: Distance between goals, and error of the answer [m].

    Returns:
        Distance of the last goal reached [m], shape (n,); 0 where the centre is out of reach.

    Raises:
        PliantError: If maximum or resolution is not positive.
    """
    if not (maximum > 0.0 and resolution > 0.0):
        raise PliantError(f"reach: given {maximum}, {resolution}; allowed: lengths above 0 m")
    middle = np.asarray(center, dtype=np.float64)
    radii = resolution * np.arange(1, int(np.floor(maximum / resolution + 1e-9)) + 1)
    found = np.zeros(len(directions))
    for i, direction in enumerate(directions):
        if not step(middle)[1]:
            continue
        for radius in radii:
            if not step(middle + radius * direction)[1]:
                break
            found[i] = radius
        for radius in radii[radii < found[i]][::-1]:
            step(middle + radius * direction)
    return found


def linear_reach(
    model: CondensedModel, limits: ActuatorLimits, center: ArrayLike, directions: Array
) -> Array:
    """The same for the first effector by the linear model alone: one linear program each.

    Maximises r subject to x_e_free + W_ea lambda = center + r direction and the limits of
    effort and course (Ménager et al. 2023, eq. 3). Good near the state of the model.

    Args:
        model: The condensed model.
        limits: Limits of the actuators.
        center: Centre [m], shape (3,).
        directions: Unit vectors, shape (n, 3).

    Returns:
        Distance [m], shape (n,); 0 where not even the centre is in reach.
    """
    middle = np.asarray(center, dtype=np.float64)
    zero = np.zeros(len(model.actuators))
    x_free, course_free = model.predict(zero)
    rows = np.vstack([model.w_aa, -model.w_aa])
    room = np.concatenate([limits.course_max - course_free, course_free - limits.course_min])
    finite = np.isfinite(room)
    unit = float(np.abs(model.w_ea[:3]).max()) or 1.0
    effort = list(zip(limits.effort_min, limits.effort_max))

    def farthest(direction: Array, maximum: float | None) -> float | None:
        answer = linprog(
            np.append(zero, -1.0),
            A_ub=np.column_stack([rows[finite], np.zeros(finite.sum())]) / unit,
            b_ub=room[finite] / unit,
            A_eq=np.column_stack([model.w_ea[:3] / unit, -direction]),
            b_eq=(middle - x_free[0]) / unit,
            bounds=[*effort, (0.0, maximum)],
        )
        return unit * float(answer.x[-1]) if answer.status == 0 else None

    if farthest(np.zeros(3), 0.0) is None:
        return np.zeros(len(directions))
    return np.array([farthest(direction, None) or 0.0 for direction in directions])
