# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the reader finds in files of the tests."""

from __future__ import annotations

from typing import Any

from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.read import Reading, read


def documents_of(reading: Reading) -> list[Any]:
    """Return the documents for the policies."""
    return [entry["contents"] for entry in reading.document["files"]]


def documents_in(path: str, text: str) -> list[Any]:
    """Return the documents for the policies that the reader finds in one file."""
    return documents_of(read({path: text}))


def members_in(path: str, text: str) -> list[dict[str, Any]]:
    """Return the members that the reader finds in one file."""
    found = documents_in(path, text)
    return [each["headroom_member"] for each in found if isinstance(each, dict) and "headroom_member" in each]


def member_in(path: str, text: str) -> dict[str, Any]:
    """Return the only member in one file."""
    [found] = members_in(path, text)
    return found


def members_with_paths(texts: dict[str, str]) -> list[tuple[str, dict[str, Any]]]:
    """Return the members that the reader finds in several files that contain nothing else, each with its path."""
    return [(entry["path"], entry["contents"]["headroom_member"]) for entry in read(texts).document["files"]]
