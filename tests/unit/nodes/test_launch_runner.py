"""The launch runner against the meaning of ROS 2 launch: what it runs, and what it refuses where."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from pliant.errors import PliantError
from pliant_nodes.launch_runner.description import declared_arguments, describe
from pliant_nodes.launch_runner.errors import LaunchFileError
from pliant_nodes.launch_runner.substitution import substitute, truth


def launch_file(folder: Path, body: str, name: str = "a.launch.xml") -> Path:
    file = folder / name
    file.write_text(f"<launch>\n{body}\n</launch>\n")
    return file


@pytest.fixture
def prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed package `robots` with an executable `move`."""
    root = tmp_path / "prefix"
    (root / "share/ament_index/resource_index/packages").mkdir(parents=True)
    (root / "share/ament_index/resource_index/packages/robots").touch()
    (root / "share/robots").mkdir()
    (root / "lib/robots").mkdir(parents=True)
    (root / "lib/robots/move").write_text("#!/bin/sh\n")
    (root / "lib/robots/move").chmod(0o755)
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"/nowhere:{root}")
    return root


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("$(var a)/$(var b)", "1/two words"),
        ("$(equals $(var a) 1)", "true"),
        ("$(equals $(var b) 'two words')", "true"),
        ("$(equals '$(var b)' other)", "false"),
        ("$(equals '' $(var empty))", "true"),
        ("$(not $(equals $(var a) 2))", "true"),
        ("$(env PLIANT_NOT_SET fallback)", "fallback"),
        ("$(env PLIANT_NOT_SET '')", ""),
        ("$(command 'echo $(var a) (x)')", "1 (x)\n"),
        ("$(command \"printf '%s' hello\")", "hello"),
    ],
)
def test_substitutions(text: str, expected: str) -> None:
    assert substitute(text, {"a": "1", "b": "two words", "empty": ""}) == expected


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("$(eval 1+1)", "$(eval"),
        ("$(dirname)", "$(dirname"),
        ("$(anon x)", "$(anon"),
        ("$(var missing)", "missing"),
        ("$(env PLIANT_NOT_SET)", "PLIANT_NOT_SET"),
        ("$(find-pkg-share no_such_package)", "no_such_package"),
        ("$(var a", "not closed"),
        ("$(equals a)", "arguments"),
        ("$(not maybe)", "maybe"),
        ("$(command 'false')", "false"),
        ("$(command 'no-such-program')", "no-such-program"),
    ],
)
def test_bad_substitutions_are_named(text: str, names: str) -> None:
    with pytest.raises(PliantError) as error:
        substitute(text, {"a": "1"})
    assert names in str(error.value)


def test_conditions_take_the_words_of_ros() -> None:
    assert truth(" True ") and truth("1") and not truth("FALSE") and not truth("0")
    with pytest.raises(PliantError):
        truth("yes")


def test_a_node_becomes_a_command_line(tmp_path: Path, prefix: Path) -> None:
    (tmp_path / "p.yaml").write_text("/**:\n  ros__parameters: {rate: 5.0}\n")
    file = launch_file(
        tmp_path,
        f"""<arg name="robot" default="arm" description="Which robot."/>
        <group>
          <push_ros_namespace namespace="$(var robot)"/>
          <node pkg="robots" exec="move" name="mover" args="--fast 'a b'" output="screen">
            <param from="{tmp_path}/p.yaml"/>
            <param name="rate" value="20.0"/>
            <param name="names" value="[a, b]"/>
            <param name="word" value="$(var robot)"/>
            <param name="off" value="1" if="false"/>
            <remap from="in" to="out"/>
          </node>
        </group>
        <node pkg="robots" exec="move" unless="true"/>
        <node pkg="robots" exec="move"/>""",
    )
    inner, outer = describe(file, {}).processes
    words = list(inner.command)
    assert words[:4] == [str(prefix / "lib/robots/move"), "--fast", "a b", "--ros-args"]
    assert words[4:8] == ["-r", "__node:=mover", "-r", "__ns:=/arm"]
    assert words[-2:] == ["-r", "in:=out"] and words[8:10] == ["--params-file", f"{tmp_path}/p.yaml"]
    values = [yaml.safe_load(Path(word).read_text()) for word in words[11:-2:2]]
    assert values == [
        {"/arm/mover": {"ros__parameters": v}}
        for v in ({"rate": 20.0}, {"names": ["a", "b"]}, {"word": "arm"})
    ]
    assert inner.label == "mover-1" and inner.screen
    assert outer.command == (str(prefix / "lib/robots/move"), "--ros-args") and not outer.screen


def test_includes_share_variables_and_groups_keep_theirs(tmp_path: Path) -> None:
    launch_file(
        tmp_path, '<arg name="x" default="0"/><let name="y" value="$(var x)$(var x)"/>', "inner.launch.xml"
    )
    file = launch_file(
        tmp_path,
        f"""<let name="z" value="out"/>
        <group><let name="z" value="in"/><executable cmd="echo $(var z)"/></group>
        <executable cmd="echo $(var z)"/>
        <include file="{tmp_path}/inner.launch.xml"><arg name="x" value="7"/></include>
        <executable cmd="echo $(var y)"/>""",
    )
    assert [process.command[1] for process in describe(file, {}).processes] == ["in", "out", "77"]


def test_a_given_argument_beats_the_default_and_show_args_lists_it(tmp_path: Path) -> None:
    file = launch_file(
        tmp_path, '<arg name="x" default="0" description="The x."/>\n<executable cmd="echo $(var x)"/>'
    )
    assert describe(file, {"x": "5"}).processes[0].command == ("echo", "5")
    (argument,) = declared_arguments(file)
    assert (argument.name, argument.default, argument.description) == ("x", "0", "The x.")


@pytest.mark.parametrize(
    ("body", "line", "names"),
    [
        ('\n<timer period="1"/>', 3, "<timer>"),
        ('<set_env name="A" value="b"/>', 2, "<set_env>"),
        ('<node pkg="robots" exec="move" respawn="true"/>', 2, "'respawn'"),
        ('<node pkg="robots" exec="move" on_exit="shutdown"/>', 2, "'on_exit'"),
        ('<node pkg="robots"/>', 2, "'exec'"),
        ('\n\n<node pkg="robots" exec="stop"/>', 4, "'stop'"),
        ('<node pkg="nowhere" exec="move"/>', 2, "'nowhere'"),
        ('<node pkg="robots" exec="move">\n<env name="A" value="b"/></node>', 3, "<env>"),
        (
            '<node pkg="robots" exec="move">\n<param name="a"><param name="b" value="1"/></param></node>',
            3,
            "<param>",
        ),
        ('<node pkg="robots" exec="move"><param from="/no/file.yaml"/></node>', 2, "/no/file.yaml"),
        ('<group scoped="false"/>', 2, "'scoped'"),
        ('<arg name="needed"/>', 2, "needed:=VALUE"),
        ('<include file="/no/such.launch.xml"/>', 2, "/no/such.launch.xml"),
        ('<executable cmd="true" if="maybe"/>', 2, "maybe"),
        ('<executable cmd="true" if="1" unless="0"/>', 2, "both"),
        ('<executable cmd="true" output="nowhere"/>', 2, "nowhere"),
        ('<let name="a" value="$(eval 1)"/>', 2, "$(eval"),
        ("<arg name='a' default='1'><choice value='1'/></arg>", 2, "<choice>"),
        ("words", 1, "words"),
        ("<group>", 3, "not XML"),
    ],
)
def test_everything_else_is_refused_by_name_with_its_line(
    tmp_path: Path, prefix: Path, body: str, line: int, names: str
) -> None:
    file = launch_file(tmp_path, body)
    with pytest.raises(LaunchFileError) as error:
        describe(file, {})
    assert error.value.line == line and names in str(error.value) and str(file) in str(error.value)


def test_a_file_that_includes_itself_is_refused(tmp_path: Path) -> None:
    file = launch_file(tmp_path, f'<include file="{tmp_path}/a.launch.xml"/>')
    with pytest.raises(LaunchFileError, match="includes itself"):
        describe(file, {})


def start(file: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "pliant_nodes.launch_runner", str(file), *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "ROS_LOG_DIR": str(file.parent / "log")},
    )


def test_output_is_prefixed_and_a_dead_process_is_reported(tmp_path: Path) -> None:
    file = launch_file(
        tmp_path,
        """<executable cmd="echo hello" output="screen"/>
        <executable cmd="echo silent"/>
        <executable cmd="sh -c 'exit 3'"/>
        <executable cmd="/no/such/program"/>""",
    )
    runner = start(file)
    text, _ = runner.communicate(timeout=20)
    assert runner.returncode == 1
    assert "[echo-1] hello" in text and "silent" not in text
    assert "[ERROR] [sh-3]: process has died" in text and "exit code 3" in text
    assert "[ERROR] [program-4]: /no/such/program: No such file" in text
    log = next((tmp_path / "log").rglob("launch.log")).read_text()
    assert "[echo-2] silent" in log


def test_unknown_arguments_are_refused_and_show_args_runs_nothing(tmp_path: Path) -> None:
    file = launch_file(
        tmp_path,
        '<arg name="x" default="0" description="The x."/>\n<executable cmd="echo ran" output="screen"/>',
    )
    text, _ = start(file, "y:=1").communicate(timeout=20)
    assert "'y'" in text and "ran" not in text
    text, _ = start(file, "--show-args").communicate(timeout=20)
    assert "'x':" in text and "The x." in text and "ran" not in text


def test_an_interrupt_ends_everything_and_stubborn_processes_get_more(tmp_path: Path) -> None:
    stubborn = tmp_path / "stubborn.py"
    stubborn.write_text(
        "import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "print('up', flush=True)\ntime.sleep(60)\n"
    )
    file = launch_file(
        tmp_path,
        f"""<executable cmd="sleep 60"/>
        <executable cmd="{sys.executable} {stubborn}" output="screen"/>""",
    )
    runner = start(file)
    assert runner.stdout is not None
    pids = []
    for line in runner.stdout:
        pids += [int(line.split("pid [")[1].split("]")[0])] if "started with pid" in line else []
        if "] up" in line:
            break
    began = time.monotonic()
    runner.send_signal(signal.SIGINT)
    text, _ = runner.communicate(timeout=20)
    assert "sending SIGTERM" in text and runner.returncode == 0
    assert time.monotonic() - began < 9.0
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
