# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The diff that etcd_lint returns applies to the files of the inventory, byte for byte."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.action.etcd_lint import _print_suggestions
from ansible_collections.etcdops.headroom.plugins.plugin_utils._conftest.report import Finding


@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
@pytest.mark.parametrize("end", [True, False])
def test_git_applies_what_is_returned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, newline: bytes, end: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "inventory" / "group_vars" / "etcd.yml"
    path.parent.mkdir(parents=True)
    path.write_bytes(newline.join([b"# why", b"b: 1", b"a: 2"]) + (newline if end else b""))
    before = path.read_bytes()
    document = {"_meta": {"hostvars": {"e1": {"a": 2}}}, "etcd": {"hosts": ["e1"]}}
    findings = [Finding(True, "topic/rule", ("e1",), "it is so", {"a": 5})]
    diff = _print_suggestions(findings, document, [str(tmp_path / "inventory")])
    assert path.read_bytes() == before
    subprocess.run(["git", "apply", "--whitespace=nowarn"], input=diff.encode(), check=True, timeout=30)
    assert path.read_bytes() == before.replace(b"a: 2", b"a: 5")
