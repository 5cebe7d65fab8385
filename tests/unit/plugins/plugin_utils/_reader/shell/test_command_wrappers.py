# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Commands that others run, and the variables that the words before a command set. The policies' own tests have the same cases."""

from __future__ import annotations

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.shell.command_line import find_etcd, split_words

from tests.unit.plugins.plugin_utils._reader.reading import members_in


@pytest.mark.parametrize(
    ("command", "environment"),
    [
        ("/usr/bin/etcd --name a ETCD_NAME=c", {}),
        (
            "/usr/bin/env ETCD_UNSAFE_NO_FSYNC=true GOGC=50 /usr/bin/etcd --name a",
            {"ETCD_UNSAFE_NO_FSYNC": "true", "GOGC": "50"},
        ),
        ("/bin/sh -c 'ETCD_UNSAFE_NO_FSYNC=true exec etcd --name a'", {"ETCD_UNSAFE_NO_FSYNC": "true"}),
        ("/bin/sh -c 'A=b; export GOGC=c GOMEMLIMIT=d; exec etcd --name a'", {"GOGC": "c", "GOMEMLIMIT": "d"}),
        ("/bin/sh -c 'export GOGC=c; GOGC=d etcd --name a'", {"GOGC": "d"}),
        ("/bin/sh -c 'ETCD_NAME=b; etcd --name a'", {}),
        ("/bin/sh -c 'export GOGC=b && cd / && etcd --name a'", {"GOGC": "b"}),
        ("/bin/sh -c 'cd / && export GOGC=b && etcd --name a'", {"GOGC": "b"}),
        ("/bin/sh -c 'x && export GOGC=b; etcd --name a'", {"GOGC": "${GOGC}"}),
        ("/bin/sh -c 'x || export GOGC=b && etcd --name a'", {"GOGC": "${GOGC}"}),
        ("/bin/sh -c 'if x; then export GOGC=b; fi; etcd --name a'", {"GOGC": "${GOGC}"}),
        ("/bin/sh -c 'if x; then export GOGC=b; else etcd --name a; fi'", {"GOGC": "${GOGC}"}),
        ("/bin/sh -c 'if x; then y; fi; export GOGC=b; etcd --name a'", {"GOGC": "b"}),
        ("/bin/sh -c 'if x; then GOGC=b etcd --name a; fi'", {"GOGC": "b"}),
        (
            "docker run -e GOGC=a -e ETCD_NAME=b team/app sh -c 'GOGC=50 etcd --name a'",
            {"ETCD_NAME": "b", "GOGC": "50"},
        ),
    ],
)
def test_variables_of_a_unit(command: str, environment: dict[str, str]) -> None:
    [member] = members_in("etcd.service", f"[Service]\nExecStart={command}\n")
    assert member["environment"] == environment and member["command"][:3] == ["etcd", "--name", "a"]


def test_position_of_a_variable() -> None:
    [member] = members_in(
        "etcd.service", "[Service]\nExecStart=/usr/bin/env \\\n  GOGC=50 \\\n  /usr/bin/etcd --name a\n"
    )
    assert member["where"]["GOGC"] == ["etcd.service", 3]


def test_collector_of_a_program_of_supervisord() -> None:
    [member] = members_in("supervisord.conf", "[program:etcd]\ncommand=/usr/bin/etcd\nenvironment=GOGC=50\n")
    assert member["environment"] == {"GOGC": "50"}


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("(exec etcd --name a)", ("etcd", "--name", "a")),
        ("( etcd --name a) & wait", ("etcd", "--name", "a")),
        ("(exec etcd)", None),
        ("timeout 3600 etcd", ("etcd",)),
        ("timeout -s KILL 1h /bin/etcd", ("etcd",)),
        ("su-exec etcd:etcd etcd", ("etcd",)),
        ("exec gosu etcd nice -n 5 etcd", ("etcd",)),
        ("gosu etcd etcd", ("etcd",)),
        ("if x; then etcd; fi", ("etcd",)),
        (
            "start-stop-daemon --exec /usr/bin/etcd -- --name a --listen-client-urls b",
            ("etcd", "--name", "a", "--listen-client-urls", "b"),
        ),
        ("timeout 5 backup etcd", None),
        ("sudo -u etcd", None),
        ("sudo chown etcd /var/lib/etcd", None),
    ],
)
def test_command_behind_another_one(command: str, words: tuple[str, ...] | None) -> None:
    found = find_etcd(split_words(command))
    assert (found.words if found else None) == words
