#!/usr/bin/python
# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Save a verified snapshot of an etcd cluster, verify one, or fetch one back."""

from __future__ import annotations

DOCUMENTATION = r"""
module: etcd_snapshot
short_description: Save, verify, decrypt or fetch a snapshot of an etcd cluster
version_added: 0.3.0
description:
  - With O(state=saved), saves a snapshot of a healthy follower into a directory on this host and verifies it. Only then does it give the file its name and
    remove snapshots by the retention options.
  - Verifies a snapshot by the SHA-256 that etcd appends to it (which C(etcdutl snapshot status) ignores) and with C(etcdutl).
  - Writes next to each snapshot its SHA-256, for C(sha256sum -c), and a JSON record of its cluster, member, version, revision and time.
    All three files have mode 0600.
  - An interrupted backup leaves no file that looks like a snapshot. The next backup removes its leftovers.
  - With O(state=verified), compares a snapshot with its records, and with the cluster and the release of etcd to restore it to.
  - A snapshot contains all keys and values of the cluster as plain text, unless O(encrypt_to) names recipients. Then it is encrypted with C(age) or C(gpg)
    after its verification. O(state=decrypted) decrypts it and verifies the result.
  - With O(state=fetched), fetches a copy from O(bucket).
extends_documentation_fragment:
  - etcdops.headroom.etcdctl
  - etcdops.headroom.etcdctl.tls
options:
  state:
    description:
      - Whether to save a new snapshot, to verify or decrypt the one at O(path), or to fetch one from O(bucket). Saving always makes a new snapshot.
    type: str
    choices: [saved, verified, decrypted, fetched]
    default: saved
  dest:
    description:
      - With O(state=saved), the directory for the snapshots, required. It must exist, and a volume that
        C(/etc/fstab) lists for it must be mounted.
      - With O(state=decrypted), the directory for the decrypted snapshot. Defaults to the directory of O(path).
      - With O(state=fetched), the directory for the fetched snapshot, required.
    type: path
  name:
    description:
      - With O(state=saved), the prefix of the names of the snapshots, before the date. Retention ignores other names.
      - With O(state=fetched) and without O(path), fetches the newest snapshot with this prefix.
    type: str
    default: etcd
  member:
    description:
      - With O(state=saved), the member to take the snapshot from. It must be healthy.
      - Defaults to a healthy follower, preferably at the first of the O(endpoints), and to the leader if there is none.
    type: str
    default: ""
  keep:
    description: Minimum number of snapshots of this cluster to keep, including the new one.
    type: int
    default: 7
  keep_days:
    description:
      - Also keep snapshots that are less than this many days older than the previous snapshot. Ages are relative to that snapshot, so a clock that is
        ahead for one backup removes none of them.
      - Damaged snapshots and those of other clusters are neither counted nor removed.
    type: int
  reserve:
    description: Space that must stay free in O(dest) in addition to the new snapshot, in bytes or with a unit (1 KB = 1024 bytes).
    type: str
    default: 256MB
  encrypt_to:
    description:
      - With O(state=saved), the recipients who can decrypt the snapshot - public keys of C(age) (V(age1…)) or SSH, files with one public key of
        C(gpg) each, or names of keys in the user's C(gpg) keyring, which is only read. All must be for the same program, which must be installed.
      - During verification and encryption, the plain-text file is in a hidden directory of O(dest) that only this user can enter.
    type: list
    elements: str
    default: []
  copy_dir:
    description:
      - With O(state=saved), another directory, such as a mounted share, for a copy. The copy is read back and compared by SHA-256, with the same retention.
      - If the copy fails, the module fails, but keeps the snapshot. The copy also fails if its server does not answer within twice O(timeout), once
        to wait for a copy of another host and once to copy.
    type: path
  bucket:
    description:
      - With O(state=saved), a bucket of Amazon S3 or a compatible store for a copy. The copy is read back and compared by SHA-256, with the same retention.
        If the copy fails, the module fails, but keeps the snapshot.
      - With O(state=fetched), the bucket with the snapshot, required.
      - Requires Python's boto3, 1.24 or newer, on this host. The credentials must allow listing, reading, writing and removing objects and multipart
        uploads.
    type: dict
    suboptions:
      name:
        description: Name of the bucket. It must exist.
        type: str
        required: true
      prefix:
        description: Folders in the bucket, each followed by a slash. Use a separate prefix for each cluster.
        type: str
        default: ""
      endpoint_url:
        description: URL of the store, for example V(https://HOST:PORT). Defaults to Amazon S3.
        type: str
        default: ""
      region:
        description: Region of the bucket. Defaults to the host's region, and to V(us-east-1) with O(bucket.endpoint_url).
        type: str
        default: ""
      ca_cert:
        description: File on this host with the CA of the store's certificate, if the system does not trust it.
        type: path
      access_key:
        description: The access key. Defaults to O(bucket.credentials_file), or to what boto3 finds, such as an instance role.
        type: str
        default: ""
      secret_key:
        description: The secret key for O(bucket.access_key).
        type: str
        default: ""
      credentials_file:
        description: File on this host in the format of Amazon's tools; its section C(default) is used.
        type: path
  identity_file:
    description:
      - With O(state=decrypted), the file with the secret key. For C(age), an age or SSH key; required. For C(gpg), an exported key; defaults to the
        user's keyring.
    type: path
  path:
    description:
      - With O(state=verified) and O(state=decrypted), the snapshot, required.
      - With O(state=fetched), its name in the bucket, or its URL as RV(copies) returns it. Defaults to the newest.
    type: path
  cluster_id:
    description: With O(state=verified), the hexadecimal id of the cluster that the snapshot must belong to.
    type: str
    default: ""
  etcd_version:
    description: With O(state=verified), the release of etcd to run. A snapshot of a newer minor version is refused.
    type: str
    default: ""
  etcdutl_path:
    description: Path of etcdutl, of the members' minor version.
    type: path
    default: /usr/local/bin/etcdutl
  timeout:
    description: Time limit of saving and of verifying, in seconds each.
    type: int
    default: 1800
attributes:
  check_mode:
    description: Reports what would be saved and removed, and fails if that could not work now.
    support: full
  diff_mode:
    description: Shows the snapshots in O(dest) before and after.
    support: full
  platform:
    description: Linux.
    support: full
    platforms: linux
seealso:
  - module: etcdops.headroom.etcd_cluster_info
  - name: Disaster recovery of etcd
    description: How a cluster is restored from a snapshot.
    link: https://etcd.io/docs/latest/op-guide/recovery/
author:
  - Headroom contributors (@etcdops)
"""

EXAMPLES = r"""
- name: Save a snapshot, and keep 14 and all of the last 30 days
  etcdops.headroom.etcd_snapshot:
    dest: /var/backups/etcd
    keep: 14
    keep_days: 30
  run_once: true
  register: backup

- name: Save an encrypted snapshot, and a copy of it on a share
  etcdops.headroom.etcd_snapshot:
    dest: /var/backups/etcd
    encrypt_to: [age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p]
    copy_dir: /mnt/backups/etcd
  run_once: true

- name: Save a snapshot, and a copy of it in a bucket
  etcdops.headroom.etcd_snapshot:
    dest: /var/backups/etcd
    bucket:
      name: etcd-backups
      prefix: production/
      endpoint_url: https://s3.example.com
      access_key: "{{ vault_backup_access_key }}"
      secret_key: "{{ vault_backup_secret_key }}"
  run_once: true

- name: Fetch the newest copy, to restore it
  etcdops.headroom.etcd_snapshot:
    state: fetched
    dest: /var/backups/etcd
    bucket:
      name: etcd-backups
      prefix: production/
      credentials_file: /root/.aws/credentials

- name: Decrypt a snapshot, to restore it
  etcdops.headroom.etcd_snapshot:
    state: decrypted
    path: /var/backups/etcd/etcd-20261121T101500Z.db.age
    identity_file: /root/backup.key

- name: Verify that a snapshot can be restored to this cluster
  etcdops.headroom.etcd_snapshot:
    state: verified
    path: "{{ backup.path }}"
    cluster_id: "{{ backup.metadata.cluster_id }}"
    etcd_version: 3.6.16
"""

RETURN = r"""
msg:
  description: What was done, or would be done, as a sentence.
  type: str
  returned: always
  sample: Saved 20.0 MiB of etcd-2 at revision 8123 as /var/backups/etcd/etcd-20261121T101500Z.db; removed 1 snapshot.
path:
  description: Path of the snapshot; with O(state=decrypted), of the decrypted one. In check mode, the path that it would have.
  type: str
  returned: success
  sample: /var/backups/etcd/etcd-20261121T101500Z.db
size:
  description: Size of the snapshot in bytes. In check mode, the size of the member's database.
  type: int
  returned: success
  sample: 20971552
revision:
  description: Revision of the newest change in the snapshot.
  type: int
  returned: success, not in check mode with O(state=saved)
  sample: 8123
hash:
  description: Hash of the content, as C(etcdutl snapshot status) prints it.
  type: str
  returned: success, not in check mode with O(state=saved)
  sample: b3cf2f0a
total_keys:
  description: Number of keys, as C(etcdutl snapshot status) counts. From 3.6 on it counts live keys, 3.5 counts all entries of the database.
  type: int
  returned: success, not in check mode with O(state=saved)
  sample: 2000
metadata:
  description: The record of the snapshot.
  type: dict
  returned: success, not in check mode with O(state=saved)
  sample:
    format: 1
    cluster_id: 75cf3c2d0b2f0a4c
    member: etcd-2
    member_id: 8e9e05c52164694d
    etcd_version: 3.6.16
    storage_version: 3.6.0
    revision: 8123
    hash: b3cf2f0a
    total_keys: 2000
    size: 20971552
    sha256: 0f343b0931126a20f133d67c2b018a3b5b2d5d7d8f0a35cba2f0a9d0a4b9b8a1
    taken_at: "2026-11-21T10:15:00Z"
member:
  description: The member that the snapshot was taken from.
  type: str
  returned: success
  sample: etcd-2
copies:
  description: The copies in O(copy_dir) and O(bucket).
  type: list
  elements: str
  returned: success with O(state=saved), not in check mode
  sample: [/mnt/backups/etcd/etcd-20261121T101500Z.db, "s3://etcd-backups/production/etcd-20261121T101500Z.db"]
duration:
  description: Seconds to save, verify and remove.
  type: float
  returned: success with O(state=saved), not in check mode
  sample: 1.4
removed:
  description: Paths of the removed snapshots, oldest first. In check mode, of those that would be removed.
  type: list
  elements: str
  returned: success with O(state=saved)
  sample: [/var/backups/etcd/etcd-20261114T101500Z.db]
left_alone:
  description: Snapshots in O(dest) that retention neither counts nor removes, each with the reason.
  type: list
  elements: dict
  returned: success with O(state=saved)
  sample: [{path: /var/backups/etcd/etcd-20261113T101500Z.db, reason: it belongs to the cluster 3c2d0b2f0a4c75cf}]
"""

import os
import time
from typing import Any

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import bucket as backup_bucket
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import bucket_copies, snapshot, store
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import check as backup_check
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.store import Metadata
from ansible_collections.etcdops.headroom.plugins.module_utils._base.signals import exit_on_signals
from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import format_size, parse_size, pluralize
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.connection import (
    CONNECTION_ARGUMENTS,
    connection_from_params,
)

# Required options of each state.
REQUIRED = {"saved": ["dest"], "verified": ["path"], "decrypted": ["path"], "fetched": ["dest", "bucket"]}
BUCKET = {
    "name": {"type": "str", "required": True},
    **{entry: {"type": "str", "default": ""} for entry in ("prefix", "endpoint_url", "region")},
    "access_key": {"type": "str", "default": "", "no_log": False},
    "secret_key": {"type": "str", "default": "", "no_log": True},
    "ca_cert": {"type": "path"},
    "credentials_file": {"type": "path"},
}


def snapshot_result(metadata: Metadata) -> dict[str, Any]:
    """Return the part of the result that describes a snapshot."""
    return {
        "size": metadata.size,
        "revision": metadata.revision,
        "hash": metadata.hash,
        "total_keys": metadata.total_keys,
        "member": metadata.member,
        "metadata": metadata.as_dict(),
    }


def diff(plan: snapshot.Plan, removed: list[str]) -> dict[str, str]:
    """Return the names in the directory before and after, for --diff."""
    before = [item.path for item in plan.stored]
    after = [*(path for path in before if path not in removed), plan.path]
    names = ["".join(f"{os.path.basename(path)}\n" for path in sorted(paths)) for paths in (before, after)]
    return {"before": names[0], "after": names[1]}


def bucket_from_params(params: dict[str, Any]) -> backup_bucket.Bucket | None:
    """Return the bucket of the module's arguments, None without one."""
    options = params["bucket"]
    return options and backup_bucket.Bucket(**{name: value or "" for name, value in options.items()})


def save(module: AnsibleModule, tools: snapshot.Tools) -> None:
    """Save a snapshot, or report what would be saved."""
    params = module.params
    request = snapshot.Request(
        directory=params["dest"],
        prefix=params["name"],
        member=params["member"],
        keep=params["keep"],
        keep_days=params["keep_days"],
        reserve=parse_size(params["reserve"], "reserve"),
        timeout=params["timeout"],
        encrypt_to=tuple(params["encrypt_to"]),
        copy_dir=params["copy_dir"] or "",
        bucket=bucket_from_params(params),
    )
    if module.check_mode:
        plan = snapshot.plan_snapshot(request, tools, params["endpoints"], time.time())
        snapshot.check_copies(request, plan.size)
        module.exit_json(
            changed=True,
            msg=f"Would save {format_size(plan.size)} of {plan.member.name} ({plan.member.role}) as {plan.path} "
            f"and remove {pluralize(len(plan.removed), 'snapshot')}.",
            path=plan.path,
            size=plan.size,
            member=plan.member.name,
            removed=plan.removed,
            left_alone=plan.left_alone,
            diff=diff(plan, plan.removed),
        )
    saved = snapshot.take_snapshot(request, tools, params["endpoints"])
    plan, metadata = saved.plan, saved.metadata
    done = f"Saved {format_size(metadata.size)} of {metadata.member} at revision {metadata.revision} as {plan.path}"
    result = {
        **snapshot_result(metadata),
        "changed": True,
        "path": plan.path,
        "copies": saved.copies,
        "duration": round(saved.duration, 3),
        "removed": saved.removed,
        "left_alone": plan.left_alone,
        "diff": diff(plan, saved.removed),
    }
    if saved.failures:
        module.fail_json(msg=f"{done}, but {'; '.join(saved.failures)}", **result)
    copied = f", copied to {' and '.join(saved.copies)}" if saved.copies else ""
    module.exit_json(msg=f"{done}{copied}; removed {pluralize(len(saved.removed), 'snapshot')}.", **result)


def verify(module: AnsibleModule, tools: snapshot.Tools) -> None:
    """Verify a snapshot, and that it can be restored to the given cluster and release."""
    params = module.params
    metadata = backup_check.verify_snapshot(params["path"], tools.etcdutl_path, params["timeout"])
    backup_check.check_restorable(metadata, cluster_id=params["cluster_id"], etcd_version=params["etcd_version"])
    taken = f"of {metadata.member} at revision {metadata.revision}, taken {metadata.as_dict()['taken_at']}"
    module.exit_json(
        changed=False, msg=f"{params['path']} is valid: {taken}.", path=params["path"], **snapshot_result(metadata)
    )


def decrypt(module: AnsibleModule, tools: snapshot.Tools) -> None:
    """Decrypt a snapshot and write its records."""
    params = module.params
    source = params["path"]
    metadata = backup_check.verify_snapshot(source, tools.etcdutl_path, params["timeout"])
    if not metadata.encryption:
        raise snapshot.SnapshotError(f"{source} is not encrypted: use it directly")
    name = os.path.basename(source)[: -len(metadata.encryption) - 1]
    path = os.path.join(params["dest"] or os.path.dirname(source), name)
    if os.path.lexists(path):
        found = store.read_metadata(path)
        if found.sha256 != metadata.sha256:
            raise snapshot.SnapshotError(f"{path} is a different snapshot: choose another dest")
        backup_check.check_existing(path, found)
        module.exit_json(changed=False, msg=f"{path} already exists.", path=path, **snapshot_result(found))
    if not module.check_mode:
        metadata = backup_check.decrypt_and_publish(
            source, metadata, path, params["identity_file"] or "", tools.etcdutl_path, params["timeout"]
        )
    done = "Would decrypt" if module.check_mode else "Decrypted"
    module.exit_json(changed=True, msg=f"{done} {source} to {path}.", path=path, **snapshot_result(metadata))


def fetch(module: AnsibleModule) -> None:
    """Fetch a snapshot from a bucket."""
    params = module.params
    source, directory = bucket_from_params(params), params["dest"]
    store.check_prefix(params["name"])
    backup_check.check_timeout(params["timeout"])
    if not os.path.isdir(directory):
        raise snapshot.SnapshotError(f"{directory} is not a directory on this host: create it, or mount its volume")
    path, metadata, changed = bucket_copies.fetch_snapshot(
        source,
        params["path"] or "",
        params["name"],
        directory,
        params["timeout"],
        check=module.check_mode,
        warn=module.warn,
    )
    origin = source.url(os.path.basename(path))
    done = f"{'Would fetch' if module.check_mode else 'Fetched'} {origin} to {path}."
    message = done if changed else f"{path} already exists."
    module.exit_json(changed=changed, msg=message, path=path, **snapshot_result(metadata))


def main() -> None:
    """Run the module."""
    module = AnsibleModule(
        argument_spec={
            **{name: spec for name, spec in CONNECTION_ARGUMENTS.items() if name != "unit"},
            "state": {"type": "str", "choices": list(REQUIRED), "default": "saved"},
            "dest": {"type": "path"},
            "name": {"type": "str", "default": "etcd"},
            "member": {"type": "str", "default": ""},
            "keep": {"type": "int", "default": 7},
            "keep_days": {"type": "int"},
            "reserve": {"type": "str", "default": "256MB"},
            "encrypt_to": {"type": "list", "elements": "str", "default": []},
            "copy_dir": {"type": "path"},
            "bucket": {"type": "dict", "options": BUCKET},
            "identity_file": {"type": "path"},
            "path": {"type": "path"},
            "cluster_id": {"type": "str", "default": ""},
            "etcd_version": {"type": "str", "default": ""},
            "etcdutl_path": {"type": "path", "default": "/usr/local/bin/etcdutl"},
            "timeout": {"type": "int", "default": 1800},
        },
        required_if=[("state", state, required) for state, required in REQUIRED.items()],
        supports_check_mode=True,
    )
    state = module.params["state"]
    if not module.params[REQUIRED[state][0]]:  # set, but null or empty
        module.fail_json(msg=f"{REQUIRED[state][0]} is empty: write a path, for example /var/backups/etcd")
    exit_on_signals()
    try:
        tools = snapshot.Tools(connection_from_params(module.params), module.params["etcdutl_path"])
        if state == "saved":
            save(module, tools)
        elif state == "verified":
            verify(module, tools)
        elif state == "decrypted":
            decrypt(module, tools)
        else:
            fetch(module)
    except ValueError as error:
        module.fail_json(msg=str(error))


if __name__ == "__main__":
    main()
