"""Messages without ROS: anything with the fields is a message to the gate."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from pliant_nodes.gate import NANOSECONDS, Expected

EXPECTED = Expected("arm", "hash", "arm/base", ("a", "b", "c"), ("tip", "elbow"), (1, 1, 0))


def stamp(ns: int) -> Any:
    return SimpleNamespace(sec=ns // NANOSECONDS, nanosec=ns % NANOSECONDS)


def header(ns: int, frame: str = "arm/base") -> Any:
    return SimpleNamespace(stamp=stamp(ns), frame_id=frame)


def points(n: int) -> list[Any]:
    return [SimpleNamespace(x=0.1 * i, y=0.0, z=0.2) for i in range(n)]


def actuator_state(ns: int) -> Any:
    return SimpleNamespace(
        header=header(ns),
        name=["a", "b", "c"],
        position=[0.0] * 3,
        velocity=[0.0] * 3,
        effort=[1.0] * 3,
        flags=[0] * 3,
    )


def effector_states(ns: int) -> Any:
    return SimpleNamespace(
        header=header(ns),
        name=["tip", "elbow"],
        position=points(2),
        covariance=[0.0] * 18,
        force=points(2),
        source=2,
    )


def condensed_model(ns: int) -> Any:
    w = np.eye(9)
    return SimpleNamespace(
        header=header(ns),
        robot="arm",
        robot_hash="hash",
        source=0,
        time_step=0.0,
        effector=["tip", "elbow"],
        actuator=["a", "b", "c"],
        w=w.ravel().tolist(),
        x_e=[0.0] * 6,
        x_e_free=[0.0] * 6,
        delta_a=[0.0] * 3,
        delta_a_free=[0.0] * 3,
        lambda_a=[0.0] * 3,
        lambda_e=[0.0] * 6,
        extrapolation=0.0,
        residual=0.0,
        converged=True,
    )


def actuator_command(ns: int) -> Any:
    return SimpleNamespace(
        header=header(ns),
        name=["a", "b", "c"],
        mode=[1, 1, 0],
        value=[0.0] * 3,
        max_rate=[0.0] * 3,
        model_stamp=stamp(ns),
    )


def effector_loads(ns: int) -> Any:
    return SimpleNamespace(header=header(ns), name=["tip", "elbow"], force=points(2))


def goal(ns: int) -> Any:
    return SimpleNamespace(header=header(ns), point=points(1)[0])
