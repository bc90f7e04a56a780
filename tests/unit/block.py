"""A small robot for the tests: a soft block of 20 x 20 x 80 mm on the floor with two cables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import meshio
import numpy as np
import yaml

CUBE_TETS = [[0, 1, 3, 7], [0, 1, 7, 5], [0, 5, 7, 4], [0, 3, 2, 7], [0, 2, 6, 7], [0, 6, 4, 7]]


def block_mesh(
    nx: int = 1, ny: int = 1, nz: int = 4, size: tuple[float, float, float] = (0.02, 0.02, 0.08)
) -> meshio.Mesh:
    """Six tetrahedra a cell, x and y centred, z from 0."""
    axes = [np.linspace(0, length, n + 1) for length, n in zip(size, (nx, ny, nz), strict=True)]
    x, y, z = np.meshgrid(axes[0] - size[0] / 2, axes[1] - size[1] / 2, axes[2], indexing="ij")
    points = np.column_stack([x.ravel(), y.ravel(), z.ravel()])

    def node(i: int, j: int, k: int) -> int:
        return (i * (ny + 1) + j) * (nz + 1) + k

    tets = [
        [node(i + (c & 1), j + (c >> 1 & 1), k + (c >> 2 & 1)) for c in tet]
        for i in range(nx)
        for j in range(ny)
        for k in range(nz)
        for tet in CUBE_TETS
    ]
    corners = points[np.array(tets)]
    volumes = np.linalg.det(corners[:, 1:] - corners[:, :1])
    assert (volumes > 0).all()
    return meshio.Mesh(points, [("tetra", np.array(tets))])


def block_robot() -> dict[str, Any]:
    """What the block's file says."""
    cable = {
        "name": "east",
        "type": "cable",
        "command": "length",
        "pull_point_m": [0.01, 0.0, 0.0],
        "via_points_m": [[0.01, 0.0, 0.04], [0.01, 0.0, 0.08]],
        "course_m": [0.0, 0.01],
        "effort_n": [0.0, 20.0],
        "course_rate_m_s": 0.1,
        "effort_rate_n_s": 50.0,
        "pretension_n": 0.0,
    }
    west = cable | {
        "name": "west",
        "pull_point_m": [-0.01, 0.0, 0.0],
        "via_points_m": [[-0.01, 0.0, 0.04], [-0.01, 0.0, 0.08]],
    }
    return {
        "kind": "soft",
        "name": "block",
        "description": "A soft block that two cables bend.",
        "mesh": {
            "unit": "m",
            "resolution": "coarse",
            "files": {"coarse": "block.vtu", "fine": "block_fine.vtu"},
            "rotation_deg": [0, 0, 0],
            "translation_m": [0, 0, 0],
        },
        "element": "tet10_mean",
        "material": {
            "model": "neo_hookean",
            "young_modulus_pa": 2.0e5,
            "poisson_ratio": 0.45,
            "density_kg_m3": 1070,
        },
        "gravity_m_s2": [0, 0, -9.81],
        "fixed": [{"box_m": [[-0.02, -0.02, -0.001], [0.02, 0.02, 0.001]]}],
        "actuators": [cable, west],
        "effectors": [{"name": "tip", "point_m": [0, 0, 0.08]}],
    }


def write_robot(folder: Path, content: dict[str, Any]) -> Path:
    """Write the file of a robot and the block's meshes."""
    file = folder / "block.yaml"
    file.write_text(yaml.safe_dump(content, sort_keys=False))
    block_mesh().write(folder / "block.vtu")
    block_mesh(nx=2, ny=2, nz=8).write(folder / "block_fine.vtu")
    return file
