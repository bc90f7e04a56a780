"""One FollowEffectorPath goal while it is being followed. Pure Python."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pliant.control.follow import FollowParameters, FollowState, advance, start_following
from pliant_nodes.controller_core import Reference

Array = NDArray[np.float64]


@dataclass
class PathTask:
    """A path of one effector, and how far it has been followed.

    Attributes:
        goals: Points [m], shape (n_goals, 3).
        effector: Index of the effector.
        n_effectors: Number of effectors of the robot.
        parameters: When a goal counts as met.
        due: Time before which each point is not left [s]; empty for no schedule.
        state: Progress; None before the first snapshot.
        steps: Control steps until each point that was left was settled, or given up.
        reachable: What the last command said of the present point.
        error: Last distance from the present point [m].
    """

    goals: Array
    effector: int
    n_effectors: int
    parameters: FollowParameters
    due: tuple[float, ...] = ()
    state: FollowState | None = None
    steps: list[int] = field(default_factory=list)
    reachable: bool = True
    error: float = np.inf
    _settled: int | None = None

    def advance(self, estimate: Array, time: float) -> None:
        """Take in the effectors' estimate [m], shape (n_e, 3), at a time [s]."""
        before = self.state or start_following(len(self.goals), time=time, due=self.due)
        self.error = float(np.linalg.norm(estimate[self.effector] - self.goals[before.index]))
        self.state = advance(before, self.parameters, error=self.error, reachable=self.reachable, time=time)
        if self.state.index > before.index:
            self.steps.append(before.steps if self._settled is None else self._settled)
            self.reachable, self._settled = True, None
        elif self.error > self.parameters.tolerance:
            self._settled = None
        elif self._settled is None:
            self._settled = before.steps

    @property
    def index(self) -> int:
        """Point that is being approached; the last one when all are done."""
        return 0 if self.state is None else min(self.state.index, len(self.goals) - 1)

    @property
    def done(self) -> bool:
        """Whether every point was met or given up."""
        return self.state is not None and self.state.done

    def reference(self) -> Reference:
        """Where the effectors shall be now."""
        return single_reference(self.goals[self.index], self.effector, self.n_effectors)


def single_reference(point: Array, effector: int, n_effectors: int) -> Reference:
    """A reference that leads one effector to a point [m], shape (3,), and leaves the others free."""
    position, weight = np.zeros((n_effectors, 3)), np.zeros(n_effectors)
    position[effector], weight[effector] = point, 1.0
    return Reference(position, weight)
