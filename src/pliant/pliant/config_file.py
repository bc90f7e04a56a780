"""Reading configuration files strictly: every complaint names file, key, value and what is allowed."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from pliant.errors import RobotFileError

MAXIMUM_BYTES = 1_000_000
MAXIMUM_ENTRIES = 10_000


class Shown(str):
    """A description that stands in a message without quotes."""

    def __repr__(self) -> str:
        return str(self)


@dataclass(frozen=True)
class Entry:
    """One value of a configuration file, and where it stands.

    Attributes:
        file: The file.
        key: The key, dotted and indexed ("actuators[2].course_m"); "(file)" at the root.
        value: What YAML made of it.
    """

    file: Path
    key: str
    value: object

    def error(self, allowed: str, given: object = None) -> RobotFileError:
        """The error to raise when this entry is not `allowed`; `given` replaces the value."""
        return RobotFileError(self.file, self.key, shown(self.value) if given is None else given, allowed)

    @property
    def contents(self) -> dict[Any, Any]:
        """The mapping that this entry is; empty if it is none."""
        return self.value if isinstance(self.value, dict) else {}

    def below(self, name: str, value: object) -> Entry:
        """The entry `name` of this mapping."""
        return Entry(self.file, name if self.key == ROOT else f"{self.key}.{name}", value)

    def mapping(self, required: Sequence[str] = (), optional: Sequence[str] = ()) -> dict[str, Entry]:
        """This entry as a mapping with these keys and no others."""
        if not isinstance(self.value, dict):
            raise self.error(f"a mapping with {_listed(required, optional)}")
        known = [*required, *optional]
        for key in self.value:
            if key not in known:
                raise self.below(str(shown(key)), key).error(
                    f"{_did_you_mean(str(key), known)}{_listed(required, optional)}", Shown("an unknown key")
                )
        for key in required:
            if key not in self.value:
                raise self.below(key, None).error(
                    "required; " + f"{_listed(required, optional)}", Shown("nothing")
                )
        return {key: self.below(key, value) for key, value in self.value.items()}

    def numbered(self) -> dict[int, Entry]:
        """This entry as a mapping from integers."""
        if not isinstance(self.value, dict):
            raise self.error("a mapping from region numbers")
        for key in self.value:
            if isinstance(key, bool) or not isinstance(key, int):
                raise self.below(str(shown(key)), key).error("an integer region number as key")
        return {key: self.below(str(key), value) for key, value in self.value.items()}

    def named(self) -> dict[str, Entry]:
        """This entry as a non-empty mapping from free names."""
        if not isinstance(self.value, dict) or not self.value:
            raise self.error("a non-empty mapping from names")
        for key in self.value:
            self.below(str(shown(key)), key).text(NAME)
        return {key: self.below(key, value) for key, value in self.value.items()}

    def entries(self, *, least: int = 1) -> list[Entry]:
        """This entry as a list."""
        if not isinstance(self.value, list) or not least <= len(self.value) <= MAXIMUM_ENTRIES:
            raise self.error(f"a list of at least {least} and at most {MAXIMUM_ENTRIES} entries")
        return [Entry(self.file, f"{self.key}[{i}]", value) for i, value in enumerate(self.value)]

    def text(self, pattern: re.Pattern[str] | None = None, choices: Sequence[str] = ()) -> str:
        """This entry as a non-empty text of at most 500 characters."""
        if choices and self.value not in choices:
            raise self.error(_did_you_mean(str(self.value), choices) + "one of " + ", ".join(choices))
        if not isinstance(self.value, str) or not 0 < len(self.value.strip()) <= 500:
            raise self.error("a text of 1 to 500 characters")
        if pattern is not None and not pattern.fullmatch(self.value):
            raise self.error("a name of up to 64 letters, digits and '_' that starts with a letter")
        return self.value

    def number(self, low: float, high: float, unit: str) -> float:
        """This entry as a finite number within [low, high]."""
        allowed = f"a number from {low:g} to {high:g} {unit}".rstrip()
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            raise self.error(allowed)
        if not low <= self.value <= high or not math.isfinite(self.value):
            raise self.error(allowed)
        return float(self.value)

    def integer(self, low: int, high: int) -> int:
        """This entry as an integer within [low, high]."""
        if isinstance(self.value, bool) or not isinstance(self.value, int) or not low <= self.value <= high:
            raise self.error(f"an integer from {low} to {high}")
        return self.value

    def vector(self, length: int, low: float, high: float, unit: str) -> tuple[float, ...]:
        """This entry as a list of `length` finite numbers within [low, high]."""
        if not isinstance(self.value, list) or len(self.value) != length:
            raise self.error(f"a list of {length} numbers in {unit}")
        return tuple(entry.number(low, high, unit) for entry in self.entries())

    def interval(self, low: float, high: float, unit: str) -> tuple[float, float]:
        """This entry as [minimum, maximum] with minimum < maximum."""
        minimum, maximum = self.vector(2, low, high, unit)
        if not minimum < maximum:
            raise self.error(f"[minimum, maximum] in {unit} with minimum < maximum")
        return minimum, maximum


ROOT = "(file)"
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")


def read_yaml(path: str | Path) -> Entry:
    """Read one YAML file into its root entry, by the scalars of YAML 1.2 (1e5 is a number).

    Raises:
        RobotFileError: If the file is missing, too large or not YAML; with the line where known.
    """
    file = Path(path)
    root = Entry(file, ROOT, None)
    try:
        content = _bounded_bytes(file)
    except OSError as error:
        raise root.error("a readable YAML file", Shown(error.strerror or type(error).__name__)) from error
    if len(content) > MAXIMUM_BYTES:
        raise root.error(f"a YAML file of at most {MAXIMUM_BYTES // 1000} kB", Shown("a larger file"))
    try:
        value = yaml.load(content.decode(), Loader=_StrictLoader)
    except yaml.MarkedYAMLError as error:
        raise root.error("valid YAML", _with_line(error)) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise root.error("valid YAML in UTF-8", Shown(str(error).splitlines()[0][:200])) from error
    if not isinstance(value, dict):
        raise Entry(file, ROOT, value).error("a mapping from keys to values")
    return Entry(file, ROOT, value)


def unique(entry: Entry, names: Sequence[str]) -> None:
    """Refuse the second name of a kind in a list of named things."""
    for index, name in enumerate(names):
        first = names.index(name)
        if first < index:
            twice = Entry(entry.file, f"{entry.key}[{index}].name", name)
            raise twice.error(f"a name of its own; {entry.key}[{first}] has this one already")


def shown(value: object) -> object:
    """A value as a message shows it: scalars as they are, the rest by its size."""
    if value is None:
        return Shown("nothing")
    if isinstance(value, str) and len(value) > 80:
        return value[:80] + "..."
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 10**20:
        return Shown("a huge integer")
    if isinstance(value, list | dict):
        kind = "list" if isinstance(value, list) else "mapping"
        flat = all(isinstance(item, int | float | str) for item in value) and isinstance(value, list)
        text = repr(value) if flat and len(value) <= 6 else ""
        return Shown(text if 0 < len(text) <= 80 else f"a {kind} of {len(value)} entries")
    return value


def _bounded_bytes(file: Path) -> bytes:
    with file.open("rb") as stream:
        return stream.read(MAXIMUM_BYTES + 1)


def _listed(required: Sequence[str], optional: Sequence[str]) -> str:
    if not required:
        return f"the optional keys {', '.join(optional)}"
    return f"keys {', '.join(required)}" + (f" (optional: {', '.join(optional)})" if optional else "")


def _did_you_mean(given: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(given[:80], known, n=1)
    return f"did you mean {near[0]!r}? " if near else ""


def _with_line(error: yaml.MarkedYAMLError) -> Shown:
    mark = error.problem_mark or error.context_mark
    where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
    return Shown(where + (error.problem or error.context or "not valid")[:200])


class _StrictLoader(yaml.SafeLoader):
    """YAML 1.2 core scalars, no tags of its own, no key twice."""

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        node = super().compose_mapping_node(anchor)
        seen = set()
        for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
            if key.value in seen and key.tag != _MERGE:
                raise yaml.constructor.ConstructorError(
                    None, None, f"key {key.value!r} twice", key.start_mark
                )
            seen.add(key.value)
        return node

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        super().flatten_mapping(node)
        if len(node.value) > MAXIMUM_ENTRIES:
            raise yaml.constructor.ConstructorError(None, None, "too many merged keys", node.start_mark)

    def construct_yaml_int(self, node: yaml.ScalarNode) -> int:
        return int(self.construct_scalar(node))


_MERGE = "tag:yaml.org,2002:merge"
_PLAIN = {f"tag:yaml.org,2002:{name}" for name in ("str", "int", "float", "bool", "null", "seq", "map")}
_StrictLoader.yaml_implicit_resolvers = {}
_StrictLoader.yaml_constructors = {
    tag: made for tag, made in yaml.SafeLoader.yaml_constructors.items() if tag is None or tag in _PLAIN
}
_StrictLoader.add_constructor("tag:yaml.org,2002:int", _StrictLoader.construct_yaml_int)
for _tag, _pattern, _first in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("int", r"[-+]?[0-9]+", "-+0123456789"),
    (
        "float",
        r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
        "-+.0123456789",
    ),
    ("merge", r"<<", "<"),
):
    _StrictLoader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_tag}", re.compile(f"^(?:{_pattern})$"), list(_first)
    )
