# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Maintenance on hosts: simultaneous timers, killed holders of the lock, a full database, interrupted backups.

These tests run inside molecule's scenario maintenance, in their order; each leaves a healthy cluster behind.
"""

from __future__ import annotations

import json
import re
import subprocess
import time
from datetime import datetime

import pytest
from cluster import HOSTS, TLS, ctl, followers, forget_last_backup, leader, release_lock, statuses

from bench.common.lab import addresses, certificates, on
from bench.common.member import BENCHMARK

BACKUPS = "/var/backups/etcd"
OPERATIONS = ("defrag", "snapshot", "drill", "integrity")


def headroom(host, words):
    """Run Headroom's program and return the record that it prints."""
    said = on(host, f"/usr/local/sbin/headroom {words} || true")
    return json.loads(said.splitlines()[-1])


def record(host, operation):
    """Return the last record of an operation."""
    return json.loads(on(host, f"cat /var/lib/headroom/{operation}.json"))


def start(*services):
    """Start services on all hosts at the same moment, as timers do."""
    for host in HOSTS:
        on(host, f"systemctl start --no-block {' '.join(services)}")


def wait_until(condition, seconds, what):
    """Poll a condition twice a second, and fail after `seconds`."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"{what}: not within {seconds} s"
        time.sleep(0.5)


def ended(service):
    """Return whether a service runs on no host."""
    return all(on(host, f"systemctl show -P ActiveState {service}").strip() in ("inactive", "failed") for host in HOSTS)


def put(total, keys, size=10_000):
    """Put values through all members with etcd's benchmark, and return its report."""
    folder = certificates(HOSTS[0])
    urls = ",".join(f"https://{address}:2379" for address in addresses().values())
    command = [BENCHMARK, "--endpoints", urls, "--cacert", folder / "ca.crt", "--cert", folder / "client.crt"]
    command += ["--key", folder / "client.key", "--conns", "3", "--clients", "12", "put", "--sequential-keys"]
    command += ["--key-space-size", str(keys), "--val-size", str(size), "--total", str(total)]
    return subprocess.run(command, capture_output=True, text=True, timeout=180, check=True).stdout


def fragment():
    """Turn most of the database into free pages."""
    put(3000, 300)
    ctl(HOSTS[0], f"compact --physical {statuses()[HOSTS[0]]['header']['revision']}")
    wait_until(lambda: all(free(status) > 0.5 for status in statuses().values()), 60, "free pages")


def free(status):
    """Return the share of the database that a defragmentation would free."""
    return 1 - status["dbSizeInUse"] / status["dbSize"]


def healthy():
    """Return whether the cluster accepts writes and all members are healthy."""
    urls = ",".join(f"https://{address}:2379" for address in addresses().values())
    asked = f"etcdctl {TLS} --endpoints {urls} --command-timeout 2s endpoint health >/dev/null 2>&1"
    return on(HOSTS[0], f"{asked} && echo yes || echo no").strip() == "yes"


def defragmentations(host, since):
    """Return begin and end of each defragmentation in the member's journal, as Unix times."""
    lines = on(host, f"journalctl -u etcd -o cat --since @{since:.0f} | grep defragmenting || true").splitlines()
    said = [json.loads(line) for line in lines]
    times = [(one["msg"], datetime.fromisoformat(one["ts"].replace("Z", "+00:00")).timestamp()) for one in said]
    begins = [at for text, at in times if text == "defragmenting"]
    return list(zip(begins, [at for text, at in times if text.startswith("finished")], strict=True))


def test_timers_are_on_every_host():
    for host in HOSTS:
        listed = on(host, "systemctl list-timers --all --no-pager")
        for operation in OPERATIONS:
            assert re.search(rf"-01-01 0\d:.*headroom-{operation}\.timer", listed), listed
            assert on(host, f"systemctl is-enabled headroom-{operation}.timer").strip() == "enabled"


@pytest.mark.campaign
def test_a_schedule_whose_play_was_killed_before_systemd_read_it_takes_effect(site):
    unit = "/etc/systemd/system/headroom-defrag.timer"
    killed = f"cp -a {unit} /tmp/wanted; sed -i 's/^OnCalendar=.*/OnCalendar=*-07-07 07:00/' {unit}; systemctl daemon-reload; mv /tmp/wanted {unit}"
    on(HOSTS[0], f"{killed}; touch {unit}")
    assert "-07-07 07:" in on(HOSTS[0], "systemctl list-timers --all --no-pager")
    run = site.play("--tags", "maintenance")
    assert run.code == 0 and run.changed[HOSTS[0]] > 0, run.output
    assert re.search(r"-01-01 0\d:.*headroom-defrag\.timer", on(HOSTS[0], "systemctl list-timers --all --no-pager"))
    again = site.play("--tags", "maintenance")
    assert again.code == 0 and not any(again.changed.values()), again.output


def test_check_mode_of_defrag_reports_its_decision():
    for host in HOSTS:
        found = headroom(host, "defrag --check")
        assert found["result"] == "skipped" and "does not need defragmentation" in found["reason"], found
    fragment()
    for host in HOSTS:
        found = headroom(host, "defrag --check")
        assert found["result"] == "skipped" and "would be defragmented" in found["reason"], found
    last = headroom(leader(), "defrag --check")
    assert re.search(r"after etcd-\d, etcd-\d, after etcd-\d takes over as leader", last["reason"]), last
    assert all(free(status) > 0.5 for status in statuses().values())


def test_defrag_skips_while_a_member_is_down():
    host, down = followers()  # the leader waits up to five minutes for the followers
    on(down, "systemctl stop etcd")
    try:
        found = headroom(host, "defrag")
        assert found["result"] == "skipped", found
        assert re.search(rf"not every voting member is healthy: {down}", found["reason"]), found
        assert record(host, "defrag")["reason"] == found["reason"]
    finally:
        on(down, "systemctl start etcd")
    wait_until(healthy, 30, "the member that was down")
    assert all(free(status) > 0.5 for status in statuses().values())


def test_simultaneous_timers_defragment_one_member_at_a_time():
    led, since = leader(), time.time() - 1
    start("headroom-defrag.service")
    wait_until(lambda: ended("headroom-defrag.service"), 120, "three defragmentations")
    windows = {host: defragmentations(host, since) for host in HOSTS}
    assert [len(found) for found in windows.values()] == [1, 1, 1], windows
    turns = sorted((found[0], host) for host, found in windows.items())
    assert all(end <= begin for ((_, end), _), ((begin, _), _) in zip(turns, turns[1:])), turns
    assert turns[-1][1] == led and leader() != led
    for host in HOSTS:
        found = record(host, "defrag")
        assert found["result"] == "done" and found["after"]["size"] < found["before"]["size"] / 2, found
        assert re.search(r"^headroom_", on(host, "cat /var/lib/node_exporter/headroom.prom"), re.M)
    assert json.loads(on(led, "journalctl -u headroom-defrag -o cat | grep '^{' | tail -1"))["moved_to"] in HOSTS


@pytest.mark.campaign
def test_a_killed_holder_releases_the_lock():
    fragment()
    first, other = followers()
    on(first, "/usr/local/sbin/headroom defrag >/dev/null 2>&1 & echo $! > /run/holder")
    wait_until(lambda: first in ctl(other, "get /headroom/lock --print-value-only"), 30, "the lock")
    on(first, "kill -9 $(cat /run/holder)")
    assert first in ctl(other, "get /headroom/lock --print-value-only")
    waiting = headroom(other, "defrag --check")
    assert f"{first} holds the cluster's lock" in waiting["reason"], waiting
    start("headroom-defrag.service")
    wait_until(lambda: ended("headroom-defrag.service"), 240, "defragmentations after the lease of a dead holder")
    assert all(free(status) < 0.5 for status in statuses().values())
    assert "failed" not in [record(host, "defrag")["result"] for host in HOSTS]
    assert record(other, "defrag")["result"] == "done"


def good(host):
    """Verify the complete backups on a host and return their names."""
    return on(
        host,
        f"cd {BACKUPS}; for file in *.db; do [ -e $file ] || continue; "
        "etcdutl snapshot status $file >/dev/null && sha256sum --check --quiet $file.sha256 && test -s $file.json "
        "&& echo $file; done",
    ).split()


def test_one_host_takes_the_backup():
    start("headroom-snapshot.service")
    wait_until(lambda: ended("headroom-snapshot.service"), 120, "a backup")
    results = {host: record(host, "snapshot") for host in HOSTS}
    assert sorted(found["result"] for found in results.values()) == ["done", "skipped", "skipped"], results
    [taker] = [host for host, found in results.items() if found["result"] == "done"]
    assert good(taker) == [results[taker]["path"].rsplit("/", 1)[1]]
    assert not any(good(host) for host in HOSTS if host != taker)


@pytest.mark.campaign
def test_an_interrupted_backup_leaves_no_file_that_looks_complete():
    put(2000, 2000)
    host = followers()[0]
    unit, fates = "headroom-snapshot.service", []
    for step in range(12):
        forget_last_backup(host)
        release_lock(host)
        # systemd starts a unit five times in ten seconds at most; reset-failed resets the count.
        on(host, f"systemctl reset-failed {unit} || true; systemctl start --no-block {unit}; sleep {0.2 + 0.15 * step}")
        on(host, f"systemctl kill -s KILL {unit} || true")
        wait_until(lambda: ended(unit), 30, "the end of a backup")
        fates.append(on(host, f"systemctl show -P Result {unit}").strip())
        assert set(good(host)) == set(on(host, f"cd {BACKUPS}; ls | grep 'db$' || true").split()), fates
    assert fates.count("signal") >= 3, fates
    forget_last_backup(host)
    release_lock(host)
    found = headroom(host, "snapshot")
    assert found["result"] == "done", found
    left = on(host, f"ls -A {BACKUPS}").split()
    assert all(re.fullmatch(r"etcd-\d{8}T\d{6}Z\.db(\.sha256|\.json)?|\.\S*lock", name) for name in left), left
    assert found["path"].rsplit("/", 1)[1] in good(host)


def test_drill():
    results = {host: headroom(host, "drill") for host in HOSTS}
    assert "done" in {found["result"] for found in results.values()}, results
    assert "failed" not in {found["result"] for found in results.values()}, results


def test_the_nospace_playbook_frees_a_full_database(site):
    said = put(14_000, 400)
    assert "database space exceeded" in said, said
    assert "NOSPACE" in ctl(HOSTS[0], "alarm list")
    with pytest.raises(subprocess.CalledProcessError):
        ctl(HOSTS[0], "put /refused x")
    nospace = ("ansible-playbook", "playbooks/nospace.yml")
    for wrong in ("etcd_nospace_keep_revisions=1k", "etcd_nospace_timeout=30m"):
        refused = site.ansible(*nospace, "-e", wrong)
        assert refused.code != 0 and f"({wrong.partition('=')[2]})" in refused.output, refused.output
        assert set(refused.changed.values()) <= {0}
    # The inventory may already name the release of an upgrade, which has to wait for space.
    run = site.ansible(*nospace, "-e", "etcd_version=3.5.9")
    assert run.code == 0, run.output
    assert re.search(r"history|free pages", run.output), run.output
    assert ctl(HOSTS[0], "alarm list").strip() == ""
    assert ctl(HOSTS[0], "put /taken x").strip() == "OK"
    quota = 96 << 20
    assert all(status["dbSize"] < quota / 2 for status in statuses().values())


@pytest.mark.campaign
def test_a_backup_whose_volume_cannot_be_mounted_is_reported(site):
    """systemd does not start the service then, and does not call it failed: no program runs that could write a record."""
    host, unit = HOSTS[0], "headroom-snapshot"
    folder = f"/run/systemd/system/{unit}.timer.d"
    begin = f"systemctl daemon-reload; systemctl restart {unit}.timer"
    line = f"/dev/disk/by-label/gone {BACKUPS} ext4 noauto,x-systemd.device-timeout=1s 0 0"
    often = f"mkdir {folder}; printf '[Timer]\\nOnCalendar=\\nOnCalendar=*:*:0/5\\n' > {folder}/often.conf"
    since = time.time()
    on(host, f"cp /etc/fstab /root/fstab; echo '{line}' >> /etc/fstab; {often}; {begin}")
    journal = f"journalctl -u {unit} -o cat --since @{since:.0f}"
    try:
        # systemd 252 records the time of a regular attempt only, not of one that it catches up with as the timer starts.
        elapsed = f"systemctl show -P LastTriggerUSecMonotonic {unit}.timer"
        wait_until(
            lambda: on(host, elapsed).strip() != "0" and "Dependency failed" in on(host, journal), 60, "an attempt"
        )
        on(host, f"rm -r {folder}; systemctl daemon-reload")  # a restart of the timer would forget that it elapsed
        wait_until(lambda: not on(host, "systemctl list-jobs --no-legend").strip(), 30, "the end of the attempt")
        assert on(host, f"systemctl show -P ActiveState {unit}.service").strip() == "inactive"
        run = site.play("--tags", "maintenance,report")
        assert run.code == 0, run.output
        assert "not started: a unit that it requires failed" in " ".join(run.output.split()), run.output
        on(host, "sed -i '/by-label.gone/s/noauto,//' /etc/fstab")
        refused = site.play()
        assert refused.code != 0, refused.output
        assert f"nothing is mounted at {BACKUPS}, which /etc/fstab lists" in " ".join(refused.output.split()), (
            refused.output
        )
        assert set(refused.changed.values()) <= {0}, refused.output
    finally:
        on(host, f"mv /root/fstab /etc/fstab; rm -rf {folder}; {begin}")
    on(host, f"systemctl start {unit}.service")
    run = site.play("--tags", "maintenance,report")
    assert run.code == 0 and "not started" not in run.output, run.output


def test_a_second_run_of_site_changes_nothing(site):
    run = site.play()
    assert run.code == 0 and set(run.changed.values()) == {0}, run.output
