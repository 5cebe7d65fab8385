# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""etcd's command line behind other programs and in containers."""

from __future__ import annotations

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.shell.command_line import find_etcd, split_words

from tests.unit.plugins.plugin_utils._reader.reading import members_in

URLS = "--listen-client-urls http://0.0.0.0:2379"


@pytest.mark.parametrize("image", ["quay.io/coreos/etcd:v2.3.8", "kv"])
def test_a_container_whose_first_flag_is_one_of_the_server(image: str) -> None:
    text = f"#!/bin/sh\ndocker run {image} -advertise-client-urls http://10.0.0.1:2379 -name a -listen-client-urls http://0.0.0.0:2379\n"
    [member] = members_in("up.sh", text)
    assert member["command"][-2:] == ["-listen-client-urls", "http://0.0.0.0:2379"]
    assert (member["command"][1] == "-advertise-client-urls") is (image != "kv")
    assert members_in("up.sh", "#!/bin/sh\ndocker run kv -advertise-client-urls http://10.0.0.1:2379\n") == []


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


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("etcd --name n1", ("etcd", "--name", "n1")),
        ("exec /usr/bin/etcd -name n1 2>&1 | tee log", ("etcd", "-name", "n1")),
        ("@/usr/local/bin/etcd3 --debug", ("etcd", "--debug")),
        ("sh -c 'etcd --name=n1 && true'", ("etcd", "--name=n1")),
        ("{{ bin_dir }}/server --listen-client-urls=x", ("etcd", "--listen-client-urls=x")),
        ("/usr/bin/podman run --rm --entrypoint=etcd image:1 --name n1", ("etcd", "--name", "n1")),
        ("docker run quay.io/coreos/etcd:v3.5.1", ("etcd",)),
        ("docker run --entrypoint etcdctl quay.io/coreos/etcd:v3.5.1 --endpoints=http://a:2379 member list", None),
        ("docker run --entrypoint '/bin/etcdctl member list' quay.io/coreos/etcd:v3.5.1", None),
        ("docker run --entrypoint sh quay.io/coreos/etcd:v3.5.1 -c 'etcdctl member list'", None),
        ("docker run --entrypoint sh quay.io/coreos/etcd:v3.5.1 -c 'etcd --name a'", ("etcd", "--name", "a")),
        ("docker run --entrypoint /start quay.io/coreos/etcd:v3.5.1 --name a", ("etcd", "--name", "a")),
        ("docker run busybox ls /etcd", None),
        ("docker rmi quay.io/coreos/etcd:v3.5.1 || true && docker run quay.io/coreos/etcd:v3.5.1", ("etcd",)),
        ("docker rmi quay.io/coreos/etcd:v3.5.1 && docker run busybox ls /etcd", None),
        ("docker stop etcd", None),
        ("etcdctl --endpoints x", None),
        ("kube-apiserver --etcd-servers=x", None),
        ("mkdir -p /var/lib/etcd", None),
        ("systemctl enable etcd", None),
        ("chown -R etcd /var/lib/etcd", None),
    ],
)
def test_command(text: str, words: tuple[str, ...] | None) -> None:
    found = find_etcd(split_words(text))
    assert (found.words if found else None) == words
