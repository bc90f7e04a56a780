"""The controller as a pure function: state, model and measurement in; command and state out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.condensed import CondensedModel
from pliant.control.inverse import InverseParameters, InverseResult, inverse_step
from pliant.errors import PliantError
from pliant.limits import ActuatorLimits

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ControllerState:
    """What the controller remembers from one step to the next.

    Attributes:
        offset: Estimate of plant minus model at the effectors [m], shape (n_e, 3).
        variance: Variance of each effector's offset, an axis [m2], shape (n_e,); infinite
            before the first measurement.
        x_e: The model's effectors at the last step [m], shape (n_e, 3).
    """

    offset: Array
    variance: Array
    x_e: Array


def initial_state(model: CondensedModel) -> ControllerState:
    """A state that knows nothing: the first measurement is believed."""
    n_e = len(model.effectors)
    return ControllerState(np.zeros((n_e, 3)), np.full(n_e, np.inf), model.x_e)


def observe(
    state: ControllerState, model: CondensedModel, measured: Array, parameters: InverseParameters
) -> ControllerState:
    """Update the offset between plant and model: a scalar Kalman filter an effector.

    The offset is a random walk that moves as the robot does, because a wrong stiffness or
    friction shows in proportion to motion: its variance grows by (model_error |x_e - x_e'|)^2
    a step, and a measurement of variance sensor_noise^2 pulls it by the gain
    P / (P + sensor_noise^2), never less than feedback_gain_min. While the robot travels the
    gain is near one; at rest it falls and averages the noise out.

    Args:
        state: The last state.
        model: Condensed model at the actuator state that the measurement belongs to.
        measured: Measured effectors [m], shape (n_e, 3).
        parameters: Options.

    Raises:
        PliantError: If the measurement has another shape or is not finite.
    """
    if np.shape(measured) != model.x_e.shape or not np.isfinite(measured).all():
        raise PliantError(
            f"measured effector: given {np.asarray(measured).tolist()}; "
            f"allowed: finite, shape {model.x_e.shape}"
        )
    motion = np.linalg.norm(model.x_e - state.x_e, axis=1)
    variance = state.variance + (parameters.model_error * motion) ** 2
    noise = parameters.sensor_noise**2
    unknown = np.isinf(variance) | (variance + noise == 0.0)
    gain = np.where(unknown, 1.0, variance / np.where(unknown, 1.0, variance + noise))
    gain = np.maximum(gain, parameters.feedback_gain_min)
    innovation = measured - model.x_e - state.offset
    return ControllerState(
        offset=state.offset + gain[:, None] * innovation,
        variance=gain * noise,
        x_e=model.x_e,
    )


def control_step(
    model: CondensedModel,
    goal: Array,
    limits: ActuatorLimits,
    parameters: InverseParameters,
    state: ControllerState,
    *,
    period: float,
    measured: Array | None = None,
    weight: Array | None = None,
) -> tuple[InverseResult, ControllerState]:
    """Observe, then solve the inverse problem from the estimated effector position.

    Args:
        model: Condensed model at the present state of the actuators.
        goal: Wanted effector positions [m], shape (n_e, 3).
        limits: Limits of the actuators.
        parameters: Options.
        state: The last state, or `initial_state(model)`.
        period: Time until the next step [s].
        measured: Measured effectors [m], shape (n_e, 3); None where nothing was measured,
            which keeps the last offset.
        weight: Weight of each effector, shape (n_e,).

    Returns:
        The command and the next state. The effector estimate that the command was computed
        from is `model.x_e + state.offset`.

    Raises:
        PliantError: As `inverse_step` and `observe`.
    """
    if measured is not None:
        state = observe(state, model, measured, parameters)
    effector = model.x_e + state.offset
    result = inverse_step(model, goal, limits, parameters, period=period, effector=effector, weight=weight)
    return result, state
