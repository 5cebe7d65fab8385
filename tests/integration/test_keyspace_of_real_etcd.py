# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""etcd_keyspace_info adds up the keys of real etcd of each series, and predicts its size after a defragmentation."""

from __future__ import annotations

import base64
import io
import json
import random
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.testing import patch_module_args
from ansible_collections.etcdops.headroom.plugins.modules import etcd_keyspace_info

from bench.common.member import Member, binary, metrics, releases, running
from bench.memory import load
from tests.integration.client import etcdctl

VERSIONS = {version.rpartition(".")[0]: version for version in releases()}
PORT = 25750
SECRET = b"never-to-be-seen"


def survey(member: Member, **arguments: Any) -> dict[str, Any]:
    """Return the module's result, which must not have a value in it."""
    options = {
        "etcdctl_path": str(binary(member.version, "etcdctl")),
        "endpoints": [member.endpoint],
        "request_timeout": 15,
    }
    out, err = io.StringIO(), io.StringIO()
    with patch_module_args({**options, **arguments}), pytest.raises(SystemExit):
        with redirect_stdout(out), redirect_stderr(err):
            etcd_keyspace_info.main()
    for text in (SECRET.decode(), base64.b64encode(SECRET).decode()[:20]):
        assert text not in out.getvalue() + err.getvalue()
    result: dict[str, Any] = json.loads(out.getvalue())
    return result


def put(member: Member, entries: dict[bytes, bytes], lease: str = "0") -> None:
    """Put keys, a hundred in a transaction."""
    encoded = [tuple(base64.b64encode(part).decode() for part in entry) for entry in entries.items()]
    for first in range(0, len(encoded), 100):
        puts = [
            {"request_put": {"key": key, "value": value, "lease": lease}} for key, value in encoded[first : first + 100]
        ]
        load.gateway(member, "kv/txn", {"success": puts})


def key_space() -> dict[bytes, bytes]:
    """Return the keys of a small Kubernetes, with values of very different sizes."""
    drawn = random.Random(7)
    found = {}
    for number in range(2500):
        name = b"/registry/pods/ns%d/pod-%05d" % (number % 3, number)
        found[name] = SECRET + b"p" * drawn.randint(100, 6000)
    for number in range(400):
        found[b"/registry/events/ns0/event-%05d" % number] = SECRET + b"e" * 700
    found[b"/registry/configmaps/ns1/bundle"] = SECRET + b"c" * 300_000
    found[b"/registry/minions/node-1"] = SECRET
    found[b"/registry/\xff\x00binary"] = SECRET
    return found


@dataclass(frozen=True)
class Surveyed:
    """A member with the keys of a small Kubernetes, and what the module returned for it.

    live: for all keys. limited: for 1,500 of them. revision: before and after that. snapshot: of the member then. size: of its database after compaction and
    defragmentation.
    """

    member: Member
    entries: dict[bytes, bytes]
    live: dict[str, Any]
    limited: dict[str, Any]
    revision: int
    snapshot: Path
    size: float


@pytest.fixture(name="surveyed", scope="module", params=sorted(VERSIONS))
def surveyed_member(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Surveyed:
    folder = tmp_path_factory.mktemp("etcd")
    entries = key_space()
    member = Member(VERSIONS[request.param], folder, PORT)
    with running([member]):
        put(member, {name: value for name, value in entries.items() if b"/pods/" in name})
        put(member, entries)
        counter = {b"/registry/leases/kube-system/scheduler": SECRET}
        for _number in range(30):
            put(member, counter, lease=load.grant(member, 1)[0])
        before = member.mvcc_metric("current_revision")
        live = survey(member)
        limited = survey(member, max_keys=1500, depth=3, separator="/", top=2)
        assert member.mvcc_metric("current_revision") == before, "it wrote to the cluster"
        etcdctl(member, "snapshot", "save", str(folder / "all.db"))
        etcdctl(member, "compaction", "--physical", str(before))
        etcdctl(member, "defrag")
        size = metrics(member.metrics_url)["etcd_mvcc_db_total_size_in_bytes"]
    assert not live.get("failed"), live
    return Surveyed(member, {**entries, **counter}, live, limited, before, folder / "all.db", size)


def test_groups_and_totals_equal_what_was_written(surveyed: Surveyed) -> None:
    found, entries = surveyed.live, surveyed.entries
    groups = {group["group"]: group for group in found["groups"]}
    for name, prefix in (
        ("/registry/pods/ns1/", b"/registry/pods/ns1/"),
        ("/registry/events/ns0/", b"/registry/events/"),
        ("/registry/minions/", b"/registry/minions/"),
    ):
        chosen = {key: value for key, value in entries.items() if key.startswith(prefix)}
        assert groups[name]["keys"] == len(chosen)
        assert groups[name]["bytes"] == sum(map(len, (*chosen, *chosen.values())))
    total = sum(map(len, (*entries, *entries.values())))
    assert found["read"]["complete"] and found["read"]["keys"] == len(entries) and found["unread"] == []
    assert found["read"]["revision"] == surveyed.revision
    assert found["database"]["live"] == total == found["read"]["bytes"] <= found["read"]["bytes_limit"]
    assert sum(bucket["keys"] for bucket in found["value_sizes"]) == len(entries)


def test_the_largest_and_most_written_keys_and_leases_are_found(surveyed: Surveyed) -> None:
    found = surveyed.live
    assert found["largest_keys"][0]["key"] == "/registry/configmaps/ns1/bundle"
    assert found["most_written_keys"][0] == {
        "key": "/registry/leases/kube-system/scheduler",
        "bytes": 38 + len(SECRET),
        "writes": 30,
        "with_lease": True,
    }
    assert found["leases"] == {"total": 30, "with_keys": 1, "keys": 1, "problem": ""}


def test_the_size_after_a_defragmentation_is_predicted(surveyed: Surveyed) -> None:
    found = surveyed.live
    predicted = found["database"]["after_defragmentation"]
    assert abs(predicted - surveyed.size) <= surveyed.size * 0.02, (predicted, surveyed.size)
    assert found["database"]["history"] > 5_000_000 and "over 128.0 KiB" in " ".join(found["advice"])


def test_a_limit_is_named_and_no_figure_that_needs_all_keys_is_returned(surveyed: Surveyed) -> None:
    part = surveyed.limited
    assert part["read"]["keys"] == 1500 and part["database"]["live"] is None and len(part["groups"]) == 2
    assert "1,404 of 2,904 of all keys: the limit of 1,500 keys" in part["unread"][0], part["unread"]


def test_a_snapshot_has_the_keys_of_the_cluster(surveyed: Surveyed, tmp_path: Path) -> None:
    """Its temporary member leaves nothing behind, also if the snapshot is damaged."""
    member, found = surveyed.member, surveyed.live
    folder = tmp_path / "scratch"
    folder.mkdir()
    tools = {"etcdutl_path": str(binary(member.version, "etcdutl")), "scratch_dir": str(folder)}
    stored = survey(member, snapshot=str(surveyed.snapshot), read_rate="1GB", **tools)
    same = ("groups", "value_sizes", "largest_keys", "most_written_keys", "leases")
    assert {name: stored.get(name) for name in same} == {name: found[name] for name in same}, stored
    assert stored["database"]["live"] == found["database"]["live"] and stored["unread"] == []
    damaged = tmp_path / "damaged.db"
    damaged.write_bytes(surveyed.snapshot.read_bytes()[:-5000])
    cut_off = survey(member, snapshot=str(damaged), **tools)
    assert cut_off["failed"] and cut_off["msg"].startswith(f"{damaged}: etcdutl cannot restore it: "), cut_off["msg"]
    absent = survey(member, snapshot="/absent.db", **tools)
    assert absent["failed"] and "snapshot /absent.db is not a file on this host" in absent["msg"]
    assert list(folder.iterdir()) == []


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    member = Member(VERSIONS[max(VERSIONS)], tmp_path, PORT)
    with running([member]):
        empty = survey(member)
        put(member, {b"/shop/1": SECRET, b"/shop/2": SECRET, b"/other": SECRET})
        for words in (
            *("role add shop", "role grant-permission shop read --prefix=true /shop/", "user add shop:Shop-Pass"),
            *("user grant-role shop shop", "user add root:Root-Pass", "user grant-role root root", "auth enable"),
        ):
            etcdctl(member, *words.split())
        anonymous = survey(member)
        login = {"login_user": "shop", "login_password": "Shop-Pass"}
        denied = survey(member, **login)
        part = survey(member, **login, prefixes=["/shop/", "/other"])
        twice = survey(member, prefixes=["/shop/", "/shop/x"])
        rate = survey(member, read_rate="1KB")
    assert empty["read"]["complete"] and empty["groups"] == [] and empty["advice"] == []
    assert anonymous["failed"] and "user name is empty. Authentication is on: set login_user" in anonymous["msg"]
    assert denied["unread"][0].startswith("all keys: etcd denies this user reading them; set prefixes")
    assert part["read"]["keys"] == 2 and part["groups"][0]["group"] == "/shop/"
    assert part["unread"][0].startswith("the keys with the prefix /other: etcd denies") and len(part["unread"]) == 1
    assert twice["failed"] and "/shop/x begins with /shop/" in twice["msg"]
    assert rate["failed"] and "read_rate is 1024, but must lie between 65536" in rate["msg"]
