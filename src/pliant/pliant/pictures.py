"""Pictures of a tracked path: where the robot went, how well, how hard it pulled, how it bent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, NullFormatter
from mpl_toolkits.mplot3d import Axes3D
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from numpy.typing import NDArray

from pliant.fem import Cable
from pliant.geometry.mesh import surface_triangles
from pliant.limits import ActuatorLimits
from pliant.robot import Robot
from pliant.text import length_text

Array = NDArray[np.float64]

MM = 1e3
INK, PALE, SILICONE = "#22313f", "#c9d1d9", "#f6d6b5"
WANTED, REACHED, CABLE = "#e07b39", "#1f77b4", "#7d1d3f"
CABLES = ("#1b6ca8", "#d1495b", "#3c8d63", "#8d6a9f", "#c98a1b", "#4f5d75", "#a44a3f", "#2a9d8f")
SMALLEST_M = 1e-12
LIGHT = np.array([0.35, -0.45, 0.82])


@dataclass(frozen=True)
class Trace:
    """What a picture needs of one tracked path.

    Attributes:
        title: Heading.
        goals: Wanted effector positions [m], shape (n_goals, 3).
        reached: Settled effector positions, one a goal [m], shape (n_goals, 3).
        trail: Effector positions, one a control step [m], shape (n_steps, 3).
        effort: Cable tensions, one row a control step [N], shape (n_steps, n_a).
        time: Time of each control step [s], shape (n_steps,).
        nodes: Node positions of the picture's robot [m], shape (n_nodes, 3).
    """

    title: str
    goals: Array
    reached: Array
    trail: Array
    effort: Array
    time: Array
    nodes: Array


def track_picture(path: str | Path, robot: Robot, trace: Trace) -> None:
    """Write the four panels of a tracked path to an image file."""
    figure = Figure(figsize=(12.0, 9.0), layout="constrained", facecolor="white")
    figure.suptitle(trace.title, fontsize=14, color=INK)
    draw_path(figure.add_subplot(2, 2, 1), trace.goals, trace.reached, trace.trail)
    solid = figure.add_subplot(2, 2, 2, projection="3d")
    draw_robot(solid, robot, trace.nodes, trace.goals, trace.trail)
    draw_errors(figure.add_subplot(2, 2, 3), np.linalg.norm(trace.reached - trace.goals, axis=1))
    draw_tensions(figure.add_subplot(2, 2, 4), trace.effort, trace.time, robot.actuator_names, robot.limits)
    figure.savefig(path, dpi=130)


def draw_path(axes: Axes, goals: Array, reached: Array, trail: Array) -> None:
    """Wanted and reached positions in the plane that the goals spread over most [mm]."""
    spread = np.ptp(goals, axis=0)
    across, up = sorted(np.argsort(spread)[-2:])
    axes.plot(MM * trail[:, across], MM * trail[:, up], color=PALE, lw=1.0, label="way", zorder=1)
    axes.scatter(
        MM * goals[:, across],
        MM * goals[:, up],
        s=70,
        facecolors="none",
        edgecolors=WANTED,
        lw=1.6,
        label="wanted",
    )
    axes.scatter(
        MM * reached[:, across], MM * reached[:, up], s=26, marker="x", color=REACHED, lw=1.4, label="reached"
    )
    axes.set_aspect("equal", adjustable="datalim")
    _frame(axes, "Path", f"{'xyz'[across]} [mm]", f"{'xyz'[up]} [mm]")
    axes.legend(loc="upper right", frameon=False, fontsize=9)


def draw_errors(axes: Axes, error: Array) -> None:
    """Distance between reached and wanted position at each goal [mm], logarithmic."""
    error_mm = MM * np.maximum(error, SMALLEST_M)
    number = np.arange(1, error.size + 1)
    low, high = 10.0 ** np.floor(np.log10(error_mm.min())), 10.0 ** np.ceil(np.log10(error_mm.max()) + 0.3)
    axes.vlines(number, low, error_mm, color=PALE, lw=1.2, zorder=1)
    axes.scatter(number, error_mm, s=18, color=REACHED, zorder=2)
    axes.axhline(error_mm.mean(), color=WANTED, lw=1.4, label=f"mean {length_text(error.mean())}")
    axes.axhline(error_mm.max(), color=INK, lw=1.0, ls="--", label=f"maximum {length_text(error.max())}")
    axes.set_yscale("log")
    axes.set_ylim(low, high)
    axes.yaxis.set_minor_formatter(NullFormatter())
    _frame(axes, "Error", "goal", "distance to goal [mm]")
    axes.legend(loc="upper right", frameon=False, fontsize=9, ncols=2)


def draw_tensions(
    axes: Axes, effort: Array, time: Array, names: Sequence[str], limits: ActuatorLimits
) -> None:
    """Cable tensions over time, with the limits that are near enough to be seen [N]."""
    for index, name in enumerate(names):
        axes.plot(time, effort[:, index], color=CABLES[index % len(CABLES)], lw=1.3, label=name)
    top = max(float(effort.max()), 1e-9)
    for limit in np.unique(limits.effort_max):
        if limit <= 3 * top:
            axes.axhline(limit, color=INK, lw=1.0, ls="--")
    least, greatest = limits.effort_min.min(), limits.effort_max.max()
    _frame(axes, f"Tension (limits {least:g} to {greatest:g} N)", "time [s]", "tension [N]")
    axes.set_ylim(min(0.0, float(effort.min())), 1.05 * axes.get_ylim()[1] + 0.12 * top)
    axes.legend(loc="upper right", frameon=False, fontsize=9, ncols=min(len(names), 4))


def draw_robot(axes: Axes3D, robot: Robot, nodes: Array, goals: Array, trail: Array) -> None:
    """The deformed surface, its cables, the effector, the goals and the trail [mm].

    Args:
        axes: Axes with the 3-D projection.
        robot: The robot.
        nodes: Deformed node positions [m], shape (n_nodes, 3).
        goals: Goal positions [m], shape (n_goals, 3).
        trail: Effector positions [m], shape (n_steps, 3).
    """
    corners = MM * nodes[surface_triangles(robot.mesh)]
    surface = Poly3DCollection(
        corners, facecolors=_shaded(corners), edgecolors=(0, 0, 0, 0.15), linewidths=0.2
    )
    axes.add_collection3d(surface)
    for line in cable_lines(robot, nodes):
        axes.plot(*(MM * line.T), color=CABLE, lw=1.6, zorder=8)
    axes.plot(*(MM * trail.T), color=REACHED, lw=1.2, zorder=9)
    axes.scatter(*(MM * goals.T), s=12, color=WANTED, depthshade=False, zorder=10)
    axes.scatter(*(MM * trail[-1:].T), s=36, color=REACHED, edgecolors="white", depthshade=False, zorder=11)
    everything = np.concatenate([corners.reshape(-1, 3), MM * goals, MM * trail])
    middle, half = (
        (everything.max(axis=0) + everything.min(axis=0)) / 2,
        np.ptp(everything, axis=0) / 2 + 1e-9,
    )
    half = np.maximum(half, 0.12 * half.max())
    for axis, centre, extent in zip("xyz", middle, half, strict=True):
        getattr(axes, f"set_{axis}lim")(centre - extent, centre + extent)
        getattr(axes, f"set_{axis}label")(f"{axis} [mm]", fontsize=9, color=INK)
        side = getattr(axes, f"{axis}axis")
        side.set_pane_color((1, 1, 1, 0))
        side.set_major_locator(MaxNLocator(1 + int(5 * extent / half.max())))
        side._axinfo["grid"].update(color=PALE, linewidth=0.5)
    axes.set_box_aspect(tuple(half), zoom=1.0)
    axes.tick_params(labelsize=8, colors=INK)
    axes.view_init(elev=20, azim=-58)
    axes.set_title("Robot at the last goal", loc="left", fontsize=11, color=INK)


def cable_lines(robot: Robot, nodes: Array) -> list[Array]:
    """Points of each cable, pull point first [m], shapes (n_points, 3)."""
    return [actuator.points(nodes) for actuator in robot.system.actuators if isinstance(actuator, Cable)]


def _shaded(corners: Array) -> Array:
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True) + 1e-30
    brightness = 0.74 + 0.26 * np.clip(normals @ (LIGHT / np.linalg.norm(LIGHT)), 0.0, 1.0)
    base = np.array([int(SILICONE[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.column_stack([np.clip(base * brightness[:, None], 0, 1), np.full(brightness.size, 0.92)])


def _frame(axes: Axes, title: str, across: str, up: str) -> None:
    axes.set_title(title, loc="left", fontsize=11, color=INK)
    axes.set_xlabel(across, fontsize=9, color=INK)
    axes.set_ylabel(up, fontsize=9, color=INK)
    axes.grid(True, color=PALE, lw=0.5, alpha=0.7)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=8, colors=INK)
    axes.spines[["top", "right"]].set_visible(False)
