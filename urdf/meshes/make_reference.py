"""The mesh-converged rest compliance of each shipped robot, from a much finer division of its own geometry.

Writes `<robot>_reference.json` beside this script: the diagonal of W (effector x, y, z, then the actuators)
[m/N] on the finest mesh, at rest under gravity and undeformed without it, and how far every coarser mesh is
from both. `pliant check` reads it.

    python urdf/meshes/make_reference.py --robot diamond
"""

from __future__ import annotations

import argparse
import importlib
import json
import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import yaml
from numpy.typing import NDArray

from pliant.fem import rest
from pliant.geometry.mesh import write_mesh
from pliant.resources import share_path
from pliant.robot import load_robot

Array = NDArray[np.float64]

REFINED = {
    "diamond": {"finer": (3, 2, 2), "finest": (4, 3, 3)},
    "finger": {"finer": (3, 2, 3), "finest": (4, 3, 4)},
    "trunk": {"finer": (2, 2, 2), "finest": (3, 3, 3)},
}
"""Divisions of each robot's hexahedra beyond those of its shipped meshes."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Write the mesh-converged rest compliance of shipped robots."
    )
    parser.add_argument("--robot", choices=[*REFINED, "all"], default="all")
    wanted = parser.parse_args().robot
    for robot in REFINED if wanted == "all" else [wanted]:
        content = reference(robot)
        path = Path(__file__).parent / f"{robot}_reference.json"
        path.write_text(json.dumps(content, indent=2) + "\n")
        print(table(robot, content))


def reference(robot: str) -> dict[str, object]:
    """What the file of one robot holds."""
    script = importlib.import_module(f"make_{robot}")
    solved = {
        name: solve(robot, script, parts) for name, parts in (script.DIVISIONS | REFINED[robot]).items()
    }
    converged = solved["finest"]
    return {
        "robot": robot,
        "element": converged["element"],
        "nodes": converged["nodes"],
        "order": converged["order"],
        "rest_compliance_m_n": converged["rest"].tolist(),
        "undeformed_compliance_m_n": converged["undeformed"].tolist(),
        "meshes": {
            name: {
                "divisions": list(found["divisions"]),
                "nodes": found["nodes"],
                "rest_deviation_percent": percent(found["rest"], converged["rest"]),
                "undeformed_deviation_percent": percent(found["undeformed"], converged["undeformed"]),
            }
            for name, found in solved.items()
        },
    }


def solve(robot: str, script, divisions: tuple[int, ...]) -> dict:
    """Compliances [m/N] of one robot on one mesh of its script."""
    file = yaml.safe_load(share_path("config", "robots", f"{robot}.yaml").read_text())
    found: dict = {"divisions": divisions}
    with tempfile.TemporaryDirectory() as folder:
        write_mesh(Path(folder, "mesh.vtu"), script.mesh(divisions))
        file["mesh"] = {"unit": "m", "file": "mesh.vtu"}
        for name, gravity in (("undeformed", [0, 0, 0]), ("rest", file["gravity_m_s2"])):
            path = Path(folder, f"{robot}.yaml")
            path.write_text(yaml.safe_dump(file | {"gravity_m_s2": gravity}))
            loaded = load_robot(path)
            found[name] = np.diag(rest(loaded.system).compliance)
    order = [f"{effector}.{axis}" for effector in loaded.effector_names for axis in "xyz"]
    return found | {
        "element": file["element"],
        "nodes": loaded.mesh.n_nodes,
        "order": [*order, *loaded.actuator_names],
    }


def percent(value: Array, converged: Array) -> list[float]:
    """Deviation of each entry [%], to two digits after the point."""
    return np.round(100.0 * (value / converged - 1.0), 2).tolist()


def table(robot: str, content: Mapping) -> str:
    """The deviations as text, a line for each mesh."""
    lines = [f"{robot}, {content['element']}, {content['order']}"]
    for name, found in content["meshes"].items():
        lines.append(f"  {name:7} {found['nodes']:6d} nodes  rest {found['rest_deviation_percent']} %")
        lines.append(f"  {'':20}  undeformed {found['undeformed_deviation_percent']} %")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
