# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files and commands of cloud-init."""

from __future__ import annotations

import base64

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.read import read

from tests.unit.plugins.plugin_utils._reader.reading import documents_in, members_in

URLS = "--listen-client-urls http://0.0.0.0:2379"

CLOUD_CONFIG = f"""#cloud-config
runcmd:
  - curl -LO https://github.com/etcd-io/etcd/releases/download/v3.4.13/etcd-v3.4.13-linux-amd64.tar.gz
  - [sh, -c, "nohup etcd --name a {URLS} &"]
  - [etcd, --name, b, --listen-client-urls, "http://0.0.0.0:2379"]
  - |
    docker run quay.io/coreos/etcd:v3.5.1 etcd --name c {URLS}
  - 5
"""


@pytest.mark.parametrize("path", ["user-data", "init.yaml", "init.yml.tftpl"])
def test_commands_of_cloud_init(path: str) -> None:
    found = {member["name"]: member for member in members_in(path, CLOUD_CONFIG)}
    assert {name: member["release"] for name, member in found.items()} == {"a": "3.4.13", "b": "3.4.13", "c": None}
    assert found["c"]["image"] == "quay.io/coreos/etcd:v3.5.1"
    assert found["a"]["where"]["--name"] == [path, 4]
    assert found["c"]["where"]["--name"] == [path, 7]
    assert found["a"]["where"]["etcd_version"] == [path, 3]


WRITE_FILES = """#cloud-config
write_files:
  - path: /etc/kubernetes/manifests/etcd.yaml
    content: |
      apiVersion: v1
      kind: Pod
      spec: {{containers: [{{name: etcd, image: "etcd:v3.5.4"}}]}}
  - path: /etc/rancher/k3s/config.yaml
    content: |
      cluster-init: true
  - path: /etc/other.yaml
    content: |
      apiVersion: v1
      kind: Service
  - path: /etc/default/etcd
    encoding: b64
    content: {encoded}
  - path: /etc/lost
    encoding: b64
    content: ${{base64encode(file)}}
  - path: /etc/etcd/etcd.conf.yml
    content: |
      listen-client-urls: http://0.0.0.0:2379
      advertise-client-urls: http://10.0.0.1:2379
runcmd:
  - curl -LO https://github.com/etcd-io/etcd/releases/download/v3.5.0/etcd-v3.5.0-linux-amd64.tar.gz
"""


def test_files_of_cloud_init() -> None:
    encoded = base64.b64encode(b"ETCD_NAME=a\nETCD_LISTEN_CLIENT_URLS=http://0.0.0.0:2379\n").decode()
    document = read({"user-data": WRITE_FILES.format(encoded=encoded)}).document
    contents = [entry["contents"] for entry in document["files"]][1:]
    assert [each.get("kind") for each in contents if "apiVersion" in each] == ["Pod"]
    assert {"cluster-init": True} in contents
    (decoded,) = (each["headroom_member"] for each in contents if "headroom_member" in each)
    assert decoded["environment"]["ETCD_NAME"] == "a"
    assert decoded["where"]["ETCD_NAME"] == ["user-data", 17]
    (config,) = (each for each in contents if "listen-client-urls" in each)
    assert config["headroom_release"] == "3.5.0"
    assert document["unparsed"] == {}


def test_a_container_in_the_commands_of_cloud_init() -> None:
    [member] = members_in("user-data", "#cloud-config\nruncmd:\n  - docker run -d quay.io/coreos/etcd:v3.4.10 etcd\n")
    assert member["image"] == "quay.io/coreos/etcd:v3.4.10"


TERRAFORM = """resource "a" "b" {
  user_data = <<EOF
#cloud-config
coreos:
  etcd2: {name: a}
EOF
}
"""


def test_a_cloud_config_in_a_here_document() -> None:
    assert documents_in("main.tf", TERRAFORM) == [{"coreos": {"etcd2": {"name": "a"}}}]


def test_texts_inside_documents() -> None:
    cloud_init = """#cloud-config
write_files:
  - path: /etc/systemd/system/etcd.service
    content: |
      [Service]
      EnvironmentFile=/etc/etcd.env
      ExecStart=/usr/bin/etcd --force-new-cluster
  - path: /etc/etcd.env
    content: |
      ETCD_SNAPSHOT_COUNT=5
  - path: /etc/motd
    content: |
      Welcome
      here
"""
    _plain, *found = read({"user-data.yml": cloud_init}).document["files"]
    (member,) = (entry["contents"]["headroom_member"] for entry in found)
    assert member["where"]["--force-new-cluster"] == ["user-data.yml", 7]
    assert member["where"]["ETCD_SNAPSHOT_COUNT"] == ["user-data.yml", 10]
