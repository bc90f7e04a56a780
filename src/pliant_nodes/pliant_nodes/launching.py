"""Starts a shipped launch file in a process group of its own, and ends it whatever happens."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import FrameType, TracebackType

from pliant.resources import share_path

END_TIMEOUT_S = 15.0
DOMAINS = 100  # 1 to 100: higher ones need ports that Linux lends to others


def domain_of_this_process() -> int:
    """A ROS domain that other runs on this machine are unlikely to have."""
    return 1 + os.getpid() % DOMAINS


def launch_words(name: str, file: str, **arguments: object) -> list[str]:
    """Command line that launches a robot: its own launch file, or the common one for a robot file.

    Args:
        name: Name of the robot.
        file: Its file, or its name if it is shipped.
        arguments: Launch arguments.
    """
    own = f"{name}.launch.xml"
    if file == name and (share_path("launch") / own).is_file():
        return launcher(own, arguments)
    return launcher("soft_robot.launch.xml", {"robot": name, "file": file, **arguments})


def launcher(file: str, arguments: Mapping[str, object]) -> list[str]:
    """Command line for a shipped launch file: `ros2 launch` where there is one, else our runner."""
    runner = (
        ["ros2", "launch"] if shutil.which("ros2") else [sys.executable, "-m", "pliant_nodes.launch_runner"]
    )
    return [
        *runner,
        str(share_path("launch", file)),
        *(f"{key}:={value}" for key, value in arguments.items()),
    ]


class Launched:
    """A running launch; leaving the context ends every process of it."""

    def __init__(self, words: list[str], log: Path | None = None) -> None:
        """Start a launch; its output goes to a file, or to standard error."""
        self._log = log.open("w") if log is not None else None
        self._process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=self._log or sys.stderr,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self._before = signal.signal(signal.SIGTERM, _interrupt)

    @property
    def running(self) -> bool:
        """Whether the launch has not ended."""
        return self._process.poll() is None

    def __enter__(self) -> Launched:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def end(self) -> None:
        """Interrupt it, wait, and kill what is left of its process group."""
        signal.signal(signal.SIGTERM, self._before)
        try:
            self._process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(END_TIMEOUT_S)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            if self._log is not None:
                self._log.close()


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
