"""A simulated robot as rviz markers: surface, cables, effectors and the trail of the first one."""

from __future__ import annotations

from collections import deque
from itertools import pairwise

import numpy as np
from geometry_msgs.msg import Point
from numpy.typing import NDArray
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from pliant.geometry.mesh import surface_triangles
from pliant.robot import Robot
from pliant_nodes.conversions import header, point

Array = NDArray[np.float64]

SILICONE, CABLE, EFFECTOR, TRAIL = (
    (0.95, 0.76, 0.66, 0.9),
    (0.49, 0.11, 0.25, 1.0),
    (0.12, 0.47, 0.71, 1.0),
    (0.88, 0.48, 0.22, 1.0),
)
TRAIL_POINTS = 500


class RobotMarkers:
    """Makes the markers of one robot; keeps the trail.

    Args:
        robot: The robot that is drawn.
        frame: Its base frame.
    """

    def __init__(self, robot: Robot, frame: str) -> None:
        self._robot, self._frame = robot, frame
        self._triangles = surface_triangles(robot.mesh)
        self._width = robot.system.size / 150.0
        self._trail: deque[Point] = deque(maxlen=TRAIL_POINTS)

    def message(self, nodes: Array, effector: Array, stamp: int) -> MarkerArray:
        """Markers of a state.

        Args:
            nodes: Node positions [m], shape (n_nodes, 3).
            effector: Effector positions [m], shape (n_e, 3).
            stamp: Time of the state [ns].
        """
        corners = nodes[self._triangles].reshape(-1, 3)
        lines = [actuator.points(nodes) for actuator in self._robot.system.actuators]
        segments = [p for line in lines for pair in pairwise(line) for p in pair]
        self._trail.append(point(effector[0]))
        width = self._width
        return MarkerArray(
            markers=[
                self._marker(
                    0, stamp, Marker.TRIANGLE_LIST, (1.0, 1.0, 1.0), SILICONE, [point(p) for p in corners]
                ),
                self._marker(
                    1, stamp, Marker.LINE_LIST, (width, 0.0, 0.0), CABLE, [point(p) for p in segments]
                ),
                self._marker(
                    2, stamp, Marker.SPHERE_LIST, (4 * width,) * 3, EFFECTOR, [point(p) for p in effector]
                ),
                self._marker(3, stamp, Marker.LINE_STRIP, (0.7 * width, 0.0, 0.0), TRAIL, list(self._trail)),
            ]
        )

    def _marker(
        self,
        number: int,
        stamp: int,
        kind: int,
        scale: tuple[float, float, float],
        color: tuple[float, float, float, float],
        points: list[Point],
    ) -> Marker:
        marker = Marker(header=header(stamp, self._frame), ns="robot", id=number, type=kind, points=points)
        marker.scale.x, marker.scale.y, marker.scale.z = scale
        marker.color = ColorRGBA(r=color[0], g=color[1], b=color[2], a=color[3])
        marker.pose.orientation.w = 1.0
        return marker
