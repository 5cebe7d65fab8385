# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Members that the variables of a role describe."""

from __future__ import annotations

import json
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.read import read

from tests.unit.plugins.plugin_utils._reader.reading import documents_in, member_in, members_in

URLS = "--listen-client-urls http://0.0.0.0:2379"


@pytest.mark.parametrize(
    ("path", "text", "releases"),
    [
        ("roles/etcd/defaults/main.yml", "etcd_version: v3.4.0\netcd_dir: /etc/etcd\n", ["3.4.0"]),
        ("vars.yml.vagrant", "etcd_version: 3.4.0\n", ["3.4.0"]),
        ("main.yml", "kube_version: v1.30.0\n", []),
        # The policies read these.
        ("group_vars/all.yml", "etcd_version: 3.4.0\n", []),
        ("hosts.yml", "etcd: {hosts: {a: {}}}\nother:\n  vars:\n    etcd_version: 3.4.0\n", []),
        ("values.yaml", "apiVersion: v1\nspec:\n  etcd_version: 3.4.0\n", []),
        ("main.yml", "etcd_server_version: v3.4.0\n", ["3.4.0"]),
        ("main.yml", "etcd_operator_version: v3.4.0\nmin_etcd_version: 3.3.0\n", []),
        ("main.yml", "etcd:\n  # pinned\n\n  dir: /d\n  version: 3.4.0\nkube: {}\n", ["3.4.0"]),
        ("main.yml", "ETCD:\n  VERSION: v3.4.0\n", ["3.4.0"]),
        ("main.yml", "etcd:\n  dir: /d\n  exporter:\n    version: 3.4.0\n", []),
        ("main.yml", "etcd:\n  version: 3.4.0\n  endpoints: [a]\n", []),
        ("main.yml", "app:\n  etcd:\n    version: 3.4.0\n", []),
        ("hiera.yaml", "etcd::version: '3.4.0'\n", ["3.4.0"]),
    ],
)
def test_the_release_in_the_variables_of_a_role(path: str, text: str, releases: list[str]) -> None:
    assert [member["release"] for member in members_in(path, text)] == releases
    # Another file may override it.
    assert [entry["path"] for entry in read({path: text, "b.yml": "a: 1\n"}).document["files"]] == [path, "b.yml"]


def test_the_flags_in_the_variables_of_a_role() -> None:
    flags = "  name: '{{ host }}'\n  snapshot-count: 100000\n  wal-dir: ''\n  listen-client-urls: http://a:2379\n"
    more = "  initial-cluster-state: new\n  client-cert-auth: true\n"
    [member] = members_in("main.yml", f"etcd_version: 3.5.13\netcd_directory: {{path: /a}}\netcd_flags:\n{flags}{more}")
    assert member["release"] == "3.5.13" and member["silent"] == ["extra_config"]
    assert member["command"] == [
        "etcd",
        "--name={{ host }}",
        "--snapshot-count=100000",
        "--listen-client-urls=http://a:2379",
        "--initial-cluster-state=new",
        "--client-cert-auth=true",
    ]


def test_arguments_of_k3s_are_no_variables() -> None:
    text = 'cluster-init: true\netcd-arg:\n  - "--quota-backend-bytes=5"\n'
    files = read({"config.yaml": text}).document["files"]
    assert ["headroom_member" in entry["contents"] for entry in files] == [False]


@pytest.mark.parametrize(
    ("path", "text", "count"),
    [
        (
            "main.yml",
            "etcd_env:\n  ETCD_NAME: '{{ host }}'\n  ETCD_LISTEN_CLIENT_URLS: http://a:2379\n  ETCD_DATA_DIR: /d\n",
            1,
        ),
        ("main.yml", "app_env:\n  ETCD_ENDPOINTS: http://a:2379\n  ETCD_DATA_DIR: /d\n", 0),
        ("group_vars/all.yml", "etcd_env:\n  ETCD_LISTEN_CLIENT_URLS: http://a:2379\n  ETCD_DATA_DIR: /d\n", 0),
    ],
)
def test_the_variables_in_a_map_of_a_role(path: str, text: str, count: int) -> None:
    found = [each["headroom_member"] for each in documents_in(path, text) if "headroom_member" in each]
    assert len(found) == count
    if found:
        assert found[0]["environment"]["ETCD_LISTEN_CLIENT_URLS"] == "http://a:2379"
        assert found[0]["silent"] == ["extra_config"]


@pytest.mark.parametrize("value", [f"--name a {URLS}", ["--name=a", "--listen-client-urls=http://0.0.0.0:2379"]])
def test_flags_in_a_variable_of_a_role(value: Any) -> None:
    found = member_in("main.yml", json.dumps({"etcd_options": value, "other": ["--a"]}))
    assert (found["name"], found["silent"]) == ("a", ["extra_config"])
