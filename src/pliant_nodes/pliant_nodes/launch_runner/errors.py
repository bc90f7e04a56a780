"""The one error of the launch runner."""

from __future__ import annotations

from pathlib import Path

from pliant.errors import PliantError


class LaunchFileError(PliantError):
    """A launch file that cannot be run here, with the file and the line.

    Attributes:
        file: The launch file.
        line: Line in it, from 1; 0 for the file as a whole.
    """

    def __init__(self, file: str | Path, line: int, message: str) -> None:
        self.file, self.line = str(file), line
        super().__init__(f"{file}:{line}: {message}")
