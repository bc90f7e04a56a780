"""How the whole suite runs on several cores: launch tests last and one at a time, the rest file by file."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np
import pytest

LAUNCH_TESTS = "tests/launch/"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Moves the launch tests to the end and marks them."""
    items.sort(key=lambda item: item.nodeid.startswith(LAUNCH_TESTS))
    for item in items:
        if item.nodeid.startswith(LAUNCH_TESTS):
            item.add_marker(pytest.mark.launch)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Gives a worker a file at a time, and all launch tests to one of them."""
    from xdist.scheduler import LoadFileScheduling

    class LaunchTestsTogether(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return LAUNCH_TESTS if nodeid.startswith(LAUNCH_TESTS) else super()._split_scope(nodeid)

    return LaunchTestsTogether(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turns recorded numpy scalars into Python's own, which alone travel between processes."""
    report = yield
    report.user_properties = [
        (name, value.item() if isinstance(value, np.generic) else value)
        for name, value in report.user_properties
    ]
    return report
