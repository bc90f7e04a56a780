"""Pliant: simulation, condensed models and control of robots that bend."""

__version__ = "0.1.0"
