"""Order of the test run: launch tests come last, one at a time; the rest runs file by file."""

from __future__ import annotations

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Groups tests for `pytest -n auto --dist loadgroup`, so that launch tests never share a core."""
    items.sort(key=lambda item: item.get_closest_marker("launch") is not None)
    for item in items:
        launch = item.get_closest_marker("launch") is not None
        item.add_marker(pytest.mark.xdist_group("launch" if launch else item.path.stem))
