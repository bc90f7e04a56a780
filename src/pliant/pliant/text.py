"""Quantities as a reader wants them."""

from __future__ import annotations


def length_text(length_m: float) -> str:
    """A length in mm, um or nm, whichever reads best."""
    for factor, unit in ((1e3, "mm"), (1e6, "µm"), (1e9, "nm")):
        if length_m * factor >= 0.0095 or unit == "nm":
            break
    return f"{factor * length_m:.3g} {unit}"
