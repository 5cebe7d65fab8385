# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Join a unit with the config file that it names: the file has etcd's settings, and the unit has limits, priorities and Go's variables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader import member
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.named_files import find_named
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.recognize import Text, has_server_keys
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.state import State
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.text.word_index import index_words


def with_config_file(found: dict[str, Any], unit_path: str, state: State) -> tuple[dict[str, Any], list[Text]]:
    """Return a unit's member with the contents of its config file, and that file in a list.

    The config file is then not read as another member. If it is not among the files, the member stays as it is and the list is empty.
    """
    named = member.config_file(found) or found["environment"].get("ETCD_CONFIG_FILE", "")
    file = find_named(state.configurations, named, unit_path) if named else None
    entries = [entry for entry in state.files if file and entry["path"] == file.path and _is_config(entry["contents"])]
    if file is None or len(entries) != 1:
        return found, []
    state.files.remove(entries[0])
    config = entries[0]["contents"]
    where = {**found["where"], **_places(config, file)}
    name = str(config.get("name", found["name"]))
    return {**found, "name": name, "config": config, "where": where}, [file]


def _is_config(contents: Any) -> bool:
    return isinstance(contents, dict) and has_server_keys(contents)


def _places(config: Mapping[str, Any], file: Text) -> dict[str, list[Any]]:
    """Return key → its position, with the key of a section before those in it."""
    words = index_words(file.text, file.lines[0].number if file.lines else 1)
    return {key: [file.path, line] for key, line in _lines(config, words)}


def _lines(config: Mapping[str, Any], words: Mapping[str, list[int]]) -> Iterator[tuple[str, int]]:
    """Return each key with its line; those of a section are behind the section's own."""
    for key, value in config.items():
        start = next(iter(words.get(str(key), [])), None)
        if start is None:
            continue
        yield str(key), start
        for inner in value if isinstance(value, dict) else ():
            line = next((number for number in words.get(str(inner), []) if number >= start), None)
            if line is not None:
                yield f"{key}.{inner}", line
