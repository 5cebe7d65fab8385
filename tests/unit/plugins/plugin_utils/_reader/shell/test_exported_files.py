# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Flags that repeat a variable of a file that a shell exports whole, by set -a."""

from __future__ import annotations

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.read import read

START = "exec etcd --name $ETCD_NAME --data-dir ${ETCD_DATA_DIR}/a --listen-client-urls https://127.0.0.1:2379\n"
SCRIPT = f"#!/bin/bash\nset -a\n. /etc/etcd.conf\nset +a\n{START}"
UNIT = '[Service]\nExecStart=/bin/sh -c "set -a; . /f; exec /usr/bin/etcd --name $ETCD_NAME --data-dir /d"\n'
CONTAINER = (
    '#!/bin/sh\ndocker run quay.io/coreos/etcd:v3.5.31 sh -c "set -a; . /f; etcd --data-dir /d --name $ETCD_NAME"\n'
)
TWICE = {"name": "ETCD_NAME"}


@pytest.mark.parametrize(
    ("path", "text", "twice"),
    [
        ("x.sh", SCRIPT, TWICE),
        ("x.sh", SCRIPT.replace("set -a", "set -o allexport"), TWICE),
        ("x.sh", SCRIPT.replace("set -a\n", ""), {}),
        ("x.sh", SCRIPT.replace("set -a\n", "set -a\nset +a\n"), {}),
        ("x.sh", SCRIPT.replace("exec", "ETCD_NAME=a\nexec"), {}),
        ("x.sh", SCRIPT.replace("exec", "unset ETCD_NAME\nexec"), {}),
        ("x.sh", SCRIPT.replace("exec", "exec env -i"), {}),
        ("x.sh", SCRIPT.replace("exec", "sudo"), {}),
        ("x.sh", SCRIPT.replace("/etc/etcd.conf", "/etc/os-release"), {}),
        ("x.sh", f"#!/bin/bash\n{START.replace('exec ', '')}set -a\n. /f\n", {}),
        ("etcd.service", UNIT, TWICE),
        ("etcd.service", UNIT.replace("set -a; ", ""), {}),
        ("etcd.service", UNIT.replace("exec", "ETCD_NAME=a; exec"), {}),
        ("x.sh", CONTAINER, TWICE),
    ],
)
def test_twice(path: str, text: str, twice: dict[str, str]) -> None:
    [entry] = read({path: text}).document["files"]
    assert entry["contents"]["headroom_member"]["twice"] == twice
