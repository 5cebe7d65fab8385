#!/usr/bin/python
# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything that the roles must know of a host before they change it, in one call."""

from __future__ import annotations

DOCUMENTATION = r"""
module: etcd_host_info
short_description: What an etcd host has, before anything is changed
version_added: 0.1.0
description:
  - Reads everything that the roles of this collection need to know of a host, in one call - the system, its addresses,
    block devices, mounts, files, users, commands, the etcd versions installed, whether a member lives there, and the state
    of its service.
  - Replaces gathering facts and a row of small reading tasks. Changes nothing.
options:
  commands:
    description: Commands to look for, in E(PATH) and in the system administrator's folders.
    type: list
    elements: str
    default: []
  python_modules:
    description: Python modules to look for, with the interpreter that Ansible uses on the host. They are not imported.
    type: list
    elements: str
    default: []
  devices:
    description: Block devices to describe. Links, such as those in C(/dev/disk/by-id), are followed.
    type: list
    elements: path
    default: []
  mounts:
    description: Mount points to describe.
    type: list
    elements: path
    default: []
  files:
    description: Files and folders to describe. Of regular files up to 256 MiB the digest is returned.
    type: list
    elements: path
    default: []
  users:
    description: Names of users to describe.
    type: list
    elements: str
    default: []
  unit:
    description: The systemd service to describe, for example V(etcd.service).
    type: str
  install_dir:
    description: The folder below which each installed etcd version has a folder named after it.
    type: path
    default: /opt/etcd
  data_dir:
    description: etcd's data dir. If given, it is looked whether a member lives there.
    type: path
  wal_dir:
    description: etcd's WAL dir, where it is not below O(data_dir).
    type: path
  config_file:
    description: etcd's config file. If it names another WAL dir than O(wal_dir), it is looked whether the member's log is there.
    type: path
    version_added: 0.2.0
attributes:
  check_mode:
    description: Reads only, so check mode makes no difference.
    support: full
  diff_mode:
    description: Changes nothing, so there is nothing to compare.
    support: none
  platform:
    description: Linux.
    support: full
    platforms: linux
notes:
  - Without root, signatures of devices, environments of other users' processes and protected files cannot be read.
seealso:
  - module: etcdops.headroom.etcd_disk_check
author:
  - Headroom contributors (@etcdops)
"""

EXAMPLES = r"""
- name: Look at the host once
  etcdops.headroom.etcd_host_info:
    commands: [fio, mkfs.ext4]
    python_modules: [cryptography]
    devices: [/dev/disk/by-id/nvme-data]
    mounts: [/var/lib/etcd]
    files: [/etc/etcd/etcd.yml]
    users: [etcd]
    unit: etcd.service
    data_dir: /var/lib/etcd/data
  register: _etcd_host

- name: Stop on a host without systemd
  ansible.builtin.assert:
    that: _etcd_host.systemd.running
    fail_msg: "{{ inventory_hostname }} does not run systemd as its init."
"""

RETURN = r"""
hostname:
  description: The host's own name, as E(HOSTNAME) would be.
  type: str
  returned: always
  sample: n1
fqdn:
  description: The host's fully qualified name as its resolver knows it; the same as RV(hostname) where it knows none.
  type: str
  returned: always
  sample: n1.example.net
machine:
  description: The machine's architecture as C(uname -m) prints it.
  type: str
  returned: always
  sample: x86_64
architecture:
  description: The architecture as etcd's release archives spell it, none if etcd has no release for it.
  type: str
  returned: always
  sample: amd64
kernel:
  description: Release of the running kernel.
  type: str
  returned: always
  sample: 6.1.0-30-amd64
distribution:
  description: RV(ignore:id), RV(ignore:version), RV(ignore:codename) from os-release, and RV(ignore:family) - debian, redhat, suse, arch, alpine
    or none.
  type: dict
  returned: always
  sample: {id: debian, version: "12", codename: bookworm, family: debian}
package_manager:
  description: What C(ansible.builtin.package) takes as O(ignore:use), none if no known one is there.
  type: str
  returned: always
  sample: apt
python_version:
  description: Version of the Python that runs the modules on the host.
  type: str
  returned: always
  sample: 3.11.2
cpus:
  description: Number of CPUs that this process may run on.
  type: int
  returned: always
  sample: 4
memory_total:
  description: The host's memory in bytes.
  type: int
  returned: always
  sample: 8349364224
swap_total:
  description: Active swap in bytes.
  type: int
  returned: always
  sample: 0
cgroup_version:
  description: 2 for the unified hierarchy, 1 for the older ones and the hybrid, none where there is none.
  type: int
  returned: always
  sample: 2
systemd:
  description: RV(ignore:running) is true if systemd is the host's init, RV(ignore:version) its version (an integer) or none.
  type: dict
  returned: always
  sample: {running: true, version: 252}
addresses:
  description: All of the host's addresses, IPv4 first, without loopback and link-local ones.
  type: list
  elements: str
  returned: always
  sample: [10.0.0.11, "2001:db8::11"]
default_ipv4:
  description: The IPv4 address that the host sends from by default, none without a route.
  type: str
  returned: always
  sample: 10.0.0.11
default_ipv6:
  description: The IPv6 address that the host sends from by default, none without a route.
  type: str
  returned: always
  sample: 2001:db8::11
commands:
  description: For each of O(commands) its path, or none.
  type: dict
  returned: always
  sample: {fio: /usr/bin/fio, mkfs.xfs: null}
python_modules:
  description: For each of O(python_modules) whether it is there.
  type: dict
  returned: always
  sample: {cryptography: true}
devices:
  description:
    - For each of O(devices), by the name given, a description.
    - RV(ignore:path), RV(ignore:resolved) (links followed), RV(ignore:exists) and RV(ignore:is_block) are always there, the rest only for block
      devices.
    - RV(ignore:number) is C(major:minor); compare these to know whether two names mean one device.
    - RV(ignore:size) in bytes; RV(ignore:name) and RV(ignore:disk), the kernel's names of the device and of its whole disk;
      RV(ignore:is_partition), RV(ignore:partitions), RV(ignore:holders), RV(ignore:slaves); RV(ignore:read_only).
    - RV(ignore:signature) says in words what the device carries, none if it is blank; RV(ignore:fstype), RV(ignore:label), RV(ignore:uuid),
      RV(ignore:partition_table). RV(ignore:probe_error) is the reason if it could not be read - then the device must not be taken for blank.
    - RV(ignore:mounted_at) (list of mount points), RV(ignore:swap), and RV(ignore:busy) - the kernel holds it for a mount (in any namespace), LVM,
      RAID or swap.
    - RV(ignore:rotational), RV(ignore:scheduler), RV(ignore:schedulers), RV(ignore:write_cache) of its disk's queue.
    - RV(ignore:filesystem_size) is the size in bytes that an ext4 or XFS filesystem has given itself, none for others.
    - RV(ignore:links) are the device's names that last (below C(/dev/disk)); RV(ignore:disks) the whole disks below it, below LVM and RAID too, each
      with name, links, rotational, scheduler and schedulers; RV(ignore:neighbours) the databases and container engines that write to one of
      these disks, each with name, path and disk.
  type: dict
  returned: always
  sample:
    /dev/vdb:
      path: /dev/vdb
      resolved: /dev/vdb
      exists: true
      is_block: true
      number: "254:16"
      size: 10737418240
      name: vdb
      disk: vdb
      is_partition: false
      partitions: []
      holders: []
      slaves: []
      read_only: false
      signature: ext4 filesystem
      fstype: ext4
      label: etcd-data
      uuid: 5c1416fc-6481-420b-8ee5-26b1001477a8
      partition_table: null
      probe_error: null
      mounted_at: [/var/lib/etcd]
      swap: false
      busy: true
      rotational: false
      scheduler: none
      schedulers: [none, mq-deadline]
      write_cache: write back
      filesystem_size: 10737418240
      links: [/dev/disk/by-id/virtio-etcd-data, /dev/disk/by-uuid/5c1416fc-6481-420b-8ee5-26b1001477a8]
      disks:
        - {name: vdb, links: [/dev/disk/by-id/virtio-etcd-data], rotational: false, scheduler: none, schedulers: [none, mq-deadline]}
      neighbours: []
mounts:
  description:
    - For each of O(mounts), by the name given, a description.
    - RV(ignore:mounted) is true if something is mounted exactly there. RV(ignore:covered_by), RV(ignore:number), RV(ignore:source),
      RV(ignore:fstype) and RV(ignore:options) describe that mount, or else the one that the path lies on.
    - RV(ignore:exists), RV(ignore:entries) (number of names in the folder), RV(ignore:mode), RV(ignore:uid) of the folder as it is seen now;
      RV(ignore:size) and RV(ignore:available) of its filesystem, in bytes.
    - RV(ignore:fstab) is the entry for this mount point (source, mount_point, fstype, options, dump, passno - all strings) or none.
    - RV(ignore:disks) and RV(ignore:neighbours) are as with RV(devices).
  type: dict
  returned: always
  sample:
    /var/lib/etcd:
      path: /var/lib/etcd
      exists: true
      mounted: true
      entries: 2
      covered_by: /var/lib/etcd
      number: "254:16"
      source: /dev/vdb
      fstype: ext4
      options: [rw, noatime]
      size: 10464022528
      available: 9910452224
      mode: "0755"
      uid: 0
      fstab: {source: UUID=5c1416fc-6481-420b-8ee5-26b1001477a8, mount_point: /var/lib/etcd, fstype: ext4, options: noatime, dump: "0", passno: "2"}
      disks:
        - {name: vdb, links: [/dev/disk/by-id/virtio-etcd-data], rotational: false, scheduler: none, schedulers: [none, mq-deadline]}
      neighbours: [{name: PostgreSQL, path: /var/lib/postgresql, disk: vdb}]
files:
  description:
    - For each of O(files), by the name given, a description.
    - RV(ignore:exists), RV(ignore:type) (file, directory or other), RV(ignore:target) (of a link, else none), and if it exists RV(ignore:size),
      RV(ignore:sha256) (none for what is no regular file), RV(ignore:mode) (a string of four digits), RV(ignore:owner), RV(ignore:group).
  type: dict
  returned: always
  sample:
    /etc/etcd/etcd.yml: {exists: true, type: file, target: null, size: 1024, sha256: "9f86…", mode: "0640", owner: root, group: etcd}
users:
  description: For each of O(users) RV(ignore:exists), and if it does RV(ignore:uid), RV(ignore:gid), RV(ignore:group), RV(ignore:home),
    RV(ignore:shell).
  type: dict
  returned: always
  sample:
    etcd: {exists: true, uid: 998, gid: 998, group: etcd, home: /var/lib/etcd, shell: /usr/sbin/nologin}
versions:
  description: The etcd versions installed below O(install_dir), lowest first.
  type: list
  elements: str
  returned: always
  sample: [3.6.16, 3.7.3]
member:
  description:
    - RV(ignore:present) is true if the data dir or the WAL dir holds a member; RV(ignore:db_size) in bytes (none without a database);
      RV(ignore:wal_files) and RV(ignore:wal_size) are number and bytes of the WAL segments, RV(ignore:wal_dirs) the folders that they are in (below
      the data dir, O(wal_dir), the one in O(config_file), or several).
    - RV(ignore:wal_asides) are the folders whose log was set aside when M(etcdops.headroom.etcd_wal_move) moved it.
  type: dict
  returned: if O(data_dir) is given
  sample:
    present: true
    db_size: 16805888
    wal_files: 1
    wal_size: 64000000
    wal_dirs: [/var/lib/etcd-wal/member/wal]
    wal_asides: []
unit:
  description:
    - State of O(unit) as systemd has it - RV(ignore:name), RV(ignore:load_state) (C(not-found) if there is none), RV(ignore:active_state),
      RV(ignore:sub_state), RV(ignore:enabled_state), RV(ignore:result), RV(ignore:restarts),
      RV(ignore:main_pid) (0 if it does not run), RV(ignore:needs_reload).
    - Of the running process RV(ignore:digest), the value of E(HEADROOM_DIGEST) in its environment, and RV(ignore:executable), its binary; both
      none if it does not run.
  type: dict
  returned: if O(unit) is given and systemd runs
  sample:
    name: etcd.service
    load_state: loaded
    active_state: active
    sub_state: running
    enabled_state: enabled
    result: success
    restarts: 0
    main_pid: 812
    needs_reload: false
    digest: 5f2a
    executable: /opt/etcd/3.7.3/etcd
"""

import os
import platform
import socket
from typing import Any

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.etcdops.headroom.plugins.module_utils._host import block_devices
from ansible_collections.etcdops.headroom.plugins.module_utils._host import facts as host_facts
from ansible_collections.etcdops.headroom.plugins.module_utils._host import mounts as host_mounts
from ansible_collections.etcdops.headroom.plugins.module_utils._storage import devices as storage_devices
from ansible_collections.etcdops.headroom.plugins.module_utils._storage import neighbours as storage_neighbours
from ansible_collections.etcdops.headroom.plugins.module_utils._storage import wal_move

UNIT_PROPERTIES = "Id,LoadState,ActiveState,SubState,UnitFileState,Result,NRestarts,MainPID,NeedDaemonReload"


def system_facts() -> dict[str, Any]:
    """The host itself: names, architecture, distribution, memory, addresses, systemd."""
    hostname = socket.gethostname()
    machine = platform.machine()
    code, version = host_facts.run(["systemctl", "--version"])
    words = version.split()
    managers = [name for command, name in host_facts.PACKAGE_MANAGERS.items() if host_facts.find_command(command)]
    return {
        "hostname": hostname,
        "fqdn": host_facts.full_name(hostname),
        "machine": machine,
        "architecture": host_facts.GO_ARCHITECTURES.get(machine),
        "kernel": platform.release(),
        "distribution": host_facts.parse_os_release(
            host_facts.read_text("/etc/os-release") or host_facts.read_text("/usr/lib/os-release")
        ),
        "package_manager": managers[0] if managers else None,
        "python_version": platform.python_version(),
        "cpus": len(os.sched_getaffinity(0)),
        **host_facts.parse_meminfo(host_facts.read_text("/proc/meminfo")),
        "cgroup_version": host_facts.cgroup_version(),
        "systemd": {
            "running": os.path.isdir("/run/systemd/system"),  # sd_booted(3)
            "version": int(words[1]) if code == 0 and len(words) > 1 and words[1].isdigit() else None,
        },
        "addresses": host_facts.parse_fib_trie(host_facts.read_text("/proc/net/fib_trie"))
        + host_facts.parse_if_inet6(host_facts.read_text("/proc/net/if_inet6")),
        # Addresses for documentation (RFC 5737, RFC 3849): nothing is sent, only the route is looked up.
        "default_ipv4": host_facts.route_source(socket.AF_INET, "192.0.2.1"),
        "default_ipv6": host_facts.route_source(socket.AF_INET6, "2001:db8::1"),
    }


def unit_facts(name: str) -> dict[str, Any]:
    """State of a service, and digest and binary of its process."""
    shown = host_facts.parse_systemctl_show(
        host_facts.run(["systemctl", "show", name, "--property", UNIT_PROPERTIES])[1]
    )
    pid = int(shown.get("MainPID") or 0)
    return {
        "name": shown.get("Id", name),
        "load_state": shown.get("LoadState"),
        "active_state": shown.get("ActiveState"),
        "sub_state": shown.get("SubState"),
        "enabled_state": shown.get("UnitFileState") or None,
        "result": shown.get("Result"),
        "restarts": int(shown.get("NRestarts") or 0),
        "main_pid": pid,
        "needs_reload": shown.get("NeedDaemonReload") == "yes",
        "digest": host_facts.process_environment(pid, "HEADROOM_DIGEST") if pid else None,
        "executable": host_facts.process_executable(pid) if pid else None,
    }


def storage_facts(devices: list[str], paths: list[str]) -> dict[str, Any]:
    """The block devices and mount points, and who else writes to their disks."""
    mounts, swaps, fstab = host_mounts.read_mounts(), block_devices.read_swaps(), block_devices.read_fstab()
    found_devices = {path: block_devices.device_facts(path, mounts, swaps, host_facts.run) for path in devices}
    found_mounts = {path: block_devices.mount_facts(path, mounts, fstab) for path in paths}
    neighbours = storage_neighbours.find_neighbours(storage_devices.whole_disks) if devices or paths else []
    for device in found_devices.values():
        if device["is_block"]:
            device.update(storage_devices.filesystem_and_disks(device, mounts, neighbours))
    for mount in found_mounts.values():
        mount.update(storage_devices.disks_and_neighbours(mount["number"], neighbours))
    return {"devices": found_devices, "mounts": found_mounts}


def main() -> None:
    """Read what was asked for and return it."""
    lists = {
        name: {"type": "list", "elements": kind, "default": []}
        for name, kind in {
            "commands": "str",
            "python_modules": "str",
            "devices": "path",
            "mounts": "path",
            "files": "path",
            "users": "str",
        }.items()
    }
    module = AnsibleModule(
        argument_spec={
            **lists,
            "unit": {"type": "str"},
            "install_dir": {"type": "path", "default": "/opt/etcd"},
            "data_dir": {"type": "path"},
            "wal_dir": {"type": "path"},
            "config_file": {"type": "path"},
        },
        supports_check_mode=True,
    )
    asked = module.params
    facts = {**system_facts(), **storage_facts(asked["devices"], asked["mounts"])}
    facts.update(
        commands={name: host_facts.find_command(name) for name in asked["commands"]},
        python_modules={name: host_facts.has_python_module(name) for name in asked["python_modules"]},
        files={path: host_facts.file_facts(path) for path in asked["files"]},
        users={name: host_facts.user_facts(name) for name in asked["users"]},
        versions=host_facts.installed_versions(asked["install_dir"]),
    )
    data_dir: str | None = asked["data_dir"]
    if data_dir:
        config = host_facts.read_text(asked["config_file"]) if asked["config_file"] else ""
        facts["member"] = wal_move.member_facts(data_dir, asked["wal_dir"], config)
    if asked["unit"] and facts["systemd"]["running"]:
        facts["unit"] = unit_facts(asked["unit"])
    module.exit_json(changed=False, **facts)


if __name__ == "__main__":
    main()
