# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures of several files."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

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


@pytest.fixture(scope="session")
def deployed_once(tmp_path_factory: pytest.TempPathFactory) -> Host:
    host = Host(tmp_path_factory.mktemp("deployed"))
    make_authority(host.authority)
    assert host.issue() > 0
    return host


@pytest.fixture(name="deployed")
def deployed_host(deployed_once: Host, tmp_path: Path) -> Host:
    """A host with certificates of the only CA, as older releases left it."""
    return deployed_once.copy_to(tmp_path)


@pytest.fixture(scope="session")
def new_once(tmp_path_factory: pytest.TempPathFactory) -> Host:
    """ansible_become of all hosts applies to the controller too, where becoming another user would fail."""
    host = Host(tmp_path_factory.mktemp("new"))
    variables = host.folder / "group_vars" / "all.yml"
    variables.parent.mkdir()
    become = {"ansible_become": True, "ansible_become_user": "nobody", "ansible_become_exe": "/bin/false"}
    variables.write_text(yaml.safe_dump(become), encoding="utf-8")
    assert host.issue("main activate", ansible_become=False) > 0
    variables.unlink()
    return host


@pytest.fixture(name="new")
def new_host(new_once: Host, tmp_path: Path) -> Host:
    """A host with certificates of two new CAs, one of them for peers."""
    return new_once.copy_to(tmp_path)
