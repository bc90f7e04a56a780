"""Quantities as a reader wants them."""

from __future__ import annotations


def length_text(length_m: float) -> str:
    """A length in mm, um or nm, whichever reads best."""
    units = ((1e3, "mm", 0.0095), (1e6, "µm", 0.095), (1e9, "nm", 0.0))
    factor, unit = next((f, u) for f, u, smallest in units if length_m * f >= smallest)
    return f"{factor * length_m:.3g} {unit}"
