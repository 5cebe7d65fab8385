# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A member with a damaged database: the comparison, the report and the audit name it, and replace.yml rebuilds it."""

from __future__ import annotations

import json
import time

import pytest
from cluster import ETCDCTL, TLS
from test_membership import inventory, leader, member_id, members, play, started, url_of, voters

from bench.common.damage import damage_script

HOSTS = ("etcd-1", "etcd-2", "etcd-3")
VALUE = "the-value-that-is-damaged"
METRICS = "/var/tmp/headroom.prom"


@pytest.fixture(scope="module")
def three(tmp_path_factory):
    return inventory(tmp_path_factory.mktemp("inventories"), *HOSTS)


def damage(site, host):
    """Change a value in the database of a stopped member. Its start has no initial check, which would refuse it."""
    site.on(host, damage_script(VALUE))
    deadline = time.monotonic() + 60
    while site.on(host, f"{ETCDCTL} endpoint health >/dev/null 2>&1 && echo yes || echo no") != "yes":
        assert time.monotonic() < deadline
        time.sleep(0.5)


def compare(site, host):
    # It exits with 1 if the members differ.
    return json.loads(site.on(host, "headroom integrity || true"))


def raise_alarm(site, name):
    """Set the alarm CORRUPT for a member, as etcd's check after a compaction does."""
    body = json.dumps({"action": "ACTIVATE", "memberID": str(int(member_id(site, name), 16)), "alarm": "CORRUPT"})
    site.on(name, f"curl -sf {TLS} -d '{body}' https://127.0.0.1:2379/v3/maintenance/alarm")


@pytest.mark.campaign
def test_a_damaged_member_is_found_and_rebuilt(site, three):
    if len(members(site)) == 1:
        assert play(site, "scale", three).code == 0
    script = "; ".join(f"{ETCDCTL} put /integrity/{number} {VALUE}-{number} >/dev/null" for number in range(30))
    site.on("etcd-1", script)
    leading = leader(site)
    victim = next(host for host in reversed(HOSTS) if host != leading)
    others = [host for host in HOSTS if host != victim]
    assert compare(site, leading)["result"] == "done"
    damage(site, victim)
    assert VALUE.swapcase() in site.on(victim, f"{ETCDCTL} get /integrity/7 --consistency=s")

    found = compare(site, leader(site))
    assert found["result"] == "failed" and found["comparison"]["differing"] == [victim], found
    assert f'compared="{victim}"}} 1' in site.on(leader(site), f"cat {METRICS}")
    assert compare(site, victim)["result"] == "skipped", "the leader's host compares"
    report = " ".join(play(site, "site", three, "--check").output.split())
    assert "the last comparison of the members failed" in report and f"{victim} differs from the majority" in report

    before = started(site, *others)
    raise_alarm(site, victim)
    assert "CORRUPT" in site.on(leading, f"{ETCDCTL} alarm list")
    run = play(site, "replace", three, etcd_replace=victim)
    assert run.code == 0, run.output
    assert f"Hashes: {victim} differs from the majority" in " ".join(run.output.split())
    assert members(site) == voters(*HOSTS) and started(site, *others) == before
    assert site.on(leading, f"{ETCDCTL} alarm list") == ""
    for host in HOSTS:
        assert f'compared="{victim}"}} 1' not in site.on(host, f"cat {METRICS}")
        read = site.on(host, f"{ETCDCTL} --endpoints {url_of(host)} get /integrity/ --prefix --consistency=s")
        assert read.count(VALUE) == 30, f"{host} lost writes"
    assert compare(site, leader(site))["result"] == "done"
