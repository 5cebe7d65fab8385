# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the client of the fault campaign counts as failed, lost and paused."""

from __future__ import annotations

import ssl

import pytest

from bench.common.campaign.client import Probe, Record, Write, after, has_vote, value_of
from bench.common.gateway import Endpoint, Refused

ALL, TWO, ONE = frozenset("abc"), frozenset("ab"), frozenset("a")


def a_record(revisions: list[int], serving: list[frozenset[str]] | None = None) -> Record:
    """Writes that are due each second and take 0.5 s; each with a probe."""
    writes = [Write(number, 10.0 + number, 10.5 + number, revision) for number, revision in enumerate(revisions)]
    probes = [Probe(10.0 + number, seen) for number, seen in enumerate(serving or [ALL] * len(revisions))]
    return Record(3, writes, probes)


@pytest.mark.parametrize(
    ("revisions", "serving", "failed"),
    [
        ([5, 6, 7], [ALL, ALL, ALL], (0, 0)),
        ([5, 0, 7], [ALL, TWO, ALL], (1, 0)),
        ([5, 0, 7], [ALL, ONE, ALL], (0, 1)),
        ([5, 0, 7, 8], [ALL, ALL, ALL, ONE], (0, 1)),  # it went away before the write's time was over
        ([0, 0, 7, 0], [ALL, ALL, ALL, ALL], (1, 0)),  # there was no cluster before the first acknowledged write
        ([0, 0, 0], [ALL, ALL, ALL], (0, 0)),
    ],
)
def test_failed_writes_count_if_a_majority_served(
    revisions: list[int], serving: list[frozenset[str]], failed: tuple[int, int]
) -> None:
    assert a_record(revisions, serving).failed() == failed


@pytest.mark.parametrize(
    ("revisions", "pause"), [([5, 6, 7], 1.0), ([5, 0, 0, 8], 3.0), ([5, 6, 0, 0], 2.0), ([0, 0], 0.0), ([], 0.0)]
)
def test_longest_pause_reaches_from_the_first_acknowledgement_to_the_end(revisions: list[int], pause: float) -> None:
    assert a_record(revisions).longest_pause() == pause


def test_writes_that_were_due_before_the_cluster_was_formed_do_not_count() -> None:
    """Two writes wait for the first leader. The first of them was just in time for it, and the other one was at a member that answered later."""
    waited, late = Write(0, 10.0, 12.0, 5), Write(1, 10.05, 12.05, 0)
    after_it = [Write(2, 12.05, 12.1, 6), Write(3, 12.1, 14.1, 0)]
    record = Record(3, [waited, late, *after_it], [Probe(at / 4, ALL) for at in range(36, 60)])
    assert record.failed() == (1, 0), "only the last one"


def test_lost_are_acknowledged_writes_that_are_missing_or_altered() -> None:
    record = a_record([5, 0, 7, 8, 9])
    found = {0: value_of(0), 2: value_of(2), 3: "another value"}
    assert record.lost(found, lambda write: True) == [3, 4]
    assert record.lost(found, lambda write: write.revision < 9) == [3]


def test_the_end_of_a_range_is_after_every_key_with_the_prefix() -> None:
    assert after("/chaos/a/") == "/chaos/a0"


@pytest.mark.parametrize(("status", "serves"), [({"isLearner": True}, False), ({}, True), (None, True)])
def test_a_learner_does_not_count(status: dict[str, bool] | None, serves: bool) -> None:
    """It reads its own data, and no write needs it. With authentication, etcd does not tell whether a member is one."""

    class Answers(Endpoint):
        def get(self, path: str, seconds: float) -> bytes:
            return b'{"health":"true"}'

        def post(self, path: str, body: object, seconds: float, headers: object = None) -> dict[str, object]:
            assert path == "/v3/maintenance/status"
            if status is None:
                raise Refused("401", 401)
            return dict(status)

    assert has_vote(Answers("https://127.0.0.1:2379", ssl.create_default_context())) is serves
