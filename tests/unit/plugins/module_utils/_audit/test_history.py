# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is computed from the points of a Prometheus server. tests/integration asks a real one."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._audit import history
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.access import MeasureError

STEP = 100.0


def matrix(values: list[float]) -> dict[str, Any]:
    """An answer of one series, whose points lie STEP seconds apart."""
    return {
        "result": [{"values": [[number * STEP, str(value)] for number, value in enumerate(values)]}] if values else []
    }


def answers(asked: list[str], puts: list[float], sizes: list[float], members: list[dict[str, str]]) -> history.Ask:
    """A server with one series for each question; it notes the expressions."""

    def ask(path: str, arguments: dict[str, str]) -> Any:
        if path == "series":
            return members
        query = arguments["query"]
        asked.append(query)
        if "put_size" in query:
            return matrix(sizes)
        if "delete_total" in query or "rate(etcd_mvcc_current_revision" in query:
            return matrix([puts[0] / 4, 0, 0] if puts else [])
        return matrix(puts if "put_total" in query else [7, 9, 8])

    return ask


def read(
    puts: list[float], sizes: list[float], members: list[dict[str, str]] | None = None
) -> tuple[history.History, list[str]]:
    """The history, and the expressions that were asked."""
    asked: list[str] = []
    found = [{"__name__": "etcd_server_id", "server_id": "0ab", "job": 'a"b'}] if members is None else members
    return history.read_history(answers(asked, puts, sizes, found), ["ab"], 3600, 3600.0), asked


def test_the_peak_and_the_mean() -> None:
    found, asked = read([10, 200, 30], [1000, 40_000, 3000])
    assert (found.puts, found.puts_peak, found.puts_peak_at) == (80, 200, STEP)
    assert found.put_size == round(44_000 / 240) and found.highest["watchers"] == 9
    assert {"revisions", "all_revisions"} <= set(found.highest)
    assert all('{job="a\\"b"}' in query for query in asked)


def test_large_values_of_the_night_count_as_far_as_they_fill_the_log() -> None:
    # 100 s of 300 puts a second with 100 kB, beside hours of small ones: the log has nothing else then.
    assert read([10, 300, 10], [10 * 200, 300 * 100_000, 10 * 200])[0].put_size_peak == 100_000
    # A tenth of the log: 1,000 of 10,000 puts in a row are large.
    size = read([90, 10], [90 * 200, 10 * 100_000])[0].put_size_peak
    assert size == round((9000 * 200 + 1000 * 100_000) / 10_000)


def test_a_member_that_was_scraped_under_other_labels_before() -> None:
    """A renamed job, or another instance: the peak is in the old series, and only the new one has scrapes of the last minutes."""
    members = [{"__name__": "etcd_server_id", "server_id": "ab", "job": job} for job in ("new", "before", "new")]
    asked: list[str] = []
    usual = answers(asked, [10, 200, 30], [1000, 40_000, 3000], members)

    def ask(path: str, arguments: dict[str, str]) -> Any:
        if path == "query":
            asked.append(arguments["query"])
            recent = 'job="new"' in arguments["query"]
            return {"result": [{"values": [[3000, "1"], [3015, "1"], [3030, "1"]]}] if recent else []}
        return usual(path, arguments)

    found = history.read_history(ask, ["ab"], 3600, 3600.0)
    assert (found.step, found.puts_peak) == (15, 200)
    assert all(query.count('{job="new"}') == query.count('{job="before"}') for query in asked if "10m" not in query)
    assert [query for query in asked if "10m" in query] == [
        'etcd_server_id{job="before"}[10m]',
        'etcd_server_id{job="new"}[10m]',
    ]


def test_without_recent_scrapes_a_minute_is_assumed() -> None:
    usual = answers([], [10, 20], [100, 200], [{"server_id": "ab", "job": "a"}])
    found = history.read_history(
        lambda path, given: {"result": []} if path == "query" else usual(path, given), ["ab"], 3600, 1.0
    )
    assert found.step == 60


def test_a_revision_may_have_several_writes() -> None:
    assert read([40, 0, 0], [400, 0, 0])[0].revision_writes == (40 + 10) / 10
    assert read([0, 0], [0, 0])[0].revision_writes == 1.0


def test_fewer_puts_than_the_log_holds() -> None:
    assert read([1, 1], [300, 500])[0].put_size_peak == 400
    assert read([0, 0], [0, 0])[0].put_size_peak is None


def test_no_points_and_no_members() -> None:
    with pytest.raises(MeasureError, match="less than twice"):
        read([], [])
    with pytest.raises(MeasureError, match="no etcd_server_id of the members ab"):
        read([1], [1], [])


@pytest.mark.parametrize(("text", "seconds"), [("7d", 604_800), ("12h", 43_200), ("90m", 5400)])
def test_lengths(text: str, seconds: int) -> None:
    assert history.parse_length(text) == seconds


@pytest.mark.parametrize("text", ["", "7", "0m", "91d", "7 d", "-1d", "a week"])
def test_lengths_that_are_refused(text: str) -> None:
    with pytest.raises(MeasureError, match="from 1m to 90d"):
        history.parse_length(text)
