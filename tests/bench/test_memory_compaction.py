# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The loads with compactions: they last for several compactions, and the model is not too low for what was measured."""

from __future__ import annotations

from bench.memory.compaction import RESULTS, SECONDS, cases, compaction_table
from bench.memory.predict import predicted
from bench.memory.random_workloads.points import LOW_BYTES, LOW_SHARE
from bench.memory.results import read


def test_each_load_lasts_for_several_compactions() -> None:
    for case in cases():
        assert 8 * case.retention <= SECONDS and 2 * case.keys <= case.puts, case


def test_the_model_is_not_too_low() -> None:
    rows = read(RESULTS)
    assert any(int(row["retention"]) for row in rows)
    for row in rows:
        measured = float(row["rss_anon_peak"])
        assert measured - predicted(row)["rss_anon_peak"] <= max(LOW_SHARE * measured, LOW_BYTES), (
            row["version"] + " " + row["name"]
        )


def test_the_table_has_every_case() -> None:
    rows = read(RESULTS)
    assert len(compaction_table(rows)) == 2 + len(rows)
