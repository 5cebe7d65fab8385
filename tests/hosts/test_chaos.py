# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two cases of `make bench-chaos`, under a client that writes: a leader that is cut off during a rolling update, and a play that is killed.

They come last in molecule's scenario default, since they leave other settings behind. How long writes pause is for the benchmark: all lab hosts
share a disk, which can stall for seconds on its own.
"""

from __future__ import annotations

import pytest

from bench.chaos.cases import SAMPLE
from bench.chaos.operations import OPERATIONS
from bench.common.campaign.case import KILL
from bench.common.campaign.measure import measure
from bench.common.campaign.operation import Lab
from bench.common.campaign.results import line
from tests.campaign import in_campaign

LAB = Lab()
CASES = [case for case in SAMPLE if case.operation == "change" and case.fault != "host stopped"]
# Other tests kill plays, too.
MARKED = [in_campaign(case) if case.fault == KILL else case for case in CASES]


@pytest.mark.parametrize("case", MARKED, ids=str)
def test_no_acknowledged_write_is_lost_and_the_next_run_recovers(site, case):
    operations = {one.name: one for one in (make() for make in OPERATIONS)}
    row, _ = measure(LAB, operations[case.operation], case, CASES.index(case))
    assert not row.problem and row.lost == 0, line(row)
    assert row.converged and row.unchanged, line(row)
