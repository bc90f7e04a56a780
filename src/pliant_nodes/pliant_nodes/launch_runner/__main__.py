"""Run a ROS 2 launch file without ROS 2's `launch` package.

    python -m pliant_nodes.launch_runner launch/diamond.launch.xml plant:=other
    python -m pliant_nodes.launch_runner pliant_bringup diamond.launch.xml --show-args

It knows a subset of the XML format, with the meaning of `ros2 launch`, and refuses
everything else by name with its line. Where ROS 2 has `launch`, use that.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

from pliant.errors import PliantError
from pliant_nodes.launch_runner.description import declared_arguments, describe
from pliant_nodes.launch_runner.processes import Launch
from pliant_nodes.launch_runner.substitution import package_share


def main(words: list[str] | None = None) -> int:
    """Command line of the runner; the exit status."""
    parser = argparse.ArgumentParser(
        prog="launch", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("words", nargs="+", metavar="[PACKAGE] FILE [NAME:=VALUE ...]")
    parser.add_argument(
        "-s", "--show-args", action="store_true", help="show the arguments of the file and stop"
    )
    given = parser.parse_args(words)
    try:
        file, arguments = _target(given.words)
        if given.show_args:
            _show(file)
            return 0
        description = describe(file, arguments)
        _refuse_unknown(file, arguments, list(description.arguments))
        return Launch(description.processes, _log_file(file)).wait()
    except PliantError as error:
        sys.stderr.write(f"launch: {error}\n")
        return 2


def _target(words: list[str]) -> tuple[Path, dict[str, str]]:
    names = [word for word in words if ":=" not in word]
    arguments = dict(word.split(":=", 1) for word in words if ":=" in word)
    if len(names) == 1:
        return Path(names[0]), arguments
    if len(names) == 2:
        return package_share(names[0]) / "launch" / names[1], arguments
    raise PliantError(f"given {' '.join(names)!r}; allowed: FILE or PACKAGE FILE, then NAME:=VALUE")


def _refuse_unknown(file: Path, arguments: dict[str, str], known: list[str]) -> None:
    for name in arguments:
        if name not in known:
            raise PliantError(f"{file}: unknown argument {name!r}; it has: {', '.join(known) or 'none'}")


def _show(file: Path) -> None:
    sys.stdout.write("Arguments (pass arguments as '<name>:=<value>'):\n")
    for argument in declared_arguments(file):
        default = "required" if argument.default is None else f"default: '{argument.default}'"
        sys.stdout.write(f"\n    '{argument.name}':\n        {argument.description}\n        ({default})\n")


def _log_file(file: Path) -> Path:
    home = Path(os.environ.get("ROS_HOME", Path.home() / ".ros"))
    folder = Path(os.environ.get("ROS_LOG_DIR", home / "log"))
    return (
        folder
        / f"{time.strftime('%Y-%m-%d-%H-%M-%S')}-{file.name.split('.')[0]}-{os.getpid()}"
        / "launch.log"
    )


if __name__ == "__main__":
    sys.exit(main())
