# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Playbook audit with access to the hosts: settings, limits, disks and certificates of real processes are judged."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
import yaml

from bench.common.audit import audit, rules
from bench.common.member import Member, binary, releases, running
from bench.plan.cgroup import Group, NoMemoryCgroup, find, prepare
from tests.integration.client import etcdctl

NEW = releases()[-1]
PORT = 25860
LIMIT = 256 << 20


@pytest.fixture(name="inventory")
def inventory_of_this_machine(tmp_path: Path) -> Path:
    """Return an inventory of another role's group, whose only host is this machine, and of a host that cannot be reached."""
    path = tmp_path / "hosts.ini"
    path.write_text(
        f"[kube_control_plane]\nmaster ansible_connection=local ansible_python_interpreter={sys.executable}\n"
        "gone ansible_host=127.0.0.1 ansible_port=1\n"
    )
    return path


@contextlib.contextmanager
def limited() -> Iterator[list[str]]:
    """Yield the words that start a process below a memory limit; none where this machine has no memory controller."""
    try:
        hierarchy = find(Path("/proc/self/mountinfo").read_text())
        prepare(hierarchy)
    except NoMemoryCgroup:
        yield []
        return
    group = Group.make(hierarchy, "audit", LIMIT)
    try:
        yield list(group.prefix())
    finally:
        group.remove()


def inspect(
    member: Member, inventory: Path, options: Sequence[str] = (), **variables: object
) -> subprocess.CompletedProcess[str]:
    given = {"inspect": "kube_control_plane", "ansible_become": False, **variables}
    return audit(member.endpoint, member.version, inventory, options=options, **given)


def test_flags_and_variables_of_a_process_are_judged(tmp_path: Path, inventory: Path) -> None:
    flags = ["--unsafe-no-fsync", "--quota-backend-bytes", str(16 << 30)]
    environment = {"ETCD_AUTO_COMPACTION_RETENTION": "0", "ETCD_ELECTION_TIMEOUT": "600"}
    folder = tmp_path / "backups"
    folder.mkdir()
    (folder / "snapshot.db").write_bytes(b"of the day before yesterday")
    os.utime(folder / "snapshot.db", (time.time() - 30 * 3600,) * 2)
    with limited() as prefix:
        member = Member(NEW, tmp_path, PORT, flags, environment, prefix, name="m0")
        with running([member]):
            blind = audit(member.endpoint, NEW)
            done = inspect(member, inventory, output=str(tmp_path / "audit.json"), backups=str(folder))
    found = rules(done)
    assert {"durability/unsafe_no_fsync", "memory/quota_over_8_gib", "topology/election_ratio"} <= found, done.stdout
    assert "durability/unsafe_no_fsync" not in rules(blind)
    assert "live/backup_age" in found and f"newest backup: {folder}/snapshot.db on " in done.stdout, done.stdout
    assert not prefix or "memory/quota_over_memory" in found or "memory/limit_below_estimate" in found, done.stdout
    assert done.returncode == 2 and "Traceback" not in done.stdout + done.stderr
    assert "planned settings for m0" in done.stdout and "etcd's command line in" in done.stdout, done.stdout
    written = json.loads((tmp_path / "audit.json").read_text())
    assert "durability/unsafe_no_fsync" in {finding["rule"] for finding in written["findings"]}
    assert written["plans"][0]["settings"]["snapshot_count"] > 0
    assert any(line.startswith("gone: ") for line in written["unchecked"]) and "  not checked: gone: " in done.stdout


def test_etcd_starts_with_the_planned_settings(tmp_path: Path, inventory: Path) -> None:
    variables = {"ETCD_SNAPSHOT_COUNT": "50000", "ETCD_AUTO_COMPACTION_RETENTION": "1h"}
    member = Member(NEW, tmp_path, PORT, ["--quota-backend-bytes=3000000000"], variables, name="m0")
    with running([member]):
        done = inspect(member, inventory)
    planned = done.stdout.partition("planned settings for m0")[2]
    flags = re.findall(r"^ *(--[a-z-]+=\S+)$", planned, re.M)
    environment = dict(re.findall(r"^ *(ETCD_[A-Z_]+)=(\S+)$", planned, re.M))
    assert {flag.partition("=")[0] for flag in flags} >= {
        "--quota-backend-bytes"
    } and environment.keys() >= variables.keys(), planned
    changed = Member(NEW, tmp_path, PORT, flags, {**variables, **environment}, name="m0")
    with running([changed]):
        assert changed.process and changed.process.poll() is None


def test_a_config_file_is_judged_and_its_password_is_not_printed(tmp_path: Path, inventory: Path) -> None:
    config = {
        "name": "m0",
        "data-dir": str(tmp_path / "data"),
        "listen-client-urls": f"http://127.0.0.1:{PORT}",
        "advertise-client-urls": f"http://127.0.0.1:{PORT}",
        "listen-peer-urls": f"http://127.0.0.1:{PORT + 1}",
        "initial-advertise-peer-urls": f"http://127.0.0.1:{PORT + 1}",
        "initial-cluster": f"m0=http://127.0.0.1:{PORT + 1}",
        "unsafe-no-fsync": True,
        "listen-metrics-urls": f"http://127.0.0.1:{PORT + 2}",
        "some-password": "hunter2",
    }
    path = tmp_path / "etcd.yml"
    path.write_text(yaml.safe_dump(config))

    class FromFile(Member):
        def command(self) -> list[str]:
            return [str(binary(self.version)), f"--config-file={path}"]

    member = FromFile(NEW, tmp_path, PORT, name="m0")
    with running([member]):
        done = inspect(member, inventory, output=str(tmp_path / "audit.html"))
        checked = inspect(member, inventory, ["--check"], output=str(tmp_path / "audit.json"))
        refused = inspect(member, inventory, output=str(tmp_path / "audit.pdf"))
    assert "durability/unsafe_no_fsync" in rules(done), done.stdout
    assert "hunter2" not in done.stdout + done.stderr
    assert f"{path}:" in done.stdout and "snapshot-catchup-entries: " in done.stdout
    page = (tmp_path / "audit.html").read_text()
    assert "DENY durability/unsafe_no_fsync" in page and "<svg" in page
    assert f"output: {tmp_path}/audit.html, written\n" in done.stdout
    assert rules(checked) == rules(done)
    assert f"output: {tmp_path}/audit.json, not written, because of --check\n" in checked.stdout
    assert not (tmp_path / "audit.json").exists()
    assert "name a file like audit.json, audit.sarif or audit.html" in " ".join(refused.stdout.split())


def clusters(folder: Path) -> tuple[list[Member], list[Member]]:
    """Return two clusters with the same member names, as those of kops."""
    found = []
    for number in range(2):
        (folder / str(number)).mkdir()
        peers = {"m0": PORT + 40 * number, "m1": PORT + 40 * number + 10}
        found.append([Member(NEW, folder / str(number), port, name=name, peers=peers) for name, port in peers.items()])
    return found[0], found[1]


def processes_of(*members: Member) -> list[dict[str, object]]:
    """Return what etcd_process_info returns; given as variables, because another etcd may run on this machine."""
    sizes = dict.fromkeys(("rss_anon", "rss_peak", "memory_limit", "oom_kills"))
    return [
        {
            "pid": number, "hostname": "a", "name": member.name, "client_urls": [member.endpoint], "command": ["etcd"], "environment": {},
            "config_file": "", "config": "", "problem": "its environment was not read", "supervisor": {"kind": "process", "unit": ""}, "memory": sizes,
            "disks": {}, "certificates": [],
        }
        for number, member in enumerate(members)
    ]  # fmt: skip


def test_hosts_with_members_of_two_clusters(tmp_path: Path, inventory: Path) -> None:
    """etcdctl picks one of the endpoints: the other cluster would not be audited, and its hashes might be compared."""
    first, second = clusters(tmp_path)
    log = tmp_path / "calls"
    etcdctl_path = tmp_path / "etcdctl"
    etcdctl_path.write_text(f'#!/bin/sh\necho "$@" >> {log}\nexec {binary(NEW, "etcdctl")} "$@"\n')
    etcdctl_path.chmod(0o755)
    given = {"inspect": "kube_control_plane", "ansible_become": False, "etcdctl_path": str(etcdctl_path)}
    both, one = ({**given, "etcd_audit_processes": processes_of(*members)} for members in (first + second, first))
    ends = [{member.endpoint for member in cluster} for cluster in (first, second)]
    with running([*first, *second]):
        refused = audit(None, NEW, inventory, **both)
        log.unlink()
        named = audit(f"{first[0].endpoint},{second[0].endpoint}", NEW, inventory, **both)
        asked = [
            set(re.findall(r"http://[0-9.:]+", call)) for call in log.read_text().splitlines() if "member list" in call
        ]
        alone = audit(None, NEW, inventory, **one)
    text = " ".join(refused.stdout.split())
    assert refused.returncode != 0 and "lint: " not in refused.stdout, refused.stdout
    problem, _separator, others = text.partition(". If the others")[0].partition("; others: ")
    assert "inspect found processes of more than one cluster" in problem, text
    assert set(re.findall(r"http://[0-9.:]+", others)) in ends, text
    assert "m0 on a (http://" in others and "m1 on a (http://" in others
    # The first call measures, and all others compare the hashes.
    assert len(asked) > 2 and len(asked[0]) == 2 and asked[1] in ends and len({*map(frozenset, asked[1:])}) == 1, asked
    for done in (named, alone):
        assert "2 of 2 members healthy" in done.stdout and "more than one cluster" not in done.stdout, done.stdout


def compaction_findings(done: subprocess.CompletedProcess[str]) -> list[str]:
    return re.findall(r"^(?:WARN|DENY) compaction/off", done.stdout, re.M)


def test_keys_of_an_api_server_show_that_it_compacts(tmp_path: Path, inventory: Path) -> None:
    member = Member(NEW, tmp_path, PORT, name="m0")
    with running([member]):
        assert compaction_findings(inspect(member, inventory)) == ["DENY compaction/off"]
        etcdctl(member, "put", "other", "1")
        etcdctl(member, "compact", "2")
        assert compaction_findings(inspect(member, inventory)) == ["WARN compaction/off"]
        etcdctl(member, "put", "/registry/pods/default/a", "1")
        assert compaction_findings(inspect(member, inventory)) == []


def test_without_endpoints_and_processes_there_is_one_clear_error(tmp_path: Path) -> None:
    inventory = tmp_path / "hosts.ini"
    inventory.write_text("gone ansible_host=127.0.0.1 ansible_port=1\n")
    done = audit("", NEW, inventory, inspect="gone")
    assert done.returncode != 0 and "no etcd process was found on the hosts of inspect" in " ".join(done.stdout.split())
    assert "Traceback" not in done.stdout + done.stderr


def test_processes_without_client_urls_are_named(inventory: Path) -> None:
    # As variables, because another etcd may run on this machine.
    found = [
        {"name": "m0", "hostname": "a", "client_urls": [], "problem": ""},
        {"name": "m1", "hostname": "b", "client_urls": [], "problem": "run as root"},
    ]
    done = audit("", NEW, inventory, inspect="kube_control_plane", ansible_become=False, etcd_audit_processes=found)
    text = " ".join(done.stdout.split())
    assert done.returncode != 0 and "have no advertise-client-urls: m0 on a, m1 on b (run as root)." in text, (
        done.stdout
    )
    assert "no etcd process was found" not in text


@pytest.mark.parametrize("pattern", ["etdc", "empty", "kube_control_plane:!kube_control_plane"])
def test_a_pattern_that_matches_no_host_is_one_clear_error(pattern: str, inventory: Path) -> None:
    inventory.write_text(inventory.read_text() + "[empty]\n")
    done = audit("http://127.0.0.1:1", NEW, inventory, inspect=pattern, backups="/b")
    assert done.returncode != 0 and done.stdout.count("fatal: [") == 1, done.stdout
    assert f"inspect is {pattern}, which matches no host of this run" in " ".join(done.stdout.split()), done.stdout


def test_backups_without_hosts_to_look_on_are_refused() -> None:
    done = audit("http://127.0.0.1:1", NEW, backups="/var/backups/etcd")
    assert done.returncode != 0 and "but inspect is not set" in " ".join(done.stdout.split())
