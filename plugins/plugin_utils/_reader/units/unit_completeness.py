# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Return whether the files of a unit state all settings of its member, so that a setting that they lack is certainly unset."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.recognize import Text
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.units.unit import Directive, unit_of

_ETCD = re.compile(r"^[@:+!-]*([\w./-]*/)?etcd(\s|$)")
# Something fills in the file later. So it does with a line that is a comment until then.
_FILLED_IN = re.compile(
    r"\{\{|\{%|<%|%\{|@\w+@|%[A-Z_]{2,}%|__[A-Z]\w*__|^\s*Environment\s*=.*\$|^\s*[#;].*ADVERTISE.CLIENT.URLS",
    re.IGNORECASE | re.MULTILINE,
)


def is_complete(
    found: Mapping[str, Any], directives: Iterable[Directive], files: list[Text], texts: Mapping[str, str]
) -> bool:
    """Return whether a unit runs etcd itself, and all its files are whole files of the host. files: the unit first."""
    starts = [directive.value for directive in directives if directive.name == "ExecStart"]
    return (
        found["image"] is None
        and len(starts) == 1
        and _ETCD.match(starts[0]) is not None
        and unit_of(files[0].path) == files[0].path
        and all(file.path == file.target and not _FILLED_IN.search(texts[file.path]) for file in files)
    )
