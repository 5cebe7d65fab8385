# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Servers of k3s that scripts and units start."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.read import read

INSTALL = "curl -sfL https://get.k3s.io |"


@pytest.mark.parametrize(
    ("lines", "document"),
    [
        (
            f'{INSTALL} INSTALL_K3S_EXEC="server --cluster-init --etcd-arg=quota-backend-bytes=8G" sh -',
            {"cluster-init": True, "etcd-arg": ["--quota-backend-bytes=8G"]},
        ),
        (
            f"{INSTALL} sh -s - server \\\n --disable traefik --etcd-arg --snapshot-count=5 > log",
            {"etcd-arg": ["--snapshot-count=5"]},
        ),
        (f'A=--cluster-init\nexport INSTALL_K3S_EXEC="server $A"\n{INSTALL} sh -', {"cluster-init": True}),
        ("k3s server --etcd-arg=max-wals=3 &", {"etcd-arg": ["--max-wals=3"]}),
        # Words that are unknown, an agent, and another program.
        (f"{INSTALL} sh -s - server --cluster-init $MORE", None),
        (f"{INSTALL} sh -s - agent --etcd-arg=max-wals=3", None),
        ("other server --cluster-init", None),
    ],
)
def test_a_script_that_installs_k3s(lines: str, document: dict[str, Any] | None) -> None:
    found = read({"install.sh": f"#!/bin/sh\n{lines}\n"}).document
    assert [entry["contents"] for entry in found["files"]] == ([document] if document else [])


UNIT_OF_K3S = """\
[Service]
EnvironmentFile=-/etc/systemd/system/k3s.service.env
ExecStartPre=-/sbin/modprobe overlay
ExecStart=/usr/local/bin/k3s \\
    server \\
\t'--cluster-init' \\
\t'--etcd-arg=unsafe-no-fsync=true' \\

"""


def test_a_unit_of_k3s() -> None:
    found = read({"k3s.service": UNIT_OF_K3S})
    assert found.document["files"] == [
        {"path": "k3s.service", "contents": {"cluster-init": True, "etcd-arg": ["--unsafe-no-fsync=true"]}}
    ]
    assert found.document["lines"]["k3s.service"]["words"]["unsafe-no-fsync"] == [7] and found.passed_over == {}
    agent = read({"k3s.service": UNIT_OF_K3S.replace("server", "agent")})
    assert agent.document["files"] == [] and agent.passed_over == {"k3s.service": "it starts no etcd"}


def test_more_arguments_for_k3s_in_a_cloud_config() -> None:
    inner = "etcd-arg+: [unsafe-no-fsync=true]\n"
    text = f"#cloud-config\nwrite_files:\n- path: /etc/rancher/k3s/config.yaml.d/a.yaml\n  content: |\n    {inner}"
    files = read({"user-data": text}).document["files"]
    assert {"etcd-arg+": ["unsafe-no-fsync=true"]} in [entry["contents"] for entry in files]
