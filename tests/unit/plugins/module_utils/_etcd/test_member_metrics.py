# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A member's metrics."""

from __future__ import annotations

from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.member_metrics import (
    MemberMetrics,
    parse_member_metrics,
)


def test_parse_member_metrics() -> None:
    page = """
# HELP etcd_disk_defrag_inflight Whether or not defrag is active on the member.
etcd_disk_defrag_inflight 1
etcd_network_snapshot_send_inflights_total{To="1ab6f28ff2573082"} 1
etcd_network_snapshot_send_inflights_total{To="2ab6f28ff2573082"} 0
etcd_debugging_mvcc_keys_total 100
etcd_debugging_mvcc_current_revision 500
etcd_debugging_mvcc_compact_revision 400
etcd_debugging_mvcc_db_compaction_total_duration_milliseconds_bucket{le="100"} 2
etcd_debugging_mvcc_db_compaction_total_duration_milliseconds_count 3
etcd_mvcc_put_total 10
etcd_debugging_mvcc_total_put_size_in_bytes 1000
etcd_server_quota_backend_bytes 2.147483648e+09
grpc_server_started_total{grpc_method="Snapshot",grpc_service="etcdserverpb.Maintenance",grpc_type="server_stream"} 3
grpc_server_handled_total{grpc_code="OK",grpc_method="Snapshot",grpc_service="etcdserverpb.Maintenance"} 1
grpc_server_handled_total{grpc_code="Canceled",grpc_method="Snapshot",grpc_service="etcdserverpb.Maintenance"} 1
grpc_server_handled_total{grpc_code="OK",grpc_method="Range",grpc_service="etcdserverpb.KV"} 7
"""
    found = parse_member_metrics(page, 1_000_000)
    assert found == MemberMetrics(
        1, 1, True, 5000, 2147483648, keys=100, history=100, newest_revision=500, compactions=3
    )
    assert parse_member_metrics("", 5) == MemberMetrics(0, 0, False, None, None)
