# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The script that damages a value in the database of a member."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from bench.common.damage import damage_script


def test_a_value_is_damaged_in_the_database(tmp_path: Path) -> None:
    path = tmp_path / "db"
    path.write_bytes(b"key the-value key")
    program = re.search(r'python3 -c "(.+?)" &&', damage_script("the-value"))
    assert program
    subprocess.run(["python3", "-c", re.sub(r"'/var/lib[^']+'", repr(str(path)), program[1])], check=True)
    assert path.read_bytes() == b"key THE-VALUE key"
