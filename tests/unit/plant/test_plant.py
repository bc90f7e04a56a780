"""The plant obeys limits and rates, and differs from the model where its file says so."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from block import block_robot, write_robot

from pliant.errors import NotConvergedError, PliantError
from pliant.plant import Plant, PlantParameters, read_plant
from pliant.resources import share_path
from pliant.robot import Robot, load_robot

PERIOD = 0.01
SOLVED_N = 1e-6  # residual tension of an equilibrium of about 1 N


@pytest.fixture
def robot(block_file: Path) -> Robot:
    return load_robot(block_file)


def test_a_step_is_bounded_by_the_rate(robot: Robot) -> None:
    plant = Plant(robot, PlantParameters())
    start = plant.sample.position
    sample = plant.step(np.array([0.01, 0.0]), PERIOD)
    assert sample.position[0] == pytest.approx(start[0] + 0.1 * PERIOD)
    assert sample.time == pytest.approx(PERIOD)


def test_a_command_is_bounded_by_the_limits(robot: Robot) -> None:
    sample = Plant(robot, PlantParameters()).step(np.array([0.02, -0.01]), 1.0)
    assert sample.position == pytest.approx([0.01, 0.0])
    assert sample.saturated.tolist() == [True, True]


def test_a_taut_cable_has_the_commanded_course(robot: Robot) -> None:
    sample = Plant(robot, PlantParameters()).step(np.array([0.004, 0.0]), 1.0)
    taut = ~sample.slack
    assert taut[0]
    assert sample.state.course[taut] == pytest.approx(sample.position[taut], abs=1e-8)


def test_a_slack_cable_reads_its_encoder_and_has_no_tension(tmp_path: Path) -> None:
    content = block_robot()
    for actuator in content["actuators"]:
        actuator["course_m"] = [-0.01, 0.01]
    plant = Plant(load_robot(write_robot(tmp_path, content)), PlantParameters())
    sample = plant.step(np.array([0.003, -0.01]), 1.0)
    assert sample.slack.tolist() == [False, True]
    assert sample.effort[1] == 0.0
    assert sample.position[1] == -0.01
    assert sample.state.course[1] > sample.position[1]


def test_a_winch_stalls_at_its_greatest_tension(tmp_path: Path) -> None:
    content = block_robot()
    content["actuators"][0]["effort_n"] = [0.0, 0.5]
    sample = Plant(load_robot(write_robot(tmp_path, content)), PlantParameters()).step(
        np.array([0.01, 0.0]), 1.0
    )
    assert sample.effort[0] == pytest.approx(0.5, abs=SOLVED_N)
    assert sample.position[0] < 0.01
    assert sample.position[0] == pytest.approx(sample.state.course[0])
    assert sample.saturated.tolist() == [True, False]


def test_a_tension_driven_cable_has_the_commanded_tension(tmp_path: Path) -> None:
    content = block_robot()
    for actuator in content["actuators"]:
        actuator["command"] = "tension"
    plant = Plant(load_robot(write_robot(tmp_path, content)), PlantParameters())
    assert plant.step(np.array([1.0, 0.2]), PERIOD).effort == pytest.approx([0.5, 0.2])  # 50 N/s
    sample = plant.step(np.array([1.0, 0.2]), PERIOD)
    assert sample.effort == pytest.approx([1.0, 0.2])
    assert sample.position == pytest.approx(sample.state.course)


def test_a_tension_driven_cable_stops_at_its_longest_course(tmp_path: Path) -> None:
    content = block_robot()
    content["actuators"][0] |= {"command": "tension", "course_m": [0.0, 0.002]}
    sample = Plant(load_robot(write_robot(tmp_path, content)), PlantParameters()).step(
        np.array([2.5, 0.0]), 1.0
    )
    assert sample.state.course[0] == pytest.approx(0.002, abs=1e-8)
    assert sample.saturated[0]


def test_a_load_on_the_effector_moves_it(robot: Robot) -> None:
    plant = Plant(robot, PlantParameters())
    free = plant.sample.effector
    force = np.array([[0.05, 0.0, 0.0]])
    loaded = plant.step(np.zeros(2), PERIOD, force).effector
    assert loaded[0, 0] > free[0, 0]
    assert plant.step(np.zeros(2), PERIOD).effector == pytest.approx(loaded)  # the load stays


def test_a_softer_plant_is_softer(robot: Robot) -> None:
    command = np.array([0.004, 0.0])
    stiff = Plant(robot, PlantParameters()).step(command, 1.0)
    soft = Plant(robot, PlantParameters(young_scale=0.5)).step(command, 1.0)
    assert soft.effort[0] < 0.7 * stiff.effort[0]


def test_friction_takes_tension_along_the_cable_and_keeps_a_memory(robot: Robot) -> None:
    command = np.array([0.008, 0.0])
    free = Plant(robot, PlantParameters()).step(command, 1.0)
    plant = Plant(robot, PlantParameters(cable_friction=0.5))
    pulled = plant.step(command, 1.0)
    assert pulled.effort[0] > free.effort[0]  # the winch pulls the friction as well
    plant.step(np.array([0.01, 0.0]), 1.0)
    released = plant.step(command, 1.0)
    assert released.effort[0] < free.effort[0]  # and is helped by it on the way back
    assert np.linalg.norm(released.effector - pulled.effector) > 1e-6


def test_resolution_where_the_robot_has_it(robot: Robot) -> None:
    assert Plant(robot, PlantParameters(resolution="fine")).robot.resolution == "fine"
    assert Plant(robot, PlantParameters(resolution="finest")).robot.resolution == "coarse"


def test_noise_is_seeded_and_has_the_stated_size(robot: Robot) -> None:
    parameters = PlantParameters(effector_noise_m=1e-4, seed=3)

    def errors(parameters: PlantParameters) -> np.ndarray:
        plant = Plant(robot, parameters)
        samples = [plant.step(np.zeros(2), PERIOD) for _ in range(300)]
        return np.array([sample.measured - sample.effector for sample in samples])

    first = errors(parameters)
    assert np.array_equal(first, errors(parameters))
    assert not np.array_equal(first, errors(replace(parameters, seed=4)))
    assert first.std() == pytest.approx(1e-4, rel=0.1)  # 900 draws: 2.4 % standard error
    assert abs(first.mean()) < 1e-5


def test_the_measurement_is_late_by_the_delay(robot: Robot) -> None:
    plant = Plant(robot, PlantParameters(delay_s=2.5 * PERIOD))
    true = [plant.sample.effector]
    for step in range(1, 8):
        sample = plant.step(np.array([0.001 * step, 0.0]), PERIOD)
        true.append(sample.effector)
        assert np.array_equal(sample.measured, true[max(step - 3, 0)])


def test_a_failed_equilibrium_holds_the_last_one_and_says_so(
    robot: Robot, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant = Plant(robot, PlantParameters())
    before = plant.step(np.array([0.001, 0.0]), PERIOD)

    def fail(*_: object, **__: object) -> None:
        raise NotConvergedError("no equilibrium today", before.state)

    with monkeypatch.context() as patch:
        patch.setattr("pliant.plant.solve_equilibrium", fail)
        held = plant.step(np.array([0.002, 0.0]), PERIOD)
    assert held.fault == "no equilibrium today"
    assert held.state is before.state
    assert np.array_equal(held.position, before.position)
    after = plant.step(np.array([0.002, 0.0]), PERIOD)
    assert after.fault is None
    assert after.position[0] > held.position[0]


@pytest.mark.parametrize(
    ("command", "dt", "force"),
    [
        ([0.0], PERIOD, None),
        ([np.nan, 0.0], PERIOD, None),
        ([np.inf, 0.0], PERIOD, None),
        ([0.0, 0.0], 0.0, None),
        ([0.0, 0.0], -1.0, None),
        ([0.0, 0.0], np.nan, None),
        ([0.0, 0.0], PERIOD, [0.0, 0.0, 0.0]),
        ([0.0, 0.0], PERIOD, [[0.0, np.nan, 0.0]]),
    ],
)
def test_bad_input_is_refused_and_changes_nothing(
    robot: Robot, command: list[float], dt: float, force: list[float] | None
) -> None:
    plant = Plant(robot, PlantParameters())
    before = plant.sample
    with pytest.raises(PliantError, match="plant 'block'"):
        plant.step(np.array(command), dt, None if force is None else np.array(force))
    assert plant.sample is before


def test_release_returns_to_rest(robot: Robot) -> None:
    plant = Plant(robot, PlantParameters())
    rest = plant.sample.effector
    plant.step(np.array([0.005, 0.0]), 1.0, np.array([[0.1, 0.0, 0.0]]))
    assert plant.release().effector == pytest.approx(rest, abs=1e-9)


def test_every_shipped_plant_file_is_one() -> None:
    files = sorted(share_path("config", "plants").glob("*.yaml"))
    assert {"other", "same"} <= {file.stem for file in files}
    for file in files:
        assert read_plant(file.stem) == read_plant(file)
    assert read_plant("same") == PlantParameters()
    other = read_plant("other")
    assert (other.young_scale, other.cable_friction, other.effector_noise_m) == (0.8, 0.2, 5e-5)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("young: 1.0\n", "young"),
        ("young_scale: soft\n", "young_scale"),
        ("young_scale: -1.0\n", "young_scale"),
        ("young_scale: .nan\n", "young_scale"),
        ("seed: 1.5\n", "seed"),
        ("delay_s: [1]\n", "delay_s"),
        ("- 1\n", "mapping"),
    ],
)
def test_broken_plant_files(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "plant.yaml"
    file.write_text(text)
    with pytest.raises(PliantError, match=said) as caught:
        read_plant(file)
    assert str(file) in str(caught.value)


def test_an_unknown_plant_gets_the_known_ones() -> None:
    with pytest.raises(PliantError, match="did you mean 'other'"):
        read_plant("others")


def test_a_hopeless_load_is_tried_once_and_another_is_taken(robot: Robot) -> None:
    plant = Plant(robot, PlantParameters())
    held = plant.sample.position
    assert plant.step(held, 0.01, np.array([[1e9, 0.0, 0.0]])).fault
    steps = plant.sample.state
    refused = plant.step(held, 0.01, np.array([[1e9, 0.0, 0.0]]))
    assert "last one stays" in refused.fault
    np.testing.assert_allclose(refused.effector, steps.effector, atol=1e-9)
    assert plant.step(held, 0.01, np.zeros((1, 3))).fault is None


def test_cables_that_cannot_be_told_apart_are_named(tmp_path: Path) -> None:
    content = block_robot()
    content["actuators"][1] = {**content["actuators"][0], "name": "twin"}
    robot = load_robot(write_robot(tmp_path, content))
    with pytest.raises(NotConvergedError, match="singular"):
        Plant(robot, PlantParameters()).step(np.full(2, 1e-3), 1.0)
