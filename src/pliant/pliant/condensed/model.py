"""The condensed model: what a controller knows of a soft robot, whoever computed it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from pliant.errors import PliantError

Array = NDArray[np.float64]


class Source(IntEnum):
    """Where a condensed model comes from."""

    FEM = 0
    LEARNED = 1
    MEASURED = 2


@dataclass(frozen=True)
class CondensedModel:
    """Compliance between actuators and effectors, linearised at one state of the robot.

    Ménager et al. 2023, eqs. 3 and 6, with W = H K^-1 H' in m/N (not the time-step scaled
    matrix of an implicit dynamics step), actuator course delta_a = L0 - L (the pulled
    length) and effort lambda_a >= 0 (the tension). Effectors carry forces as well, so

        x_e     = x_e_free     + W_ea lambda_a + W_ee lambda_e
        delta_a = delta_a_free + W_aa lambda_a + W_ae lambda_e

    holds exactly at the linearisation point. The free state is the linear extrapolation to
    zero effort and zero load, not the true unloaded equilibrium.

    Attributes:
        robot: Name of the robot.
        robot_hash: Hash of the robot's file and mesh that the model stands for.
        source: Who computed it.
        stamp: Time of the state that it is linearised at [s].
        time_step: Time step of a dynamic model [s]; 0 for quasi-statics.
        effectors: Effector names, length n_e.
        actuators: Actuator names, length n_a.
        w: Compliance [m/N], shape (3 n_e + n_a, 3 n_e + n_a), effector xyz first.
        x_e: Effector positions [m], shape (n_e, 3).
        x_e_free: Effector positions extrapolated to zero effort and load [m], shape (n_e, 3).
        delta_a: Actuator course [m], shape (n_a,).
        delta_a_free: Course extrapolated to zero effort and load [m], shape (n_a,).
        lambda_a: Actuator effort [N], shape (n_a,).
        lambda_e: External force on the effectors [N], shape (n_e, 3).
        extrapolation: 0 inside the range the model is good for, growing outside.
        residual: Norm of the equilibrium residual it was computed at [N].
        converged: Whether that residual met its tolerance.

    Raises:
        PliantError: If shapes disagree with the names or a number is not finite.
    """

    robot: str
    robot_hash: str
    source: Source
    stamp: float
    time_step: float
    effectors: tuple[str, ...]
    actuators: tuple[str, ...]
    w: Array
    x_e: Array
    x_e_free: Array
    delta_a: Array
    delta_a_free: Array
    lambda_a: Array
    lambda_e: Array
    extrapolation: float = 0.0
    residual: float = 0.0
    converged: bool = True

    def __post_init__(self) -> None:
        n_e, n_a = len(self.effectors), len(self.actuators)
        n = 3 * n_e + n_a
        expected = {
            "w": (n, n),
            "x_e": (n_e, 3),
            "x_e_free": (n_e, 3),
            "lambda_e": (n_e, 3),
            "delta_a": (n_a,),
            "delta_a_free": (n_a,),
            "lambda_a": (n_a,),
        }
        for name, shape in expected.items():
            value = getattr(self, name)
            if value.shape != shape:
                raise PliantError(
                    f"condensed model of {self.robot!r}: {name} has shape {value.shape}, "
                    f"{n_e} effectors and {n_a} actuators need {shape}"
                )
            if not np.isfinite(value).all():
                raise PliantError(f"condensed model of {self.robot!r}: {name} is not finite")

    @property
    def _n_e(self) -> int:
        return 3 * len(self.effectors)

    @property
    def w_ee(self) -> Array:
        """Effector motion per effector force [m/N], shape (3 n_e, 3 n_e)."""
        return self.w[: self._n_e, : self._n_e]

    @property
    def w_ea(self) -> Array:
        """Effector motion per actuator effort [m/N], shape (3 n_e, n_a)."""
        return self.w[: self._n_e, self._n_e :]

    @property
    def w_aa(self) -> Array:
        """Actuator course per actuator effort [m/N], shape (n_a, n_a)."""
        return self.w[self._n_e :, self._n_e :]

    def jacobian(self) -> Array:
        """Effector motion per actuator course, J = W_ea W_aa^-1 (Ménager et al. 2023, II-A).

        Returns:
            J, dimensionless, shape (3 n_e, n_a).

        Raises:
            PliantError: If W_aa is singular.
        """
        try:
            return np.asarray(np.linalg.solve(self.w_aa, self.w_ea.T).T, dtype=np.float64)
        except np.linalg.LinAlgError as error:
            raise PliantError(f"condensed model of {self.robot!r}: W_aa is singular") from error

    def predict(self, lambda_a: Array, lambda_e: Array | None = None) -> tuple[Array, Array]:
        """Effector positions and actuator course under other loads (eq. 3).

        Args:
            lambda_a: Actuator effort [N], shape (n_a,).
            lambda_e: External effector force [N], shape (n_e, 3); as linearised if None.

        Returns:
            Effector positions [m], shape (n_e, 3), and actuator course [m], shape (n_a,).
        """
        force = self.lambda_e if lambda_e is None else lambda_e
        load = np.concatenate([np.ravel(force), lambda_a])
        motion = self.w @ load
        x_e = self.x_e_free + motion[: self._n_e].reshape(-1, 3)
        return x_e, self.delta_a_free + motion[self._n_e :]


def free_state(w: Array, x_e: Array, delta_a: Array, lambda_a: Array, lambda_e: Array) -> tuple[Array, Array]:
    """Effector positions and course extrapolated to zero load: delta - W lambda.

    Args:
        w: Compliance [m/N], shape (3 n_e + n_a, 3 n_e + n_a).
        x_e: Effector positions [m], shape (n_e, 3).
        delta_a: Actuator course [m], shape (n_a,).
        lambda_a: Actuator effort [N], shape (n_a,).
        lambda_e: External effector force [N], shape (n_e, 3).

    Returns:
        x_e_free [m], shape (n_e, 3), and delta_a_free [m], shape (n_a,).
    """
    motion = w @ np.concatenate([lambda_e.ravel(), lambda_a])
    n_e = x_e.size
    return x_e - motion[:n_e].reshape(-1, 3), delta_a - motion[n_e:]
