"""Random condensed models at random states, with limits around them."""

import numpy as np

from pliant.condensed import CondensedModel, Source
from pliant.limits import ActuatorLimits

EFFORT_RANGE = 20.0  # N


def random_model(rng: np.random.Generator, n_a: int, n_e: int = 1) -> CondensedModel:
    """Compliance of some mm/N, efforts and courses inside `random_limits`."""
    n = 3 * n_e + n_a
    half = rng.normal(size=(n, n + 2))
    w = 2e-3 * half @ half.T / n
    x_e = rng.normal(size=(n_e, 3)) * 0.01
    course = rng.uniform(0.0, 0.03, n_a)
    return CondensedModel(
        robot="random",
        robot_hash="",
        source=Source.FEM,
        stamp=0.0,
        time_step=0.0,
        effectors=tuple(f"e{i}" for i in range(n_e)),
        actuators=tuple(f"a{i}" for i in range(n_a)),
        w=w,
        x_e=x_e,
        x_e_free=x_e,
        delta_a=course,
        delta_a_free=course,
        lambda_a=rng.uniform(0.1, 8.0, n_a),
        lambda_e=np.zeros((n_e, 3)),
    )


def random_limits(n_a: int, **changes: float) -> ActuatorLimits:
    values = {
        "effort_min": 0.0,
        "effort_max": EFFORT_RANGE,
        "course_min": 0.0,
        "course_max": 0.03,
        "effort_rate": 100.0,
        "course_rate": 0.2,
    } | changes
    return ActuatorLimits(**{name: np.full(n_a, value) for name, value in values.items()})
