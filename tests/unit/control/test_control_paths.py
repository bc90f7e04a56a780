"""Goal paths: their geometry, and files with mistakes."""

from pathlib import Path

import numpy as np
import pytest

from pliant.control.paths import circle, from_file, line, square
from pliant.errors import PliantError


@pytest.mark.parametrize("normal", [(0, 0, 1), (0, 0, -2), (1, 0, 0), (1, 2, 3)])
def test_circle(normal: tuple[float, float, float]) -> None:
    center = np.array([0.01, 0.02, 0.1])
    points = circle(center, 0.02, 30, normal=normal)
    np.testing.assert_allclose(np.linalg.norm(points - center, axis=1), 0.02)
    np.testing.assert_allclose((points - center) @ normal, 0.0, atol=1e-15)
    turn = np.cross(points[0] - center, points[1] - center)
    assert turn @ np.array(normal) > 0.0
    np.testing.assert_allclose(np.linalg.norm(np.diff(points, axis=0), axis=1), 0.04 * np.sin(np.pi / 30))


def test_square() -> None:
    points = square((0.0, 0.0, 0.1), 0.02, 8)
    corners = [[-0.01, -0.01, 0.1], [0.01, -0.01, 0.1], [0.01, 0.01, 0.1], [-0.01, 0.01, 0.1]]
    np.testing.assert_allclose(points[::2], corners)
    np.testing.assert_allclose(points[1], [0.0, -0.01, 0.1], atol=1e-18)


def test_line() -> None:
    np.testing.assert_allclose(line((0, 0, 0), (0, 0, 1), 3), [[0, 0, 0], [0, 0, 0.5], [0, 0, 1]])


@pytest.mark.parametrize(
    "make",
    [
        lambda: circle((0, 0, 0), -1.0, 3),
        lambda: circle((0, 0, 0), 1.0, 0),
        lambda: circle((0, 0), 1.0, 3),
        lambda: circle((0, 0, 0), 1.0, 3, normal=(0, 0, 0)),
        lambda: square((0, 0, np.nan), 1.0, 3),
        lambda: square((0, 0, 0), np.inf, 3),
        lambda: line((0, 0, 0), (0, 0, 1), 0),
    ],
)
def test_bad_arguments_are_refused(make) -> None:
    with pytest.raises(PliantError, match="allowed"):
        make()


@pytest.mark.parametrize(
    "name,text",
    [
        ("a.csv", "x_m,y_m,z_m\n0.01,0,0.1\n0.02,0,0.1\n"),
        ("b.csv", "z_mm, x_mm, y_mm\n100, 10, 0\n100, 20, 0\n"),
        ("c.yaml", "- {x_m: 0.01, y_m: 0, z_m: 0.1}\n- {x_mm: 20, y_mm: 0, z_mm: 100}\n"),
    ],
)
def test_files(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    np.testing.assert_allclose(from_file(tmp_path / name), [[0.01, 0, 0.1], [0.02, 0, 0.1]])


@pytest.mark.parametrize(
    "name,text,said",
    [
        ("a.csv", "x,y,z\n1,2,3\n", "line 2.*x_m,y_m,z_m or x_mm"),
        ("a.csv", "x_m,y_m,z_mm\n1,2,3\n", "allowed: x_m"),
        ("a.csv", "x_m,y_m,z_m\n1,2,far\n", "line 2, z_m: given 'far'"),
        ("a.csv", "x_m,y_m,z_m\n1,2\n", "line 2, z_m: given None"),
        ("a.csv", "x_m,y_m,z_m\n1,2,3,4\n", "line 2"),
        ("a.csv", "x_m,y_m,z_m\n1,2,nan\n", "finite"),
        ("a.csv", "x_m,y_m,z_m\n", "no point"),
        ("a.csv", "", "no point"),
        ("a.yaml", "x_m: 1\n", "a list of mappings"),
        ("a.yaml", "- [1, 2, 3]\n", "a list of mappings"),
        ("a.yaml", "- {x_m: [1], y_m: 2, z_m: 3}\n", "entry 0, x_m"),
        ("a.yaml", "- {x_m: 1\n", "cannot be read"),
        ("a.txt", "", "allowed: .csv, .yaml, .yml"),
    ],
)
def test_file_mistakes_are_explained(tmp_path: Path, name: str, text: str, said: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(PliantError, match=said) as caught:
        from_file(tmp_path / name)
    assert name in str(caught.value)


def test_missing_file_is_explained(tmp_path: Path) -> None:
    with pytest.raises(PliantError, match="cannot be read"):
        from_file(tmp_path / "none.csv")
