# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A configuration of the program on the hosts, and changes to it."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

CONFIG: dict[str, Any] = json.loads((Path(__file__).parent.parent / "fixtures" / "maintenance.json").read_text())
BUCKET = {
    "name": "etcd-backups",
    "prefix": "",
    "endpoint_url": "http://127.0.0.1:1",
    "region": "",
    "ca_cert": "",
    "credentials_file": "",
}


def changed(section: str, **entries: Any) -> dict[str, Any]:
    data = copy.deepcopy(CONFIG)
    data[section].update(entries)
    return data
