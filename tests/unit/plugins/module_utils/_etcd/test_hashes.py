# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The judgment of the members' hashes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import hash_requests, hashes
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster import Cluster, Member, Quorum
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import Connection
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.hashes import Answer, Behind, Hash

GOOD, BAD, OTHER = Hash("aa", 5), Hash("bb", 5), Hash("cc", 5)


@pytest.mark.parametrize(
    ("answers", "verdict", "differing", "unknown"),
    [
        ([GOOD, GOOD, GOOD], "agree", [], []),
        ([GOOD, GOOD, BAD], "differ", ["m3"], []),
        ([BAD, GOOD, GOOD], "differ", ["m1"], []),
        ([GOOD, GOOD, Behind(3)], "differ", ["m3"], []),
        ([GOOD, BAD, OTHER], "undecided", [], []),
        ([GOOD, BAD], "undecided", [], []),
        # Two of four are not a majority, although the other two differ from each other.
        ([GOOD, GOOD, BAD, OTHER], "undecided", [], []),
        ([GOOD, GOOD, "connection refused"], "agree", [], ["m3"]),
        ([GOOD, BAD, "connection refused"], "undecided", [], ["m3"]),
        ([GOOD, "connection refused", "connection refused"], "unknown", [], ["m2", "m3"]),
        # Compacted to another revision: the hashes cannot be compared.
        ([GOOD, GOOD, Hash("bb", 6)], "agree", [], ["m3"]),
        ([GOOD, Hash("aa", 6), "connection refused"], "unknown", [], ["m1", "m3"]),
        ([], "unknown", [], []),
    ],
)
def test_judge(answers: list[Answer], verdict: str, differing: list[str], unknown: list[str]) -> None:
    named = {f"m{number}": answer for number, answer in enumerate(answers, 1)}
    found = hashes.judge(list(named), named, 7)
    assert (found.verdict, found.differing, sorted(found.unknown)) == (verdict, differing, unknown)


def test_sentences() -> None:
    three = ["m1", "m2", "m3"]
    found = hashes.judge(three, {"m1": GOOD, "m2": GOOD, "m3": BAD}, 7)
    assert found.sentence() == "m3 differs from the majority at revision 7: aa (m1, m2); bb (m3)"
    found = hashes.judge(three, {"m1": GOOD, "m2": Behind(3), "m3": "no answer in time"}, 7)
    assert found.sentence() == (
        "the members differ, and no hash has a majority, so the wrong one is unknown at revision 7: aa (m1); none, at revision 3 (m2); "
        "not compared: m3: no answer in time"
    )
    found = hashes.judge(three, {"m1": GOOD, "m2": GOOD, "m3": GOOD}, 7)
    assert found.sentence() == "m1, m2, m3 have the same hash at revision 7: aa (m1, m2, m3)"
    found = hashes.judge(["m1"], {"m1": GOOD}, 7)
    assert found.sentence() == "m1 is the only voting member, and has this hash at revision 7: aa (m1)"


def test_rounds_in_two_clusters_confirm_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    """Endpoints of two clusters, with members of the same names, may answer for either in each round."""
    differs = hashes.judge(["m1", "m2", "m3"], {"m1": GOOD, "m2": GOOD, "m3": BAD}, 7)
    rounds = iter([replace(differs, cluster_id=name) for name in ("main", "events", "main", "events")])
    members = [Member("m1", "1", "leader", True, "", "http://127.0.0.1:1", [], [])]
    monkeypatch.setattr(
        hash_requests,
        "observe_cluster",
        lambda *_arguments: (Cluster("", "m1", members, Quorum(1, 1, 1, True), []), "m1"),
    )
    monkeypatch.setattr(hash_requests, "_compare_once", lambda *_arguments: next(rounds))
    found = hash_requests.compare_members(Connection("etcdctl", None, None, None, 1.0), [], 1.0, pause=0)
    assert (found.verdict, set(found.unknown)) == ("unknown", {"m1", "m2", "m3"})
