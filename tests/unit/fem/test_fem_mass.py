"""Consistent and lumped mass, weight and kinetic energy."""

from __future__ import annotations

import numpy as np
import pytest
from fem_meshes import NU, E, irregular_mesh

from pliant.fem import ELEMENTS, Material, make_body
from pliant.fem.assembly import gravity_force, lumped_mass, mass_matrix
from pliant.geometry.mesh import TetMesh

EXACT = 1e-12
"""The quadrature is exact for products of shape functions on straight elements."""
DENSITY = 1070.0


@pytest.fixture(params=ELEMENTS)
def body(request):
    mesh = irregular_mesh(2, np.random.default_rng(4))
    return make_body(mesh, Material("neo_hookean", E, NU, DENSITY), element=request.param)


def test_consistent_mass_is_symmetric_positive_definite_and_sums_to_the_mass(body):
    M = mass_matrix(body)
    assert abs(M - M.T).max() <= EXACT * abs(M).max()
    assert np.linalg.eigvalsh(M.toarray())[0] > 0
    assert M.sum() == pytest.approx(DENSITY * 1.0, rel=EXACT)


def test_lumped_mass_is_positive_and_sums_to_the_mass(body):
    mass = lumped_mass(body)
    assert (mass > 0).all()
    assert mass.sum() == pytest.approx(DENSITY * 1.0, rel=EXACT)


def test_weight_is_the_consistent_mass_times_gravity(body):
    g = np.array([0.3, -9.81, 2.0])
    weight = gravity_force(body, g)
    M = mass_matrix(body)
    assert weight == pytest.approx(M @ np.tile(g, (body.n_nodes, 1)), rel=EXACT, abs=EXACT * 9.81)
    assert weight.sum(axis=0) == pytest.approx(DENSITY * g, rel=EXACT)
    moment = np.cross(body.mesh.nodes, weight).sum(axis=0)
    assert moment == pytest.approx(np.cross([0.5, 0.5, 0.5], DENSITY * g), rel=EXACT, abs=EXACT * DENSITY)


def test_kinetic_energy_of_a_rigid_motion(body):
    """T = m |v_c|^2 / 2 + w' I w / 2 of the unit cube, I = m / 6."""
    v, w = np.array([0.4, -1.0, 0.2]), np.array([2.0, 1.0, -3.0])
    velocity = v + np.cross(w, body.mesh.nodes - 0.5)
    energy = 0.5 * np.sum(velocity * (mass_matrix(body) @ velocity))
    assert energy == pytest.approx(0.5 * DENSITY * (v @ v) + 0.5 * DENSITY / 6.0 * (w @ w), rel=EXACT)


def test_inertia_by_lumped_mass_is_right_for_translation_only(body):
    v = np.array([0.4, -1.0, 0.2])
    energy = 0.5 * np.sum(lumped_mass(body)[:, None] * np.tile(v, (body.n_nodes, 1)) ** 2)
    assert energy == pytest.approx(0.5 * DENSITY * (v @ v), rel=EXACT)


def test_each_region_has_its_own_density():
    mesh = irregular_mesh(2, np.random.default_rng(4))
    region = (mesh.nodes[mesh.tets].mean(axis=1)[:, 0] > 0.5).astype(int) * 7
    mesh = TetMesh(mesh.nodes, mesh.tets, region)
    materials = {0: Material("neo_hookean", E, NU, 1000.0), 7: Material("neo_hookean", E, NU, 3000.0)}
    body = make_body(mesh, materials)
    volumes = [body.volumes[region == r].sum() for r in (0, 7)]
    assert mass_matrix(body).sum() == pytest.approx(1000.0 * volumes[0] + 3000.0 * volumes[1], rel=EXACT)
