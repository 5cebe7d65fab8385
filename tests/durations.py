"""A pytest plugin that appends the duration of each test to the file named by HEADROOM_DURATIONS, for tests/run.py."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.duration >= 1:
        with Path(os.environ["HEADROOM_DURATIONS"]).open("a") as file:
            file.write(f"{report.duration:.1f} {report.nodeid} ({report.when})\n")
