"""What every mesh script does in the end: write its mesh beside itself and say how good it is."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path

from pliant.geometry.mesh import TetMesh, mesh_quality, quadratic, write_mesh

Divisions = tuple[int, ...]


def ship(robot: str, divisions: Mapping[str, Divisions], mesh: Callable[[Divisions], TetMesh]) -> None:
    """Write `<robot>_<resolution>.vtu` in metres for the resolutions that the command line asks for."""
    parser = argparse.ArgumentParser(description=f"Write the mesh of the {robot} beside this script.")
    parser.add_argument("--resolution", choices=[*divisions, "all"], default="all")
    wanted = parser.parse_args().resolution
    for resolution in divisions if wanted == "all" else [wanted]:
        path = Path(__file__).parent / f"{robot}_{resolution}.vtu"
        made = mesh(divisions[resolution])
        write_mesh(path, made, unit="m")
        print(f"{path.name} ({path.stat().st_size / 1000:.0f} kB): {report(made)}")


def report(mesh: TetMesh) -> str:
    """Counts, volume and quality of a mesh in one line."""
    q = mesh_quality(mesh)
    return (
        f"{mesh.n_tets} tetrahedra, {mesh.n_nodes} nodes ({quadratic(mesh).n_nodes} quadratic), "
        f"{1e6 * q.volume_m3:.2f} cm3, "
        f"edges {1e3 * q.shortest_edge_m:.2f} to {1e3 * q.longest_edge_m:.2f} mm, "
        f"quality min {q.minimum:.2f}, 5 % {q.percentile_5:.2f}, median {q.median:.2f}"
    )
