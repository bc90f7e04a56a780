"""The figure of the finite-element benchmark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

COLOURS = {
    "own": "C0",
    "splu": "C3",
    "cholmod": "C1",
    "pardiso": "C2",
    "pardiso halves": "C5",
    "assembly": "0.6",
}
LABELS = {
    "own": "Pliant",
    "pardiso halves": "PARDISO, forward only",
    "pardiso": "PARDISO",
    "cholmod": "CHOLMOD",
}


def draw(measured: dict[str, Any], path: Path) -> None:
    """Steps by robot, scaling of bars and cubes, and where PARDISO overtakes."""
    figure, axes = plt.subplots(2, 2, figsize=(12, 9), layout="constrained")
    _steps(axes[0, 0], measured["steps"])
    _scaling(axes[0, 1], [r for r in measured["scaling"] if r["kind"] == "bar"], "bar, 1 : 1 : 20")
    _scaling(axes[1, 0], [r for r in measured["scaling"] if r["kind"] == "cube"], "cube")
    _crossover(axes[1, 1], measured["scaling"], measured["fill_rule"]["limit"])
    figure.savefig(path, dpi=130)
    plt.close(figure)


def _steps(axes: Any, steps: dict[str, Any]) -> None:
    """Pliant's whole step over its parts, beside the peers' assembly, factor and solves."""
    names = list(steps)
    peers = [p for p in ("cholmod", "pardiso", "splu") if p in steps[names[0]]["median_ms"]]
    width = 0.8 / (1 + len(peers))
    for i, name in enumerate(names):
        t = steps[name]["median_ms"]
        bottom = 0.0
        for part, shade in (("assembly", 1.0), ("factor", 0.75), ("forward", 0.5), ("backward", 0.35)):
            label = f"Pliant: {part}" if i == 0 else None
            axes.bar(i, t[part], width, bottom, color="C0", alpha=shade, label=label, edgecolor="w")
            bottom += t[part]
        rest = max(t["step"] - bottom, 0.0)
        label = "Pliant: rest of the step" if i == 0 else None
        axes.bar(i, rest, width, bottom, color="0.8", label=label, edgecolor="w")
        for k, peer in enumerate(peers, 1):
            label = f"assembly + {LABELS.get(peer, peer)}" if i == 0 else None
            axes.bar(i + k * width, t["linearization"] + t[peer], width, color=COLOURS[peer], label=label)
    axes.set_xticks(
        np.arange(len(names)) + 0.3, [f"{n}\n{steps[n]['nodes']} {steps[n]['element']}" for n in names]
    )
    axes.tick_params(axis="x", labelsize=7)
    top = max(max(t["median_ms"].get(p, 0.0) for p in ("cholmod", "pardiso")) for t in steps.values())
    if top > 0:
        axes.set_ylim(0, 2.0 * top)
    axes.set(title="one Newton step, median (splu may leave the frame)", ylabel="ms")
    axes.legend(fontsize=7, ncols=2, loc="upper center")


def _scaling(axes: Any, rows: list[dict[str, Any]], title: str) -> None:
    for element, style in (("tet4", "o-"), ("tet10_mean", "s--")):
        of_element = [r for r in rows if r["element"] == element]
        for name, colour in COLOURS.items():
            points = [(r["nodes"], r["median_ms"][name]) for r in of_element if name in r["median_ms"]]
            if points:
                label = f"{LABELS.get(name, name)}" if element == "tet4" else None
                axes.plot(*zip(*points, strict=True), style, color=colour, label=label, ms=4, lw=1)
    chosen = {"BlockCholesky": "own", "Pardiso": "pardiso halves"}
    rings = [(r["nodes"], r["median_ms"][chosen[r["chosen"]]]) for r in rows]
    axes.plot(
        *zip(*rings, strict=True), "o", color="k", mfc="none", ms=8, mew=0.7, label="chosen by the rule"
    )
    axes.set(
        title=f"{title}: solid tet4, dashed tet10_mean",
        xlabel="nodes",
        ylabel="ms",
        xscale="log",
        yscale="log",
    )
    axes.grid(which="both", alpha=0.2)
    axes.legend(fontsize=7, title="factor and solves of 8 right-hand sides", title_fontsize=7)


def _crossover(axes: Any, rows: list[dict[str, Any]], limit: float) -> None:
    for k, (kind, element) in enumerate(dict.fromkeys((r["kind"], r["element"]) for r in rows)):
        for peer, style in (("pardiso halves", "-"), ("cholmod", ":")):
            points = [
                (r["fill"], r["median_ms"]["own"] / r["median_ms"][peer])
                for r in rows
                if (r["kind"], r["element"]) == (kind, element) and peer in r["median_ms"]
            ]
            if points:
                label = f"{kind} {element} / {LABELS[peer]}"
                axes.plot(*zip(*points, strict=True), "o" + style, color=f"C{k}", label=label, ms=4, lw=1)
    axes.axhline(1.0, color="k", lw=0.8)
    axes.axvline(limit, color="k", ls="--", lw=0.8, label="LARGE_FILL")
    axes.set(title="Pliant's factor and solves over a peer's", xlabel="operations per entry of the factor")
    axes.set(ylabel="time ratio", xscale="log", yscale="log")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter("{x:g}")
    axes.grid(which="both", alpha=0.2)
    axes.legend(fontsize=7)
