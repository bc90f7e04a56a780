"""What the finite-element benchmark solves: public meshes, shipped robots, bars and cubes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from pliant.fem import Material, State, System, make_body, make_cable, make_system, rest
from pliant.geometry.mesh import TetMesh, embed, read_mesh
from pliant.robot import load_robot, shipped_robots, start_state

PUBLIC = Path(__file__).resolve().parents[2] / "shared" / "data" / "soft"
"""Meshes that everyone simulates with; not distributed with Pliant."""

BAR_ASPECT = 20


@dataclass(frozen=True)
class Case:
    """A system at rest, ready to be stepped.

    Attributes:
        name: What the table calls it.
        system: The system.
        state: Its equilibrium at rest.
    """

    name: str
    system: System
    state: State

    @property
    def size(self) -> dict[str, int | str]:
        """What a figure of speed must name."""
        body = self.system.body
        return {
            "element": body.element,
            "nodes": body.n_nodes,
            "elements": len(body.elements),
            "right_hand_sides": 1 + 3 * self.system.n_e + self.system.n_a,
        }


def shipped_cases() -> list[Case]:
    """Every shipped robot with its default mesh."""
    robots = [load_robot(name) for name in shipped_robots()]
    return [Case(robot.name, robot.system, start_state(robot)) for robot in robots]


def public_cases() -> list[Case]:
    """The linear Diamond and Finger, where the checkout has a neighbour that holds them."""
    if not (PUBLIC / "scenes.json").is_file():
        print(f"public meshes: SKIPPED, {PUBLIC} is not there")
        return []
    scenes = json.loads((PUBLIC / "scenes.json").read_text())
    lift = {"rotation": Rotation.from_euler("x", 90, degrees=True), "translation_m": (0.0, 0.0, 0.035)}
    diamond = read_mesh(PUBLIC / "diamond.vtu", unit="mm", **lift)
    box = np.array(scenes["diamond"]["fixed_box"]).reshape(2, 3)
    finger = read_mesh(PUBLIC / "finger_coarse.vtk", unit="mm")
    clamp = np.array([[-11.75, -3.0, -3.0], [11.75, 26.0, 3.0]])
    return [
        _public_case("public diamond", scenes["diamond"], diamond, box, Material("neo_hookean", 450e3, 0.45)),
        _public_case("public finger", scenes["finger"], finger, clamp, Material("neo_hookean", 3e6, 0.3)),
    ]


def _public_case(name: str, scene: dict, mesh: TetMesh, box_mm: np.ndarray, material: Material) -> Case:
    inside = (mesh.nodes >= 1e-3 * box_mm[0] - 1e-9) & (mesh.nodes <= 1e-3 * box_mm[1] + 1e-9)
    body = make_body(mesh, material, element="tet4", fixed=np.flatnonzero(inside.all(axis=1)))
    cables = [
        make_cable(mesh, c["name"], 1e-3 * np.array(c["pull_point"]), 1e-3 * np.array(c["points"]))
        for c in scene["cables"]
    ]
    system = make_system(body, cables, embed(mesh, 1e-3 * np.array(scene["effector"])), np.zeros(3))
    return Case(name, system, rest(system))


def block_case(kind: str, element: str, cells: int) -> Case:
    """A clamped bar (one by one by BAR_ASPECT) or cube, pulled by four cables at its far face.

    Args:
        kind: "bar" or "cube".
        element: Element.
        cells: Cells along the shortest edge, six tetrahedra each.
    """
    shape = (cells, cells, BAR_ASPECT * cells if kind == "bar" else cells)
    length = 0.2 if kind == "bar" else 0.05
    width = length / BAR_ASPECT if kind == "bar" else length
    mesh = _box(shape, (width, width, length))
    material = Material("neo_hookean", 1e6, 0.45)
    mesh = make_body(mesh, material, element=element).mesh
    body = make_body(mesh, material, element=element, fixed=np.flatnonzero(mesh.nodes[:, 2] < 1e-9))
    corners = np.array([[0, 0, length], [width, 0, length], [0, width, length], [width, width, length]])
    cables = [
        make_cable(mesh, f"cable{i}", corner * [1, 1, -0.1], corner[None]) for i, corner in enumerate(corners)
    ]
    system = make_system(body, cables, embed(mesh, np.array([[width, width, length]])), np.zeros(3))
    return Case(f"{kind} {element}", system, rest(system))


def n_nodes(kind: str, element: str, cells: int) -> int:
    """Nodes that `block_case` will have."""
    c = cells * (1 if element == "tet4" else 2)
    return (c + 1) ** 2 * (c * (BAR_ASPECT if kind == "bar" else 1) + 1)


def _box(cells: tuple[int, int, int], size: tuple[float, float, float]) -> TetMesh:
    """A box of cells, each six tetrahedra around its diagonal (Kuhn)."""
    grid = np.meshgrid(*(np.linspace(0.0, s, n + 1) for s, n in zip(size, cells, strict=True)), indexing="ij")
    stride = np.array([(cells[1] + 1) * (cells[2] + 1), cells[2] + 1, 1])
    corner = np.stack(np.meshgrid(*map(np.arange, cells), indexing="ij"), axis=-1).reshape(-1, 3) @ stride
    tets = []
    for order in permutations(range(3)):
        path = np.concatenate([[0], np.cumsum(stride[list(order)])])
        odd = np.linalg.det(np.eye(3)[list(order)]) < 0
        tets.append(corner[:, None] + path[[0, 2, 1, 3] if odd else [0, 1, 2, 3]])
    return TetMesh(np.stack([axis.ravel() for axis in grid], axis=1), np.concatenate(tets))
