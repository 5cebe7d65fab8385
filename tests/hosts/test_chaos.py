# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A sample of `make bench-chaos`: a play that is killed, and a leader that is cut off, under a client that writes all the time.

They come last in molecule's scenario default, since they leave another setting behind.
"""

from __future__ import annotations

import pytest

from bench.chaos.cases import SAMPLE
from bench.chaos.measure import measure
from bench.chaos.operations import Change, Lab
from bench.chaos.run import line

LAB = Lab()
# Three elections in a row. A stall of the disk that all lab hosts share counts, too.
PAUSE_SECONDS = 10.0


@pytest.mark.parametrize("case", SAMPLE, ids=str)
def test_no_acknowledged_write_is_lost_and_the_next_run_recovers(site, case):
    row, _ = measure(LAB, Change(), case, SAMPLE.index(case))
    assert not row.problem and row.lost == 0, line(row)
    assert row.converged and row.unchanged, line(row)
    assert row.pause < PAUSE_SECONDS, line(row)
