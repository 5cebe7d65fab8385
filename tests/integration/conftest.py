# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each test runs a module as in a process of its own: ansible-core keeps warnings for the whole process.

The unit tests have the same fixture in a file of their own, because ansible-test runs them without this folder.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from ansible.module_utils.common import warnings


@pytest.fixture(autouse=True)
def no_warnings_of_other_tests() -> Iterator[None]:
    warnings._global_warnings.clear()
    yield
    warnings._global_warnings.clear()
