# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Members join, leave and are replaced while a client writes a key every 50 ms: 1 -> 3 -> 5 -> 3, and plays that are killed.

The tests build on each other, in their order.
"""

from __future__ import annotations

import json
import os
import re
import signal

import pytest
import yaml
from cluster import ETCDCTL
from writing import writing

from bench.common.lab import addresses
from tests.campaign import IS_CAMPAIGN

SCENARIO = "lab/inventory.py,molecule/membership/inventory"


def inventory(folder, *hosts):
    """Return the inventories of a cluster on these hosts."""
    path = folder / f"hosts-{'-'.join(hosts)}.yml"
    path.write_text(yaml.safe_dump({"etcd": {"hosts": dict.fromkeys(hosts)}}))
    # The scenario's own inventory has etcd-1.
    return f"{SCENARIO},{path}"


def command(playbook, inventories, *arguments, **variables):
    where = [word for path in inventories.split(",") for word in ("-i", path)]
    return [
        "ansible-playbook",
        playbook,
        *where,
        "-e",
        json.dumps({"etcd_lint_enabled": False, **variables}),
        *arguments,
    ]


def play(site, playbook, inventories, *arguments, **variables):
    return site.ansible(*command(f"playbooks/{playbook}.yml", inventories, *arguments, **variables), timeout=560)


def killed_at(site, task, playbook, inventories, **variables):
    """Run a playbook, and kill it when a task begins."""
    site.kill_at(task, *command(f"playbooks/{playbook}.yml", inventories, **variables))


def members(site, host="etcd-1"):
    """Return the members by name: learner or not."""
    found = json.loads(site.on(host, f"{ETCDCTL} member list -w json"))["members"]
    return {one.get("name", ""): bool(one.get("isLearner")) for one in found}


def voters(*names):
    return dict.fromkeys(names, False)


def leader(site, host="etcd-1"):
    urls = ",".join(f"https://{address}:2379" for address in addresses().values())
    known = site.on(host, f"{ETCDCTL.rsplit(' ', 1)[0]} {urls} endpoint status -w json 2>/dev/null || true")
    statuses = [one["Status"] for one in json.loads(known) if not one["Status"].get("isLearner")]
    found = json.loads(site.on(host, f"{ETCDCTL} member list -w json"))["members"]
    names = {one["ID"]: one["name"] for one in found}
    return names[statuses[0]["leader"]]


def started(site, *hosts):
    return {host: site.on(host, "systemctl show -P ExecMainStartTimestampMonotonic etcd") for host in hosts}


def url_of(name):
    return f"https://{addresses()[name]}:2379"


def member_id(site, name):
    found = json.loads(site.on("etcd-1", f"{ETCDCTL} member list -w json"))["members"]
    return next(format(one["ID"], "x") for one in found if one["name"] == name)


def unchanged(run):
    return run.code == 0 and set(run.changed.values()) == {0}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("inventories")


def test_one_member_becomes_three_although_plays_are_killed(site, folder):
    three = inventory(folder, "etcd-1", "etcd-2", "etcd-3")
    heavy = {
        "etcd_workload": {"value_size": "100KB", "keys": 300, "puts_per_second": 400},
        "etcd_memory_budget": "1200MB",  # more than etcd-1 runs with
    }
    plan = play(site, "scale", three, "--check", **heavy)
    assert unchanged(plan) and "Step 1: etcd-2: add etcd-2 as a learner" in plan.output, plan.output
    warned = " ".join(plan.output.split())
    assert re.search(r"has room for that only up to \d+ puts/s, and the workload has 400", warned), plan.output
    assert "until they restart, after the joins: etcd-1. Run site.yml first" in warned, plan.output
    assert members(site) == voters("etcd-1")
    with writing():
        killed_at(site, "Write the configuration file for the first start", "scale", three)
        assert list(members(site).values()).count(True) == 1, "a learner that never started"
        if IS_CAMPAIGN:
            killed_at(site, "Promote the learner once it has caught up", "scale", three)
        run = play(site, "scale", three)
        assert run.code == 0, run.output
        assert members(site) == voters("etcd-1", "etcd-2", "etcd-3")
    again = play(site, "site", three)
    assert unchanged(again), again.output


def test_bad_requests_change_nothing(site, folder):
    three = inventory(folder, "etcd-1", "etcd-2", "etcd-3")
    before = started(site, "etcd-1", "etcd-2", "etcd-3")
    for playbook, hosts, variables, text in (
        ("scale", ["etcd-4"], {}, r"4 voting members tolerate no more failures than 3"),
        (
            "replace",
            [],
            {"etcd_replace": "etcd-2"},
            r"etcd-2 is healthy, and its hash is that of the majority, so there is no need",
        ),
        ("replace", [], {}, r"etcd_replace is not set"),
    ):
        where = inventory(folder, "etcd-1", "etcd-2", "etcd-3", *hosts) if hosts else three
        run = play(site, playbook, where, **variables)
        assert run.code != 0 and re.search(text, " ".join(run.output.split())), run.output
        assert set(run.changed.values()) <= {0}
    assert started(site, "etcd-1", "etcd-2", "etcd-3") == before
    assert members(site) == voters("etcd-1", "etcd-2", "etcd-3")


@pytest.mark.campaign
def test_a_host_without_space_for_the_database_does_not_join(site, folder):
    five = inventory(folder, "etcd-1", "etcd-2", "etcd-3", "etcd-4", "etcd-5")
    site.on("etcd-4", "mkdir -p /var/lib/etcd && mount -t tmpfs -o size=16m tmpfs /var/lib/etcd")
    try:
        run = play(site, "scale", five, "--check", etcd_storage_data_device="")
        text = (
            r"etcd-4: /var/lib/etcd/data has \S+ MiB free, but a new member needs \S+ MiB there: .* Nothing was changed"
        )
        assert run.code != 0 and re.search(text, " ".join(run.output.split())), run.output
    finally:
        site.on("etcd-4", "umount /var/lib/etcd")
    assert members(site) == voters("etcd-1", "etcd-2", "etcd-3")


@pytest.mark.campaign
def test_a_full_volume_is_found_once_it_is_mounted(site, folder):
    """The plan cannot see how much of a volume is free that is not mounted yet."""
    five = inventory(folder, "etcd-1", "etcd-2", "etcd-3", "etcd-4", "etcd-5")
    device, full = "/dev/disk/by-id/virtio-etcd-data", "/mnt/filled/full"
    fill = f"fallocate -l $(($(df -B1 --output=avail /mnt/filled | tail -n 1) - (16 << 20))) {full}"
    site.on(
        "etcd-4",
        f"mkfs.ext4 -q -L etcd-data {device} && mkdir /mnt/filled && mount {device} /mnt/filled && {fill}; umount /mnt/filled",
    )
    run = play(site, "scale", five)
    text = (
        r"etcd-4: /var/lib/etcd/data has \S+ MiB free, but a new member needs \S+ MiB there: .* No member was changed"
    )
    assert run.code != 0 and re.search(text, " ".join(run.output.split())), run.output
    assert members(site) == voters("etcd-1", "etcd-2", "etcd-3")
    site.on("etcd-4", "rm /var/lib/etcd/full; rmdir /mnt/filled")


def test_a_member_whose_data_is_lost_is_replaced(site, folder):
    """A blank disk is in place of the data, and the write-ahead log is left. etcd would not start, or would serve an empty database."""
    three = inventory(folder, "etcd-1", "etcd-2", "etcd-3")
    lost, device = member_id(site, "etcd-3"), "/dev/disk/by-id/virtio-etcd-data"
    site.on("etcd-3", f"systemctl stop etcd && umount /var/lib/etcd && blkdiscard -z $(readlink -f {device})")
    refused = play(site, "site", three)
    text = " ".join(refused.output.split())
    assert refused.code != 0 and set(refused.changed.values()) == {0}, refused.output
    assert f"no database in /var/lib/etcd/data, whose device {device} is not formatted" in text, refused.output
    assert f"with the id {lost}: run 'ansible-playbook etcdops.headroom.replace -e etcd_replace=etcd-3'" in text, text
    assert site.on("etcd-3", f"blkid -p {device} || echo blank") == "blank"
    with writing():
        killed_at(site, "Add the host to the cluster as a learner", "replace", three, etcd_replace="etcd-3")
        run = play(site, "replace", three, etcd_replace="etcd-3")
        assert run.code == 0, run.output
    assert members(site) == voters("etcd-1", "etcd-2", "etcd-3")


@pytest.mark.campaign
def test_a_second_replacement_does_not_touch_the_member_of_the_first(site, folder):
    """Both are planned before one of them changes the cluster."""
    three = inventory(folder, "etcd-1", "etcd-2", "etcd-3")
    asked = {"etcd_replace": "etcd-3", "etcd_replace_healthy": True, "etcd_replace_again": True}
    after = {}

    def replace_first(process):
        os.killpg(process.pid, signal.SIGSTOP)
        run = play(site, "replace", three, **asked)
        assert run.code == 0, run.output
        after.update(started(site, "etcd-3"), id=member_id(site, "etcd-3"))
        os.killpg(process.pid, signal.SIGCONT)

    with writing():
        second = site.act_at(
            "Choose the update order", replace_first, *command("playbooks/replace.yml", three, **asked)
        )
    text = " ".join(second.output.split())
    assert second.code != 0 and "another play has changed etcd-3 since this run was planned" in text, second.output
    assert {**started(site, "etcd-3"), "id": member_id(site, "etcd-3")} == after
    assert members(site) == voters("etcd-1", "etcd-2", "etcd-3")
    assert site.on("etcd-1", f"{ETCDCTL} get /headroom/lock") == "", "the lock is released"
    again = play(site, "site", three)
    assert unchanged(again), again.output


@pytest.mark.campaign
def test_the_leader_is_replaced_on_request(site, folder):
    three = inventory(folder, "etcd-1", "etcd-2", "etcd-3")
    name = leader(site)
    site.on(name, "rm -f /etc/etcd/replaced")  # another test may have replaced it
    with writing():
        # The new member is promoted and healthy: it is not replaced again.
        killed_at(
            site,
            "Wait until the member serves with its settings",
            "replace",
            three,
            etcd_replace=name,
            etcd_replace_healthy=True,
        )
        promoted = member_id(site, name)
        run = play(site, "replace", three, etcd_replace=name, etcd_replace_healthy=True)
        assert run.code == 0 and f"{name} was replaced already" in " ".join(run.output.split()), run.output
        assert member_id(site, name) == promoted
    assert members(site) == voters("etcd-1", "etcd-2", "etcd-3") and leader(site) != name
    kept = site.on(name, "ls -d /var/lib/etcd/data.before-*/member/snap/db /var/lib/etcd-wal/member/wal.before-*")
    assert len(kept.split()) == 2, "the old data is kept aside"
    again = play(site, "site", three)
    assert unchanged(again), again.output
    # Also after the run has ended, and after one that was killed in its last task.
    done = play(site, "replace", three, "--check", etcd_replace=name, etcd_replace_healthy=True)
    assert f"{name} was replaced already" in " ".join(done.output.split()) and ": remove" not in done.output, (
        done.output
    )
    asked = {"etcd_replace": name, "etcd_replace_healthy": True, "etcd_replace_again": True}
    once_more = play(site, "replace", three, "--check", **asked)
    assert f"{name}: remove {name} ({promoted})" in " ".join(once_more.output.split()), once_more.output


@pytest.mark.campaign
def test_three_members_become_five_although_one_hangs(site, folder):
    """A new member whose disk hangs stays a learner, which has no vote. One whose process hangs is restarted by the next run."""
    five = inventory(folder, "etcd-1", "etcd-2", "etcd-3", "etcd-4", "etcd-5")
    before = started(site, "etcd-1", "etcd-2", "etcd-3")
    freeze = "until pidof etcd && fsfreeze -f /var/lib/etcd; do sleep 0.05; done"
    site.on("etcd-4", f"timeout 200 sh -c '{freeze}' >/dev/null 2>&1 &")
    with writing(5):
        try:
            for _ in range(2):
                run = play(site, "scale", five, etcd_join_timeout=30)
                assert run.code != 0, run.output
                assert "etcd-4 does not answer yet" in " ".join(run.output.split()), run.output
                assert list(members(site).values()).count(True) == 1, "a learner, whose start did not end"
        finally:
            site.on("etcd-4", "pkill -STOP -x etcd; fsfreeze -u /var/lib/etcd")
        run = play(site, "scale", five)
        assert run.code == 0, run.output
    assert members(site) == voters("etcd-1", "etcd-2", "etcd-3", "etcd-4", "etcd-5")
    assert started(site, "etcd-1", "etcd-2", "etcd-3") == before, "members that stay do not restart"


@pytest.mark.campaign
def test_two_of_five_are_replaced_in_one_run_that_is_killed(site, folder):
    five = inventory(folder, "etcd-1", "etcd-2", "etcd-3", "etcd-4", "etcd-5")
    with writing(5):
        for host in ("etcd-2", "etcd-4"):
            site.on(host, "systemctl stop etcd; rm -rf /var/lib/etcd/data/member /var/lib/etcd-wal/member/wal")
        killed_at(
            site, "Write the configuration file for the first start", "replace", five, etcd_replace="etcd-2,etcd-4"
        )
        assert list(members(site).values()).count(True) == 1
        run = play(site, "replace", five, etcd_replace="etcd-2,etcd-4")
        assert run.code == 0, run.output
    assert members(site) == voters("etcd-1", "etcd-2", "etcd-3", "etcd-4", "etcd-5")
    again = play(site, "site", five)
    assert unchanged(again), again.output


@pytest.mark.campaign
def test_five_members_become_three_without_the_leader(site, folder):
    before = started(site, "etcd-1", "etcd-2", "etcd-3")
    site.on("etcd-1", f"{ETCDCTL} --endpoints {url_of(leader(site))} move-leader {member_id(site, 'etcd-5')}")
    three = inventory(folder, "etcd-1", "etcd-2", "etcd-3")
    for host in ("etcd-4", "etcd-5"):
        site.on(host, "/usr/local/sbin/headroom integrity; ls /var/tmp/headroom.prom")
    refused = play(site, "scale", three)
    assert refused.code != 0 and '{"etcd_scale_remove": ["etcd-4"]}' in " ".join(refused.output.split()), refused.output
    with writing(5):
        # The remaining members have their configuration by then, so the next run only removes.
        removed = ["etcd-4", member_id(site, "etcd-5")]
        killed_at(site, "Remove the member from the cluster", "scale", three, etcd_scale_remove=removed)
        run = play(site, "scale", three, etcd_scale_remove=removed)
        assert run.code == 0, run.output
    assert members(site) == voters("etcd-1", "etcd-2", "etcd-3")
    assert started(site, "etcd-1", "etcd-2", "etcd-3") == before
    for host in ("etcd-4", "etcd-5"):
        state = site.on(
            host, "systemctl show -P ActiveState -P UnitFileState etcd; ls -d /var/lib/etcd/data.before-*/member"
        )
        assert state.split()[:2] == ["inactive", "disabled"] and len(state.split()) == 3
        timers = site.on(host, "ls /var/tmp/headroom.prom || true; systemctl is-enabled headroom-defrag.timer || true")
        assert timers == "disabled", "no metrics are left, and no timer writes them again"
    again = play(site, "site", three)
    assert unchanged(again), again.output
