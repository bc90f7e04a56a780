"""The same boundary problem in CalculiX: St Venant-Kirchhoff with NLGEOM, C3D4 and C3D10."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from loaded_beam import GRAVITY, TIP_FORCE, solve

from pliant.fem import Material

CCX = shutil.which("ccx")
SAME = 1e-4
"""CalculiX prints seven digits and iterates to 1e-8 of the force."""
MATERIAL = Material("st_venant_kirchhoff", 1.5e5, 0.3, 1070.0)


@pytest.mark.skipif(CCX is None, reason="CalculiX (ccx) is not installed: apt-get install calculix-ccx")
@pytest.mark.parametrize(("element", "name"), [("tet4", "C3D4"), ("tet10", "C3D10")])
def test_displacement_agrees(element, name, tmp_path, record_property):
    mesh, fixed, tip, displacement = solve(element, MATERIAL)
    write_deck(tmp_path / "beam.inp", mesh, fixed, tip, name)
    run = subprocess.run(
        [CCX, "beam"], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert run.returncode == 0, run.stdout[-2000:]
    theirs = last_displacements(tmp_path / "beam.dat", mesh.n_nodes)
    difference = np.abs(displacement - theirs).max() / np.abs(theirs).max()
    record_property("relative_difference", float(difference))
    assert difference <= SAME


def write_deck(file: Path, mesh, fixed, tip, name) -> None:
    """The whole problem as a CalculiX input deck; nodes and elements count from 1."""
    nodes = [f"{i + 1}, {x:.12e}, {y:.12e}, {z:.12e}" for i, (x, y, z) in enumerate(mesh.nodes)]
    elements = [", ".join(map(str, [i + 1, *(tet + 1)])) for i, tet in enumerate(mesh.tets)]
    strength = np.linalg.norm(GRAVITY)
    lines = [
        "*NODE, NSET=ALL", *nodes,
        f"*ELEMENT, TYPE={name}, ELSET=BODY", *elements,
        "*NSET, NSET=ROOT", *[f"{i + 1}," for i in fixed],
        "*MATERIAL, NAME=SOFT", "*ELASTIC", f"{MATERIAL.young_modulus}, {MATERIAL.poisson_ratio}",
        "*DENSITY", f"{MATERIAL.density}",
        "*SOLID SECTION, ELSET=BODY, MATERIAL=SOFT",
        "*BOUNDARY", "ROOT, 1, 3",
        "*STEP, NLGEOM, INC=200", "*STATIC, SOLVER=SPOOLES", "0.2, 1.0, 1e-4, 0.25",
        "*CONTROLS, PARAMETERS=FIELD", "1e-8, 1e-8,", ",",
        "*DLOAD", f"BODY, GRAV, {strength}, " + ", ".join(map(str, GRAVITY / strength)),
        "*CLOAD", *[f"{tip + 1}, {i + 1}, {f}" for i, f in enumerate(TIP_FORCE)],
        "*NODE PRINT, NSET=ALL", "U", "*END STEP",
    ]  # fmt: skip
    file.write_text("\n".join(lines) + "\n")


def last_displacements(file: Path, n_nodes: int) -> np.ndarray:
    """Displacements of the last printed increment [m], shape (n_nodes, 3)."""
    rows = [line.split() for line in file.read_text().splitlines()]
    values = np.array([row for row in rows if len(row) == 4 and row[0].isdigit()], dtype=float)[-n_nodes:]
    assert (values[:, 0] == np.arange(1, n_nodes + 1)).all()
    return values[:, 1:]
