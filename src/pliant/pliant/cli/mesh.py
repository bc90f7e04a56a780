"""`pliant mesh`: a volume mesh from a part of one's own."""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console

from pliant.cli.command import Commands, add_command, positive
from pliant.geometry.mesh import UNITS_M


def add_to(commands: Commands) -> None:
    """Add this command to the parser."""
    parser = add_command(
        commands,
        "mesh",
        run,
        "make a volume mesh from a part (STEP, STL)",
        "Fills the part with tetrahedra through gmsh and writes them in metres, ready for a robot\n"
        "file. Needs Gmsh: python -m pip install gmsh.",
        "  pliant mesh finger.step --size 6 --unit mm -o finger.vtu\n"
        "  pliant mesh skin.stl --size 0.004 --unit m --order 2 -o skin.vtu",
    )
    parser.add_argument("part", type=Path, metavar="PART", help="a .step, .stp or closed .stl file")
    parser.add_argument("--size", type=positive, required=True, help="length of an edge, in the part's unit")
    parser.add_argument("--unit", choices=tuple(UNITS_M), default="mm", help="unit of the part (default: mm)")
    parser.add_argument(
        "--order", type=int, choices=(1, 2), default=1, help="1 linear (default), 2 quadratic"
    )
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="FILE", help="the .vtu file to write"
    )


def run(options: argparse.Namespace) -> None:
    """Mesh the part, write it, and say how good it is."""
    from pliant.geometry.mesh import mesh_quality, write_mesh  # imported late: --help must be quick
    from pliant.geometry.meshing import mesh_part

    size_m = options.size * UNITS_M[options.unit]
    mesh = mesh_part(options.part, unit=options.unit, size_m=size_m, order=options.order)
    write_mesh(options.output, mesh, unit="m")
    quality = mesh_quality(mesh)
    console = Console()
    counts = f"{mesh.n_nodes} nodes, {mesh.n_tets} tetrahedra"
    console.print(f"{options.output}: {counts}, {1e6 * quality.volume_m3:.4g} cm3")
    console.print(f"quality (1 is regular): least {quality.minimum:.3f}, median {quality.median:.3f}")
    console.print(f"\nIn the robot file:\n  mesh: {{unit: m, file: {options.output.name}}}", highlight=False)
