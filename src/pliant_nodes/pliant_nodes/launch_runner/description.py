"""From a launch file and its arguments to the list of processes to start."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from pliant.errors import PliantError
from pliant_nodes.launch_runner.errors import LaunchFileError
from pliant_nodes.launch_runner.substitution import package_executable, substitute, truth
from pliant_nodes.launch_runner.xml import Element, read_xml


@dataclass(frozen=True)
class Argument:
    """A launch argument that a file declares; `default` is None where a value is required."""

    name: str
    default: str | None
    description: str


@dataclass(frozen=True)
class Process:
    """One process of a launch: its label, its command line, and whether its output goes to the screen."""

    label: str
    command: tuple[str, ...]
    screen: bool


@dataclass
class Description:
    """What a launch file comes to: arguments that it declares and processes that it starts."""

    arguments: dict[str, Argument] = field(default_factory=dict)
    processes: list[Process] = field(default_factory=list)


@dataclass
class _Scope:
    variables: dict[str, str]
    namespace: str = ""

    def inner(self) -> _Scope:
        return _Scope(dict(self.variables), self.namespace)


def declared_arguments(file: Path) -> list[Argument]:
    """Arguments of a launch file itself, in its order, without running anything.

    Raises:
        LaunchFileError: If the file cannot be read.
    """
    found = [child for child in _root(file).children if child.tag == "arg"]
    names = [_only(element, ("name",), ("default", "description"))["name"] for element in found]
    return [
        Argument(name, element.attributes.get("default"), element.attributes.get("description", ""))
        for name, element in zip(names, found, strict=True)
    ]


def describe(file: Path, arguments: Mapping[str, str]) -> Description:
    """Everything that a launch file would start with these arguments.

    The meaning is that of ROS 2 launch: an `<include>` shares the variables of its
    includer, a `<group>` keeps its own; a set argument beats a default.

    Args:
        file: A `*.launch.xml` file.
        arguments: Launch argument name to value.

    Raises:
        LaunchFileError: With file and line, at the first thing that is unknown or wrong.
    """
    description = Description()
    _run_file(file, _Scope(dict(arguments)), description, ())
    return description


def _root(file: Path) -> Element:
    root = read_xml(file)
    if root.tag != "launch":
        raise root.error(f"the root element is <{root.tag}>; allowed: <launch>")
    _only(root, (), ())
    return root


def _run_file(file: Path, scope: _Scope, description: Description, includers: tuple[Path, ...]) -> None:
    if file.resolve() in includers:
        raise LaunchFileError(file, 0, "the file includes itself")
    _run_children(_root(file), scope, description, (*includers, file.resolve()))


def _run_children(
    parent: Element, scope: _Scope, description: Description, includers: tuple[Path, ...]
) -> None:
    for element in parent.children:
        if element.tag not in _ACTIONS:
            raise element.error(
                f"<{element.tag}> is not supported here; supported: {', '.join(sorted(_ACTIONS))}"
            )
        try:
            if _wanted(element, scope):
                _ACTIONS[element.tag](element, scope, description, includers)
        except LaunchFileError:
            raise
        except PliantError as error:
            raise element.error(f"<{element.tag}>: {error}") from error


def _wanted(element: Element, scope: _Scope) -> bool:
    if {"if", "unless"} <= set(element.attributes):
        raise element.error(f"<{element.tag}> has both if and unless")
    if "if" in element.attributes:
        return truth(substitute(element.attributes["if"], scope.variables))
    return not (
        "unless" in element.attributes and truth(substitute(element.attributes["unless"], scope.variables))
    )


def _only(element: Element, required: tuple[str, ...], optional: tuple[str, ...]) -> dict[str, str]:
    """The attributes of an element, refused unless they are exactly among these."""
    known = (*required, *optional)
    for name in element.attributes:
        if name not in (*known, "if", "unless"):
            raise element.error(
                f"attribute {name!r} of <{element.tag}> is not supported; supported: {', '.join(known)}"
            )
    for name in required:
        if name not in element.attributes:
            raise element.error(f"<{element.tag}> needs the attribute {name!r}")
    return element.attributes


def _attributes(
    element: Element, scope: _Scope, required: tuple[str, ...], optional: tuple[str, ...]
) -> dict[str, str]:
    given = _only(element, required, optional)
    return {
        name: substitute(given[name], scope.variables) for name in (*required, *optional) if name in given
    }


def _childless(element: Element) -> None:
    for child in element.children:
        raise child.error(f"<{child.tag}> inside <{element.tag}> is not supported")


def _argument(element: Element, scope: _Scope, description: Description, includers: tuple[Path, ...]) -> None:
    _childless(element)
    given = _attributes(element, scope, ("name",), ("default", "description"))
    name, default = given["name"], given.get("default")
    description.arguments.setdefault(name, Argument(name, default, given.get("description", "")))
    if name not in scope.variables:
        if default is None:
            raise element.error(f"the launch argument {name!r} has no default: give {name}:=VALUE")
        scope.variables[name] = default


def _let(element: Element, scope: _Scope, description: Description, includers: tuple[Path, ...]) -> None:
    _childless(element)
    given = _attributes(element, scope, ("name", "value"), ())
    scope.variables[given["name"]] = given["value"]


def _include(element: Element, scope: _Scope, description: Description, includers: tuple[Path, ...]) -> None:
    given = _attributes(element, scope, ("file",), ())
    for child in element.children:
        if child.tag != "arg":
            raise child.error(f"<{child.tag}> inside <include> is not supported; supported: arg")
        _childless(child)
        inner = _attributes(child, scope, ("name", "value"), ())
        scope.variables[inner["name"]] = inner["value"]
    file = Path(given["file"])
    if not file.is_file():
        raise element.error(f"<include>: there is no file {file}")
    _run_file(file, scope, description, includers)


def _group(element: Element, scope: _Scope, description: Description, includers: tuple[Path, ...]) -> None:
    _only(element, (), ())
    _run_children(element, scope.inner(), description, includers)


def _push_namespace(
    element: Element, scope: _Scope, description: Description, includers: tuple[Path, ...]
) -> None:
    _childless(element)
    scope.namespace = _joined(scope.namespace, _attributes(element, scope, ("namespace",), ())["namespace"])


def _executable(
    element: Element, scope: _Scope, description: Description, includers: tuple[Path, ...]
) -> None:
    _childless(element)
    given = _attributes(element, scope, ("cmd",), ("output",))
    command = tuple(shlex.split(given["cmd"]))
    if not command:
        raise element.error("<executable> has an empty cmd")
    _append(description, Path(command[0]).name, command, given.get("output", "log"), element)


def _node(element: Element, scope: _Scope, description: Description, includers: tuple[Path, ...]) -> None:
    given = _attributes(element, scope, ("pkg", "exec"), ("name", "namespace", "output", "args"))
    namespace = _joined(scope.namespace, given.get("namespace", ""))
    command = [
        str(package_executable(given["pkg"], given["exec"])),
        *shlex.split(given.get("args", "")),
        "--ros-args",
    ]
    if "name" in given:
        command += ["-r", f"__node:={given['name']}"]
    if namespace:
        command += ["-r", f"__ns:={namespace}"]
    key = f"{namespace}/{given['name']}" if namespace and "name" in given else "/**"
    for child in (child for child in element.children if _wanted(child, scope)):
        command += _node_child(child, scope, key)
    _append(
        description, given.get("name", given["exec"]), tuple(command), given.get("output", "log"), element
    )


def _node_child(child: Element, scope: _Scope, key: str) -> list[str]:
    _childless(child)
    if child.tag == "remap":
        given = _attributes(child, scope, ("from", "to"), ())
        return ["-r", f"{given['from']}:={given['to']}"]
    if child.tag != "param":
        raise child.error(f"<{child.tag}> inside <node> is not supported; supported: param, remap")
    if "from" in child.attributes:
        file = Path(_attributes(child, scope, ("from",), ())["from"])
        if not file.is_file():
            raise child.error(f"<param>: there is no file {file}")
        return ["--params-file", str(file)]
    given = _attributes(child, scope, ("name", "value"), ("type",))
    if given.get("type", "str") != "str":
        raise child.error(
            f"type {given['type']!r} of <param> is not supported; supported: str, or none for YAML's type"
        )
    try:
        value = given["value"] if "type" in given else yaml.safe_load(given["value"] or "''")
    except yaml.YAMLError as error:
        raise child.error(
            f'<param>: the value {given["value"][:40]!r} is not YAML; type="str" keeps it as it is'
        ) from error
    return ["--params-file", str(_parameter_file(key, given["name"], value))]


def _parameter_file(key: str, name: str, value: object) -> Path:
    with tempfile.NamedTemporaryFile("w", prefix="launch_params_", suffix=".yaml", delete=False) as stream:
        yaml.safe_dump({key: {"ros__parameters": {name: value}}}, stream)
    return Path(stream.name)


def _append(
    description: Description, name: str, command: tuple[str, ...], output: str, element: Element
) -> None:
    if output not in ("screen", "log", "both"):
        raise element.error(f"output {output!r} is not supported; supported: screen, log, both")
    label = f"{name}-{len(description.processes) + 1}"
    description.processes.append(Process(label, command, output in ("screen", "both")))


def _joined(outer: str, inner: str) -> str:
    if not inner or inner.startswith("/"):
        return inner.rstrip("/") or outer
    return f"{outer.rstrip('/')}/{inner.strip('/')}"


_ACTIONS: dict[str, Callable[[Element, _Scope, Description, tuple[Path, ...]], None]] = {
    "arg": _argument,
    "let": _let,
    "include": _include,
    "group": _group,
    "push_ros_namespace": _push_namespace,
    "node": _node,
    "executable": _executable,
}
