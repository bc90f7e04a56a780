"""Every command runs, says what it did, and fails with one line and the right exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from block import block_robot, write_robot

from pliant.cli import main
from pliant.experiments import EXPERIMENTS, Bar, Outcome, run_experiment

COMMANDS = ("robots", "check", "track", "mesh", "reproduce")


@pytest.mark.parametrize("command", [(), *[(name,) for name in COMMANDS]], ids=str)
def test_help_has_examples(command: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*command, "--help"]) == 0
    out = capsys.readouterr().out
    assert "examples:" in out
    assert f"pliant {' '.join(command)}".strip() in out.split("examples:")[1]


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["dance"],
        ["track"],
        ["track", "diamond", "--goals", "0"],
        ["track", "diamond", "--radius", "-1"],
        ["track", "diamond", "--solver", "qpoases"],
        ["mesh", "part.step"],
    ],
    ids=str,
)
def test_wrong_usage_is_exit_code_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    assert "usage: pliant" in capsys.readouterr().err


def test_robots(block_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["robots", "--folder", str(block_file.parent)]) == 0
    assert "block" in capsys.readouterr().out


def test_check(block_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(block_file)]) == 0
    out = capsys.readouterr().out
    for subject in ("mesh quality", "held", "points", "units", "rest", "compliance", "reach", "rate"):
        assert subject in out
    assert "warning" not in out


def test_check_warns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = block_robot() | {"gravity_m_s2": [0, 0, -0.5]}
    content["material"]["young_modulus_pa"] = 9e10
    content["actuators"][0]["course_m"] = [0.0, 0.3]
    content["effectors"][0]["point_m"] = [0, 0, 0.083]
    assert main(["check", str(write_robot(tmp_path, content))]) == 0
    out = capsys.readouterr().out
    for key in ("gravity_m_s2", "material.young_modulus_pa", "actuators[0].course_m", "effectors[0].point_m"):
        assert key in out
    assert out.count("warning") >= 4


def test_check_refuses_a_twin(block_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    block_file.with_name("twin.yaml").write_text(block_file.read_text())
    assert main(["check", str(block_file)]) == 1
    assert "a name of its own" in capsys.readouterr().err


def test_track(block_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    figures, picture = tmp_path / "figures.json", tmp_path / "picture.png"
    arguments = ["track", str(block_file), "--goals", "6", "--json", str(figures), "--picture", str(picture)]
    assert main(arguments) == 0
    assert "6 of 6 goals followed" in capsys.readouterr().out
    content = json.loads(figures.read_text())
    assert content["goals"] == 6
    assert content["max_error_mm"] <= 0.01
    assert content["settle_steps"] <= 20
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_track_a_file_of_points(block_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    points = tmp_path / "points.csv"
    points.write_text("x_mm,y_mm,z_mm\n2,0.2,79.3\n300,0,0\n")
    assert main(["track", str(block_file), "--path", str(points), "--solver", "daqp"]) == 0
    assert "1 of them out of reach" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["check", "no_such_robot"], "no_such_robot"),
        (["check", "absent.yaml"], "absent.yaml"),
        (["track", "absent.yaml"], "absent.yaml"),
        (["reproduce", "absent"], "condensed-fig3-fem"),
        (["mesh", "absent.step", "--size", "5", "-o", "out.vtu"], "absent.step"),
    ],
    ids=str,
)
def test_errors_are_exit_code_1(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 1
    out, err = capsys.readouterr()
    assert err.startswith("pliant: ")
    assert said in err
    assert "Traceback" not in out + err


def test_a_full_or_forbidden_disk_is_an_error(block_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["track", str(block_file), "--goals", "1", "--json", "/nonexistent/figures.json"]) == 1
    assert "/nonexistent/figures.json" in capsys.readouterr().err


def test_reproduce_lists_every_experiment(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "--list"]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in EXPERIMENTS)


def test_an_experiment_writes_what_the_contract_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Module:
        @staticmethod
        def run(*, quick: bool, figure: Path, advance: object) -> Outcome:
            figure.write_bytes(b"picture")
            return Outcome({"error_mm": 0.2}, (Bar("error", 0.2, 0.1, "<=", "mm"),), seed=5)

    monkeypatch.setattr("pliant.experiments.registry.importlib.import_module", lambda name: Module)
    _, folder = run_experiment("condensed-fig3-fem", quick=True, output=tmp_path, advance=lambda *_: None)
    content = json.loads((folder / "condensed-fig3-fem.json").read_text())
    assert {"name", "paper", "measured", "bars", "seed", "seconds", "quick", "versions"} == set(content)
    assert content["bars"] == [
        {"name": "error", "value": 0.2, "limit": 0.1, "sense": "<=", "unit": "mm", "met": False}
    ]
    assert content["quick"] is True
    assert "numpy" in content["versions"]
    assert (folder / "condensed-fig3-fem.png").exists()
