# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What members answer about their releases."""

from __future__ import annotations

import json

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import EtcdctlError
from ansible_collections.etcdops.headroom.plugins.module_utils._release import view as release_view
from ansible_collections.etcdops.headroom.plugins.module_utils._release.change import (
    direction,
    running_releases,
    settled_problem,
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"etcdserver":"3.5.35","etcdcluster":"3.5.0"}', ("3.5.35", "3.5.0", "")),
        ('{"etcdserver":"3.6.16-acme","etcdcluster":"3.6.0","storage":"3.6.0"}', ("3.6.16", "3.6.0", "3.6.0")),
        ('{"etcdserver":"3.7.0-rc.1","etcdcluster":"3.7.0","storage":"3.7.0"}', ("3.7.0", "3.7.0", "3.7.0")),
        ('{"etcdserver":"3.7.3","etcdcluster":"3.6.0","storage":"3.6.0"}', ("3.7.3", "3.6.0", "3.6.0")),
    ],
)
def test_versions(text: str, found: tuple[str, str, str]) -> None:
    assert tuple(release_view.parse_version(text).values()) == found


def test_a_custom_build_has_settled_and_is_upgraded() -> None:
    answer = '{"etcdserver":"3.6.16-acme","etcdcluster":"3.6.0","storage":"3.6.0"}'
    member = release_view.MemberRelease("a", "https://a:2379", **release_view.parse_version(answer))
    assert settled_problem([member], "3.6.16") == ""
    assert direction(running_releases([member]), "3.7.3") == "upgrade"


@pytest.mark.parametrize("text", ["", "[]", "{}", "404 page not found", '{"etcdserver":"dev"}'])
def test_other_answers_are_refused(text: str) -> None:
    with pytest.raises(EtcdctlError):
        release_view.parse_version(text)


@pytest.mark.parametrize(
    ("info", "target"),
    [({"enabled": True, "targetVersion": "3.6.0"}, "3.6"), ({}, ""), (None, ""), ({"targetVersion": "3.6.0"}, "")],
)
def test_an_enabled_downgrade(info: object, target: str) -> None:
    status = {"version": "3.7.3"} if info is None else {"version": "3.7.3", "downgradeInfo": info}
    assert release_view.parse_downgrade(json.dumps([{"Endpoint": "x", "Status": status}])) == target


def test_no_status_is_no_downgrade() -> None:
    assert release_view.parse_downgrade("") == release_view.parse_downgrade("null") == ""
