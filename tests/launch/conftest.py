"""A robot from the shipped launch file, on a ROS domain of its own, ended by pid whatever happens."""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

READY_TIMEOUT_S = 60.0


@dataclass
class Session:
    """A launched robot: what started it, and the pids of its nodes."""

    log: Path
    launches: list[Any] = field(default_factory=list)

    def launch(self, file: str, **arguments: object) -> None:
        """Launch a shipped file; the output goes to a log file."""
        from pliant_nodes.launching import Launched, launcher

        log = self.log.with_suffix(f".{len(self.launches)}.log")
        self.launches.append(Launched(launcher(f"{file}.launch.xml", arguments), log))

    def pid(self, node: str) -> int:
        """Process of a node of the newest launch that has it."""
        deadline = time.monotonic() + 10.0
        while time.monotonic() < deadline:
            found = re.findall(rf"\[{node}-\d+\]: process started with pid \[(\d+)\]", self.text())
            if found:
                return int(found[-1])
            time.sleep(0.05)
        raise AssertionError(f"{node} was not started: {self.text()}")

    def kill(self, node: str) -> None:
        """End a node without a chance to say goodbye."""
        os.kill(self.pid(node), signal.SIGKILL)

    def text(self) -> str:
        """Output of all launches so far."""
        return "".join(file.read_text() for file in sorted(self.log.parent.glob(f"{self.log.stem}.*.log")))

    def end(self) -> None:
        """End every launch."""
        for launched in self.launches:
            launched.end()


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """An empty session on a ROS domain of its own."""
    rclpy = pytest.importorskip("rclpy", reason="needs ROS 2")
    pytest.importorskip("pliant_msgs", reason="needs the built message package: ./dev build")
    from pliant_nodes.launching import domain_of_this_process

    folder = tmp_path_factory.mktemp("launch")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROS_DOMAIN_ID", str(domain_of_this_process()))
        patch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
        patch.setenv("ROS_LOG_DIR", str(folder / "ros"))
        rclpy.init()
        started = Session(folder / "launch")
        try:
            yield started
        finally:
            started.end()
            rclpy.try_shutdown()


@pytest.fixture
def spin() -> Iterator[Callable[..., bool]]:
    """Spins a node until something is so."""
    from rclpy.executors import SingleThreadedExecutor

    executor = SingleThreadedExecutor()

    def until(node: Any, so: Callable[[], bool], timeout: float) -> bool:
        if node not in executor.get_nodes():
            executor.add_node(node)
        deadline = time.monotonic() + timeout
        while not so() and time.monotonic() < deadline:
            executor.spin_once(timeout_sec=0.05)
        return so()

    yield until
    executor.shutdown()
