"""Entry point of the command line: parse, run, and turn errors into exit codes."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from pliant.cli import check, mesh, reproduce, robots, track
from pliant.errors import PliantError

DONE, FAILED, INTERRUPTED = 0, 1, 130

EXAMPLES = """examples:
  pliant robots                          the robots that come with Pliant
  pliant check my_robot.yaml             what Pliant makes of your own
  pliant track diamond --picture d.png   follow a circle, without ROS
  pliant reproduce --list                the papers' results that can be computed again

`pliant COMMAND --help` explains a command. Exit codes: 0 done, 1 an error, 2 wrong usage."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit code."""
    parser = argparse.ArgumentParser(
        prog="pliant",
        description="Model and control robots that bend.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for command in (robots, check, track, mesh, reproduce):
        command.add_to(commands)
    try:
        options = parser.parse_args(arguments)
    except SystemExit as leaving:  # argparse leaves by itself on --help (0) and wrong usage (2)
        return int(leaving.code or 0)
    try:
        options.run(options)
    except (PliantError, OSError) as error:
        sys.stderr.write(f"pliant: {error}\n")
        return FAILED
    except KeyboardInterrupt:
        sys.stderr.write("pliant: interrupted\n")
        return INTERRUPTED
    return DONE
