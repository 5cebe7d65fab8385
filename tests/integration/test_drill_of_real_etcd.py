# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Restore drills of real etcd of each series: what they compare, which differences they find, and that they clean up."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import drill, key_sizes, snapshot, store
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import scratch_member as scratch
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import run_etcdctl

from bench.common.member import Member, binary, releases, running
from bench.memory import load
from tests.integration.client import EVENT_SECONDS, command_line, connection, etcdctl, tls_connection, wait_until

PORT = 24950
KEYS = 150

HELD = """
import json, sys
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import drill
from tests.integration.client import connection
asked = json.loads(sys.argv[1])
tools = drill.Tools(connection(asked["version"]), asked["etcd"], asked["etcdutl"])
drill.run_drill(drill.Request(**asked["request"]), tools, asked["endpoints"])
"""


# An etcdctl that records its requests, each with its standard input.
RECORDING = """#!{python}
import json, subprocess, sys
text = sys.stdin.read()
with open({log!r}, "a") as log:
    print(json.dumps([sys.argv[1:], text]), file=log)
sys.exit(subprocess.run([{etcdctl!r}, *sys.argv[1:]], input=text, text=True).returncode)
"""


@pytest.fixture(scope="module", params=releases())
def live(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Member]:
    """One member of a release, with keys of all kinds: changed, deleted, with a lease, binary."""
    version: str = request.param
    member = Member(version, tmp_path_factory.mktemp(f"etcd-{version}"), PORT)
    with running([member]):
        for number in range(KEYS):
            etcdctl(member, "put", f"/key/{number:03}", "v" * 5_000)
        etcdctl(member, "put", "/key/007", "changed")
        etcdctl(member, "del", "/key/008")
        etcdctl(member, "put", "--", "--option", "x")
        subprocess.run(
            [*command_line(member), "put", b"\xff\xfe"], input=b"binary", check=True, stdout=subprocess.DEVNULL
        )
        yield member


@pytest.fixture
def scratch_dir() -> Iterator[Path]:
    """A short path, for the sockets in it. The folder must be empty after each test."""
    with tempfile.TemporaryDirectory(prefix="drill", dir="/var/tmp") as folder:
        yield Path(folder)
        assert list(Path(folder).iterdir()) == []


def tools(version: str) -> drill.Tools:
    return drill.Tools(connection(version), str(binary(version)), str(binary(version, "etcdutl")))


def backup(member: Member, folder: Path) -> store.Metadata:
    folder.mkdir(exist_ok=True)
    request = snapshot.Request(str(folder), "etcd", "", keep=9, keep_days=None, reserve=0, timeout=60)
    saved = snapshot.take_snapshot(
        request, snapshot.Tools(connection(member.version), tools(member.version).etcdutl_path), [member.endpoint]
    )
    return saved.metadata


def asked(folder: Path, scratch_dir: Path, **more: Any) -> drill.Request:
    request = drill.Request(str(folder), "etcd", "", str(scratch_dir), 512 << 20, 0, 60, live=True)
    return replace(request, **more)


def hold(member: Member, folder: Path, scratch_dir: Path, **more: Any) -> drill.Report:
    return drill.run_drill(asked(folder, scratch_dir, **more), tools(member.version), [member.endpoint])


def test_a_drill_compares_hash_and_keys(live: Member, tmp_path: Path, scratch_dir: Path) -> None:
    metadata = backup(live, tmp_path)
    etcdctl(live, "put", "/later", "x")
    report = hold(live, tmp_path, scratch_dir)
    finding = report.finding
    assert (finding.compared, finding.revision, finding.keys) == ("hash", metadata.revision, KEYS + 1)
    (said,) = json.loads(etcdctl(live, "endpoint", "hashkv", f"--rev={metadata.revision}", "-w", "json"))
    assert int(finding.hash, 16) == said["HashKV"]["hash"]
    (stored,) = store.scan_directory(str(tmp_path), "etcd")
    assert stored.drilled
    assert json.loads(Path(stored.path + store.DRILL).read_text())["keys"] == KEYS + 1
    etcdctl(live, "del", "/later")


def test_the_cluster_was_compacted_since(live: Member, tmp_path: Path, scratch_dir: Path) -> None:
    """The cluster is compacted up to the backup's revision: the hash still covers everything once the copy is compacted too."""
    backup(live, tmp_path)
    revision = json.loads(etcdctl(live, "endpoint", "status", "-w", "json"))[0]["Status"]["header"]["revision"]
    etcdctl(live, "compaction", str(revision - 3))
    finding = hold(live, tmp_path, scratch_dir).finding
    assert (finding.compared, finding.compact_revision, finding.keys) == ("hash", revision - 3, KEYS + 1)


def test_the_revision_is_compacted(live: Member, tmp_path: Path, scratch_dir: Path) -> None:
    """The cluster has compacted that revision: the drill compares every key of that age, in several pages."""
    metadata = backup(live, tmp_path)
    etcdctl(live, "put", "/key/011", "changed since")
    etcdctl(live, "put", "/new", "x")
    status = json.loads(etcdctl(live, "endpoint", "status", "-w", "json"))[0]["Status"]
    etcdctl(live, "compaction", str(status["header"]["revision"]))
    report = hold(live, tmp_path, scratch_dir)
    assert (report.finding.compared, report.finding.keys_compared) == ("keys", KEYS + 1)
    assert f"compacted past revision {metadata.revision}, so that not all" in report.reason
    etcdctl(live, "del", "/new")


def read_bytes(member: Member, log: Path) -> list[int]:
    """Return the bytes that each recorded request for keys only made the member read: what it returns with values."""
    found = []
    for words, text in map(json.loads, log.read_text().splitlines()):
        if "--keys-only" not in " ".join([*words, text]) or f"--endpoints={member.endpoint}" not in words:
            continue
        words = ["protobuf" if word == "json" else word for word in words[1:] if word != "--keys-only"]
        done = subprocess.run(
            command_line(member, *words),
            input=text.replace(" --keys-only", "").encode(),
            capture_output=True,
            check=True,
        )
        found.append(len(done.stdout))
    return found


def test_listing_keys_reads_few_values_at_once(tmp_path: Path, scratch_dir: Path) -> None:
    """Before 3.7 a member reads the values, also for keys only: large ones are neighbours, and thousands of small ones surround them."""
    version = releases()[0]
    member = Member(version, tmp_path, PORT + 10)
    with running([member]):
        for number in range(24):
            puts = "".join(f"put {'ac'[number % 2]}{number:02}{key:03} x\n" for key in range(100))
            etcdctl(member, "txn", text=f"\n{puts}\n\n")
        for number in range(40):
            etcdctl(member, "put", f"b{number:02}", text="v" * 1_000_000)
        backup(member, tmp_path / "backups")
        etcdctl(member, "put", "later", "x")
        revision = json.loads(etcdctl(member, "put", "later", "y", "-w", "json"))["header"]["revision"]
        etcdctl(member, "compaction", str(revision))
        recording, log = tmp_path / "etcdctl", tmp_path / "requests"
        etcdctl_path = connection(version).etcdctl_path
        recording.write_text(
            RECORDING.format(python=os.path.realpath(sys.executable), log=str(log), etcdctl=etcdctl_path)
        )
        recording.chmod(0o755)
        programs = replace(tools(version), connection=replace(connection(version), etcdctl_path=str(recording)))
        request = asked(tmp_path / "backups", scratch_dir)
        finding = drill.run_drill(request, programs, [member.endpoint]).finding
        assert (finding.compared, finding.keys_compared) == ("keys", 2440)
        read = read_bytes(member, log)
    assert len(read) < 40 and sum(read) > 40_000_000 and max(read) <= key_sizes.PAGE_BYTES + 100_000, read


def test_the_cluster_is_compacted_to_the_revision(live: Member, tmp_path: Path, scratch_dir: Path) -> None:
    """An idle cluster keeps the hash from before its compaction, which the backup cannot reproduce."""
    etcdctl(live, "put", "/key/015", "changed")
    status = json.loads(etcdctl(live, "endpoint", "status", "-w", "json"))[0]["Status"]
    etcdctl(live, "compaction", "--physical", str(status["header"]["revision"]))
    backup(live, tmp_path)
    report = hold(live, tmp_path, scratch_dir)
    assert (report.finding.compared, report.finding.keys_compared) == ("keys", KEYS + 1)
    assert "no hash could be compared" in report.reason
    etcdctl(live, "put", "/key/015", "changed again")


def test_a_backup_with_other_content_is_found(live: Member, tmp_path: Path, scratch_dir: Path) -> None:
    """A backup of this cluster's id, revision and number of keys with another content: found by the hash, and by the keys."""
    etcdctl(live, "put", "/key/013", "so that the revision is not the one compacted to")
    etcdctl(live, "put", "/key/014", "as above")
    metadata = backup(live, tmp_path)
    (stored,) = store.scan_directory(str(tmp_path), "etcd")
    other = Member(live.version, tmp_path / "other", PORT + 10)
    with running([other]):
        for number in range(metadata.revision - 1):
            etcdctl(other, "put", f"/other/{min(number, KEYS)}", "x")
        forged = backup(other, tmp_path / "forged")
    (wrong,) = store.scan_directory(str(tmp_path / "forged"), "etcd")
    shutil.copy(wrong.path, stored.path)
    body = Path(stored.path).read_bytes()
    claimed = replace(forged, cluster_id=metadata.cluster_id, sha256=hashlib.sha256(body).hexdigest())
    Path(stored.path + ".json").write_text(json.dumps(claimed.as_dict()))
    Path(stored.path + ".sha256").write_text(f"{claimed.sha256}  {Path(stored.path).name}\n")
    Path(stored.path + store.DRILL).write_text("{}")
    with pytest.raises(drill.DrillError, match="failed its drill: its keys differ from the cluster's: at revision"):
        hold(live, tmp_path, scratch_dir)
    assert not Path(stored.path + store.DRILL).exists()
    etcdctl(live, "put", "/key/012", "changed since")
    status = json.loads(etcdctl(live, "endpoint", "status", "-w", "json"))[0]["Status"]
    etcdctl(live, "compaction", str(status["header"]["revision"]))
    with pytest.raises(drill.DrillError, match=r"exists in the cluster since revision .* and is not in the backup"):
        hold(live, tmp_path, scratch_dir)


def test_bad_backups(live: Member, tmp_path: Path, scratch_dir: Path) -> None:
    with pytest.raises(drill.DrillError, match=r"there is no backup of the cluster .* take one first"):
        hold(live, tmp_path, scratch_dir)
    backup(live, tmp_path)
    (stored,) = store.scan_directory(str(tmp_path), "etcd")
    whole = Path(stored.path).read_bytes()
    flipped = bytearray(whole)
    flipped[9000] ^= 1
    Path(stored.path).write_bytes(flipped)
    with pytest.raises(drill.DrillError, match=r"failed its drill: .* was altered: the SHA-256 of its content"):
        hold(live, tmp_path, scratch_dir)
    Path(stored.path).write_bytes(whole[:-512])
    with pytest.raises(drill.DrillError, match=r"the newest backup is damaged: .* it has \d+ bytes"):
        hold(live, tmp_path, scratch_dir)


def test_a_cluster_that_was_restored(live: Member, tmp_path: Path, scratch_dir: Path) -> None:
    """With its revision bumped, which leaves an entry that etcdutl counts as a key."""
    backup(live, tmp_path)
    (stored,) = store.scan_directory(str(tmp_path), "etcd")
    restored = Member(live.version, tmp_path / "restored", PORT + 10)
    peer = f"http://127.0.0.1:{PORT + 11}"
    command = [
        tools(live.version).etcdutl_path,
        "snapshot",
        "restore",
        stored.path,
        f"--initial-cluster=default={peer}",
    ]
    command += [f"--initial-advertise-peer-urls={peer}", f"--data-dir={restored.folder / 'default'}"]
    subprocess.run(
        [*command, "--bump-revision=1000000", "--mark-compacted"], check=True, capture_output=True, timeout=60
    )
    with running([restored]):
        etcdctl(restored, "put", "/key/000", "x")
        metadata = backup(restored, tmp_path / "after")
        etcdctl(restored, "put", "/key/000", "y")
        finding = hold(restored, tmp_path / "after", scratch_dir).finding
    assert (finding.compared, finding.keys, finding.revision > 1_000_000) == ("hash", KEYS + 1, True)
    assert metadata.total_keys == KEYS + 2 or live.version.startswith("3.5.")


def test_without_the_cluster(live: Member, tmp_path: Path, scratch_dir: Path) -> None:
    metadata = backup(live, tmp_path)
    report = drill.run_drill(asked(tmp_path, scratch_dir, live=False), tools(live.version), ["http://127.0.0.1:1"])
    assert (report.finding.compared, report.finding.keys) == ("nothing", KEYS + 1)
    assert report.plan.metadata == metadata
    (stored,) = store.scan_directory(str(tmp_path), "etcd")
    assert not stored.drilled


def test_bounds(live: Member, tmp_path: Path, scratch_dir: Path) -> None:
    """A drill without enough memory or disk space reports it and leaves nothing."""
    for number in range(2):
        etcdctl(live, "put", "/key/016", str(number))
    backup(live, tmp_path)
    low = scratch.MIN_MEMORY
    with pytest.raises(drill.DrillError, match=r"memory_max is 127.0 MiB, but must be at least 128.0 MiB"):
        hold(live, tmp_path, scratch_dir, memory_max=low - (1 << 20))
    assert hold(live, tmp_path, scratch_dir, memory_max=low).finding.compared == "hash"
    with pytest.raises(scratch.ScratchMemberError, match=r"scratch_dir .* has .* free, but the temporary member needs"):
        hold(live, tmp_path, scratch_dir, reserve=1 << 60)
    with pytest.raises(scratch.ScratchMemberError, match="bytes too long for a socket's path"):
        long = scratch_dir / ("x" * 100)
        long.mkdir()
        try:
            hold(live, tmp_path, long)
        finally:
            long.rmdir()


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_drill_that_is_killed(live: Member, tmp_path: Path, scratch_dir: Path, how: signal.Signals) -> None:
    """The drill's etcd ends with it, and the next drill removes its files."""
    backup(live, tmp_path)
    request = vars(asked(tmp_path, scratch_dir))
    programs = tools(live.version)
    argument = {
        "request": request,
        "version": live.version,
        "etcd": programs.etcd_path,
        "etcdutl": programs.etcdutl_path,
        "endpoints": [live.endpoint],
    }
    process = subprocess.Popen([sys.executable, "-c", HELD, json.dumps(argument)], stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + EVENT_SECONDS
    while not list(scratch_dir.glob(".headroom-drill-*/client")):
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.005)
    os.kill(process.pid, how)
    process.wait()
    wait_until(lambda: not working_in(scratch_dir), "etcd did not end")
    hold(live, tmp_path, scratch_dir)


@pytest.mark.parametrize("version", releases())
def test_a_backup_of_a_cluster_with_authentication(tmp_path: Path, scratch_dir: Path, version: str) -> None:
    """The copy has the cluster's users, but reading it needs no credentials."""
    member = Member(version, tmp_path, PORT + 10, tls=load.certificates(tmp_path / "tls"))
    own = tls_connection(member, 30.0)

    def ctl(*words: str) -> None:
        assert run_etcdctl(own, [member.endpoint], *words).returncode == 0, words

    with running([member]):
        for number in range(KEYS):
            ctl("put", f"/key/{number}", "value")
        for number in range(200):  # this many users need more than one page
            ctl("user", "add", f"a-user-with-quite-a-long-name-{number}", "--no-password")
        for name in ("root", "client"):
            ctl("user", "add", name, "--no-password")
            ctl("user", "grant-role", name, "root")
        ctl("auth", "enable")
        request = snapshot.Request(str(tmp_path), "etcd", "", keep=9, keep_days=None, reserve=0, timeout=60)
        snapshot.take_snapshot(request, snapshot.Tools(own, tools(version).etcdutl_path), [member.endpoint])
        drilled = replace(tools(version), connection=own)
        finding = drill.run_drill(asked(tmp_path, scratch_dir), drilled, [member.endpoint]).finding
        assert (finding.compared, finding.keys) == ("hash", KEYS)
        # Compacted past the backup, key by key.
        ctl("put", "/key/0", "later")
        revision = json.loads(run_etcdctl(own, [member.endpoint], "put", "/later", "x").stdout)["header"]["revision"]
        ctl("compaction", str(revision))
        finding = drill.run_drill(asked(tmp_path, scratch_dir), drilled, [member.endpoint]).finding
        assert (finding.compared, finding.keys_compared) == ("keys", KEYS)
        # Someone else's drill, without the cluster and its users.
        alone = asked(tmp_path, scratch_dir, live=False)
        assert drill.run_drill(alone, tools(version), []).finding.keys == KEYS


def working_in(folder: Path) -> list[int]:
    """The processes whose working directory is below a folder."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and str(folder) in os.readlink(entry / "cwd"):
                found.append(int(entry.name))
        except OSError:
            continue
    return found
