"""Each element with each material law: patch test, rigid motion, and every derivative."""

from __future__ import annotations

import numpy as np
import pytest
from fem_meshes import NU, E, deformed, irregular_body
from scipy.sparse.linalg import spsolve
from scipy.spatial.transform import Rotation

from pliant.fem import ELEMENTS, LAWS, Material, make_body
from pliant.fem.assembly import (
    as_sparse,
    elastic_energy,
    internal_force,
    make_pattern,
    tangent_stiffness,
    third_derivative,
)
from pliant.geometry.mesh import TetMesh

PATCH = 1e-10
"""A homogeneous field is in every space and under-integrates nothing: only rounding is left."""
RIGID = 1e-10
"""Rotating by an orthogonal matrix costs rounding, amplified by the cancellation in E = F'F - I."""
DERIVATIVE = 1e-7
"""Central differences at h = 1e-5 leave h^2 = 1e-10 and rounding / h = 1e-11, times a few hundred."""
THIRD = 1e-6
"""The same for the third derivative, whose scale is more uneven."""
SYMMETRY = 1e-12
"""A tangent from an energy, assembled in double precision."""
STEP = 1e-5

NONE = np.zeros((0, 2), dtype=np.int64)
every_element_and_law = pytest.mark.parametrize(("element", "law"), [(e, m) for e in ELEMENTS for m in LAWS])
laws_that_bend = pytest.mark.parametrize("nu", [0.3, 0.45])


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20)


def full_tangent(body, x):
    """Internal force over the free nodes and the tangent over them as a sparse matrix."""
    pattern = make_pattern(body, NONE)
    force, blocks, smallest = tangent_stiffness(body, pattern, x)
    assert smallest > 0
    return force, as_sparse(pattern, blocks)


def free(body):
    return body.unknown >= 0


def random_field(body, rng):
    """A unit nodal field that leaves fixed nodes where they are."""
    field = rng.standard_normal(body.mesh.nodes.shape) * free(body)[:, None]
    return field / np.linalg.norm(field)


@every_element_and_law
@laws_that_bend
def test_linear_displacement_field_leaves_inner_nodes_in_balance(element, law, nu, rng):
    body = irregular_body(element, law, rng, nu=nu)
    F = np.eye(3) + np.array([[0.1, 0.25, -0.05], [0.0, -0.1, 0.15], [0.05, 0.1, 0.2]])
    force = internal_force(body, body.mesh.nodes @ F.T + [0.3, -0.2, 0.1])
    assert np.abs(force[free(body)]).max() <= PATCH * np.abs(force).max()


@every_element_and_law
def test_newton_finds_the_linear_field_inside_a_linearly_moved_boundary(element, law, rng):
    body = irregular_body(element, law, rng)
    exact = body.mesh.nodes @ (np.eye(3) + 0.1 * np.array([[1, 2, 0], [0, -1, 1], [0, 1, 1.0]])).T
    inside = free(body)
    x = exact.copy()
    x[inside] += 0.01 * rng.uniform(-1, 1, (inside.sum(), 3))
    for _ in range(8):
        force, K = full_tangent(body, x)
        x[inside] -= spsolve(K.tocsc(), force[inside].ravel()).reshape(-1, 3)
    assert np.abs(x - exact).max() <= PATCH


@every_element_and_law
def test_rigid_motion_keeps_the_energy_and_turns_force_and_tangent(element, law, rng):
    body = irregular_body(element, law, rng)
    x = deformed(body, rng)
    R = Rotation.from_rotvec([0.7, -2.1, 1.3]).as_matrix()
    moved = x @ R.T + [3.0, -2.0, 1.0]
    force, K = full_tangent(body, x)
    turned_force, turned_K = full_tangent(body, moved)
    turn = np.kron(np.eye(free(body).sum()), R)
    energy = elastic_energy(body, x)
    assert abs(elastic_energy(body, moved) - energy) <= RIGID * energy
    assert np.abs(turned_force - force @ R.T).max() <= RIGID * np.abs(force).max()
    assert np.abs(turned_K.toarray() - turn @ K.toarray() @ turn.T).max() <= RIGID * np.abs(K).max()


@every_element_and_law
def test_rigidly_moved_rest_is_free_of_energy_and_force(element, law, rng):
    body = irregular_body(element, law, rng)
    R = Rotation.from_rotvec([0.7, -2.1, 1.3]).as_matrix()
    moved = body.mesh.nodes @ R.T + [3.0, -2.0, 1.0]
    assert abs(elastic_energy(body, moved)) <= RIGID * E
    assert np.abs(internal_force(body, moved)).max() <= RIGID * E


@every_element_and_law
@laws_that_bend
def test_force_is_the_gradient_of_the_energy(element, law, nu, rng):
    body = irregular_body(element, law, rng, nu=nu)
    x = deformed(body, rng)
    force = internal_force(body, x)
    for _ in range(5):
        d = rng.standard_normal(x.shape)
        d /= np.linalg.norm(d)
        difference = (elastic_energy(body, x + STEP * d) - elastic_energy(body, x - STEP * d)) / (2 * STEP)
        assert abs(difference - np.sum(force * d)) <= DERIVATIVE * np.linalg.norm(force)


@every_element_and_law
@laws_that_bend
def test_tangent_is_the_gradient_of_the_force(element, law, nu, rng):
    body = irregular_body(element, law, rng, nu=nu)
    x = deformed(body, rng)
    _, K = full_tangent(body, x)
    for _ in range(5):
        d = random_field(body, rng)
        difference = (internal_force(body, x + STEP * d) - internal_force(body, x - STEP * d)) / (2 * STEP)
        Kd = K @ d[free(body)].ravel()
        assert np.linalg.norm(difference[free(body)].ravel() - Kd) <= DERIVATIVE * np.linalg.norm(Kd)


@every_element_and_law
def test_tangent_assembled_from_both_orders_of_the_nodes_is_symmetric(element, law, rng):
    """Only lower blocks are stored, so the diagonal ones must be symmetric by themselves, the upper ones,
    which are the lower ones of the body with its nodes numbered backwards, their transposes, and u'Kv = v'Ku
    must hold for the gradient of the force, which knows no storage."""
    body = irregular_body(element, law, rng)
    x = deformed(body, rng)
    pattern = make_pattern(body, NONE)
    _, blocks, _ = tangent_stiffness(body, pattern, x)
    own = blocks[pattern.diagonal]
    assert np.abs(own - own.transpose(0, 2, 1)).max() <= SYMMETRY * np.abs(own).max()
    last = body.n_nodes - 1
    backwards = make_body(
        TetMesh(body.mesh.nodes[::-1], last - body.mesh.tets),
        Material(law, E, NU, 1000.0),
        element=element,
        fixed=last - body.fixed,
    )
    mirrored = make_pattern(backwards, NONE)
    _, upper, _ = tangent_stiffness(backwards, mirrored, x[::-1].copy())
    pairs = body.n_free - 1 - np.stack([pattern.column, pattern.row], axis=1)
    upper = upper[mirrored.find(pairs)].transpose(0, 2, 1)
    assert np.abs(blocks - upper).max() <= SYMMETRY * np.abs(blocks).max()
    K = as_sparse(pattern, blocks)
    u, v = random_field(body, rng), random_field(body, rng)

    def force_change(d):
        return (internal_force(body, x + STEP * d) - internal_force(body, x - STEP * d)) / (2 * STEP)

    uKv = np.sum(u * force_change(v))
    assert abs(uKv - np.sum(v * force_change(u))) <= DERIVATIVE * abs(K).max()


@every_element_and_law
@laws_that_bend
def test_third_derivative_is_the_gradient_of_the_contracted_tangent(element, law, nu, rng):
    body = irregular_body(element, law, rng, nu=nu)
    x = deformed(body, rng)
    left, right = random_field(body, rng), random_field(body, rng)
    third = third_derivative(body, x, left, right)

    def contracted(x):
        _, K = full_tangent(body, x)
        return left[free(body)].ravel() @ (K @ right[free(body)].ravel())

    for _ in range(5):
        d = rng.standard_normal(x.shape)
        d /= np.linalg.norm(d)
        difference = (contracted(x + STEP * d) - contracted(x - STEP * d)) / (2 * STEP)
        assert abs(difference - np.sum(third * d)) <= THIRD * np.linalg.norm(third)


@every_element_and_law
def test_third_derivative_is_symmetric_in_its_three_arguments(element, law, rng):
    body = irregular_body(element, law, rng)
    x = deformed(body, rng)
    u, v, w = (random_field(body, rng) for _ in range(3))
    values = [
        np.sum(third_derivative(body, x, a, b) * c)
        for a, b, c in [(u, v, w), (v, u, w), (w, u, v), (v, w, u)]
    ]
    scale = np.linalg.norm(third_derivative(body, x, u, v))
    assert np.ptp(values) <= SYMMETRY * 1e2 * scale  # three different sums of about a hundred terms


@pytest.mark.parametrize("element", ELEMENTS)
def test_laws_agree_to_first_order_at_rest(element, rng):
    """All laws share Hooke's law: the same tangent of the undeformed body."""
    tangents = []
    for law in LAWS:
        body = irregular_body(element, law, np.random.default_rng(3))
        tangents.append(full_tangent(body, body.mesh.nodes)[1])
    for K in tangents[1:]:
        assert abs(K - tangents[0]).max() <= RIGID * abs(K).max()


@pytest.mark.parametrize("element", ELEMENTS)
def test_inverted_element_has_infinite_energy_and_no_force(element, rng):
    body = irregular_body(element, "neo_hookean", rng)
    x = body.mesh.nodes * [1.0, 1.0, -1.0]
    assert elastic_energy(body, x) == np.inf
    assert np.isnan(internal_force(body, x)).all()
    assert tangent_stiffness(body, make_pattern(body, NONE), x)[2] < 0


@pytest.mark.parametrize("law", LAWS)
def test_mean_dilatation_equals_the_plain_element_under_a_homogeneous_field(law, rng):
    plain = irregular_body("tet10", law, np.random.default_rng(3))
    mean = irregular_body("tet10_mean", law, np.random.default_rng(3))
    x = plain.mesh.nodes @ (np.eye(3) + 0.1 * rng.standard_normal((3, 3))).T
    assert abs(elastic_energy(plain, x) / elastic_energy(mean, x) - 1) <= RIGID
