# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Containers that Podman runs as services."""

from __future__ import annotations

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.read import read

from tests.unit.plugins.plugin_utils._reader.reading import members_in

QUADLET = """[Unit]
Description=etcd
[Container]
Image=quay.io/coreos/etcd:v3.5.0
Environment=ETCD_NAME=n1
EnvironmentFile=/etc/etcd.env
Volume=/var/lib/etcd:/data
Memory=1G
Exec=etcd --data-dir /data
"""


@pytest.mark.parametrize(
    "option", ["Tmpfs=/data:rw", "Mount=type=tmpfs,destination=/data", "PodmanArgs=--tmpfs /data --memory=1G"]
)
def test_memory_in_a_container_of_podman(option: str) -> None:
    [member] = members_in("etcd.container", QUADLET.replace("Volume=/var/lib/etcd:/data", option))
    assert member["in_memory"] == member["mounts"] == ["/data"] and member["limit"]["size"] == "1G"


def test_a_container_of_podman() -> None:
    [member] = members_in("etcd.container", QUADLET)
    assert (member["name"], member["image"], member["mounts"]) == ("n1", "quay.io/coreos/etcd:v3.5.0", ["/data"])
    assert member["command"] == ["etcd", "--data-dir", "/data"] and member["limit"]["size"] == "1G"
    assert member["unknown"] == {"EnvironmentFile=/etc/etcd.env": "it is not among the files"}
    assert member["where"]["etcd_version"] == ["etcd.container", 4] and member["where"]["--data-dir"][1] == 9
    assert (
        members_in("a.container", QUADLET.replace("coreos/etcd", "app/web").replace("etcd --data-dir", "web -d")) == []
    )
    files = {"etcd.container": QUADLET, "etc/etcd.env": "ETCD_LISTEN_CLIENT_URLS=http://0.0.0.0:2379\n"}
    [entry] = read(files).document["files"]
    assert "ETCD_LISTEN_CLIENT_URLS" in entry["contents"]["headroom_member"]["environment"]
