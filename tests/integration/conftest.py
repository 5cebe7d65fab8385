# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Leave out what older releases repeat, and reset ansible-core's warnings for each test: it keeps them for the whole process.

The unit tests have the same fixture in a file of their own, because ansible-test runs them without this folder.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from ansible.module_utils.common import warnings

from bench.common.member import releases
from tests.campaign import add_mark, leave_out

# They take ten seconds and more for each release, so make test runs them with the newest one, and the campaign with all.
SLOW = (
    "test_audit_of_real_etcd.py",
    "test_defrag_of_real_etcd.py",
    "test_drill_of_real_etcd.py",
    "test_memory_of_real_etcd.py",
)


def of_older_releases(items: list[pytest.Item]) -> list[pytest.Item]:
    """Return the tests of the middle release that also run with the oldest and the newest one; in slow files also those of the oldest."""
    oldest, middle, newest = (release.rpartition(".")[0] for release in releases())
    names = {item.nodeid for item in items}

    def runs_with(item: pytest.Item, series: str) -> bool:
        return any(name.startswith(item.nodeid.partition("[")[0] + "[" + series) for name in names)

    def repeats(item: pytest.Item) -> bool:
        if item.path.name in SLOW and oldest in item.nodeid:
            return runs_with(item, newest)
        return middle in item.nodeid and runs_with(item, oldest) and runs_with(item, newest)

    return [item for item in items if repeats(item)]


def pytest_configure(config: pytest.Config) -> None:
    add_mark(config)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    leave_out(config, items, of_older_releases(items))


@pytest.fixture(autouse=True)
def no_warnings_of_other_tests() -> Iterator[None]:
    warnings._global_warnings.clear()
    yield
    warnings._global_warnings.clear()
