# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of docker, podman and nerdctl."""

from __future__ import annotations

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.shell.command_line import find_etcd, split_words
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.shell.engine_options import options_of

from tests.unit.plugins.plugin_utils._reader.reading import members_in

URLS = "--listen-client-urls http://0.0.0.0:2379"


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ("-p 2379:2379", [("-p", "2379:2379")]),
        ("-p2379:2379 -eX=Y -v/a:/b -m2g", [("-p", "2379:2379"), ("-e", "X=Y"), ("-v", "/a:/b"), ("-m", "2g")]),
        ("-e=X=Y", [("-e", "X=Y")]),
        ("-itv /a:/b", [("-v", "/a:/b")]),
        ("-dp2379:2379", [("-p", "2379:2379")]),
        ("-it -d=true -P", []),
        ("--rm --init=true --env X=Y --memory=2g", [("--env", "X=Y"), ("--memory", "2g")]),
        ("-name a -volume=/a:/b", [("-name", "a"), ("-volume", "/a:/b")]),
        ("-x 1", [("-x", "1")]),
    ],
)
def test_options(words: str, options: list[tuple[str, str]]) -> None:
    assert options_of([*words.split(), "image", "-c"]) == (options, ["image", "-c"])


def test_option_without_its_value() -> None:
    assert options_of(["-e"]) == ([("-e", "")], [])


def test_container_with_attached_options() -> None:
    command = "docker run -dp2379:2379 -eETCD_UNSAFE_NO_FSYNC=true -v/srv:/data -m2g quay.io/coreos/etcd:v3.5.1 etcd --data-dir /data"
    found = find_etcd(split_words(command))
    assert found is not None and found.image == "quay.io/coreos/etcd:v3.5.1"
    assert found.words == ("etcd", "--data-dir", "/data") and found.memory == "2g"
    assert found.environment == (("ETCD_UNSAFE_NO_FSYNC", "true"),) and found.mounts == (("/data", "/srv"),)


@pytest.mark.parametrize(
    ("option", "folders"),
    [
        ("-v /data:/var/lib/etcd:Z", {"/var/lib/etcd": "/data"}),
        ("--mount type=volume,src=x,target=/d", {"/d": ""}),
        ("--mount type=bind,source=/tmp/x,destination=/d", {"/d": "/tmp/x"}),
        ("-v /d", {"/d": ""}),
        ("-d", {}),
    ],
)
def test_volumes_of_a_container(option: str, folders: dict[str, str]) -> None:
    [found] = members_in("run.sh", f"#!/bin/sh\ndocker run {option} quay.io/coreos/etcd:v3.5.1 etcd {URLS}\n")
    assert (found["mounts"], found["folders"]) == ([*folders], folders)


@pytest.mark.parametrize("command", ["network create etcd", "volume create etcd", "--context a pod create etcd"])
def test_docker_creates_other_things_too(command: str) -> None:
    assert members_in("up.sh", f"#!/bin/sh\ndocker {command}\n") == []
    [_member] = members_in(
        "etcd.service", "[Service]\nExecStart=/usr/bin/docker -H unix:///a.sock run quay.io/coreos/etcd:v3.5.0\n"
    )
    [member] = members_in("up.sh", "#!/bin/sh\ndocker --context a container run quay.io/coreos/etcd:v3.5.0\n")
    assert member["image"] == "quay.io/coreos/etcd:v3.5.0"


def test_the_volumes_of_another_container() -> None:
    command = "docker run --volumes-from data quay.io/coreos/etcd:v3.5.1 etcd --name a"
    [member] = members_in("etcd.sh", f"#!/bin/sh\n{command}\n")
    assert member["mounts"] == ["/"]
