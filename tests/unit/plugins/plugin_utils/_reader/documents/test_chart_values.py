# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Containers of etcd in the values of a chart with a form of its own."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.documents.chart_values import members_of
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.read import read

IMAGE = "registry.k8s.io/etcd:3.5.2"
CONTAINER = {
    "image": IMAGE,
    "entryPoint": {"args": ["--listen-client-urls=https://0.0.0.0:2379"], "command": ["etcd"]},
    "envs": [{"name": "ETCD_NAME", "value": "a"}, {"name": "POD", "valueFrom": {}}],
    "resources": {"limits": {"memory": "1Gi"}},
}


def in_values(**changes: Any) -> list[dict[str, Any]]:
    """The members in values with one container, which some keys change."""
    return list(members_of([{"app": {"containers": {"etcd": {**CONTAINER, **changes}}}}]))


def test_container() -> None:
    [member] = in_values()
    assert member["command"] == ["etcd", "--listen-client-urls=https://0.0.0.0:2379"]
    assert (member["image"], member["environment"]) == (IMAGE, {"ETCD_NAME": "a"})
    assert (member["limit"], member["silent"]) == ({"name": "resources.limits.memory", "size": "1Gi"}, ["extra_config"])


@pytest.mark.parametrize(
    "image",
    [
        {"repository": "registry.k8s.io/etcd", "tag": "3.5.2"},
        {"registry": "registry.k8s.io", "name": "etcd", "tag": "3.5.2"},
    ],
)
def test_image_in_parts(image: dict[str, str]) -> None:
    assert [member["image"] for member in in_values(image=image)] == [IMAGE]


@pytest.mark.parametrize(
    "changes",
    [
        {"image": "registry.k8s.io/kube-apiserver:1.30"},
        {"image": None},
        {"enabled": False},
        {"entryPoint": {"args": ["--endpoints=http://10.0.0.1:2379"]}},
        {"entryPoint": {"command": "etcdctl snapshot restore", "args": ["--initial-cluster=a=http://10.0.0.1:2380"]}},
        {"entryPoint": {}, "livenessProbe": {"exec": {"command": ["a", "--listen-client-urls=http://0.0.0.0:2379"]}}},
    ],
)
def test_no_member(changes: dict[str, Any]) -> None:
    assert in_values(**changes) == []


def test_variables_in_a_map_and_a_limit_of_another_form() -> None:
    [member] = in_values(envs={"ETCD_NAME": "b"}, resources={"limits": {"memory": "1G"}}, args="--name c")
    assert (member["environment"], member["limit"]) == ({"ETCD_NAME": "b"}, None)


@pytest.mark.parametrize(
    "document",
    [
        CONTAINER,
        {"etcd": CONTAINER},
        {"apiVersion": "v1", "a": {"b": CONTAINER}},
        {"services": {"etcd": CONTAINER}},
        "text",
    ],
)
def test_other_documents(document: Any) -> None:
    assert not list(members_of([document]))


def test_a_list_of_containers() -> None:
    assert len(list(members_of([{"app": {"containers": [CONTAINER, {**CONTAINER, "image": "b"}]}}]))) == 1


CONFIG = {
    "name": "a",
    "listen-peer-urls": "https://10.0.0.1:2380",
    "snapshot-count": 5000,
    "data-dir": None,
    "max-wals": 0,
}


def in_config(**changes: Any) -> list[dict[str, Any]]:
    """The members in values with a config file, which some keys change."""
    return list(members_of([{"store": {"db": {"image": IMAGE, "configFile": CONFIG, **changes}}}]))


def test_config_file() -> None:
    [member] = in_config()
    stated = {key: CONFIG[key] for key in ("name", "listen-peer-urls", "snapshot-count")}
    assert (member["name"], member["config"], member["command"]) == ("a", stated, ["etcd"])
    assert (member["image"], member["silent"]) == (IMAGE, ["extra_config"])


def test_config_file_without_name_and_image() -> None:
    [member] = in_config(image=None, configFile={**CONFIG, "name": 5})
    assert (member["name"], member["image"]) == ("etcd", None)


@pytest.mark.parametrize(
    "changes",
    [
        {"configFile": {"name": "a", "snapshot-count": 5000}},
        {"configFile": {**CONFIG, "enabled": False}},
        {"enabled": False},
        {"configFile": None, "extraArgs": CONFIG},
        {"configFile": "snapshot-count: 5"},
    ],
)
def test_no_config_file(changes: dict[str, Any]) -> None:
    assert in_config(**changes) == []


@pytest.mark.parametrize(
    ("values", "members"),
    [
        # The vocabularies have the first ones.
        ({"etcd": {"image": {"repository": "a/etcd"}, "config": CONFIG}}, 0),
        ({"etcd": {"replicaCount": 1, "config": CONFIG}}, 0),
        ({"config": CONFIG}, 0),
        ({"etcd": {"config": CONFIG}}, 1),
        ({"store": {"etcd_config": CONFIG}}, 1),
    ],
)
def test_place_of_a_config_file(values: dict[str, Any], members: int) -> None:
    assert len(list(members_of([values]))) == members


def test_only_files_of_values() -> None:
    text = f"app:\n  containers:\n    etcd: {{image: '{IMAGE}', args: ['--initial-cluster-state=new']}}\n"
    assert "headroom_member" in read({"values.yaml": text}).document["files"][-1]["contents"]
    found = [
        *read({"group_vars/all.yml": text}).document["files"],
        *read({"a.yml": text, "b.yml": "a: 1"}).document["files"],
    ]
    assert not [entry for entry in found if "headroom_member" in entry["contents"]]
