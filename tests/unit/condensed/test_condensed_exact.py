"""The condensed model of a finite-element system against whole equilibria."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from fem_meshes import beam_system

from pliant.condensed import CondensedModel, Source, condense
from pliant.errors import PliantError
from pliant.fem import Material, NewtonOptions, rest, solve_equilibrium

EXACT = 1e-13
"""delta_free + W lambda = delta by construction; only rounding is left [m]."""
JACOBIAN = 1e-5
"""Central differences of equilibria at 10 um of cable leave about 1e-7."""
SECOND_ORDER = 5.0
"""Halving the change of effort divides the error of the prediction by four; five leaves room."""
TIGHT = NewtonOptions(tolerance=1e-11, residual_tolerance=1e-9)
COMMAND = np.array([5e-3, 0.0, 3e-3, 0.0])
FORCE = np.array([[0.01, -0.02, 0.03]])


@pytest.fixture(scope="module")
def system():
    return beam_system(cables=4)


@pytest.fixture(scope="module")
def state(system):
    return equilibrium(system, rest(system), COMMAND, FORCE)


@pytest.fixture(scope="module")
def model(system, state):
    return condense(system, state, robot="beam", robot_hash="abc", effectors=("tip",), stamp=2.5)


def equilibrium(system, start, command, force=None, *, by_length=True):
    return solve_equilibrium(
        system,
        start,
        command=command,
        length_driven=np.full(system.n_a, by_length),
        effector_force=force,
        options=TIGHT,
    )


def test_model_says_where_it_comes_from(model, state):
    assert (model.robot, model.robot_hash, model.stamp, model.time_step) == ("beam", "abc", 2.5, 0.0)
    assert model.source is Source.FEM
    assert model.effectors == ("tip",)
    assert model.actuators == ("cable0", "cable1", "cable2", "cable3")
    assert model.converged
    assert model.extrapolation == 0.0
    assert model.residual == state.residual


def test_prediction_is_exact_at_the_linearisation_point(model, state):
    x_e, delta_a = model.predict(state.effort)
    assert np.abs(x_e - state.effector).max() <= EXACT
    assert np.abs(delta_a - state.course).max() <= EXACT
    x_e, delta_a = model.predict(state.effort, FORCE)
    assert np.abs(x_e - state.effector).max() <= EXACT
    assert np.abs(delta_a - state.course).max() <= EXACT


def test_free_state_is_the_prediction_without_load(model):
    x_e, delta_a = model.predict(np.zeros(4), np.zeros((1, 3)))
    assert np.array_equal(x_e, model.x_e_free)
    assert np.array_equal(delta_a, model.delta_a_free)


def test_free_state_is_not_the_true_rest(model, system):
    """It is the extrapolation of one tangent; the true unloaded state differs in this nonlinear robot."""
    assert np.abs(model.x_e_free - rest(system, TIGHT).effector).max() > 1e-4


def test_prediction_of_a_step_is_second_order(model, state, system):
    errors = []
    for scale in (1.0, 0.5):
        effort = state.effort * (1 + 0.02 * scale) + 0.01 * scale
        force = FORCE + 0.01 * scale
        true = equilibrium(system, state, effort, force, by_length=False)
        x_e, delta_a = model.predict(effort, force)
        errors.append(max(np.abs(x_e - true.effector).max(), np.abs(delta_a - true.course).max()))
    assert 1e-9 < errors[1] < errors[0] / 4.0 * (SECOND_ORDER / 4.0)


def test_jacobian_is_the_motion_under_a_change_of_length(system):
    """All cables taut, so that W_aa^-1 is the stiffness that the cables feel."""
    taut = equilibrium(system, rest(system), np.array([3e-3, 3e-3, 2e-3, 2e-3]))
    assert (taut.effort > 0).all()
    J = condense(system, taut, robot="beam", robot_hash="", effectors=("tip",)).jacobian()
    h = 1e-5
    for a in range(4):
        ahead, behind = (equilibrium(system, taut, taut.course + s * h * np.eye(4)[a]) for s in (1, -1))
        difference = (ahead.effector - behind.effector).ravel() / (2 * h)
        assert np.abs(difference - J[:, a]).max() <= JACOBIAN * np.abs(J).max()


def test_compliance_is_symmetric_and_positive_definite(model):
    assert np.abs(model.w - model.w.T).max() <= 1e-12 * np.abs(model.w).max()
    assert np.linalg.eigvalsh(model.w)[0] > 0
    assert np.array_equal(model.w_ea, model.w[:3, 3:])
    assert np.array_equal(model.w_ee, model.w[:3, :3])
    assert np.array_equal(model.w_aa, model.w[3:, 3:])


def test_stiffness_doubles_compliance_halves():
    """Without gravity at rest, W is exactly inverse to Young's modulus."""
    soft, stiff = (
        beam_system(gravity=(0, 0, 0), material=Material("neo_hookean", E, 0.45, 1070.0)) for E in (2e5, 4e5)
    )
    assert rest(soft, TIGHT).compliance == pytest.approx(
        2.0 * rest(stiff, TIGHT).compliance, rel=1e-9, abs=1e-15
    )


def test_friction_is_refused(system, state):
    sliding = replace(system, actuators=tuple(replace(a, drag=0.2) for a in system.actuators))
    with pytest.raises(PliantError, match="friction"):
        condense(sliding, state, robot="beam", robot_hash="", effectors=("tip",))


@pytest.mark.parametrize("name", ["w", "x_e", "x_e_free", "delta_a", "delta_a_free", "lambda_a", "lambda_e"])
def test_wrong_shape_and_numbers_that_are_none_are_named(model, name):
    value = getattr(model, name)
    with pytest.raises(PliantError, match=f"{name} has shape"):
        replace(model, **{name: np.append(value, value)})
    for bad in (np.nan, np.inf):
        broken = value.copy()
        broken.flat[-1] = bad
        with pytest.raises(PliantError, match=f"{name} is not finite"):
            replace(model, **{name: broken})


def test_names_must_fit_the_arrays(model, system, state):
    with pytest.raises(PliantError, match="2 effectors"):
        condense(system, state, robot="beam", robot_hash="", effectors=("tip", "middle"))
    with pytest.raises(PliantError, match="1 actuators"):
        replace(model, actuators=("cable0",))


def test_singular_actuator_compliance_is_named(model):
    w = model.w.copy()
    w[3:] = w[:, 3:] = 0.0
    with pytest.raises(PliantError, match="singular"):
        replace(model, w=w).jacobian()


def test_model_holds_nothing_but_its_fields(model):
    """The ROS message carries the same ones; a new field must reach it."""
    assert {field.name for field in fields(CondensedModel)} == set(vars(model))
