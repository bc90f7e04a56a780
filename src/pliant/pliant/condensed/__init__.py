"""The condensed model of a soft robot: one type, whatever computes it."""

from pliant.condensed.exact import condense
from pliant.condensed.model import CondensedModel, Source

__all__ = ["CondensedModel", "Source", "condense"]
