# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""restore.yml and restore_lost_quorum.yml after the loss of hosts, of data and of logs."""

from __future__ import annotations

import re

import pytest
from restoring import (
    BUMP,
    CLUSTER,
    KEYS,
    LEFT,
    count,
    kill_at_task,
    leftovers,
    lose_log,
    members_healthy,
    play,
    put,
    replace_host,
    running_since,
    unwrapped,
)

# Where a drop-in of etcd's unit does not outlive the host.
SLOW = "/run/systemd/system/etcd.service.d"


def assert_only_the_replaced_host_changes(site, replaced):
    """Run site.yml: it installs the timers on a replaced host, which a restore does not."""
    run = site.play()
    assert run.code == 0 and {host for host, count in run.changed.items() if count} == {replaced}, run.output


@pytest.mark.campaign
def test_a_host_that_is_lost_during_a_restore_is_prepared_again(site, backup):
    """One host is replaced, and one loses only its log, after clients have written to the new data: the third has all that is left of it."""
    asked = {"etcd_restore_confirm": CLUSTER, "etcd_restore_snapshot": backup, "etcd_restore_again": True}
    # Two tasks before the end, so that it cannot finish in the meantime.
    kill_at_task(site, "restore", "Assert that all members are healthy", **asked)
    site.on("etcd-1", "systemctl stop etcd")
    put(site, "etcd-2", "/served/")
    replace_host(site, "etcd-3")
    site.on("etcd-1", "find /var/lib/etcd-wal -mindepth 1 -delete")
    # Without an order, the two that lost their logs elect a leader first.
    site.on("etcd-2", f"mkdir -p {SLOW} && printf '[Service]\\nExecStartPre=/bin/sleep 8\\n' > {SLOW}/slow.conf")
    checked = play(site, "restore", "--check", **asked)
    assert checked.code == 0 and "incomplete on etcd-1, etcd-3: would prepare" in unwrapped(checked), checked.output
    run = play(site, "restore", etcd_restore_confirm=CLUSTER)  # the interrupted restore knows its snapshot
    assert run.code == 0 and "incomplete on etcd-1, etcd-3: preparing" in unwrapped(run), run.output
    assert members_healthy(site) == 3
    assert (count(site, "etcd-1", "/before/"), count(site, "etcd-3", "/after/")) == (KEYS, 0)
    assert count(site, "etcd-3", "/served/") == KEYS, "writes that clients made during the restore"
    site.on("etcd-2", f"rm -r {SLOW}; systemctl daemon-reload")
    assert_only_the_replaced_host_changes(site, "etcd-3")


def assert_revision_was_raised(run):
    said = re.search(r"serves (\d+) keys\s+at revision (\d+)", run.output)
    assert int(said[1]) >= KEYS and int(said[2]) > BUMP, run.output


@pytest.mark.campaign
def test_restore_after_the_loss_of_all_data(site, backup):
    for host in site.hosts:
        site.on(host, "systemctl stop etcd; rm -rf /var/lib/etcd/data /var/lib/etcd-wal/member")
    refused = site.play()
    assert refused.code != 0 and set(refused.changed.values()) <= {0}, refused.output
    assert "no host has data, so a run would form an empty cluster" in unwrapped(refused), refused.output
    run = play(site, "restore", etcd_restore_confirm=CLUSTER, etcd_restore_snapshot=backup)
    assert run.code == 0, run.output
    assert (count(site, "etcd-1", "/before/"), count(site, "etcd-3", "/after/")) == (KEYS, 0)
    assert members_healthy(site) == 3
    assert_revision_was_raised(run)


@pytest.mark.campaign
def test_restore_after_the_loss_of_quorum(site, backup):
    """All acknowledged writes are back, from the data of a survivor that was killed with SIGKILL."""
    refused = play(site, "restore_lost_quorum", etcd_restore_confirm=CLUSTER)
    assert refused.code != 0 and "has its quorum (3 of 3 members are healthy)" in re.sub(r"\s+", " ", refused.output)
    assert set(refused.changed.values()) <= {0}
    put(site, "etcd-1", "/acknowledged/")
    # A member records that a write is committed with the writes that follow: without these, --force-new-cluster may drop the last one.
    put(site, "etcd-1", "/later/", 2)
    site.on("etcd-1", "systemctl kill -s KILL etcd; systemctl stop etcd")
    for host in ("etcd-2", "etcd-3"):
        site.on(host, "systemctl stop etcd; rm -rf /var/lib/etcd/data /var/lib/etcd-wal/member")
    site.on("etcd-1", "systemctl start --no-block etcd")
    run = play(site, "restore_lost_quorum", etcd_restore_confirm=CLUSTER)
    assert run.code == 0, run.output
    assert count(site, "etcd-3", "/before/") == count(site, "etcd-2", "/acknowledged/") == KEYS
    assert members_healthy(site) == 3
    assert "data.before-" in site.on("etcd-1", "ls /var/lib/etcd")


def test_the_data_of_a_member_whose_log_is_lost_is_not_used(site, backup):
    """Only once it was moved away: the log could be on a volume that is not mounted."""
    put(site, "etcd-1", "/newest/")
    for host in site.hosts:
        site.on(host, "systemctl stop etcd")
    lose_log(site, "etcd-2")
    replace_host(site, "etcd-3")
    site.on("etcd-1", "systemctl start --no-block etcd; sleep 2")
    refused = play(site, "restore_lost_quorum", etcd_restore_confirm=CLUSTER)
    text = r"/var/lib/etcd-wal/member/wal/\*\.wal does not exist on this host: .* If it is lost, move what is left in /var/lib/etcd/data and"
    assert refused.code != 0 and re.search(text, unwrapped(refused)), refused.output
    site.on("etcd-2", "mv /var/lib/etcd/data /var/lib/etcd/data.lost")
    site.on("etcd-1", "systemctl start --no-block etcd; sleep 2")
    before = running_since(site)
    checked = play(site, "restore_lost_quorum", "--check", etcd_restore_confirm=CLUSTER)
    assert checked.code == 0 and "snapshot of the data of etcd-1, and restore the one" in unwrapped(checked), (
        checked.output
    )
    assert "Would use the data of etcd-1. Not used: etcd-2: no data; etcd-3: no data." in unwrapped(checked), (
        checked.output
    )
    assert all(checked.changed[host] > 0 for host in site.hosts)
    assert running_since(site) == before and [leftovers(site, host, *LEFT) for host in site.hosts] == [[], [], []]
    run = play(site, "restore_lost_quorum", etcd_restore_confirm=CLUSTER)
    assert run.code == 0, run.output
    assert "Using the data of etcd-1. Not used: etcd-2: no data; etcd-3: no data." in unwrapped(run), run.output
    assert members_healthy(site) == 3
    assert count(site, "etcd-3", "/newest/") == KEYS


@pytest.mark.campaign
def test_a_snapshot_needs_no_log(site, backup):
    for host in site.hosts:
        lose_log(site, host)
    restored = play(
        site, "restore", etcd_restore_confirm=CLUSTER, etcd_restore_snapshot=backup, etcd_restore_other_cluster=True
    )
    assert restored.code == 0, restored.output
    assert_revision_was_raised(restored)
    assert (count(site, "etcd-1", "/before/"), count(site, "etcd-3", "/newest/"), members_healthy(site)) == (KEYS, 0, 3)
    assert_only_the_replaced_host_changes(site, "etcd-3")
    again = site.play()
    assert again.code == 0 and set(again.changed.values()) == {0}, again.output
