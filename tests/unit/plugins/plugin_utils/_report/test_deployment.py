# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check the report's text for healthy clusters, for each problem, and for many clusters."""

from __future__ import annotations

import copy
import textwrap
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._report.deployment import MAX_TABLES, deployment_report
from ansible_collections.etcdops.headroom.plugins.plugin_utils._report.layout import WIDTH

MIB = 1024**2
NOW = 1_795_000_000


def member(name: str, role: str = "follower") -> dict[str, Any]:
    return {
        "name": name,
        "id": name,
        "version": "3.7.3",
        "role": role,
        "healthy": True,
        "health_error": "",
        "db_size": 20480,
        "db_quota": 2048 * MIB,
    }


def cluster() -> dict[str, Any]:
    return {
        "leader": "etcd-2",
        "error": "",
        "alarms": [],
        "quorum": {"voters": 3, "needed": 2, "healthy": 3, "ok": True},
        "members": [member("etcd-1"), member("etcd-2", "leader"), member("etcd-3")],
    }


def volume(path: str, device: str) -> dict[str, str]:
    return {"path": f"{path}/x", "mountpoint": path, "device": device, "fstype": "ext4"}


def healthy_member(number: int, name: str = "demo") -> dict[str, Any]:
    """Return a healthy member."""
    return {
        "host": f"etcd-{number}",
        "cluster": name,
        "info": {
            "member": f"etcd-{number}",
            "cluster": cluster(),
            "process": {
                "running": True,
                "unit": "etcd.service",
                "restarts": 0,
                "oom_kills": 0,
                "rss_anon": 30 * MIB,
                "rss": 45 * MIB,
                "rss_peak": 47 * MIB,
                "memory_limit": 2000 * MIB,
                "io_classes": {"best-effort/0": 14},
                "mounts": {
                    "data": volume("/var/lib/etcd", "/dev/vdb"),
                    "wal": volume("/var/lib/etcd-wal", "/dev/vdc"),
                },
            },
        },
        "plan": {
            "estimate": {"rss_anon_peak": 1100 * MIB, "restart_rss_anon_peak": 1300 * MIB},
            "memory_max": 2000 * MIB + 4095,
            "flags": [
                {
                    "name": "snapshot_catchup_entries",
                    "value": 5000,
                    "reason": "5000 entries of 100.1 KiB stay in memory, 488.8 MiB: enough for a follower that is "
                    "away for 25 s at 200 writes a second",
                    "source": "computed",
                },
                {"name": "quota_backend_bytes", "value": 2147483648, "reason": "fits", "source": "computed"},
                {"name": "gogc", "value": 100, "reason": "Go's own", "source": "default"},
                {"name": "snapshot_count", "value": 1000, "reason": "", "source": "pinned"},
            ],
        },
        "fio": {"data": {"p99_us": 1729, "limit_us": 10000}, "wal": {"p99_us": 420, "limit_us": 10000}},
    }


def three_members() -> list[dict[str, Any]]:
    return [healthy_member(number) for number in (1, 2, 3)]


HEALTHY = """\
etcd cluster demo, 3.7.3: 3 of 3 members healthy, quorum needs 2, leader etcd-2, no problems

  member  version  role      health    db size  planned peak   RssAnon       RSS  peak RSS    limit
  etcd-1  3.7.3    follower  healthy  20.0 KiB       1.3 GiB  30.0 MiB  45.0 MiB  47.0 MiB  2.0 GiB
  etcd-2  3.7.3    leader    healthy  20.0 KiB       1.3 GiB  30.0 MiB  45.0 MiB  47.0 MiB  2.0 GiB
  etcd-3  3.7.3    follower  healthy  20.0 KiB       1.3 GiB  30.0 MiB  45.0 MiB  47.0 MiB  2.0 GiB
  planned peak: heap and stacks (RssAnon); the page cache is extra, and reclaimable

  member  volume  mounted at         device           fio p99        live p99  I/O class
  etcd-1  data    /var/lib/etcd      /dev/vdb (ext4)  1.7 ms (< 10)         -  best-effort/0 ×14
          WAL     /var/lib/etcd-wal  /dev/vdc (ext4)  0.4 ms (< 10)         -
  etcd-2  data    /var/lib/etcd      /dev/vdb (ext4)  1.7 ms (< 10)         -  best-effort/0 ×14
          WAL     /var/lib/etcd-wal  /dev/vdc (ext4)  0.4 ms (< 10)         -
  etcd-3  data    /var/lib/etcd      /dev/vdb (ext4)  1.7 ms (< 10)         -  best-effort/0 ×14
          WAL     /var/lib/etcd-wal  /dev/vdc (ext4)  0.4 ms (< 10)         -

  flag                      value                 reason
  snapshot_catchup_entries  5000                  5000 entries of 100.1 KiB stay in memory, 488.8
                                                  MiB: enough for a follower that is away for 25 s
                                                  at 200 writes a second
  quota_backend_bytes       2147483648 (2.0 GiB)  fits
  gogc                      100                   Go's own
  snapshot_count            1000                  pinned
"""


def test_healthy_cluster() -> None:
    lines = deployment_report(three_members(), NOW)
    assert "\n".join(lines) + "\n" == HEALTHY
    assert max(map(len, lines)) <= WIDTH


def test_data_and_wal_on_one_volume_share_a_row() -> None:
    member_facts = healthy_member(1)
    member_facts["info"]["process"]["mounts"]["wal"] = volume("/var/lib/etcd", "/dev/vdb")
    (line,) = [line for line in deployment_report([member_facts], NOW) if "/var/lib/etcd" in line]
    assert line.split("  ")[1:4] == ["etcd-1", "data, WAL", "/var/lib/etcd"]


def live_latency(samples: int, p99_us: int | None, limit_us: int) -> dict[str, Any]:
    return {"samples": samples, "p99_us": p99_us, "limit_us": limit_us}


def test_live_latencies_are_shown_next_to_fio() -> None:
    """A member that has just started has too few samples for a 99th percentile and shows their number."""
    members = three_members()
    members[0]["live"] = {
        "wal_fsync": live_latency(5231, 3100, 10000),
        "backend_commit": live_latency(287, 7400, 25000),
    }
    members[1]["live"] = {"wal_fsync": live_latency(42, 90000, 10000), "backend_commit": live_latency(0, None, 25000)}
    members[2]["live"] = {"failed": True, "msg": "connection refused"}
    lines = deployment_report(members, NOW)
    first = next(number for number, line in enumerate(lines) if "live p99" in line)
    cells = [line.split("  ") for line in lines[first + 1 : first + 7]]
    assert [next(cell.strip() for cell in row[::-1] if "ms" in cell or "samples" in cell) for row in cells] == [
        *("7.4 ms", "3.1 ms"),
        *("0 samples", "42 samples"),
        *("1.7 ms (< 10)", "0.4 ms (< 10)"),
    ]
    assert lines[first + 7].startswith("  fio p99: fdatasync") and lines[0].endswith("no problems")
    assert max(map(len, lines)) <= WIDTH


@pytest.mark.parametrize(
    ("what", "samples", "problem"),
    [
        ("wal_fsync", 500, "etcd-1: WAL fsyncs of the running member are too slow: p99 30.0 ms (limit 10)"),
        ("backend_commit", 100, "etcd-1: backend commits of the running member are too slow: p99 30.0 ms (limit 10)"),
        ("wal_fsync", 99, None),
    ],
)
def test_slow_disk_of_a_running_member(what: str, samples: int, problem: str | None) -> None:
    members = three_members()
    members[0]["live"] = {what: live_latency(samples, 30000, 10000)}
    lines = deployment_report(members, NOW)
    assert lines[0].endswith("1 problem" if problem else "no problems")
    assert problem is None or lines[1] == f"  ! {problem}"


def test_warnings_and_notes_are_printed_once_at_the_end() -> None:
    members = three_members()
    for member_facts in members:
        member_facts["notes"] = ["left alone."]
    for member_facts in members[1:]:
        member_facts["warnings"] = ["the disk rotates."]
    assert deployment_report(members, NOW)[-3:] == [
        "",
        "  warning: etcd-2, etcd-3: the disk rotates.",
        "  note: left alone.",
    ]
    assert deployment_report(members, NOW)[0].endswith("no problems")


def set_value(members: list[dict[str, Any]], path: str, value: Any) -> None:
    """Set etcd-1's value at a dotted path, and the cluster's in all views."""
    for member_facts in members if path.startswith("info.cluster") else members[:1]:
        place: Any = member_facts
        *parents, last = path.split(".")
        for name in parents:
            place = place[int(name)] if name.isdigit() else place[name]
        place[last] = copy.deepcopy(value)


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
        (
            "info.process.rss_anon",
            1400 * MIB,
            "etcd-1: RssAnon 1.4 GiB is above the planned peak of 1.3 GiB: correct etcd_workload",
        ),
        ("info.process.rss_anon", 1250 * MIB, None),
        ("info.process.rss_peak", 1990 * MIB, None),
        ("info.process.memory_limit", None, "etcd-1: the memory limit in force is none, planned is 2.0 GiB"),
        ("plan.memory_max", 1000 * MIB, "etcd-1: the memory limit in force is 2.0 GiB, planned is 1000.0 MiB"),
        ("info.process.restarts", 2, "etcd-1: systemd restarted etcd 2 times after it had failed"),
        ("info.process.oom_kills", 1, "etcd-1: the kernel's OOM killer killed 1 of its processes"),
        (
            "info.process.io_classes",
            {"none": 13, "best-effort/0": 1},
            "etcd-1: its threads have different I/O classes: none ×13, best-effort/0 ×1",
        ),
        (
            "info.process",
            {"running": False, "unit": "etcd.service", "active_state": "failed", "result": "oom-kill"},
            "etcd-1: unit etcd.service is failed (oom-kill)",
        ),
        (
            "fio.wal",
            {"p99_us": 12300, "limit_us": 10000},
            "etcd-1: fdatasync on the wal volume is too slow: p99 12.3 ms (limit 10)",
        ),
        (
            "info.cluster.alarms",
            [{"member": "etcd-3", "type": "NOSPACE"}],
            "alarm NOSPACE is set by etcd-3: run the playbook nospace",
        ),
        (
            "info.cluster.members.0.downgrade_to",
            "3.6",
            "a downgrade to 3.6 is enabled: finish or cancel it with the playbook downgrade",
        ),
        ("info.cluster.members.0.version", "3.6.16", "members run different versions: 3.6.16, 3.7.3"),
        (
            "info.cluster.members.0.db_size",
            1800 * MIB,
            "etcd-1: the database fills 87 % of its quota of 2.0 GiB: raise the quota",
        ),
    ],
)
def test_problem_follows_the_headline(path: str, value: Any, problem: str | None) -> None:
    members = three_members()
    set_value(members, path, value)
    lines = deployment_report(members, NOW)
    if problem is None:
        assert lines[0].endswith("no problems")
        return
    assert lines[1] == f"  ! {problem}"
    assert lines[2] == ""
    assert lines[0].endswith("leader etcd-2, 1 problem")


def test_a_member_that_no_host_has() -> None:
    """A member that was added and never started has no name."""
    members = three_members()
    for one in members:
        one["info"]["cluster"]["members"] += [member("etcd-4"), {**member(""), "id": "1f"}]
    lines = deployment_report(members, NOW)
    assert lines[0].endswith("1 problem")
    problem = (
        "etcd-4 is a member, but on no host of this run: put its host into the inventory, or remove it with scale.yml"
    )
    assert problem in " ".join(" ".join(lines[1:4]).split())


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"quota_backend_bytes": 2048 * MIB}, "the database fills 87 % of its quota of 2.0 GiB: raise the quota"),
        (
            {"quota_backend_bytes": 0},
            "the database fills 87 % of its quota of 2.0 GiB: raise the quota",
        ),  # etcd's default
        ({"quota_backend_bytes": 4096 * MIB}, None),
        ({"quota_backend_bytes": -1}, None),
        ({}, None),
    ],
)
def test_quota_of_members_whose_status_has_none(settings: dict[str, int], problem: str | None) -> None:
    """The status has a quota only since etcd 3.6."""
    members = three_members()
    for number, one in enumerate(members):
        set_value(members, f"info.cluster.members.{number}.db_quota", None)
        one["info"]["process"]["settings"] = settings
    set_value(members, "info.cluster.members.0.db_size", 1800 * MIB)
    lines = deployment_report(members, NOW)
    assert (lines[1] == f"  ! etcd-1: {problem}") if problem else lines[0].endswith("no problems")


def test_rss_anon_close_to_the_memory_limit() -> None:
    members = three_members()
    set_value(members, "info.process.memory_limit", 32 * MIB)
    set_value(members, "plan.memory_max", 32 * MIB)
    assert (
        deployment_report(members, NOW)[1]
        == "  ! etcd-1: RssAnon 30.0 MiB is 93 % of the memory limit 32.0 MiB: raise etcd_memory_budget"
    )


def test_member_that_is_down() -> None:
    """etcd-3 is down and sees no cluster: the report uses the view of a member that does."""
    members = three_members()
    for member_facts in members[:2]:
        view = member_facts["info"]["cluster"]
        view["quorum"].update(healthy=2)
        view["members"][2].update(
            healthy=False, health_error="connection refused", role="unknown", version=None, db_size=None, db_quota=None
        )
    members[2]["info"] = {
        "member": "",
        "cluster": {
            "leader": "",
            "error": "https://127.0.0.1:2379: connection refused",
            "alarms": [],
            "members": [],
            "quorum": {"voters": 0, "needed": 0, "healthy": 0, "ok": False},
        },
        "process": {"running": False, "unit": "etcd.service", "active_state": "inactive", "result": "success"},
    }
    expected = """\
    etcd cluster demo, 3.7.3: 2 of 3 members healthy, quorum needs 2, leader etcd-2, 2 problems
      ! etcd-3 is not healthy: connection refused
      ! etcd-3: unit etcd.service is inactive (success)

      member  version  role      health      db size  planned peak   RssAnon       RSS  peak RSS    limit
      etcd-1  3.7.3    follower  healthy    20.0 KiB       1.3 GiB  30.0 MiB  45.0 MiB  47.0 MiB  2.0 GiB
      etcd-2  3.7.3    leader    healthy    20.0 KiB       1.3 GiB  30.0 MiB  45.0 MiB  47.0 MiB  2.0 GiB
      etcd-3  -        unknown   UNHEALTHY         -       1.3 GiB         -         -         -        -
    """
    assert deployment_report(members, NOW)[:8] == textwrap.dedent(expected).splitlines()


@pytest.mark.parametrize(
    "member_facts", [{"host": "etcd-1", "cluster": "demo"}, {"host": "etcd-1", "cluster": "demo", "info": {}}]
)
def test_cluster_that_is_not_deployed(member_facts: dict[str, Any]) -> None:
    lines = deployment_report([member_facts], NOW)
    assert lines[:2] == ["etcd cluster demo: planned, not deployed yet", ""]
    assert "-" in lines[-1]


def test_flags_that_differ_name_the_member() -> None:
    members = three_members()
    set_value(members, "plan.flags.2.value", 80)
    lines = [line.split() for line in deployment_report(members, NOW) if line.startswith("  gogc")]
    assert lines == [["gogc", "80", "Go's", "own", "(etcd-1)"], ["gogc", "100", "Go's", "own", "(etcd-2,", "etcd-3)"]]


def test_many_clusters_take_one_line_each() -> None:
    members = [healthy_member(number, f"c{index}") for index in range(MAX_TABLES + 1) for number in (1, 2, 3)]
    set_value(members, "info.process.restarts", 4)
    assert (
        deployment_report(members, NOW)
        == textwrap.dedent("""\
          cluster  version  healthy  leader   RssAnon  planned    limit
          c0       3.7.3    3 of 3   etcd-2  30.0 MiB  1.3 GiB  2.0 GiB
          c1       3.7.3    3 of 3   etcd-2  30.0 MiB  1.3 GiB  2.0 GiB
          c2       3.7.3    3 of 3   etcd-2  30.0 MiB  1.3 GiB  2.0 GiB
          c3       3.7.3    3 of 3   etcd-2  30.0 MiB  1.3 GiB  2.0 GiB
          c4       3.7.3    3 of 3   etcd-2  30.0 MiB  1.3 GiB  2.0 GiB

        5 clusters, problems:
          ! c0: etcd-1: systemd restarted etcd 4 times after it had failed
        """).splitlines()
    )


def test_many_clusters_with_a_warning() -> None:
    members = [healthy_member(1, f"c{index}") for index in range(MAX_TABLES + 1)]
    members[0]["warnings"] = ["the disk rotates."]
    for one in members:
        one["info"]["cluster"]["members"] = [member("etcd-1", "leader")]
    assert deployment_report(members, NOW)[-2:] == ["5 clusters, no problems", "  c0: warning: the disk rotates."]


def test_blank_line_between_clusters() -> None:
    lines = deployment_report([*three_members(), healthy_member(1, "other")], NOW)
    assert lines[lines.index("") - 1].startswith("etcd cluster demo")
    second = next(number for number, line in enumerate(lines) if line.startswith("etcd cluster other"))
    assert lines[second - 1] == ""
