# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Locks of files: one holder at a time."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._base import locks


def test_a_lock_has_one_holder(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with path.open("w") as first, path.open("w") as second:
        assert locks.try_lock(first.fileno())
        assert not locks.try_lock(second.fileno())
        first.close()
        assert locks.try_lock(second.fileno())


def test_waiting_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "POLL_SECONDS", 0.01)
    path = tmp_path / "lock"
    with path.open("w") as first, path.open("w") as second:
        assert locks.wait_for_lock(first.fileno(), 0.0)
        start = time.monotonic()
        assert not locks.wait_for_lock(second.fileno(), 0.1)
        assert time.monotonic() - start >= 0.1


def test_a_lock_that_is_released_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "lock"
    with path.open("w") as first, path.open("w") as second:
        assert locks.try_lock(first.fileno())
        monkeypatch.setattr(time, "sleep", lambda _seconds: first.close())
        assert locks.wait_for_lock(second.fileno(), 60.0)
