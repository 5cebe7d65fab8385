# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import member_view


@pytest.mark.parametrize(
    ("listens", "former"),
    [
        (["https://10.0.0.1:2379", "https://127.0.0.1:2379"], ["https://127.0.0.1:2379"]),
        (["https://10.0.0.1:2479", "https://127.0.0.1:2479"], []),
        (["https://[::]:2379"], ["https://127.0.0.1:2379"]),
        (["unixs://etcd"], []),
        (None, []),
    ],
)
def test_where_the_process_listens(listens, former):
    assert member_view.former_endpoints(["https://127.0.0.1:2479"], {"listen_client_urls": listens}) == former
