"""The same boundary problem in felupe, with the same Neo-Hookean energy."""

from __future__ import annotations

import numpy as np
import pytest
from loaded_beam import GRAVITY, TIP_FORCE, solve

from pliant.fem import Material

felupe = pytest.importorskip("felupe", reason="felupe is not installed")

SAME = 1e-8
"""Both solve the same discrete equations to rounding; conditioning amplifies that to about 1e-10."""
MATERIAL = Material("neo_hookean", 1.5e5, 0.42, 1070.0)


@pytest.mark.parametrize("element", ["tet4", "tet10"])
def test_displacement_agrees(element, record_property):
    mesh, fixed, tip, displacement = solve(element, MATERIAL)
    cell, region = (
        ("tetra", felupe.RegionTetra) if element == "tet4" else ("tetra10", felupe.RegionQuadraticTetra)
    )
    field = felupe.FieldContainer([felupe.Field(region(felupe.Mesh(mesh.nodes, mesh.tets, cell)), dim=3)])
    solid = felupe.SolidBody(felupe.NeoHookeCompressible(mu=MATERIAL.mu, lmbda=MATERIAL.lam), field)
    weight = felupe.SolidBodyForce(field, values=GRAVITY, scale=MATERIAL.density)
    force = felupe.PointLoad(field, [tip], values=TIP_FORCE)
    held = np.isin(np.arange(mesh.n_nodes), fixed)
    boundaries = {"root": felupe.Boundary(field[0], mask=held)}
    dof0, dof1 = felupe.dof.partition(field, boundaries)
    ext0 = felupe.dof.apply(field, boundaries, dof0)
    newton = getattr(felupe, "newtonraphson", None) or felupe.newtonrhapson
    for load in np.linspace(0.25, 1.0, 4):
        weight.update(load * GRAVITY)
        force.update(load * TIP_FORCE)
        newton(items=[solid, weight, force], dof0=dof0, dof1=dof1, ext0=ext0, tol=1e-10, verbose=0)
    theirs = field[0].values
    difference = np.abs(displacement - theirs).max() / np.abs(theirs).max()
    record_property("relative_difference", float(difference))
    assert difference <= SAME
