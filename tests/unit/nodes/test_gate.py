"""Ten thousand malformed messages: none gets in, each is counted under its reason."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable
from typing import Any

import gate_messages as messages
import numpy as np
import pytest

from pliant_nodes.gate import NANOSECONDS, CommandClock, MeasurementClock, MessageGate, Reason

N_MALFORMED = 10_000
NOW = 1_000 * NANOSECONDS
STEP = NANOSECONDS // 100

Mutation = tuple[Callable[[Any, np.random.Generator], None], Reason]


def bad_number(rng: np.random.Generator) -> float:
    return [float("nan"), float("inf"), -float("inf")][rng.integers(3)]


def spoil(field: str) -> Callable[[Any, np.random.Generator], None]:
    def mutate(message: Any, rng: np.random.Generator) -> None:
        values = getattr(message, field)
        if isinstance(values, list) and isinstance(values[0], float):
            values[rng.integers(len(values))] = bad_number(rng)
        elif isinstance(values, list):
            setattr(values[rng.integers(len(values))], "xyz"[rng.integers(3)], bad_number(rng))
        elif isinstance(values, float):
            setattr(message, field, bad_number(rng))
        else:
            setattr(values, "xyz"[rng.integers(3)], bad_number(rng))

    return mutate


def resize(field: str) -> Callable[[Any, np.random.Generator], None]:
    def mutate(message: Any, rng: np.random.Generator) -> None:
        values = getattr(message, field)
        if rng.random() < 0.5:
            values.append(copy.copy(values[0]))
        else:
            values.pop()

    return mutate


def rename(
    field: str, name: Callable[[list[str], np.random.Generator], str]
) -> Callable[[Any, np.random.Generator], None]:
    def mutate(message: Any, rng: np.random.Generator) -> None:
        names = getattr(message, field)
        names[rng.integers(len(names))] = name(names, rng)

    return mutate


def duplicate(field: str) -> Callable[[Any, np.random.Generator], None]:
    def mutate(message: Any, rng: np.random.Generator) -> None:
        names = getattr(message, field)
        first, second = rng.permutation(len(names))[:2]
        names[first] = names[second]

    return mutate


def restamp(offset: Callable[[np.random.Generator], float]) -> Callable[[Any, np.random.Generator], None]:
    def mutate(message: Any, rng: np.random.Generator) -> None:
        present = message.header.stamp.sec * NANOSECONDS + message.header.stamp.nanosec
        message.header.stamp = messages.stamp(present + round(offset(rng) * NANOSECONDS))

    return mutate


def assign(**values: Any) -> Callable[[Any, np.random.Generator], None]:
    def mutate(message: Any, rng: np.random.Generator) -> None:
        for name, value in values.items():
            setattr(message, name, value)

    return mutate


def wrong_frame(message: Any, rng: np.random.Generator) -> None:
    message.header.frame_id = ["world", "leg/base", "arm", "arm/base "][rng.integers(4)]


def bad_stamp(message: Any, rng: np.random.Generator) -> None:
    message.header.stamp.nanosec = int(rng.integers(NANOSECONDS, 2**32))


def lopsided(message: Any, rng: np.random.Generator) -> None:
    message.w[1] += 1e-3


def huge(field: str) -> Callable[[Any, np.random.Generator], None]:
    def mutate(message: Any, rng: np.random.Generator) -> None:
        getattr(message, field)[0] = 10.0 ** rng.integers(10, 300)

    return mutate


UNKNOWN = rename("name", lambda names, rng: f"x{rng.integers(100)}")
COMMON: list[Mutation] = [
    (wrong_frame, Reason.WRONG_FRAME),
    (bad_stamp, Reason.BAD_STAMP),
    (UNKNOWN, Reason.UNKNOWN_NAME),
    (duplicate("name"), Reason.DUPLICATE_NAME),
]
OLD = restamp(lambda rng: -rng.uniform(0.02, 900.0))
AHEAD = restamp(lambda rng: rng.uniform(5.0, 1e6))
MEASURED: list[Mutation] = [(OLD, Reason.OUT_OF_ORDER), (AHEAD, Reason.FUTURE)]
COMMANDED: list[Mutation] = [
    (restamp(lambda rng: -rng.uniform(1.0, 900.0)), Reason.STALE),
    (AHEAD, Reason.FUTURE),
]
MUTATIONS: dict[str, list[Mutation]] = {
    "actuator_state": [
        *COMMON,
        *MEASURED,
        *((spoil(f), Reason.NOT_FINITE) for f in ("position", "velocity", "effort")),
        *((resize(f), Reason.WRONG_SIZE) for f in ("position", "velocity", "effort", "flags")),
        (huge("effort"), Reason.OUT_OF_RANGE),
    ],
    "effector_states": [
        *COMMON,
        *MEASURED,
        *((spoil(f), Reason.NOT_FINITE) for f in ("position", "covariance", "force")),
        *((resize(f), Reason.WRONG_SIZE) for f in ("position", "covariance", "force")),
    ],
    "condensed_model": [
        *COMMON[:2],
        *MEASURED,
        *((rename(f, lambda names, rng: "x"), Reason.UNKNOWN_NAME) for f in ("effector", "actuator")),
        *((duplicate(f), Reason.DUPLICATE_NAME) for f in ("effector", "actuator")),
        *(
            (spoil(f), Reason.NOT_FINITE)
            for f in ("w", "x_e", "x_e_free", "delta_a", "delta_a_free", "lambda_a")
        ),
        *((spoil(f), Reason.NOT_FINITE) for f in ("lambda_e", "residual", "extrapolation", "time_step")),
        *(
            (resize(f), Reason.WRONG_SIZE)
            for f in ("w", "x_e", "x_e_free", "delta_a", "lambda_a", "lambda_e")
        ),
        (assign(robot="leg"), Reason.WRONG_ROBOT),
        (assign(robot_hash="other"), Reason.WRONG_ROBOT),
        (assign(source=7), Reason.WRONG_MODE),
        (assign(converged=False), Reason.NOT_CONVERGED),
        (lopsided, Reason.NOT_SYMMETRIC),
    ],
    "actuator_command": [
        *COMMON,
        *COMMANDED,
        *((spoil(f), Reason.NOT_FINITE) for f in ("value", "max_rate")),
        *((resize(f), Reason.WRONG_SIZE) for f in ("value", "max_rate", "mode")),
        (assign(mode=[0, 0, 0]), Reason.WRONG_MODE),
        (assign(mode=[1, 1, 9]), Reason.WRONG_MODE),
        (assign(max_rate=[-1.0, 0.0, 0.0]), Reason.OUT_OF_RANGE),
        (huge("value"), Reason.OUT_OF_RANGE),
    ],
    "effector_loads": [
        *COMMON,
        *COMMANDED,
        (spoil("force"), Reason.NOT_FINITE),
        (resize("force"), Reason.WRONG_SIZE),
    ],
    "goal": [*COMMON[:2], *COMMANDED, (spoil("point"), Reason.NOT_FINITE)],
}


class Door:
    """One gate, with the clocks of its topics."""

    def __init__(self) -> None:
        self.gate = MessageGate(messages.EXPECTED)
        measured = ("actuator_state", "effector_states", "condensed_model")
        self.measured = {kind: MeasurementClock() for kind in measured}
        self.commanded = {
            kind: CommandClock(NANOSECONDS // 2) for kind in ("actuator_command", "effector_loads", "goal")
        }

    def admits(self, kind: str, message: Any, now: int) -> bool:
        if kind in self.measured:
            return bool(getattr(self.gate, kind)(message, self.measured[kind]))
        return bool(getattr(self.gate, kind)(message, self.commanded[kind], now))


def test_ten_thousand_malformed_messages_are_refused_and_counted() -> None:
    rng = np.random.default_rng(0)
    door, expected, now = Door(), Counter[Reason](), NOW
    kinds = list(MUTATIONS)
    for number in range(N_MALFORMED):
        kind = kinds[number % len(kinds)]
        now += STEP
        assert door.admits(kind, getattr(messages, kind)(now), now), f"a good {kind} is let in"
        mutate, reason = MUTATIONS[kind][rng.integers(len(MUTATIONS[kind]))]
        message = getattr(messages, kind)(now + STEP // 2)
        mutate(message, rng)
        before = sum(door.gate.rejected.values())
        assert not door.admits(kind, message, now + STEP // 2), f"{kind}: {reason}"
        assert sum(door.gate.rejected.values()) == before + 1
        expected[reason] += 1
    counted = Counter[Reason]()
    for (_, reason), count in door.gate.rejected.items():
        counted[reason] += count
    assert counted == expected
    assert sum(door.gate.accepted.values()) == N_MALFORMED


def test_every_mutation_of_every_message_is_refused_for_its_own_reason() -> None:
    rng = np.random.default_rng(1)
    for kind, mutations in MUTATIONS.items():
        for mutate, reason in mutations:
            door = Door()
            assert door.admits(kind, getattr(messages, kind)(NOW), NOW)
            message = getattr(messages, kind)(NOW + STEP)
            mutate(message, rng)
            assert not door.admits(kind, message, NOW + STEP)
            assert [r for (_, r) in door.gate.rejected] == [reason], (kind, reason)


@pytest.mark.parametrize("name", ["name", "position"])
def test_messages_without_content_are_refused(name: str) -> None:
    message = messages.actuator_state(NOW)
    setattr(message, name, [])
    assert not Door().admits("actuator_state", message, NOW)


def test_a_source_that_starts_again_is_believed_after_a_while() -> None:
    clock = MeasurementClock(confirmation=5 * STEP)
    assert all(clock.judge(NOW + i * STEP) is None for i in range(10))
    judged = [clock.judge(i * STEP) for i in range(1, 12)]
    assert judged == [Reason.OUT_OF_ORDER] * 5 + [None] * 6
    assert clock.restarts == 1


def test_stray_stamps_between_good_ones_never_start_a_new_time() -> None:
    clock = MeasurementClock(confirmation=5 * STEP)
    for i in range(100):
        assert clock.judge(NOW + i * STEP) is None
        assert clock.judge(2 * NOW + i * STEP) is Reason.FUTURE
        assert clock.judge(NOW + i * STEP) is Reason.OUT_OF_ORDER
    assert clock.restarts == 0


def test_a_command_is_obeyed_once() -> None:
    clock = CommandClock(NANOSECONDS)
    assert clock.judge(NOW, NOW) is None
    assert clock.judge(NOW, NOW) is Reason.OUT_OF_ORDER


def test_a_goal_without_a_stamp_is_for_at_once() -> None:
    assert Door().admits("goal", messages.goal(0), NOW)
