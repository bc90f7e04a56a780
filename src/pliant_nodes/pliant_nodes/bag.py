"""Bags: MCAP files in rosbag2's layout, written and read without the ros2 command line."""

from __future__ import annotations

import importlib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from rclpy.serialization import deserialize_message
from rosbags.highlevel import AnyReader
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from rosbags.typesys.store import Typestore

from pliant.errors import PliantError
from pliant_nodes.launch_runner.substitution import package_share

OWN_TYPES = ("ActuatorCommand", "ActuatorState", "CondensedModel", "EffectorLoads", "EffectorStates")
BAG_VERSION = 9  # of rosbag2's metadata; Jazzy and later read it


class McapBag:
    """A bag that is being written.

    Args:
        folder: Where; it must not exist.
        types: Type of each topic, "package/msg/Name".

    Raises:
        OSError: If the folder cannot be made.
        PliantError: If it exists.
    """

    def __init__(self, folder: Path, types: dict[str, str]) -> None:
        if folder.exists():
            raise PliantError(f"{folder}: exists already; allowed: a new folder")
        folder.parent.mkdir(parents=True, exist_ok=True)
        store = message_types()
        self._writer = Writer(folder, version=BAG_VERSION, storage_plugin=StoragePlugin.MCAP)
        self._writer.open()
        self._connections = {
            topic: self._writer.add_connection(topic, kind, typestore=store) for topic, kind in types.items()
        }

    def write(self, topic: str, stamp: int, content: bytes) -> None:
        """Append a serialized message of a topic at a time [ns]."""
        self._writer.write(self._connections[topic], stamp, content)

    def close(self) -> None:
        """Write the index and the metadata."""
        self._writer.close()


def open_bag(folder: Path, types: dict[str, str]) -> McapBag:
    """A new bag; see `McapBag`."""
    return McapBag(folder, types)


def read_bag(folder: Path, names: Collection[str] = ()) -> Iterator[tuple[str, int, Any]]:
    """Topic, time of recording [ns] and ROS message of everything in a bag, in the order of time.

    Args:
        folder: The bag.
        names: Last parts of the topics to read; all of them if empty.

    Raises:
        PliantError: If there is no readable bag.
    """
    try:
        with AnyReader([folder], default_typestore=message_types()) as reader:
            wanted = [c for c in reader.connections if not names or c.topic.rsplit("/", 1)[-1] in names]
            for connection, stamp, content in reader.messages(wanted):
                yield (
                    connection.topic,
                    stamp,
                    deserialize_message(bytes(content), message_class(connection.msgtype)),
                )
    except (OSError, ValueError) as error:
        raise PliantError(f"{folder}: not a readable bag: {error}") from error


def message_class(kind: str) -> Any:
    """The Python class of a message type, "package/msg/Name"."""
    package, _, name = kind.split("/")
    return getattr(importlib.import_module(f"{package}.msg"), name)


def message_types() -> Typestore:
    """The standard messages and those of Pliant, by their installed definitions."""
    store = get_typestore(Stores.ROS2_KILTED)
    definitions: dict[str, Any] = {}
    for name in OWN_TYPES:
        file = package_share("pliant_msgs") / "msg" / f"{name}.msg"
        definitions |= get_types_from_msg(file.read_text(), f"pliant_msgs/msg/{name}")
    store.register(definitions)
    return store
