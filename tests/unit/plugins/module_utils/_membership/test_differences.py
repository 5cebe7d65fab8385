# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which differences of a member restart it, and which only write a file."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._membership.differences import (
    Paths,
    Planned,
    compare_member,
)

UNIT = "[Service]\nEnvironment=HEADROOM_DIGEST=\nExecStart=/opt/etcd/3.7.3/etcd\n"
# The digest of PLANNED. If a change of the code changes it, it restarts the members of all clusters that were deployed before.
DIGEST = "9f58916695290972"
URL = "https://192.0.2.11:2380"
PLANNED = Planned(
    lasting='{"name": "etcd-1", "quota-backend-bytes": 2147483648}',
    config="name: etcd-1\n",
    unit=UNIT,
    certificates="f1",
    peer_url=URL,
    moves=False,
    staged=False,
)
PATHS = Paths(config="/etcd.yml", unit="/etcd.service", forming="/forming", renewing="/renewing")
ACTIVE = {"digest": DIGEST, "active_state": "active", "enabled_state": "enabled", "needs_reload": False}
FILES = {
    "/etcd.yml": {"sha256": hashlib.sha256(b"name: etcd-1\n").hexdigest()},
    "/etcd.service": {"sha256": hashlib.sha256(UNIT.replace("DIGEST=", f"DIGEST={DIGEST}").encode()).hexdigest()},
    "/forming": {"exists": False},
    "/renewing": {"exists": False},
}


def facts(etcd: Any = None, files: dict[str, Any] | None = None, **unit: Any) -> dict[str, Any]:
    """Return the facts of a member that is as planned, but for what is given."""
    return {"etcd": etcd, "unit": {**ACTIVE, **unit}, "files": {**FILES, **(files or {})}}


def advertises(*urls: str) -> dict[str, Any]:
    return {"process": {"settings": {"initial_advertise_peer_urls": list(urls)}}}


def compared(found: dict[str, Any], **changed: Any) -> tuple[bool, bool, bool]:
    """Return whether the member restarts, whether anything changes, and whether the digest decides on the restart."""
    result = compare_member(replace(PLANNED, **changed), found, PATHS)
    return result["restarts"], result["changes"], result["decided_by_digest"]


def test_digest() -> None:
    found = compare_member(PLANNED, facts(), PATHS)
    assert (found["digest"], found["unit"]) == (DIGEST, UNIT.replace("DIGEST=", f"DIGEST={DIGEST}"))


@pytest.mark.parametrize(
    "found", [facts(), facts(advertises(URL)), facts(advertises()), facts({}), facts({"process": {"settings": None}})]
)
def test_a_member_as_planned(found: dict[str, Any]) -> None:
    assert compared(found) == (False, False, True)


@pytest.mark.parametrize(
    ("found", "changed"),
    [
        (facts(), {"lasting": "{}"}),
        (facts(), {"unit": UNIT + "Nice=5\n"}),
        (facts(), {"certificates": "f2"}),
        (facts(digest=None), {}),
        (facts(active_state="inactive"), {}),
        (facts(active_state="failed", digest=None), {}),
    ],
)
def test_what_restarts_a_member_until_its_process_has_the_digest(
    found: dict[str, Any], changed: dict[str, Any]
) -> None:
    assert compared(found, **changed) == (True, True, True)


@pytest.mark.parametrize(
    ("found", "changed"),
    [
        (facts(), {"staged": True}),
        (facts(active_state="inactive"), {"staged": True}),
        (facts(), {"moves": True}),
        # An earlier run was killed after it had changed the URL in the cluster.
        (facts(advertises("https://192.0.2.1:2380")), {}),
    ],
)
def test_what_restarts_a_member_whatever_its_digest(found: dict[str, Any], changed: dict[str, Any]) -> None:
    assert compared(found, **changed) == (True, True, False)


@pytest.mark.parametrize(
    ("found", "changed"),
    [
        (facts(files={"/forming": {"exists": True}}), {}),
        (facts(files={"/renewing": {"exists": True}}), {}),
        (facts(files={"/etcd.yml": {"sha256": "0"}}), {}),
        (facts(files={"/etcd.service": {"exists": False}}), {}),
        (facts(enabled_state="disabled"), {}),
        (facts(needs_reload=True), {}),
        (facts(), {"config": "name: etcd-1\nlog-level: warn\n"}),
    ],
)
def test_what_changes_without_a_restart(found: dict[str, Any], changed: dict[str, Any]) -> None:
    assert compared(found, **changed) == (False, True, True)
