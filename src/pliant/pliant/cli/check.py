"""`pliant check`: what Pliant makes of a robot file."""

from __future__ import annotations

import argparse

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from pliant.cli.command import Commands, add_command, progress_bar

COLOURS = {"ok": "green", "note": "cyan", "warning": "yellow"}


def add_to(commands: Commands) -> None:
    """Add this command to the parser."""
    parser = add_command(
        commands,
        "check",
        run,
        "explain a robot file",
        "Reads the file strictly, then looks at the mesh, at points outside it, at values whose unit\n"
        "looks wrong, and computes: rest shape and compliance (with the mesh's own error where a\n"
        "converged value is known), reach, and the rate to expect on this machine.",
        "  pliant check diamond\n  pliant check my_robot.yaml --resolution fine --element tet10",
    )
    parser.add_argument("robot", metavar="ROBOT", help="a robot file, or a name that `pliant robots` shows")
    parser.add_argument("--resolution", help="mesh resolution (default: the file's)")
    parser.add_argument("--element", help="element (default: the file's)")


def run(options: argparse.Namespace) -> None:
    """Print the findings as they come."""
    from pliant.checks import check_robot  # imported late: --help must be quick
    from pliant.robot import load_robot, robot_path, robots_in

    file = robot_path(options.robot)
    robot = load_robot(file, resolution=options.resolution, element=options.element)
    robots_in(file.parent)  # refuses a second robot of this name beside it
    console = Console(highlight=False)
    console.print(f"[bold]{robot.name}[/bold]  {escape(str(robot.file))}")
    table = Table(box=None, show_header=False, pad_edge=False)
    for _ in range(3):
        table.add_column(overflow="fold")
    with progress_bar("checking") as advance:
        for number, finding in enumerate(check_robot(robot), 1):
            advance(number, number + 1)
            colour = COLOURS[finding.level]
            table.add_row(f"[{colour}]{finding.level}[/{colour}]", finding.subject, escape(finding.text))
    console.print(table)
