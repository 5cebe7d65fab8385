# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Leave out the middle release, and reset ansible-core's warnings for each test: it keeps them for the whole process.

The unit tests have the same fixture in a file of their own, because ansible-test runs them without this folder.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from ansible.module_utils.common import warnings

from bench.common.member import releases
from tests.campaign import leave_out


def of_middle_release(items: list[pytest.Item]) -> list[pytest.Item]:
    """Return the tests of the middle release that also run with the oldest and the newest one."""
    oldest, middle, newest = (release.rpartition(".")[0] for release in releases())
    names = {item.nodeid for item in items}

    def repeats(item: pytest.Item) -> bool:
        if middle not in item.nodeid:
            return False
        others = [item.nodeid.partition("[")[0] + "[" + series for series in (oldest, newest)]
        return all(any(name.startswith(other) for name in names) for other in others)

    return [item for item in items if repeats(item)]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    leave_out(config, items, of_middle_release(items))


@pytest.fixture(autouse=True)
def no_warnings_of_other_tests() -> Iterator[None]:
    warnings._global_warnings.clear()
    yield
    warnings._global_warnings.clear()
