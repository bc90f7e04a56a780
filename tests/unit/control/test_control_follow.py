"""The state machine of a path, without a robot."""

import numpy as np
import pytest

from pliant.control import FollowCode, FollowParameters, FollowState, advance, start_following
from pliant.control.follow import result
from pliant.errors import PliantError

EXACT = FollowParameters(tolerance=1e-3, settle=0.0, max_steps=5)


def run(state: FollowState, options: FollowParameters, errors: list[float], *, reachable=True, dt=0.1):
    time = state.start
    for error in errors:
        state = advance(state, options, error=error, reachable=reachable, time=time)
        time += dt
        if state.done:
            break
    return state


def test_goals_are_left_when_met() -> None:
    state = run(start_following(2, time=3.0), EXACT, [0.1, 0.01, 1e-4, 0.1, 5e-4])
    outcome = result(state)
    assert state.done and outcome.code is FollowCode.SUCCEEDED
    assert outcome.max_error == 5e-4 and outcome.mean_error == pytest.approx(3e-4)


def test_settling_starts_again_when_tolerance_is_lost() -> None:
    options = FollowParameters(tolerance=1e-3, settle=0.25, max_steps=50)
    state = start_following(1, time=0.0)
    assert not run(state, options, [0.0, 0.0, 0.1, 0.0, 0.0, 0.0]).done
    assert run(state, options, [0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 0.0]).done


def test_max_steps_counts_commands() -> None:
    state = start_following(1, time=0.0)
    assert not run(state, EXACT, [1.0] * 5).done  # the sixth reading answers the fifth command
    state = run(state, EXACT, [1.0] * 6)
    assert state.done and result(state).code is FollowCode.TOLERANCE_MISSED


def test_unreachable_is_named() -> None:
    state = run(start_following(1, time=0.0), EXACT, [1.0] * 6, reachable=False)
    outcome = result(state)
    assert outcome.code is FollowCode.UNREACHABLE
    assert "1 out of tolerance, 1 of them out of reach" in outcome.message


def test_schedule_holds_a_goal_until_it_is_due() -> None:
    state = run(start_following(2, time=1.0, due=(0.35, 0.35)), EXACT, [0.0] * 4)
    assert state.index == 0
    state = advance(state, EXACT, error=0.0, reachable=True, time=1.4)
    assert state.index == 1


def test_part_of_a_path_has_a_result() -> None:
    outcome = result(run(start_following(3, time=0.0), EXACT, [0.0]))
    assert outcome.message.startswith("1 of 3")
    assert result(start_following(3, time=0.0)).mean_error == np.inf


@pytest.mark.parametrize("n,due", [(0, ()), (2, (1.0,)), (2, (1.0, 0.0)), (1, (np.nan,))])
def test_bad_paths_are_refused(n: int, due: tuple[float, ...]) -> None:
    with pytest.raises(PliantError):
        start_following(n, time=0.0, due=due)
