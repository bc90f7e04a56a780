"""Finite elements of soft bodies: material, element, assembly, sparse solve, equilibrium."""

from pliant.fem.actuator import ACTUATORS, Actuator, Cable, make_cable
from pliant.fem.body import DEFAULT_ELEMENT, ELEMENTS, Body, make_body
from pliant.fem.dynamics import Damping, Inertia, Motion, implicit_euler, make_inertia
from pliant.fem.equilibrium import NewtonOptions, State, rest, solve_equilibrium, undeformed
from pliant.fem.material import LAWS, Material
from pliant.fem.system import System, linearize, make_system

__all__ = [
    "ACTUATORS",
    "DEFAULT_ELEMENT",
    "ELEMENTS",
    "LAWS",
    "Actuator",
    "Body",
    "Cable",
    "Damping",
    "Inertia",
    "Material",
    "Motion",
    "NewtonOptions",
    "State",
    "System",
    "implicit_euler",
    "linearize",
    "make_body",
    "make_cable",
    "make_inertia",
    "make_system",
    "rest",
    "solve_equilibrium",
    "undeformed",
]
