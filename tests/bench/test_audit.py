# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of bench-audit says what differs."""

from __future__ import annotations

from bench.audit.run import Row, error, lines
from bench.audit.workloads import Workload, Written

WORK = Workload("small", 32, 1000, 500, 100, watchers=3)
EXACT = {"puts_per_second": 100, "value_size": 1000, "keys": 500, "watchers": 3}


def test_keys_have_the_size_of_the_workload_and_differ() -> None:
    keys = {WORK.key(number) for number in range(WORK.keys)}
    assert len(keys) == WORK.keys and {len(key) for key in keys} == {WORK.key_size}


def test_the_rate_is_that_of_the_puts() -> None:
    assert Written([1.0, 1.5, 2.0]).rate == 2.0 and Written([1.0]).rate == 0.0


def test_the_largest_error_counts_and_an_unknown_figure_is_all_of_it() -> None:
    near = Row("3.7.3", WORK, 100.0, {**EXACT, "value_size": 980}, 0, [])
    assert error([near], "value") == 2.0 and error([near], "rate") == 0.0
    unknown = Row("3.7.3", WORK, 100.0, {}, 0, [])
    assert error([near, unknown], "value") == 100.0


def test_what_was_missed_or_found_without_a_cause_is_named() -> None:
    row = Row("3.7.3", WORK, 100.0, EXACT, 2, ["live/lag"])
    text = "\n".join(lines([row], 9, ["live/alarm on 3.7.3"]))
    assert "| 3.7.3 | small    |  100.0 |" in text and "The audits added 2 revisions." in text
    assert "Of 9 planted defects 8 were found (not: live/alarm on 3.7.3); beside them, the rules found live/lag" in text
