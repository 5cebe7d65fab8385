# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sums and extremes of a key space, and what could not be read of it."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._audit import groups, keyspace
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.access import MeasureError
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.advice import advise
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.census import (
    Request,
    check_request,
    read_prefixes,
    result_of,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.compacted_size import (
    PAGE,
    CompactedSize,
    stored_entry,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.keyspace import KeySpace
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.pages import Key

MIB = 1 << 20
NAMES = {**{b"/a/%03d" % number: 100 for number in range(300)}, **{b"/b/%03d" % number: 10 for number in range(50)}}


def asked(**changed: Any) -> Request:
    values = {"endpoints": [], "metrics_urls": [], "prefixes": [""], "separator": "", "depth": 0, "top": 3}
    return Request(**{**values, "max_keys": 1000, "max_size": MIB, "read_rate": MIB, **changed})


def test_groups_and_extremes() -> None:
    space = KeySpace(groups.by_prefix(b"/", 1), 2)
    for number in range(5):
        space.add(Key(b"/a/%d" % number, 10 * number, 9, number + 1, number % 2))
    space.add(Key(b"/b/x", 1000, 9, 3, 7))
    assert [(group["group"], group["keys"], group["bytes"]) for group in space.group_list(complete=True)] == [
        ("/b/", 1, 1004),
        ("/a/", 5, 120),
    ]
    assert [key["key"] for key in space.largest_keys()] == ["/b/x", "/a/4"]
    assert [(key["key"], key["writes"]) for key in space.most_written_keys()] == [("/a/4", 5), ("/a/3", 4)]
    assert space.leases == {1, 7} and space.total.with_lease == 3


def test_groups_beyond_the_limit_are_added_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyspace, "MAX_GROUPS", 2)
    space = KeySpace(groups.by_prefix(b"/", 1), 9)
    for number in range(6):
        space.add(Key(b"g%d/x" % number, 1, 1, 1, 0))
    assert {group["group"]: group["keys"] for group in space.group_list(complete=True)} == {
        "g0/": 1,
        "g1/": 1,
        groups.OTHER: 4,
    }


def test_all_keys_give_every_figure(keys_of: Any, budget: Any) -> None:
    limited = budget()
    reading = read_prefixes(keys_of(NAMES), asked(), limited)
    result = result_of(reading, limited, asked(), (4 * MIB, 3 * MIB), 12, "m2")
    assert (
        reading.unread == []
        and result["read"]["complete"]
        and result["read"]["keys"] == result["read"]["keys_total"] == 350
    )
    database = result["database"]
    assert database["live"] == 300 * 106 + 50 * 16 and database["free"] == MIB
    assert database["history"] == 3 * MIB - database["after_defragmentation"]
    assert database["reclaimable"] == 4 * MIB - database["after_defragmentation"]
    assert [group["share"] for group in result["groups"]] == [97.5, 2.5]
    assert result["grouping"] == "the first part between '/'" and result["leases"]["total"] == 12


def test_a_part_gives_no_figure_of_the_whole(keys_of: Any, budget: Any) -> None:
    request = asked(prefixes=["/b/"])
    limited = budget()
    result = result_of(read_prefixes(keys_of(NAMES), request, limited), limited, request, (MIB, MIB), "denied", "m1")
    assert result["groups"][0]["keys"] == 50 and result["unread"] == []
    assert result["groups"][0]["share"] is None
    assert result["database"]["live"] is None and result["database"]["reclaimable"] is None
    assert result["leases"] == {"total": None, "with_keys": None, "keys": 0, "problem": "denied"}


def test_what_was_not_read_is_listed(keys_of: Any, budget: Any) -> None:
    short = read_prefixes(keys_of(NAMES), asked(max_keys=100), budget())
    assert short.unread == [
        "250 of 350 of all keys: the limit of 100 keys or 1.0 MiB was reached; the last key read is /a/099; raise max_keys and max_size"
    ]
    failed = read_prefixes(keys_of(NAMES, fails_after=2), asked(), budget())
    assert failed.unread == ["310 of 350 of all keys: the member stopped"]
    second = read_prefixes(keys_of(NAMES), asked(prefixes=["/b/", "/a/"], max_keys=300), budget())
    assert len(second.unread) == 1 and second.unread[0].startswith(
        "the keys with the prefix /b/: the limit of 300 keys"
    )
    nothing = read_prefixes(keys_of(NAMES, fails_after=0), asked(), budget())
    assert nothing.unread == ["all keys: the member stopped"] and nothing.space is None
    assert result_of(nothing, budget(), asked(), (None, None), 0, "m1")["groups"] == []


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"depth": 99}, "depth is 99, but must lie between 0 and 20"),
        ({"top": 0}, "top is 0, but must lie between 1 and 1000"),
        ({"prefixes": []}, "prefixes: the list is empty"),
        ({"prefixes": ["/a", ""]}, "prefixes: /a begins with "),
        ({"separator": "much too long"}, "over the limit of 8 bytes"),
    ],
)
def test_invalid_requests(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(MeasureError, match=message):
        check_request(asked(**changed))


def test_pages_of_a_defragmented_file() -> None:
    empty = CompactedSize().bytes
    one = CompactedSize()
    one.add(stored_entry(10, 100, (2, 2, 1), 0))
    assert one.bytes == empty + PAGE
    large = CompactedSize()
    for _number in range(10):
        large.add(stored_entry(10, 5 * PAGE, (2, 2, 1), 0))
    assert large.bytes == empty + 5 * 11 * PAGE + PAGE, "two values on each leaf, and a branch page"
    assert stored_entry(10, 0, (2, 2, 1), 0) == 33 + 12 + 6 and stored_entry(10, 1, (2, 2, 1), 300) == 33 + 15 + 9


def result(**changed: Any) -> dict[str, Any]:
    database = {"size": 100 * MIB, "in_use": 90 * MIB, "free": 10 * MIB, "history": MIB}
    empty = {"groups": [], "largest_keys": [], "most_written_keys": [], "leases": {"total": 0, "with_keys": 0}}
    return {"database": {**database, **changed.pop("database", {})}, **empty, **changed}


@pytest.mark.parametrize(
    ("found", "advice"),
    [
        (result(), ""),
        (result(database={"history": None, "free": None, "size": None}), ""),
        (
            result(database={"history": 60 * MIB}),
            "60.0 MiB of 100.0 MiB are old revisions, 45 % or more: compact more often",
        ),
        (result(database={"free": 45 * MIB}), "45.0 MiB of 100.0 MiB are free pages, 45 % or more: defragment"),
        (result(database={"free": 45 * MIB - 1}), ""),
        (result(database={"free": 50 * MIB}), "50.0 MiB of 100.0 MiB are free pages, 45 % or more: defragment"),
        (
            result(groups=[{"group": "/registry/events/ns/", "share": 80.0, "bytes": 200 * MIB}]),
            "/registry/events/ns/ has 80.0 % of all bytes, 200.0 MiB: move it to a cluster of its own (kube-apiserver",
        ),
        (result(groups=[{"group": "/shop/", "share": 80.0, "bytes": 200 * MIB}]), "/shop/ has 80.0 % of all bytes"),
        (result(groups=[{"group": "/shop/", "share": None, "bytes": 200 * MIB}]), ""),
        (result(groups=[{"group": groups.OTHER, "share": 80.0, "bytes": 200 * MIB}]), ""),
        (
            result(groups=[{"group": "/service/", "share": 100.0, "bytes": 200 * MIB}]),
            "/service/ has 100.0 % of all bytes, 200.0 MiB: set a larger depth to see its parts",
        ),
        (result(largest_keys=[{"key": "k", "bytes": MIB}]), "k has 1.0 MiB, over 128.0 KiB"),
        (result(most_written_keys=[{"key": "k", "writes": 200_000}]), "k was written 200,000 times, over 100,000"),
        (result(leases={"total": 5000, "with_keys": 10}), "4,990 of 5,000 leases have no key"),
        (result(leases={"total": None, "with_keys": None}), ""),
    ],
)
def test_advice(found: dict[str, Any], advice: str) -> None:
    said = advise(found)
    assert len(said) == bool(advice) and "".join(said).startswith(advice)
