# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is done with a volume, and what forbids it."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._host.fstab import parse_fstab
from ansible_collections.etcdops.headroom.plugins.module_utils._storage import volumes

GIB = 1024**3


def a_device(**other: Any) -> dict[str, Any]:
    """A blank disk, as etcd_host_info describes it."""
    return {
        "path": "/dev/vdb",
        "resolved": "/dev/vdb",
        "exists": True,
        "is_block": True,
        "number": "254:16",
        "size": 10 * GIB,
        "partitions": [],
        "holders": [],
        "swap": False,
        "busy": False,
        "read_only": False,
        "mounted_at": [],
        "signature": None,
        "probe_error": None,
        "nonzero_at": None,
        "has_erased_mark": False,
        "usage": None,
        "partition_table": None,
        "fstype": None,
        "label": None,
        "uuid": None,
        **other,
    }


def ours(**other: Any) -> dict[str, Any]:
    """A disk with the filesystem that the role makes."""
    return a_device(
        **{
            "signature": "ext4 filesystem",
            "usage": "filesystem",
            "fstype": "ext4",
            "label": "etcd-data",
            "uuid": "5c14",
            **other,
        }
    )


def a_mount(**other: Any) -> dict[str, Any]:
    """A mount point that does not exist yet."""
    return {
        "mounted": False,
        "entries": 0,
        "number": "254:0",
        "source": "/dev/vda",
        "mode": None,
        "uid": None,
        "fstab": None,
        **other,
    }


def mounted(**other: Any) -> dict[str, Any]:
    """The mount point with the volume, as the role leaves it."""
    entry = {"source": "UUID=5c14", "fstype": "ext4", "options": "noatime,nofail", "passno": "2"}
    return a_mount(
        **{
            "mounted": True,
            "entries": 1,
            "number": "254:16",
            "source": "/dev/vdb",
            "mode": "0755",
            "uid": 0,
            "fstab": entry,
            **other,
        }
    )


def a_volume(**other: Any) -> dict[str, Any]:
    """The data volume as the role asks for it."""
    return {
        "name": "data",
        "device": "/dev/vdb",
        "mount": "/var/lib/etcd",
        "directory": "/var/lib/etcd/data",
        "label": "etcd-data",
        "fstype": "ext4",
        "options": ["noatime", "nofail"],
        "min_size": GIB,
        **other,
    }


def plan_for(
    found: dict[str, Any], mount: dict[str, Any], erase: list[str] | None = None, **volume: Any
) -> dict[str, Any]:
    """The plan for one data volume on what was found."""
    asked = a_volume(**volume)
    host = {"devices": {asked["device"]: found}, "mounts": {asked["mount"]: mount}}
    return volumes.plan_volumes(host, [asked], "/var/lib/etcd/data", erase=erase or [])


@pytest.mark.parametrize(
    ("device", "mount", "todo"),
    [
        (a_device(), a_mount(), (True, True, True)),
        (a_device(), a_mount(mode="0755", uid=0), (True, True, True)),
        (ours(), a_mount(), (False, True, True)),
        (ours(mounted_at=["/var/lib/etcd"], busy=True), mounted(), (False, False, False)),
        (ours(mounted_at=["/var/lib/etcd"], busy=True), mounted(fstab=None), (False, True, False)),
        (ours(mounted_at=["/var/lib/etcd"], busy=True), mounted(mode="0700", uid=998), (False, False, True)),
        # Already mounted there: accepted with any label.
        (ours(mounted_at=["/var/lib/etcd"], busy=True, label="mine"), mounted(), (False, False, False)),
    ],
)
def test_plan_of_one_volume(device: dict[str, Any], mount: dict[str, Any], todo: tuple[bool, bool, bool]) -> None:
    result = plan_for(device, mount)
    assert result["problems"] == []
    (volume,) = result["volumes"]
    assert (volume["format"], volume["attach"], volume["secure"]) == todo


@pytest.mark.parametrize(
    ("device", "message"),
    [
        (
            {"path": "/dev/vdb", "resolved": "/dev/vdb", "exists": False, "is_block": False},
            "does not exist on this host",
        ),
        ({"path": "/dev/vdb", "resolved": "/dev/vdb", "exists": True, "is_block": False}, "is not a block device"),
        (ours(mounted_at=["/srv"], busy=True), "is mounted at /srv, not at /var/lib/etcd"),
        (
            a_device(partitions=["vdb1", "vdb2"], signature="partition table (gpt)"),
            r"carries partitions \(vdb1, vdb2\)",
        ),
        (
            a_device(signature="partition table (gpt)", partition_table="gpt"),
            r"is not blank \(partition table \(gpt\)\): Headroom never formats a device with content",
        ),
        (a_device(holders=["dm-0"], busy=True), "is held by dm-0"),
        (a_device(signature="LVM2_member RAID or LVM member", fstype="LVM2_member"), r"is not blank \(LVM2_member"),
        (a_device(swap=True, busy=True), "is used as swap"),
        (a_device(busy=True), "is in use, perhaps mounted in a container"),
        (a_device(probe_error="cannot be read: Input/output error"), "it is not known to be blank"),
        (
            a_device(signature="several contradicting signatures"),
            r"several contradicting signatures\): Headroom never",
        ),
        (ours(label=None), "does not have Headroom's label"),
        (ours(label="backup"), r"label 'backup'\) and does not have"),
        (ours(signature="xfs filesystem", fstype="xfs"), "but etcd_storage_fstype is ext4: set it to xfs"),
        (a_device(read_only=True), "is read-only"),
        (a_device(size=None), r"has no known size, because sysfs does not show it \(/sys/dev/block/254:16/size\)"),
        (a_device(size=GIB - 1), r"has 1023 MiB, less than the 1024 MiB of etcd_storage_data_min_size"),
        (ours(filesystem_size=11 * GIB), r"has 10.0 GiB, but its filesystem has 11.0 GiB: the device shrank"),
        (
            ours(uuid="5c14", label="backup"),
            r"If the content is not needed, add 'UUID=5c14' to etcd_storage_erase_devices",
        ),
    ],
)
def test_refused_devices(device: dict[str, Any], message: str) -> None:
    result = plan_for(device, a_mount())
    assert result["volumes"] == []
    assert len(result["problems"]) == 1
    with pytest.raises(ValueError, match=message):
        raise ValueError(result["problems"][0])


def test_volume_that_is_also_mounted_elsewhere() -> None:
    """As with a bind mount of it for a backup."""
    device = ours(mounted_at=["/srv/backup", "/var/lib/etcd"], busy=True, filesystem_size=8 * GIB)
    result = plan_for(device, mounted())
    (volume,) = result["volumes"]
    assert result["problems"] == []
    assert (volume["format"], volume["attach"], volume["secure"], volume["grow"]) == (False, False, False, True)
    assert (
        "is mounted at /srv/backup, not at /var/lib/etcd"
        in plan_for(ours(mounted_at=["/srv/backup"], busy=True), a_mount())["problems"][0]
    )


@pytest.mark.parametrize(
    ("mount", "message"),
    [
        (
            a_mount(resolved="/srv/etcd"),
            "etcd_storage_data_mount is /var/lib/etcd, but a volume there would be mounted at /srv/etcd",
        ),
        (
            a_mount(mounted=True, entries=3, number="254:32", source="/dev/vdc"),
            "/dev/vdc is mounted at /var/lib/etcd, not /dev/vdb",
        ),
        (a_mount(entries=2), "/var/lib/etcd is not empty (2 entries)"),
    ],
)
def test_refused_mount_points(mount: dict[str, Any], message: str) -> None:
    result = plan_for(a_device(), mount)
    assert result["volumes"] == [] and message in result["problems"][0]


def test_one_device_under_two_names_is_refused() -> None:
    wal = a_volume(
        name="wal",
        device="/dev/disk/by-id/x",
        mount="/var/lib/etcd-wal",
        directory="/var/lib/etcd-wal/member",
        label="etcd-wal",
    )
    host = {
        "devices": {"/dev/vdb": a_device(), "/dev/disk/by-id/x": a_device(path="/dev/disk/by-id/x")},
        "mounts": {"/var/lib/etcd": a_mount(), "/var/lib/etcd-wal": a_mount()},
    }
    result = volumes.plan_volumes(host, [a_volume(), wal], "/var/lib/etcd/data", "/var/lib/etcd-wal/member/wal")
    assert result["problems"] == [
        "/dev/disk/by-id/x is both the data volume and the wal volume (/dev/vdb): leave etcd_storage_wal_device empty, or name two devices."
    ]


@pytest.mark.parametrize(
    ("volume", "message"),
    [
        ({"fstype": "btrfs"}, "etcd_storage_fstype is 'btrfs', but must be one of ext4, xfs"),
        (
            {"directory": "/var/lib/etcd"},
            "/var/lib/etcd, etcd's own directory, is not below the mount point /var/lib/etcd",
        ),
        ({"directory": "/var/lib/etcd-data"}, "is not below the mount point"),
        ({"options": ["noatime", "nobarrier"]}, "acknowledged writes would be lost in a power failure"),
        ({"options": ["noatime,nobarrier"]}, "etcd_storage_mount_options has nobarrier"),
        ({"options": ["noatime, noauto"]}, "etcd_storage_mount_options has noauto"),
        ({"options": "noatime,ro"}, "etcd_storage_mount_options has ro"),
        ({"options": ["ro"]}, "etcd_storage_mount_options has ro: etcd could not write"),
        (
            {"name": "wal", "directory": ""},
            "etcd_storage_wal_device is /dev/vdb, but etcd_wal_dir is empty: remove etcd_wal_dir, so that the log is on that",
        ),
        ({"min_size": "much"}, "etcd_storage_data_min_size is 'much', which is not a valid size"),
    ],
)
def test_invalid_settings(volume: dict[str, Any], message: str) -> None:
    assert message in plan_for(a_device(), a_mount(), **volume)["problems"][0]


def test_two_volumes_need_two_mount_points() -> None:
    two = [a_volume(device=""), a_volume(device="", name="wal")]
    assert "the same mount point" in volumes.plan_volumes({}, two, "/var/lib/etcd/data")["problems"][0]


@pytest.mark.parametrize(
    ("data", "wal", "refused"), [("/srv/etcd/data", "/srv/etcd", True), ("/srv/etcd", "/srv/etcd/wal", False)]
)
def test_data_below_the_mount_point_of_the_wal_is_refused(data: str, wal: str, refused: bool) -> None:
    """The data volume is mounted first, so the other one would hide it."""
    asked = [
        a_volume(mount=data, directory=f"{data}/db"),
        a_volume(name="wal", device="/dev/vdc", mount=wal, directory=f"{wal}/member", label="etcd-wal"),
    ]
    second = a_device(path="/dev/vdc", resolved="/dev/vdc", number="254:32")
    host = {"devices": {"/dev/vdb": a_device(), "/dev/vdc": second}, "mounts": {data: a_mount(), wal: a_mount()}}
    problem = (
        "etcd_storage_data_mount is /srv/etcd/data, below the mount point of the wal volume, /srv/etcd: the wal volume would hide it. "
        "Set mount points next to each other, such as /var/lib/etcd and /var/lib/etcd-wal."
    )
    found = volumes.plan_volumes(host, asked, f"{data}/db", f"{wal}/member/wal")["problems"]
    assert found == ([problem] if refused else [])
    # Without a device of its own, a directory of the other volume or of the host is used.
    asked[1]["device"] = ""
    assert volumes.plan_volumes(host, asked, f"{data}/db", f"{wal}/member/wal")["problems"] == []


def test_no_plan_without_a_device() -> None:
    nothing = {"problems": [], "volumes": [], "wal_move": {}}
    assert volumes.plan_volumes({}, [a_volume(device="")], "/var/lib/etcd/data") == nothing


BY_ID = "/dev/disk/by-id/virtio-x"
FOREIGN = {"signature": "ntfs filesystem", "usage": "filesystem", "fstype": "ntfs", "uuid": "01D9", "links": [BY_ID]}


@pytest.mark.parametrize("name", [BY_ID, "UUID=01D9"])
def test_device_named_by_its_exact_id_is_erased(name: str) -> None:
    (volume,) = plan_for(a_device(**FOREIGN), a_mount(), ["UUID=other", name])["volumes"]
    assert (volume["erase"], volume["format"], volume["attach"], volume["grow"]) == (name, True, True, False)
    # The old filesystem's UUID disappears with it.
    assert volume["source"] == "UUID=(made with the filesystem)"


@pytest.mark.parametrize(
    ("device", "erase", "message"),
    [
        (FOREIGN, ["UUID=other", "/dev/disk/by-id/virtio-y"], "is not blank"),
        (FOREIGN, ["/dev/vdb"], "etcd_storage_erase_devices has /dev/vdb, which may be another device"),
        ({**FOREIGN, "busy": True, "mounted_at": ["/srv"]}, [BY_ID], "is mounted at /srv"),
        ({**FOREIGN, "busy": True, "mounted_at": ["/var/lib/etcd"]}, [BY_ID], "is not blank"),
        ({**FOREIGN, "busy": True}, [BY_ID], "is in use"),
        ({**FOREIGN, "swap": True}, [BY_ID], "is used as swap"),
        ({**FOREIGN, "holders": ["dm-0"]}, [BY_ID], "is held by dm-0"),
        ({**FOREIGN, "partitions": ["vdb1"]}, [BY_ID], "carries partitions"),
        ({**FOREIGN, "read_only": True}, [BY_ID], "is read-only"),
        ({**FOREIGN, "probe_error": "cannot be read: Permission denied"}, [BY_ID], "Become root"),
    ],
)
def test_device_in_use_is_never_erased(device: dict[str, Any], erase: list[str], message: str) -> None:
    result = plan_for(a_device(**device), a_mount(), erase)
    assert message in result["problems"][0] and not any(volume["erase"] for volume in result["volumes"])


def test_own_filesystem_is_not_erased_by_a_leftover_id() -> None:
    (volume,) = plan_for(ours(links=[BY_ID]), a_mount(), [BY_ID])["volumes"]
    assert volume["erase"] is None and volume["format"] is False


@pytest.mark.parametrize(
    ("found", "asked", "said"),
    [
        ({}, {"fstype": "xfs"}, "the label 'etcd-data'), but etcd_storage_fstype is xfs: set it to ext4."),
        ({"label": "etcd-wal"}, {}, "correct etcd_storage_data_device (are the devices of the two volumes swapped?)."),
        ({"label": "etcd-wal"}, {"fstype": "xfs"}, "add 'UUID=5c14' to etcd_storage_erase_devices"),
        ({}, {"name": "wal", "label": "etcd-wal"}, "correct etcd_storage_wal_device (are the devices of the two"),
    ],
    ids=["other filesystem", "swapped, data", "swapped, other filesystem", "swapped, wal"],
)
@pytest.mark.parametrize("entry", [BY_ID, f"{BY_ID} ext4"])
def test_volume_of_etcd_that_does_not_match_is_not_erased_by_a_leftover_id(
    found: dict[str, Any], asked: dict[str, Any], said: str, entry: str
) -> None:
    """It is not mounted, for example after a rescue boot: only the UUID says that this filesystem is meant."""
    label = found.get("label", "etcd-data")
    result = plan_for(ours(links=[BY_ID], **found), a_mount(), [entry], device=BY_ID, **asked)
    (problem,) = result["problems"]
    assert result["volumes"] == []
    assert f"'{entry}' in etcd_storage_erase_devices may be left over" in problem and f"the label '{label}'" in problem
    assert said in problem
    (volume,) = plan_for(ours(links=[BY_ID], **found), a_mount(), [entry, "UUID=5c14"], device=BY_ID, **asked)[
        "volumes"
    ]
    assert volume["erase"] == "UUID=5c14" and volume["format"]


def test_volume_whose_mkfs_was_interrupted_is_erased_by_its_uuid() -> None:
    """mkfs.xfs writes the label before it is complete; the kernel does not mount such a filesystem."""
    found = ours(signature="xfs filesystem", fstype="xfs", incomplete=True)
    [problem] = plan_for(found, a_mount(), fstype="xfs")["problems"]
    assert "its mkfs was interrupted" in problem and "add 'UUID=5c14' to etcd_storage_erase_devices" in problem
    (volume,) = plan_for(found, a_mount(), ["UUID=5c14"], fstype="xfs")["volumes"]
    assert (volume["erase"], volume["format"]) == ("UUID=5c14", True)


def test_uuid_link_cannot_name_the_device_to_erase() -> None:
    result = plan_for(a_device(**FOREIGN), a_mount(), [BY_ID], device="/dev/disk/by-uuid/01D9")
    assert "name the device by /dev/disk/by-id" in result["problems"][0]


@pytest.mark.parametrize(
    ("filesystem", "grows"),
    [(None, False), (10 * GIB, False), (10 * GIB - (15 << 20), False), (10 * GIB - (16 << 20), True), (8 * GIB, True)],
)
def test_filesystem_grows_with_its_device(filesystem: int | None, grows: bool) -> None:
    (volume,) = plan_for(ours(filesystem_size=filesystem, busy=True, mounted_at=["/var/lib/etcd"]), mounted())[
        "volumes"
    ]
    assert volume["grow"] is grows and volume["format"] is False
    assert volume["gain"] == (10 * GIB - filesystem if filesystem else 0)


DATA_LOG, OWN_LOG = "/var/lib/etcd/data/member/wal", "/var/lib/etcd-wal/member/wal"


@pytest.mark.parametrize("logs", [[], [DATA_LOG, OWN_LOG], [DATA_LOG]])
def test_a_restore_needs_no_log(logs: list[str]) -> None:
    """It replaces the log: neither a lost one nor two are a problem, and none has to move."""
    host = {"member": {"present": True, "db_size": 1, "wal_dirs": logs}}
    restored = volumes.plan_volumes(host, [], "/var/lib/etcd/data", OWN_LOG, restoring=True)
    assert (restored["problems"], restored["wal_move"]) == ([], {})
    plan = volumes.plan_volumes(host, [], "/var/lib/etcd/data", OWN_LOG)
    assert plan["problems"] or plan["wal_move"]


def test_log_on_an_unmounted_volume_is_not_missing() -> None:
    volume = a_volume(name="wal", mount="/var/lib/etcd-wal", directory="/var/lib/etcd-wal/member", label="etcd-wal")
    host = {
        "member": {"present": True, "db_size": 1, "wal_dirs": []},
        "devices": {"/dev/vdb": ours(label="etcd-wal")},
        "mounts": {"/var/lib/etcd-wal": a_mount()},
    }
    assert volumes.plan_volumes(host, [volume], "/var/lib/etcd/data", OWN_LOG)["problems"] == []
    host["devices"]["/dev/vdb"].update(mounted_at=["/var/lib/etcd-wal"], busy=True)
    host["mounts"]["/var/lib/etcd-wal"] = mounted()
    assert len(volumes.plan_volumes(host, [volume], "/var/lib/etcd/data", OWN_LOG)["problems"]) == 1


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


LOST = {"member": {"present": True, "db_size": None, "wal_dirs": ["/var/lib/etcd-wal/member/wal"]}}


@pytest.mark.parametrize(
    ("device", "problems"),
    [(a_device(), 1), (a_device(**FOREIGN), 1), (ours(), 0)],
    ids=["blank", "to be erased", "not mounted yet"],
)
def test_device_of_a_lost_database_is_not_formatted(device: dict[str, Any], problems: int) -> None:
    host = {**LOST, "devices": {"/dev/vdb": device}, "mounts": {"/var/lib/etcd": a_mount()}}
    places = ("/var/lib/etcd/data", "/var/lib/etcd-wal/member/wal")
    found = volumes.plan_volumes(host, [a_volume()], *places, erase=["UUID=01D9"], recovery="replace n2")["problems"]
    assert len(found) == problems
    assert all(
        "no database in /var/lib/etcd/data, whose device /dev/vdb is not formatted: etcd" in one for one in found
    )
