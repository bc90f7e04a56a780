"""Time of the finite-element step: against its parts, against library solvers, and as it scales.

    ./dev bench fem [--quick]

Writes results/fem/fem.json and results/fem/fem.png. One thread. A Newton step is what the
equilibrium does: assemble, factorise, solve for the residual and every constraint row, form W
and the efforts, move, check that no element inverts. A peer's step is the same assembly and its
own factorisation and solves, nothing else. Everything that is compared is timed in turn in one
loop, each after an untimed call of its own. Times are CPU times of the process, all its threads
together, because others may use the machine. They also empty its caches, which a whole step feels
more than a part that is repeated. Bars are held to the median of the ratios within a turn; their
quartiles, the ratio of the least times and the machine's load stand beside it in the JSON.

The parts are the linearization (body, cables, constraint rows), the factor and the solves.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"
os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["MKL_NUM_THREADS"] = "1"

import numpy as np
from _fem_cases import Case, public_cases, shipped_cases
from _fem_figure import draw
from _fem_peers import installed_peers, peer_versions
from _fem_scaling import fill_rule, measure_scaling, peak_memory

from pliant.experiments.report import Bar, Report, versions
from pliant.fem import NewtonOptions, linearize, solve_equilibrium
from pliant.fem.assembly import tangent_stiffness
from pliant.resources import share_path

SEED = 0
CONTROL_STEP_M = 0.3e-3
CONTROL_RANGE_M = 5e-3
"""How far the cables are pulled from rest on their way round."""

WARM_UP = 20

OVERHEAD, PUBLIC_RATIO, SHIPPED_RATIO = 1.25, 0.6, 1.0
CONTROL_RATE_HZ = 100.0
PAPER = {
    "step": "Ménager et al. 2023: SOFA's full FEM is the reference; no time of a step is given",
    "rate": "Ménager et al. 2023, IV: the learned model runs at up to about 1 kHz",
}
ANY_STEP = NewtonOptions(tolerance=1.0, residual_tolerance=1e9)
"""Accepts what the first Newton step gives."""


def milliseconds(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return 1e3 * (time.process_time() - start)


def measure_step(case: Case, n_turns: int) -> dict[str, Any]:
    """One Newton step with its parts, then with the peers' steps [ms], in turn."""
    system, state = case.system, case.state
    start = replace(state, x=state.x.copy())  # a state that the solver does not remember
    at = linearize(system, start.x, start.effort, start.effector_force)
    rhs = np.vstack([-at.residual, at.rows])
    driven = np.ones(system.n_a, dtype=bool)
    solver = system.solver
    solver.factorize(at.blocks)
    y = solver.solve_forward(rhs)
    exact = solver.solve_backward(y[:1])[0]

    def newton() -> object:
        return solve_equilibrium(system, start, command=start.course, length_driven=driven, options=ANY_STEP)

    calls: dict[str, Callable[[], object]] = {
        "step": newton,
        "assembly": lambda: tangent_stiffness(system.body, system.pattern, start.x),
        "linearization": lambda: linearize(system, start.x, start.effort, start.effector_force),
        "factor": lambda: solver.factorize(at.blocks),
        "forward": lambda: solver.solve_forward(rhs),
        "backward": lambda: solver.solve_backward(y[:1]),
    }
    times = in_turn(calls, n_turns)
    peers = {name: kind(system) for name, kind in installed_peers().items()}
    off = {name: np.abs(p.step(at.blocks, rhs)[0] - exact).max() for name, p in peers.items()}
    beside = {name: calls[name] for name in ("step", "linearization")}
    beside |= {name: lambda p=p: p.step(at.blocks, rhs) for name, p in peers.items()}
    return _summary(times, in_turn(beside, n_turns // 4)) | {
        "peers_off_by": {name: float(value / np.abs(exact).max()) for name, value in off.items()}
    }


def in_turn(calls: dict[str, Callable[[], object]], n_turns: int) -> dict[str, np.ndarray]:
    """CPU times [ms] of calls, one after the other in each turn, each shape (n_turns,)."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(n_turns):
        for name, call in calls.items():
            call()  # what ran before has filled the caches with its own
            times[name].append(milliseconds(call))
    return {name: np.array(values) for name, values in times.items()}


def _summary(alone: dict[str, np.ndarray], beside: dict[str, np.ndarray]) -> dict[str, Any]:
    """Times of the step and its parts, measured alone and beside the peers, and their ratios."""
    solves = ("factor", "forward", "backward")
    sums = {"parts": (alone, ("linearization", *solves)), "parts, body alone": (alone, ("assembly", *solves))}
    peers = [name for name in beside if name not in alone]
    sums |= {peer: (beside, ("linearization", peer)) for peer in peers}
    least, median, quartiles = {}, {}, {}
    for name, (t, parts) in sums.items():
        ratio = t["step"] / sum(t[part] for part in parts)
        least[name] = float(t["step"].min() / sum(t[part].min() for part in parts))
        median[name], quartiles[name] = float(np.median(ratio)), np.quantile(ratio, [0.25, 0.75]).tolist()
    times = alone | {peer: beside[peer] for peer in peers}
    return {
        "median_ms": {name: float(np.median(values)) for name, values in times.items()},
        "least_ms": {name: float(values.min()) for name, values in times.items()},
        "ratio_of_least": least,
        "ratio_median": median,
        "ratio_quartiles": quartiles,
    }


def measure_control(case: Case, n_steps: int) -> dict[str, Any]:
    """The cables go round a circle in control steps, each ahead by its azimuth: equilibria a second."""
    system, state = case.system, case.state
    driven = np.ones(system.n_a, dtype=bool)
    ends = np.array([cable.points(state.x)[-1, :2] for cable in system.actuators])
    azimuth = np.arctan2(*(ends - ends.mean(axis=0)).T)
    times, newton_steps = [], []
    for step in range(n_steps + WARM_UP):
        angle = step * 2 * CONTROL_STEP_M / CONTROL_RANGE_M
        ramp = min(1.0, step / WARM_UP)
        command = case.state.course + 0.5 * ramp * CONTROL_RANGE_M * (1 + np.sin(angle - azimuth))
        start = time.process_time()
        state = solve_equilibrium(system, state, command=command, length_driven=driven)
        if step >= WARM_UP:
            times.append(time.process_time() - start)
            newton_steps.append(state.newton_steps)
    return {
        "median_hz": float(1.0 / np.median(times)),
        "mean_hz": float(1.0 / np.mean(times)),
        "best_tenth_hz": float(1.0 / np.quantile(times, 0.1)),
        "newton_steps": float(np.mean(newton_steps)),
    }


def rest_deviation(case: Case) -> float | None:
    """Largest deviation of the compliance at rest from the mesh-converged one [%], if that is known."""
    path = share_path("urdf", "meshes") / f"{case.name}_reference.json"
    if not path.is_file():
        print(f"{case.name}: rest compliance of the converged mesh missing ({path.name})")
        return None
    converged = np.array(json.loads(path.read_text())["rest_compliance_m_n"])
    return float(100 * np.abs(np.diag(case.state.compliance) / converged - 1).max())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="fewer turns, meshes up to 2,500 nodes")
    parser.add_argument("--out", type=Path, default=Path("results/fem"), help="folder of the results")
    options = parser.parse_args()
    start, load = time.perf_counter(), os.getloadavg()[0]
    shipped, public = shipped_cases(), public_cases()
    steps, bars = {}, []
    for case in public + shipped:
        step = measure_step(case, 100 if options.quick else 400)
        step_bars = _step_bars(
            case.name, step["ratio_median"], PUBLIC_RATIO if case in public else SHIPPED_RATIO
        )
        bars += step_bars
        steps[case.name] = case.size | step
        _print_step(case, step)
    control = {}
    for case in shipped:
        control[case.name] = case.size | measure_control(case, 100 if options.quick else 500)
        control[case.name]["rest_deviation_percent"] = rest_deviation(case)
        bars.append(
            Bar(f"{case.name}: control steps", control[case.name]["median_hz"], CONTROL_RATE_HZ, ">=", "Hz")
        )
    _print_control(control)
    scaling = measure_scaling(2_500 if options.quick else 20_000, 0.3 if options.quick else 2.0)
    measured = {
        "load_average": {"start": load, "end": os.getloadavg()[0]},
        "steps": steps,
        "control": control,
        "scaling": scaling,
        "fill_rule": fill_rule(scaling),
        "memory": [] if options.quick else peak_memory(),
    }
    options.out.mkdir(parents=True, exist_ok=True)
    seconds = time.perf_counter() - start
    found = versions() | peer_versions()
    report = Report("fem", PAPER, measured, tuple(bars), SEED, seconds, options.quick, found)
    report.write(options.out / "fem.json")
    draw(measured, options.out / "fem.png")
    for bar in bars:
        verdict = "met   " if bar.met else "MISSED"
        print(f"{verdict} {bar.name}: {bar.value:.3g} {bar.sense} {bar.limit:g} {bar.unit}")


def _step_bars(name: str, ratio: dict[str, float], limit: float) -> list[Bar]:
    bars = [Bar(f"{name}: step over the sum of its parts", ratio["parts"], OVERHEAD, "<=", "")]
    peers = {name: value for name, value in ratio.items() if not name.startswith("parts")}
    if peers:
        best = max(peers, key=lambda peer: peers[peer])
        bars.append(Bar(f"{name}: step over that of the best peer ({best})", peers[best], limit, "<=", ""))
    return bars


def _print_step(case: Case, step: dict[str, Any]) -> None:
    size = case.size
    print(
        f"{case.name}: {size['element']}, {size['nodes']} nodes, {size['right_hand_sides']} right-hand sides"
    )
    for what in ("median_ms", "least_ms", "ratio_median", "ratio_of_least"):
        print(f"  {what:15}" + "  ".join(f"{name} {value:.3g}" for name, value in step[what].items()))


def _print_control(control: dict[str, dict[str, Any]]) -> None:
    for name, row in control.items():
        deviation = row["rest_deviation_percent"]
        off = "unknown" if deviation is None else f"{deviation:.1f} %"
        print(
            f"{name}: {row['median_hz']:.0f} control steps a second (best tenth {row['best_tenth_hz']:.0f}), "
            f"{row['newton_steps']:.2f} Newton steps; {row['element']}, {row['nodes']} nodes, "
            f"rest compliance off by {off}"
        )


if __name__ == "__main__":
    main()
