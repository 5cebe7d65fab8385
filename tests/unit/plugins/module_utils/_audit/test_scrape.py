# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two pages of metrics give a member's load."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.scrape import (
    ScrapeError,
    load_between,
    parse_scrape,
)

PAGE = """# TYPE etcd_mvcc_put_total counter
etcd_mvcc_put_total 100
etcd_debugging_mvcc_put_total 7
etcd_debugging_mvcc_total_put_size_in_bytes 1.5e+06
etcd_debugging_mvcc_keys_total 40
etcd_debugging_mvcc_current_revision 90
etcd_debugging_mvcc_compact_revision -1
etcd_server_id{server_id="0a665316ebc11cc"} 1
etcd_server_version{server_version="3.6.16"} 1
process_start_time_seconds 1.7e+09
process_open_fds NaN
etcd_mvcc_range_total nonsense
"""


def test_a_page_gives_its_figures_by_one_name() -> None:
    scrape = parse_scrape(PAGE, 5.0)
    assert (scrape.member_id, scrape.version) == ("a665316ebc11cc", "3.6.16")
    assert (
        scrape.count("puts") == 100
        and scrape.count("put_bytes") == 1_500_000
        and scrape.count("compact_revision") == -1
    )
    assert scrape.count("open_files") is None and scrape.count("ranges") is None


def test_the_older_name_counts_where_the_newer_is_missing() -> None:
    assert parse_scrape(PAGE.replace("etcd_mvcc_put_total", "other"), 0).count("puts") == 7


@pytest.mark.parametrize("page", ["", "<html>hello</html>", "node_load1 0.5\n"])
def test_another_programs_page_is_refused(page: str) -> None:
    with pytest.raises(ScrapeError, match="it is not that of an etcd member; set metrics_urls"):
        parse_scrape(page, 0)


def test_load_is_the_increase_of_counters() -> None:
    first = parse_scrape(PAGE, 10.0)
    last = replace(first, at=14.0, figures={**first.figures, "puts": 500.0, "keys": 30.0})
    load = load_between(first, last)
    assert load.seconds == 4.0 and load.rate("puts") == 100.0 and load.rate("ranges") is None
    assert "keys" not in load.increase


@pytest.mark.parametrize("changed", [{"started": 1.8e9}, {"puts": 1.0}])
def test_a_restart_is_no_load(changed: dict[str, float]) -> None:
    first = parse_scrape(PAGE, 10.0)
    with pytest.raises(ScrapeError, match="it restarted between the two readings"):
        load_between(first, replace(first, at=12.0, figures={**first.figures, **changed}))


def test_readings_at_the_same_time_are_refused() -> None:
    first = parse_scrape(PAGE, 10.0)
    with pytest.raises(ScrapeError, match="raise window"):
        load_between(first, first)
