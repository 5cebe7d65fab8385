# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Mount options and entries of fstab of volumes."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._host.fstab import parse_fstab
from ansible_collections.etcdops.headroom.plugins.module_utils._storage import volumes

from tests.unit.plugins.module_utils._storage.volume_plans import (
    a_device,
    a_mount,
    a_volume,
    mounted,
    ours,
    plan_for,
)


@pytest.mark.parametrize(
    ("device", "uuid", "entry", "source"),
    [
        ("/dev/vdb", "5c14", None, "UUID=5c14"),
        ("/dev/vdb", None, None, "UUID=(made with the filesystem)"),
        ("/dev/disk/by-id/x", None, None, "/dev/disk/by-id/x"),
        ("/dev/disk/by-id/x", "5c14", "UUID=5c14", "UUID=5c14"),
        ("/dev/disk/by-id/x", "5c14", "UUID=other", "/dev/disk/by-id/x"),
        ("/dev/vdb", "5c14", "LABEL=etcd-data", "LABEL=etcd-data"),
        # A kernel name may change at boot, so it is replaced.
        ("/dev/vdb", "5c14", "/dev/vdb", "UUID=5c14"),
    ],
)
def test_device_name_in_fstab(device: str, uuid: str | None, entry: str | None, source: str) -> None:
    found = ours(uuid=uuid) if uuid else a_device()
    fstab = {"source": entry, "fstype": "ext4", "options": "noatime,nofail", "passno": "2"} if entry else None
    (volume,) = plan_for(found, a_mount(fstab=fstab), device=device)["volumes"]
    assert volume["source"] == source


def test_xfs_options() -> None:
    (volume,) = plan_for(a_device(), a_mount(), fstype="xfs")["volumes"]
    assert (volume["mkfs_options"], volume["passno"]) == ("-L etcd-data", "0")


@pytest.mark.parametrize(
    ("given", "options"),
    [
        (["noatime", "nofail"], ["noatime", "nofail"]),
        ("noatime,nofail", ["noatime", "nofail"]),
        ("noatime, nofail", ["noatime", "nofail"]),
        (["noatime,nofail", " discard "], ["noatime", "nofail", "discard"]),
        # An empty column of fstab would shift the ones after it.
        ([], ["defaults"]),
        ("", ["defaults"]),
        (None, ["defaults"]),
        ([""], ["defaults"]),
    ],
)
def test_mount_options_as_fstab_has_them(given: Any, options: list[str]) -> None:
    (volume,) = plan_for(a_device(), a_mount(), options=given)["volumes"]
    assert volume["options"] == options
    # The next run finds what the role wrote.
    entry = {"source": "UUID=5c14", "fstype": "ext4", "options": ",".join(options), "passno": "2"}
    found = ours(mounted_at=["/var/lib/etcd"], busy=True)
    (volume,) = plan_for(found, mounted(fstab=entry), options=given)["volumes"]
    assert volume["attach"] is False


def in_fstab(line: str) -> dict[str, Any]:
    """The entry of a line, as etcd_host_info describes it."""
    (entry,) = parse_fstab(line)
    return vars(entry)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "UUID=5c14 /var/lib/etcd/ ext4 noatime 0 2",
            "but it writes the mount point as /var/lib/etcd/, so the role would add",
        ),
        ("UUID=5c14 /srv/link ext4 noatime 0 2", "but it writes the mount point as /srv/link"),
        ("UUID=5c14 /var/lib/etcd ext4", "but it has 3 fields instead of 4 to 6"),
    ],
)
@pytest.mark.parametrize("here", [True, False])
def test_entry_of_fstab_that_cannot_be_changed(line: str, message: str, here: bool) -> None:
    """A second line for the mount point would leave the first one in effect, so that every run would change fstab again."""
    entry = in_fstab(line)
    device = ours(mounted_at=["/var/lib/etcd"], busy=True) if here else ours()
    result = plan_for(device, mounted(fstab=entry) if here else a_mount(fstab=entry))
    (problem,) = result["problems"]
    assert (
        problem.startswith(f"/etc/fstab has the line '{line}' for /var/lib/etcd, {message}") and result["volumes"] == []
    )
    assert problem.endswith("the role adds 'UUID=5c14 /var/lib/etcd ext4 noatime,nofail'.")


def test_entry_of_fstab_that_need_not_be_changed() -> None:
    """A host that works already is not refused."""
    entry = in_fstab("UUID=5c14 /var/lib/etcd/ ext4 noatime,nofail 0 2")
    result = plan_for(ours(mounted_at=["/var/lib/etcd"], busy=True), mounted(fstab=entry))
    assert result["problems"] == [] and result["volumes"][0]["attach"] is False


def test_mount_point_with_a_slash_at_its_end_is_refused_before_the_device_is_formatted() -> None:
    host = {"devices": {"/dev/vdb": a_device()}, "mounts": {"/var/lib/etcd/": a_mount(resolved="/var/lib/etcd")}}
    result = volumes.plan_volumes(host, [a_volume(mount="/var/lib/etcd/")], "/var/lib/etcd/data")
    assert "write /var/lib/etcd, and etcd_data_dir below it" in result["problems"][0] and result["volumes"] == []
    assert plan_for(a_device(), a_mount(resolved="/var/lib/etcd"))["problems"] == []


@pytest.mark.parametrize(("options", "writable"), [(["rw"], True), (["ro"], False), (["rw", "emergency_ro"], False)])
@pytest.mark.parametrize("device", ["/dev/vdb", ""])
def test_filesystem_that_became_read_only(device: str, options: list[str], writable: bool) -> None:
    """The kernel does so after an error; etcd could not write."""
    host = {
        "devices": {"/dev/vdb": ours(mounted_at=["/var/lib/etcd"], busy=True)},
        "mounts": {"/var/lib/etcd": mounted(options=options)},
    }
    problems = volumes.plan_volumes(host, [a_volume(device=device)], "/var/lib/etcd/data")["problems"]
    if writable:
        assert problems == []
    else:
        assert problems[0].startswith("the filesystem of /var/lib/etcd (/dev/vdb) is read-only")


def test_read_only_filesystem_below_a_volume_that_is_not_mounted_yet() -> None:
    assert plan_for(ours(), a_mount(options=["ro"]))["problems"] == []


def test_volume_that_only_fstab_names() -> None:
    """Without a device, the role does not mount it, and etcd would write below its mount point."""
    entry = in_fstab("UUID=5c14 /var/lib/etcd ext4 noatime 0 2")
    host = {"devices": {"/dev/vdb": ours()}, "mounts": {"/var/lib/etcd": a_mount(fstab=None, unmounted=[entry])}}
    asked = a_volume(device="")
    (problem,) = volumes.plan_volumes(host, [asked], "/var/lib/etcd/data")["problems"]
    assert problem.startswith("/etc/fstab names UUID=5c14 for /var/lib/etcd, but it is not mounted")
    assert volumes.plan_volumes(host, [a_volume()], "/var/lib/etcd/data")["problems"] == []
