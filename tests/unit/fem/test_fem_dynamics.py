"""Implicit Euler steps against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from fem_meshes import NU, E, beam_system, box_mesh
from scipy.linalg import eigh

from pliant.errors import PliantError
from pliant.fem import Material, NewtonOptions, make_body, make_cable, make_system, rest
from pliant.fem.assembly import as_sparse, elastic_energy, mass_matrix, tangent_stiffness
from pliant.fem.dynamics import Damping, Motion, implicit_euler, make_inertia
from pliant.geometry.mesh import embed

EXACT = 1e-9
"""Steps solved to rounding, in the scale of what moves."""
LINEAR = 1e-6
"""An oscillation of 1e-7 of the size is linear to about this."""
TIGHT = NewtonOptions(tolerance=1e-12)
H = 2e-3


def no_load(system):
    return {"effort": np.zeros(system.n_a), "effector_force": np.zeros((system.n_e, 3)), "options": TIGHT}


def free_block(gravity):
    """A block that nothing holds."""
    body = make_body(box_mesh((2, 1, 1), (0.04, 0.02, 0.02)), Material("neo_hookean", E, NU, 1000.0))
    end = body.mesh.nodes[-1:]
    return make_system(
        body, [make_cable(body.mesh, "slack", end[0] + 0.1, end)], embed(body.mesh, end), gravity
    )


def test_free_flight_keeps_momentum_and_falls_by_the_formula():
    g = np.array([0.0, 0.0, -9.81])
    system = free_block(g)
    inertia, M = make_inertia(system), mass_matrix(system.body)
    rng = np.random.default_rng(0)
    v = np.array([1.0, 0.5, 2.0]) + 0.1 * rng.standard_normal(system.body.mesh.nodes.shape)
    motion = Motion(system.body.mesh.nodes.copy(), v)
    momentum = (M @ v).sum(axis=0)
    for n in range(1, 6):
        motion, _ = implicit_euler(system, inertia, motion, H, **no_load(system))
        expected = momentum + n * H * M.sum() * g
        assert (M @ motion.v).sum(axis=0) == pytest.approx(expected, rel=EXACT)


def test_mass_damping_slows_a_fall_to_its_terminal_velocity():
    """v_(n+1) = (v_n + h g) / (1 + alpha h), which tends to g / alpha."""
    g, alpha, h = np.array([0.0, 0.0, -9.81]), 5.0, 0.05
    system = free_block(g)
    motion, v = Motion(system.body.mesh.nodes.copy(), np.zeros_like(system.body.mesh.nodes)), np.zeros(3)
    for _ in range(60):
        damped = {**no_load(system), "damping": Damping(alpha=alpha)}
        motion, _ = implicit_euler(system, make_inertia(system), motion, h, **damped)
        v = (v + h * g) / (1 + alpha * h)
    assert motion.v == pytest.approx(np.tile(v, (len(motion.v), 1)), rel=1e-7, abs=1e-9)
    assert v == pytest.approx(g / alpha, rel=1e-5)


@pytest.mark.parametrize("damping", [Damping(), Damping(alpha=3.0, beta=2e-4)])
def test_each_mode_decays_as_implicit_euler_does(damping):
    """q_(n+1) (1 + h c + h^2 w^2) = q_n (1 + h c) + h v_n with c = alpha + beta w^2."""
    system = beam_system(gravity=(0.0, 0.0, 0.0))
    body = system.body
    free = np.flatnonzero(body.unknown >= 0)
    _, blocks, _ = tangent_stiffness(body, system.pattern, body.mesh.nodes)
    K = as_sparse(system.pattern, blocks).toarray()
    M = np.kron(mass_matrix(body)[free][:, free].toarray(), np.eye(3))
    squares, modes = eigh(K, M, subset_by_index=[0, 2])
    for square, mode in zip(squares, modes.T, strict=True):
        shape = np.zeros_like(body.mesh.nodes)
        shape[free] = mode.reshape(-1, 3)
        shape *= 1e-7 * system.size / np.abs(shape).max()
        motion = Motion(body.mesh.nodes + shape, np.zeros_like(shape))
        q, v, c = 1.0, 0.0, damping.alpha + damping.beta * square
        for _ in range(5):
            motion, _ = implicit_euler(
                system, make_inertia(system), motion, H, **no_load(system), damping=damping
            )
            before = q
            q = (q * (1 + H * c) + H * v) / (1 + H * c + H * H * square)
            v = (q - before) / H
            moved = motion.x - body.mesh.nodes
            assert np.abs(moved - q * shape).max() <= LINEAR * np.abs(shape).max() * 10


def test_long_steps_tend_to_the_static_equilibrium_and_compliance():
    system = beam_system()
    state = rest(system, TIGHT)
    still = Motion(system.body.mesh.nodes.copy(), np.zeros_like(system.body.mesh.nodes))
    motion, compliance = implicit_euler(system, make_inertia(system), still, 1e3, **no_load(system))
    assert np.abs(motion.x - state.x).max() <= 1e-9 * system.size
    assert compliance == pytest.approx(state.compliance, rel=1e-6, abs=1e-9 * state.compliance.max())


def test_energy_never_grows_without_loads():
    system = beam_system(gravity=(0.0, 0.0, 0.0))
    M = mass_matrix(system.body)
    rng = np.random.default_rng(0)
    v = 0.02 * rng.standard_normal(system.body.mesh.nodes.shape) * (system.body.unknown >= 0)[:, None]
    motion, before = Motion(system.body.mesh.nodes.copy(), v), np.inf
    for _ in range(20):
        energy = elastic_energy(system.body, motion.x) + 0.5 * np.sum(motion.v * (M @ motion.v))
        assert energy <= before * (1 + EXACT)
        before = energy
        motion, _ = implicit_euler(system, make_inertia(system), motion, H, **no_load(system))


@pytest.mark.parametrize("time_step", [0.0, -1.0, np.nan, np.inf])
def test_time_step_must_be_positive(time_step):
    system = beam_system()
    motion = Motion(system.body.mesh.nodes, np.zeros_like(system.body.mesh.nodes))
    with pytest.raises(PliantError, match="time_step"):
        implicit_euler(system, make_inertia(system), motion, time_step, **no_load(system))


def test_rigid_groups_are_refused():
    with pytest.raises(PliantError, match="rigid"):
        make_inertia(beam_system(rigid_beyond=0.06))
