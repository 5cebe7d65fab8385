# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Arguments and variables that a script collects for etcd."""

from __future__ import annotations

import pytest

from tests.unit.plugins.plugin_utils._reader.reading import member_in, members_in

URLS = "--listen-client-urls http://0.0.0.0:2379"
FLAGS = ["--listen-client-urls", "http://0.0.0.0:2379"]

EXPORTS = """#!/bin/bash
IP=$(hostname -i)
export ETCD_NAME="a"
export ETCD_LISTEN_CLIENT_URLS="http://${IP}:2379"
"""


def test_variables_that_a_script_exports_for_others() -> None:
    [member] = members_in("defaults", EXPORTS)
    assert (member["name"], member["environment"]["ETCD_LISTEN_CLIENT_URLS"]) == ("a", "http://${IP}:2379")
    assert member["where"]["ETCD_LISTEN_CLIENT_URLS"] == ["defaults", 4]
    assert not members_in("client", EXPORTS.replace("ETCD_LISTEN_CLIENT_URLS", "ETCD_INITIAL_CLUSTER"))


@pytest.mark.parametrize("run", ["$CMD", "exec $CMD", '$CMD >> "$LOG" 2>&1'])
def test_a_command_in_a_variable(run: str) -> None:
    [member] = members_in("start.sh", f'#!/bin/sh\nIP=$(hostname -i)\nCMD="etcd -name a \\\n {URLS} $MORE"\n{run}\n')
    assert member["name"] == "a" and member["where"]["--listen-client-urls"] == ["start.sh", 4]
    [constant] = members_in("start.sh", f"#!/bin/sh\nCMD='etcd --name a {URLS}'\n{run}\n")
    assert constant["name"] == "a" and constant["where"]["--name"] == ["start.sh", 3]


@pytest.mark.parametrize("arguments", ["$*", "$@", ""])
def test_a_command_in_a_variable_with_the_arguments_of_the_script(arguments: str) -> None:
    text = f'#!/bin/sh\nCOMMAND="/bin/etcd --listen-client-urls http://${{IP}}:2379 {arguments}"\nexec $COMMAND\n'
    [member] = members_in("run.sh", text)
    assert (member["command"][-1], member["unknown"]) == ("http://${IP}:2379", {})


@pytest.mark.parametrize(
    "lines",
    [
        'ARGS="--name n1"\nARGS="$ARGS --listen-client-urls http://$IP:2379"\netcd $ARGS',
        'ARGS="--name n1"\nARGS+=" --listen-client-urls http://$IP:2379"\nexec /usr/bin/etcd $ARGS',
        'ARGS=(\n  --name n1 # here\n  --listen-client-urls http://$IP:2379\n)\netcd "${ARGS[@]}"',
        "if true; then etcd --name n1 --listen-client-urls http://$IP:2379; fi",
    ],
)
def test_arguments_that_a_script_collects(lines: str) -> None:
    [member] = members_in("start.sh", f"#!/bin/bash\nIP=0.0.0.0\n{lines}\n")
    assert member["command"] == ["etcd", "--name", "n1", *FLAGS]


def test_flags_in_an_associative_array() -> None:
    text = """#!/bin/bash
PORT=2379
declare -A flags
flags["name"]=${HOSTNAME}
flags["listen-client-urls"]="http://0.0.0.0:${PORT}"
flags["initial-cluster-token"]=a # once
args=$(to_args flags)
etcd $args
"""
    [member] = members_in("start.sh", text)
    assert member["command"][2:] == ["--listen-client-urls=http://0.0.0.0:2379", "--initial-cluster-token=a"]
    assert member["where"]["--listen-client-urls"] == ["start.sh", 5]
    # With one flag of etcd alone, the array may be about something else.
    [member] = members_in("start.sh", text.replace("initial-cluster-token", "color"))
    assert member["command"] == ["etcd", "$args"]


def test_arguments_under_a_condition_are_unknown() -> None:
    text = '#!/bin/bash\nA="--name n1"\nif [ "$1" ]; then\n  A="$A --force-new-cluster"\nfi\netcd $A --max-wals=5\n'
    [member] = members_in("start.sh", text)
    assert "--force-new-cluster" not in member["command"] and "$A" in member["unknown"]


@pytest.mark.parametrize(
    ("before", "value"),
    [
        ("LIST=${NAME}=http://${IP}:2380", "${NAME}=http://${IP}:2380"),
        ("LIST=a=http://a:2380", "a=http://a:2380"),
        ("LIST=a=http://$(hostname -i):2380", "$LIST"),
        ("LIST=a=http://$1:2380", "$LIST"),
        ("LIST=a=http://a:2380\nLIST+=,b=http://b:2380", "$LIST"),
        ("for i in 1 2; do LIST=x; done\nLIST=${LIST}n$i=http://$ip:2380,", "$LIST"),
        ("for LIST in a b; do\nLIST=http://a:2380", "$LIST"),
        ("LIST=a=http://a:2380\nread -r LIST", "$LIST"),
        ("while read -r LIST; do\nLIST=http://a:2380", "$LIST"),
    ],
)
def test_a_list_of_members_in_a_variable(before: str, value: str) -> None:
    [member] = members_in("etcd.sh", f"#!/bin/sh\n{before}\netcd {URLS} --initial-cluster $LIST\n")
    assert member["command"][-1] == value


def test_variables_that_a_script_exports_later() -> None:
    lines = ': "${ETCD_LISTEN_CLIENT_URLS:=http://0.0.0.0:2379}"\nETCD_NAME=a\nETCD_DATA_DIR=/d\n'
    found = member_in("entrypoint.sh", f"#!/bin/sh\n{lines}export ETCD_LISTEN_CLIENT_URLS ETCD_NAME\nexec etcd\n")
    assert found["environment"] == {"ETCD_LISTEN_CLIENT_URLS": "http://0.0.0.0:2379", "ETCD_NAME": "a"}


@pytest.mark.parametrize("word", ["${TLS:+--client-cert-auth}", '"${ARGS[@]}"', "${ARGS}"])
def test_words_that_may_become_flags(word: str) -> None:
    assert list(member_in("a.sh", f"#!/bin/sh\netcd --name a {word} {URLS}\n")["unknown"]) == [word.strip('"')]


FLAGS_IN_VARIABLES = """#!/bin/sh
cat > /etc/etcd.conf <<EOF
ETCD_NAME="--name=a"
ETCD_DATA_DIR="--data-dir=/srv/etcd"
EOF
ALL="\\${ETCD_NAME} \\\\
     \\${ETCD_DATA_DIR}"
cat > /etc/systemd/system/etcd.service <<EOF
[Service]
EnvironmentFile=/etc/etcd.conf
ExecStart=/usr/bin/etcd ${ALL}
EOF
"""


def test_references_that_a_script_writes_over_several_lines() -> None:
    [found] = members_in("install.sh", FLAGS_IN_VARIABLES)
    assert found["command"] == ["etcd", "--name=a", "--data-dir=/srv/etcd"]
    assert found["environment"] == {"ETCD_NAME": "--name=a", "ETCD_DATA_DIR": "--data-dir=/srv/etcd"}


@pytest.mark.parametrize(
    "change",
    [
        # Set twice, set under a condition, and with a part that is not known.
        ("ALL=", "ALL=\nALL="),
        ('ALL="', 'test -d /a && ALL="'),
        ('ALL="', 'ALL="$(options) '),
    ],
)
def test_references_that_are_unknown(change: tuple[str, str]) -> None:
    [found] = members_in("install.sh", FLAGS_IN_VARIABLES.replace(*change))
    assert found["unknown"]
