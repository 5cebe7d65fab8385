# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs of upstart."""

from __future__ import annotations

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.scripts import upstart
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.text.lines import lines_of

from tests.unit.plugins.plugin_utils._reader.reading import documents_in, member_in, members_in


def test_variables_without_a_command() -> None:
    text = "env ETCD_NAME=a\nenv ETCD_LISTEN_CLIENT_URLS=http://${IP}:2379\n\n/usr/local/bin/etcd\n"
    found = member_in("run-etcd", text)
    assert (found["command"], found["environment"]) == (["etcd"], {})
    assert documents_in("run-etcd", "/usr/local/bin/etcd\n") == []


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


def test_job_with_a_script() -> None:
    [found] = members_in("etcd.conf", JOB)
    assert (found["command"], found["release"]) == (["etcd"], "3.4.7")
    assert found["environment"] == {"ETCD_DATA_DIR": "/srv/data", "ETCD_NAME": "$(command)"}
    assert (found["name"], found["where"]["ETCD_DATA_DIR"]) == ("etcd", ["etcd.conf", 5])


ONE_LINE = 'description "a store"\nstart on runlevel [2345]\nexec /usr/bin/etcd --name a \\\n  --max-wals 4\nrespawn\n'


def test_job_with_a_command() -> None:
    [found] = members_in("etcd.conf", ONE_LINE)
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
