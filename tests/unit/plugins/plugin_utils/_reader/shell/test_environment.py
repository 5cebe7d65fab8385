# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lines of environment files."""

from __future__ import annotations

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.shell.environment import read_environment
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.text.lines import lines_of

from tests.unit.plugins.plugin_utils._reader.reading import documents_in, members_in


def test_variables_of_wrappers() -> None:
    (found,) = members_in(
        "etcd.env", "ETCD_NAME=a\nETCD_DATA_DIR=/d\nETCD_IMAGE_TAG=v3.2.0\nETCD_OPTS=\nETCD_SSL_DIR=/s\n"
    )
    assert found["environment"] == {"ETCD_NAME": "a", "ETCD_DATA_DIR": "/d"}
    assert found["release"] == "3.2.0"


def test_an_environment_file_of_docker_with_colons() -> None:
    text = "# a\nETCD_LISTEN_CLIENT_URLS: http://0.0.0.0:2379\nETCD_NAME: 'a'\n"
    [member] = members_in("etcd.env", text)
    assert member["environment"] == {"ETCD_LISTEN_CLIENT_URLS": "http://0.0.0.0:2379", "ETCD_NAME": "a"}
    # systemd has no such lines.
    assert members_in("etcd.conf", text) == []


def test_a_comment_behind_quotes() -> None:
    [member] = members_in("etcd.conf", 'ETCD_LISTEN_CLIENT_URLS="http://0.0.0.0:2379"  # all\n')
    assert member["environment"] == {"ETCD_LISTEN_CLIENT_URLS": "http://0.0.0.0:2379"}


def test_variables_of_a_client() -> None:
    assert documents_in("a.env", "ETCD_ENDPOINTS=http://a:2379\nETCD_DATA_DIR=/d\n") == []
    assert len(documents_in("a.env", "ETCD_ENDPOINTS=http://a:2379\nETCD_LISTEN_CLIENT_URLS=http://a:2379\n")) == 1


@pytest.mark.parametrize(
    ("text", "variables"),
    [
        ('A="--b=1\n--c=2"\nD=3\n', [("A", "--b=1\n--c=2", 1), ("D", "3", 3)]),
        ("export A='\n--b=\"1\"\n'  # text\nD=3\n", [("A", '\n--b="1"\n', 1), ("D", "3", 4)]),
        ('A="b\\"\nc"\nD=3\n', [("A", 'b\\"\nc', 1), ("D", "3", 3)]),
        # Not closed, or closed by the quote that opens another value.
        ('A="b\nD=3\n', [("A", '"b', 1), ("D", "3", 2)]),
        ('A="b\nD="3"\n', [("A", '"b', 1), ("D", "3", 2)]),
        ('A="b\n' + "c\n" * 200 + '"\nD=3\n', [("A", '"b', 1), ("D", "3", 203)]),
    ],
)
def test_quoted_value_of_several_lines(text: str, variables: list[tuple[str, str, int]]) -> None:
    found = read_environment(lines_of("etcd.env", text))
    assert [(variable.name, variable.value, variable.line) for variable in found] == variables
