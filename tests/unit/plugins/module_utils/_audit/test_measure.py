# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A member is described by its status, and by its metrics if its status cannot be read."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.measure import describe_member, describe_sample
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.pages import Key
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.sample import Sample
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.scrape import Scrape
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.workload import MemberReading
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster import Member

PAGE = Scrape("1f", {"db_size": 4096.0, "db_size_in_use": 1024.0, "quota": 8192.0}, 1.0, version="3.6.16")


def described(page: Scrape | None, **status: Any) -> tuple[Any, ...]:
    member = Member("a", "1f", "follower", True, "", "https://a:2379", [], ["https://a:2379"], **status)
    found = describe_member(member, MemberReading("a", False, page, None))
    return tuple(found[name] for name in ("version", "db_size", "db_size_in_use"))


@pytest.mark.parametrize(
    ("page", "status", "expected"),
    [
        (PAGE, {}, ("3.6.16", 4096, 1024)),
        (PAGE, {"version": "3.6.12", "db_size": 7, "db_size_in_use": 5}, ("3.6.12", 7, 5)),
        (Scrape("2", PAGE.figures, 1.0, version="3.5.1"), {}, (None, None, None)),
        (Scrape("1f", {}, 1.0), {}, (None, None, None)),
        (None, {}, (None, None, None)),
    ],
)
def test_metrics_stand_in_for_a_status_that_was_denied(
    page: Scrape | None, status: dict[str, Any], expected: tuple[Any, ...]
) -> None:
    assert described(page, **status) == expected


def test_a_status_that_was_denied_is_the_members_problem() -> None:
    member = Member("a", "1f", "follower", True, "", "https://a:2379", [], [], status_error="permission denied")
    found = describe_member(member, MemberReading("a", False, PAGE, None))
    assert (found["healthy"], found["problem"]) == (True, "its status could not be read: permission denied")


@pytest.mark.parametrize(
    ("key", "kubernetes"),
    [
        (b"/registry/pods/a/b", True),
        (b"/kubernetes.io/pods/a/b", True),
        (b"/openshift.io/routes/a/b", True),
        (b"/shop/registry/b", False),
        (b"/registry", False),
    ],
)
def test_keys_of_kubernetes_and_openshift_are_recognized(budget: Any, key: bytes, kubernetes: bool) -> None:
    source = Member("a", "1f", "follower", True, "", "https://a:2379", [], [])
    sample = Sample([(Key(key, 1, 1, 1, 0), 1.0)], 1, 1)
    assert describe_sample(sample, budget(), source)["kubernetes"] is kubernetes
    assert describe_sample("permission denied", budget(), source)["kubernetes"] is False
