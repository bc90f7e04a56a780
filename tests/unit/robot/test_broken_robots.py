"""No broken robot file ends in anything but one error that names the file and the key."""

from __future__ import annotations

from pathlib import Path

import pytest
from broken_robots import Broken, broken_robots

from pliant.cli import main
from pliant.errors import RobotFileError
from pliant.robot import load_robot, robots_in

LONGEST_LINE, MOST_CHARACTERS = 80, 1200  # one screen: 15 lines of 80

CASES = broken_robots()


def test_there_are_three_hundred_distinct_cases() -> None:
    assert len({case.name for case in CASES}) == len(CASES) >= 300


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_error_names_file_and_key(case: Broken, tmp_path: Path) -> None:
    file = case.write(tmp_path)
    with pytest.raises(RobotFileError) as caught:
        load_robot(file)
    error = caught.value
    assert error.file == str(file)
    assert error.key.startswith(case.key)
    assert str(file) in str(error)
    assert error.key in str(error)
    assert len(str(error)) - len(str(file)) <= MOST_CHARACTERS
    assert str(error).isprintable() or "\n" in str(error)


@pytest.mark.parametrize("case", CASES[:: max(1, len(CASES) // 300)], ids=lambda case: case.name)
def test_command_line_says_it_without_a_traceback(
    case: Broken, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = case.write(tmp_path)
    assert main(["check", str(file)]) == 1
    out, err = capsys.readouterr()
    assert "Traceback" not in out + err
    assert str(file) in err.replace("\n", "")


def test_two_robots_of_one_name(block_file: Path) -> None:
    twin = block_file.with_name("twin.yaml")
    twin.write_text(block_file.read_text())
    with pytest.raises(RobotFileError) as caught:
        robots_in(block_file.parent)
    assert caught.value.key == "name"
    assert caught.value.file == str(twin)
