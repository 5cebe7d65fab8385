# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a text is by its content."""

from __future__ import annotations

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.read import read
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.recognize import first_server_setting

from tests.unit.plugins.plugin_utils._reader.reading import documents_in


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("etcdctl snapshot restore a.db \\\n  --initial-cluster a=http://a:2380", ""),
        ("etcdctl snapshot restore a.db\n--initial-cluster a=http://a:2380", "--initial-cluster in line 2"),
        ("etcdctl put a --initial-cluster", "--initial-cluster in line 1"),
    ],
)
def test_flags_of_a_restoration_are_no_mention(text: str, found: str) -> None:
    assert first_server_setting(text) == found


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("# a comment\n{{- if .A }}\n---\napiVersion: v1\nkind: Pod\n{{- end }}\n", ["Pod"]),
        ('{"apiVersion": "v1", "kind": "Pod"}', ["Pod"]),
        ("etcd_pod: |\n  apiVersion: v1\n", []),
    ],
)
def test_a_manifest_of_any_name(text: str, kinds: list[str]) -> None:
    assert [each["kind"] for each in documents_in("etcd.manifest", text)] == kinds


def test_config_file_of_any_name() -> None:
    text = "name: n1\nlisten-client-urls: http://0.0.0.0:2379\ninitial-cluster: n1=http://n1:2380\n"
    document = read({"etcd.conf": text}).document
    assert document["files"][0]["contents"]["listen-client-urls"] == "http://0.0.0.0:2379"
    assert document["lines"]["etcd.conf"]["words"]["listen-client-urls"] == [2]


@pytest.mark.parametrize(
    ("text", "is_config"),
    [
        ("\"listen-client-urls\": http://0.0.0.0:2379\n'data-dir': /d\n", True),
        ('{"listen-client-urls": "http://0.0.0.0:2379", "data-dir": "/d"}', True),
        ('{\n  "listen-client-urls": "http://0.0.0.0:2379",\n  "data-dir": "/d"\n}\n', True),
        ('{"name": "a", "data-dir": "/d"}', False),
        ('{"a": {"listen-client-urls": "http://0.0.0.0:2379", "data-dir": "/d"}}', False),
        ('{"listen-client-urls": "http://0.0.0.0:2379", "data-dir": ', False),
        ('\'listen-client-urls": http://0.0.0.0:2379\n"data-dir": /d\n', False),
        ("{" * 100_000, False),
    ],
)
def test_quoted_keys_of_a_config_file(text: str, is_config: bool) -> None:
    assert len(read({"etcd.conf": text}).document["files"]) == int(is_config)
