# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The sockets of this machine on which processes listen."""

from __future__ import annotations

import os
import socket
from pathlib import Path

from ansible_collections.etcdops.headroom.plugins.module_utils._host.listeners import (
    listening_elsewhere,
    parse_listeners,
)

HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"


def test_only_listening_sockets_count() -> None:
    lines = [
        "   0: 0100007F:094B 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 71 1",
        "   1: 0100007F:094B 0100007F:E1F2 01 00000000:00000000 00:00000000 00000000     0        0 72 1",
    ]
    assert parse_listeners(HEAD + "\n".join(lines)) == [("127.0.0.1:2379", "71")]


def test_ipv6() -> None:
    line = "   0: 00000000000000000000000001000000:0016 00000000000000000000000000000000:0000 0A 0:0 0:0 0 0 0 9 1"
    assert parse_listeners(HEAD + line) == [("[::1]:22", "9")]
    assert parse_listeners("") == []


def test_a_process_is_not_its_own_obstacle() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        here = f"127.0.0.1:{server.getsockname()[1]}"
        assert here in listening_elsewhere(0)
        assert here not in listening_elsewhere(os.getpid())


def test_a_process_that_has_ended_and_a_machine_without_tcp(tmp_path: Path) -> None:
    assert listening_elsewhere(4194305, str(tmp_path)) == []
