# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lines of the words of a file."""

from __future__ import annotations

from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.text.word_index import index_words


def test_words() -> None:
    text = """{"a-key": 1, x: --flag=2}
# comment: 3
  - --listen-client-urls # trailing: 4
ETCD_NAME=etcd
  name: snapshot-count
x.y-z: 1"""
    assert index_words(text) == {
        "a-key": [1],
        "x": [1],
        "flag": [1],
        "listen-client-urls": [3],
        "ETCD_NAME": [4],
        "name": [5],
        "snapshot-count": [5],
        "y-z": [6],
    }
