"""Rigid groups, springs and regions: each against a limit or a slow way that needs none of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from fem_meshes import NU, E, beam_system, box_mesh

from pliant.errors import PliantError
from pliant.fem import Material, NewtonOptions, linearize, make_body, make_system, rest, solve_equilibrium
from pliant.fem.system import advance
from pliant.geometry.mesh import TetMesh, embed

SIZE = (0.08, 0.02, 0.02)
RIGID_FROM = 0.06
STIFF = 1e5
"""How much stiffer the region is that must come near a rigid one."""
NEAR_RIGID = 1e-4
"""The stiff region still yields by 1 / STIFF, times a shape factor below 10."""
DERIVATIVE = 1e-7
STEP = 1e-6
TIGHT = NewtonOptions(tolerance=1e-11, residual_tolerance=1e-6)
LENGTHS = np.array([4e-3, 0.0])


def pulled(system, command=LENGTHS):
    return solve_equilibrium(
        system, rest(system), command=command, length_driven=np.ones(system.n_a, dtype=bool), options=TIGHT
    )


def with_stiff_tip(factor):
    """The beam system whose last quarter is another region, `factor` times stiffer."""
    mesh = box_mesh((4, 1, 1), SIZE)
    soft = Material("neo_hookean", E, 0.45, 1070.0)
    region = (mesh.nodes[mesh.tets].mean(axis=1)[:, 0] > RIGID_FROM).astype(np.int64)
    plain = beam_system()
    materials = {0: soft, 1: replace(soft, young_modulus=factor * E)}
    body = make_body(TetMesh(mesh.nodes, mesh.tets, region), materials, fixed=plain.body.fixed)
    return make_system(body, plain.actuators, plain.effectors, np.array([0.0, 0.0, -9.81]))


def test_rigid_group_is_the_limit_of_a_stiff_region():
    rigid = pulled(beam_system(rigid_beyond=RIGID_FROM))
    stiff = pulled(with_stiff_tip(STIFF))
    moved = np.abs(rigid.x - beam_system().body.mesh.nodes).max()
    assert moved > 0.005
    assert np.abs(rigid.x - stiff.x).max() <= NEAR_RIGID * moved
    assert rigid.effort == pytest.approx(stiff.effort, rel=NEAR_RIGID * 10, abs=1e-6)
    assert (
        np.abs(rigid.compliance - stiff.compliance).max() <= NEAR_RIGID * 10 * np.abs(stiff.compliance).max()
    )


def test_rigid_group_keeps_its_shape():
    system = beam_system(rigid_beyond=RIGID_FROM)
    group = system.body.rigid[0]
    x, X = pulled(system).x[group], system.body.mesh.nodes[group]
    distances = np.linalg.norm(x[:, None] - x[None], axis=2)
    assert distances == pytest.approx(np.linalg.norm(X[:, None] - X[None], axis=2), rel=1e-12, abs=1e-15)
    assert np.linalg.norm(x.mean(axis=0) - X.mean(axis=0)) > 0.005


@pytest.mark.parametrize("rigid", [None, RIGID_FROM])
def test_tangent_over_the_unknowns_is_the_gradient_of_their_residual(rigid):
    """At an equilibrium, where the tangent in moving coordinates is a true second derivative."""
    system = beam_system(rigid_beyond=rigid)
    state = pulled(system, np.array([6e-3, 2e-3]))
    at = linearize(system, state.x, state.effort, state.effector_force)
    n = system.reduction.n_unknown
    K = np.zeros((n, 3, n, 3))
    row, column = system.reduction.row, system.reduction.column
    K[row, :, column, :] = at.blocks
    K[column, :, row, :] = at.blocks.transpose(0, 2, 1)
    K = K.reshape(3 * n, 3 * n)
    rng = np.random.default_rng(0)
    for _ in range(4):
        d = rng.standard_normal(3 * n)
        d[3 * system.reduction.single.size :] *= 20.0  # rotations, in radians over metres
        d /= np.linalg.norm(d)

        def residual(sign, d=d):
            x = advance(system, state.x, sign * STEP * d)
            return linearize(system, x, state.effort, state.effector_force).residual

        difference = (residual(1) - residual(-1)) / (2 * STEP)
        assert np.linalg.norm(difference - K @ d) <= DERIVATIVE * np.linalg.norm(K @ d) * 10


def test_compliance_with_a_rigid_group_is_the_derivative_of_the_equilibrium():
    system = beam_system(rigid_beyond=RIGID_FROM)
    state = pulled(system, np.array([6e-3, 2e-3]))
    force_driven = np.zeros(2, dtype=bool)
    state = solve_equilibrium(system, state, command=state.effort, length_driven=force_driven, options=TIGHT)
    h, W = 1e-4, state.compliance
    for i in range(3):
        ends = [
            solve_equilibrium(
                system,
                state,
                command=state.effort,
                length_driven=force_driven,
                effector_force=state.effector_force + sign * h * np.eye(3)[i],
                options=TIGHT,
            )
            for sign in (1, -1)
        ]
        columns = [np.concatenate([end.effector.ravel(), end.course]) for end in ends]
        difference = (columns[0] - columns[1]) / (2 * h)
        scale = np.sqrt(np.diag(W) * W[i, i])
        assert (np.abs(difference - W[:, i]) / scale).max() <= 1e-5


def test_stiff_springs_hold_as_fixed_nodes_do():
    """At 1e9 N/m the spring yields by less than a millionth of the beam."""
    fixed, held = pulled(beam_system()), pulled(beam_system(springs_n_m=1e9))
    assert np.abs(fixed.x - held.x).max() <= 1e-7
    assert held.effort == pytest.approx(fixed.effort, rel=1e-4)


def test_soft_springs_carry_the_weight():
    """The sum of the spring forces is the weight, and the compliance of the springs adds to the body's."""
    system = beam_system(springs_n_m=50.0)
    state = rest(system)
    X, springs = system.body.mesh.nodes, system.body.springs
    force = (springs[:, None] * (X - state.x)).sum(axis=0)
    weight = 1070.0 * np.prod(SIZE) * 9.81
    assert force == pytest.approx([0, 0, weight], abs=1e-6 * weight)  # residual tolerance of the rest state
    # z of the springs in series with everything else
    assert state.compliance[2, 2] > 1.0 / springs.sum()


def test_equal_regions_are_one_material():
    one, two = pulled(beam_system()), pulled(with_stiff_tip(1.0))
    assert np.abs(one.x - two.x).max() <= 1e-12


def test_region_without_a_material_and_overlapping_rigid_groups_are_refused():
    mesh = box_mesh((2, 1, 1))
    steel = Material("neo_hookean", E, NU)
    with pytest.raises(PliantError, match="no material"):
        make_body(TetMesh(mesh.nodes, mesh.tets, np.arange(len(mesh.tets))), {0: steel})
    with pytest.raises(PliantError, match="overlap"):
        make_body(mesh, steel, rigid=[np.arange(4), np.arange(3, 8)])
    with pytest.raises(PliantError, match="overlap"):
        make_body(mesh, steel, rigid=[np.arange(4)], fixed=np.arange(3, 8))
    with pytest.raises(PliantError, match="three nodes"):
        make_body(mesh, steel, rigid=[np.arange(2)])
    with pytest.raises(PliantError, match="element"):
        make_body(mesh, steel, element="tet5")


@pytest.mark.parametrize(
    "change",
    [
        {"young_modulus": 0.0},
        {"young_modulus": np.nan},
        {"poisson_ratio": 0.5},
        {"poisson_ratio": -1.0},
        {"density": -1.0},
        {"model": "steel"},
    ],
)
def test_material_out_of_range_is_refused_by_name(change):
    with pytest.raises(PliantError, match=next(iter(change))):
        replace(Material(), **change)


def test_effector_on_a_rigid_group_moves_with_it():
    system = beam_system(rigid_beyond=RIGID_FROM)
    state = pulled(system)
    inside = embed(system.body.mesh, np.array([[0.07, 0.012, 0.009]]))
    group = system.body.rigid[0]
    X, x = system.body.mesh.nodes[group], state.x[group]
    R = np.linalg.lstsq(X - X.mean(axis=0), x - x.mean(axis=0), rcond=None)[0]
    expected = x.mean(axis=0) + (np.array([0.07, 0.012, 0.009]) - X.mean(axis=0)) @ R
    assert np.einsum("ek,eki->ei", inside.weights, state.x[inside.nodes])[0] == pytest.approx(
        expected, abs=1e-12
    )
