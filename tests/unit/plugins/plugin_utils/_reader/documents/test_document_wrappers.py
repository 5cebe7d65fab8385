# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documents that wrap others."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.documents.document_wrappers import unwrap

POD = {"kind": "Pod"}
OLD_COMPOSE = {
    "etcd": {"image": "quay.io/coreos/etcd:v2.3.7", "ports": ["2379"]},
    "app": {"build": ".", "links": ["etcd"]},
}


@pytest.mark.parametrize(
    ("document", "unwrapped"),
    [
        ({"kind": "List", "items": [POD]}, [{"kind": "List", "items": [POD]}, POD]),
        ({"kind": "Template", "objects": [POD]}, [{"kind": "Template", "objects": [POD]}, POD]),
        ({"kind": "List"}, [{"kind": "List"}]),
        (OLD_COMPOSE, [{"services": OLD_COMPOSE}]),
        ({**OLD_COMPOSE, "web": {"image": "a"}}, [{"services": {**OLD_COMPOSE, "web": {"image": "a"}}}]),
        ({**OLD_COMPOSE, "version": "2"}, [{**OLD_COMPOSE, "version": "2"}]),
        ({"etcd": {"image": {"tag": "v3.5.1"}, "ports": []}}, [{"etcd": {"image": {"tag": "v3.5.1"}, "ports": []}}]),
        ({"etcd": {"image": "etcd"}}, [{"etcd": {"image": "etcd"}}]),
        ({}, [{}]),
        ([POD], [[POD]]),
        ("text", ["text"]),
    ],
)
def test_unwrap(document: Any, unwrapped: list[Any]) -> None:
    assert unwrap([document]) == unwrapped


FLAGS = ["-name", "a"]
CONTAINER = {
    "name": "kv",
    "image": "quay.io/coreos/etcd:v2.3.8",
    "memory": 256,
    "command": FLAGS,
    "entryPoint": ["etcd"],
    "environment": [{"name": "ETCD_NAME", "value": "a"}, {"name": "ETCD_DATA_DIR", "value": {"Ref": "Dir"}}],
    "mountPoints": [{"sourceVolume": "a", "containerPath": "/data"}],
    "portMappings": [],
}
SERVICE = {
    "image": "quay.io/coreos/etcd:v2.3.8",
    "entrypoint": ["etcd"],
    "command": FLAGS,
    "environment": {"ETCD_NAME": "a", "ETCD_DATA_DIR": "${value}"},
    "volumes": [{"target": "/data"}],
    "mem_limit": "256m",
}
CLOUD_FORMATION = {
    "Resources": {
        "Bucket": {"Type": "AWS::S3::Bucket"},
        "Task": {
            "Type": "AWS::ECS::TaskDefinition",
            "Properties": {
                "ContainerDefinitions": [
                    {"Name": "kv", "Image": {"Ref": "Image"}, "Environment": [{"Name": "ETCD_NAME", "Value": "a"}]}
                ]
            },
        },
    }
}
APP = {
    "id": "/infra/kv",
    "mem": 128.0,
    "container": {
        "docker": {"image": "quay.io/coreos/etcd:v3.5.1"},
        "volumes": [{"containerPath": "/data"}],
    },
    "args": FLAGS,
    "env": {"ETCD_NAME": "a", "ETCD_SECRET": {"secret": "s"}},
}
OF_APP = {
    "image": "quay.io/coreos/etcd:v3.5.1",
    "command": FLAGS,
    "environment": {"ETCD_NAME": "a", "ETCD_SECRET": "${value}"},
    "volumes": [{"target": "/data"}],
    "mem_limit": "128m",
}


@pytest.mark.parametrize(
    ("document", "services"),
    [
        ({"family": "a", "containerDefinitions": [CONTAINER]}, [{"kv": SERVICE}]),
        ({"taskDefinition": {"containerDefinitions": [CONTAINER]}}, [{"kv": SERVICE}]),
        ({"containerDefinitions": "${file}"}, []),
        (CLOUD_FORMATION, [{"kv": {"image": {"Ref": "Image"}, "environment": {"ETCD_NAME": "a"}}}]),
        (APP, [{"kv": {**OF_APP, "deploy": {"replicas": 1}}}]),
        ({**APP, "instances": 3}, [{"kv": {**OF_APP, "deploy": {"replicas": 3}}}]),
        ({"id": "/", "groups": [{"id": "infra", "apps": [APP]}]}, [{"kv": {**OF_APP, "deploy": {"replicas": 1}}}]),
        (
            {"id": "a", "cmd": "etcd -name a", "container": {"docker": {"image": "a/etcd"}}},
            [{"a": {"image": "a/etcd", "command": "etcd -name a", "deploy": {"replicas": 1}}}],
        ),
        ({"id": "a", "container": {"type": "MESOS"}}, []),
    ],
)
def test_containers_of_other_schedulers(document: dict[str, Any], services: list[Any]) -> None:
    assert unwrap([document]) == [document, *({"services": one} for one in services)]


def test_list_of_containers() -> None:
    assert unwrap([[CONTAINER]]) == [{"services": {"kv": SERVICE}}]
    tasks = [{"name": "a", "image": "b", "command": "etcd"}]
    assert unwrap([tasks]) == [tasks]
