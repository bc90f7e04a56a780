"""Build of the nodes inside a colcon workspace."""

from setuptools import find_packages, setup

NODES = ["condensed_model", "fem_simulator", "inverse_controller", "record"]

setup(
    name="pliant_nodes",
    version="0.1.0",
    packages=find_packages(include=["pliant_nodes", "pliant_nodes.*"]),
    data_files=[
        ("share/ament_index/resource_index/packages", ["resource/pliant_nodes"]),
        ("share/pliant_nodes", ["package.xml"]),
    ],
    zip_safe=False,
    maintainer="Pliant maintainers",
    maintainer_email="maintainers@pliant.example",
    description="The ROS 2 nodes of Pliant",
    license="Apache-2.0",
    entry_points={"console_scripts": [f"{node} = pliant_nodes.{node}:main" for node in NODES]},
)
