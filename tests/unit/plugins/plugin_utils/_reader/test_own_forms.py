# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Forms that few public files have: jobs of upstart, images of LinuxKit, units copied out of a script, and flags in variables."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.read import read
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.scripts import upstart
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.text.lines import lines_of

JOB = """# etcd
description "a store"
start on runlevel [2345]
env ETCD_HOME=/srv/etcd-3.4.7
env ETCD_DATA_DIR=/srv/data
env WITHOUT_VALUE
pre-start script
  etcd --name of-pre-start
end script
script
  export ETCD_NAME=`hostname`
  exec $ETCD_HOME/etcd >> /var/log/etcd.log
end script
"""
ONE_LINE = 'description "a store"\nstart on runlevel [2345]\nexec /usr/bin/etcd --name a \\\n  --max-wals 4\nrespawn\n'
LINUXKIT = """kernel:
  image: linuxkit/kernel:6.6.13
services:
  - name: kv
    image: gcr.io/google-containers/etcd-amd64:3.1.13
    binds:
     - /srv:/srv
    command: ["etcd", "--name", "${name}",
"--max-wals=4"]
  - name: without-image
"""
UNIT = "[Service]\nExecStart=/usr/bin/etcd \\\\\n  --name a \\\\ \n  --max-wals 4\nRestart=always\n"
FLAGS = """#!/bin/sh
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


def documents(path: str, text: str) -> list[Any]:
    """What is read of one file."""
    return [entry["contents"] for entry in read({path: text}).document["files"]]


def members(path: str, text: str) -> list[dict[str, Any]]:
    """The members in one file."""
    return [found["headroom_member"] for found in documents(path, text) if "headroom_member" in found]


def test_job_with_a_script() -> None:
    [found] = members("etcd.conf", JOB)
    assert (found["command"], found["release"]) == (["etcd"], "3.4.7")
    assert found["environment"] == {"ETCD_DATA_DIR": "/srv/data", "ETCD_NAME": "$(command)"}
    assert (found["name"], found["where"]["ETCD_DATA_DIR"]) == ("etcd", ["etcd.conf", 5])


def test_job_with_a_command() -> None:
    [found] = members("etcd.conf", ONE_LINE)
    assert found["command"] == ["etcd", "--name", "a", "--max-wals", "4"]


@pytest.mark.parametrize(
    "text",
    [
        f"#!/bin/sh\n{JOB}",
        f"PATH=/bin\n{JOB}",
        JOB.replace("start on", "# start on"),
        "start on boot\nenv A=1\n",
        "version = 1\nstart on boot\nexec a\n",
        "",
    ],
)
def test_no_job(text: str) -> None:
    assert not upstart.is_job(text)


def test_time_of_a_long_comment() -> None:
    assert not upstart.is_job("#a \n" * 20_000)


def test_lines_of_a_job_keep_their_numbers() -> None:
    lines = lines_of("etcd.conf", JOB)
    assert [line.number for line in upstart.shell_lines(lines)] == [line.number for line in lines]


@pytest.mark.parametrize("path", ["image.yml", "image.yml.tpl"])
def test_image_of_linuxkit(path: str) -> None:
    [found] = documents(path, LINUXKIT)
    assert found == {
        "services": {
            "kv": {
                "image": "gcr.io/google-containers/etcd-amd64:3.1.13",
                "entrypoint": ["etcd", "--name", "${name}", "--max-wals=4"],
                "volumes": ["/srv:/srv"],
            }
        }
    }


def test_other_lists_of_services() -> None:
    text = LINUXKIT[LINUXKIT.index("services:") :]
    [found] = documents("pipeline.yml", text)
    assert isinstance(found["services"], list)


def test_two_backslashes_in_a_unit() -> None:
    [found] = members("etcd.service", UNIT)
    assert found["command"] == ["etcd", "--name", "a", "--max-wals", "4"]
    assert found["unknown"] == {
        "the command behind ExecStart=": "systemd ends it at two backslashes, and continues it after one"
    }
    assert found["where"]["--max-wals"] == ["etcd.service", 4]


@pytest.mark.parametrize(
    "text", [UNIT.replace("\\\\", "\\"), f"#!/bin/sh\ncat > /etc/systemd/system/etcd.service <<EOF\n{UNIT}EOF\n"]
)
def test_backslashes_that_systemd_gets_as_one(text: str) -> None:
    [found] = members("etcd.service" if text.startswith("[") else "install.sh", text)
    assert (found["command"], found["unknown"]) == (["etcd", "--name", "a", "--max-wals", "4"], {})


def test_references_that_a_script_writes_over_several_lines() -> None:
    [found] = members("install.sh", FLAGS)
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
    [found] = members("install.sh", FLAGS.replace(*change))
    assert found["unknown"]
