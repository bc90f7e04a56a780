"""`pliant track`: a robot follows a path, without ROS."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console

from pliant.cli.command import Commands, add_command, count, positive, progress_bar
from pliant.text import length_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pliant.experiments.closed_loop import ClosedLoop
    from pliant.robot import Robot


def add_to(commands: Commands) -> None:
    """Add this command to the parser."""
    parser = add_command(
        commands,
        "track",
        run,
        "make a robot follow a path, without ROS",
        "The robot's finite-element model is in the loop; the plant that it controls is either the\n"
        "same model or another one (softer, finer mesh, friction, a noisy sensor). Errors are those of\n"
        "the plant's true effector.",
        "  pliant track diamond --picture diamond.png\n"
        "  pliant track diamond --plant other --json result.json\n"
        "  pliant track finger --path square --radius 0.008 --goals 24\n"
        "  pliant track my_robot.yaml --path points.csv --solver daqp",
    )
    parser.add_argument("robot", metavar="ROBOT", help="a name that `pliant robots` shows, or a robot file")
    parser.add_argument(
        "--path", default="circle", help="circle (default), square, or a file of x_mm,y_mm,z_mm"
    )
    parser.add_argument("--radius", type=positive, help="radius of the path [m] (default: the robot's own)")
    parser.add_argument(
        "--center", type=float, nargs=3, metavar=("X", "Y", "Z"), help="centre of the path [m]"
    )
    parser.add_argument("--goals", type=count, default=30, help="number of goals (default: 30)")
    parser.add_argument("--laps", type=count, default=1, help="times around the path (default: 1)")
    parser.add_argument("--plant", default="same", help="same (default), other, or a plant file")
    parser.add_argument("--tolerance", type=positive, default=1e-5, help="distance that meets a goal [m]")
    parser.add_argument("--steps", type=count, default=20, help="most control steps a goal (default: 20)")
    parser.add_argument(
        "--solver", choices=("osqp", "daqp"), default="osqp", help="QP solver (default: osqp)"
    )
    parser.add_argument("--resolution", help="mesh resolution of the model")
    parser.add_argument("--element", choices=("tet10_mean", "tet10", "tet4"), help="element of the model")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures")
    parser.add_argument("--picture", type=Path, metavar="FILE", help="write the picture (.png, .svg, .pdf)")


def run(options: argparse.Namespace) -> None:
    """Follow the path and say how well."""
    from pliant.control import FollowParameters, InverseParameters  # imported late: --help must be quick
    from pliant.experiments.closed_loop import closed_loop, summary
    from pliant.plant import read_plant
    from pliant.robot import load_robot

    robot = load_robot(options.robot, resolution=options.resolution, element=options.element)
    goals = np.tile(_goals(robot, options), (options.laps, 1))
    with progress_bar(f"{robot.name}: goals") as advance:
        loop = closed_loop(
            robot,
            goals,
            plant=read_plant(options.plant),
            inverse=InverseParameters(solver=options.solver),
            follow=FollowParameters(tolerance=options.tolerance, max_steps=options.steps),
            progress=advance,
        )
    figures = summary(loop)
    _print(figures)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n")
    if options.picture:
        _draw(options.picture, loop)


def _goals(robot: Robot, options: argparse.Namespace) -> NDArray[np.float64]:
    from pliant.control.paths import circle, from_file, square
    from pliant.experiments.goals import default_path, reachable_goals

    if options.path not in ("circle", "square"):
        return from_file(options.path)
    path = default_path(robot)
    center = path.center_m if options.center is None else options.center
    radius = options.radius or path.radius_m
    if options.path == "square":
        return reachable_goals(
            robot, square(center, np.sqrt(2.0) * radius, options.goals, normal=path.normal)
        )
    return reachable_goals(robot, circle(center, radius, options.goals, normal=path.normal))


def _print(figures: dict[str, Any]) -> None:
    console = Console(highlight=False)
    model, plant = figures["model"], figures["plant"]
    console.print(f"[bold]{figures['robot']}[/bold]: {figures['result']}")
    console.print(f"  model   {model['element']}, {model['nodes']} nodes ({model['resolution']})")
    unlike = f"E x {plant['young_scale']:g}, friction {plant['cable_friction']:g}"
    console.print(f"  plant   {plant['nodes']} nodes ({plant['resolution']}), {unlike}")
    mean, greatest = (length_text(1e-3 * figures[f"{kind}_error_mm"]) for kind in ("mean", "max"))
    console.print(f"  error   mean {mean}, maximum {greatest}")
    console.print(f"  steps   {figures['settle_steps_mean']:.1f} a goal, {figures['settle_steps']} at most")
    rates = f"{figures['control_rate_hz']:.0f} steps a second, {figures['loop_rate_hz']:.0f} with the plant's"
    console.print(f"  rate    {rates}")


def _draw(file: Path, loop: ClosedLoop) -> None:
    from pliant.experiments.closed_loop import reached
    from pliant.pictures import Trace, track_picture

    result = loop.result
    last = np.flatnonzero(np.diff(result.index, append=result.index[-1] + 1))
    mean, greatest = length_text(result.goal_error.mean()), length_text(result.goal_error.max())
    trace = Trace(
        title=f"{loop.robot.name}: mean error {mean}, maximum {greatest}",
        goals=result.goal[last, 0],
        reached=reached(result),
        trail=result.effector[:, 0],
        effort=result.effort,
        time=result.time,
        nodes=loop.plant.sample.state.x,
    )
    track_picture(file, loop.plant.robot, trace)
