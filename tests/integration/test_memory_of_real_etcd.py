# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One case of bench/memory on real etcd of each series: the harness works, and the model is where docs/accuracy.md says.

The bounds are wider than the promise, because a single run on a busy machine differs more than the median of several.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.common.member import releases
from bench.memory.cases import grid
from bench.memory.predict import predicted
from bench.memory.run import measure, row_of

VERSIONS = {version.rpartition(".")[0]: version for version in releases()}


@pytest.mark.parametrize("series", sorted(VERSIONS))
def test_the_model_is_within_its_documented_error(series: str, tmp_path: Path) -> None:
    case = next(case for case in grid() if case.series == series and case.name == "log-100k-even")
    row = row_of(case, VERSIONS[series], 1, measure(case, VERSIONS[series], tmp_path))
    estimate = predicted(row)
    for figure in ("rss_anon_peak", "restart_rss_anon_peak"):
        share = estimate[figure] / float(row[figure])
        assert 0.85 < share < 1.4, f"{figure}: {row[figure]} measured, {estimate[figure]} predicted"
