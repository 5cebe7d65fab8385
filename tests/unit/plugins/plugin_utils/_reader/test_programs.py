# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs that start etcd with options of their own, engines in variables, and defaults of a shell's variables."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.read import read
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.shell.command_line import find_etcd, split_words

URLS = "--listen-client-urls http://0.0.0.0:2379"


def members(path: str, text: str) -> list[dict[str, Any]]:
    """The members in one file."""
    files = read({path: text}).document["files"]
    return [entry["contents"]["headroom_member"] for entry in files if "headroom_member" in entry["contents"]]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"start-stop-daemon --start --pidfile /run/etcd.pid --exec /usr/bin/etcd -- --name a {URLS}", "--name a URLS"),
        (f"chpst -u etcd --bogus 1 {URLS}", "URLS"),
        (f"runner --verbose --name a {URLS}", "--name a URLS"),
        # The program is etcd, so each flag is one of etcd's.
        (f"/usr/lib/coreos/etcd-wrapper --bogus {URLS}", "--bogus URLS"),
        (f"$DAEMON --bogus {URLS}", "--bogus URLS"),
        (f"etcd.exe --name a {URLS}", "--name a URLS"),
        (
            "etcd --name <%= @name %> --wal-dir {% if x == 'a' %}/w{% endif %}",
            "--name {{@name}} --wal-dir {%ifx==a%}/w{%endif%}",
        ),
        (
            'etcd --initial-cluster ${join(",", var.peers)} --name ${ var.name }',
            "--initial-cluster ${join(,,var.peers)} --name ${var.name}",
        ),
        ("etcd --name ${NAME:-a} --wal-dir ${WAL}", "--name a --wal-dir ${WAL}"),
    ],
)
def test_flags_behind_another_program(text: str, words: str) -> None:
    found = find_etcd(split_words(text))
    assert found is not None
    assert " ".join(found.words[1:]) == words.replace("URLS", URLS)


@pytest.mark.parametrize(
    ("text", "image"),
    [
        (f"$ENGINE run -d --quiet quay.io/coreos/etcd:v3.5.1 {URLS}", "quay.io/coreos/etcd:v3.5.1"),
        (f"$ENGINE run quay.io/a/b {URLS}", None),
        (
            f"/usr/bin/rkt run --mount volume=d,target=/d quay.io/coreos/etcd:v3.2.9 --exec /etcd -- {URLS}",
            "quay.io/coreos/etcd:v3.2.9",
        ),
        (
            f"rkt --insecure-options=image run docker://quay.io/coreos/etcd:v3.2.9 -- {URLS}",
            "quay.io/coreos/etcd:v3.2.9",
        ),
    ],
)
def test_engines(text: str, image: str | None) -> None:
    found = find_etcd(split_words(text))
    assert found is not None
    assert found.image == image
    assert " ".join(found.words[1:]) == URLS


@pytest.mark.parametrize("text", [f"rkt fetch quay.io/coreos/etcd:v3.2.9 -- {URLS}", "rkt run a/b:1 -- --name a"])
def test_other_pods(text: str) -> None:
    assert find_etcd(split_words(text)) is None


@pytest.mark.parametrize("line", ["V=${1:-v3.3.10}", ': "${V:=v3.3.10}"', "declare -r V=v3.3.10", "local V='v3.3.10'"])
def test_release_in_a_variable_of_the_image(line: str) -> None:
    (found,) = members("a.sh", f"#!/bin/sh\n{line}\ndocker run quay.io/coreos/etcd:$V etcd {URLS}\n")
    assert found["image"] == "quay.io/coreos/etcd:v3.3.10"
