# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures of the tests of modules. ansible-core keeps its warnings for the whole process, so they are reset for each test."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.common import warnings

from tests.unit.plugins.modules.fake_cluster import ETCDCTL


@pytest.fixture(autouse=True)
def no_warnings_of_other_tests() -> Iterator[None]:
    warnings._global_warnings.clear()
    yield
    warnings._global_warnings.clear()


@pytest.fixture
def cluster(tmp_path: Path) -> Any:
    """Return a cluster's first URL and its fake etcdctl; m1 leads."""
    servers = [socket.create_server(("127.0.0.1", 0), backlog=64) for _number in range(3)]
    urls = [f"http://127.0.0.1:{server.getsockname()[1]}" for server in servers]
    path = tmp_path / "etcdctl"
    path.write_text(ETCDCTL.format(python=os.path.realpath(sys.executable), urls=urls))
    path.chmod(0o755)
    (tmp_path / "leader").write_text("1")
    yield {"etcdctl_path": str(path), "endpoints": urls[:1]}
    for server in servers:
        server.close()
