# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Volumes of a deployed cluster whose WAL shares the data volume at first. Each test continues from the one before."""

from __future__ import annotations

import json
import os
import re
import subprocess

from cluster import ETCDCTL, start_times
from conftest import PROJECT

from bench.common import write_limits
from bench.common.campaign.hosts import ROOT, process
from bench.common.write_limits import writes_of

# The variables of the scenario, except the WAL device, which comes from the inventory here.
VARIABLES = {"etcd_lint_enabled": False, "etcd_storage_fstype": "xfs", "etcd_storage_check_seconds": 30}
DATA_LOG, OWN_LOG = "/var/lib/etcd/data/member/wal", "/var/lib/etcd-wal/member/wal"


def keys(site, host):
    """Count the keys of the load in this host's member alone (a serializable read)."""
    count = f"{ETCDCTL} get /load --prefix --count-only --consistency=s --write-out=fields"
    return int(site.on(host, f"{count} | sed -n 's/^\"Count\" : //p'"))


def outside(*command):
    """Run a command as root on the machine that the lab's hosts share."""
    return subprocess.run([*ROOT, *command], check=True, capture_output=True, text=True).stdout


def volume(host, name):
    """Return the backing file and the loop device of a host's volume."""
    file = PROJECT / ".headroom/labs" / os.environ["LAB_NAME"] / "volumes" / f"{host}-{name}.img"
    return file, outside("losetup", "--noheadings", "--output=NAME", "--associated", str(file)).strip()


def test_the_wal_moves_to_its_volume_without_a_failed_write(site):
    assert ".wal" in site.on("etcd-1", f"ls {DATA_LOG}")
    check = site.play("--check", **VARIABLES)
    assert check.code == 0 and "Move the write-ahead log" in check.output, check.output
    assert ".wal" in site.on("etcd-1", f"ls {DATA_LOG}")
    before = start_times(site)
    run = site.ansible(
        "python", "-m", "bench.rolling.run", *(f"{name}={value}" for name, value in VARIABLES.items()), timeout=900
    )
    assert run.code == 0 and ", 0 failed" in run.output, run.output
    for host in site.hosts:
        assert ".wal" in site.on(host, f"ls {OWN_LOG}")
        assert "none" in site.on(host, f"ls -d {DATA_LOG} {DATA_LOG}.moved 2>/dev/null || echo none")
        # The process writes there.
        assert OWN_LOG in site.on(host, "ls -l /proc/$(systemctl show -P MainPID etcd)/fd")
    assert all(before[host] != now for host, now in start_times(site).items())


def test_a_second_run_changes_nothing_and_reports_live_figures_and_those_of_fio(site):
    run = site.play(**VARIABLES)
    assert run.code == 0 and set(run.changed.values()) == {0}, run.output
    assert re.search(
        r"etcd-1 +data +/var/lib/etcd +\S+ \(xfs\) +[\d.]+ ms \([<>] 10\) +(\d+ samples|[\d.]+ ms)", run.output
    )
    assert "I/O scheduler none, unchanged" in run.output, run.output


def test_leftovers_of_moves_and_restores_are_removed_although_nothing_else_changes(site):
    before = start_times(site)
    # The restore of this drop-in was abandoned.
    guard = "/etc/systemd/system/etcd.service.d/headroom-restore.conf"
    site.on("etcd-1", f"mkdir -p {guard.rsplit('/', 1)[0]} && echo '[Unit]' > {guard} && systemctl daemon-reload")
    site.on("etcd-2", f"mkdir {DATA_LOG}.moved && touch {DATA_LOG}.moved/0.wal && ln -s {OWN_LOG} {DATA_LOG}")
    # On another host a move was abandoned while it copied.
    site.on(
        "etcd-3", f"mkdir {OWN_LOG}.moving && touch {OWN_LOG}.moving/0.wal && ln -s {OWN_LOG}.moving {DATA_LOG}.moving"
    )
    run = site.play(**VARIABLES)
    changed = {**dict.fromkeys(site.hosts, 1), "localhost": 0}
    assert run.code == 0 and run.changed == changed, run.output
    assert site.on("etcd-1", f"ls -d {guard} 2>/dev/null || systemctl show -P DropInPaths etcd") == ""
    for host in ("etcd-2", "etcd-3"):
        left = f"{DATA_LOG} {DATA_LOG}.moved {DATA_LOG}.moving {OWN_LOG}.moving"
        assert site.on(host, f"for path in {left}; do ls -d $path 2>/dev/null; done; echo none") == "none"
    assert start_times(site) == before


def test_an_outdated_log_is_not_installed_on_a_blank_disk(site):
    """The disk of the log is replaced before the log that was moved is removed."""
    lost = "/var/lib/etcd-wal/lost"
    site.on(
        "etcd-3",
        f"systemctl stop etcd && mkdir {DATA_LOG}.moved && cp {OWN_LOG}/*.wal {DATA_LOG}.moved "
        f"&& ln -s {OWN_LOG} {DATA_LOG} && mv {OWN_LOG} {lost}",
    )
    run = site.play(**VARIABLES)
    text = " ".join(run.output.split())
    assert run.code != 0 and set(run.changed.values()) <= {0}, run.output
    assert f"no write-ahead log in {OWN_LOG}" in text and f"{DATA_LOG}.moved is older" in text, run.output
    assert "none" in site.on("etcd-3", f"ls -d {OWN_LOG} 2>/dev/null || echo none")
    site.on("etcd-3", f"mv {lost} {OWN_LOG}")
    run = site.play(**VARIABLES)
    assert run.code == 0 and "active" in site.on("etcd-3", "systemctl is-active etcd"), run.output
    assert "none" in site.on("etcd-3", f"ls -d {DATA_LOG} {DATA_LOG}.moved 2>/dev/null || echo none")


def test_a_filesystem_grows_with_its_device_while_the_member_runs(site):
    """The WAL volume grows: with a larger data volume the plan could choose a larger quota, which restarts members."""
    file, device = volume("etcd-2", "wal")
    before, size = start_times(site), int(site.on("etcd-2", "df --output=size -B1M /var/lib/etcd-wal | tail -n 1"))
    with file.open("r+b") as stream:
        stream.truncate(file.stat().st_size + (1 << 30))
    outside("losetup", "--set-capacity", device)
    run = site.play(**VARIABLES)
    assert run.code == 0 and run.changed == {**dict.fromkeys(site.hosts, 0), "etcd-2": 1, "localhost": 0}, run.output
    assert int(site.on("etcd-2", "df --output=size -B1M /var/lib/etcd-wal | tail -n 1")) > size + 900
    assert start_times(site) == before


def test_etcd_does_not_start_without_its_volume_and_writes_nothing_below_the_mount_point(site):
    site.on(
        "etcd-1",
        "systemctl stop etcd; umount /var/lib/etcd-wal; sed -i '\\#/var/lib/etcd-wal #d' /etc/fstab; systemctl daemon-reload",
    )
    assert "refused" in site.on("etcd-1", "systemctl start etcd || echo refused")
    assert site.on("etcd-1", "ls -A /var/lib/etcd-wal").strip() == ""
    run = site.play(**VARIABLES)
    assert run.code == 0 and "active" in site.on("etcd-1", "systemctl is-active etcd"), run.output
    assert ".wal" in site.on("etcd-1", f"ls {OWN_LOG}")


def test_no_member_starts_as_new_if_its_volumes_were_not_mounted(site):
    """As after a boot without the disks: no host shows data, so the cluster looks new until its volumes are mounted."""
    written = keys(site, "etcd-1")
    for host in site.hosts:
        site.on(host, "systemctl stop etcd; umount /var/lib/etcd-wal /var/lib/etcd")
    run = site.play(**VARIABLES)
    assert run.code != 0 and "hold the data of a member" in " ".join(run.output.split()), run.output
    for host in site.hosts:
        assert site.on(host, "systemctl is-active etcd || true").strip() != "active"
    run = site.play(**VARIABLES)
    assert run.code == 0 and keys(site, "etcd-3") == written, run.output


def test_a_full_disk_stops_a_member_and_the_play_names_the_fix(site):
    """The other two members keep serving, no acknowledged write is lost, and the member catches up."""
    fill = (
        "n=0; for size in 1G 256M 64M 16M 4M 1M 64K 4K; do "
        "while fallocate -l $size /var/lib/etcd/ballast.$n 2> /dev/null; do n=$((n + 1)); done; done"
    )
    site.on("etcd-3", fill)
    put = (
        "n=0; for i in $(seq 60); do "
        f"! head -c 500000 /dev/urandom | base64 -w 0 | {ETCDCTL} put /load/$i > /dev/null 2>&1 || n=$((n + 1)); "
        "done; echo $n acknowledged"
    )
    # Writes may fail, unacknowledged, if the stopped member was the leader.
    acknowledged = int(re.search(r"(\d+) acknowledged", site.on("etcd-1", put))[1])
    assert acknowledged > 50
    down = "for i in $(seq 60); do systemctl is-active --quiet etcd || break; sleep 1; done; journalctl -u etcd -o cat -n 200"
    assert "no space left on device" in site.on("etcd-3", down)
    written = keys(site, "etcd-1")
    assert written >= acknowledged
    run = site.play(**VARIABLES)
    assert run.code != 0 and set(run.changed.values()) <= {0}, run.output
    text = " ".join(run.output.split())
    assert "etcd-3: /var/lib/etcd is full" in text and "du -xsh /var/lib/etcd/*" in text, run.output
    site.on("etcd-3", "rm /var/lib/etcd/ballast.*")
    run = site.play(**VARIABLES)
    assert run.code == 0, run.output
    assert keys(site, "etcd-3") == written


def limit_writes(limits, device, writes):
    """Limit the writes per second to a device (0: no limit), and return the limit that the kernel has."""
    outside("sh", "-c", f"echo '{limits.line(device, writes)}' > {limits.file}")
    return writes_of(outside("cat", str(limits.file)), device)


def test_a_slow_disk_fails_the_check_with_its_figures(site):
    """The kernel throttles the SSH server's processes, and so all modules, to 20 writes a second."""
    device = volume("etcd-1", "spare")[1]
    number = outside("lsblk", "--noheadings", "--output=MAJ:MIN", "--nodeps", device).strip()
    session = write_limits.of_process(site.on("etcd-1", "cat /proc/self/cgroup"))
    limits = write_limits.of_process(outside("cat", f"/proc/{process('etcd-1')}/cgroup")).narrowed(session.group)
    site.on("etcd-1", f"set -e; mkfs.ext4 -q -F {device}; mkdir -p /mnt/slow; mount {device} /mnt/slow")
    try:
        assert limit_writes(limits, number, 20) == 20
        run = site.ansible(
            *("ansible", "etcd-1", "-b", "-m", "etcdops.headroom.etcd_disk_check"),
            *("-a", json.dumps({"path": "/mnt/slow", "timeout": 10, "fsync_p99_max_ms": 10})),
        )
        assert run.code != 0, run.output
        text = " ".join(run.output.split())
        assert re.search(
            r"99 % of \d+ fdatasync calls on /dev/loop\d+ .* took at most [\d.]+ ms.*the limit is 10 ms", text
        ), text
    finally:
        left = limit_writes(limits, number, 0)
        site.on("etcd-1", f"umount /mnt/slow && rmdir /mnt/slow && wipefs -qa {device}")
    assert left == 0


def test_the_io_scheduler_is_set_by_a_udev_rule_and_at_once(site):
    device = volume("etcd-1", "data")[1]
    look = f"cat /sys/block/{os.path.basename(device)}/queue/scheduler /etc/udev/rules.d/61-headroom-etcd.rules 2>&1"
    run = site.play(**VARIABLES, etcd_storage_scheduler="bfq")
    assert run.code == 0 and min(run.changed[host] for host in site.hosts) > 0, run.output
    assert "I/O scheduler bfq, set by etcd_storage_scheduler" in run.output
    found = site.on("etcd-1", look)
    assert "[bfq]" in found and 'SYMLINK=="disk/by-id/virtio-etcd-data", ATTR{queue/scheduler}="bfq"' in found
    run = site.play(**VARIABLES)
    assert run.code == 0 and "No such file" in site.on("etcd-1", f"{look} || true"), run.output
    # Loop devices keep their scheduler for the next lab.
    for host in site.hosts:
        for name in ("data", "wal"):
            device = os.path.basename(volume(host, name)[1])
            outside("sh", "-c", f"echo none > /sys/block/{device}/queue/scheduler")
