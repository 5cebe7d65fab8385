# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of the spellings that each release accepts."""

from __future__ import annotations

import pytest

from tools.render_model import load
from tools.spellings import spellings

TABLES = spellings(load())


@pytest.mark.parametrize(
    ("series", "form", "spelling", "name"),
    [
        ("3.5", "flag", "experimental-snapshot-catchup-entries", "snapshot_catchup_entries"),
        ("3.5", "env", "ETCD_EXPERIMENTAL_SNAPSHOT_CATCHUP_ENTRIES", "snapshot_catchup_entries"),
        ("3.5", "flag", "enable-v2", "enable_v2"),
        ("3.5", "key", "experimental-snapshot-catch-up-entries", "snapshot_catchup_entries"),
        ("3.7", "key", "client-transport-security.cert-file", "cert_file"),
        # Accepted, and no setting of the model.
        ("3.5", "flag", "version", None),
        ("3.5", "key", "proxy", None),
        ("3.7", "env", "ETCD_VERIFY", None),
        ("3.4", "key", "debug", None),
    ],
)
def test_a_spelling_has_its_setting(series: str, form: str, spelling: str, name: str | None) -> None:
    assert spelling in TABLES[series][form]
    assert TABLES[series][form][spelling] == name


@pytest.mark.parametrize(
    ("series", "form", "spelling"),
    [
        ("3.5", "flag", "experimental-snapshot-catch-up-entries"),
        ("3.6", "flag", "enable-v2"),
        ("3.6", "key", "proxy"),
        ("3.7", "key", "config-file"),
        ("3.4", "flag", "experimental-memory-mlock"),
    ],
)
def test_a_spelling_of_another_release_or_form_is_not_listed(series: str, form: str, spelling: str) -> None:
    assert spelling not in TABLES[series][form]
