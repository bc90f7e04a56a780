"""The shipped meshes have the dimensions, the nodes and the accuracy that their scripts claim."""

from __future__ import annotations

import importlib
import json
import sys

import numpy as np
import pytest
import yaml

from pliant.fem import rest
from pliant.geometry.mesh import TetMesh, mesh_quality, quadratic, read_mesh
from pliant.resources import share_path
from pliant.robot import load_robot

RESOLUTIONS = ("coarse", "medium", "fine")
CASES = [(robot, resolution) for robot in ("diamond", "finger", "trunk") for resolution in RESOLUTIONS]

BOXES_MM = {
    "diamond": [[-97.0, -97.0, -37.0], [97.0, 97.0, 125.0]],
    "finger": [[-14.75, 0.0, -120.0], [14.75, 20.0, 0.0]],
    "trunk": [[-13.0, -13.0, 0.0], [13.0, 13.0, 195.0]],
}
VOLUMES_CM3 = {"diamond": 396.4, "finger": 34.6, "trunk": 37.7}
LEAST_QUALITY = {"diamond": (0.08, 0.04, 0.14), "finger": (0.18, 0.09, 0.16), "trunk": (0.12, 0.03, 0.08)}
QUADRATIC_NODES = {
    "diamond": (2266, 4506, 7494),
    "finger": (1313, 2601, 4637),
    "trunk": (1497, 2969, 4753),
}
LARGEST_FILE = 50_000

CONVERGED_PERCENT = 3.0
"""Rest compliance of a default mesh off the mesh-converged one, at most."""

RECORDED_PERCENT = 0.02
"""A recorded deviation is rounded to 0.01 %."""


def _mesh(robot: str, resolution: str) -> TetMesh:
    return read_mesh(share_path("urdf", "meshes", f"{robot}_{resolution}.vtu"), unit="m")


def _reference(robot: str) -> dict:
    return json.loads(share_path("urdf", "meshes", f"{robot}_reference.json").read_text())


@pytest.mark.parametrize(("robot", "resolution"), CASES)
def test_dimensions_and_quality(robot: str, resolution: str) -> None:
    mesh, which = _mesh(robot, resolution), RESOLUTIONS.index(resolution)
    quality = mesh_quality(mesh)
    assert 1e3 * np.array([mesh.nodes.min(axis=0), mesh.nodes.max(axis=0)]) == pytest.approx(
        np.array(BOXES_MM[robot]), abs=1e-6
    )
    assert 1e6 * quality.volume_m3 == pytest.approx(VOLUMES_CM3[robot], rel=0.003)
    assert quality.minimum > LEAST_QUALITY[robot][which]
    assert quadratic(mesh).n_nodes == QUADRATIC_NODES[robot][which]
    assert share_path("urdf", "meshes", f"{robot}_{resolution}.vtu").stat().st_size < LARGEST_FILE


@pytest.mark.parametrize(("robot", "resolution"), CASES)
def test_scripts_make_the_shipped_meshes(
    robot: str, resolution: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [str(share_path("urdf", "meshes")), *sys.path])
    script = importlib.import_module(f"make_{robot}")
    made, shipped = script.mesh(script.DIVISIONS[resolution]), _mesh(robot, resolution)
    assert made.nodes == pytest.approx(shipped.nodes, abs=1e-12)
    assert np.array_equal(made.tets, shipped.tets)
    assert np.array_equal(made.region, shipped.region)


@pytest.mark.parametrize(("robot", "resolution"), CASES)
def test_effectors_and_attachments_are_on_nodes(robot: str, resolution: str) -> None:
    file = yaml.safe_load(share_path("config", "robots", f"{robot}.yaml").read_text())
    nodes = quadratic(_mesh(robot, resolution)).nodes
    points = [effector["point_m"] for effector in file["effectors"]]
    if robot != "finger":  # its cables run along edges
        points += [point for actuator in file["actuators"] for point in actuator["via_points_m"]]
    gaps = np.linalg.norm(nodes[:, None] - np.array(points, dtype=float), axis=2).min(axis=0)
    assert gaps.max() < 1e-7


def test_diamond_is_symmetric() -> None:
    nodes = _mesh("diamond", "coarse").nodes
    turned = nodes[:, [1, 0, 2]] * [-1, 1, 1]
    assert set(map(tuple, np.round(turned, 9) + 0.0)) == set(map(tuple, np.round(nodes, 9) + 0.0))


@pytest.mark.parametrize("robot", BOXES_MM)
def test_rest_compliance_is_the_recorded_one_and_near_the_converged_one(robot: str) -> None:
    reference = _reference(robot)
    compliance = np.diag(rest(load_robot(robot).system).compliance)
    deviation = 100.0 * (compliance / np.array(reference["rest_compliance_m_n"]) - 1.0)
    recorded = np.array(reference["meshes"]["coarse"]["rest_deviation_percent"])
    assert deviation == pytest.approx(recorded, abs=RECORDED_PERCENT), (
        "run urdf/meshes/make_reference.py again"
    )
    assert np.abs(deviation).max() < CONVERGED_PERCENT
