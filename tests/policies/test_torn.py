# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""headroom-lint's reader ends without an error, whatever is in the files."""

from __future__ import annotations

import json

from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.read import read

from .mutations import Files
from .torn import TEXTS, torn

NUMBER = 2000


def check(files: Files) -> None:
    """Read the files. AssertionError if the policies could not take the document, or if it names a file that is not there."""
    document = json.loads(json.dumps(read(files).document))
    assert set(document["unparsed"]) <= set(files)


def test_whole_files_are_read() -> None:
    assert not read(TEXTS).document["unparsed"]


def test_torn_files_cause_no_error() -> None:
    for files in torn(NUMBER):
        try:
            check(files)
        except Exception as error:
            raise AssertionError("\n".join(f"### {path}\n{text}" for path, text in files.items())) from error
