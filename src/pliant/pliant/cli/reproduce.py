"""`pliant reproduce`: a paper's result, computed again."""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console
from rich.table import Table

from pliant.cli.command import Commands, add_command, progress_bar
from pliant.experiments import EXPERIMENTS, Report, run_experiment


def add_to(commands: Commands) -> None:
    """Add this command to the parser."""
    parser = add_command(
        commands,
        "reproduce",
        run,
        "compute a paper's result again",
        "Writes NAME/NAME.json (what the paper says, what was measured, which bars are met) and a\n"
        "figure. A bar that is not met is a result; only a run that could not finish is an error.",
        "  pliant reproduce --list\n  pliant reproduce condensed-fig3-fem --quick",
    )
    parser.add_argument("name", nargs="?", metavar="NAME", help="a name that --list shows")
    parser.add_argument("--list", action="store_true", help="list all names")
    parser.add_argument(
        "--quick", action="store_true", help="a smaller version, under a minute, marked as such"
    )
    parser.add_argument(
        "--output", type=Path, default=Path("results"), help="folder of results (default: results)"
    )


def run(options: argparse.Namespace) -> None:
    """List the experiments, or run one."""
    console = Console()
    if options.list or options.name is None:
        table = Table(box=None, header_style="bold", pad_edge=False)
        table.add_column("name", no_wrap=True)
        table.add_column("result")
        for experiment in EXPERIMENTS.values():
            table.add_row(experiment.name, experiment.title)
        console.print(table)
        return
    with progress_bar(options.name) as advance:
        report, folder = run_experiment(
            options.name, quick=options.quick, output=options.output, advance=advance
        )
    _print_report(console, report)
    console.print(f"[dim]in {folder}[/dim]")


def _print_report(console: Console, report: Report) -> None:
    table = Table(box=None, header_style="bold", pad_edge=False)
    for heading in ("bar", "value", "limit", "unit", "met"):
        table.add_column(heading)
    for bar in report.bars:
        met = "[green]yes[/green]" if bar.met else "[red]no[/red]"
        table.add_row(bar.name, f"{bar.value:.4g}", f"{bar.sense} {bar.limit:g}", bar.unit, met)
    console.print(table)
    console.print(f"{report.seconds:.1f} s{' (quick version)' if report.quick else ''}")
