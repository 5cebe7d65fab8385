# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""site.yml on bare hosts: check mode shows every change, and bad input stops the play with one message before any change."""

from __future__ import annotations

import functools
import hashlib
import http.server
import json
import os
import re
import shutil
import subprocess
import threading

import pytest
from cluster import ETCDCTL
from conftest import PROJECT

from bench.common.processes import kill_with_descendants
from tests.campaign import in_campaign


@pytest.fixture(scope="module")
def bad_archive(tmp_path_factory):
    folder = tmp_path_factory.mktemp("archive")
    archive = folder / "etcd-v3.7.3-linux-amd64.tar.gz"
    archive.write_bytes(b"not what was published")
    wanted = hashlib.sha256(b"what was published").hexdigest()
    (folder / "SHA256SUMS").write_text(f"{wanted}  {archive.name}\n")
    return str(archive)


# Bad input for one host, which all hosts would find in the same way.
BAD = {
    "unknown version": ({"etcd_version": "3.9.1"}, r"3\.9\.1.*3\.7"),
    "no size": ({"etcd_workload": {"value_size": "huge"}}, r"value_size.*huge.*100KB"),
    "unknown key of the workload": ({"etcd_workload": {"value_sise": "1KB"}}, r"value_sise.*value_size"),
    "does not fit the budget": (
        {"etcd_memory_budget": "150MB", "etcd_workload": {"value_size": "1MB", "keys": 1000, "puts_per_second": 100}},
        r"(MiB|GiB).*(more|too|over|above|short)",
    ),
    "setting of another version": (
        {"etcd_extra_config": {"experimental-initial-corrupt-check": True}},
        r"experimental-initial-corrupt-check.*3\.7",
    ),
    "no such device": (
        {"etcd_storage_data_device": "/dev/disk/by-id/gone"},
        r"/dev/disk/by-id/gone.*(does not exist|not exist)",
    ),
    "data and WAL on one device": (
        {"etcd_storage_wal_device": "/dev/disk/by-id/virtio-etcd-data"},
        r"virtio-etcd-data",
    ),
}


# Bad input that only several hosts show.
BAD_TOGETHER = {
    "two members with one name": ({"etcd_name": "same"}, r"etcd-1 and etcd-2 and etcd-3 have the same name same"),
    "two members with one address": (
        {"etcd_address": "10.1.2.3"},
        r"etcd-1 and etcd-2 and etcd-3 have the same address 10\.1\.2\.3",
    ),
}


def bare(site):
    """List what site.yml would have created."""
    return site.on(
        "etcd-1",
        "ls -d /etc/etcd /opt/etcd /var/lib/etcd /etc/systemd/system/etcd.service 2>/dev/null; getent passwd etcd; grep etcd /etc/fstab; true",
    )


@pytest.fixture(scope="module")
def one_host(tmp_path_factory):
    """The example inventory with one host only: a play over it takes a third of the work."""
    folder = tmp_path_factory.mktemp("inventory")
    (folder / "hosts.yml").write_text("etcd: {hosts: {etcd-1: }}\n")
    (folder / "group_vars").symlink_to(PROJECT / "inventory" / "group_vars")
    return f"{folder / 'hosts.yml'},{PROJECT / 'lab' / 'inventory.py'}"


# One case for each check of the roles: units test the others.
SAMPLE = (
    "does not fit the budget",
    "setting of another version",
    "no such device",
    "two members with one address",
)


@pytest.mark.parametrize(
    "case",
    [case if case in SAMPLE else in_campaign(case) for case in [*BAD, *BAD_TOGETHER]],
)
def test_bad_input_stops_the_play_before_any_change(site, one_host, case):
    """The roles refuse bad input too, because not every controller has conftest."""
    variables, text = {**BAD, **BAD_TOGETHER}[case]
    run = site.play(inventory=one_host if case in BAD else None, **variables)
    assert run.code != 0
    assert re.search(text, run.output, re.S), run.output
    assert set(run.changed.values()) <= {0}, run.output


def test_the_linter_stops_the_play_first(site):
    run = site.play(
        lint=True,
        etcd_version="3.5.35",
        etcd_workload={"value_size": "1MB", "puts_per_second": 50},
        etcd_snapshot_count=100000,
    )
    assert run.code != 0 and run.changed == {"localhost": 0}, run.output
    assert "DENY memory/" in run.output


def test_an_archive_with_a_wrong_checksum_is_refused(site, bad_archive):
    run = site.play(etcd_archive=bad_archive)
    assert run.code != 0
    assert " instead of " in run.output and "Nothing was changed" in run.output, run.output
    assert set(run.changed.values()) <= {0}


def test_an_inventory_without_members_is_refused(site, tmp_path):
    inventory = tmp_path / "hosts.yml"
    inventory.write_text("all: {hosts: {n1: {ansible_connection: local}}}\n")
    run = site.play(inventory=str(inventory))
    assert run.code != 0
    assert re.search(r"no.*etcd.*(host|member)|etcd.*group", run.output, re.I), run.output


def test_a_run_on_part_of_a_cluster_is_refused(site):
    run = site.play("--limit", "etcd-1")
    assert run.code != 0
    assert "this run leaves out etcd-2, etcd-3" in " ".join(run.output.split()), run.output


@pytest.mark.campaign
def test_a_device_with_content_is_refused(site):
    site.on("etcd-1", "mkfs.ext4 -q -L precious /dev/disk/by-id/virtio-etcd-data")
    try:
        run = site.play()
        assert run.code != 0
        assert re.search(r"etcd-1.*virtio-etcd-data.*ext4", run.output, re.S), run.output
        assert set(run.changed.values()) <= {0}
        assert "precious" in site.on("etcd-1", "blkid -p /dev/disk/by-id/virtio-etcd-data")
    finally:
        site.on("etcd-1", "cd /dev/disk/by-id && wipefs -qa virtio-etcd-data && blkdiscard virtio-etcd-data")


@pytest.mark.campaign
def test_a_host_without_systemd_is_refused(site, tmp_path):
    podman = PROJECT / "lab" / "podman"
    image = subprocess.run(
        [PROJECT / "lab" / "image", "bookworm"], capture_output=True, text=True, check=True
    ).stdout.split()[-1]
    container = subprocess.run(
        [podman, "run", "-d", "--rm", image, "sleep", "300"], capture_output=True, text=True, check=True
    ).stdout.strip()
    try:
        inventory = tmp_path / "hosts.yml"
        inventory.write_text(
            "etcd:\n  hosts:\n    plain:\n      ansible_connection: containers.podman.podman\n"
            f"      ansible_host: {container}\n      ansible_podman_executable: {podman}\n"
        )
        run = site.play(inventory=str(inventory))
        assert run.code != 0
        assert "plain: systemd is not its init" in run.output, run.output
    finally:
        subprocess.run([podman, "kill", container], capture_output=True, check=True)


def test_check_mode_shows_every_change_and_makes_none(site):
    """Also where the hosts download the archive, whose directory is not there yet."""
    before = bare(site)
    run = site.play("--check", "--diff", lint=True, etcd_archive="")
    assert run.code == 0, run.output
    assert min(run.changed[host] for host in site.hosts) > 0
    assert "+snapshot-catchup-entries:" in run.output and "+MemoryMax=" in run.output
    assert bare(site) == before


@pytest.fixture
def mirror(site, tmp_path):
    """Serve a release mirror with upstream's layout on the lab's network; yield its URL and its folder."""
    addresses = json.loads((PROJECT / ".headroom/labs" / os.environ["LAB_NAME"] / "hosts.json").read_text())
    gateway = site.on("etcd-1", "ip -4 route show default | cut -d ' ' -f 3").strip()
    assert gateway.rsplit(".", 1)[0] == addresses["etcd-1"].rsplit(".", 1)[0]
    shutil.copytree(PROJECT / ".headroom/archives/v3.6.16", tmp_path / "v3.6.16", ignore=shutil.ignore_patterns("bin"))
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(tmp_path))
    with http.server.ThreadingHTTPServer((gateway, 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://{gateway}:{server.server_port}", tmp_path
        server.shutdown()


@pytest.mark.campaign
def test_install_from_a_mirror_checks_the_checksum(site, mirror):
    """A wrong checksum installs nothing, the right one the requested version."""
    url, folder = mirror
    sums = folder / "v3.6.16" / "SHA256SUMS"
    right = sums.read_text()
    install = ["ansible-playbook", "tests/hosts/mirror.yml", "-e", "etcd_version=3.6.16", "-e", "etcd_archive=''"]
    sums.write_text("0" * 64 + right[64:])
    run = site.ansible(*install, "-e", f"etcd_release_url={url}")
    assert run.code != 0 and "checksum" in run.output, run.output
    assert "none" in site.on("etcd-1", "ls -d /opt/etcd/3.6.16 /usr/local/bin/etcdctl 2>/dev/null || echo none")
    sums.write_text(right)
    run = site.ansible(*install, "-e", f"etcd_release_url={url}")
    assert run.code == 0, run.output
    assert "etcdctl version: 3.6.16" in site.on("etcd-1", "/usr/local/bin/etcdctl version")
    assert "none" in site.on("etcd-1", "ls -A /opt/etcd | grep -v '^3.6.16$' || echo none")


@pytest.mark.campaign
def test_a_disk_above_the_latency_limit_stops_the_play(site):
    """Runs late, since fio needs the filesystems. The disk and the measurement are real, and no disk meets the limit."""
    run = site.play(etcd_storage_accept_slow_disk=False, etcd_storage_fsync_p99_max_ms=0.001)
    assert run.code != 0
    assert re.search(r"p99|99th percentile", run.output) and "etcd_storage_accept_slow_disk" in run.output, run.output
    assert "no such unit" in site.on("etcd-1", "systemctl cat etcd >/dev/null 2>&1 || echo no such unit")


def kill_site_at(task):
    """Run site.yml, and kill it with all its processes on the controller when it begins a task."""
    # Ansible prints a task's name when it begins only if it shows skipped tasks.
    shown = {
        "ANSIBLE_CONFIG": str(PROJECT / "ansible.cfg"),
        "ANSIBLE_NOCOLOR": "1",
        "ANSIBLE_DISPLAY_SKIPPED_HOSTS": "1",
    }
    play = subprocess.Popen(
        ["ansible-playbook", "site.yml"],
        cwd=PROJECT,
        env={**os.environ, **shown},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    with play:
        reached = any(task in line for line in play.stdout)
        kill_with_descendants(play.pid)
    assert reached, f"no task {task}"


def test_a_first_deployment_that_is_killed_is_completed(site):
    """Runs last: it deploys. The cluster has formed, so the next run treats it as an existing one."""
    kill_site_at("Wait until the member serves with its settings")
    for host in site.hosts:
        site.on(host, f"timeout 60 sh -c 'until {ETCDCTL} endpoint health 2>/dev/null; do sleep 0.2; done'")
        site.on(host, "test -e /etc/etcd/forming")
    started = {host: site.on(host, "systemctl show -P MainPID etcd") for host in site.hosts}
    run = site.play("--tags", "members,report")
    assert run.code == 0 and "3 of 3 members healthy" in run.output, run.output
    assert [run.changed[host] for host in site.hosts] == [1, 1, 1] and "Remove the mark" in run.output, run.output
    for host in site.hosts:
        site.on(host, "test ! -e /etc/etcd/forming")
    assert {host: site.on(host, "systemctl show -P MainPID etcd") for host in site.hosts} == started
