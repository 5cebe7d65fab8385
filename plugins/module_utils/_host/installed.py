# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the installed releases of etcd, each in a folder of its own. Private to the collection. Nothing here writes."""

from __future__ import annotations

import os
import re

# `uname -m` -> GOARCH, as in the names of etcd's release archives.
GO_ARCHITECTURES = {
    "x86_64": "amd64",
    "aarch64": "arm64",
    "arm64": "arm64",
    "ppc64le": "ppc64le",
    "s390x": "s390x",
    "riscv64": "riscv64",
}

_VERSION = re.compile(r"^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?$")


def installed_versions(folder: str) -> list[str]:
    """Return the etcd versions with a server in folder/<version>/etcd, lowest first."""
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    found = [name for name in names if _VERSION.match(name) and os.access(os.path.join(folder, name, "etcd"), os.X_OK)]
    return sorted(
        found, key=lambda name: ([int(part) for part in name.split("-")[0].split(".")], "-" not in name, name)
    )


def newest_program(folder: str, name: str) -> str:
    """Return the path of a program, such as etcdctl, of the newest version in folder/<version>; empty without one."""
    paths = (os.path.join(folder, version, name) for version in reversed(installed_versions(folder)))
    return next((path for path in paths if os.access(path, os.X_OK)), "")
