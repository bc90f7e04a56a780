"""The names of all experiments, and how one is run."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pliant.errors import PliantError
from pliant.experiments.report import Outcome, Report


@dataclass(frozen=True)
class Experiment:
    """One result of a paper.

    Attributes:
        name: Its name on the command line.
        title: What it shows.
        module: Module with `run(*, quick, figure, advance) -> Outcome`.
        paper: What the paper reports, and where.
    """

    name: str
    title: str
    module: str
    paper: dict[str, str]


_ALL = (
    Experiment(
        name="condensed-fig3-fem",
        title="The Diamond follows thirty goals on a circle, full FEM model in the loop",
        module="pliant.experiments.condensed_fig3",
        paper={
            "source": "Ménager et al. 2023, section IV-C1, Fig. 3",
            "reports": "the Diamond's tip visits 30 goals on a horizontal circle with computed mechanical "
            "matrices; the figure shows positions on the goals and no number",
        },
    ),
)
EXPERIMENTS = {experiment.name: experiment for experiment in _ALL}


def run_experiment(
    name: str, *, quick: bool, output: Path, advance: Callable[[int, int], None]
) -> tuple[Report, Path]:
    """Run one experiment and write its JSON and figure.

    Args:
        name: A key of `EXPERIMENTS`.
        quick: Whether to run the smaller version.
        output: Folder that gets a folder of this name.
        advance: Told how many parts of how many are done.

    Returns:
        The report, and the folder it is in.

    Raises:
        PliantError: If there is no such experiment, or it could not run.
    """
    if name not in EXPERIMENTS:
        raise PliantError(f"no experiment {name!r}; allowed: {', '.join(EXPERIMENTS)}")
    experiment = EXPERIMENTS[name]
    folder = output / name
    folder.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    module = importlib.import_module(experiment.module)
    outcome: Outcome = module.run(quick=quick, figure=folder / f"{name}.png", advance=advance)
    seconds = time.perf_counter() - start
    report = Report(name, experiment.paper, outcome.measured, outcome.bars, outcome.seed, seconds, quick)
    report.write(folder / f"{name}.json")
    return report, folder
