# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The end of an audit: measured beside planned memory, settings for the cluster's own files, and the files that it writes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.report import prepare
from ansible_collections.etcdops.headroom.plugins.plugin_utils._conftest.report import Finding
from ansible_collections.etcdops.headroom.plugins.plugin_utils._report.audit_files import (
    Audit,
    as_html,
    as_json,
    as_sarif,
)
from ansible_collections.etcdops.headroom.plugins.plugin_utils._report.audit_page import page_lines
from ansible_collections.etcdops.headroom.plugins.plugin_utils._report.audit_plans import MembersPlan
from ansible_collections.etcdops.headroom.plugins.plugin_utils._report.planned_flags import planned_lines

REPORT = prepare("3.5.35", {"puts_per_second": 100}, 3, "2GB")
PLAN = REPORT.plan
PLANS = [MembersPlan(("a", "b"), REPORT)]
NO_PLAN = [MembersPlan(("a", "b"), None, "the budget is too small")]
MEMBER = {
    "name": "a",
    "id": "1f",
    "version": "3.5.35",
    "role": "leader",
    "healthy": True,
    "endpoint": "https://a:2379",
    "client_urls": ["https://a:2379"],
    "db_size": 1 << 20,
    "db_size_in_use": 1 << 20,
    "db_quota": 2 << 30,
    "resident_memory": 50 << 20,
    "problem": "",
}
MEASURED = {"members": [MEMBER, {**MEMBER, "name": "b"}], "leader": "a", "alarms": [], "etcd_workload": {"keys": 5}}
DENIAL = Finding(True, "live/alarm", ("a",), "live/alarm: a: <NOSPACE> is set")
KUBESPRAY = {"ETCD_INITIAL_CLUSTER_TOKEN": "k8s_etcd", "ETCD_NAME": "a"}
WARNING = Finding(False, "live/lag", ("b",), "live/lag: b: behind")


def a_process(kind: str = "service", pod: str = "", **changed: Any) -> dict[str, Any]:
    """Return a process as etcd_process_info does."""
    return {
        "name": "a",
        "client_urls": [],
        "command": ["etcd", "--name=a"],
        "environment": {},
        "config_file": "",
        "problem": "",
        "certificates": [],
        "pid": 9,
        "hostname": "host",
        "supervisor": {"kind": kind, "unit": "etcd.service", "container": "1f", "engine": "docker", "pod": pod},
        "memory": {"rss_anon": 40 << 20, "rss_peak": 60 << 20, "memory_limit": 1 << 30},
        **changed,
    }


@pytest.mark.parametrize(
    ("process", "expected"),
    [
        (a_process(), ["etcd's command line in etcd.service:", "  --experimental-snapshot-catchup-entries="]),
        (a_process(), ["/etc/systemd/system/etcd.service.d/memory.conf:", "  [Service]", "  MemoryMax=2048M"]),
        (
            a_process(config_file="/etc/etcd.yml"),
            ["/etc/etcd.yml:", "  experimental-snapshot-catch-up-entries: ", "  MemoryHigh="],
        ),
        (
            a_process(environment={"ETCD_NAME": "a", "ETCD_DATA_DIR": "/d"}),
            ["the environment file of etcd.service:", "  ETCD_EXPERIMENTAL_SNAPSHOT_CATCHUP_ENTRIES="],
        ),
        (
            a_process("pod", "static"),
            ["the manifest of the static pod", "        - --snapshot-count=", "limits: {memory: 2048Mi}"],
        ),
        (a_process("container"), ["  command:", "    - --snapshot-count=", "  mem_limit: 2048m", "docker run"]),
        (
            a_process(environment=KUBESPRAY),
            ["the inventory of kubespray", '  etcd_snapshot_count: "', "  etcd_extra_vars:", "  MemoryMax=2048M"],
        ),
        (
            a_process("container", environment=KUBESPRAY),
            ["  etcd_memory_limit: 2048M", '    ETCD_EXPERIMENTAL_SNAPSHOT_CATCHUP_ENTRIES: "', "    GOMEMLIMIT: "],
        ),
        (a_process("process"), ["etcd's command line in the script that starts etcd:", "the environment of etcd:"]),
    ],
)
def test_settings_are_lines_for_the_file_that_has_them_now(process: dict[str, Any], expected: list[str]) -> None:
    text = "\n".join(planned_lines(PLAN, process))
    assert all(part in text for part in expected), text


@pytest.mark.parametrize(
    ("process", "line"),
    [
        (a_process(), "  LimitMEMLOCK=infinity"),
        (a_process(environment=KUBESPRAY), "  LimitMEMLOCK=infinity"),
        (a_process("container"), "  ulimits: {memlock: -1}"),
    ],
)
def test_a_member_may_lock_the_database(process: dict[str, Any], line: str) -> None:
    locked = prepare("3.7.3", {}, 1, "4GB", {"memory_mlock": True}).plan
    assert line in planned_lines(locked, process)
    assert line not in planned_lines(PLAN, process)


def test_the_settings_of_a_pod_of_the_api_are_values_of_its_chart() -> None:
    process = a_process("pod", "api", environment={"ETCD_SNAPSHOT_COUNT": "1"})
    lines = planned_lines(PLAN, process)
    assert lines[0].startswith("the values of the chart or operator that creates the pod (env, resources)")
    text = "\n".join(lines)
    assert "static pod" not in text and "/etc/kubernetes/manifests" not in text
    parts = [
        "  command:",
        "- --quota-backend-bytes=",
        "  env:",
        '{name: ETCD_SNAPSHOT_COUNT, value: "',
        "limits: {memory: 2048Mi}",
    ]
    assert all(part in text for part in parts), text


MILVUS = {
    "ETCD_AUTO_COMPACTION_MODE": "revision",
    "ETCD_AUTO_COMPACTION_RETENTION": "1000",
    "ETCD_QUOTA_BACKEND_BYTES": "4294967296",
    "ETCD_SNAPSHOT_COUNT": "50000",
}
FOUR_VARIABLES = {"ETCD_NAME": "a", "ETCD_DATA_DIR": "/d", "ETCD_CERT_FILE": "/c", "ETCD_KEY_FILE": "/k"}
MILVUS_FLAGS = [
    "etcd",
    "-advertise-client-urls=http://etcd:2379",
    "-listen-client-urls",
    "http://0.0.0.0:2379",
    "--data-dir",
    "/etcd",
]


@pytest.mark.parametrize(
    ("process", "expected", "refused"),
    [
        (
            a_process("container", command=MILVUS_FLAGS, environment=MILVUS),
            ['    ETCD_SNAPSHOT_COUNT: "', '    ETCD_QUOTA_BACKEND_BYTES: "', '    GOMEMLIMIT: "'],
            ["--snapshot-count", "--quota-backend-bytes", "--auto-compaction"],
        ),
        (
            a_process("pod", environment={"ETCD_SNAPSHOT_COUNT": "50000"}),
            ['        - {name: ETCD_SNAPSHOT_COUNT, value: "', "        - --quota-backend-bytes="],
            ["--snapshot-count=", "ETCD_QUOTA_BACKEND_BYTES"],
        ),
        (
            a_process(command=["etcd", "--quota-backend-bytes=8G"], environment=FOUR_VARIABLES),
            [
                "the environment file of etcd.service:",
                "  ETCD_SNAPSHOT_COUNT=",
                "command line in etcd.service:\n  --quota-backend-bytes=",
            ],
            ["ETCD_QUOTA_BACKEND_BYTES", "--snapshot-count="],
        ),
        (
            a_process(
                command=["etcd", "-quota-backend-bytes", "8G", "--name=a"], environment={"ETCD_SNAPSHOT_COUNT": "1"}
            ),
            ["  ETCD_SNAPSHOT_COUNT=", "  --quota-backend-bytes=", "  --experimental-snapshot-catchup-entries="],
            ["ETCD_QUOTA_BACKEND_BYTES", "--snapshot-count="],
        ),
        # Kubernetes sets such variables for a Service named etcd.
        (
            a_process(
                "pod", environment={"ETCD_SERVICE_HOST": "10.0.0.1", "ETCD_SERVICE_PORT": "2379", "ETCD_PORT": "tcp://"}
            ),
            ["        - --snapshot-count="],
            ["ETCD_SNAPSHOT_COUNT"],
        ),
    ],
)
def test_a_setting_stays_the_flag_or_the_variable_that_it_is(
    process: dict[str, Any], expected: list[str], refused: list[str]
) -> None:
    text = "\n".join(planned_lines(PLAN, process))
    assert all(part in text for part in expected), text
    assert not any(part in text for part in refused), text


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("pod", ["{name: GOMEMLIMIT, value: ", "{memory: 2048Mi}"]), ("container", ["GOMEMLIMIT: ", "mem_limit: 2048m"])],
)
def test_with_a_config_file_the_manifest_has_only_what_etcd_obeys(kind: str, expected: list[str]) -> None:
    process = a_process(kind, config_file="/etc/etcd.yml", environment={"ETCD_SNAPSHOT_COUNT": "1"})
    text = "\n".join(planned_lines(PLAN, process))
    assert all(part in text for part in ["/etc/etcd.yml:\n  snapshot-count: ", *expected]), text
    assert "--snapshot-count" not in text and "ETCD_SNAPSHOT_COUNT" not in text, text


def test_settings_of_rke2_are_its_own_options() -> None:
    process = a_process("pod", config_file="/var/lib/rancher/rke2/server/db/etcd/config")
    lines = planned_lines(PLAN, process)
    assert lines[0].startswith("/etc/rancher/rke2/config.yaml (RKE2 overwrites"), lines
    assert "  etcd-arg:" in lines and '    - "etcd-memory=2048Mi"' in lines, lines
    assert any(line.startswith('    - "experimental-snapshot-catch-up-entries=') for line in lines), lines
    assert not any("--" in line for line in lines), lines


def test_an_unread_environment_is_mentioned_once() -> None:
    lines = planned_lines(PLAN, a_process(problem="run as root"))
    assert [line for line in lines if line.startswith("The environment of etcd was not read.")] == lines[-1:]
    assert "was not read" not in "".join(planned_lines(PLAN, a_process(config_file="/c", problem="its config file")))


def test_measured_memory_stands_beside_the_plan() -> None:
    lines = page_lines(MEASURED, [a_process()], PLANS)
    assert lines[2].split()[:7] == ["a", "40.0", "MiB", "60.0", "MiB", "1.0", "GiB"]
    assert lines[3].split()[:5] == ["b", "-", "50.0", "MiB", "-"]
    assert "  planned settings for a" in lines and not any("for b" in line for line in lines)


def test_without_a_plan_the_rest_is_reported() -> None:
    backup = {"hostname": "a", "directory": "/b", "path": "/b/1.db", "age": 7300, "problem": ""}
    processes = [a_process(), a_process(problem="run as root", name="b")]
    lines = Audit(MEASURED, [], processes, NO_PLAN, [backup]).end_lines()
    assert lines[:3] == ["  no plan: the budget is too small", "", "  measured memory"]
    assert [line.split() for line in lines[3:6]] == [
        ["member", "RssAnon", "peak", "RSS", "limit"],
        ["a", "40.0", "MiB", "60.0", "MiB", "1.0", "GiB"],
        ["b", "40.0", "MiB", "60.0", "MiB", "1.0", "GiB"],
    ]
    assert lines[6:] == [
        "  newest backup: /b/1.db on a, 2 hours old",
        "  not checked: etcd with PID 9 on host: run as root",
    ]


def test_the_newest_backup_is_named() -> None:
    old = {"hostname": "a", "directory": "/b", "path": "/b/1.db", "age": 90_000, "problem": ""}
    new, unread = (
        {**old, "hostname": "b", "age": 7300},
        {**old, "path": None, "age": None, "problem": "/b cannot be read"},
    )
    audit = Audit(MEASURED, [], [a_process(), a_process(name="b")], PLANS, backups=[old, new, unread])
    expected = ["  newest backup: /b/1.db on b, 2 hours old", "  not checked: a: /b cannot be read"]
    assert audit.end_lines()[-2:] == expected
    assert json.loads(as_json(audit))["backups"][1]["age"] == 7300


def test_the_files_name_the_denials_first() -> None:
    audit = Audit(MEASURED, [WARNING, DENIAL], [a_process()], PLANS)
    document = json.loads(as_json(audit))
    assert [one["severity"] for one in document["findings"]] == ["deny", "warn"]
    assert document["plans"][0]["memory_max"] == PLAN["memory_max"] and document["etcd_workload"] == {"keys": 5}
    run = json.loads(as_sarif(audit))["runs"][0]
    assert [(one["ruleId"], one["level"]) for one in run["results"]] == [
        ("live/alarm", "error"),
        ("live/lag", "warning"),
    ]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["live/alarm", "live/lag"]
    page = as_html(audit, b'<?xml version="1.0"?>\n<svg>picture</svg>\n')
    assert "DENY live/alarm: a: &lt;NOSPACE&gt; is set" in page and "<svg>picture</svg>" in page and "<?xml" not in page
    assert page.index("DENY") < page.index("WARN")


def test_an_audit_without_findings_and_plan_is_written_too() -> None:
    audit = Audit(MEASURED, [], [], NO_PLAN)
    [plan] = json.loads(as_json(audit))["plans"]
    assert (plan["settings"], plan["problem"], plan["members"]) == (None, "the budget is too small", ["a", "b"])
    assert "<p>None.</p>" in as_html(audit, None) and "no plan: the budget is too small" in as_html(audit, None)
    assert json.loads(as_sarif(audit))["runs"][0]["results"] == []
