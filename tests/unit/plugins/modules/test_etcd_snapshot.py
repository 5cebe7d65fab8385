# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""etcd_snapshot as Ansible runs it, with fakes of etcdctl and etcdutl; tests/integration runs it on real etcd."""

from __future__ import annotations

import json
import os
import socket
import stat
import sys
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.testing import patch_module_args
from ansible_collections.etcdops.headroom.plugins.modules import etcd_snapshot

# Two members of one address, the first leads. What a file called `mode` beside it says, it does wrong.
ETCDCTL = """#!{python}
import hashlib, json, sys
from pathlib import Path
words = sys.argv[1:]
mode = Path(__file__).with_name("mode")
mode = mode.read_text() if mode.exists() else ""
names = dict(zip({urls!r}, (1, 2)))
url = words[0].partition("=")[2].split(",")
header = {{"cluster_id": 7, "member_id": names[url[0]]}}
if "save" in words:
    body = b"page" * 2048
    if mode == "refused":
        sys.exit("Error: rpc error: code = Unavailable desc = connection refused")
    digest = hashlib.sha256(body).digest()
    if mode == "altered":
        body = body[::-1]
    Path(words[words.index("save") + 1]).write_bytes(body + digest[: 9 if mode == "cut" else 32])
elif "list" in words:
    members = [{{"ID": i, "name": "m%d" % i, "clientURLs": [u], "peerURLs": [u]}} for u, i in names.items()]
    print(json.dumps({{"header": header, "members": members}}))
elif "health" in words:
    print(json.dumps([{{"endpoint": u, "health": True}} for u in url]))
else:
    status = {{"header": header, "version": "3.6.16", "leader": 1, "raftIndex": 9, "raftAppliedIndex": 9,
              "raftTerm": 2, "dbSize": 8192, "dbSizeInUse": 1}}
    print(json.dumps([{{"Endpoint": url[0], "Status": status}}]))
"""
ETCDUTL = """#!{python}
import sys
from pathlib import Path
mode = Path(__file__).with_name("mode")
if mode.exists() and mode.read_text() == "unsound":
    sys.exit("Error: snapshot file integrity check failed. 1 errors found.")
print('{{"hash":3016699658,"revision":8123,"totalKey":2000,"totalSize":8192,"version":"3.6.0"}}')
"""


def run(capsys: pytest.CaptureFixture[str], **arguments: Any) -> dict[str, Any]:
    """The module's result."""
    with patch_module_args(arguments), pytest.raises(SystemExit):
        etcd_snapshot.main()
    result: dict[str, Any] = json.loads(capsys.readouterr().out)
    return result


@pytest.fixture
def asked(tmp_path: Path) -> Any:
    """The arguments for a cluster of two and an empty directory."""
    servers = [socket.create_server(("127.0.0.1", 0), backlog=64) for _number in range(2)]
    urls = [f"http://127.0.0.1:{server.getsockname()[1]}" for server in servers]
    for name, text in (("etcdctl", ETCDCTL), ("etcdutl", ETCDUTL)):
        (tmp_path / name).write_text(text.format(python=os.path.realpath(sys.executable), urls=urls))
        (tmp_path / name).chmod(0o755)
    (tmp_path / "backups").mkdir()
    programs = {f"{name}_path": str(tmp_path / name) for name in ("etcdctl", "etcdutl")}
    # The programs are Python, which takes seconds to start on a busy machine.
    limits = {"reserve": "1KB", "request_timeout": 60}
    yield {**programs, "endpoints": urls[:1], "dest": str(tmp_path / "backups"), **limits}
    for server in servers:
        server.close()


def names(asked: dict[str, Any]) -> list[str]:
    """The visible files in the directory."""
    return sorted(path.name for path in Path(asked["dest"]).iterdir() if not path.name.startswith("."))


def hidden(asked: dict[str, Any]) -> list[str]:
    """The hidden files in the directory, without the lock."""
    return [path.name for path in Path(asked["dest"]).glob(".*") if path.name != ".headroom-snapshot.lock"]


def test_saving(capsys: pytest.CaptureFixture[str], asked: dict[str, Any]) -> None:
    result = run(capsys, **asked, _ansible_diff=True)
    path = Path(result["path"])
    assert (result["changed"], result["member"], result["size"]) == (True, "m2", 8224)
    assert (result["revision"], result["hash"], result["total_keys"]) == (8123, "b3cf2f0a", 2000)
    assert (result["removed"], result["left_alone"]) == ([], [])
    assert result["duration"] > 0
    assert result["diff"] == {"before": "", "after": f"{path.name}\n"}
    assert result["metadata"]["cluster_id"] == "7"
    assert result["msg"] == f"Saved 8.0 KiB of m2 at revision 8123 as {path}; removed 0 snapshots."
    assert names(asked) == [path.name + suffix for suffix in ("", ".json", ".sha256")]
    assert {stat.S_IMODE((path.parent / name).stat().st_mode) for name in names(asked)} == {0o600}
    assert hidden(asked) == []


def test_retention_of_old_snapshots(capsys: pytest.CaptureFixture[str], asked: dict[str, Any]) -> None:
    first, second = (run(capsys, **asked)["path"] for _number in range(2))
    would = run(capsys, **asked, keep=2, _ansible_check_mode=True, _ansible_diff=True)
    assert (would["changed"], would["removed"], would["member"]) == (True, [first], "m2")
    assert would["msg"] == f"Would save 8.0 KiB of m2 (follower) as {would['path']} and remove 1 snapshot."
    assert would["diff"]["after"].splitlines() == [Path(path).name for path in sorted((second, would["path"]))]
    assert not Path(would["path"]).exists()
    assert Path(first).exists()
    done = run(capsys, **asked, keep=2)
    assert done["removed"] == [first]
    assert names(asked)[::3] == sorted(Path(path).name for path in (second, done["path"]))


def test_check_mode_writes_nothing(capsys: pytest.CaptureFixture[str], asked: dict[str, Any]) -> None:
    assert run(capsys, **asked, _ansible_check_mode=True)["changed"]
    assert list(Path(asked["dest"]).iterdir()) == []


@pytest.mark.parametrize(
    ("mode", "text"),
    [
        (
            "refused",
            "no snapshot of m2: rpc error: code = Unavailable desc = connection refused; existing snapshots are unchanged",
        ),
        (
            "cut",
            "the snapshot from m2 is truncated or not a snapshot: its size of 8201 bytes does not include etcd's SHA-256",
        ),
        ("altered", "the snapshot from m2 was altered: the SHA-256 of its content is "),
        ("unsound", "is damaged: snapshot file integrity check failed. 1 errors found."),
    ],
)
def test_failure_keeps_existing_snapshots(
    capsys: pytest.CaptureFixture[str], asked: dict[str, Any], tmp_path: Path, mode: str, text: str
) -> None:
    good = run(capsys, **asked)
    before = names(asked)
    (tmp_path / "mode").write_text(mode)
    result = run(capsys, **asked, keep=1)
    assert text in result["msg"]
    assert result["msg"].endswith("; existing snapshots are unchanged")
    assert (result["failed"], result.get("changed", False)) == (True, False)
    assert (names(asked), hidden(asked)) == (before, [])
    (tmp_path / "mode").unlink()
    sound = run(capsys, state="verified", path=good["path"], etcdutl_path=asked["etcdutl_path"])
    assert (sound["changed"], sound["metadata"]) == (False, good["metadata"])


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"keep": 0}, "keep is 0, but must be at least 1"),
        ({"keep_days": 0}, "keep_days is 0, but must be at least 1"),
        ({"name": "a/b"}, "name is 'a/b'"),
        ({"reserve": "much"}, "reserve is 'much', which is not a valid size"),
        ({"reserve": "100PB"}, "but the snapshot needs 8.0 KiB and 100.0 PiB must stay free: free some space"),
        ({"dest": "/nowhere"}, "/nowhere is not a directory on this host: create it, or mount its volume"),
        ({"dest": None}, "dest is empty: write a path"),
        ({"dest": ""}, "dest is empty: write a path"),
        ({"state": "verified"}, "state is verified but all of the following are missing: path"),
        ({"endpoints": ["https://127.0.0.1:1"]}, "no member of the cluster answers (https://127.0.0.1:1: connection"),
        ({"etcdctl_path": "/nowhere/etcdctl"}, "/nowhere/etcdctl does not exist: install etcdctl or set etcdctl_path"),
        ({"etcdutl_path": "/nowhere/etcdutl"}, "/nowhere/etcdutl is not an executable program: install etcdutl, or"),
        ({"member": "m9"}, "the cluster has no voting member named 'm9'; those are m1, m2"),
    ],
)
@pytest.mark.parametrize("check_mode", [False, True])
def test_bad_input(
    capsys: pytest.CaptureFixture[str], asked: dict[str, Any], change: dict[str, Any], text: str, check_mode: bool
) -> None:
    result = run(capsys, **{**asked, **change}, _ansible_check_mode=check_mode)
    assert text in result["msg"]
    assert (names(asked), hidden(asked)) == ([], [])


def test_read_only_directory(capsys: pytest.CaptureFixture[str], asked: dict[str, Any]) -> None:
    # Not even root can make a file there.
    result = run(capsys, **{**asked, "dest": "/proc"})
    assert result["failed"]
    assert result["msg"].startswith("/proc")


def test_verify_reports_damage(capsys: pytest.CaptureFixture[str], asked: dict[str, Any]) -> None:
    path = run(capsys, **asked)["path"]
    verify = {"state": "verified", "path": path, "etcdutl_path": asked["etcdutl_path"]}
    assert "is valid: of m2 at revision 8123" in run(capsys, **verify, cluster_id="7", etcd_version="3.6.0")["msg"]
    assert "belongs to the cluster 7 (member m2), not to 8" in run(capsys, **verify, cluster_id="8")["msg"]
    assert "which etcd 3.5.35 cannot read" in run(capsys, **verify, etcd_version="3.5.35")["msg"]
    with open(path, "r+b") as stream:
        stream.truncate(4096)
    assert (
        "is truncated or altered: it has 4096 bytes, but 8224 according to its record" in run(capsys, **verify)["msg"]
    )
    kept = run(capsys, **asked, keep=1)
    assert kept["left_alone"] == [{"path": path, "reason": "it has 4096 bytes, but 8224 according to its record"}]
    assert Path(path).exists()
