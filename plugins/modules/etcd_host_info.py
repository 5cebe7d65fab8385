#!/usr/bin/python
# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather all facts that the roles need about a host, in one call."""

from __future__ import annotations

DOCUMENTATION = r"""
module: etcd_host_info
short_description: Describe an etcd host in one call
version_added: 0.1.0
description:
  - Gathers in one call all facts about a host that the roles of this collection need - the system, its addresses, block devices, mounts, files, users,
    commands, the installed etcd versions, the member's data, and the state of its service.
  - On request it also inspects certificates, returns the recorded disk benchmarks of the host, queries the cluster and the running member, and reads
    the priority of the member's threads.
  - Replaces fact gathering and many small tasks. Changes nothing.
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
    description: Files and folders to describe. For regular files up to O(digest_limit), the digest is returned.
    type: list
    elements: path
    default: []
  digest_limit:
    description: The size in bytes of the largest file of O(files) whose digest is returned. Reading larger files takes time.
    type: int
    default: 268435456
    version_added: 0.3.0
  users:
    description: Names of users to describe.
    type: list
    elements: str
    default: []
  groups:
    description: Names of groups of users to describe.
    type: list
    elements: str
    default: []
    version_added: 0.3.0
  unit:
    description: The systemd service to describe, for example V(etcd.service).
    type: str
  install_dir:
    description: The folder with one subfolder for each installed etcd version.
    type: path
    default: /opt/etcd
  data_dir:
    description: etcd's data dir. If set, the module checks whether it contains a member.
    type: path
  wal_dir:
    description: etcd's WAL dir, if it is not below O(data_dir).
    type: path
  config_file:
    description: etcd's config file. If it names another WAL dir than O(wal_dir), the module also looks for the member's log there.
    type: path
    version_added: 0.3.0
  certificates:
    description: The CA and the certificates to inspect, as M(etcdops.headroom.etcd_tls_info) does.
    type: dict
    version_added: 0.3.0
    suboptions:
      ca:
        description: Text of the CA's certificate, empty if there is none yet.
        type: str
        required: true
      ca_file:
        description: The file on the host that should hold O(certificates.ca).
        type: path
      certificates:
        description: The certificates.
        type: list
        elements: dict
        required: true
        suboptions:
          name:
            description: Key of the entry in the result.
            type: str
            required: true
          certificate:
            description: File of the certificate.
            type: path
            required: true
          key:
            description: File of its private key.
            type: path
            required: true
          names:
            description: DNS names and addresses that the certificate must contain.
            type: list
            elements: str
            default: []
          usages:
            description: Extended key usages that it must have.
            type: list
            elements: str
            choices: [server, client]
            default: []
          key_mode:
            description: Mode that the key's file must have.
            type: str
          key_group:
            description: Group that the key's file must have.
            type: str
          peer:
            description: Whether it is signed by the CA of O(certificates.peer), if there is one.
            type: bool
            default: false
          common_name:
            description: Common name that it must have. Empty if it does not matter.
            type: str
            default: ""
      host_names:
        description:
          - Names of the host itself that each certificate with usage V(server) must also contain.
          - With V(all) its hostname, its fully qualified name and its default addresses; with V(address) its default address.
        type: str
        choices: [none, address, all]
        default: none
      exact_names:
        description: Whether additional names are a problem.
        type: bool
        default: false
      keep_names:
        description: Whether a staged certificate must be valid for all names of the installed one.
        type: bool
        default: true
      dropped_names:
        description: Names that a certificate must not contain.
        type: list
        elements: str
        default: []
      directory:
        description: The directory in which M(etcdops.headroom.etcd_tls_set) stages a set of these certificates. If given, that set is inspected, too.
        type: path
      issuer:
        description: SHA-256 of the public key of the CA that must have signed the certificates, if several CAs are trusted.
        type: str
      peer:
        description: The separate CA of the peers.
        type: dict
        suboptions:
          ca:
            description: Text of its certificate, empty if peers and clients share O(certificates.ca).
            type: str
            required: true
          ca_file:
            description: The file on the host that should hold it.
            type: path
            required: true
          issuer:
            description: The same as O(certificates.issuer), for the certificates of peers.
            type: str
      renew_before:
        description: A certificate that expires within this number of days is a problem.
        type: int
        default: 30
  disk_checks:
    description: Directories whose recorded benchmarks by M(etcdops.headroom.etcd_disk_check) to return. Nothing is measured.
    type: list
    elements: dict
    default: []
    version_added: 0.3.0
    suboptions:
      path:
        description: The directory.
        type: path
        required: true
      fsync_p99_max_ms:
        description: The limit for the 99th percentile in milliseconds. If it is not a valid number, there is no result.
        type: raw
        default: 10
  cluster:
    description: How to reach the cluster. It is queried only if O(data_dir) contains a member and C(etcdctl) is installed.
    type: dict
    version_added: 0.3.0
    suboptions:
      endpoints:
        description: Client URLs; the first one is that of the member on this host.
        type: list
        elements: str
        required: true
      ca_cert:
        description: The CA that signed the members' certificates.
        type: path
        default: /etc/etcd/tls/ca.crt
      client_cert:
        description: The client's certificate.
        type: path
        default: /etc/etcd/tls/client.crt
      client_key:
        description: Its private key.
        type: path
        default: /etc/etcd/tls/client.key
      etcdctl_path:
        description:
          - The C(etcdctl) to use if there is none below O(install_dir).
          - The newest one there is used, because before 3.6 C(etcdctl) does not show that a downgrade is enabled.
        type: path
        default: /usr/local/bin/etcdctl
      request_timeout:
        description: Seconds that one request may take.
        type: float
        default: 3.0
      fsync_p99_max_ms:
        description: The limit that RV(disk_live) compares WAL fsyncs with, in milliseconds, a number.
        type: raw
        default: 10
  priority:
    description: The priority that every thread of O(unit) should have.
    type: dict
    version_added: 0.3.0
    suboptions:
      io_class:
        description: The I/O class.
        type: str
      io_priority:
        description: The I/O priority within the class.
        type: int
      nice:
        description: The nice value.
        type: int
  maintenance:
    description: The expected installation of the maintenance program, without the endpoints of other members.
    type: dict
    version_added: 0.3.0
    suboptions:
      config:
        description: See M(etcdops.headroom.etcd_maintenance). Its endpoints are not compared; RV(maintenance) returns the installed ones.
        type: dict
        required: true
      units:
        description: See M(etcdops.headroom.etcd_maintenance).
        type: dict
        default: {}
      modules_digest:
        description: The digest of the program's modules. The action on the controller sets it.
        type: str
        default: ""
      bucket_keys:
        description: See M(etcdops.headroom.etcd_maintenance).
        type: dict
        suboptions:
          access_key:
            description: The access key.
            type: str
            default: ""
          secret_key:
            description: The secret key.
            type: str
            default: ""
      lib_dir:
        description: See M(etcdops.headroom.etcd_maintenance).
        type: path
        default: /usr/local/lib/headroom
      program:
        description: See M(etcdops.headroom.etcd_maintenance).
        type: path
        default: /usr/local/sbin/headroom
      config_file:
        description: See M(etcdops.headroom.etcd_maintenance).
        type: path
        default: /etc/etcd/maintenance.json
      credentials_file:
        description: See M(etcdops.headroom.etcd_maintenance).
        type: path
        default: /etc/etcd/backup-bucket.credentials
      unit_dir:
        description: See M(etcdops.headroom.etcd_maintenance).
        type: path
        default: /etc/systemd/system
      joining:
        description: See M(etcdops.headroom.etcd_maintenance).
        type: bool
        default: false
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
  - module: etcdops.headroom.etcd_cluster_info
  - module: etcdops.headroom.etcd_disk_check
  - module: etcdops.headroom.etcd_disk_live_info
  - module: etcdops.headroom.etcd_priority
  - module: etcdops.headroom.etcd_tls_info
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
  description: The value for O(ignore:use) of C(ansible.builtin.package), none if there is no known package manager.
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
memory_limit:
  description: The memory limit of the control group that contains the host's init, in bytes. A container may have one; none without one.
  type: int
  returned: always
  sample: 4294967296
swap_total:
  description: Active swap in bytes.
  type: int
  returned: always
  sample: 0
cgroup_version:
  description: 2 for the unified hierarchy, 1 for the legacy and the hybrid one, none without cgroups.
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
listening:
  description: The addresses and ports on which processes other than O(unit) listen.
  type: list
  elements: str
  returned: if O(unit) is given and systemd runs
  version_added: 0.3.0
  sample: ["0.0.0.0:22", "127.0.0.1:9100", "[::]:22"]
default_ipv4:
  description: The source address of the default IPv4 route, none without a route.
  type: str
  returned: always
  sample: 10.0.0.11
default_ipv6:
  description:
    - The source address of the default IPv6 route, none without a route.
    - If that is a temporary (privacy), deprecated or tentative address, a permanent address of the same interface; none if there is none.
  type: str
  returned: always
  sample: 2001:db8::11
commands:
  description: For each of O(commands) its path, or none.
  type: dict
  returned: always
  sample: {fio: /usr/bin/fio, mkfs.xfs: null}
python_modules:
  description: For each of O(python_modules) whether it is installed.
  type: dict
  returned: always
  sample: {cryptography: true}
devices:
  description:
    - For each of O(devices), by the name given, a description.
    - RV(ignore:path), RV(ignore:resolved) (links followed), RV(ignore:exists) and RV(ignore:is_block) are always there, the rest only for block
      devices.
    - RV(ignore:number) is C(major:minor). Two names with the same number are the same device.
    - RV(ignore:size) in bytes; RV(ignore:name) and RV(ignore:disk), the kernel's names of the device and of its whole disk;
      RV(ignore:is_partition), RV(ignore:partitions), RV(ignore:holders), RV(ignore:slaves); RV(ignore:read_only).
    - RV(ignore:signature) describes in words what C(blkid) finds on the device, none if it finds nothing; RV(ignore:usage), RV(ignore:fstype),
      RV(ignore:label), RV(ignore:uuid), RV(ignore:partition_table). If the device could not be read, RV(ignore:probe_error) has the reason; such a
      device may have content.
    - Without a signature, the module reads RV(ignore:sampled) bytes - the first and the last MiB and 48 blocks of 64 KiB evenly between them.
      RV(ignore:nonzero_at) is the offset of the first byte that is not zero, none if all are zero - only then the device is blank.
      RV(ignore:has_erased_mark) is true if role etcd_storage has begun to erase the device.
    - RV(ignore:mounted_at) (list of mount points of the whole filesystem, or of its folders if only these are mounted), RV(ignore:swap), and
      RV(ignore:busy) - the kernel holds it for a mount (in any namespace), LVM, RAID or swap.
    - RV(ignore:rotational), RV(ignore:scheduler), RV(ignore:schedulers), RV(ignore:write_cache) of its disk's queue.
    - RV(ignore:filesystem_size) is the size in bytes in the superblock of an ext4 or XFS filesystem, none for others.
    - RV(ignore:was_mounted) tells whether an ext4 filesystem has ever been mounted; one that has not is empty. None for other content.
    - RV(ignore:incomplete) tells whether the mkfs of an XFS filesystem was interrupted.
    - RV(ignore:of_etcd) tells whether the filesystem has a label that role P(etcdops.headroom.etcd_storage#role) gives.
    - RV(ignore:links) are the device's stable names (below C(/dev/disk)); RV(ignore:disks) the whole disks below it, also below LVM and RAID, each
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
      usage: filesystem
      probe_error: null
      sampled: 0
      nonzero_at: null
      has_erased_mark: false
      mounted_at: [/var/lib/etcd]
      swap: false
      busy: true
      rotational: false
      scheduler: none
      schedulers: [none, mq-deadline]
      write_cache: write back
      filesystem_size: 10737418240
      was_mounted: true
      incomplete: false
      of_etcd: true
      links: [/dev/disk/by-id/virtio-etcd-data, /dev/disk/by-uuid/5c1416fc-6481-420b-8ee5-26b1001477a8]
      disks:
        - {name: vdb, links: [/dev/disk/by-id/virtio-etcd-data], rotational: false, scheduler: none, schedulers: [none, mq-deadline]}
      neighbours: []
mounts:
  description:
    - For each of O(mounts), by the name given, a description.
    - RV(ignore:mounted) is true if something is mounted exactly there. RV(ignore:covered_by), RV(ignore:number), RV(ignore:source),
      RV(ignore:fstype) and RV(ignore:options) describe that mount, or else the mount that contains the path.
    - RV(ignore:resolved) is the path without symbolic links, as the kernel lists a mount there.
    - RV(ignore:exists), RV(ignore:entries) (number of names in the folder), RV(ignore:mode), RV(ignore:uid) of the folder as currently visible;
      RV(ignore:size) and RV(ignore:available) of its filesystem, in bytes.
    - RV(ignore:fstab) is the entry for this mount point (source, mount_point, fstype, options, dump, passno, and the whole line - all strings) or
      none.
    - RV(ignore:unmounted) are the entries of fstab for this mount point or a folder above it that are not mounted, as RV(ignore:fstab). Files that
      seem to be missing may be there.
    - RV(ignore:disks) and RV(ignore:neighbours) are as with RV(devices).
  type: dict
  returned: always
  sample:
    /var/lib/etcd:
      path: /var/lib/etcd
      resolved: /var/lib/etcd
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
      fstab:
        source: UUID=5c1416fc-6481-420b-8ee5-26b1001477a8
        mount_point: /var/lib/etcd
        fstype: ext4
        options: noatime
        dump: "0"
        passno: "2"
        line: UUID=5c1416fc-6481-420b-8ee5-26b1001477a8 /var/lib/etcd ext4 noatime 0 2
      unmounted: []
      disks:
        - {name: vdb, links: [/dev/disk/by-id/virtio-etcd-data], rotational: false, scheduler: none, schedulers: [none, mq-deadline]}
      neighbours: [{name: PostgreSQL, path: /var/lib/postgresql, disk: vdb}]
files:
  description:
    - For each of O(files), by the name given, a description.
    - RV(ignore:exists), RV(ignore:type) (file, directory or other), RV(ignore:target) (of a link, else none), and if it exists RV(ignore:size),
      RV(ignore:sha256) (only for regular files up to O(digest_limit)), RV(ignore:mode) (a string of four digits), RV(ignore:owner), RV(ignore:group).
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
groups:
  description: For each of O(groups) RV(ignore:exists), and if it does RV(ignore:gid).
  type: dict
  returned: always
  version_added: 0.3.0
  sample:
    etcd: {exists: true, gid: 998}
versions:
  description: The etcd versions installed below O(install_dir), lowest first.
  type: list
  elements: str
  returned: always
  sample: [3.6.16, 3.7.3]
member:
  description:
    - RV(ignore:present) is true if the data dir or the WAL dir contains a member; RV(ignore:db_size) in bytes (none without a database);
      RV(ignore:wal_files) and RV(ignore:wal_size) are number and bytes of the WAL segments, RV(ignore:wal_dirs) the folders that they are in (below
      the data dir, O(wal_dir), the one in O(config_file), or several).
    - RV(ignore:wal_asides) are the folders whose log was set aside when M(etcdops.headroom.etcd_wal_move) moved it,
      RV(ignore:wal_links) those that are links to another folder, as it leaves one, and RV(ignore:wal_copies) those from or to which it has copied a
      log without finishing the move.
    - RV(ignore:available) is the number of free bytes on the volume of O(data_dir), or of its closest existing parent; RV(ignore:used) the number of
      bytes that the files in O(data_dir) occupy. RV(ignore:wal_available) is that number for O(wal_dir); none if it shares the volume of O(data_dir).
    - RV(ignore:mount_points) are those of O(data_dir), C(member/wal) in it, O(wal_dir), RV(ignore:wal_dirs) and RV(ignore:other_data_dir) that are mount
      points, which cannot be renamed.
    - RV(ignore:configured_peer_url) is the peer URL in O(config_file); RV(ignore:other_data_dir) is the data dir there if it differs from
      O(data_dir) and contains a member. Both are none otherwise.
    - RV(ignore:other_identity) is the member that wrote the newest WAL segment below RV(ignore:other_data_dir), in the format of RV(ignore:identity).
    - RV(ignore:corruption_checks) are the feature gates of etcd's corruption checks that O(config_file) enables.
    - RV(ignore:identity) is the member that wrote the newest WAL segment - RV(ignore:member_id) and RV(ignore:cluster_id) in hexadecimal, as
      C(etcdctl member list) prints them; none without a segment.
    - RV(ignore:cluster_version) is the version of the cluster in the database below O(data_dir), such as 3.7.0. Its patch release is always 0; none if it
      is unknown.
  type: dict
  returned: if O(data_dir) is given
  sample:
    present: true
    db_size: 16805888
    wal_files: 1
    wal_size: 64000000
    wal_dirs: [/var/lib/etcd-wal/member/wal]
    wal_asides: []
    wal_links: []
    wal_copies: []
    available: 9663676416
    used: 80805888
    wal_available: 1932735283
    mount_points: []
    identity: {member_id: 8e9e05c52164694d, cluster_id: cdf818194e3a8c32}
    configured_peer_url: https://10.0.0.11:2380
    corruption_checks: [InitialCorruptCheck, CompactHashCheck]
    cluster_version: 3.7.0
    other_data_dir: null
    other_identity: null
unit:
  description:
    - State of O(unit) in systemd - RV(ignore:name), RV(ignore:load_state) (C(not-found) if there is none), RV(ignore:active_state),
      RV(ignore:sub_state), RV(ignore:enabled_state), RV(ignore:result), RV(ignore:restarts),
      RV(ignore:main_pid) (0 if it does not run), RV(ignore:needs_reload).
    - RV(ignore:digest) is E(HEADROOM_DIGEST) in the environment of the running process, and RV(ignore:executable) its binary; both are none if it does
      not run. RV(ignore:starts) is the binary that the unit starts, and RV(ignore:group) the group that it sets, none without one.
      RV(ignore:managed) is true if the unit sets E(HEADROOM_DIGEST), as that of role P(etcdops.headroom.etcd#role) does.
    - RV(ignore:memory_max) is the limit of its memory in bytes, none if it has no limit. While a defragmentation raises it, this is the limit before that.
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
    group: etcd
    starts: /opt/etcd/3.7.3/etcd
    managed: true
    memory_max: 536870912
certificates:
  description: The result of M(etcdops.headroom.etcd_tls_info) for O(certificates), with the names of the host.
  type: dict
  returned: if O(certificates) is given
  version_added: 0.3.0
disk_checks:
  description: For each of O(disk_checks), by its path, the recorded benchmark as M(etcdops.headroom.etcd_disk_check) returns it; none without one.
  type: dict
  returned: always
  version_added: 0.3.0
  sample: {/var/lib/etcd: {verdict: ok, p99_us: 1729, limit_us: 10000, measured_at: 1795239113}}
etcd:
  description: The result of M(etcdops.headroom.etcd_cluster_info). None if the cluster was not queried.
  type: dict
  returned: if O(cluster) is given
  version_added: 0.3.0
disk_live:
  description:
    - The result of M(etcdops.headroom.etcd_disk_live_info) for the time since the member started.
    - Only RV(ignore:msg) if the member did not answer, none if it does not run.
  type: dict
  returned: if O(cluster) is given
  version_added: 0.3.0
priority:
  description:
    - RV(ignore:msg), and the RV(ignore:threads) and those that are RV(ignore:differing), as M(etcdops.headroom.etcd_priority) returns them.
    - None if O(unit) has no process.
  type: dict
  returned: if O(priority) is given
  version_added: 0.3.0
maintenance:
  description:
    - RV(ignore:problems) of the configuration on this host, a list of texts. If there are problems, nothing else is returned.
    - RV(ignore:differs) is true if the program, its configuration, units or directories differ from the expected ones, apart from the endpoints.
      RV(ignore:endpoints) are those of the installed configuration;
      RV(ignore:timers) is as M(etcdops.headroom.etcd_maintenance) returns it.
      RV(ignore:intervals) has the longest seconds between two runs of the timer for backups (C(snapshot)), if it is expected.
  type: dict
  returned: if O(maintenance) is given
  version_added: 0.3.0
  sample:
    problems: []
    differs: false
    timers: {headroom-defrag.timer: {enabled: true, active: true, changed: false, next: Sun 2026-11-22 03:00:00 UTC, failure: {}}}
    endpoints: ["https://10.0.0.11:2379"]
    intervals: {snapshot: 86400}
"""

import os
import re
import sys
import time
from datetime import datetime, timezone
from typing import Any

from ansible.module_utils.basic import AnsibleModule, missing_required_lib

MIN_PYTHON = (3, 9)


def refuse_old_python() -> None:
    """Fail with the version found. Roles run this module first, and it compiles on Python 3.8; what it imports below does not."""
    found = ".".join(str(part) for part in sys.version_info[:3])
    # The check accepts any argument, and logs none of them: only the imports below know which ones are secret.
    names = re.findall(r"^  (\w+):$", DOCUMENTATION, re.MULTILINE)
    module = AnsibleModule({name: {"type": "raw"} for name in names}, supports_check_mode=True, no_log=True)
    module.fail_json(
        msg=f"Python on this host is {found} ({sys.executable}), but the modules need {MIN_PYTHON[0]}.{MIN_PYTHON[1]} or newer: "
        "install a newer Python there, and set ansible_python_interpreter to it. Nothing was changed.",
        invocation={},
    )


if sys.version_info[:2] < MIN_PYTHON:
    refuse_old_python()

from ansible_collections.etcdops.headroom.plugins.module_utils._backup.data_release import read_cluster_version
from ansible_collections.etcdops.headroom.plugins.module_utils._base.files import read_text
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import http_api
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.bbolt import database_path
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.connection import (
    CONNECTION_ARGUMENTS,
    connection_from_params,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import EtcdctlError
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.member_identity import read_identity
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.member_view import describe_member
from ansible_collections.etcdops.headroom.plugins.module_utils._host import accounts, free_space, installed, mounts
from ansible_collections.etcdops.headroom.plugins.module_utils._host import facts as host_facts
from ansible_collections.etcdops.headroom.plugins.module_utils._host import priority as host_priority
from ansible_collections.etcdops.headroom.plugins.module_utils._host.listeners import listening_elsewhere
from ansible_collections.etcdops.headroom.plugins.module_utils._host.system import system_facts, unit_facts
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance import installation
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance.records import (
    STATE_DIR,
    installed_cluster,
    read_records,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._storage import disk_check, live_latency, wal_move
from ansible_collections.etcdops.headroom.plugins.module_utils._storage.configured_member import configured_facts
from ansible_collections.etcdops.headroom.plugins.module_utils._storage.host_storage import storage_facts
from ansible_collections.etcdops.headroom.plugins.module_utils._tls import host_certificates

# The lists of names that the module describes one by one, and the type of their elements.
LISTS = {
    "commands": "str",
    "python_modules": "str",
    "devices": "path",
    "mounts": "path",
    "files": "path",
    "users": "str",
    "groups": "str",
}
CONNECTION = ("etcdctl_path", "ca_cert", "client_cert", "client_key", "request_timeout")


def certificate_facts(asked: dict[str, Any], system: dict[str, Any]) -> dict[str, Any]:
    """Inspect the certificates, with the names that only the host knows. Raises OSError or ValueError."""
    address = system["default_ipv4"] or system["default_ipv6"]
    own = {
        "none": [],
        "address": [address],
        "all": [system["hostname"], system["fqdn"], system["default_ipv4"], system["default_ipv6"]],
    }[asked["host_names"]]
    names = [name for name in own if name]
    wanted = [
        {**item, "names": list(dict.fromkeys([*item["names"], *(names if "server" in item["usages"] else [])]))}
        for item in asked["certificates"]
    ]
    missing = missing_required_lib(host_certificates.LIBRARY)
    return host_certificates.inspect_files({**asked, "certificates": wanted}, datetime.now(timezone.utc), missing)


def disk_latencies(asked: dict[str, Any]) -> dict[str, Any]:
    """Return the latencies of the running member since its start, or only ``msg`` with the error."""
    endpoint = asked["endpoints"][0]
    try:
        page = live_latency.parse_metrics(http_api.fetch_metrics(connection_from_params(asked), endpoint))
        return live_latency.judge_since_start(page, time.time(), float(asked["fsync_p99_max_ms"]), endpoint)
    except (ValueError, OSError) as problem:
        return {"msg": f"{endpoint}/metrics: {problem}"}


def etcd_facts(module: AnsibleModule, present: bool) -> dict[str, Any]:
    """Query the cluster and the member on this host, if there is one, and if etcdctl is installed."""
    asked = module.params["cluster"]
    newest = installed.newest_program(module.params["install_dir"], "etcdctl")
    asked = {**asked, "etcdctl_path": newest or asked["etcdctl_path"]}
    if not present or not os.path.exists(asked["etcdctl_path"]):
        return {"etcd": None, "disk_live": None}
    unit = module.params["unit"] or CONNECTION_ARGUMENTS["unit"]["default"]
    dirs = {name: module.params[name] for name in ("data_dir", "wal_dir")}
    try:
        found = describe_member({**asked, **dirs, "unit": unit})
    except EtcdctlError as problem:
        module.fail_json(msg=f"cluster: {problem}")
    live = disk_latencies(asked) if found["process"]["running"] else None
    wanted = ((module.params["maintenance"] or {}).get("config") or {}).get("cluster")
    records = read_records(STATE_DIR, wanted or installed_cluster())
    return {"etcd": {**found, "maintenance": records}, "disk_live": live}


def priority_facts(asked: dict[str, Any], unit: dict[str, Any] | None) -> dict[str, Any] | None:
    """Compare every thread of the unit's process with the requested priority; None without a process."""
    goal = host_priority.parse_priority(asked["io_class"], asked["io_priority"], asked["nice"])
    return host_priority.compare(unit["main_pid"], goal) if unit and unit["main_pid"] else None


def gather(module: AnsibleModule) -> dict[str, Any]:
    """Return the requested facts. Raises OSError or ValueError."""
    asked = module.params
    facts = {**system_facts(), **storage_facts(asked["devices"], asked["mounts"])}
    facts.update(
        commands={name: host_facts.find_command(name) for name in asked["commands"]},
        python_modules={name: host_facts.has_python_module(name) for name in asked["python_modules"]},
        files={path: host_facts.file_facts(path, asked["digest_limit"]) for path in asked["files"]},
        users={name: accounts.user_facts(name) for name in asked["users"]},
        groups={name: accounts.group_facts(name) for name in asked["groups"]},
        versions=installed.installed_versions(asked["install_dir"]),
        disk_checks=disk_check.recorded_checks(asked["disk_checks"], STATE_DIR),
    )
    if asked["data_dir"]:
        config = read_text(asked["config_file"]) if asked["config_file"] else ""
        member = wal_move.member_facts(asked["data_dir"], asked["wal_dir"], config)
        identity = read_identity(member["wal_dirs"])
        space = free_space.space_facts(asked["data_dir"], asked["wal_dir"])
        facts["member"] = {**member, **space, "identity": identity, **configured_facts(config, asked["data_dir"])}
        own = [asked["data_dir"], os.path.join(asked["data_dir"], "member", "wal")]
        folders = [*own, asked["wal_dir"], facts["member"]["other_data_dir"], *member["wal_dirs"]]
        facts["member"]["mount_points"] = mounts.fixed_paths(filter(None, folders), mounts.read_mounts())
        facts["member"]["cluster_version"] = read_cluster_version(database_path(asked["data_dir"])) or None
    if asked["unit"] and facts["systemd"]["running"]:
        facts["unit"] = unit_facts(asked["unit"])
        facts["listening"] = listening_elsewhere(facts["unit"]["main_pid"] if facts["unit"] else 0)
    if asked["certificates"]:
        facts["certificates"] = certificate_facts(asked["certificates"], facts)
    if asked["cluster"]:
        facts.update(etcd_facts(module, facts.get("member", {}).get("present", False)))
    if asked["priority"]:
        facts["priority"] = priority_facts(asked["priority"], facts.get("unit"))
    if asked["maintenance"]:
        facts["maintenance"] = installation.inspect(asked["maintenance"])
    return facts


def main() -> None:
    """Run the module."""
    limit = {"type": "raw", "default": 10}
    maintenance = {**installation.ARGUMENTS, "modules_digest": {"type": "str", "default": ""}}
    module = AnsibleModule(
        argument_spec={
            **{name: {"type": "list", "elements": kind, "default": []} for name, kind in LISTS.items()},
            "digest_limit": {"type": "int", "default": host_facts.DIGEST_LIMIT},
            "unit": {"type": "str"},
            "install_dir": {"type": "path", "default": "/opt/etcd"},
            "data_dir": {"type": "path"},
            "wal_dir": {"type": "path"},
            "config_file": {"type": "path"},
            "certificates": {
                "type": "dict",
                "options": {
                    **host_certificates.ARGUMENTS,
                    "host_names": {"type": "str", "choices": ["none", "address", "all"], "default": "none"},
                },
            },
            "disk_checks": {
                "type": "list",
                "elements": "dict",
                "default": [],
                "options": {"path": {"type": "path", "required": True}, "fsync_p99_max_ms": limit},
            },
            "cluster": {
                "type": "dict",
                "options": {
                    "endpoints": {"type": "list", "elements": "str", "required": True},
                    **{name: CONNECTION_ARGUMENTS[name] for name in CONNECTION},
                    "fsync_p99_max_ms": limit,
                },
            },
            "priority": {
                "type": "dict",
                "options": {"io_class": {"type": "str"}, "io_priority": {"type": "int"}, "nice": {"type": "int"}},
            },
            "maintenance": {"type": "dict", "options": maintenance},
        },
        supports_check_mode=True,
    )
    try:
        facts = gather(module)
    except (OSError, ValueError) as problem:
        module.fail_json(msg=f"The host cannot be described: {problem}")
    module.exit_json(changed=False, **facts)


if __name__ == "__main__":
    main()
