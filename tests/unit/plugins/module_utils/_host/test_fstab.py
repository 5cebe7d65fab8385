# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What fstab lists, and what of it is not mounted."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._host import fstab
from ansible_collections.etcdops.headroom.plugins.module_utils._host import mounts as host_mounts

FSTAB = """
# UUID=1 /old ext4
UUID=5c14 /var/lib/etcd ext4 noatime 0 2
/dev/vdb1 /srv/my\\040data xfs
LABEL=x none swap sw
broken
"""


def test_fstab_without_comments_and_with_defaults() -> None:
    assert fstab.parse_fstab(FSTAB) == [
        fstab.FstabEntry("UUID=5c14", "/var/lib/etcd", "ext4", "noatime", "0", "2"),
        fstab.FstabEntry("/dev/vdb1", "/srv/my data", "xfs", "defaults", "0", "0"),
        fstab.FstabEntry("LABEL=x", "none", "swap", "sw", "0", "0"),
    ]


SHARE = "nfs:/backups /mnt/share nfs"
ROOT = "21 1 254:0 / / rw - ext4 /dev/vda rw\n"
MOUNTED = ROOT + "30 21 0:40 / /mnt/share rw - nfs4 nfs:/backups rw\n"
AUTOMOUNT = ROOT + "29 21 0:39 / /mnt/share rw - autofs systemd-1 rw\n"


@pytest.mark.parametrize(
    ("path", "entries", "mounts", "unmounted"),
    [
        ("/mnt/share", SHARE, MOUNTED, ""),
        ("/mnt/share/etcd", SHARE, ROOT, "/mnt/share"),
        ("/mnt/share/", SHARE, ROOT, "/mnt/share"),
        ("/mnt/share", SHARE, AUTOMOUNT, "/mnt/share"),
        ("/mnt/shared", SHARE, ROOT, ""),
        ("/mnt", SHARE, ROOT, ""),
        ("/mnt/share", "/dev/vda / ext4\nLABEL=x none swap", ROOT, ""),
        ("/mnt/share", f"/dev/vdb /mnt ext4\n{SHARE}", MOUNTED, ""),  # the share hides the volume around it
        ("/mnt/share", f"/dev/vdb /mnt ext4\n{SHARE}", ROOT, "/mnt/share"),
    ],
)
def test_unmounted_volume(path: str, entries: str, mounts: str, unmounted: str) -> None:
    found = fstab.unmounted_volume(path, fstab.parse_fstab(entries), host_mounts.parse_mountinfo(mounts))
    assert found == unmounted


def test_links_are_followed(tmp_path: Path) -> None:
    (tmp_path / "volume").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "volume")
    entries = fstab.parse_fstab(f"/dev/vdb {tmp_path}/volume ext4")
    assert fstab.unmounted_volume(f"{tmp_path}/link", entries, []) == f"{tmp_path}/volume"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("/dev/vdb /srv/etcd ext4 noatime 0 2", None),
        ("/dev/vdb /srv/etcd ext4 noatime # for etcd", None),
        ("/dev/vdb /srv/etcd/ ext4 noatime 0 2", "it writes the mount point as /srv/etcd/"),
        ("/dev/vdb /link ext4 noatime 0 2", "it writes the mount point as /link"),
        ("/dev/vdb /srv/etcd ext4", "it has 3 fields instead of 4 to 6"),
        ("/dev/vdb /srv/etcd ext4 noatime 0 2 for etcd", "it has 8 fields instead of 4 to 6"),
    ],
)
def test_lines_that_are_changed_in_place(line: str, problem: str | None) -> None:
    assert fstab.line_problem(line, "/srv/etcd") == problem


def test_entry_of_a_mount_point_however_it_is_written(tmp_path: Path) -> None:
    (tmp_path / "volume").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "volume")
    lines = [
        f"/dev/vdb {tmp_path}/link ext4 a",
        f"/dev/vdc {tmp_path}/volume/ ext4 b",
        f"/dev/vdd {tmp_path}/volume ext4 c",
    ]
    for last, options in ((1, "a"), (2, "a"), (3, "c")):
        found = fstab.entry_of(f"{tmp_path}/volume", fstab.parse_fstab("\n".join(lines[:last])))
        assert found is not None and found.options == options
    assert fstab.entry_of(str(tmp_path), fstab.parse_fstab("\n".join(lines))) is None
