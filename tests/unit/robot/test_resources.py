"""Shared files are found in a wheel, in a checkout and in a ROS workspace."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from block import block_robot, write_robot

from pliant import resources
from pliant.errors import PliantError, RobotFileError
from pliant.robot import load_robot, robots_in, shipped_robots


def shared(root: Path) -> Path:
    """A share folder with the block in it."""
    robots, meshes = root / "config" / "robots", root / "urdf"
    robots.mkdir(parents=True)
    meshes.mkdir()
    file = write_robot(robots, block_robot())
    for mesh in robots.glob("*.vtu"):
        shutil.move(mesh, meshes / mesh.name)
    return file


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed package without a checkout around it."""
    folder = tmp_path / "site-packages" / "pliant"
    folder.mkdir(parents=True)
    monkeypatch.setattr(resources, "_PACKAGE", folder)
    monkeypatch.delenv("AMENT_PREFIX_PATH", raising=False)
    return folder


def test_in_a_wheel(package: Path) -> None:
    file = shared(package / "share")
    assert shipped_robots() == ["block"]
    assert load_robot("block").file == file


def test_in_a_ros_workspace(package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = shared(tmp_path / "install" / "share" / "pliant_bringup")
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"/opt/ros/none:{tmp_path / 'install'}")
    assert load_robot("block").file == file


def test_the_installed_package_comes_first(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared(tmp_path / "install" / "share" / "pliant_bringup")
    first = shared(package / "share")
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "install"))
    assert load_robot("block").file == first


def test_nowhere(package: Path) -> None:
    with pytest.raises(
        PliantError, match=r"config/robots is in none of Pliant's shared folders: .*site-packages"
    ):
        shipped_robots()


def test_in_this_checkout() -> None:
    assert resources.share_path("config", "plants", "other.yaml").is_file()


def test_an_unknown_name_gets_the_known_ones(package: Path) -> None:
    shared(package / "share")
    with pytest.raises(RobotFileError, match=r"given 'blok'; allowed: did you mean 'block'\? one of block"):
        load_robot("blok")


def test_files_of_other_kinds_are_not_robots_of_ours(tmp_path: Path) -> None:
    write_robot(tmp_path, block_robot())
    (tmp_path / "arm.yaml").write_text("kind: muscle\nname: arm\n")
    assert list(robots_in(tmp_path)) == ["block"]
