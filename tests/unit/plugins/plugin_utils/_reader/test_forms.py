# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""More forms of files: Makefiles, Ignition in JSON, drop-ins with flags, images that copy etcd, items of loops, and maps of variables."""

from __future__ import annotations

import json
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.read import read
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.scripts.makefile import is_makefile, shell_lines
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.text.lines import lines_of

URLS = "--listen-client-urls http://0.0.0.0:2379"
MAKEFILE = f"""ETCD_IMAGE ?= quay.io/coreos/etcd:v3.5.3 # newest
export ARGS := --name a "x"
etcd: deps
\t@docker run $(ETCD_IMAGE) \\
  etcd --name $$HOSTNAME {URLS}
"""
IGNITION = {
    "ignition": {"version": "2.0.0"},
    "systemd": {"units": [{"name": "etcd.service", "contents": f"[Service]\nExecStart=etcd --name a {URLS}\n"}]},
}
LOOP = """- lineinfile: {path: /etc/etcd.conf, line: "{{ item.key }}={{ item.value }}"}
  loop:
    - {key: ETCD_LISTEN_CLIENT_URLS, value: "http://0.0.0.0:2379"}
    - {name: ETCD_NAME, value: a}
    - {name: PATH, value: /bin}
"""
ERB = """[Service]
ExecStart=/usr/bin/etcd --name <%= @name %> \\
  <% if @tls -%>
  --cert-file /a \\
  <% end -%>
  <% @more.each do |flag| -%>
  --wal-dir /w \\
  <% end -%>
  --data-dir /d
"""
TERRAFORM = """resource "a" "b" {
  user_data = <<EOF
#cloud-config
coreos:
  etcd2: {name: a}
EOF
}
"""


def contents(path: str, text: str) -> list[Any]:
    """What was read of one file."""
    return [entry["contents"] for entry in read({path: text}).document["files"]]


def member(path: str, text: str) -> dict[str, Any]:
    """The only member of a file."""
    [found] = [each["headroom_member"] for each in contents(path, text) if "headroom_member" in each]
    return found


@pytest.mark.parametrize(
    ("path", "found"), [("a/Makefile", True), ("Makefile.etcd", True), ("etcd.mk", True), ("Makefiles/a", False)]
)
def test_names_of_makefiles(path: str, found: bool) -> None:
    assert is_makefile(path) == found


def test_a_makefile() -> None:
    texts = [line.text for line in shell_lines(lines_of("Makefile", MAKEFILE))]
    assert texts == [
        'ETCD_IMAGE="quay.io/coreos/etcd:v3.5.3"',
        "export ARGS='--name a \"x\"'",
        "",
        "docker run ${ETCD_IMAGE} \\",
        f"  etcd --name $HOSTNAME {URLS}",
    ]
    found = member("Makefile", MAKEFILE)
    assert found["image"] == "quay.io/coreos/etcd:v3.5.3"
    assert found["where"]["--name"] == ["Makefile", 5]


INSTALLS = """PRODUCT = etcd
VERSION = 3.4.3
ARCHIVE = ${PRODUCT}-v${VERSION}-linux-amd64.tar.gz

fetch:
\tcurl -LO https://github.com/etcd-io/etcd/releases/download/v$(VERSION)/${ARCHIVE}
\ttar xzf ${ARCHIVE}

install:
\tinstall -m 0755 ${PRODUCT}-v${VERSION}-linux-amd64/etcdctl /usr/bin/
"""


@pytest.mark.parametrize(
    ("more", "releases"),
    [
        ("", []),
        ("\tinstall -m 0644 files/host-${PRODUCT}.service /etc/systemd/system/\n", ["3.4.3"]),
        ("\tinstall ${PRODUCT}-v${VERSION}-linux-amd64/${PRODUCT} /usr/bin/\n", ["3.4.3"]),
    ],
)
def test_a_makefile_that_installs(more: str, releases: list[str]) -> None:
    found = [one["headroom_member"] for one in contents("Makefile", INSTALLS + more) if "headroom_member" in one]
    assert [one["release"] for one in found] == releases


def test_an_installation_on_another_host() -> None:
    text = "scp etcd-v3.4.3-linux-amd64.tar.gz root@a:\nssh root@a << 'EOF'\ntar xf etcd-v3.4.3-linux-amd64.tar.gz\nsystemctl start etcd\nEOF\n"
    assert member("etcd.sh", text)["release"] == "3.4.3"


def test_variables_without_a_command() -> None:
    text = "env ETCD_NAME=a\nenv ETCD_LISTEN_CLIENT_URLS=http://${IP}:2379\n\n/usr/local/bin/etcd\n"
    found = member("run-etcd", text)
    assert (found["command"], found["environment"]) == (["etcd"], {})
    assert contents("run-etcd", "/usr/local/bin/etcd\n") == []


@pytest.mark.parametrize("path", ["node.ign.json", "node.ign.tpl"])
def test_texts_in_json(path: str) -> None:
    text = json.dumps(IGNITION, indent=1)
    found = member(path, text)
    assert found["name"] == "a"
    assert found["where"]["--name"][1] == next(n for n, line in enumerate(text.splitlines(), 1) if "ExecStart" in line)


@pytest.mark.parametrize("unit", ["", "ExecStart=\nExecStart=/usr/lib/coreos/etcd-wrapper $ETCD_OPTS\n"])
def test_flags_in_a_drop_in(unit: str) -> None:
    text = f'[Service]\nEnvironment="ETCD_IMAGE_TAG=v3.4.1"\nEnvironment="ETCD_OPTS=--name=a {URLS}"\n{unit}'
    found = member("etcd-member.service.d/10-opts.conf", text)
    assert found["command"] == ["etcd", "--name=a", *URLS.split()]
    assert (found["name"], found["release"]) == ("a", "3.4.1")
    assert bool(found["unknown"]) == (not unit)


@pytest.mark.parametrize(
    ("copy", "image"),
    [
        ("COPY --from=build /usr/local/bin/etcd /bin/", "quay.io/coreos/etcd:v3.5.2"),
        ("COPY --chown=a --from=quay.io/coreos/etcd:v3.5.1 /usr/local/bin/etcd* /bin/", "quay.io/coreos/etcd:v3.5.1"),
        ("COPY --from=build /usr/local/bin/etcdctl /bin/", None),
        ("COPY --from=other /etcd /bin/", None),
    ],
)
def test_an_image_that_copies_etcd(copy: str, image: str | None) -> None:
    text = f"FROM quay.io/coreos/etcd:v3.5.2 AS build\nFROM golang AS other\nFROM debian\n{copy}\nCMD etcd\n"
    assert member("Dockerfile", text)["image"] == image


def test_the_items_of_a_loop() -> None:
    found = member("tasks.yml", LOOP)
    assert found["environment"] == {"ETCD_LISTEN_CLIENT_URLS": "http://0.0.0.0:2379", "ETCD_NAME": "a"}
    assert found["where"]["ETCD_NAME"] == ["tasks.yml", 4]


def test_conditions_of_ruby() -> None:
    words = member("etcd.service.erb", ERB)["command"]
    assert words == ["etcd", "--name", "{{@name}}", "{{condition}}", "--wal-dir", "/w", "--data-dir", "/d"]


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
    found = [each["headroom_member"] for each in contents(path, text) if "headroom_member" in each]
    assert len(found) == count
    if found:
        assert found[0]["environment"]["ETCD_LISTEN_CLIENT_URLS"] == "http://a:2379"
        assert found[0]["silent"] == ["extra_config"]


def test_a_cloud_config_in_a_here_document() -> None:
    assert contents("main.tf", TERRAFORM) == [{"coreos": {"etcd2": {"name": "a"}}}]


def test_variables_that_a_script_exports_later() -> None:
    lines = ': "${ETCD_LISTEN_CLIENT_URLS:=http://0.0.0.0:2379}"\nETCD_NAME=a\nETCD_DATA_DIR=/d\n'
    found = member("entrypoint.sh", f"#!/bin/sh\n{lines}export ETCD_LISTEN_CLIENT_URLS ETCD_NAME\nexec etcd\n")
    assert found["environment"] == {"ETCD_LISTEN_CLIENT_URLS": "http://0.0.0.0:2379", "ETCD_NAME": "a"}


@pytest.mark.parametrize("command", ["daemon --user etcd", "run_on node1", "timeout 5", "my-ssh $host"])
def test_a_command_in_quotes(command: str) -> None:
    assert member("a.sh", f'#!/bin/sh\n{command} "nohup etcd --name a {URLS} &"\n')["name"] == "a"


@pytest.mark.parametrize(
    ("command", "count"),
    [
        ('echo "ETCD_NAME=$1\nETCD_DATA_DIR=$D\nETCD_LISTEN_CLIENT_URLS=http://a:2379" > /etc/etcd.conf', 1),
        ("sudo printf 'ETCD_DATA_DIR=/d\nETCD_LISTEN_CLIENT_URLS=http://a:2379\n' | tee /etc/etcd.conf", 1),
        ('echo "ETCD_DATA_DIR=/d\nETCD_LISTEN_CLIENT_URLS=http://a:2379"', 0),
        ('echo "ETCD_DATA_DIR=/d\nETCD_LISTEN_CLIENT_URLS=http://a:2379', 0),
    ],
)
def test_a_text_that_echo_writes(command: str, count: int) -> None:
    written = contents("a.sh", f"#!/bin/sh\nD=/d\n{command}\nexit 0\n")
    assert [each["headroom_member"]["environment"]["ETCD_DATA_DIR"] for each in written] == ["/d"] * count
    if written:
        assert written[0]["headroom_member"]["where"]["ETCD_LISTEN_CLIENT_URLS"][0] == "a.sh"


@pytest.mark.parametrize("value", [f"--name a {URLS}", ["--name=a", "--listen-client-urls=http://0.0.0.0:2379"]])
def test_flags_in_a_variable_of_a_role(value: Any) -> None:
    found = member("main.yml", json.dumps({"etcd_options": value, "other": ["--a"]}))
    assert (found["name"], found["silent"]) == ("a", ["extra_config"])


@pytest.mark.parametrize(
    "line",
    ["env ETCD_LISTEN_CLIENT_URLS=http://a:2379 /usr/bin/etcd", "export ETCD_LISTEN_CLIENT_URLS=http://a:2379\netcd &"],
)
def test_etcd_with_variables_alone(line: str) -> None:
    found = member("a.sh", f"#!/bin/sh\n{line}\n")
    assert found["format"] == "script" and "ETCD_LISTEN_CLIENT_URLS" in found["environment"]


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("# a comment\n{{- if .A }}\n---\napiVersion: v1\nkind: Pod\n{{- end }}\n", ["Pod"]),
        ('{"apiVersion": "v1", "kind": "Pod"}', ["Pod"]),
        ("etcd_pod: |\n  apiVersion: v1\n", []),
    ],
)
def test_a_manifest_of_any_name(text: str, kinds: list[str]) -> None:
    assert [each["kind"] for each in contents("etcd.manifest", text)] == kinds


def test_variables_of_a_client() -> None:
    assert contents("a.env", "ETCD_ENDPOINTS=http://a:2379\nETCD_DATA_DIR=/d\n") == []
    assert len(contents("a.env", "ETCD_ENDPOINTS=http://a:2379\nETCD_LISTEN_CLIENT_URLS=http://a:2379\n")) == 1


@pytest.mark.parametrize("word", ["${TLS:+--client-cert-auth}", '"${ARGS[@]}"', "${ARGS}"])
def test_words_that_may_become_flags(word: str) -> None:
    assert list(member("a.sh", f"#!/bin/sh\netcd --name a {word} {URLS}\n")["unknown"]) == [word.strip('"')]
