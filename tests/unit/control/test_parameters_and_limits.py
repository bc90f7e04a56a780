"""Options that know their ranges, and limits that are refused when they make no sense."""

import dataclasses

import numpy as np
import pytest
from random_models import random_limits

from pliant.control import FollowParameters, InverseParameters
from pliant.errors import PliantError
from pliant.parameters import from_mapping


@pytest.mark.parametrize("options", [InverseParameters, FollowParameters])
def test_every_field_says_what_it_is(options: type) -> None:
    for field in dataclasses.fields(options):
        assert set(field.metadata) == {"unit", "min", "max", "choices", "description"}
        assert field.metadata["description"].endswith(".")
    options()


@pytest.mark.parametrize(
    "changes",
    [
        {"solver": "qpoases"},
        {"solver": 3},
        {"regularisation": -1.0},
        {"regularisation": float("nan")},
        {"regularisation": "small"},
        {"regularisation": True},
        {"step_fraction": 2.0},
        {"pretension": -0.1},
    ],
)
def test_values_out_of_range_are_refused(changes: dict) -> None:
    with pytest.raises(PliantError, match=f"InverseParameters.{next(iter(changes))}.*allowed"):
        InverseParameters(**changes)


def test_counts_are_whole_numbers() -> None:
    with pytest.raises(PliantError, match="max_steps"):
        FollowParameters(max_steps=2.5)  # type: ignore[arg-type]


def test_from_mapping() -> None:
    assert from_mapping(InverseParameters, {"pretension": 0.1}).pretension == 0.1
    with pytest.raises(PliantError, match=r"nodes\.yaml: unknown key pretention; allowed: .*pretension"):
        from_mapping(InverseParameters, {"pretention": 0.1}, source="nodes.yaml")
    with pytest.raises(PliantError, match=r"nodes\.yaml: .*solver"):
        from_mapping(InverseParameters, {"solver": "none"}, source="nodes.yaml")


@pytest.mark.parametrize(
    "changes",
    [
        {"effort_min": -1.0},
        {"effort_max": np.inf},
        {"effort_max": 0.0},
        {"effort_min": np.nan},
        {"course_min": 0.05},
        {"effort_rate": 0.0},
        {"course_rate": -1.0},
    ],
)
def test_limits_without_sense_are_refused(changes: dict) -> None:
    with pytest.raises(PliantError, match="allowed"):
        random_limits(2, **changes)


def test_limits_of_different_length_are_refused() -> None:
    with pytest.raises(PliantError, match="shape"):
        dataclasses.replace(random_limits(2), effort_max=np.ones(3))


def test_limits_cannot_be_written_to() -> None:
    with pytest.raises(ValueError, match="read-only"):
        random_limits(2).effort_max[0] = 1.0
