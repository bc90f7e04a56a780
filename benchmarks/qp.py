"""Time of the inverse problem: both QP solvers, 2, 4 and 8 cables, one thread.

    ./dev bench qp [--quick]

Writes results/qp/qp.json and results/qp/qp.png. Every solve starts cold, because a controller
that keeps nothing between calls replays bit for bit; set-up and the check of optimality count.
The peer, quadprog, solves the same problems in the same run.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import quadprog

from pliant.condensed import CondensedModel, Source
from pliant.control import InverseParameters, inverse_step
from pliant.control.problem import goal_problem, scaling, step_bounds
from pliant.control.qp import SOLVERS, QuadraticProgram, solve_qp
from pliant.experiments.report import Bar, Report
from pliant.limits import ActuatorLimits

SEED = 0
CABLES = (2, 4, 8)
PERIOD = 0.02  # s
EFFORT_MAX = 20.0  # N
AGREEMENT = 1e-6  # of the effort range
CONTROL_STEP = 1e4  # us: 100 Hz
PAPER = {
    "qp": "Ménager et al. 2023, III-C2: eq. 4 solved with qpOASES; no time is given",
}


def model(rng: np.random.Generator, n_a: int) -> CondensedModel:
    """A random compliance of some mm/N at a random state."""
    half = rng.normal(size=(3 + n_a, 5 + n_a))
    x_e, course = rng.normal(size=(1, 3)) * 0.01, rng.uniform(0.0, 0.03, n_a)
    return CondensedModel(
        robot="random",
        robot_hash="",
        source=Source.FEM,
        stamp=0.0,
        time_step=0.0,
        effectors=("tip",),
        actuators=tuple(f"cable{i}" for i in range(n_a)),
        w=2e-3 * half @ half.T / (3 + n_a),
        x_e=x_e,
        x_e_free=x_e,
        delta_a=course,
        delta_a_free=course,
        lambda_a=rng.uniform(0.1, 8.0, n_a),
        lambda_e=np.zeros((1, 3)),
    )


def limits(n_a: int) -> ActuatorLimits:
    values = {
        "effort_min": 0.0,
        "effort_max": EFFORT_MAX,
        "course_min": 0.0,
        "course_max": 0.03,
        "effort_rate": 100.0,
        "course_rate": 0.2,
    }
    return ActuatorLimits(**{name: np.full(n_a, value) for name, value in values.items()})


def microseconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return 1e6 * (time.perf_counter() - start)


def peer(problem: QuadraticProgram) -> np.ndarray:
    rows = np.vstack([problem.A, -problem.A])
    bounds = np.concatenate([problem.lower, -problem.upper])
    return quadprog.solve_qp(problem.P, -problem.q, rows.T, bounds)[0]


def measure(rng: np.random.Generator, n_a: int, n_problems: int) -> dict[str, dict[str, float]]:
    """Times [us], largest deviation from the peer [effort range] and KKT residual, by solver."""
    times: dict[str, list[float]] = {"quadprog": []}
    deviation, residual = dict.fromkeys(SOLVERS, 0.0), dict.fromkeys(SOLVERS, 0.0)
    for solver in SOLVERS:
        times[f"{solver} solve"], times[f"{solver} step"] = [], []
    for _ in range(n_problems):
        at, bounds_of = model(rng, n_a), limits(n_a)
        goal = at.x_e + rng.normal(size=(1, 3)) * 10.0 ** rng.uniform(-5, -1)
        bounds = step_bounds(at, bounds_of, pretension=0.02, step_fraction=0.1, period=PERIOD)
        scale = scaling(at, bounds_of, bounds, np.ones(3))
        problem = goal_problem(at, bounds, scale, (goal - at.x_e).ravel(), regularisation=1e-4)
        times["quadprog"].append(microseconds(lambda p=problem: peer(p)))
        exact = peer(problem)
        for solver in SOLVERS:
            options = InverseParameters(solver=solver)
            times[f"{solver} solve"].append(microseconds(lambda p=problem, s=solver: solve_qp(p, s)))
            times[f"{solver} step"].append(
                microseconds(
                    lambda m=at, g=goal, b=bounds_of, o=options: inverse_step(m, g, b, o, period=PERIOD)
                )
            )
            solution = solve_qp(problem, solver)
            off = np.abs(scale.effort * (solution.x - exact)).max() / EFFORT_MAX
            deviation[solver] = max(deviation[solver], float(off))
            residual[solver] = max(residual[solver], solution.kkt_residual)
    return {
        "median_us": {name: float(np.median(values)) for name, values in times.items()},
        "p99_us": {name: float(np.quantile(values, 0.99)) for name, values in times.items()},
        "quartiles_us": {name: np.quantile(values, [0.25, 0.75]).tolist() for name, values in times.items()},
        "deviation_of_range": deviation,
        "kkt_residual": residual,
    }


def draw(measured: dict[str, dict[str, dict[str, float]]], path: Path) -> None:
    """Medians and quartiles against the number of cables."""
    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    for name in next(iter(measured.values()))["median_us"]:
        middle = np.array([measured[f"{n}_cables"]["median_us"][name] for n in CABLES])
        spread = np.array([measured[f"{n}_cables"]["quartiles_us"][name] for n in CABLES]).T
        axes.errorbar(CABLES, middle, np.abs(spread - middle), marker="o", capsize=3, label=name)
    axes.set(xlabel="cables", ylabel="time, cold [µs]", yscale="log", xticks=CABLES)
    axes.legend(ncols=2, fontsize=8)
    figure.savefig(path, dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="50 problems a size instead of 1000")
    parser.add_argument("--out", type=Path, default=Path("results/qp"), help="folder of the results")
    options = parser.parse_args()
    start, rng = time.perf_counter(), np.random.default_rng(SEED)
    measured = {f"{n}_cables": measure(rng, n, 50 if options.quick else 1000) for n in CABLES}
    bars = []
    for solver in SOLVERS:
        off = max(row["deviation_of_range"][solver] for row in measured.values())
        slow = max(row["median_us"][f"{solver} step"] for row in measured.values())
        bars.append(Bar(f"{solver}: deviation from quadprog", off, AGREEMENT, "<=", "of the effort range"))
        bars.append(Bar(f"{solver}: inverse step, median, worst size", slow, CONTROL_STEP, "<=", "us"))
    options.out.mkdir(parents=True, exist_ok=True)
    seconds = time.perf_counter() - start
    Report("qp", PAPER, measured, tuple(bars), SEED, seconds, options.quick).write(options.out / "qp.json")
    draw(measured, options.out / "qp.png")
    table(measured)


def table(measured: dict[str, dict[str, dict[str, float]]]) -> None:
    rows = [f"{n}_cables" for n in CABLES]
    print("median us [quartiles]   " + "".join(f"{n} cables".rjust(22) for n in CABLES))
    for name in measured[rows[0]]["median_us"]:
        cells = [
            f"{measured[row]['median_us'][name]:.0f} [{low:.0f}, {high:.0f}]"
            for row in rows
            for low, high in [measured[row]["quartiles_us"][name]]
        ]
        print(f"{name:24}" + "".join(f"{cell:>22}" for cell in cells))
    for key in ("deviation_of_range", "kkt_residual"):
        for solver in SOLVERS:
            worst = max(measured[row][key][solver] for row in rows)
            print(f"{solver}: largest {key.replace('_', ' ')} {worst:.1e}")


if __name__ == "__main__":
    main()
