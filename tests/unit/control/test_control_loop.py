"""The closed loop on the toy: steady error, another plant than the model, ten laps."""

from dataclasses import replace

import numpy as np
import pytest
from toy_robot import Toy, ToyPlant, condense, limits, toy

from pliant.control import (
    ControllerState,
    FollowCode,
    FollowParameters,
    InverseParameters,
    TrackResult,
    control_step,
    initial_state,
    observe,
    track,
)
from pliant.control.paths import circle
from pliant.errors import PliantError

PERIOD = 0.02
STEADY = 1e-6  # m
GROWTH = 1.01  # ten laps
OTHER = {"stiffness": 80.0, "stiffening": 1.6e4, "friction": 0.1}  # E x 0.8, lossy cables
NOISE = 5e-5  # m an axis
THIRTY = circle((0.0, 0.0, 0.016), 0.012, 30)
FAST = InverseParameters(solver="daqp")  # the solvers are compared elsewhere


def follow(
    path: np.ndarray,
    *,
    model: Toy,
    plant: Toy,
    noise: float = 0.0,
    parameters: InverseParameters = FAST,
    options: FollowParameters | None = None,
    length_driven: bool = True,
    seed: int = 0,
    **changes: float,
) -> TrackResult:
    n_a = len(model.winch)
    simulated = ToyPlant(plant, noise=noise, seed=seed, length_driven=length_driven)
    return track(
        simulated,
        lambda s: condense(model, s.position if length_driven else s.effort, length_driven=length_driven),
        path,
        limits(model, **changes),
        parameters,
        start=simulated.step(np.zeros(n_a), PERIOD),
        length_driven=np.full(n_a, length_driven),
        period=PERIOD,
        follow=options,
    )


@pytest.mark.parametrize("length_driven", [True, False])
@pytest.mark.parametrize("solver", ["osqp", "daqp"])
def test_model_is_plant(solver: str, length_driven: bool) -> None:
    path = THIRTY[::3]
    result = follow(
        path,
        model=toy(4),
        plant=toy(4),
        parameters=InverseParameters(solver=solver),
        length_driven=length_driven,
    )
    assert result.follow.code is FollowCode.SUCCEEDED
    assert result.goal_error.mean() <= 1e-5 and result.goal_error.max() <= 5e-5
    assert result.goal_steps.max() <= 20
    assert result.kkt_residual.max() <= 1e-8


def test_thirty_goals_on_another_plant() -> None:
    """The headline: softer, lossy, noisy; the true effector against the goal."""
    for seed in range(2):
        result = follow(THIRTY, model=toy(4), plant=toy(4, **OTHER), noise=NOISE, seed=seed)
        mean, largest = result.goal_error.mean(), result.goal_error.max()
        print(
            f"\nmean {mean * 1e3:.3f} mm, max {largest * 1e3:.3f} mm, "
            f"{result.goal_steps.mean():.1f} steps a goal, at most {result.goal_steps.max()}"
        )
        assert result.follow.code is FollowCode.SUCCEEDED
        assert mean <= 1e-4 and largest <= 3e-4
        assert result.goal_steps.max() <= 20


@pytest.mark.parametrize("n_cables,n_masses", [(4, 1), (8, 1), (8, 2)])
def test_steady_error_without_noise(n_cables: int, n_masses: int) -> None:
    model = toy(n_cables, n_masses)
    plant = replace(model, stiffness=80.0, stiffening=1.6e4, friction=0.1)
    simulated, bounds = ToyPlant(plant), limits(model)
    sample = simulated.step(np.full(n_cables, 0.002), PERIOD)
    goal = model.home + np.array([0.003, 0.002, 0.008])
    state = initial_state(condense(model, sample.position))
    for _ in range(80):
        result, state = control_step(
            condense(model, sample.position),
            goal,
            bounds,
            FAST,
            state,
            period=PERIOD,
            measured=sample.measured,
        )
        sample = simulated.step(result.course, PERIOD)
    assert np.abs(sample.effector - goal).max() <= STEADY
    assert sample.effort.min() > 0.0  # taut


@pytest.mark.parametrize("n_cables", [4, 8])
def test_ten_laps_do_not_grow_error_or_tension(n_cables: int) -> None:
    model, n = toy(n_cables), 12
    path = np.vstack([circle((0.0, 0.0, 0.012), 0.008, n)] * 10)
    result = follow(path, model=model, plant=model, options=FollowParameters(tolerance=1e-6, settle=0.0))
    last_of_goal = np.flatnonzero(np.diff(result.index, append=result.index[-1] + 1))
    null_tension = np.array(
        [
            np.linalg.norm(np.linalg.svd(condense(model, course).w_ea)[2][3:] @ effort)
            for course, effort in zip(result.course[last_of_goal], result.effort[last_of_goal], strict=True)
        ]
    ).reshape(10, n)
    error = result.goal_error.reshape(10, n)
    print(f"\nnull-space tension, largest of a lap [N]: {np.round(null_tension.max(1), 6)}")
    assert null_tension[-1].max() <= GROWTH * null_tension[1].max()
    assert null_tension[-1].mean() <= GROWTH * null_tension[1].mean()
    assert error[-1].max() <= max(GROWTH * error[1].max(), STEADY)


def test_unreachable_goal_is_reported_and_the_path_goes_on() -> None:
    model = toy(4)
    path = np.array([[0.0, 0.0, 0.01], [0.05, 0.0, 0.01], [0.0, 0.0, 0.01]])
    result = follow(path, model=model, plant=model)
    assert result.follow.code is FollowCode.UNREACHABLE
    assert result.goal_error[0] <= STEADY * 100 and result.goal_error[2] <= STEADY * 100
    assert "1 of them out of reach" in result.follow.message


def test_feedback_averages_noise_at_rest_and_follows_motion() -> None:
    model = condense(toy(4), np.full(4, 0.002))
    rng, truth = np.random.default_rng(0), np.array([[1e-3, -2e-3, 5e-4]])
    parameters = InverseParameters(sensor_noise=NOISE, feedback_gain_min=0.05)
    state, errors = initial_state(model), []
    for _ in range(400):
        measured = model.x_e + truth + NOISE * rng.normal(size=(1, 3))
        state = observe(state, model, measured, parameters)
        errors.append(state.offset - truth)
    spread = np.std(errors[100:])
    assert spread == pytest.approx(NOISE * np.sqrt(0.05 / 1.95), rel=0.2)  # of a first-order filter
    moved = replace(model, x_e=model.x_e + 0.01)
    state = observe(state, moved, moved.x_e + 2 * truth, parameters)
    assert np.abs(state.offset - 2 * truth).max() < 0.02 * np.abs(truth).max()


def test_first_measurement_is_believed() -> None:
    model = condense(toy(4), np.full(4, 0.002))
    state = observe(initial_state(model), model, model.x_e + 0.001, InverseParameters())
    np.testing.assert_allclose(state.offset, 0.001)
    exact = observe(state, model, model.x_e - 0.001, InverseParameters(sensor_noise=0.0))
    np.testing.assert_allclose(exact.offset, -0.001)


def test_feedback_refuses_what_is_not_a_position() -> None:
    model = condense(toy(4), np.zeros(4))
    state = initial_state(model)
    assert isinstance(state, ControllerState)
    for measured in (np.full((1, 3), np.nan), np.zeros(3), np.zeros((2, 3))):
        with pytest.raises(PliantError, match="measured effector"):
            observe(state, model, measured, InverseParameters())


def test_a_run_replays_bit_for_bit() -> None:
    runs = [
        follow(THIRTY[:4], model=toy(4), plant=toy(4, **OTHER), noise=NOISE, parameters=InverseParameters())
        for _ in range(2)
    ]
    assert runs[0].course.tobytes() == runs[1].course.tobytes()
    assert runs[0].effort.tobytes() == runs[1].effort.tobytes()
