"""Joins messages of several topics that carry the same stamp. Pure Python."""

from __future__ import annotations

from collections import Counter, OrderedDict
from typing import Any


class StampJoiner:
    """Collects one message of each topic for a stamp, in bounded memory.

    Sets come out in the order of their stamps. When a set is complete, older incomplete ones
    can only be late: they are dropped, and each message in them is counted as lost.

    Attributes:
        lost: How many messages of each topic found no partners.
    """

    def __init__(self, topics: tuple[str, ...], *, depth: int) -> None:
        """Join these topics, keeping at most `depth` incomplete sets."""
        self.lost: Counter[str] = Counter()
        self._topics, self._depth = topics, depth
        self._sets: OrderedDict[int, dict[str, Any]] = OrderedDict()

    def add(self, topic: str, stamp: int, message: Any) -> dict[str, Any] | None:
        """Add a message; the complete set of its stamp [ns] if this was the last one missing."""
        partners = self._sets.setdefault(stamp, {})
        partners[topic] = message
        if len(partners) == len(self._topics):
            self._drop([other for other in self._sets if other < stamp])
            return self._sets.pop(stamp)
        self._drop(list(self._sets)[: max(0, len(self._sets) - self._depth)])
        return None

    def clear(self) -> None:
        """Forget every incomplete set; its messages are lost."""
        self._drop(list(self._sets))

    def _drop(self, stamps: list[int]) -> None:
        for stamp in stamps:
            self.lost.update(self._sets.pop(stamp).keys())
