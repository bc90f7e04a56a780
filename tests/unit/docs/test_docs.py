"""The documentation is true: code runs, links and commands exist, tables are made from results."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from pliant.cli import main
from pliant.robot_file import read_robot_file

ROOT = Path(__file__).resolve().parents[3]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
REACHED_MM = 1e-6
"""The plant of the README's example is its model: Newton's method on both, nothing between."""


def words_after(command: str) -> set[str]:
    """First words after a command in any code of any page."""
    kinds = r"```.*?```|`[^`]+`|^    [^\n]+$"
    code = [piece for page in PAGES for piece in re.findall(kinds, page.read_text(), re.S | re.M)]
    return {word for text in code for word in re.findall(rf"(?<![\w/]){command} +([a-z]+)\b", text)}


def anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def test_example_of_the_readme_reaches_its_goal() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    names: dict[str, object] = {}
    exec(code, names)
    assert names["error_mm"] < REACHED_MM


def test_robot_file_of_the_tutorial_is_accepted(tmp_path: Path) -> None:
    (content,) = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs/your-own-robot.md").read_text(), re.S)
    file = tmp_path / "bar.yaml"
    file.write_text(content)
    assert len(read_robot_file(file).actuators) == 4


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        if target.startswith("https://"):
            continue
        path, _, section = target.partition("#")
        file = page.parent / path if path else page
        assert file.exists(), target
        if section:
            headings = re.findall(r"^#+ (.+)$", file.read_text(), re.M)
            assert section in {anchor(heading) for heading in headings}, target


def test_commands_exist(capsys: pytest.CaptureFixture[str]) -> None:
    for name in words_after("pliant"):
        assert main([name, "--help"]) == 0, name
    helped = subprocess.run([ROOT / "dev", "help"], capture_output=True, text=True, check=True).stdout
    for name in words_after(r"\./dev"):
        assert re.search(rf"^  {name}\b", helped, re.M), name


def test_launch_files_and_benchmarks_exist() -> None:
    for name in words_after(r"\./dev launch"):
        assert (ROOT / "launch" / f"{name}.launch.xml").is_file(), name
    for name in words_after(r"\./dev bench"):
        assert (ROOT / "benchmarks" / f"{name}.py").is_file(), name


def test_tables_are_made_from_the_results() -> None:
    command = [sys.executable, ROOT / "docs" / "make_tables.py", "--check"]
    made = subprocess.run(command, capture_output=True, text=True)
    assert made.returncode == 0, made.stdout + made.stderr


def test_picture_is_small() -> None:
    for picture in (ROOT / "docs" / "images").iterdir():
        assert picture.stat().st_size < 400e3, picture
