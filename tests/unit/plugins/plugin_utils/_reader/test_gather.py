# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What becomes of files that were not read: those that a user named, and those of a folder."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.gather import gather

CLIENT = "#!/bin/sh\netcdctl --endpoints=a get b\n"


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("a.sh", CLIENT, "it configures no etcd"),
        ("etcd.md", "# etcd\n\n[home](a.md)\n", "it configures no etcd"),
        ("etcd.service", "[Service]\nExecStart=/usr/local/bin/start\n", "it starts no etcd"),
        ("Dockerfile", "FROM debian\nRUN apt install etcd\n", "its image does not start etcd by itself"),
    ],
)
def test_a_named_file_without_etcd(tmp_path: Path, name: str, text: str, reason: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    found = gather([str(path)])
    assert (found.refused, found.passed_over) == ({}, {str(path): reason})
    assert found.document["without_etcd"] == {str(path): reason} and found.document["unparsed"] == {}


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("a.yml", "a: [", "line 2 is not valid YAML"),
        ("hosts", "[web]\na b\n", "not an inventory"),
        ("a.txt", "use --initial-cluster\n", "it mentions --initial-cluster in line 1"),
    ],
)
def test_a_named_file_that_cannot_be_read(tmp_path: Path, name: str, text: str, reason: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    found = gather([str(path)])
    assert found.refused[str(path)].startswith(reason) and found.passed_over == {}
    assert "without_etcd" not in found.document


def test_a_folder_must_contain_etcd(tmp_path: Path) -> None:
    (tmp_path / "a.sh").write_text(CLIENT, encoding="utf-8")
    found = gather([str(tmp_path)])
    assert "without_etcd" not in found.document and list(found.passed_over.values()) == ["it configures no etcd"]


def test_other_files_are_named_beside_it(tmp_path: Path) -> None:
    (tmp_path / "a.sh").write_text(CLIENT, encoding="utf-8")
    (tmp_path / "hosts.yml").write_text("web: {hosts: {a: {}}}\n", encoding="utf-8")
    found = gather([str(tmp_path / "a.sh"), str(tmp_path / "hosts.yml")])
    assert "without_etcd" not in found.document and found.refused == {}
