"""The public Diamond in SOFA v25.06 with SoftRobots: linear tetrahedra, Neo-Hookean, no gravity.

SOFA maps a point by the tetrahedron whose barycentre is nearest and extrapolates its coordinates.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from pliant.fem import (
    Material,
    NewtonOptions,
    make_body,
    make_cable,
    make_system,
    solve_equilibrium,
    undeformed,
)
from pliant.geometry.mesh import Embedding, read_mesh

DIAMOND = Path(__file__).parents[3] / "shared" / "data" / "soft" / "diamond.vtu"

TIP_MM = np.array([0.045717, -2.570214, 126.477372])
TENSION_N = 0.52108
TIP_TOLERANCE_MM = 1e-6
"""The digits printed."""
TENSION_TOLERANCE = 1e-4
"""The tension is printed to five digits."""


def nearest_barycentre(mesh, points) -> Embedding:
    """SOFA's barycentric mapping."""
    corners = mesh.nodes[mesh.tets]
    away = np.linalg.norm(corners.mean(axis=1)[None] - points[:, None], axis=2)
    tet = away.argmin(axis=1)
    x = corners[tet]
    sides = (x[:, 1:] - x[:, :1]).transpose(0, 2, 1)
    xi = np.linalg.solve(sides, (points - x[:, 0])[:, :, None])[:, :, 0]
    return Embedding(
        mesh.tets[tet], np.hstack([1 - xi.sum(axis=1, keepdims=True), xi]), np.zeros(len(points))
    )


@pytest.mark.skipif(not DIAMOND.exists(), reason=f"the public Diamond is not at {DIAMOND}")
def test_tip_and_tension_agree_when_the_north_cable_is_pulled(monkeypatch, record_property):
    monkeypatch.setattr("pliant.fem.actuator.embed", nearest_barycentre)
    turn = Rotation.from_euler("x", 90, degrees=True)
    mesh = read_mesh(DIAMOND, unit="mm", rotation=turn, translation_m=(0.0, 0.0, 0.035))
    box = np.array([[-0.015, -0.015, -0.04], [0.015, 0.015, 0.01]])
    fixed = np.flatnonzero(((mesh.nodes >= box[0]) & (mesh.nodes <= box[1])).all(axis=1))
    assert fixed.size == 58
    body = make_body(mesh, Material("neo_hookean", 180e3, 0.45), element="tet4", fixed=fixed)
    assert body.mu[0] == pytest.approx(62.0690e3, rel=1e-6)
    assert body.lam[0] == pytest.approx(558.6207e3, rel=1e-6)
    cables = []
    for name, x, y in [("north", 0, 1), ("west", -1, 0), ("south", 0, -1), ("east", 1, 0)]:
        pull, attachment = np.array([0.01 * x, 0.01 * y, 0.03]), np.array([[0.097 * x, 0.097 * y, 0.045]])
        cables.append(replace(make_cable(mesh, name, pull, attachment), unilateral=False))
    system = make_system(body, cables, nearest_barycentre(mesh, np.array([[0, 0, 0.125]])), np.zeros(3))
    state = solve_equilibrium(
        system,
        undeformed(system),
        command=np.array([3e-3, 0, 0, 0]),
        length_driven=np.ones(4, dtype=bool),
        options=NewtonOptions(tolerance=1e-10, residual_tolerance=1e-8),
    )
    tip = np.abs(1e3 * state.effector[0] - TIP_MM).max()
    record_property("tip_mm", float(tip))
    record_property("tension", float(abs(state.effort[0] / TENSION_N - 1)))
    assert tip <= TIP_TOLERANCE_MM
    assert state.effort[0] == pytest.approx(TENSION_N, rel=TENSION_TOLERANCE)
