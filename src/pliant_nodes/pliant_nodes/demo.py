"""The demo: a soft robot follows thirty goals over real ROS 2 topics, full FEM model in the loop.

    python -m pliant_nodes.demo
    python -m pliant_nodes.demo --robot trunk --plant same --seconds 20 --json trunk.json

It starts the shipped launch file on a ROS domain of its own, sends FollowEffectorPath, and
compares the true effector with each goal when that goal is left. The other plant (the
default) is softer than the model, computed on a finer mesh, its cables rub and its sensor is noisy.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import rclpy
from numpy.typing import NDArray

from pliant.condensed.source import FemModel
from pliant.control.paths import circle
from pliant.errors import PliantError
from pliant.experiments.goals import default_path, reachable_goals
from pliant.pictures import Trace, track_picture
from pliant.plant import read_plant
from pliant.robot import Robot, load_robot
from pliant_nodes.demo_client import PathClient, Record
from pliant_nodes.launching import Launched, domain_of_this_process, launch_words

Array = NDArray[np.float64]

STEPS_A_GOAL = 20
TOLERANCE_M = 1e-5  # a goal is left when the effector's estimate is this near, or after so many steps
APPROACHES = 8  # times that many steps from rest to the first goal, at most
START_TIMEOUT_S = 60.0


@dataclass(frozen=True)
class Outcome:
    """What one demo came to.

    Attributes:
        error: True distance of the effector from each goal when it was left [m], shape (n_visits,).
        steps: Control steps until each goal was settled, shape (n_visits,).
        rate: Answers a second of model and controller: one over the median time between an actuator
            state and the command for it, both as heard here.
        loop_rate: Commands a second, the simulation of the plant included.
    """

    error: Array
    steps: NDArray[np.int64]
    rate: float
    loop_rate: float


def main() -> int:
    """Command line; 0 if the robot followed its path, whatever its error."""
    given = _arguments()
    os.environ["ROS_DOMAIN_ID"] = str(domain_of_this_process())
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    try:
        robot = load_robot(given.robot)
        goals = _goals(robot, given.goals)
        with Launched(
            launch_words(robot.name, given.robot, plant=given.plant, model=given.model, rate=given.rate)
        ):
            rclpy.init()
            record = _follow(robot, goals, given)
        summary = _summary(robot, goals, record, given)
        _write(robot, goals, record, summary, given)
    except PliantError as error:
        sys.stderr.write(f"demo: {error}\n")
        return 1
    except KeyboardInterrupt:
        return 130
    finally:
        rclpy.try_shutdown()
    return 0


def _goals(robot: Robot, number: int) -> Array:
    path = default_path(robot)
    return reachable_goals(robot, circle(path.center_m, path.radius_m, number, normal=path.normal))


def _follow(robot: Robot, goals: Array, given: argparse.Namespace) -> Record:
    client = PathClient(robot.name, robot.actuator_names, robot.effector_names)
    try:
        _say(f"waiting for {robot.name} (model {given.model}, plant {given.plant})")
        rate = client.wait_until_commanded(START_TIMEOUT_S)
        for _ in range(APPROACHES):
            if client.follow(goals[:1], tolerance=TOLERANCE_M, patience=START_TIMEOUT_S).complete:
                break
        longest = STEPS_A_GOAL * len(goals) / rate
        laps = max(1, int(given.seconds / longest))
        _say(f"{rate:.0f} steps a second; {laps} x {len(goals)} goals, at most {STEPS_A_GOAL} steps each")
        path = np.tile(goals, (laps, 1))
        return client.follow(path, tolerance=TOLERANCE_M, patience=10 * laps * longest, progress=_progress)
    finally:
        client.close()


def _summary(robot: Robot, goals: Array, record: Record, given: argparse.Namespace) -> dict[str, Any]:
    outcome = Outcome(record.errors(), np.array(record.steps), 1.0 / record.answer_time(), record.rate())
    error_mm = 1e3 * outcome.error
    return {
        "robot": robot.name,
        "model": given.model,
        "plant": given.plant,
        "goals": len(goals),
        "laps": len(error_mm) // len(goals),
        "mean_error_mm": float(error_mm.mean()),
        "max_error_mm": float(error_mm.max()),
        "control_rate_hz": outcome.rate,
        "loop_rate_hz": outcome.loop_rate,
        "settle_steps": int(outcome.steps.max(initial=0)),
        "nodes": robot.mesh.n_nodes,
        "rmw": rclpy.get_rmw_implementation_identifier(),
    }


def _write(
    robot: Robot, goals: Array, record: Record, summary: dict[str, Any], given: argparse.Namespace
) -> None:
    picture = Path(given.json).with_suffix(".png") if given.json else Path(f"results/demo/{robot.name}.png")
    picture.parent.mkdir(parents=True, exist_ok=True)
    model = FemModel(robot)
    model(record.last_actuators)
    trace = Trace(
        title=f"{robot.name}: {len(goals)} goals over ROS 2, model {given.model}, plant {given.plant}",
        goals=goals,
        reached=record.reached()[-len(goals) :],
        trail=record.trail,
        effort=record.effort,
        time=record.time,
        nodes=model.state.x,
    )
    track_picture(picture, robot, trace)
    if given.json:
        Path(given.json).write_text(json.dumps(summary, indent=2) + "\n")
    width = max(len(key) for key in summary)
    for key, value in summary.items():
        _say(f"  {key:<{width}}  {value:.4g}" if isinstance(value, float) else f"  {key:<{width}}  {value}")
    _say(f"picture: {picture}")


def _progress(done: int, total: int, error: float) -> None:
    text = f"goal {done:3d} of {total}, {1e3 * error:.3f} mm from it"
    if sys.stdout.isatty():
        sys.stdout.write(f"\r{text}   " + ("\n" if done == total else ""))
        sys.stdout.flush()
    elif done % 10 == 0:
        _say(text)


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="demo", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--robot", default="diamond", help="shipped robot (diamond, finger, trunk) or a robot file"
    )
    parser.add_argument(
        "--seconds", type=float, default=12.0, help="about how long it moves; whole laps, at least one"
    )
    parser.add_argument("--json", help="file for the figures; the picture goes beside it")
    parser.add_argument("--goals", type=int, default=30, help="goals on the circle")
    parser.add_argument("--plant", default="other", help="same, other, or a plant file")
    parser.add_argument("--model", default="fem", choices=("fem",), help="what computes the condensed model")
    parser.add_argument("--rate", type=float, default=100.0, help="steps of the simulation a second [Hz]")
    given = parser.parse_args()
    if not (np.isfinite(given.seconds) and given.seconds > 0 and np.isfinite(given.rate) and given.rate > 0):
        parser.error("--seconds and --rate: allowed: above 0")
    if given.goals < 2:
        parser.error(f"--goals: given {given.goals}; allowed: 2 or more")
    if given.plant not in ("same", "other"):
        read_plant(given.plant)
    return given


if __name__ == "__main__":
    sys.exit(main())
