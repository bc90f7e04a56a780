"""Running the processes of a launch: prefixed output, an orderly end, nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import IO

from pliant_nodes.launch_runner.description import Process

SIGINT_TIMEOUT_S = 5.0
SIGTERM_TIMEOUT_S = 5.0
POLL_S = 0.05


class Launch:
    """A set of running processes.

    Each process stays in the runner's process group, as under `ros2 launch`, so that
    whoever started the runner can end everything by that group.
    """

    def __init__(self, processes: list[Process], log_file: Path) -> None:
        log_file.parent.mkdir(parents=True, exist_ok=True)
        self._log = log_file.open("w", buffering=1)
        self._lock = threading.Lock()
        self._stop_by_terminal: bool | None = None
        self._failed = False
        self._running: dict[subprocess.Popen[str], str] = {}
        self._readers: list[threading.Thread] = []
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._on_signal)
        self._say(f"[INFO] [launch]: all output is logged in {log_file}")
        for process in processes:
            self._start(process)

    def wait(self) -> int:
        """Wait until every process has ended or a signal asks for the end.

        Returns:
            0 if nothing failed by itself, else 1.
        """
        while self._running and self._stop_by_terminal is None:
            self._reap(stopping=False)
            time.sleep(POLL_S)
        if self._running:
            self._shut_down()
        for reader in self._readers:
            reader.join(timeout=1.0)
        return int(self._failed)

    def _start(self, process: Process) -> None:
        environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
        try:
            child = subprocess.Popen(
                process.command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                env=environment,
                preexec_fn=_default_signals,
            )
        except OSError as error:
            self._failed = True
            self._say(f"[ERROR] [{process.label}]: {process.command[0]}: {error.strerror}")
            return
        self._running[child] = process.label
        self._say(f"[INFO] [{process.label}]: process started with pid [{child.pid}]")
        assert child.stdout is not None and child.stderr is not None
        for stream, screen in ((child.stdout, process.screen), (child.stderr, True)):
            reader = threading.Thread(target=self._copy, args=(stream, process.label, screen), daemon=True)
            reader.start()
            self._readers.append(reader)

    def _copy(self, stream: IO[str], label: str, screen: bool) -> None:
        for line in stream:
            self._say(f"[{label}] {line.rstrip()}", screen=screen)

    def _say(self, line: str, *, screen: bool = True) -> None:
        with self._lock:
            self._log.write(line + "\n")
            if screen:
                sys.stdout.write(line + "\n")
                sys.stdout.flush()

    def _reap(self, *, stopping: bool) -> None:
        for child in [child for child in self._running if child.poll() is not None]:
            label = self._running.pop(child)
            if child.returncode == 0 or stopping:
                self._say(
                    f"[INFO] [{label}]: process has finished [pid {child.pid}, exit code {child.returncode}]"
                )
            else:
                self._failed = True
                self._say(
                    f"[ERROR] [{label}]: process has died [pid {child.pid}, exit code {child.returncode}]"
                )

    def _on_signal(self, number: int, frame: object) -> None:
        # A terminal's Ctrl-C reaches the whole process group already: do not send it twice.
        self._stop_by_terminal = number == signal.SIGINT and sys.stdin is not None and sys.stdin.isatty()

    def _shut_down(self) -> None:
        for number, timeout in (
            (signal.SIGINT, SIGINT_TIMEOUT_S),
            (signal.SIGTERM, SIGTERM_TIMEOUT_S),
            (signal.SIGKILL, SIGTERM_TIMEOUT_S),
        ):
            for child, label in self._running.items():
                if number != signal.SIGINT:
                    self._say(f"[ERROR] [{label}]: still running, sending {signal.Signals(number).name}")
                if number != signal.SIGINT or not self._stop_by_terminal:
                    child.send_signal(number)
            deadline = time.monotonic() + timeout
            while self._running and time.monotonic() < deadline:
                self._reap(stopping=True)
                time.sleep(POLL_S)


def _default_signals() -> None:
    # A shell's background job ignores SIGINT, and its children would inherit that.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
