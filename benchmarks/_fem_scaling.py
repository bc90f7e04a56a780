"""How assembly, factorisation and solves grow with a mesh, and what they keep in memory."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from itertools import count, takewhile
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from _fem_cases import block_case, n_nodes, shipped_cases
from _fem_peers import Own, PardisoHalves, installed_peers

from pliant.fem import linearize
from pliant.fem.assembly import tangent_stiffness
from pliant.fem.solver import LARGE_FILL

KINDS = [("bar", "tet4"), ("bar", "tet10_mean"), ("cube", "tet4"), ("cube", "tet10_mean")]
SMALLEST = 350
SUPERLU_NODES = 3_000
"""Largest mesh for splu, which takes a minute for more."""

MEMORY_CASES = [("shipped", "diamond", 0), ("bar", "tet10_mean", 4), ("cube", "tet10_mean", 9)]


def sizes(kind: str, element: str, largest: int) -> list[int]:
    """Cells along the shortest edge, each mesh at least 1.5 times the one before."""
    chosen: list[int] = []
    for cells in takewhile(lambda c: n_nodes(kind, element, c) <= 1.05 * largest, count(1)):
        least = 1.5 * n_nodes(kind, element, chosen[-1]) if chosen else SMALLEST
        if n_nodes(kind, element, cells) >= least:
            chosen.append(cells)
    return chosen


def measure_scaling(largest: int, seconds: float) -> list[dict[str, Any]]:
    """CPU times [ms] of one step's parts on bars and cubes of growing size.

    Args:
        largest: Number of nodes to go to.
        seconds: CPU time to spend on each mesh, at least one turn.
    """
    rows = []
    for kind, element in KINDS:
        for cells in sizes(kind, element, largest):
            row = _measure(kind, element, cells, seconds)
            rows.append(row)
            times = "  ".join(f"{name} {value:.3g}" for name, value in row["median_ms"].items())
            size = (
                f"{row['nodes']} nodes, {row['flops']:.1e} flops, {row['fill']:.0f} an entry, {row['chosen']}"
            )
            print(f"{kind} {element}: {size}; ms  {times}")
    return rows


def _measure(kind: str, element: str, cells: int, seconds: float) -> dict[str, Any]:
    case = block_case(kind, element, cells)
    system, state = case.system, case.state
    at = linearize(system, state.x, state.effort, state.effector_force)
    rhs = np.vstack([-at.residual, at.rows])
    kinds: dict[str, Any] = {"own": Own} | installed_peers()
    if "pardiso" in kinds:
        kinds["pardiso halves"] = PardisoHalves
    if case.size["nodes"] > SUPERLU_NODES:
        kinds.pop("splu", None)
    solvers, analysis = {}, {}
    for name, make in kinds.items():
        start = process_time()
        solvers[name] = make(system)
        analysis[name] = 1e3 * (process_time() - start)
    calls: dict[str, Callable[[], object]] = {
        "assembly": lambda: tangent_stiffness(system.body, system.pattern, state.x)
    }
    calls |= {name: lambda s=solver: s.step(at.blocks, rhs) for name, solver in solvers.items()}
    times: dict[str, list[float]] = {name: [] for name in calls}
    while not times["own"] or sum(map(sum, times.values())) / 1e3 < seconds:
        for name, call in calls.items():
            start = process_time()
            call()
            times[name].append(1e3 * (process_time() - start))
    warm = slice(1, None) if len(times["own"]) > 2 else slice(None)
    times = {name: values[warm] for name, values in times.items()}
    factorization = solvers["own"].solver.factorization
    return case.size | {
        "kind": kind,
        "element": element,
        "cells": cells,
        "flops": factorization.flops,
        "fill": factorization.fill,
        "own_factor_mb": factorization.panels.nbytes / 1e6,
        "chosen": type(system.solver).__name__,
        "analysis_ms": analysis,
        "median_ms": {name: float(np.median(values)) for name, values in times.items()},
        "least_ms": {name: float(np.min(values)) for name, values in times.items()},
    }


def fill_rule(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Where PARDISO overtakes the block Cholesky, and what the rule of `fem/solver.py` costs.

    The crossover of each kind is interpolated between the two meshes around it.
    """
    crossover: dict[str, float | None] = {}
    cost = 1.0
    for kind, element in KINDS:
        of_kind = [r for r in rows if (r["kind"], r["element"]) == (kind, element)]
        compared = [r for r in of_kind if "pardiso halves" in r["median_ms"]]
        ratio = np.log([r["median_ms"]["own"] / r["median_ms"]["pardiso halves"] for r in compared])
        fill = np.array([r["fill"] for r in compared])
        above = np.flatnonzero((ratio[:-1] < 0) & (ratio[1:] >= 0))
        crossover[f"{kind} {element}"] = None
        if above.size:
            around = slice(above[-1], above[-1] + 2)
            crossover[f"{kind} {element}"] = float(np.interp(0.0, ratio[around], fill[around]))
        for row, value in zip(compared, ratio, strict=True):
            slower = value if row["fill"] <= LARGE_FILL else -value
            cost = max(cost, float(np.exp(slower)))
    found = ", ".join(f"{k} {v:.0f}" if v else f"{k} none" for k, v in crossover.items())
    print(f"crossover to PARDISO [operations an entry of the factor]: {found}")
    print(f"rule {LARGE_FILL:g}: at most {cost:.2f} x the time of the better solver")
    return {"limit": LARGE_FILL, "crossover": crossover, "largest_cost": cost}


def peak_memory() -> list[dict[str, Any]]:
    """Peak of the process's memory that each solver adds [MB], each in a process of its own."""
    if not Path("/proc/self/status").is_file():
        print("memory: SKIPPED, this system has no /proc")
        return []
    rows = []
    for kind, element, cells in MEMORY_CASES:
        for solver in ("own", *installed_peers()):
            command = [sys.executable, __file__, kind, element, str(cells), solver]
            run = subprocess.run(command, check=True, capture_output=True, text=True)
            rows.append(json.loads(run.stdout.splitlines()[-1]))
            print(
                f"{rows[-1]['case']}, {rows[-1]['nodes']} nodes, {solver}: {rows[-1]['solver_mb']:.1f} MB "
                f"on top of {rows[-1]['before_mb']:.0f} MB"
            )
    return rows


def _peak_mb() -> float:
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def _one_peak(kind: str, element: str, cells: str, name: str) -> None:
    shipped = {case.name: case for case in shipped_cases()} if kind == "shipped" else {}
    case = shipped.get(element) or block_case(kind, element, int(cells))
    at = linearize(case.system, case.state.x, case.state.effort, case.state.effector_force)
    rhs = np.vstack([-at.residual, at.rows])
    make: Any = Own if name == "own" else installed_peers()[name]
    before = _peak_mb()
    make(case.system).step(at.blocks, rhs)
    row = {"case": case.name, "solver": name, "before_mb": before, "solver_mb": _peak_mb() - before}
    print(json.dumps(case.size | row))


if __name__ == "__main__":
    _one_peak(*sys.argv[1:])
