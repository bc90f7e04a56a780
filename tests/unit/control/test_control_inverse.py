"""Laws of one inverse step: limits, invariances, and results with a name."""

from dataclasses import replace

import numpy as np
import pytest
from random_models import EFFORT_RANGE, random_limits, random_model
from toy_robot import condense, equilibrium, limits, toy

from pliant.control import InverseParameters, Status, inverse_step
from pliant.errors import PliantError

PERIOD = 0.02
SAME = 1e-9  # what two ways to the same answer may differ by, of the range
SOLVERS = ("osqp", "daqp")


def test_toy_jacobian_is_that_of_its_equilibria() -> None:
    """The tests' own robot: J = W_ea W_aa^-1 against central differences."""
    robot, course, h = toy(8, 2), np.full(8, 0.004), 1e-6
    columns = [
        (equilibrium(robot, course + h * e)[0] - equilibrium(robot, course - h * e)[0]) / (2 * h)
        for e in np.eye(8)
    ]
    np.testing.assert_allclose(condense(robot, course).jacobian(), np.array(columns).T, atol=1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
def test_limits_rates_and_trust_region_are_never_violated(solver: str) -> None:
    rng = np.random.default_rng(3)
    parameters = InverseParameters(solver=solver, pretension=0.05, step_fraction=0.05)
    for _ in range(200):
        n_a, n_e = int(rng.choice([2, 4, 8])), int(rng.choice([1, 2]))
        model, bounds = random_model(rng, n_a, n_e), random_limits(n_a, effort_rate=30.0)
        goal = model.x_e + rng.normal(size=(n_e, 3)) * 10.0 ** rng.uniform(-5, 0)
        result = inverse_step(model, goal, bounds, parameters, period=PERIOD)
        assert result.status in (Status.CONVERGED, Status.APPROACHING, Status.UNREACHABLE)
        assert (result.effort >= 0.05).all() and (result.effort <= EFFORT_RANGE).all()
        assert (result.course >= 0.0).all() and (result.course <= 0.03).all()
        assert (np.abs(result.effort - model.lambda_a) <= 30.0 * PERIOD * (1 + SAME)).all()
        step = min(0.2 * PERIOD, 0.05 * 0.03)
        assert (np.abs(result.course - model.delta_a) <= step * (1 + SAME)).all()
        motion = model.delta_a + model.w_aa @ (result.effort - model.lambda_a)
        np.testing.assert_allclose(result.course, motion, atol=1e-9)


def test_solvers_agree_on_whole_steps() -> None:
    rng = np.random.default_rng(4)
    for _ in range(200):
        n_a = int(rng.choice([2, 4, 8]))
        model = random_model(rng, n_a)
        goal = model.x_e + rng.normal(size=(1, 3)) * 10.0 ** rng.uniform(-5, -1)
        a, b = (
            inverse_step(model, goal, random_limits(n_a), InverseParameters(solver=s), period=PERIOD)
            for s in SOLVERS
        )
        assert a.status == b.status
        np.testing.assert_allclose(a.effort, b.effort, atol=1e-6 * EFFORT_RANGE)
        assert max(a.kkt_residual, b.kkt_residual) <= 1e-8


def test_units_do_not_matter() -> None:
    """Metres and newtons, millimetres and newtons, metres and millinewtons: one answer."""
    rng = np.random.default_rng(5)
    for length, force in ((1e3, 1.0), (1.0, 1e3)):
        for _ in range(30):
            model, bounds = random_model(rng, 4), random_limits(4)
            goal = model.x_e + rng.normal(size=(1, 3)) * 0.002
            other_model = replace(
                model,
                w=model.w * length / force,
                x_e=model.x_e * length,
                x_e_free=model.x_e_free * length,
                delta_a=model.delta_a * length,
                delta_a_free=model.delta_a_free * length,
                lambda_a=model.lambda_a * force,
            )
            other_limits = random_limits(
                4,
                effort_max=EFFORT_RANGE * force,
                effort_rate=100.0 * force,
                course_max=0.03 * length,
                course_rate=0.2 * length,
            )
            ours = InverseParameters(pretension=0.05, reach_tolerance=1e-4)
            theirs = replace(ours, pretension=0.05 * force, reach_tolerance=1e-4 * length)
            a = inverse_step(model, goal, bounds, ours, period=PERIOD)
            b = inverse_step(other_model, goal * length, other_limits, theirs, period=PERIOD)
            assert a.status == b.status
            np.testing.assert_allclose(b.effort / force, a.effort, atol=SAME * EFFORT_RANGE)
            np.testing.assert_allclose(b.course / length, a.course, atol=SAME * 0.03)


def test_turning_the_base_and_renaming_cables_change_nothing() -> None:
    rng = np.random.default_rng(6)
    turn, order = np.linalg.qr(rng.normal(size=(3, 3)))[0], np.array([2, 0, 3, 1])
    change = np.zeros((7, 7))
    change[:3, :3], change[3:, 3:] = turn, np.eye(4)[order]
    for _ in range(30):
        model = random_model(rng, 4)
        goal = model.x_e + rng.normal(size=(1, 3)) * 0.002
        turned = replace(
            model,
            w=change @ model.w @ change.T,
            x_e=model.x_e @ turn.T,
            delta_a=model.delta_a[order],
            lambda_a=model.lambda_a[order],
        )
        a = inverse_step(model, goal, random_limits(4), InverseParameters(), period=PERIOD)
        b = inverse_step(turned, goal @ turn.T, random_limits(4), InverseParameters(), period=PERIOD)
        np.testing.assert_allclose(b.effort, a.effort[order], atol=SAME * EFFORT_RANGE)


def test_centring_does_not_move_the_effectors() -> None:
    rng = np.random.default_rng(7)
    moved = 0.0
    for _ in range(100):
        model = random_model(rng, 8)
        goal = model.x_e + rng.normal(size=(1, 3)) * 0.003
        with_, without = (
            inverse_step(model, goal, random_limits(8), InverseParameters(centring_gain=gain), period=PERIOD)
            for gain in (0.5, 0.0)
        )
        np.testing.assert_allclose(with_.effector, without.effector, atol=1e-10)
        assert np.linalg.norm(with_.effort) <= np.linalg.norm(without.effort) * (1 + SAME)
        moved = max(moved, float(np.abs(with_.effort - without.effort).max()))
    assert moved > 0.1  # it does something


def test_superfluous_tension_goes_away_at_a_goal_already_met() -> None:
    """Tension added along the null space of W_ea is taken back, and nothing else happens."""
    rng = np.random.default_rng(8)
    model = replace(random_model(rng, 4), lambda_a=np.full(4, 5.0), delta_a=np.full(4, 0.015))
    wide = random_limits(4, course_min=-1.0, course_max=1.0, effort_rate=1e4, course_rate=1e2)
    parameters = InverseParameters(centring_gain=1.0, step_fraction=1.0, pretension=0.0)
    goal = model.x_e
    null = np.linalg.svd(model.w_ea)[2][3]
    settled = inverse_step(model, goal, wide, parameters, period=PERIOD).effort
    for extra in (-2.0, -0.5, 0.7, 2.0):
        tense = replace(model, lambda_a=model.lambda_a + extra * null)
        result = inverse_step(tense, goal, wide, parameters, period=PERIOD)
        np.testing.assert_allclose(result.effort, settled, atol=1e-7)
        np.testing.assert_allclose(result.effector, goal, atol=1e-10)
    assert abs(null @ settled) <= 1e-7 or np.isclose(settled.min(), 0.0, atol=1e-7)


def go_to(robot, goal, parameters, bounds, *, n_steps=60, length_driven=True):
    """Take steps on the toy itself until nothing changes."""
    command = np.zeros(len(robot.winch))
    for _ in range(n_steps):
        model = condense(robot, command, length_driven=length_driven)
        result = inverse_step(model, goal, bounds, parameters, period=PERIOD)
        command = result.course if length_driven else result.effort
    return result, model


@pytest.mark.parametrize("length_driven", [True, False])
def test_out_of_reach_goes_to_the_nearest_reachable_point(length_driven: bool) -> None:
    robot = toy(4)
    bounds = limits(robot, effort_max=1.5)
    parameters = InverseParameters(pretension=0.0)
    goal = np.array([[0.03, 0.005, 0.02]])
    result, model = go_to(robot, goal, parameters, bounds, length_driven=length_driven)
    assert result.status is Status.UNREACHABLE
    assert not result.reachable
    assert result.error_m > parameters.reach_tolerance
    distance = np.linalg.norm(model.x_e - goal)
    rng = np.random.default_rng(9)
    for _ in range(150):  # no effort within limits, far or near, gets closer
        near = model.lambda_a + rng.normal(size=4) * 10.0 ** rng.uniform(-3, 0)
        effort = np.clip(near, 0.0, 1.5)
        x, _, _ = equilibrium(robot, effort, length_driven=False)
        assert np.linalg.norm(x - goal) >= distance - 1e-7


def test_goal_off_the_surface_of_two_cables_is_unreachable() -> None:
    """No limit is active; two cables just do not span three directions."""
    robot = toy(2)
    result, model = go_to(robot, np.array([[0.004, 0.006, 0.006]]), InverseParameters(), limits(robot))
    assert result.status is Status.UNREACHABLE
    assert model.x_e[0, 0] == pytest.approx(0.004, abs=2e-3)
    assert result.error_m == pytest.approx(0.006, abs=1e-3)  # the part out of the plane


def test_far_goal_is_approached_before_it_is_judged() -> None:
    robot = toy(4)
    model = condense(robot, np.zeros(4))
    result = inverse_step(
        model, np.array([[0.0, 0.0, 0.02]]), limits(robot), InverseParameters(), period=PERIOD
    )
    assert result.status is Status.APPROACHING and result.reachable


@pytest.mark.parametrize("solver", SOLVERS)
def test_conflicting_limits_are_a_result_that_violates_least(solver: str) -> None:
    rng = np.random.default_rng(10)
    model = replace(
        random_model(rng, 4), lambda_a=np.full(4, 10.0), delta_a=np.full(4, 0.0)
    )  # effort must fall, course may not
    bounds = random_limits(4, effort_max=5.0, effort_rate=1e4, course_rate=1e2)
    parameters = InverseParameters(solver=solver, step_fraction=1.0)
    result = inverse_step(model, model.x_e, bounds, parameters, period=PERIOD)
    assert result.status is Status.INFEASIBLE and not result.reachable
    assert np.isfinite(result.effort).all() and np.isfinite(result.course).all()
    assert result.effort.max() < 10.0  # towards the limit of the effort
    assert result.course.min() > -0.03  # within the trust region


def test_outside_its_limits_an_actuator_returns_at_full_step() -> None:
    rng = np.random.default_rng(11)
    model = replace(random_model(rng, 2), delta_a=np.array([0.05, 0.01]), lambda_a=np.array([6.0, 6.0]))
    bounds = random_limits(2, effort_rate=1e4, course_rate=1e2)
    result = inverse_step(model, model.x_e, bounds, InverseParameters(), period=PERIOD)
    assert result.status is not Status.INFEASIBLE
    assert result.course[0] == pytest.approx(0.05 - 0.1 * 0.03)


def test_singular_compliance_is_a_result() -> None:
    rng = np.random.default_rng(12)
    model = random_model(rng, 4)
    twin = model.w.copy()
    twin[:, 4], twin[4, :] = twin[:, 3], twin[3, :]
    twin[4, 4] = twin[3, 3]  # two cables in one place
    no_motion = model.w.copy()
    no_motion[:3, 3:] = no_motion[3:, :3] = 0.0
    for w in (twin, no_motion, np.zeros_like(model.w), -model.w):
        result = inverse_step(
            replace(model, w=w), model.x_e + 0.001, random_limits(4), InverseParameters(), period=PERIOD
        )
        assert result.status is Status.SINGULAR and not result.reachable
        np.testing.assert_array_equal(result.course, model.delta_a)
        np.testing.assert_array_equal(result.effort, model.lambda_a)


def test_weights_choose_among_effectors() -> None:
    robot = toy(8, 2)
    bounds, parameters = limits(robot), InverseParameters()
    command = np.full(8, 0.002)
    model = condense(robot, command)
    goal = model.x_e + np.array([[0.001, 0.0, 0.0005], [0.0, 0.001, 0.0]])
    both = inverse_step(model, goal, bounds, parameters, period=PERIOD)
    assert both.status is Status.CONVERGED
    np.testing.assert_allclose(both.effector, goal, atol=parameters.reach_tolerance)
    one = inverse_step(
        model,
        np.array([goal[0], [np.nan] * 3]),
        bounds,
        parameters,
        period=PERIOD,
        weight=np.array([1.0, 0.0]),
    )
    assert one.status is Status.CONVERGED
    np.testing.assert_allclose(one.effector[0], goal[0], atol=parameters.reach_tolerance)
    assert one.error_m <= parameters.reach_tolerance


def test_same_input_same_bits() -> None:
    rng = np.random.default_rng(13)
    model, bounds = random_model(rng, 8), random_limits(8)
    goal = model.x_e + 0.002
    a = inverse_step(model, goal, bounds, InverseParameters(), period=PERIOD)
    inverse_step(random_model(rng, 8), goal, bounds, InverseParameters(), period=PERIOD)
    b = inverse_step(model, goal, bounds, InverseParameters(), period=PERIOD)
    assert a.effort.tobytes() == b.effort.tobytes()
    assert a.course.tobytes() == b.course.tobytes()


@pytest.mark.parametrize(
    "changes",
    [
        {"goal": np.full((1, 3), np.nan)},
        {"goal": np.zeros(3)},
        {"effector": np.full((1, 3), np.inf)},
        {"effector": np.zeros((2, 3))},
        {"weight": np.array([-1.0])},
        {"limits": random_limits(3)},
        {"period": 0.0},
        {"period": np.nan},
    ],
)
def test_bad_input_is_refused(changes: dict) -> None:
    model = random_model(np.random.default_rng(14), 4)
    arguments = {"goal": model.x_e, "limits": random_limits(4), "period": PERIOD} | changes
    goal, bounds = arguments.pop("goal"), arguments.pop("limits")
    with pytest.raises(PliantError):
        inverse_step(model, goal, bounds, InverseParameters(), **arguments)
