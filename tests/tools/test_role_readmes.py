# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The READMEs of roles: markup of options, and how to run a role."""

from __future__ import annotations

import pytest

from tools.role_readmes import PROJECT, example, markdown


@pytest.mark.parametrize(
    ("text", "rendered"),
    [
        ("See O(etcd_name).", "See `etcd_name`."),
        (
            "See the option O(etcdops.headroom.etcd_restore#module:bump_revision).",
            "See the option `bump_revision` of the module `etcdops.headroom.etcd_restore`.",
        ),
        (
            "See O(etcdops.headroom.etcd#role:main:etcd_name).",
            "See [`etcd_name`](../etcd/README.md#variables) of role `etcd`.",
        ),
    ],
)
def test_options(text: str, rendered: str) -> None:
    assert markdown(text) == rendered


def test_a_role_that_works_alone_has_a_play() -> None:
    roles = [line.rpartition(".")[2] for line in example("etcd") if "role: " in line]
    # The first creates etcd's directories, the second the certificates.
    assert roles == ["etcd_storage", "etcd_tls", "etcd"]


@pytest.mark.parametrize("role", ["etcd_auth", "etcd_restore"])
def test_a_role_that_needs_others_names_playbooks(role: str) -> None:
    lines = example(role)
    playbooks = [line.split()[1] for line in lines if line.startswith("ansible-playbook ")]
    assert playbooks and not any("role:" in line for line in lines)
    assert all((PROJECT / f"playbooks/{name.rpartition('.')[2]}.yml").exists() for name in playbooks)
