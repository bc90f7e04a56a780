"""Between ROS messages and the library's types, without loss. Nothing else converts.

Quaternions are x, y, z, w, in ROS and in scipy; nowhere else does this order appear.
Time is an integer of nanoseconds; `seconds` rounds to a float only for the library, whose
`CondensedModel.stamp` is exact to the nanosecond below 2^22 s (48 days, simulated time) and to
0.3 us at today's epoch. Messages therefore get their stamp from the measurement, never from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from builtin_interfaces.msg import Duration, Time
from geometry_msgs.msg import Point, Transform, TransformStamped, Vector3
from numpy.typing import NDArray
from pliant_msgs.msg import ActuatorCommand, ActuatorState, EffectorLoads, EffectorStates
from pliant_msgs.msg import CondensedModel as CondensedModelMessage
from scipy.spatial.transform import Rotation
from std_msgs.msg import Header

from pliant.condensed import CondensedModel, Source

Array = NDArray[np.float64]

NANOSECONDS = 1_000_000_000


@dataclass(frozen=True)
class ActuatorReading:
    """What the actuators do.

    Attributes:
        stamp: Time of the measurement [ns].
        position: Course of a cable [m], shape (n_a,).
        velocity: Its rate [m/s], shape (n_a,).
        effort: Tension [N], shape (n_a,).
        flags: Bits of ActuatorState, shape (n_a,).
    """

    stamp: int
    position: Array
    velocity: Array
    effort: Array
    flags: NDArray[np.uint8]


@dataclass(frozen=True)
class ActuatorOrder:
    """What the actuators shall do.

    Attributes:
        stamp: Time of the reading that it answers [ns].
        mode: Constants of ActuatorCommand, shape (n_a,).
        value: Course [m] or tension [N], shape (n_a,).
        max_rate: Largest rate of value, 0 for the robot's own limit, shape (n_a,).
        model_stamp: Time of the condensed model it was computed with [ns]; 0 for none.
    """

    stamp: int
    mode: NDArray[np.uint8]
    value: Array
    max_rate: Array
    model_stamp: int


@dataclass(frozen=True)
class EffectorReading:
    """Where the effectors are.

    Attributes:
        stamp: Time of the measurement [ns].
        position: Positions in the base frame [m], shape (n_e, 3).
        covariance: Covariance of each position [m2], shape (n_e, 3, 3); None where unknown.
        force: External forces [N], shape (n_e, 3); None where unknown.
        source: Who says so, a constant of EffectorStates.
    """

    stamp: int
    position: Array
    covariance: Array | None
    force: Array | None
    source: int


def nanoseconds(time: Time | Duration) -> int:
    """A ROS time as an integer [ns]."""
    return int(time.sec) * NANOSECONDS + int(time.nanosec)


def to_time(stamp: int) -> Time:
    """An integer [ns] as a ROS time."""
    return Time(sec=stamp // NANOSECONDS, nanosec=stamp % NANOSECONDS)


def seconds(stamp: int) -> float:
    """An integer time [ns] as the nearest float [s]."""
    return stamp / NANOSECONDS


def header(stamp: int, frame: str) -> Header:
    """A header from a time [ns] and a frame."""
    return Header(stamp=to_time(stamp), frame_id=frame)


def actuator_state_message(reading: ActuatorReading, names: Sequence[str], frame: str) -> ActuatorState:
    """A reading as a message, its entries in the order of `names`."""
    return ActuatorState(
        header=header(reading.stamp, frame),
        name=list(names),
        position=reading.position.tolist(),
        velocity=reading.velocity.tolist(),
        effort=reading.effort.tolist(),
        flags=reading.flags.tolist(),
    )


def actuator_reading(message: ActuatorState, names: Sequence[str]) -> ActuatorReading:
    """A message as a reading, its entries put in the order of `names`."""
    order = _order(message.name, names)
    return ActuatorReading(
        stamp=nanoseconds(message.header.stamp),
        position=np.array(message.position, dtype=np.float64)[order],
        velocity=np.array(message.velocity, dtype=np.float64)[order],
        effort=np.array(message.effort, dtype=np.float64)[order],
        flags=np.array(message.flags, dtype=np.uint8)[order],
    )


def actuator_command_message(command: ActuatorOrder, names: Sequence[str], frame: str) -> ActuatorCommand:
    """An order as a message, its entries in the order of `names`."""
    return ActuatorCommand(
        header=header(command.stamp, frame),
        name=list(names),
        mode=command.mode.tolist(),
        value=command.value.tolist(),
        max_rate=command.max_rate.tolist(),
        model_stamp=to_time(command.model_stamp),
    )


def actuator_order(message: ActuatorCommand, names: Sequence[str]) -> ActuatorOrder:
    """A message as an order, its entries put in the order of `names`."""
    order = _order(message.name, names)
    return ActuatorOrder(
        stamp=nanoseconds(message.header.stamp),
        mode=np.array(message.mode, dtype=np.uint8)[order],
        value=np.array(message.value, dtype=np.float64)[order],
        max_rate=np.array(message.max_rate, dtype=np.float64)[order],
        model_stamp=nanoseconds(message.model_stamp),
    )


def effector_states_message(reading: EffectorReading, names: Sequence[str], frame: str) -> EffectorStates:
    """A reading as a message, its entries in the order of `names`."""
    return EffectorStates(
        header=header(reading.stamp, frame),
        name=list(names),
        position=[point(p) for p in reading.position],
        covariance=[] if reading.covariance is None else reading.covariance.ravel().tolist(),
        force=[] if reading.force is None else [vector(f) for f in reading.force],
        source=reading.source,
    )


def effector_reading(message: EffectorStates, names: Sequence[str]) -> EffectorReading:
    """A message as a reading, its entries put in the order of `names`."""
    order = _order(message.name, names)
    covariance = np.array(message.covariance, dtype=np.float64).reshape(-1, 3, 3)
    return EffectorReading(
        stamp=nanoseconds(message.header.stamp),
        position=xyz(message.position)[order],
        covariance=covariance[order] if covariance.size else None,
        force=xyz(message.force)[order] if message.force else None,
        source=int(message.source),
    )


def effector_loads_message(stamp: int, force: Array, names: Sequence[str], frame: str) -> EffectorLoads:
    """Forces on the effectors [N], shape (n_e, 3), as a message."""
    return EffectorLoads(header=header(stamp, frame), name=list(names), force=[vector(f) for f in force])


def effector_loads(message: EffectorLoads, names: Sequence[str], force: Array) -> Array:
    """Forces on the effectors [N], shape (n_e, 3): those of the message, the others as in `force`."""
    updated = force.copy()
    for name, f in zip(message.name, message.force, strict=True):
        updated[names.index(name)] = (f.x, f.y, f.z)
    return updated


def condensed_model_message(model: CondensedModel, stamp: int, frame: str) -> CondensedModelMessage:
    """A condensed model as a message, with the time of its measurement [ns]."""
    return CondensedModelMessage(
        header=header(stamp, frame),
        robot=model.robot,
        robot_hash=model.robot_hash,
        source=int(model.source),
        time_step=model.time_step,
        effector=list(model.effectors),
        actuator=list(model.actuators),
        w=model.w.ravel().tolist(),
        x_e=model.x_e.ravel().tolist(),
        x_e_free=model.x_e_free.ravel().tolist(),
        delta_a=model.delta_a.tolist(),
        delta_a_free=model.delta_a_free.tolist(),
        lambda_a=model.lambda_a.tolist(),
        lambda_e=model.lambda_e.ravel().tolist(),
        extrapolation=float(model.extrapolation),
        residual=float(model.residual),
        converged=bool(model.converged),
    )


def condensed_model(message: CondensedModelMessage) -> CondensedModel:
    """A message as a condensed model.

    Raises:
        PliantError: If its sizes disagree or a number is not finite.
        ValueError: If an array cannot have its shape.
    """
    n = 3 * len(message.effector) + len(message.actuator)
    return CondensedModel(
        robot=message.robot,
        robot_hash=message.robot_hash,
        source=Source(message.source),
        stamp=seconds(nanoseconds(message.header.stamp)),
        time_step=message.time_step,
        effectors=tuple(message.effector),
        actuators=tuple(message.actuator),
        w=np.array(message.w, dtype=np.float64).reshape(n, n),
        x_e=np.array(message.x_e, dtype=np.float64).reshape(-1, 3),
        x_e_free=np.array(message.x_e_free, dtype=np.float64).reshape(-1, 3),
        delta_a=np.array(message.delta_a, dtype=np.float64),
        delta_a_free=np.array(message.delta_a_free, dtype=np.float64),
        lambda_a=np.array(message.lambda_a, dtype=np.float64),
        lambda_e=np.array(message.lambda_e, dtype=np.float64).reshape(-1, 3),
        extrapolation=message.extrapolation,
        residual=message.residual,
        converged=message.converged,
    )


def point(position: Array) -> Point:
    """A position [m], shape (3,), as a message."""
    return Point(x=float(position[0]), y=float(position[1]), z=float(position[2]))


def vector(components: Array) -> Vector3:
    """A vector, shape (3,), as a message."""
    return Vector3(x=float(components[0]), y=float(components[1]), z=float(components[2]))


def xyz(messages: Sequence[Point | Vector3]) -> Array:
    """Points or vectors as an array, shape (n, 3)."""
    return np.array([(m.x, m.y, m.z) for m in messages], dtype=np.float64).reshape(-1, 3)


def transform_message(T_parent_child: Array, stamp: int, parent: str, child: str) -> TransformStamped:
    """A rigid transform, shape (4, 4), as a message."""
    message = TransformStamped(header=header(stamp, parent), child_frame_id=child)
    message.transform.translation = vector(T_parent_child[:3, 3])
    x, y, z, w = Rotation.from_matrix(T_parent_child[:3, :3]).as_quat()
    rotation = message.transform.rotation
    rotation.x, rotation.y, rotation.z, rotation.w = float(x), float(y), float(z), float(w)
    return message


def transform(message: Transform) -> Array:
    """A message as a rigid transform, shape (4, 4)."""
    matrix = np.eye(4)
    q, t = message.rotation, message.translation
    matrix[:3, :3] = Rotation.from_quat([q.x, q.y, q.z, q.w]).as_matrix()
    matrix[:3, 3] = (t.x, t.y, t.z)
    return matrix


def _order(given: Sequence[str], wanted: Sequence[str]) -> list[int]:
    return [list(given).index(name) for name in wanted]
