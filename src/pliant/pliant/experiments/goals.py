"""Goals that a robot can reach, found from its file or from its own model."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pliant.condensed.source import FemModel
from pliant.control import FollowParameters, InverseParameters
from pliant.control.paths import circle
from pliant.control.reach import linear_reach
from pliant.errors import PliantError
from pliant.experiments.closed_loop import closed_loop, reached
from pliant.plant import Plant, PlantParameters
from pliant.robot import Robot
from pliant.robot_file import PathSpec

Array = NDArray[np.float64]

SHARE_OF_REACH = 0.6
FRACTIONS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
DIRECTIONS = 12


def default_path(robot: Robot) -> PathSpec:
    """The circle that the robot's file names, or one of 60 % of the widest reach found.

    Without one in the file all actuators are pulled by the same fraction of their course; where
    the linear model reaches farthest in its plane is the centre. The plane is horizontal for three
    actuators or more, else the one that two of them move the effector in.

    Raises:
        PliantError: If the effector can be moved nowhere in a plane.
    """
    if robot.spec.path is not None:
        return robot.spec.path
    plant = Plant(robot, PlantParameters())
    model = FemModel(robot)
    best = PathSpec(robot.spec.effectors[0].point_m, 0.0)
    for fraction in FRACTIONS:
        limits = plant.robot.limits
        full = np.where(robot.length_driven, limits.course_max, limits.effort_max)
        sample = plant.step(fraction * full, dt=1e3)
        if sample.fault is not None:
            break
        condensed = model(sample)
        normal = _normal(condensed.w_ea[:3])
        ring = circle(np.zeros(3), 1.0, DIRECTIONS, normal=normal)
        radius = SHARE_OF_REACH * float(linear_reach(condensed, limits, condensed.x_e[0], ring).min())
        if radius > best.radius_m:
            best = PathSpec(tuple(condensed.x_e[0].tolist()), radius, tuple(normal.tolist()))
    if best.radius_m <= 0.0:
        raise PliantError(f"robot {robot.name!r} reaches nowhere around; give it a `path` or `--path FILE`")
    return best


def _normal(w_ea: Array) -> Array:
    """Normal of the plane that the actuators move the first effector in; z if they move it in space."""
    directions, size, _ = np.linalg.svd(w_ea)
    in_space = size.size >= 3 and size[2] > 1e-3 * size[0]
    return np.array([0.0, 0.0, 1.0]) if in_space else directions[:, 2] * np.sign(directions[2, 2] or 1.0)


def reachable_goals(robot: Robot, goals: Array) -> Array:
    """Goals moved onto what a robot of fewer than three effective actuators can reach.

    Such an effector moves on a surface or a line; the model itself is driven along the goals, and
    where it settles is taken.

    Args:
        robot: The robot.
        goals: Wanted positions of the first effector [m], shape (n_goals, 3).

    Returns:
        Positions [m], shape (n_goals, 3); the goals themselves for a robot that moves in space.
    """
    if len(robot.actuator_names) >= 3:
        return goals
    loop = closed_loop(
        robot,
        goals,
        plant=PlantParameters(),
        inverse=InverseParameters(),
        follow=FollowParameters(tolerance=1e-9),
    )
    return reached(loop.result)
