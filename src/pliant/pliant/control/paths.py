"""Goal paths: circles, squares, lines, and points from a file."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import ArrayLike, NDArray

from pliant.errors import PliantError

Array = NDArray[np.float64]

UNITS = {"m": 1.0, "mm": 1e-3}


def circle(center: ArrayLike, radius: float, n: int, *, normal: ArrayLike = (0, 0, 1)) -> Array:
    """Points on a circle, counter-clockwise about its normal, the first one on the x side.

    Args:
        center: Centre [m], shape (3,).
        radius: Radius [m].
        n: Number of points.
        normal: Normal of its plane, of any length, shape (3,).

    Returns:
        Points [m], shape (n, 3); the first is not repeated at the end.

    Raises:
        PliantError: If an argument is not finite, or the radius or n is not positive.
    """
    _check_count(n, "circle")
    _check_length(radius, "circle: radius")
    angle = 2.0 * np.pi * np.arange(n) / n
    u, v = _plane(normal)
    around: Array = np.outer(np.cos(angle), u) + np.outer(np.sin(angle), v)
    return _point(center, "circle: center") + radius * around


def square(center: ArrayLike, side: float, n: int, *, normal: ArrayLike = (0, 0, 1)) -> Array:
    """Points at equal distances along a square, from its corner at -x -y, counter-clockwise.

    Args:
        center: Centre [m], shape (3,).
        side: Length of a side [m].
        n: Number of points; a multiple of four puts one on each corner.
        normal: Normal of its plane, of any length, shape (3,).

    Returns:
        Points [m], shape (n, 3).

    Raises:
        PliantError: If an argument is not finite, or the side or n is not positive.
    """
    _check_count(n, "square")
    _check_length(side, "square: side")
    along = 4.0 * np.arange(n) / n
    corner = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]]) / 2.0
    edge = np.arange(5)
    flat = side * np.column_stack([np.interp(along, edge, corner[:, i]) for i in range(2)])
    return _point(center, "square: center") + flat @ np.stack(_plane(normal))


def line(start: ArrayLike, end: ArrayLike, n: int) -> Array:
    """Points at equal distances on a line, both ends included.

    Args:
        start: First point [m], shape (3,).
        end: Last point [m], shape (3,).
        n: Number of points.

    Returns:
        Points [m], shape (n, 3).

    Raises:
        PliantError: If a point is not finite or n is not positive.
    """
    _check_count(n, "line")
    return np.linspace(_point(start, "line: start"), _point(end, "line: end"), n)


def from_file(path: str | Path) -> Array:
    """Points from a CSV file, or from a YAML list of mappings.

    The columns (or keys) are x, y and z with their unit: `x_m,y_m,z_m` or `x_mm,y_mm,z_mm`.

    Args:
        path: A file that ends in .csv, .yaml or .yml.

    Returns:
        Points [m], shape (n, 3).

    Raises:
        PliantError: With file, line and column, if the file is not such a list.
    """
    path = Path(path)
    readers = {".csv": _csv_rows, ".yaml": _yaml_rows, ".yml": _yaml_rows}
    if path.suffix.lower() not in readers:
        raise PliantError(f"{path}: given a {path.suffix!r} file; allowed: {', '.join(readers)}")
    try:
        rows = readers[path.suffix.lower()](path)
    except (OSError, UnicodeDecodeError, yaml.YAMLError, csv.Error) as error:
        raise PliantError(f"{path}: cannot be read: {error}") from error
    points = [_row_point(path, where, row) for where, row in rows]
    if not points:
        raise PliantError(f"{path}: given no point; allowed: one or more")
    return np.array(points)


def _csv_rows(path: Path) -> list[tuple[str, Mapping[str, Any]]]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        lines = csv.DictReader(file, skipinitialspace=True)
        return [(f"line {lines.line_num}", row) for row in lines]


def _yaml_rows(path: Path) -> Iterable[tuple[str, Mapping[str, Any]]]:
    rows = yaml.safe_load(path.read_text(encoding="utf-8"))
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise PliantError(f"{path}: given {type(rows).__name__}; allowed: a list of mappings")
    return [(f"entry {i}", row) for i, row in enumerate(rows)]


def _row_point(path: Path, where: str, row: Mapping[str, Any]) -> list[float]:
    given = sorted("one too many" if key is None else str(key).strip() for key in row)
    for unit, factor in UNITS.items():
        names = [f"{axis}_{unit}" for axis in "xyz"]
        if given == sorted(names):
            return [factor * _number(path, f"{where}, {name}", row[name]) for name in names]
    allowed = " or ".join(",".join(f"{axis}_{unit}" for axis in "xyz") for unit in UNITS)
    raise PliantError(f"{path}: {where}: given columns {','.join(given)}; allowed: {allowed}")


def _number(path: Path, where: str, given: Any) -> float:
    try:
        value = float(given)
    except (TypeError, ValueError):
        value = np.nan
    if not np.isfinite(value):
        raise PliantError(f"{path}: {where}: given {given!r}; allowed: a finite number")
    return value


def _plane(normal: ArrayLike) -> tuple[Array, Array]:
    """Two unit vectors that span the plane; x and y where the normal is z."""
    n = _point(normal, "normal")
    length = np.linalg.norm(n)
    if length == 0.0:
        raise PliantError("normal: given zero; allowed: a direction")
    n = n / length
    x, y = np.eye(3)[0], np.eye(3)[1]
    u = x - (x @ n) * n if abs(x @ n) < 0.9 else y - (y @ n) * n
    u = u / np.linalg.norm(u)
    return u, np.cross(n, u)


def _point(given: ArrayLike, name: str) -> Array:
    point = np.asarray(given, dtype=np.float64)
    if point.shape != (3,) or not np.isfinite(point).all():
        raise PliantError(f"{name}: given {point.tolist()}; allowed: three finite numbers")
    return point


def _check_count(n: int, name: str) -> None:
    if n < 1:
        raise PliantError(f"{name}: given {n} points; allowed: 1 or more")


def _check_length(given: float, name: str) -> None:
    if not (np.isfinite(given) and given > 0.0):
        raise PliantError(f"{name}: given {given}; allowed: above 0 m")
