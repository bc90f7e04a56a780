"""Finding robot files: by path, by name, in a folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pliant.config_file import Entry, read_yaml
from pliant.resources import share_path


def robot_path(name_or_path: str | Path) -> Path:
    """The robot file of a path (with an ending or a separator), or of a shipped robot's name.

    Raises:
        RobotFileError: If no shipped robot has this name.
    """
    path = Path(name_or_path)
    if path.suffix or len(path.parts) != 1:
        return path
    folder = share_path("config", "robots")
    robots = robots_in(folder)
    return robots[Entry(folder, "name", path.name).text(choices=tuple(robots))]


def shipped_robots() -> list[str]:
    """Names of the soft robots that come with Pliant."""
    return sorted(robots_in(share_path("config", "robots")))


def robots_in(folder: str | Path) -> dict[str, Path]:
    """Soft robots' files of a folder by name.

    Raises:
        RobotFileError: If a file is not YAML, has no name, or has the name of another.
    """
    robots: dict[str, Path] = {}
    for file, entry in _names(Path(folder)):
        name = entry.text()
        if name in robots:
            raise entry.error(f"a name of its own; {robots[name].name} has this one already")
        robots[name] = file
    return robots


def _names(folder: Path) -> Iterator[tuple[Path, Entry]]:
    for file in sorted([*folder.glob("*.yaml"), *folder.glob("*.yml")]):
        root = read_yaml(file)
        if root.contents.get("kind") == "soft":
            yield file, root.below("name", root.contents.get("name"))
