# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures of several files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.campaign import add_mark, leave_out
from tests.playbooks.tls_host import Host, make_authority


def pytest_configure(config: pytest.Config) -> None:
    add_mark(config)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    leave_out(config, items)


@pytest.fixture(name="host")
def one_host(tmp_path: Path) -> Host:
    """A host and a CA that is made already."""
    host = Host(tmp_path)
    make_authority(host.authority)
    return host
