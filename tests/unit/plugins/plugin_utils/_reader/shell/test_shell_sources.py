# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Variables that reach etcd from a file or a command that the reader does not see: they are unknown, rather than unset."""

from __future__ import annotations

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.read import read

from tests.unit.plugins.plugin_utils._reader.reading import member_in

FLAGS = "--data-dir /d --listen-client-urls https://0.0.0.0:2379"
NAME = "ETCD_CLIENT_CERT_AUTH"
ABSENT, LATER = "settings may come from there, and it is not read", "it is filled in when etcd starts"


@pytest.mark.parametrize(
    ("lines", "unknown"),
    [
        (f"set -a\n. /etc/etcd.env\nset +a\netcd {FLAGS}", {". /etc/etcd.env": ABSENT}),
        (f'[ -f "$E" ] && source "$E"\netcd {FLAGS}', {"source $E": ABSENT}),
        (f"if [ -f e ]; then . ./e; fi\netcd {FLAGS}", {". ./e": ABSENT}),
        (f"export $(grep -v '^#' /etc/etcd.env | xargs)\netcd {FLAGS}", {"export $(command)": LATER}),
        (f'while read -r line; do export "$line"; done < e\netcd {FLAGS}', {"export $(command)": LATER}),
        (f'eval "$(sed s/^/export/ e)"\netcd {FLAGS}', {"eval $(command)": LATER}),
        (f"env $(cat /etc/etcd.env) etcd {FLAGS}", {"env $(command)": LATER}),
        (f"su etcd -c '. /etc/etcd.env; etcd {FLAGS}'", {". /etc/etcd.env": ABSENT}),
        # Functions, facts about the system, and other commands.
        (f". /lib/lsb/init-functions\nsource /etc/os-release\netcd {FLAGS}", {}),
        (f'eval "$(ssh-agent)"\nexport A=$(hostname)\nenv A=$A sort . b\netcd {FLAGS}', {}),
        # A container does not get the variables of the script.
        (f". /etc/etcd.env\ndocker run quay.io/coreos/etcd:v3.6.1 etcd {FLAGS}", {}),
        (f"sh -c '. e; docker run quay.io/coreos/etcd:v3.6.1 etcd {FLAGS}'", {}),
        (f"docker run quay.io/coreos/etcd:v3.6.1 sh -c '. /e; etcd {FLAGS}'", {". /e": ABSENT}),
    ],
)
def test_scripts(lines: str, unknown: dict[str, str]) -> None:
    assert member_in("start.sh", f"#!/bin/sh\n{lines}\n")["unknown"] == unknown


@pytest.mark.parametrize(
    ("before", "value"),
    [("", f"${{{NAME}}}"), (f"export {NAME}=true", "true"), (f"[ $A ] && export {NAME}=true", f"${{{NAME}}}")],
)
def test_variables_that_a_container_gets_by_name(before: str, value: str) -> None:
    run = f"docker run -e {NAME} -e ETCD_NAME=a quay.io/coreos/etcd:v3.6.1 etcd {FLAGS}"
    found = member_in("start.sh", f"#!/bin/sh\nexport ETCD_DEBUG=true\n{before}\n{run}\n")
    assert found["environment"] == {NAME: value, "ETCD_NAME": "a"}


def test_units() -> None:
    found = member_in("etcd.service", f"[Service]\nExecStart=/bin/sh -c '. /etc/etcd.env && exec etcd {FLAGS}'\n")
    assert found["unknown"] == {". /etc/etcd.env": ABSENT}
    unit = f"[Service]\nEnvironment=ETCD_NAME=a\nPassEnvironment={NAME} ETCD_NAME\nExecStart=/usr/bin/etcd {FLAGS}\n"
    assert member_in("etcd.service", unit)["environment"] == {NAME: f"${{{NAME}}}", "ETCD_NAME": "a"}


@pytest.mark.parametrize(
    ("top", "unknown", "environment"),
    [
        ("include .env\nexport\nETCD_NAME := a", {". .env": ABSENT}, {"ETCD_NAME": "a"}),
        (" -include deploy/prod.env\n export $(shell sed 's/=.*//' .env)", {". deploy/prod.env": ABSENT}, {}),
        (f"include .env\nexport {NAME}", {}, {NAME: f"${{{NAME}}}"}),
        # Without an export, etcd does not get them.
        ("include .env\nETCD_NAME := a", {}, {}),
        ("include rules.mk\nexport", {}, {}),
    ],
)
def test_makefiles(top: str, unknown: dict[str, str], environment: dict[str, str]) -> None:
    found = member_in("Makefile", f"{top}\netcd:\n\tetcd {FLAGS}\n")
    assert (found["unknown"], found["environment"]) == (unknown, environment)


@pytest.mark.parametrize("source", [". /etc/etcd.env", "[ -r /etc/etcd.env ] && . /etc/etcd.env", "source ./etcd.env"])
def test_a_sourced_file_among_the_files(source: str) -> None:
    variables = f"{NAME}=true\nETCD_LISTEN_CLIENT_URLS=https://a:2379\n"
    texts = {"a/start.sh": f"#!/bin/sh\nset -a\n{source}\nset +a\netcd --data-dir /d\n", "a/etcd.env": variables}
    [found] = [entry["contents"]["headroom_member"] for entry in read(texts).document["files"]]
    assert found["environment"][NAME] == "true" and not found["unknown"]
    assert found["where"][NAME] == ["a/etcd.env", 1]
    # Without an export the variables stay in the script.
    texts["a/start.sh"] = texts["a/start.sh"].replace("set -a\n", "")
    started, file = [entry["contents"]["headroom_member"] for entry in read(texts).document["files"]]
    assert not started["environment"] and file["environment"][NAME] == "true"
    # A file with commands is read by itself.
    texts["a/etcd.env"] += "etcd --name b\n"
    assert len(read(texts).document["files"]) == 2
    assert [*started["unknown"]] == [] != [*read(texts).document["files"][0]["contents"]["headroom_member"]["unknown"]]


def test_a_file_that_is_sourced_under_a_condition_is_read_by_itself_too() -> None:
    texts = {
        "start.sh": "#!/bin/sh\nset -a\nif [ -f ./etcd.env ]; then\n  . ./etcd.env\nfi\netcd --data-dir /d\n",
        "etcd.env": f"{NAME}=true\nETCD_LISTEN_CLIENT_URLS=https://a:2379\n",
    }
    found = [entry["contents"]["headroom_member"] for entry in read(texts).document["files"]]
    assert [one["environment"].get(NAME) for one in found] == [f"${{{NAME}}}", "true"]


def test_each_script_sources_the_file_beside_it() -> None:
    script = "#!/bin/sh\nset -a\n. ./etcd.env\netcd --data-dir /d\n"
    texts = {f"{name}/start.sh": script for name in ("n1", "n2")}
    texts |= {
        f"{name}/etcd.env": f"ETCD_NAME={name}\nETCD_LISTEN_CLIENT_URLS=https://a:2379\n" for name in ("n1", "n2")
    }
    found = [entry["contents"]["headroom_member"] for entry in read(texts).document["files"]]
    assert [one["environment"]["ETCD_NAME"] for one in found] == ["n1", "n2"]


@pytest.mark.parametrize("before", ["sudo -u $USER env A=1", "sudo -u $USER"])
def test_only_words_behind_env_set_variables(before: str) -> None:
    assert not member_in("start.sh", f"#!/bin/sh\n{before} etcd --data-dir /d --listen-client-urls https://a:2379\n")[
        "unknown"
    ]


def test_a_value_over_several_lines() -> None:
    script = "#!/bin/sh\nexport ETCD_INITIAL_CLUSTER=a=https://a:2380,\\\nb=https://b:2380\netcd --data-dir \\\n  /d\n"
    found = member_in("start.sh", script)
    assert found["environment"]["ETCD_INITIAL_CLUSTER"] == "a=https://a:2380,b=https://b:2380"
    assert found["command"] == ["etcd", "--data-dir", "/d"]


def test_an_environment_file_in_the_script_that_sources_another() -> None:
    inner = "cat > /etc/etcd.env <<EOF\nETCD_LISTEN_CLIENT_URLS=https://b:2379\nETCD_NAME=b\nEOF\n"
    texts = {
        "start.sh": f"#!/bin/sh\n{inner}export ETCD_NAME=a\n. ./a.env\netcd --data-dir /d\n",
        "a.env": "export ETCD_LISTEN_PEER_URLS=https://a:2380\n",
    }
    found = [entry["contents"]["headroom_member"]["environment"] for entry in read(texts).document["files"]]
    assert [one["ETCD_NAME"] for one in found] == ["a", "b"] and "ETCD_LISTEN_PEER_URLS" in found[0]
