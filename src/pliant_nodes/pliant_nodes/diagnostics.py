"""Diagnostics of a node: one status, its values in words, the refused messages by reason."""

from __future__ import annotations

from collections.abc import Mapping

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

from pliant_nodes.gate import MessageGate

OK, WARN, ERROR = DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR


def diagnostic_array(
    stamp: Time, name: str, hardware_id: str, level: bytes, message: str, values: Mapping[str, object]
) -> DiagnosticArray:
    """One status as a message for /diagnostics."""
    status = DiagnosticStatus(
        level=level,
        name=name,
        message=message,
        hardware_id=hardware_id,
        values=[KeyValue(key=key, value=str(value)) for key, value in values.items()],
    )
    array = DiagnosticArray(status=[status])
    array.header.stamp = stamp
    return array


def gate_values(gate: MessageGate) -> dict[str, int]:
    """What a gate let in and refused, one entry a topic and reason."""
    values = {f"accepted {topic}": count for topic, count in sorted(gate.accepted.items())}
    for (topic, reason), count in sorted(gate.rejected.items()):
        values[f"rejected {topic}: {reason}"] = count
    return values
