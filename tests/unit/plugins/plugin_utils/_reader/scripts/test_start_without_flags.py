# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Scripts that start etcd without flags, and those in which etcd is only a word."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.read import read

from tests.unit.plugins.plugin_utils._reader.reading import members_in


def members(text: str, path: str = "start.sh") -> list[dict[str, Any]]:
    """The members in one script."""
    text = text if path != "start.sh" else f"#!/bin/bash\n{text}\n"
    files = read({path: text}).document["files"]
    return [entry["contents"]["headroom_member"] for entry in files if "headroom_member" in entry["contents"]]


@pytest.mark.parametrize(
    "text",
    [
        "etcd",
        "etcd &",
        "etcd > /dev/null 2>&1 &",
        "/opt/etcd/etcd >> etcd.log &",
        "cd /opt && ./etcd &",
        "(cd /opt; exec ./etcd) &",
        "sudo -E nohup etcd &",
        "sudo -u etcd /usr/local/bin/etcd &",
        "if true; then etcd & fi",
        "{ etcd & }",
        'echo "Starting (etcd)"; etcd &',
        "GOMAXPROCS=2 etcd &",
        "$(dirname $0)/etcd &",
        'nohup bash -c "./etcd &"',
        "tmux new-session -d -s kv './etcd'",
        "tmux send-keys -t kv 'etcd' C-m",
        'BIN=$(pwd)/bin/etcd\n"$BIN" &',
        "BIN=${BIN:-$HOME/etcd}\n${BIN} >/dev/null &",
        "export ETCD_NAME=a\nexport ETCD_LISTEN_CLIENT_URLS=http://0.0.0.0:2379\nsudo -E etcd &",
    ],
)
def test_start(text: str) -> None:
    assert [found["command"] for found in members(text)] == [["etcd"]]


@pytest.mark.parametrize(
    "text",
    [
        "which etcd || exit 1",
        "pgrep -x etcd >/dev/null",
        "kill $(pidof etcd)",
        "PACKAGES=(\n  etcd\n  vim\n)",
        "MESSAGE='\netcd\nruns'",
        "case $1 in\n  etcd)\n    stop ;;\n  etcd|consul)\n    start ;;\nesac",
        "for p in \\\n  etcd \\\n  consul; do stop $p; done",
        "if [ $KV = etcd ]; then stop; fi",
        "tmux kill-session -t 'etcd'",
        "docker restart etcd",
        'cp -p "${FOLDER}/etcd" "${BIN}"',
        'echo "Finished. To use: ${BIN}/(etcd | etcdctl)"',
        "etcd --version",
        "wait_for etcd 2379",
        'run_component etcd --config "$FILE"',
        "DIR=$HOME/etcd\ncd $DIR",
        "cat <<EOF\n  etcd --listen-client-urls http://0.0.0.0:2379\nEOF",
        "read -r -d '' HELP <<'EOF'\ndocker run quay.io/coreos/etcd:v3.3.1 etcd\nEOF",
        "echo 'run etcd --listen-client-urls http://0.0.0.0:2379 first'",
        "QUOTE='\netcd",
        'echo "ETCD_LISTEN_CLIENT_URLS=$ETCD_LISTEN_CLIENT_URLS"',
    ],
)
def test_word(text: str) -> None:
    reading = read({"start.sh": f"#!/bin/bash\n{text}\n"})
    assert reading.document["files"] == []
    assert reading.document["unparsed"] == {}


@pytest.mark.parametrize(
    "text",
    [
        "{\n  echo ETCD_LISTEN_CLIENT_URLS=http://a:2379\n} > /etc/default/etcd",
        "conf() {\n  echo ETCD_LISTEN_CLIENT_URLS=http://a:2379\n}\nconf > /etc/etcd.env",
        "echo ETCD_LISTEN_CLIENT_URLS=http://a:2379 >> $FILE",
    ],
)
def test_variables_that_are_written(text: str) -> None:
    assert [found["environment"] for found in members(text)] == [{"ETCD_LISTEN_CLIENT_URLS": "http://a:2379"}]


def test_arguments_of_the_caller() -> None:
    [found] = members('exec etcd "$@"')
    assert list(found["unknown"]) == ["$@"]


def test_elements_of_an_array() -> None:
    text = (
        'A=(\n --name "$(hostname -s)" # the host\n --listen-client-urls "http://0.0.0.0:2379"\n)\nexec etcd "${A[@]}"'
    )
    [found] = members(text)
    assert found["command"] == ["etcd", "--name", "$(command)", "--listen-client-urls", "http://0.0.0.0:2379"]


def test_command_in_a_variable_of_su() -> None:
    text = 'cmd="/opt/etcd --data-dir /data --max-wals 3"\nsu - kv -s /bin/bash -c "$cmd" &'
    assert members(text)[0]["command"] == ["etcd", "--data-dir", "/data", "--max-wals", "3"]


def test_config_file_that_the_script_writes() -> None:
    text = "cat > /etc/etcd.yml <<EOF\nlisten-client-urls: http://0.0.0.0:2379\nadvertise-client-urls: http://a:2379\nEOF\n"
    assert members(f"{text}etcd --config-file=/etc/etcd.yml &") == []
    assert len(members(f"{text}etcd --config-file=/etc/other.yml &")) == 1


@pytest.mark.parametrize(
    "text",
    [
        "jobs: {test: {steps: [{run: 'docker run quay.io/coreos/etcd:v3.5.1 etcd --data-dir /data'}]}}\n",
        "jobs:\n  test:\n    steps:\n      - run: |\n          tar xzf etcd.tgz\n          ./etcd &\n",
        "before_script:\n  - tar xzf etcd.tgz\n  - ./etcd --data-dir /data &\n",
    ],
)
def test_commands_of_a_pipeline(text: str) -> None:
    assert len(members(text, ".ci.yml")) == 1


def test_names_in_a_document() -> None:
    text = "apiVersion: v1\nkind: ConfigMap\ndata:\n  components: |\n    etcd\n    scheduler\n"
    assert members(text, "map.yaml") == []


def test_inline_script_of_vagrant() -> None:
    text = 'Vagrant.configure("2") do |config|\n  config.vm.provision "shell", inline: <<~SCRIPT\n    etcd --max-wals 3 &\n  SCRIPT\nend\n'
    assert len(members(text, "Vagrantfile")) == 1


@pytest.mark.parametrize(
    ("line", "starts"),
    [
        ("nohup etcd > /tmp/etcd.log 2>&1 &", True),
        ("sudo -u etcd bash -c 'cd /tmp && nohup etcd & >> log'", True),
        ("exec /usr/bin/etcd", True),
        ("for name in etcd etcdctl; do", False),
        ("echo starting etcd", False),
    ],
)
def test_etcd_without_a_flag(line: str, starts: bool) -> None:
    assert bool(members_in("start.sh", f"#!/bin/sh\n{line}\n")) == starts
