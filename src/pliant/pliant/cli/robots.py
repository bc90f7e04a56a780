"""`pliant robots`: the robots that can be loaded by name."""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console
from rich.table import Table

from pliant.cli.command import Commands, add_command
from pliant.resources import share_path
from pliant.robot import robots_in
from pliant.robot_file import read_robot_file


def add_to(commands: Commands) -> None:
    """Add this command to the parser."""
    parser = add_command(
        commands,
        "robots",
        run,
        "list the robots that can be loaded by name",
        "A robot is a file: its mesh, material, cables, effectors and limits.",
        "  pliant robots\n  pliant robots --folder my_robots",
    )
    parser.add_argument("--folder", type=Path, help="folder of robot files (default: the shipped ones)")


def run(options: argparse.Namespace) -> None:
    """Print a table of robots."""
    folder = options.folder or share_path("config", "robots")
    table = Table(box=None, header_style="bold", pad_edge=False)
    for heading in ("name", "cables", "effectors", "element", "meshes", "description"):
        table.add_column(heading, overflow="fold")
    for name, file in robots_in(folder).items():
        spec = read_robot_file(file)
        meshes = ", ".join(spec.mesh.files)
        counts = (str(len(spec.actuators)), str(len(spec.effectors)))
        table.add_row(name, *counts, spec.element, meshes, spec.description)
    console = Console()
    console.print(table)
    console.print(f"[dim]from {folder}[/dim]")
