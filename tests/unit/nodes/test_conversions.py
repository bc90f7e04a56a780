"""Messages and the library's types carry the same, to the last bit."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

pytest.importorskip("pliant_msgs", reason="needs the built message package: ./dev build")

from pliant_msgs.msg import CondensedModel as CondensedModelMessage
from rclpy.serialization import deserialize_message, serialize_message

from pliant.condensed import CondensedModel, Source
from pliant_nodes import conversions as convert

NAMES = ("a", "b", "c")
EPOCH = 1_796_089_866_933_706_013


def random_model(rng: np.random.Generator, *, stamp: float) -> CondensedModel:
    half = rng.standard_normal((9, 9))
    return CondensedModel(
        robot="arm",
        robot_hash="0f" * 32,
        source=Source(int(rng.integers(3))),
        stamp=stamp,
        time_step=float(rng.random()),
        effectors=("tip", "elbow"),
        actuators=NAMES,
        w=half @ half.T,
        x_e=rng.standard_normal((2, 3)),
        x_e_free=rng.standard_normal((2, 3)),
        delta_a=rng.standard_normal(3),
        delta_a_free=rng.standard_normal(3),
        lambda_a=rng.standard_normal(3),
        lambda_e=rng.standard_normal((2, 3)),
        extrapolation=float(rng.random()),
        residual=float(rng.random()),
        converged=bool(rng.integers(2)),
    )


def test_condensed_models_survive_the_wire() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        stamp = int(rng.integers(2**52))
        model = random_model(rng, stamp=convert.seconds(stamp))
        message = convert.condensed_model_message(model, stamp, "arm/base")
        wired = deserialize_message(serialize_message(message), CondensedModelMessage)
        again = convert.condensed_model(wired)
        for name in model.__dataclass_fields__:
            given, got = getattr(model, name), getattr(again, name)
            assert np.array_equal(given, got) and type(given) is type(got), name
        assert convert.condensed_model_message(again, stamp, "arm/base") == wired


def test_message_and_type_have_the_same_fields() -> None:
    renamed = {"effector": "effectors", "actuator": "actuators"}
    fields = {renamed.get(name, name) for name in CondensedModelMessage.get_fields_and_field_types()}
    assert fields - {"header"} == set(CondensedModel.__dataclass_fields__) - {"stamp"}


@pytest.mark.parametrize("stamp", [0, 1, 999_999_999, 1_000_000_000, EPOCH])
def test_time_is_exact_in_nanoseconds(stamp: int) -> None:
    assert convert.nanoseconds(convert.to_time(stamp)) == stamp


def test_seconds_are_exact_below_48_days() -> None:
    for stamp in np.random.default_rng(1).integers(2**52, size=1000):
        assert round(Fraction(convert.seconds(int(stamp))) * 10**9) == stamp


def test_actuator_messages_survive_in_any_order() -> None:
    rng = np.random.default_rng(2)
    reading = convert.ActuatorReading(
        EPOCH, *rng.standard_normal((3, 3)), np.array([1, 2, 8], dtype=np.uint8)
    )
    message = convert.actuator_state_message(reading, NAMES, "arm/base")
    for field in ("name", "position", "velocity", "effort", "flags"):
        setattr(message, field, list(getattr(message, field))[::-1])
    again = convert.actuator_reading(message, NAMES)
    for name in reading.__dataclass_fields__:
        assert np.array_equal(getattr(reading, name), getattr(again, name)), name
    order = convert.ActuatorOrder(
        EPOCH, np.array([1, 1, 0], np.uint8), *rng.standard_normal((2, 3)), EPOCH - 7
    )
    back = convert.actuator_order(convert.actuator_command_message(order, NAMES, "arm/base"), NAMES)
    for name in order.__dataclass_fields__:
        assert np.array_equal(getattr(order, name), getattr(back, name)), name


@pytest.mark.parametrize("known", [True, False])
def test_effector_messages_survive(known: bool) -> None:
    rng = np.random.default_rng(3)
    covariance = rng.standard_normal((2, 3, 3)) if known else None
    force = rng.standard_normal((2, 3)) if known else None
    reading = convert.EffectorReading(EPOCH, rng.standard_normal((2, 3)), covariance, force, 2)
    message = convert.effector_states_message(reading, ("tip", "elbow"), "arm/base")
    again = convert.effector_reading(message, ("tip", "elbow"))
    for name in reading.__dataclass_fields__:
        given, got = getattr(reading, name), getattr(again, name)
        assert (given is None and got is None) or np.array_equal(given, got), name


def test_loads_leave_the_effectors_that_they_do_not_name() -> None:
    before = np.arange(6.0).reshape(2, 3)
    message = convert.effector_loads_message(EPOCH, np.array([[7.0, 8.0, 9.0]]), ("elbow",), "arm/base")
    after = convert.effector_loads(message, ("tip", "elbow"), before)
    assert np.array_equal(after, [[0, 1, 2], [7, 8, 9]])


def test_transforms_keep_their_quaternion_order() -> None:
    quarter_turn_about_z = np.array([[0.0, -1, 0, 1], [1, 0, 0, 2], [0, 0, 1, 3], [0, 0, 0, 1]])
    message = convert.transform_message(quarter_turn_about_z, EPOCH, "world", "arm/base")
    q, half = message.transform.rotation, np.sqrt(0.5)
    assert np.allclose([q.x, q.y, q.z, q.w], [0, 0, half, half], atol=1e-15)
    assert np.allclose(convert.transform(message.transform), quarter_turn_about_z, atol=1e-15)
