# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Procfiles and supervisord."""

from __future__ import annotations

import pytest

from tests.unit.plugins.plugin_utils._reader.reading import members_in

FLAGS = ["--listen-client-urls", "http://0.0.0.0:2379"]

URLS = "--listen-client-urls http://0.0.0.0:2379"


@pytest.mark.parametrize(
    ("path", "text", "line"),
    [
        ("Procfile", f"# goreman start\netcd1: bin/etcd --name n1 {URLS}\nproxy: bin/etcd grpc-proxy start\n", 2),
        (
            "supervisord.conf",
            f"[supervisord]\nnodaemon=true\n[program:etcd]\ncommand = /usr/bin/etcd --name n1 {URLS}\n",
            4,
        ),
    ],
)
def test_commands_of_a_supervisor(path: str, text: str, line: int) -> None:
    [member] = members_in(path, text)
    assert member["command"] == ["etcd", "--name", "n1", *FLAGS] and member["where"]["--name"] == [path, line]


def test_an_indented_section_of_supervisord() -> None:
    text = f"[program:etcd]\n  command=etcd --name n1\n    {URLS} --client-cert-auth\n  autostart=true\n  environment=ETCD_NAME=n1\n"
    [member] = members_in("supervisord.conf", text)
    assert member["command"] == ["etcd", "--name", "n1", *FLAGS, "--client-cert-auth"]
    assert member["environment"] == {"ETCD_NAME": "n1"}


def test_variables_of_a_program_of_supervisord() -> None:
    text = f"""[supervisord]
environment=ETCD_NAME="a",ETCD_WAL_DIR='/w'
[program:web]
command=web
environment=ETCD_DEBUG=true
[program:etcd]
environment=
    ETCD_CLIENT_CERT_AUTH="true", ; the CA is below
    ETCD_TRUSTED_CA_FILE=/ca.crt,ETCD_NAME="%(ENV_HOST)s"
command=/usr/bin/etcd
  {URLS}
[program:proxy]
command=/usr/bin/etcd grpc-proxy start
"""
    [member] = members_in("supervisord.conf", text)
    assert member["command"] == ["etcd", *FLAGS]
    assert member["environment"] == {
        "ETCD_NAME": "${HOST}",
        "ETCD_WAL_DIR": "/w",
        "ETCD_CLIENT_CERT_AUTH": "true",
        "ETCD_TRUSTED_CA_FILE": "/ca.crt",
    }
    assert member["where"]["ETCD_CLIENT_CERT_AUTH"] == ["supervisord.conf", 8]
    assert member["where"]["--listen-client-urls"] == ["supervisord.conf", 11]
