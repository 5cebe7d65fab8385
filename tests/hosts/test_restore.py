# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""restore.yml on a deployed cluster: refusals, check mode, and resuming after an interruption."""

from __future__ import annotations

import json
import re
import shlex

import pytest
from cluster import ETCDCTL
from restoring import (
    CLUSTER,
    FOLDER,
    KEYS,
    LEFT,
    count,
    kill_at_task,
    leftovers,
    members_healthy,
    play,
    running_since,
    unwrapped,
)

from tests.campaign import IS_CAMPAIGN

COMPARED = "/var/lib/headroom/integrity.json"
DIFFERENT = {
    "operation": "integrity",
    "result": "failed",
    "reason": "etcd-3 differs",
    "started_at": "2026-11-22T04:15:00Z",
    "seconds": 1,
    "cluster": CLUSTER,
}


@pytest.mark.parametrize("pattern", LEFT)
def test_leftovers_are_found(site, pattern):
    """The tests below assert that there are none: each kind would be found, also where the other patterns match nothing."""
    path = pattern.replace("*", "x")
    site.on("etcd-3", f"mkdir {path}")
    try:
        assert leftovers(site, "etcd-3", *LEFT) == [path]
    finally:
        site.on("etcd-3", f"rmdir {path}")
    assert leftovers(site, "etcd-3", *LEFT) == []


@pytest.mark.campaign
def test_a_restore_without_enough_space_is_refused_before_the_snapshot_is_copied(site, backup):
    free = int(site.on("etcd-3", "df -B1 --output=avail /var/lib/etcd | tail -n 1"))
    site.on("etcd-3", f"fallocate -l {free - (80 << 20)} /var/lib/etcd/ballast")  # 64 MB must stay free
    before = running_since(site)
    try:
        run = play(site, "restore", etcd_restore_confirm=CLUSTER, etcd_restore_snapshot=backup)
        assert run.code != 0, run.output
        text = unwrapped(run)
        assert re.search(
            r"/var/lib/etcd has \S+ MiB free, but the restore needs \S+ MiB there: \S+ \S+ for a copy", text
        ), text
        assert "Copy the snapshot to the host" not in text
    finally:
        site.on("etcd-3", "rm /var/lib/etcd/ballast")
    assert running_since(site) == before
    for host in site.hosts:
        assert leftovers(site, host, *LEFT) == []


def test_an_unconfirmed_restore_is_refused(site, backup):
    before = running_since(site)
    run = play(site, "restore", etcd_restore_snapshot=backup)
    assert run.code != 0, run.output
    assert re.search(r"Confirm it with -e etcd_restore_confirm=example\s+\(it is not set\)", run.output), run.output
    assert set(run.changed.values()) <= {0}
    assert running_since(site) == before


def damage(site, backup, command):
    """Damage a copy of a backup on the host that has it."""
    site.on("etcd-2", f"cd {FOLDER} && for s in '' .json .sha256; do cp {backup}$s bad.db$s; done && {command}")


@pytest.mark.campaign
def test_an_altered_snapshot_is_refused(site, backup):
    """The snapshot is checked while the cluster runs, and the cluster keeps running."""
    damage(site, backup, "printf x | dd of=bad.db bs=1 seek=9000 conv=notrunc status=none")
    before = running_since(site)
    run = play(site, "restore", etcd_restore_confirm=CLUSTER, etcd_restore_snapshot=f"{FOLDER}/bad.db")
    assert run.code != 0 and "bad.db was altered" in unwrapped(run), run.output
    assert running_since(site) == before
    assert count(site, "etcd-1", "/after/") == 3
    for host in site.hosts:
        assert leftovers(site, host, *LEFT) == []


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("truncate -s -512 bad.db", r"bad\.db is truncated or altered"),
        (
            'sed -i \'s/"etcd_version": "3[^"]*/"etcd_version": "3.99.0/\' bad.db.json',
            r"of etcd 3\.99\.0, which etcd 3\.\d+\.\d+ cannot read",
        ),
    ],
    ids=["cut off", "of a newer etcd"],
)
def test_a_bad_snapshot_is_refused_by_the_task_that_verifies_it(site, backup, command, text):
    """The playbook verifies a snapshot with this task, so these are refused as an altered one is."""
    damage(site, backup, command)
    version = site.on("etcd-2", "etcdctl version").split()[2]
    arguments = f"state=verified path={FOLDER}/bad.db etcd_version={version}"
    run = site.ansible("ansible", "etcd-2", "-b", "-m", "etcdops.headroom.etcd_snapshot", "-a", arguments)
    assert run.code != 0 and re.search(text, run.output), run.output


@pytest.mark.campaign
def test_check_mode_shows_every_change_and_makes_none(site, backup):
    before = running_since(site)
    run = play(site, "restore", "--check", etcd_restore_confirm=CLUSTER, etcd_restore_snapshot=backup)
    assert run.code == 0 and min(run.changed[host] for host in site.hosts) > 0, run.output
    assert running_since(site) == before
    for host in site.hosts:
        assert leftovers(site, host, *LEFT) == []


def start_after_reboot(site, host):
    """Start etcd as a reboot would, which empties /run; return whether it is active, and whether its conditions were met."""
    # A module that was under way when the play was killed goes on, and a reboot would end it.
    site.on(
        host,
        "for i in $(seq 600); do pgrep -f '[B]ECOME-SUCCESS' >/dev/null || break; sleep 0.1; done; systemctl stop etcd; "
        "rm -f /run/headroom-restore-may-start; systemctl daemon-reload; timeout 60 systemctl start etcd",
    )
    return site.on(host, "systemctl show -P ActiveState -P ConditionResult etcd").split()


def test_an_interrupted_restore_is_resumed(site, backup):
    """It is killed while it replaces data, and in a campaign also before and after; site.yml and a reboot start nothing in between."""
    asked = {"etcd_restore_confirm": CLUSTER, "etcd_restore_snapshot": backup}
    if IS_CAMPAIGN:
        kill_at_task(site, "restore", "Prepare the new data next to the old", **asked)
        assert members_healthy(site) == 3
    kill_at_task(site, "restore", "Activate the new data", **asked)
    assert all(start_after_reboot(site, host) == ["inactive", "no"] for host in site.hosts)
    if IS_CAMPAIGN:
        kill_at_task(site, "restore", "Start the member", **asked)
        assert start_after_reboot(site, "etcd-3") == ["inactive", "no"]
    stopped = site.play()
    assert stopped.code != 0 and "a restore of its cluster was interrupted" in stopped.output, stopped.output
    assert set(stopped.changed.values()) <= {0}
    if IS_CAMPAIGN:
        site.on("etcd-3", "umount /var/lib/etcd")
        refused = play(site, "restore", **asked)
        assert refused.code != 0 and set(refused.changed.values()) <= {0}, refused.output
        assert "etcd-3: /var/lib/etcd: not mounted, but the device has a filesystem" in unwrapped(refused), (
            refused.output
        )
        site.on("etcd-3", "mount /var/lib/etcd")
    for host in site.hosts:  # the comparison that made someone restore, and that alerts read
        site.on(host, f"printf %s {shlex.quote(json.dumps(DIFFERENT))} > {COMPARED}")
    run = play(site, "restore", **asked)
    assert run.code == 0, run.output
    assert (count(site, "etcd-1", "/before/"), count(site, "etcd-3", "/after/")) == (KEYS, 0)
    for host in site.hosts:
        assert leftovers(site, host, *LEFT) == []
    assert start_after_reboot(site, "etcd-3") == ["active", "yes"]
    compared = [json.loads(site.on(host, f"cat {COMPARED}"))["result"] for host in site.hosts]
    assert sorted(compared) == ["done", "skipped", "skipped"]  # the leader's host compares
    again = play(site, "restore", **asked)
    assert again.code != 0 and "etcd_restore_again=true" in again.output, again.output
    assert members_healthy(site) == 3


def test_drill_on_a_host(site):
    run = site.ansible("ansible", "etcd-3", "-b", "-m", "etcdops.headroom.etcd_snapshot", "-a", "dest=/var/backups")
    assert run.code == 0, run.output
    site.on("etcd-1", f"{ETCDCTL} put /later x")
    drill = site.ansible(
        "ansible", "etcd-3", "-b", "-m", "etcdops.headroom.etcd_restore_drill", "-a", "src=/var/backups"
    )
    assert drill.code == 0 and "compared: hash" in drill.output, drill.output
    assert leftovers(site, "etcd-3", "/var/tmp/.headroom-*") == []
