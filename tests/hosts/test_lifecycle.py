# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster goes from 3.5 to 3.7 and back to 3.5 while a client writes a unique key every 50 ms through all endpoints.

These tests run inside molecule's scenario lifecycle, in their order; each begins with the release that the one before left.
"""

from __future__ import annotations

import json

import pytest
from cluster import HOSTS, ctl, statuses
from conftest import Site
from writing import ROLE, USER, writing

from bench.common.member import releases
from tests.campaign import in_campaign

OLD, MIDDLE, NEW = releases()
AUTH = {"etcd_auth_root_password": "Root-Secret-of-the-lab", "etcd_auth_roles": [ROLE], "etcd_auth_users": [USER]}
QUIET = {"etcd_lint_enabled": False, "etcd_report_enabled": False}


def play(playbook, *arguments, **variables):
    """Run a playbook to its end."""
    given = ["-e", json.dumps({**QUIET, **variables})]
    return Site().ansible("ansible-playbook", playbook, *given, *arguments, timeout=540)


def kill_at_task(playbook, task, **variables):
    """Run a playbook and kill it as soon as a task begins."""
    Site().kill_at(task, "ansible-playbook", playbook, "-e", json.dumps({**QUIET, **variables}))


def running():
    """Return the releases that members run."""
    return sorted({status["version"] for status in statuses().values()})


def storage():
    """Return the storage versions that members report; 3.5 reports none."""
    return {status.get("storageVersion", "") for status in statuses().values()}


def start_times():
    """Return when etcd was started on each host."""
    return [Site().on(host, "systemctl show -P ActiveEnterTimestampMonotonic etcd") for host in HOSTS]


@pytest.mark.parametrize(
    ("playbook", "variables", "reasons"),
    [
        ("site.yml", {"etcd_version": NEW}, ["skips a minor version: go to"]),
        (
            "playbooks/upgrade.yml",
            {
                "etcd_upgrade_to": NEW,
                "etcd_memory_budget": "64MB",
                "etcd_extra_config": {"experimental-initial-corrupt-check": True},
            },
            [f"settings with etcd {NEW}", "experimental-initial-corrupt-check", "memory with etcd"],
        ),
        in_campaign("playbooks/upgrade.yml", {"etcd_upgrade_to": "3.9.0"}, ["known series"]),
        in_campaign("playbooks/downgrade.yml", {"etcd_downgrade_to": NEW}, ["is newer", "run the playbook upgrade"]),
    ],
)
def test_what_cannot_be_done_is_refused_before_anything_changes(playbook, variables, reasons):
    before = start_times()
    run = play(playbook, **variables)
    text = " ".join(run.output.split())
    assert run.code != 0
    assert all(reason in text for reason in reasons), run.output
    assert not any(run.changed.values())
    assert start_times() == before


def test_upgrade_over_two_minor_versions_with_a_kill_in_between():
    with writing():
        kill_at_task("playbooks/upgrade.yml", "Wait until the member serves with its settings", etcd_upgrade_to=NEW)
        run = play("playbooks/upgrade.yml", etcd_upgrade_to=NEW)
        assert run.code == 0, run.output
        assert running() == [NEW]
        assert storage() == {f"{NEW.rpartition('.')[0]}.0"}
        assert ctl(HOSTS[0], "get /headroom/flush") == ""
    again = play("playbooks/upgrade.yml", etcd_upgrade_to=NEW)
    assert again.code == 0 and f"every member runs etcd {NEW} already" in again.output, again.output
    assert not any(again.changed.values()), again.output


@pytest.mark.campaign
def test_downgrade_that_is_killed_and_cancelled():
    with writing():
        kill_at_task(
            "playbooks/downgrade.yml", "Wait until the member serves with its settings", etcd_downgrade_to=MIDDLE
        )
        refused = play("playbooks/upgrade.yml", etcd_upgrade_to=NEW)
        assert "a downgrade to" in refused.output
        assert not any(refused.changed.values())
        run = play("playbooks/downgrade.yml", etcd_downgrade_cancel=True)
        assert run.code == 0, run.output
        assert running() == [NEW]


@pytest.mark.campaign
def test_downgrade_by_one_minor_version_and_another():
    with writing():
        run = play("playbooks/downgrade.yml", etcd_downgrade_to=MIDDLE)
        assert run.code == 0, run.output
        assert running() == [MIDDLE]
        assert storage() == {f"{MIDDLE.rpartition('.')[0]}.0"}
        kill_at_task("playbooks/downgrade.yml", "Wait until the member serves with its settings", etcd_downgrade_to=OLD)
        run = play("playbooks/downgrade.yml", etcd_downgrade_to=OLD)
        assert run.code == 0, run.output
        assert running() == [OLD]
    again = play("site.yml")
    assert again.code == 0, again.output
    assert not any(again.changed.values()), again.output


def lose_data(host):
    """Leave a host whose data directory is gone, as with a new disk."""
    folders = "$(awk '/^(data|wal)-dir:/ {print $2}' /etc/etcd/etcd.yml)"
    Site().on(host, f"systemctl stop etcd && rm -rf -- {folders}")


@pytest.mark.campaign
def test_a_member_that_is_lost_in_the_middle_of_an_upgrade_is_replaced():
    old = running()[0]
    new = releases()[releases().index(old) + 1]
    kill_at_task("playbooks/upgrade.yml", "Wait until the member serves with its settings", etcd_upgrade_to=new)
    lost = next(host for host, status in statuses().items() if status["version"] == old)
    lose_data(lost)
    for playbook, variables in (
        ("playbooks/upgrade.yml", {"etcd_upgrade_to": new}),
        ("playbooks/replace.yml", {"etcd_replace": lost, "etcd_version": old}),
    ):
        refused = play(playbook, **variables)
        assert refused.code != 0 and not any(refused.changed.values()), refused.output
    assert f"Use the newest of them in this run: -e etcd_version={new}" in " ".join(refused.output.split())
    with writing():
        run = play("playbooks/replace.yml", etcd_replace=lost, etcd_version=new)
        assert run.code == 0, run.output
    assert running() == [new] and len(statuses()) == len(HOSTS)


@pytest.mark.campaign
def test_a_downgrade_is_cancelled_although_the_member_that_it_changed_is_lost():
    new = running()[0]
    old = releases()[releases().index(new) - 1]
    kill_at_task("playbooks/downgrade.yml", "Wait until the member serves with its settings", etcd_downgrade_to=old)
    changed = next(host for host in HOSTS if old in Site().on(host, "systemctl show -P ExecStart etcd"))
    lose_data(changed)
    refused = play("playbooks/replace.yml", etcd_replace=changed, etcd_version=new)
    assert refused.code != 0 and not any(refused.changed.values()), refused.output
    assert f"a downgrade to {old.rpartition('.')[0]}" in " ".join(refused.output.split()), refused.output
    with writing():
        cancelled = play("playbooks/downgrade.yml", etcd_downgrade_cancel=True, etcd_version=new)
        assert f"etcdops.headroom.replace -e etcd_replace={changed}" in " ".join(cancelled.output.split())
        run = play("playbooks/replace.yml", etcd_replace=changed, etcd_version=new)
        assert run.code == 0, run.output
    assert running() == [new] and len(statuses()) == len(HOSTS)


@pytest.mark.campaign
def test_upgrade_and_downgrade_with_authentication_on():
    enabled = play("playbooks/auth.yml", **AUTH)
    assert enabled.code == 0, enabled.output
    with writing(auth=True):
        kill_at_task("playbooks/upgrade.yml", "Wait until the member serves with its settings", etcd_upgrade_to=NEW)
        run = play("playbooks/upgrade.yml", etcd_upgrade_to=NEW)
        assert run.code == 0, run.output
        assert running() == [NEW]
        kill_at_task(
            "playbooks/downgrade.yml", "Wait until the member serves with its settings", etcd_downgrade_to=MIDDLE
        )
        run = play("playbooks/downgrade.yml", etcd_downgrade_to=MIDDLE)
        assert run.code == 0, run.output
        assert running() == [MIDDLE]
    again = play("playbooks/auth.yml", **AUTH, etcd_version=MIDDLE)
    assert again.code == 0 and not any(again.changed.values()), again.output
