"""Replay a record through the controller: the same messages must give the same commands, bit for bit.

python -m pliant_nodes.replay bags/2025-01-01-12-00-00
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from pliant.control import InverseParameters
from pliant.errors import PliantError
from pliant.parameters import from_mapping
from pliant.resources import share_path
from pliant.robot import Robot, load_robot
from pliant_nodes import conversions as convert
from pliant_nodes.bag import read_bag
from pliant_nodes.controller_core import ControllerCore, Reference, Snapshot
from pliant_nodes.gate import CommandClock, MeasurementClock, MessageGate
from pliant_nodes.simulated_robot import expected_messages

INPUTS = ("actuator_states", "effector_states", "condensed_model")
OUTPUTS = ("reference", "actuator_command")


@dataclass(frozen=True)
class Replay:
    """What came of a replay.

    Attributes:
        compared: Commands that were computed again.
        different: Those whose value is not the same to the last bit.
        skipped: Recorded commands whose inputs are not in the record.
    """

    compared: int
    different: int
    skipped: int


def replay(folder: Path, robot_file: str, parameters: InverseParameters, *, period: float) -> Replay:
    """Compute every recorded command again from what the controller heard.

    Args:
        folder: The bag.
        robot_file: Robot file, or the name of a shipped robot.
        parameters: The controller's options at the time.
        period: The controller's nominal period [s].

    Raises:
        PliantError: If the bag cannot be read or holds no command.
    """
    robot = load_robot(robot_file)
    sets = _sets(folder, robot)
    core: ControllerCore | None = None
    compared = different = skipped = 0
    for stamp in sorted(stamp for stamp, found in sets.items() if "actuator_command" in found):
        found = sets[stamp]
        recorded = convert.actuator_order(found["actuator_command"], robot.actuator_names)
        if not set(INPUTS) <= set(found):
            skipped += 1
            core = None
            continue
        if core is None:  # memory before the record is unknown: begin where none is needed
            core = ControllerCore(robot.limits, robot.length_driven, parameters, period=period)
            if "reference" in found:
                skipped, core = skipped + 1, None
                continue
            core.held = recorded.value
        snapshot = Snapshot(
            convert.actuator_reading(found[INPUTS[0]], robot.actuator_names),
            convert.effector_reading(found[INPUTS[1]], robot.effector_names),
            convert.condensed_model(found[INPUTS[2]]),
        )
        reference = _reference(found.get("reference"), robot.effector_names)
        order, _ = core.order(snapshot, core.estimate(snapshot), reference)
        compared += 1
        different += order.value.tobytes() != recorded.value.tobytes()
    if compared == 0:
        raise PliantError(f"{folder}: no command of {robot.name!r} with all its inputs")
    return Replay(compared, different, skipped)


def _sets(folder: Path, robot: Robot) -> dict[int, dict[str, Any]]:
    """Messages that the controller let in, and its own, by their stamp [ns] and the name of their topic."""
    sets: dict[int, dict[str, Any]] = {}
    gate: MessageGate | None = None
    clocks = {name: MeasurementClock() for name in INPUTS}
    for topic, _, message in read_bag(folder, (*INPUTS, *OUTPUTS)):
        *_, parent, name = topic.split("/")
        if parent in ("ground_truth", "predicted"):
            continue
        gate = gate or MessageGate(expected_messages(robot, message.header.frame_id))
        if _admitted(name, message, gate, clocks):
            sets.setdefault(convert.nanoseconds(message.header.stamp), {})[name] = message
    return sets


def _admitted(name: str, message: Any, gate: MessageGate, clocks: dict[str, MeasurementClock]) -> bool:
    if name == "reference":
        return True
    if name == "actuator_command":
        return gate.actuator_command(message, CommandClock(0), convert.nanoseconds(message.header.stamp))
    check = {INPUTS[0]: gate.actuator_state, INPUTS[1]: gate.effector_states, INPUTS[2]: gate.condensed_model}
    return check[name](message, clocks[name])


def _reference(message: Any, effectors: tuple[str, ...]) -> Reference | None:
    if message is None:
        return None
    reference = Reference(np.zeros((len(effectors), 3)), np.zeros(len(effectors)))
    for name, position in zip(message.name, convert.xyz(message.position), strict=True):
        reference.position[effectors.index(name)] = position
        reference.weight[effectors.index(name)] = 1.0
    return reference


def main() -> int:
    """Command line; 0 if every command is the same."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="the bag")
    parser.add_argument("--robot", default="diamond", help="robot file, or the name of a shipped robot")
    parser.add_argument(
        "--parameters", type=Path, help="the controller's parameter file, if not the shipped one"
    )
    given = parser.parse_args()
    try:
        file = given.parameters or share_path("config", "nodes", "inverse_controller.yaml")
        values = yaml.safe_load(file.read_text())["/**"]["ros__parameters"]
        inverse = from_mapping(InverseParameters, values.get("inverse", {}), source=str(file))
        outcome = replay(given.folder, given.robot, inverse, period=1.0 / values.get("rate", 100.0))
    except PliantError as error:
        sys.stderr.write(f"replay: {error}\n")
        return 2
    sys.stdout.write(
        f"{outcome.compared} commands, {outcome.different} different, {outcome.skipped} skipped\n"
    )
    return int(outcome.different > 0)


if __name__ == "__main__":
    sys.exit(main())
