# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The judgment of the members' hashes."""

from __future__ import annotations

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import hashes
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
