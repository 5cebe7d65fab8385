# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which folders the units of role etcd_maintenance need, and which they only write to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar, trust_as_template
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import hash_requests
from ansible_collections.etcdops.headroom.plugins.module_utils._host import memory_limit
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance import host_checks, integrity, snapshot
from ansible_collections.etcdops.headroom.plugins.module_utils._model import releases

ROLE = Path(releases.__file__).parents[3] / "roles" / "etcd_maintenance"


def settings_of(job: str, **changed: str) -> dict[str, str]:
    """Return the settings of a job's service."""
    loader = DataLoader()
    given: dict[str, Any] = {
        **loader.load_from_file(str(ROLE / "defaults" / "main.yml"), trusted_as_template=True),
        **loader.load_from_file(str(ROLE / "vars" / "main.yml"), trusted_as_template=True),
        "etcd_maintenance_backup_dir": "/var/backups",
        "etcd_maintenance_backup_copy_dir": "/mnt/share",
        "etcd_maintenance_metrics_dir": "/srv/metrics",
        **changed,
    }
    jobs = Templar(loader=loader, variables=given).template(given["_etcd_maintenance_jobs"])
    given["_etcd_maintenance_job"] = next(one for one in jobs if one["name"] == job)
    text = (ROLE / "templates" / "job.service.j2").read_text(encoding="utf-8")
    unit = Templar(loader=loader, variables=given).template(trust_as_template(text))
    return dict(line.split("=", 1) for line in unit.splitlines() if "=" in line and not line.startswith("#"))


@pytest.mark.parametrize(
    ("job", "needed", "written"),
    [
        ("snapshot", "/var/backups", "-/var/backups -/srv/metrics -/mnt"),
        ("drill", "/var/backups /var/lib/headroom/drill", "-/var/backups -/var/lib/headroom/drill -/srv/metrics"),
        ("defrag", None, "-/srv/metrics -/run/systemd/system.control"),
        ("integrity", None, "-/srv/metrics"),
    ],
)
def test_a_lost_second_copy_or_metrics_folder_stops_no_job(job: str, needed: str | None, written: str) -> None:
    found = settings_of(job)
    assert (found.get("RequiresMountsFor"), found["ReadWritePaths"]) == (needed, written)


def test_folder_of_raised_limits_exists_before_the_sandbox_of_the_defragmentation() -> None:
    """After a boot systemd has not created it yet, and a folder that is missing cannot be made writable later."""
    found = settings_of("defrag")
    assert found["ExecStartPre"] == f"-+/bin/mkdir -p -m 755 {memory_limit.CONTROL}"
    assert f"-{memory_limit.CONTROL}" in found["ReadWritePaths"].split()
    assert all("ExecStartPre" not in settings_of(job) for job in ("snapshot", "drill", "integrity"))


@pytest.mark.parametrize(
    ("copy_dir", "written"),
    [
        ("", []),
        ("/mnt/share", ["-/mnt"]),
        ("/srv/nfs/a/etcd/", ["-/srv"]),
        ("/share", ["-/share"]),
        ("/home/b", ["-/home/b"]),
    ],
)
def test_systemd_looks_at_no_share_before_it_starts_the_backup(copy_dir: str, written: list[str]) -> None:
    """It would wait for a server that does not answer."""
    found = settings_of("snapshot", etcd_maintenance_backup_copy_dir=copy_dir)
    assert found["ReadWritePaths"].split() == ["-/var/backups", "-/srv/metrics", *written]
    assert [f"-{host_checks.copy_root(copy_dir)}"] == (written or ["-"])


@pytest.mark.parametrize(
    ("job", "changed", "protection"),
    [
        ("drill", {"backup_dir": "/home/backups"}, "read-only"),
        ("drill", {"drill_scratch_dir": "/root/drill"}, "read-only"),
        ("drill", {"backup_dir": "//home/backups/"}, "read-only"),
        ("drill", {"backup_dir": "/homes/backups"}, "yes"),
        ("drill", {"backup_dir": "/srv/home/backups"}, "yes"),
        ("defrag", {"metrics_dir": "/home/metrics"}, "read-only"),
        ("integrity", {"metrics_dir": "/home/metrics"}, "read-only"),
        ("integrity", {"backup_dir": "/home/backups"}, "yes"),
        ("snapshot", {}, "read-only"),  # for gpg's keyring
    ],
)
def test_a_job_sees_the_folders_that_it_writes_to(job: str, changed: dict[str, str], protection: str) -> None:
    """systemd would hide a folder below /home, and not make it writable: the drill would not find the backups."""
    found = settings_of(job, **{f"etcd_maintenance_{name}": path for name, path in changed.items()})
    assert found["ProtectHome"] == protection


def test_a_job_without_folders() -> None:
    assert "ReadWritePaths" not in settings_of("integrity", etcd_maintenance_metrics_dir="")


@pytest.mark.parametrize(
    ("request_of", "joining"), [({}, False), ({"etcd_membership_request": {"replace": "a"}}, True)]
)
def test_playbooks_that_add_members_say_so(request_of: dict[str, Any], joining: bool) -> None:
    """A store or share that is down must not refuse the host that replaces a lost one: not in the checks, and not in the installation."""
    loader = DataLoader()
    given = loader.load_from_file(str(ROLE / "vars" / "main.yml"), trusted_as_template=True)
    (install,) = (
        task["etcdops.headroom.etcd_maintenance"]
        for task in loader.load_from_file(str(ROLE / "tasks" / "install.yml"), trusted_as_template=True)
        if "etcdops.headroom.etcd_maintenance" in task
    )
    templar = Templar(loader=loader, variables={**given, **request_of})
    for arguments in (given["etcd_maintenance_inspection"], install):
        assert templar.template(arguments["joining"]) is joining


@pytest.mark.parametrize("timeout", ["1800", "60"])
def test_a_backup_may_take_the_sum_of_its_limits(timeout: str) -> None:
    waiting = snapshot.YIELD_SECONDS + snapshot.WAIT_SECONDS
    found = settings_of("snapshot", etcd_maintenance_backup_timeout=timeout)
    assert int(found["TimeoutStartSec"]) == waiting + 1800 + 7 * int(timeout)


WAITS = integrity.WAIT_SECONDS


@pytest.mark.parametrize(
    ("job", "changed", "longest"),
    [
        ("defrag", {"wait": "86400", "timeout": "86400", "pause": "86400"}, 3 * 86400),
        ("defrag", {"wait": "40000"}, 40000 + 1800 + 30),
        ("drill", {"timeout": "86400"}, 3 * 86400),
        ("drill", {"timeout": "21600"}, 3 * 21600),
        ("integrity", {"timeout": "86400"}, WAITS + hash_requests._ROUNDS * 7 * 86400),
        ("integrity", {"timeout": "3600"}, WAITS + hash_requests._ROUNDS * 7 * 3600),
    ],
)
def test_a_job_may_take_the_sum_of_its_limits(job: str, changed: dict[str, str], longest: float) -> None:
    """systemd would end a job at its own limit that keeps to each of those that the role accepts."""
    found = settings_of(job, **{f"etcd_maintenance_{job}_{name}": value for name, value in changed.items()})
    assert int(found["TimeoutStartSec"]) == longest + 1800


@pytest.mark.parametrize(
    ("job", "changed"),
    [
        ("defrag", {}),
        ("drill", {}),
        ("integrity", {}),
        ("defrag", {"wait": "39570"}),
        ("drill", {"timeout": "13800"}),
        ("integrity", {"timeout": "1350"}),
    ],
)
def test_a_unit_whose_limit_suffices_does_not_change(job: str, changed: dict[str, str]) -> None:
    found = settings_of(job, **{f"etcd_maintenance_{job}_{name}": value for name, value in changed.items()})
    assert found["TimeoutStartSec"] == "12h"


def test_a_process_that_cannot_be_killed_delays_the_end_of_a_backup_only_a_little() -> None:
    assert (settings_of("snapshot")["TimeoutStopSec"], settings_of("defrag")["TimeoutStopSec"]) == ("1min", "6min")
