# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""systemd units: their commands, variables and priorities."""

from __future__ import annotations

import pytest

from tests.unit.plugins.plugin_utils._reader.reading import member_in, members_in, members_with_paths

URLS = "--listen-client-urls http://0.0.0.0:2379"
FLAGS = ["--listen-client-urls", "http://0.0.0.0:2379"]

UNIT_WITH_REPEATED_VARIABLES = "[Service]\n{variables}ExecStart={command}--name=${{ETCD_NAME}} --data-dir $ETCD_DATA_DIR --wal-dir=$WAL --max-wals=5\n"


@pytest.mark.parametrize(
    ("variables", "command", "twice"),
    [
        ("EnvironmentFile=-/etc/etcd.conf\n", "etcd ", {"name": "ETCD_NAME", "data-dir": "ETCD_DATA_DIR"}),
        # Nothing says that the variables are set.
        ("", "etcd ", {}),
        # docker does not pass them on.
        ("EnvironmentFile=/etc/etcd.conf\n", "docker run quay.io/coreos/etcd:v3.5.1 etcd ", {}),
    ],
)
def test_flags_that_repeat_variables(variables: str, command: str, twice: dict[str, str]) -> None:
    (found,) = members_in("etcd.service", UNIT_WITH_REPEATED_VARIABLES.format(variables=variables, command=command))
    assert found["twice"] == twice


def test_flag_without_its_equals_sign() -> None:
    (found,) = members_in("etcd.service", "[Service]\nExecStart=etcd --cert-file/etc/a.pem --name a\n")
    assert found["where"]["--cert-file/etc/a.pem"] == ["etcd.service", 2]


def test_working_directory() -> None:
    """There etcd creates the data directory if no setting names it."""
    (found,) = members_in("etcd.service", "[Service]\nWorkingDirectory=/var/lib/etcd\nExecStart=etcd --name a\n")
    assert found["silent"] == ["data_dir"]


def test_priorities_of_a_unit() -> None:
    [found] = members_in("etcd.service", f"[Service]\nExecStart=etcd {URLS}\nIOSchedulingClass=realtime\nNice=-20\n")
    assert found["facts"] == {
        "io_class": {"name": "IOSchedulingClass", "value": "realtime"},
        "nice": {"name": "Nice", "value": "-20"},
    }
    assert found["where"]["IOSchedulingClass"] == ["etcd.service", 3]


def test_a_program_around_etcd() -> None:
    text = (
        "[Service]\nEnvironment=ETCD_LISTEN_CLIENT_URLS=http://0.0.0.0:2379\nExecStart=/usr/lib/coreos/etcd-wrapper\n"
    )
    [member] = members_in("etcd.service", text)
    assert member["unknown"] == {"ExecStart=/usr/lib/coreos/etcd-wrapper": "it is a program around etcd"}
    assert members_in("etcd.service", text.replace("ETCD_LISTEN_CLIENT_URLS", "ETCD_ENDPOINTS")) == []
    for program in ("/usr/local/bin/etcd-backup.sh", "/usr/bin/etcdctl snapshot save a"):
        assert members_in("etcd-backup.service", text.replace("/usr/lib/coreos/etcd-wrapper", program)) == []


def test_an_indented_unit() -> None:
    [member] = members_in(
        "etcd.template", f"[Unit]\n  After=x\n  [Service]\n  ExecStart=/usr/bin/etcd --name a {URLS}\n"
    )
    assert (member["format"], member["name"]) == ("systemd unit", "a")


def test_options_of_systemd_docker() -> None:
    start = "/opt/bin/systemd-docker --cgroups name=systemd run --rm -v /srv:/data --name container"
    [member] = members_in("etcd.service", f"[Service]\nExecStart={start} quay.io/coreos/etcd:v3.5.0 -name n1 {URLS}\n")
    assert member["command"] == ["etcd", "-name", "n1", *FLAGS]
    assert member["image"] == "quay.io/coreos/etcd:v3.5.0" and member["mounts"] == ["/data"]


@pytest.mark.parametrize("unit", ["", "ExecStart=\nExecStart=/usr/lib/coreos/etcd-wrapper $ETCD_OPTS\n"])
def test_flags_in_a_drop_in(unit: str) -> None:
    text = f'[Service]\nEnvironment="ETCD_IMAGE_TAG=v3.4.1"\nEnvironment="ETCD_OPTS=--name=a {URLS}"\n{unit}'
    found = member_in("etcd-member.service.d/10-opts.conf", text)
    assert found["command"] == ["etcd", "--name=a", *URLS.split()]
    assert (found["name"], found["release"]) == ("a", "3.4.1")
    assert bool(found["unknown"]) == (not unit)


COPIED_UNIT = "[Service]\nExecStart=/usr/bin/etcd \\\\\n  --name a \\\\ \n  --max-wals 4\nRestart=always\n"


def test_two_backslashes_in_a_unit() -> None:
    [found] = members_in("etcd.service", COPIED_UNIT)
    assert found["command"] == ["etcd", "--name", "a", "--max-wals", "4"]
    assert found["unknown"] == {
        "the command behind ExecStart=": "systemd ends it at two backslashes, and continues it after one"
    }
    assert found["where"]["--max-wals"] == ["etcd.service", 4]


@pytest.mark.parametrize(
    "text",
    [COPIED_UNIT.replace("\\\\", "\\"), f"#!/bin/sh\ncat > /etc/systemd/system/etcd.service <<EOF\n{COPIED_UNIT}EOF\n"],
)
def test_backslashes_that_systemd_gets_as_one(text: str) -> None:
    [found] = members_in("etcd.service" if text.startswith("[") else "install.sh", text)
    assert (found["command"], found["unknown"]) == (["etcd", "--name", "a", "--max-wals", "4"], {})


def test_the_last_name_counts() -> None:
    ((_path, found),) = members_with_paths(
        {"etcd.service": "[Service]\nExecStart=/usr/bin/etcd --name=a --data-dir=/d --name b\n"}
    )
    assert found["name"] == "b"


DROP_IN = '[Service]\nMemoryMax=1G\nEnvironment="GOGC=50" ETCD_HEARTBEAT_INTERVAL=100\n'

ENVIRONMENT = """[Member]
ETCD_NAME=n1
#ETCD_WAL_DIR=""
ETCD_DATA_DIR="/var/lib/etcd/default.etcd"
ETCD_LISTEN_CLIENT_URLS='http://0.0.0.0:2379'
"""

UNIT = """[Unit]
Description=etcd

[Service]
EnvironmentFile=-/etc/etcd/etcd.conf
# a comment
ExecStart=/bin/bash -c "GOMAXPROCS=$(nproc) /usr/bin/etcd \\
  --name=\\"${ETCD_NAME}\\" \\
  # a comment between
  --unsafe-no-fsync \\
  --snapshot-count 100000 $ETCD_OPTS"
LimitMEMLOCK=64M
"""


def test_unit_with_drop_in_and_environment_file() -> None:
    unit, drop_in, environment = "sys/etcd.service", "sys/etcd.service.d/10-memory.conf", "etc/etcd/etcd.conf"
    ((path, found),) = members_with_paths({drop_in: DROP_IN, environment: ENVIRONMENT, unit: UNIT})
    assert path == unit
    assert found["name"] == "n1"
    assert found["command"] == ["etcd", "--name=n1", "--unsafe-no-fsync", "--snapshot-count", "100000", "$ETCD_OPTS"]
    assert found["environment"] == {
        "GOGC": "50",
        "ETCD_HEARTBEAT_INTERVAL": "100",
        "ETCD_NAME": "n1",
        "ETCD_DATA_DIR": "/var/lib/etcd/default.etcd",
        "ETCD_LISTEN_CLIENT_URLS": "http://0.0.0.0:2379",
    }
    assert found["limit"] == {"name": "MemoryMax", "size": "1G"}
    assert found["memlock"] == {"name": "LimitMEMLOCK", "size": "64M"}
    assert found["unknown"] == {"$ETCD_OPTS": "it is filled in when etcd starts"}
    assert found["where"]["--unsafe-no-fsync"] == [unit, 10]
    assert found["where"]["--snapshot-count"] == [unit, 11]
    assert found["where"]["MemoryMax"] == [drop_in, 2]
    assert found["where"]["ETCD_LISTEN_CLIENT_URLS"] == [environment, 5]


@pytest.mark.parametrize(
    ("drop_in", "environment"),
    [
        ("UnsetEnvironment=ETCD_UNSAFE_NO_FSYNC ETCD_DEBUG", {"ETCD_NAME": "b"}),
        # A pair removes the variable if it has this value at the end.
        ('UnsetEnvironment="ETCD_UNSAFE_NO_FSYNC=true" ETCD_NAME=a', {"ETCD_NAME": "b"}),
        ("UnsetEnvironment=ETCD_NAME=b", {"ETCD_UNSAFE_NO_FSYNC": "true"}),
        (
            "UnsetEnvironment=ETCD_UNSAFE_NO_FSYNC\nUnsetEnvironment=",
            {"ETCD_UNSAFE_NO_FSYNC": "true", "ETCD_NAME": "b"},
        ),
    ],
)
def test_unset_environment(drop_in: str, environment: dict[str, str]) -> None:
    unit = "[Service]\nEnvironment=ETCD_UNSAFE_NO_FSYNC=true ETCD_NAME=a\nEnvironmentFile=/etc/etcd.env\nExecStart=/bin/etcd"
    files = {"etcd.service": f"{unit} --name=${{ETCD_NAME}}\n", "etcd.env": "ETCD_NAME=b\n"}
    ((_path, found),) = members_with_paths({**files, "etcd.service.d/x.conf": f"[Service]\n{drop_in}\n"})
    assert found["environment"] == environment
    assert found["name"] == ("b" if "ETCD_NAME" in environment else "etcd")


def test_drop_in_replaces_the_command() -> None:
    drop_in = "[Service]\nExecStart=\nExecStart=/usr/bin/etcd --name n2 --quota-backend-bytes=5\n"
    ((_path, found),) = members_with_paths({"etcd.service": UNIT, "etcd.service.d/x.conf": drop_in})
    assert found["command"] == ["etcd", "--name", "n2", "--quota-backend-bytes=5"]
    assert found["where"]["--quota-backend-bytes"] == ["etcd.service.d/x.conf", 3]
    assert found["unknown"] == {"EnvironmentFile=/etc/etcd/etcd.conf": "it is not among the files"}


def test_drop_in_alone() -> None:
    ((_path, found),) = members_with_paths({"etcd.service.d/x.conf": "[Service]\nEnvironment=ETCD_SNAPSHOT_COUNT=5\n"})
    assert found["environment"] == {"ETCD_SNAPSHOT_COUNT": "5"}
    assert found["unknown"] == {"the unit of this drop-in": "it is not among the files"}


def test_flags_in_a_variable_of_the_unit() -> None:
    unit = "[Service]\nEnvironmentFile=/etc/default/etcd\nExecStart=/usr/bin/etcd $DAEMON_ARGS\n"
    environment = 'DAEMON_ARGS="--name=n1 --listen-client-urls=http://0.0.0.0:2379"\n'
    ((path, together),) = members_with_paths({"etcd.service": unit, "default/etcd": environment})
    ((_path, alone),) = members_with_paths({"default/etcd": environment})
    assert path == "etcd.service"
    for found in (together, alone):
        assert found["command"] == ["etcd", "--name=n1", "--listen-client-urls=http://0.0.0.0:2379"]
    assert alone["where"]["--name"] == ["default/etcd", 1]
