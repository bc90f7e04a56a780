"""How the whole suite runs on several cores: launch tests last and one at a time, the rest file by file."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np
import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Groups tests for `pytest -n auto --dist loadgroup`, so that launch tests never share a core."""
    items.sort(key=lambda item: item.get_closest_marker("launch") is not None)
    for item in items:
        launch = item.get_closest_marker("launch") is not None
        item.add_marker(pytest.mark.xdist_group("launch" if launch else item.path.stem))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turns recorded numpy scalars into Python's own, which alone travel between processes."""
    report = yield
    report.user_properties = [
        (name, value.item() if isinstance(value, np.generic) else value) for name, value in report.user_properties
    ]
    return report
