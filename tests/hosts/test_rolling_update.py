# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes of a deployed cluster, one member after the other, without a failed write. Nothing else may load the machine."""

from __future__ import annotations

import re

import pytest
from cluster import start_times
from writing import tolerated_failures


def test_a_rolling_update_loses_no_write(site):
    # All lab hosts share one disk, which can stall for seconds on its own: a second attempt tells a stall from a lost write.
    for entries in (320, 321):
        run = site.ansible("python", "-m", "bench.rolling.run", f"etcd_snapshot_catchup_entries={entries}")
        if run.code == 0:
            break
    assert run.code == 0 and ", 0 failed" in run.output, run.output
    if entries != 321:
        assert site.play(etcd_snapshot_catchup_entries=321).code == 0
    for host in site.hosts:
        assert "snapshot-catchup-entries: 321" in site.on(host, "cat /etc/etcd/etcd.yml")


def test_check_mode_shows_a_change_and_makes_none(site):
    before = start_times(site)
    check = site.play("--check", "--diff")
    assert check.code == 0 and min(check.changed[host] for host in site.hosts) > 0, check.output
    assert "-snapshot-catchup-entries: 321" in check.output
    assert start_times(site) == before


def test_check_mode_goes_on_after_a_stopped_member(site):
    """A run would start it before it stops another one. In check mode it stays down."""
    site.on("etcd-2", "systemctl stop etcd")
    try:
        check = site.play("--check", "--diff", etcd_snapshot_catchup_entries=322)
        assert check.code == 0 and min(check.changed[host] for host in site.hosts) > 0, check.output
        assert check.output.count("+snapshot-catchup-entries: 322") == len(site.hosts), check.output
        assert site.on("etcd-2", "systemctl show --property ActiveState --value etcd").strip() == "inactive"
    finally:
        site.on("etcd-2", "systemctl start etcd")


@pytest.mark.campaign
def test_the_setting_comes_back(site):
    back = site.play()
    assert back.code == 0 and min(back.changed[host] for host in site.hosts) > 0, back.output


@pytest.mark.campaign
def test_the_ca_is_replaced_without_a_failed_write(site):
    """Each step has a separate client, like an application that gets the new files between the steps."""
    before = site.on("etcd-1", "cat /etc/etcd/tls/ca.crt")
    for step in ("trust", "issue", "end"):
        rotate = ("--playbook", "playbooks/rotate_ca.yml", f"etcd_rotate_ca_until={step}")
        run = site.ansible("python", "-m", "bench.rolling.run", *rotate, timeout=600)
        written = re.search(r"(\d+) writes, (\d+) failed", run.output)
        assert written and "PLAY RECAP" not in run.output, run.output  # it shows the play's output if that failed
        assert int(written[2]) <= tolerated_failures(int(written[1])), run.output
    for host in site.hosts:
        after = site.on(host, "cat /etc/etcd/tls/ca.crt")
        assert after != before and after.count("BEGIN CERTIFICATE") == 1
        assert "server.crt: OK" in site.on(host, "cd /etc/etcd/tls && openssl verify -CAfile ca.crt server.crt")
    again = site.play()
    assert again.code == 0 and set(again.changed.values()) == {0}, again.output
