"""The laws of an equilibrium: balance, slack, uniqueness of the way there, and failures by name."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from fem_meshes import E, beam_system, box_mesh

from pliant.errors import (
    EquilibriumError,
    InvertedElementError,
    LimitPointError,
    NotConvergedError,
    PliantError,
)
from pliant.fem import (
    ELEMENTS,
    LAWS,
    Material,
    NewtonOptions,
    State,
    make_body,
    make_cable,
    make_system,
    rest,
    solve_equilibrium,
    undeformed,
)
from pliant.fem.assembly import elastic_energy, internal_force
from pliant.fem.dynamics import Motion, implicit_euler, make_inertia
from pliant.geometry.hexes import divided, split, swept_block
from pliant.geometry.mesh import embed

TIGHT = NewtonOptions(tolerance=1e-11, residual_tolerance=1e-9)
BALANCE = 1e-9
"""Unbalanced force over the weight, of an equilibrium solved to rounding."""
SAME = 1e-9
"""Difference of two ways to one equilibrium, over the beam's length."""
SLACK_LENGTH_M = 1e-10
FOUR = 4


def driven(system, by_length=True):
    return np.full(system.n_a, by_length)


def solved(system, start, command, *, by_length=True, options=TIGHT, **more):
    return solve_equilibrium(
        system, start, command=np.asarray(command, dtype=float), length_driven=driven(system, by_length),
        options=options, **more,
    )  # fmt: skip


@pytest.fixture(scope="module")
def beam():
    return beam_system(cables=FOUR)


@pytest.fixture(scope="module")
def at_rest(beam):
    return rest(beam, TIGHT)


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("law", LAWS)
def test_forces_balance_for_every_element_and_law(element, law):
    system = beam_system(element, material=Material(law, 4e5, 0.4, 1070.0))
    force = np.array([[0.01, 0.02, 0.03]])
    state = solved(system, rest(system), [3e-3, 0.0], effector_force=force)
    external = system.weight.copy()
    for nodes, weights, f in zip(system.effectors.nodes, system.effectors.weights, force, strict=True):
        external[nodes] += weights[:, None] * f
    for actuator, effort in zip(system.actuators, state.effort, strict=True):
        external[actuator.nodes] += effort * actuator.derivatives(state.x).jacobian
    free = system.body.unknown >= 0
    unbalanced = (internal_force(system.body, state.x) - external)[free]
    assert np.abs(unbalanced).max() <= BALANCE * np.linalg.norm(system.weight)


@pytest.mark.parametrize("law", LAWS)
def test_equilibrium_is_a_minimum_of_the_total_energy(law):
    system = beam_system(material=Material(law, 4e5, 0.4, 1070.0))
    state = solved(system, rest(system), [0.3, 0.1], by_length=False)
    rng = np.random.default_rng(0)
    free = (system.body.unknown >= 0)[:, None]

    def potential(x):
        return elastic_energy(system.body, x) - np.sum(system.weight * x) - state.effort @ system.course(x)

    for size in (1e-4, 1e-3):
        for _ in range(10):
            d = rng.standard_normal(state.x.shape) * free
            assert potential(state.x + size * d / np.linalg.norm(d)) > potential(state.x)


@pytest.mark.parametrize(
    "command_mm", [[5, 0, 0, 0], [5, -2, 0, 0], [2, 2, 1, 1], [0, 0, 8, 3], [-1, -1, -1, -1]]
)
def test_cables_are_taut_at_their_length_or_slack(beam, at_rest, command_mm):
    """0 <= lambda, s >= s_c, lambda (s - s_c) = 0."""
    command = 1e-3 * np.array(command_mm)
    state = solved(beam, at_rest, command)
    gap = state.course - command
    assert (state.effort >= 0).all()
    assert (gap >= -SLACK_LENGTH_M).all()
    assert (np.abs(gap[state.effort > 0]) <= SLACK_LENGTH_M).all()


def test_all_cables_slack_is_rest(beam, at_rest):
    state = solved(beam, at_rest, np.full(FOUR, -5e-3))
    assert (state.effort == 0).all()
    assert np.abs(state.x - at_rest.x).max() <= SAME * beam.size


def test_length_driven_and_force_driven_agree(beam, at_rest):
    by_length = solved(beam, at_rest, [5e-3, -1e-3, 3e-3, 0])
    by_force = solved(beam, at_rest, by_length.effort, by_length=False)
    assert np.abs(by_length.x - by_force.x).max() <= SAME * beam.size
    assert np.abs(by_length.compliance - by_force.compliance).max() <= 1e-7 * by_length.compliance.max()


def test_cables_driven_by_length_and_by_force_mix(beam, at_rest):
    by_length = solved(beam, at_rest, [5e-3, -1e-3, 3e-3, 0])
    mixed = solve_equilibrium(
        beam,
        at_rest,
        command=np.where([True, False, True, False], by_length.course, by_length.effort),
        length_driven=np.array([True, False, True, False]),
        options=TIGHT,
    )
    assert np.abs(by_length.x - mixed.x).max() <= SAME * beam.size


def test_equilibrium_does_not_depend_on_the_way(beam, at_rest):
    target = [6e-3, 0, 4e-3, 0]
    direct = solved(beam, at_rest, target)
    detour = solved(beam, solved(beam, at_rest, [0, 6e-3, 0, 5e-3]), target)
    assert np.abs(direct.x - detour.x).max() <= SAME * beam.size
    assert detour.effort == pytest.approx(direct.effort, rel=1e-8, abs=1e-9)


def test_default_tolerance_is_as_exact_as_it_says(beam, at_rest):
    """Positions exact to about the square of the last step allowed."""
    target = [6e-3, 0, 4e-3, 0]
    exact, default = solved(beam, at_rest, target), solved(beam, at_rest, target, options=NewtonOptions())
    assert np.abs(exact.x - default.x).max() <= 1e-8 * beam.size


def test_bilateral_actuator_pushes_where_a_cable_goes_slack(beam, at_rest):
    pushing = replace(beam, actuators=tuple(replace(a, unilateral=False) for a in beam.actuators))
    command = np.array([-2e-3, 1e-3, 0, 0])
    state = solved(pushing, at_rest, command)
    assert state.course == pytest.approx(command, abs=SLACK_LENGTH_M)
    assert state.effort[0] < 0
    assert solved(beam, at_rest, command).effort[0] == 0
    pushed = solved(pushing, at_rest, state.effort, by_length=False)
    assert np.abs(pushed.x - state.x).max() <= SAME * beam.size


def test_effector_force_is_kept_from_the_state_unless_given(beam, at_rest):
    force = np.array([[0.0, 0.05, 0.0]])
    pushed = solved(beam, at_rest, np.zeros(FOUR), by_length=False, effector_force=force)
    kept = solved(beam, pushed, np.zeros(FOUR), by_length=False)
    assert (kept.effector_force == force).all()
    assert np.abs(kept.x - pushed.x).max() <= SAME * beam.size


def test_state_and_arguments_stay_as_they_were(beam, at_rest):
    before = {key: np.copy(value) for key, value in vars(at_rest).items()}
    command = np.array([5e-3, 0, 0, 0])
    solved(beam, at_rest, command)
    assert (command == [5e-3, 0, 0, 0]).all()
    assert all(np.array_equal(before[key], value) for key, value in vars(at_rest).items())


def test_same_sequence_gives_the_same_bits():
    """A system remembers its last factor to predict with, so it is the sequence that fixes the bits."""

    def sequence():
        system = beam_system(cables=FOUR)
        state = rest(system)
        for course in ([5e-3, 0, 2e-3, 0], [6e-3, 0, 2e-3, 0], [6e-3, 1e-3, 0, 0]):
            state = solved(system, state, course, options=NewtonOptions())
        return vars(state)

    one, two = sequence(), sequence()
    assert all(np.array_equal(one[key], two[key]) for key in one)


def test_what_was_solved_between_changes_rounding_only(beam):
    """The prediction from the remembered factor is a start, no more."""
    start = rest(beam, TIGHT)
    predicted = solved(beam, start, [5e-3, 0, 2e-3, 0])
    plain = solved(beam, start, [5e-3, 0, 2e-3, 0])
    assert np.abs(predicted.x - plain.x).max() <= SAME * beam.size
    assert np.abs(predicted.compliance - plain.compliance).max() <= 1e-7 * plain.compliance.max()


def test_a_dynamic_step_in_between_spoils_no_prediction(beam):
    start = rest(beam, TIGHT)
    motion = Motion(start.x, np.zeros_like(start.x))
    implicit_euler(
        beam, make_inertia(beam), motion, 1e-3, effort=np.zeros(FOUR), effector_force=np.zeros((1, 3))
    )
    assert beam.memory.x is None
    assert solved(beam, start, [5e-3, 0, 2e-3, 0]).converged


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"command": np.zeros(3)}, "command"),
        ({"command": np.array([0, 0, np.nan, 0])}, "command"),
        ({"length_driven": np.zeros(2, dtype=bool)}, "length_driven"),
        ({"effector_force": np.zeros(3)}, "effector_force"),
        ({"effector_force": np.full((1, 3), np.inf)}, "effector_force"),
        ({"command": np.array([0, -1.0, 0, 0])}, "cable1.*pull"),
    ],
)
def test_bad_arguments_are_named(beam, at_rest, changes, match):
    arguments = {"command": np.zeros(FOUR), "length_driven": np.zeros(FOUR, dtype=bool)} | changes
    with pytest.raises(PliantError, match=match):
        solve_equilibrium(beam, at_rest, **arguments)


def column(slenderness, *, material=None):
    """A slender column along x, pushed by an effector force at the middle of its end; the cable is slack."""
    length, height = 0.1, 0.1 / slenderness
    material = Material("neo_hookean", E, 0.3, 0.0) if material is None else material
    mesh = make_body(box_mesh((12, 1, 1), (length, height, height)), material).mesh
    body = make_body(mesh, material, fixed=np.flatnonzero(mesh.nodes[:, 0] < 1e-9))
    end = np.array([[length, height / 2, height / 2]])
    cable = make_cable(mesh, "slack", end[0] + [0.01, 0, 0], end)
    return make_system(body, [cable], embed(mesh, end), np.zeros(3)), E * height**4 / 12 * np.pi**2 / (
        4 * length**2
    )


def pushed(system, force, start=None):
    return solve_equilibrium(
        system,
        rest(system) if start is None else start,
        command=np.zeros(1),
        length_driven=np.zeros(1, dtype=bool),
        effector_force=np.array([[-force, 0.0, 0.0]]),
    )


def test_column_carries_less_than_eulers_load_and_buckles_beyond_by_name():
    """The mesh is not symmetric, so the column bends a little at once; far beyond Euler's load the straight
    branch is unstable, and only a bent state or the named error may come out."""
    system, euler = column(20)
    straight = pushed(system, 0.8 * euler)
    assert straight.converged
    try:
        state = pushed(system, 3.0 * euler, straight)
    except EquilibriumError as error:
        assert_carries_a_state(error, system)
    else:
        assert np.linalg.norm(state.effector[0, 1:] - system.effector(system.body.mesh.nodes)[0, 1:]) > 0.02


def test_unstable_straight_branch_is_a_limit_point():
    """A swept mesh is symmetric: Newton's method stays on the unstable straight branch."""
    system, euler = symmetric_column(20)
    assert pushed(system, 0.9 * euler).converged
    with pytest.raises(LimitPointError) as caught:
        pushed(system, 1.3 * euler)
    assert_carries_a_state(caught.value, system)


def symmetric_column(slenderness):
    length, height = 0.1, 0.1 / slenderness
    corners = np.array(np.meshgrid([0, length], [0, height], [0, height], indexing="ij")).transpose(
        1, 2, 3, 0
    )
    material = Material("neo_hookean", E, 0.3, 0.0)
    mesh = make_body(split(divided(swept_block(corners), (12, 2, 2))), material).mesh
    body = make_body(mesh, material, fixed=np.flatnonzero(mesh.nodes[:, 0] < 1e-9))
    end = np.array([[length, height / 2, height / 2]])
    cable = make_cable(mesh, "slack", end[0] + [0.01, 0, 0], end)
    return make_system(body, [cable], embed(mesh, end), np.zeros(3)), E * height**4 / 12 * np.pi**2 / (
        4 * length**2
    )


def assert_carries_a_state(error, system):
    assert isinstance(error.state, State)
    assert error.state.x.shape == system.body.mesh.nodes.shape
    assert np.isfinite(error.state.x).all()


def test_cable_pulled_through_the_body_inverts_elements_or_fails_by_name(beam, at_rest):
    with pytest.raises((InvertedElementError, NotConvergedError, LimitPointError)) as caught:
        solved(beam, at_rest, np.full(FOUR, 0.078), options=NewtonOptions(max_subdivisions=3))
    assert_carries_a_state(caught.value, beam)
    assert "of the command" in str(caught.value)


def test_too_few_steps_are_not_convergence(beam, at_rest):
    with pytest.raises(NotConvergedError, match="Newton steps") as caught:
        solved(beam, at_rest, [8e-3, 0, 0, 0], options=NewtonOptions(max_steps=1, max_subdivisions=0))
    assert_carries_a_state(caught.value, beam)


def test_inverted_start_is_named(beam):
    state = undeformed(beam)
    inverted = replace(state, x=state.x * [-1.0, 1.0, 1.0])
    with pytest.raises(InvertedElementError, match="start"):
        solved(beam, inverted, np.zeros(FOUR), by_length=False, options=NewtonOptions(max_subdivisions=1))


def test_floating_body_is_refused():
    mesh = box_mesh((2, 1, 1))
    body = make_body(mesh, Material("neo_hookean", E, 0.3))
    cable = make_cable(body.mesh, "cable", np.array([0.0, 0.0, -1.0]), mesh.nodes[-1:])
    system = make_system(body, [cable], embed(body.mesh, mesh.nodes[-1:]), np.zeros(3))
    with pytest.raises(PliantError, match="floats"):
        rest(system)


def test_two_actuators_of_one_name_are_refused(beam):
    with pytest.raises(PliantError, match="distinct"):
        make_system(beam.body, [beam.actuators[0]] * 2, beam.effectors, np.zeros(3))


def test_failure_leaves_the_system_usable(beam, at_rest):
    with pytest.raises(EquilibriumError):
        solved(beam, at_rest, np.full(FOUR, 0.078), options=NewtonOptions(max_subdivisions=1))
    again = solved(beam, at_rest, [5e-3, 0, 0, 0])
    fresh = solved(beam_system(cables=FOUR), at_rest, [5e-3, 0, 0, 0])
    assert np.abs(again.x - fresh.x).max() <= SAME * beam.size
