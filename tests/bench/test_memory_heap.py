"""The heap profiles of random workloads: which function of etcd holds how much."""

from __future__ import annotations

from bench.memory.random_workloads.heap import places

TRACES = """File: etcd
Type: inuse_space
-----------+-------------------------------------------------------
     bytes:  688kB
  397.23MB   google.golang.org/protobuf/internal/impl.mergeBytes
             google.golang.org/protobuf/proto.Clone
             go.etcd.io/raft/v3.(*raft).appendEntry
             go.etcd.io/raft/v3.stepLeader
-----------+-------------------------------------------------------
    0.50MB   go.etcd.io/raft/v3.(*raft).appendEntry
-----------+-------------------------------------------------------
     bytes:  696kB
  165.54MB   go.etcd.io/etcd/raft/v3/raftpb.(*Entry).Unmarshal
             go.etcd.io/etcd/pkg/v3/pbutil.MustUnmarshal
             go.etcd.io/etcd/server/v3/etcdserver/api/rafthttp.(*msgAppV2Decoder).decode
-----------+-------------------------------------------------------
    1.25MB   go.etcd.io/etcd/raft/v3/raftpb.(*Entry).Marshal
-----------+-------------------------------------------------------
         0   runtime/pprof.(*protobuf).string (inline)
"""


def test_bytes_belong_to_the_function_that_keeps_them() -> None:
    assert places(TRACES) == {
        "v3.(*raft).appendEntry": 397.73,
        "rafthttp.(*msgAppV2Decoder).decode": 165.54,
        "raftpb.(*Entry).Marshal": 1.25,
    }
