# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The folders of installed releases."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.etcdops.headroom.plugins.module_utils._host import installed


def test_versions_are_folders_with_an_executable_server(tmp_path: Path) -> None:
    for name, mode in {"3.7.3": 0o755, "3.10.0": 0o755, "3.7.0-rc.1": 0o755, "3.7.0": 0o755, "3.5.1": 0o644}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "etcd").touch(mode=mode)
        (tmp_path / name / "etcd").chmod(mode)
    (tmp_path / "current").mkdir()
    (tmp_path / "3.6.0").mkdir()
    assert installed.installed_versions(str(tmp_path)) == ["3.7.0-rc.1", "3.7.0", "3.7.3", "3.10.0"]
    assert installed.installed_versions(str(tmp_path / "none")) == []
    # etcdctl before 3.6 does not show that a downgrade is enabled, and the link in /usr/local/bin may be that of an older release.
    assert installed.newest_program(str(tmp_path), "etcdctl") == ""
    for name in ("3.7.0", "3.7.3"):
        (tmp_path / name / "etcdctl").touch()
        (tmp_path / name / "etcdctl").chmod(0o755)
    assert installed.newest_program(str(tmp_path), "etcdctl") == str(tmp_path / "3.7.3" / "etcdctl")
