"""The command line: `pliant robots | check | track | mesh | reproduce`."""

from pliant.cli.main import main

__all__ = ["main"]
