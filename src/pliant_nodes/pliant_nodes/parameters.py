"""ROS parameters from frozen dataclasses: the dataclass is the schema, ROS only carries it."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterable
from typing import Any, TypeVar

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor
from rclpy.node import Node

from pliant.errors import PliantError
from pliant.parameters import from_mapping

T = TypeVar("T")

RESERVED = ("use_sim_time", "start_type_description_service", "qos_overrides")


class NodeParameters:
    """Declares the parameters of one node, and refuses those that nothing declared.

    The node must be made with `automatically_declare_parameters_from_overrides=True`, so that
    what the user gave is known before it is declared with its range.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._known: set[str] = set()
        self._given = {
            name: parameter.value
            for name, parameter in node.get_parameters_by_prefix("").items()
            if name.split(".")[0] not in RESERVED
        }

    def declare(self, cls: type[T], *, prefix: str = "") -> T:
        """An options dataclass from the node's parameters, one a field, named `prefix.field`.

        Args:
            cls: A frozen dataclass whose fields come from `pliant.parameters.parameter`.
            prefix: First part of the names; none if empty.

        Raises:
            PliantError: If a value is of a wrong type or out of range.
        """
        fields = {f"{prefix}.{f.name}" if prefix else f.name: f for f in dataclasses.fields(cls)}  # type: ignore[arg-type]
        values = {
            f.name: _like(f.default, self._given[name]) for name, f in fields.items() if name in self._given
        }
        source = f"parameters of {self._node.get_fully_qualified_name()}" + (f", {prefix}" if prefix else "")
        options = from_mapping(cls, values, source=source)
        for name, field in fields.items():
            self._declare(name, getattr(options, field.name), _descriptor(field))
        return options

    def declare_names(self, name: str, description: str) -> tuple[str, ...]:
        """A parameter that is a list of names, empty by default.

        Raises:
            PliantError: If something else was given.
        """
        value = self._given.get(name)
        names = list(value) if isinstance(value, Iterable) and not isinstance(value, str) else value
        if names is not None and not (
            isinstance(names, list) and all(isinstance(word, str) for word in names)
        ):
            raise PliantError(
                f"{self._node.get_fully_qualified_name()}: {name}: given {value!r}; allowed: a list of names"
            )
        self._declare(name, names or [""], ParameterDescriptor(description=description, read_only=True))
        return tuple(word for word in names or [] if word)

    def refuse_unknown(self) -> None:
        """Refuse parameters that were given but not declared: a mistyped name is not ignored.

        Raises:
            PliantError: If there is one.
        """
        unknown = sorted(set(self._given) - self._known)
        if unknown:
            node, names = self._node.get_fully_qualified_name(), ", ".join(unknown)
            raise PliantError(f"{node}: unknown parameter {names}; allowed: {', '.join(sorted(self._known))}")

    def _declare(self, name: str, value: Any, descriptor: ParameterDescriptor) -> None:
        if self._node.has_parameter(name):
            self._node.undeclare_parameter(name)
        self._node.declare_parameter(name, value, descriptor, ignore_override=True)
        self._known.add(name)


def _like(default: Any, given: Any) -> Any:
    """A whole number where a real one is expected is one; everything else stays."""
    whole = isinstance(default, float) and isinstance(given, int) and not isinstance(given, bool)
    return float(given) if whole else given


def _descriptor(field: dataclasses.Field[Any]) -> ParameterDescriptor:
    meta = field.metadata
    unit = f" [{meta['unit']}]" if meta["unit"] else ""
    descriptor = ParameterDescriptor(
        description=meta["description"] + unit,
        additional_constraints=f"one of {', '.join(meta['choices'])}" if meta["choices"] else "",
        read_only=True,
    )
    low, high = meta["min"], meta["max"]
    if low is None and high is None:
        return descriptor
    if isinstance(field.default, int):
        bounds = (-(2**63) if low is None else int(low), 2**63 - 1 if high is None else int(high))
        descriptor.integer_range = [IntegerRange(from_value=bounds[0], to_value=bounds[1], step=0)]
    else:
        most = sys.float_info.max
        limits = (-most if low is None else float(low), most if high is None else float(high))
        descriptor.floating_point_range = [
            FloatingPointRange(from_value=limits[0], to_value=limits[1], step=0.0)
        ]
    return descriptor
