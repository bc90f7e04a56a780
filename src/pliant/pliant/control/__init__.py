"""Control of soft robots: the inverse problem as a QP, goal paths, following them."""

from pliant.control.feedback import ControllerState, control_step, initial_state, observe
from pliant.control.follow import (
    FollowCode,
    FollowParameters,
    FollowResult,
    FollowState,
    advance,
    start_following,
)
from pliant.control.inverse import InverseParameters, InverseResult, Status, inverse_step
from pliant.control.track import TrackResult, track

__all__ = [
    "ControllerState",
    "FollowCode",
    "FollowParameters",
    "FollowResult",
    "FollowState",
    "InverseParameters",
    "InverseResult",
    "Status",
    "TrackResult",
    "advance",
    "control_step",
    "initial_state",
    "inverse_step",
    "observe",
    "start_following",
    "track",
]
