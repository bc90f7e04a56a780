"""Options as frozen dataclasses whose fields know their unit, range and meaning."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, TypeVar

from pliant.errors import PliantError

T = TypeVar("T")


def parameter(
    default: Any,
    *,
    unit: str,
    description: str,
    minimum: float | None = None,
    maximum: float | None = None,
    choices: tuple[str, ...] = (),
) -> Any:
    """A dataclass field that carries what a user, a docs page or a ROS descriptor must know.

    Args:
        default: The value where none is given.
        unit: SI unit; "" for a pure number or a word.
        description: One sentence.
        minimum: Smallest allowed value; None for no bound.
        maximum: Largest allowed value; None for no bound.
        choices: Allowed words, for text.

    Returns:
        A field with the metadata keys unit, min, max, choices and description.
    """
    return dataclasses.field(
        default=default,
        metadata={
            "unit": unit,
            "min": minimum,
            "max": maximum,
            "choices": choices,
            "description": description,
        },
    )


def validate(options: Any) -> None:
    """Check every field of an options dataclass against its metadata.

    Raises:
        PliantError: If a value has another type than its default, or is out of range.
    """
    for field in dataclasses.fields(options):
        given = getattr(options, field.name)
        allowed = _allowed(field)
        if not _fits(given, field):
            owner = type(options).__name__
            raise PliantError(f"{owner}.{field.name}: given {given!r}; allowed: {allowed}")


def from_mapping(cls: type[T], values: Mapping[str, Any], *, source: str = "") -> T:
    """An options dataclass from a mapping, as read from YAML.

    Args:
        cls: The dataclass.
        values: Field name to value; fields that are absent keep their default.
        source: File and key that the mapping came from, for the message.

    Raises:
        PliantError: If a key is unknown or a value is not allowed.
    """
    known = {field.name for field in dataclasses.fields(cls)}  # type: ignore[arg-type]
    unknown = sorted(str(key) for key in set(values) - known)
    where = f"{source}: " if source else ""
    if unknown:
        raise PliantError(f"{where}unknown key {', '.join(unknown)}; allowed: {', '.join(sorted(known))}")
    try:
        return cls(**values)
    except PliantError as error:
        raise PliantError(f"{where}{error}") from error


def _fits(given: Any, field: dataclasses.Field[Any]) -> bool:
    default, meta = field.default, field.metadata
    if isinstance(default, bool) or isinstance(given, bool):
        return isinstance(given, bool) and isinstance(default, bool)
    if isinstance(default, str):
        return isinstance(given, str) and (not meta["choices"] or given in meta["choices"])
    if isinstance(default, int) and not isinstance(given, int):
        return False
    if not isinstance(given, (int, float)) or given != given:
        return False
    low, high = meta["min"], meta["max"]
    return (low is None or given >= low) and (high is None or given <= high)


def _allowed(field: dataclasses.Field[Any]) -> str:
    meta = field.metadata
    if meta["choices"]:
        return ", ".join(meta["choices"])
    kind = type(field.default).__name__
    low = "-inf" if meta["min"] is None else meta["min"]
    high = "inf" if meta["max"] is None else meta["max"]
    span = "" if kind in ("str", "bool") else f" from {low} to {high}"
    return f"{kind}{span} {meta['unit']}".rstrip()
