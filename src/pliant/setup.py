"""Build of the library inside a colcon workspace; `pip install` uses pyproject.toml at the top."""

from setuptools import find_packages, setup

setup(
    name="pliant",
    version="0.1.0",
    packages=find_packages(include=["pliant", "pliant.*"]),
    data_files=[
        ("share/ament_index/resource_index/packages", ["resource/pliant"]),
        ("share/pliant", ["package.xml"]),
    ],
    package_data={"pliant": ["py.typed"]},
    zip_safe=False,
    maintainer="Pliant maintainers",
    maintainer_email="maintainers@pliant.example",
    description="Finite elements, condensed models and control of robots that bend",
    license="Apache-2.0",
    entry_points={"console_scripts": ["pliant = pliant.cli:main"]},
)
