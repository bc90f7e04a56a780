"""The substitutions `$(...)` of ROS 2 launch files, as far as this runner knows them."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from pliant.errors import PliantError

COMMAND_TIMEOUT_S = 60.0
TRUE, FALSE = ("true", "1"), ("false", "0")


def substitute(text: str, variables: Mapping[str, str]) -> str:
    """A text with every `$(...)` replaced, inner ones first.

    Args:
        text: An attribute of a launch file.
        variables: Launch arguments and `<let>` variables.

    Raises:
        PliantError: If a substitution is unknown, malformed or fails.
    """
    parts: list[str] = []
    position = 0
    while (start := text.find("$(", position)) >= 0:
        end = _closing(text, start + 2)
        parts += [text[position:start], _evaluate(text[start + 2 : end], variables)]
        position = end + 1
    return "".join([*parts, text[position:]])


def truth(text: str) -> bool:
    """A condition's text as a boolean, by the words that ROS 2 launch takes.

    Raises:
        PliantError: If it is neither true, 1, false nor 0.
    """
    word = text.strip().lower()
    if word not in TRUE + FALSE:
        raise PliantError(f"condition {text!r} is not one of true, 1, false, 0")
    return word in TRUE


def package_share(package: str) -> Path:
    """The share folder of an installed package, by AMENT_PREFIX_PATH.

    Raises:
        PliantError: If no prefix has the package.
    """
    return _prefix(package) / "share" / package


def package_executable(package: str, name: str) -> Path:
    """An executable of an installed package.

    Raises:
        PliantError: If the package or the executable is missing.
    """
    folder = _prefix(package) / "lib" / package
    path = folder / name
    if not os.access(path, os.X_OK) or path.is_dir():
        found = sorted(file.name for file in folder.iterdir()) if folder.is_dir() else []
        raise PliantError(
            f"package {package!r} has no executable {name!r}; it has: {', '.join(found) or 'none'}"
        )
    return path


def _prefix(package: str) -> Path:
    prefixes = [
        Path(prefix) for prefix in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if prefix
    ]
    for prefix in prefixes:
        if (prefix / "share/ament_index/resource_index/packages" / package).exists():
            return prefix
    raise PliantError(
        f"package {package!r} is in none of AMENT_PREFIX_PATH: {os.pathsep.join(map(str, prefixes))}"
    )


def _closing(text: str, start: int) -> int:
    """Position of the bracket that closes a substitution whose inside begins at `start`."""
    depth, quote = 1, ""
    for position in range(start, len(text)):
        character = text[position]
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character in "()":
            depth += 1 if character == "(" else -1
            if depth == 0:
                return position
    raise PliantError(f"{text!r}: a '$(' is not closed")


def _evaluate(inside: str, variables: Mapping[str, str]) -> str:
    name, _, rest = inside.strip().partition(" ")
    if name not in _SUBSTITUTIONS:
        raise PliantError(
            f"substitution $({name} ...) is not supported; supported: {', '.join(sorted(_SUBSTITUTIONS))}"
        )
    function, least, most = _SUBSTITUTIONS[name]
    arguments = [substitute(word, variables) for word in _words(rest)]
    if not least <= len(arguments) <= most:
        raise PliantError(f"$({inside}): given {len(arguments)} arguments; allowed: {least} to {most}")
    return function(arguments, variables)


def _words(text: str) -> list[str]:
    """Words at blanks, quotes and brackets kept together; the outer quotes of a word go."""
    words: list[str] = []
    word, quote, depth, started = "", "", 0, False
    for character in text.strip():
        if quote and character == quote and depth == 0:
            quote = ""
        elif not quote and character in "'\"" and depth == 0:
            quote, started = character, True
        elif character.isspace() and not quote and depth == 0:
            if word or started:
                words.append(word)
            word, started = "", False
        else:
            depth += {"(": 1, ")": -1}.get(character, 0)
            word += character
    return [*words, word] if word or started else words


def _variable(arguments: list[str], variables: Mapping[str, str]) -> str:
    if arguments[0] not in variables:
        raise PliantError(
            f"$(var {arguments[0]}): no such argument; there are: {', '.join(sorted(variables)) or 'none'}"
        )
    return variables[arguments[0]]


def _environment(arguments: list[str], variables: Mapping[str, str]) -> str:
    name, *default = arguments
    if name not in os.environ and not default:
        raise PliantError(f"$(env {name}): the environment variable is not set and there is no default")
    return os.environ.get(name, *default) or ""


def _command(arguments: list[str], variables: Mapping[str, str]) -> str:
    words = shlex.split(arguments[0])
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PliantError(f"$(command {arguments[0]!r}): {error}") from error
    if done.returncode:
        raise PliantError(
            f"$(command {arguments[0]!r}) ended with {done.returncode}: {done.stderr.strip()[-300:]}"
        )
    return done.stdout


def _word(value: bool) -> str:
    return "true" if value else "false"


_SUBSTITUTIONS: dict[str, tuple[Callable[[list[str], Mapping[str, str]], str], int, int]] = {
    "var": (_variable, 1, 1),
    "env": (_environment, 1, 2),
    "find-pkg-share": (lambda arguments, variables: str(package_share(arguments[0])), 1, 1),
    "equals": (lambda arguments, variables: _word(arguments[0] == arguments[1]), 2, 2),
    "not": (lambda arguments, variables: _word(not truth(arguments[0])), 1, 1),
    "command": (_command, 1, 1),
}
