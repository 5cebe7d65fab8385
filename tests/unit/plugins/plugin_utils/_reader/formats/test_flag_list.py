# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lists of flags."""

from __future__ import annotations

from tests.unit.plugins.plugin_utils._reader.reading import members_in


def test_a_list_of_flags() -> None:
    flags = "--data-dir=${SNAP_COMMON}/var/run/etcd\n# local\n--listen-client-urls=https://0.0.0.0:12379\n\n--client-cert-auth\n"
    [found] = members_in("args/etcd", flags)
    assert found["command"][1:] == [line for line in flags.splitlines() if line.startswith("-")]
    assert found["where"]["--client-cert-auth"] == ["args/etcd", 5]
    # Whatever reads the list may add flags.
    assert found["silent"] == ["extra_config"]
    for other in ("--data-dir=/d\n--name=a\n", flags + "more\n", "- --listen-client-urls=a\n"):
        assert not members_in("args/etcd", other)
