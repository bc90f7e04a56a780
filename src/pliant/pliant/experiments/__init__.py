"""The papers' results, one module a table or figure, behind one contract.

Each writes `<folder>/<name>/<name>.json` and a figure; see `Report` for the fields.
"""

from pliant.experiments.registry import EXPERIMENTS, Experiment, run_experiment
from pliant.experiments.report import Bar, Outcome, Report

__all__ = ["EXPERIMENTS", "Bar", "Experiment", "Outcome", "Report", "run_experiment"]
