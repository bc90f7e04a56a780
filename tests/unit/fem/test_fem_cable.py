"""Cables: length, derivatives, and the capstan's decay of the tension."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from fem_meshes import box_mesh, deformed, irregular_body

from pliant.errors import PliantError
from pliant.fem import make_cable

DERIVATIVE = 1e-8
"""Central differences at h = 1e-5 of a size of one."""
EXACT = 1e-12
STEP = 1e-5
PULL = np.array([-0.5, 0.2, 0.1])
VIA = np.array([[0.1, 0.3, 0.2], [0.5, 0.5, 0.5], [0.62, 0.31, 0.77], [1.0, 0.0, 1.0]])


@pytest.fixture(params=["tet4", "tet10_mean"])
def threaded(request):
    """A cable through a deformed cube, and the positions of its nodes."""
    rng = np.random.default_rng(1)
    body = irregular_body(request.param, "neo_hookean", rng)
    return make_cable(body.mesh, "cable", PULL, VIA), body.mesh, deformed(body, rng)


def full_jacobian(cable, x):
    out = np.zeros_like(x)
    out[cable.nodes] = cable.derivatives(x).jacobian
    return out


def test_undeformed_course_is_zero_and_rest_length_is_the_paths(threaded):
    cable, mesh, _ = threaded
    segments = np.linalg.norm(np.diff(np.vstack([PULL, VIA]), axis=0), axis=1)
    assert cable.rest_length == pytest.approx(segments.sum(), rel=EXACT)
    assert cable.course(mesh.nodes) == pytest.approx(0.0, abs=EXACT)
    assert cable.points(mesh.nodes) == pytest.approx(np.vstack([PULL, VIA]), abs=EXACT)


def test_jacobian_is_the_gradient_of_the_course(threaded):
    cable, _, x = threaded
    H = full_jacobian(cable, x)
    assert cable.derivatives(x).course == pytest.approx(cable.course(x), rel=EXACT)
    rng = np.random.default_rng(0)
    for _ in range(5):
        d = rng.standard_normal(x.shape)
        difference = (cable.course(x + STEP * d) - cable.course(x - STEP * d)) / (2 * STEP)
        assert difference == pytest.approx(np.sum(H * d), abs=DERIVATIVE * np.linalg.norm(d))


def test_curvature_is_the_gradient_of_the_jacobian(threaded):
    cable, _, x = threaded
    n = len(x)
    K = np.zeros((n, 3, n, 3))
    for (a, b), block in zip(cable.pairs, cable.derivatives(x).curvature, strict=True):
        K[a, :, b, :] += block
        if a != b:
            K[b, :, a, :] += block.T
    rng = np.random.default_rng(0)
    for _ in range(5):
        d = rng.standard_normal(x.shape)
        difference = (full_jacobian(cable, x + STEP * d) - full_jacobian(cable, x - STEP * d)) / (2 * STEP)
        expected = np.einsum("aibj,bj->ai", K, d)
        assert np.abs(difference - expected).max() <= DERIVATIVE * 1e2 * np.abs(expected).max()


def test_rigid_motion_about_the_pull_point_keeps_the_course(threaded):
    cable, _, x = threaded
    R = np.linalg.qr(np.random.default_rng(2).standard_normal((3, 3)))[0]
    turned = PULL + (x - PULL) @ R.T
    assert cable.course(turned) == pytest.approx(cable.course(x), rel=EXACT)
    H = cable.derivatives(x).jacobian
    assert cable.derivatives(turned).jacobian == pytest.approx(H @ R.T, abs=EXACT * 10)


def test_forces_on_the_body_sum_to_the_pull_at_the_winch(threaded):
    cable, _, x = threaded
    first = cable.points(x)[1]
    toward_winch = (PULL - first) / np.linalg.norm(PULL - first)
    assert cable.derivatives(x).pull.sum(axis=0) == pytest.approx(toward_winch, abs=EXACT)


@pytest.mark.parametrize("drag", [0.3, -0.3])
def test_tension_decays_by_the_capstan_equation(threaded, drag):
    """The force on the body is the sum over the segments of T_i dL_i, T_i = exp(-drag Theta_i)."""
    cable, _, x = threaded
    points = cable.points(x)
    t = np.diff(points, axis=0)
    t /= np.linalg.norm(t, axis=1)[:, None]
    turns = np.arccos(np.sum(t[1:] * t[:-1], axis=1))
    tension = np.exp(-drag * np.concatenate([[0.0], np.cumsum(turns)]))
    on_points = -tension[:, None] * t
    on_points[:-1] += tension[1:, None] * t[1:]
    expected = np.zeros((cable.nodes.size, 3))
    for i, force in enumerate(on_points):
        for p in range(cable.stencil_start[i], cable.stencil_start[i + 1]):
            expected[cable.stencil_node[p]] += cable.weight[p] * force
    at = replace(cable, drag=drag).derivatives(x)
    assert at.pull == pytest.approx(expected, abs=1e-7)  # arccos near straight segments
    assert at.jacobian == pytest.approx(cable.derivatives(x).jacobian, abs=EXACT)


def test_point_on_a_node_uses_that_node_alone():
    mesh = box_mesh((2, 1, 1))
    cable = make_cable(mesh, "cable", PULL, mesh.nodes[[5, 9]])
    assert cable.nodes.tolist() == [5, 9]


def test_cable_without_or_with_coinciding_points_is_refused():
    mesh = box_mesh((2, 1, 1))
    with pytest.raises(PliantError, match="no via point"):
        make_cable(mesh, "cable", PULL, np.zeros((0, 3)))
    with pytest.raises(PliantError, match="points 0 and 1 coincide"):
        make_cable(mesh, "cable", mesh.nodes[3], mesh.nodes[3:4])
