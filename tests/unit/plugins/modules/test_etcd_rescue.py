# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""etcd_rescue in check mode. tests/integration rescues data of real etcd."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.testing import patch_module_args
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import rescue, scratch_folder
from ansible_collections.etcdops.headroom.plugins.modules import etcd_rescue


def test_check_mode(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder of a killed run is named, and kept."""
    data, target = tmp_path / "data", tmp_path / "b"  # short, for the path of a socket
    for path in (data / "member/snap/db", data / "member/wal/0.wal", target / ".headroom-drill-dead/lock"):
        path.parent.mkdir(parents=True)
        path.touch()
    monkeypatch.setattr(scratch_folder, "available_bytes", lambda _path: 1 << 40)
    arguments = {"dest": str(target), "member": "m1", "data_dir": str(data), "_ansible_check_mode": True}
    (tmp_path / "etcd").write_text("#!/bin/sh\necho 'etcd Version: 3.7.3'\n")
    (tmp_path / "etcd").chmod(0o755)
    arguments |= dict.fromkeys(("etcd_path", "etcdctl_path", "etcdutl_path"), str(tmp_path / "etcd"))
    with patch_module_args(arguments), pytest.raises(SystemExit):
        etcd_rescue.main()
    result = json.loads(capsys.readouterr().out)
    assert [path.name for path in target.rglob("*")] == [".headroom-drill-dead", "lock"]
    assert result.get("changed"), result["msg"]
    assert result["msg"].endswith(f" Would first remove {target}/.headroom-drill-dead, left by a killed run.")


def test_a_file_that_a_running_etcd_removes_has_no_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("snap/db", "snap/db.tmp", "wal/0.wal"):
        (tmp_path / "member" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "member" / name).write_text("x" * 10)
    listing = os.scandir

    def list_and_remove(folder: str) -> Any:
        if not folder.endswith("snap"):
            return listing(folder)
        entries = list(listing(folder))
        (tmp_path / "member/snap/db.tmp").unlink()
        return entries

    request = rescue.Request("m1", str(tmp_path), "", str(tmp_path), 1 << 30, 60)
    with monkeypatch.context() as patch:
        patch.setattr(os, "scandir", list_and_remove)
        found = rescue.find_data(request)
    assert found.size == 20


@pytest.mark.parametrize(("member", "named"), [("etcd-3.example.com", "etcd-3.example.com"), ("a/../b c", "a_.._b_c")])
def test_the_snapshots_of_several_survivors_have_different_paths(tmp_path: Path, member: str, named: str) -> None:
    request = rescue.Request(member, "", "", str(tmp_path), 1 << 30, 60)
    path = Path(rescue.snapshot_path(request, 0))
    assert path == tmp_path / f"rescued-{named}-19700101T000000Z.db"
    path.touch()
    assert rescue.snapshot_path(request, 0) == str(tmp_path / f"rescued-{named}-19700101T000000Z-2.db")
