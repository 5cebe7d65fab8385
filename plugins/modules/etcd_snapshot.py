#!/usr/bin/python
# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Save a verified snapshot of an etcd cluster, verify one, or fetch one back."""

from __future__ import annotations

DOCUMENTATION = r"""
module: etcd_snapshot
short_description: Save a verified snapshot of an etcd cluster, verify one, or fetch one back
version_added: 0.2.0
description:
  - With O(state=saved) it saves a snapshot of a healthy follower into a directory on this host and verifies it. Only then it gets its name, and only
    then the snapshots that are no longer wanted are removed.
  - A snapshot is verified by the SHA-256 that etcd appends to it (which C(etcdutl snapshot status) does not look at) and by C(etcdutl).
  - Beside each snapshot lie its SHA-256, for C(sha256sum -c), and a JSON file that says of which cluster, member, version, revision and time it is.
    All three have mode 0600.
  - A backup that is interrupted at any point leaves no file that looks like a snapshot. The next one cleans up after it.
  - With O(state=verified) it compares a snapshot with its records, and with the cluster and the etcd that it shall be restored to.
  - A snapshot holds every key and value of the cluster in the clear, unless O(encrypt_to) says for whom it is encrypted, with C(age) or C(gpg), after it was
    verified. O(state=decrypted) makes a plain one of it again, and verifies that it is what was taken.
  - With O(state=fetched) it brings a copy back from O(bucket).
extends_documentation_fragment:
  - etcdops.headroom.etcdctl
  - etcdops.headroom.etcdctl.tls
options:
  state:
    description:
      - Whether to save a new snapshot, to verify or decrypt the one at O(path), or to fetch one from O(bucket). Saving always makes a new one.
    type: str
    choices: [saved, verified, decrypted, fetched]
    default: saved
  dest:
    description:
      - With O(state=saved), the directory for the snapshots, required. It must exist, so that a volume that is not mounted is noticed.
      - With O(state=decrypted), the directory for the plain snapshot. Default is that of O(path).
      - With O(state=fetched), the directory to bring it to, required.
    type: path
  name:
    description:
      - With O(state=saved), what the names of the snapshots start with, before the date. Retention looks at no others.
      - With O(state=fetched) and without O(path), the newest of those is fetched.
    type: str
    default: etcd
  member:
    description:
      - With O(state=saved), the member to take the snapshot from. It has to be healthy.
      - Default is a healthy follower, rather the one at the first of the O(endpoints); the leader only if there is no other.
    type: str
    default: ""
  keep:
    description: How many snapshots of this cluster are kept at least, the new one included.
    type: int
    default: 7
  keep_days:
    description:
      - Snapshots younger than so many days are kept too, however many they are.
      - What is damaged, or of another cluster, is neither counted nor removed.
    type: int
  reserve:
    description: How much has to stay free in O(dest) beside the new snapshot, in bytes or with a unit (1 KB = 1024 bytes).
    type: str
    default: 256MB
  encrypt_to:
    description:
      - With O(state=saved), who can decrypt the snapshot, by public keys - of C(age) (V(age1…)) or SSH, or what the user's C(gpg) knows a key by, or files
        that hold keys of C(gpg). They are all of one kind, and its program is installed.
      - The plain file lies, for this user alone, in a hidden directory of O(dest) while it is verified and encrypted, and is removed then.
    type: list
    elements: str
    default: []
  copy_dir:
    description:
      - With O(state=saved), another directory, such as a mounted share, that gets a copy, read back and compared by SHA-256. Retention is the same there.
      - If that fails, so does the module, and the snapshot is there all the same.
    type: path
  bucket:
    description:
      - With O(state=saved), a bucket of Amazon S3 or of a store that speaks its protocol, that gets a copy too. It is read back, compared by SHA-256 and kept
        by the same retention. If that fails, so does the module, and the snapshot is there all the same.
      - With O(state=fetched), where the snapshot is, required.
      - This host needs Python's boto3, 1.24 or newer. The credentials have to allow listing, reading, writing and removing objects, and the same of multipart
        uploads.
    type: dict
    suboptions:
      name:
        description: The bucket. It has to be there.
        type: str
        required: true
      prefix:
        description: Folders in it, with a slash after each. Give every cluster its own.
        type: str
        default: ""
      endpoint_url:
        description: The store, as V(https://HOST:PORT). Default is Amazon's.
        type: str
        default: ""
      region:
        description: The bucket's region. Default is what the host is set to, and V(us-east-1) with O(bucket.endpoint_url).
        type: str
        default: ""
      ca_cert:
        description: File on this host with the CA of the store's certificate, where the system does not know it.
        type: path
      access_key:
        description: The access key. Default is O(bucket.credentials_file), else what boto3 finds, such as the role of an instance.
        type: str
        default: ""
      secret_key:
        description: The secret key that belongs to it.
        type: str
        default: ""
      credentials_file:
        description: File on this host with both, as Amazon's tools read it; of its section C(default).
        type: path
  identity_file:
    description:
      - With O(state=decrypted), the secret key. For C(age) its own or one of SSH, required; for C(gpg) an exported one, else the user's keys are tried.
    type: path
  path:
    description:
      - With O(state=verified) and O(state=decrypted), the snapshot, required.
      - With O(state=fetched), its name in the bucket, alone or as the URL that RV(copies) names. Default is the newest.
    type: path
  cluster_id:
    description: With O(state=verified), the hexadecimal id of the cluster that the snapshot has to be of.
    type: str
    default: ""
  etcd_version:
    description: With O(state=verified), the release of etcd that shall run on it. A snapshot of a newer minor version is refused.
    type: str
    default: ""
  etcdutl_path:
    description: The etcdutl to verify with, of the members' minor version.
    type: path
    default: /usr/local/bin/etcdutl
  timeout:
    description: Seconds that saving and verifying may take, each.
    type: int
    default: 1800
attributes:
  check_mode:
    description: Looks at the cluster and the directory, says what would be saved and removed, and fails if that could not work as it is now.
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
- name: Save a snapshot, keep 14 and everything of the last 30 days
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

- name: Bring the newest copy back, to restore it
  etcdops.headroom.etcd_snapshot:
    state: fetched
    dest: /var/backups/etcd
    bucket:
      name: etcd-backups
      prefix: production/
      credentials_file: /root/.aws/credentials

- name: Make it plain again, to restore it
  etcdops.headroom.etcd_snapshot:
    state: decrypted
    path: /var/backups/etcd/etcd-20261121T101500Z.db.age
    identity_file: /root/backup.key

- name: Make sure that a snapshot may be restored here
  etcdops.headroom.etcd_snapshot:
    state: verified
    path: "{{ backup.path }}"
    cluster_id: "{{ backup.metadata.cluster_id }}"
    etcd_version: 3.6.16
"""

RETURN = r"""
msg:
  description: What was done, or would be, as a sentence.
  type: str
  returned: always
  sample: Saved 20.0 MiB of etcd-2 at revision 8123 as /var/backups/etcd/etcd-20261121T101500Z.db; removed 1 snapshot.
path:
  description: The snapshot; with O(state=decrypted), the plain one. In check mode, where it would be.
  type: str
  returned: success
  sample: /var/backups/etcd/etcd-20261121T101500Z.db
size:
  description: Its size in bytes. In check mode, that of the member's database.
  type: int
  returned: success
  sample: 20971552
revision:
  description: The revision of the newest change in it.
  type: int
  returned: success, not in check mode with O(state=saved)
  sample: 8123
hash:
  description: Hash of its content, as C(etcdutl snapshot status) prints it.
  type: str
  returned: success, not in check mode with O(state=saved)
  sample: b3cf2f0a
total_keys:
  description: Number of keys, as C(etcdutl snapshot status) counts. From 3.6 on it counts live keys, 3.5 counts all entries of the database.
  type: int
  returned: success, not in check mode with O(state=saved)
  sample: 2000
metadata:
  description: All that is recorded beside the snapshot.
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
  description: The member that it is taken from.
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
  description: Seconds that saving, verifying and removing took.
  type: float
  returned: success with O(state=saved), not in check mode
  sample: 1.4
removed:
  description: Paths of the snapshots that were removed, oldest first. In check mode, of those that would be.
  type: list
  elements: str
  returned: success with O(state=saved)
  sample: [/var/backups/etcd/etcd-20261114T101500Z.db]
left_alone:
  description: Snapshots in O(dest) that retention neither counts nor removes, each with the reason.
  type: list
  elements: dict
  returned: success with O(state=saved)
  sample: [{path: /var/backups/etcd/etcd-20261113T101500Z.db, reason: it is of the cluster 3c2d0b2f0a4c75cf}]
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
from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import format_size, parse_size
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.connection import (
    CONNECTION_ARGUMENTS,
    connection_from_params,
)

# What each state cannot do without.
NEEDED = {"saved": ["dest"], "verified": ["path"], "decrypted": ["path"], "fetched": ["dest", "bucket"]}
BUCKET = {
    "name": {"type": "str", "required": True},
    **{entry: {"type": "str", "default": ""} for entry in ("prefix", "endpoint_url", "region")},
    "access_key": {"type": "str", "default": "", "no_log": False},
    "secret_key": {"type": "str", "default": "", "no_log": True},
    "ca_cert": {"type": "path"},
    "credentials_file": {"type": "path"},
}


def described(metadata: Metadata) -> dict[str, Any]:
    """The part of the result that describes a snapshot."""
    return {
        "size": metadata.size,
        "revision": metadata.revision,
        "hash": metadata.hash,
        "total_keys": metadata.total_keys,
        "member": metadata.member,
        "metadata": metadata.as_dict(),
    }


def diff(plan: snapshot.Plan, removed: list[str]) -> dict[str, str]:
    """The names in the directory before and after."""
    before = [item.path for item in plan.stored]
    after = [*(path for path in before if path not in removed), plan.path]
    names = ["".join(f"{os.path.basename(path)}\n" for path in sorted(paths)) for paths in (before, after)]
    return {"before": names[0], "after": names[1]}


def counted(paths: list[str]) -> str:
    """The number of snapshots in words."""
    return f"{len(paths)} snapshot{'' if len(paths) == 1 else 's'}"


def bucket(asked: dict[str, Any]) -> backup_bucket.Bucket | None:
    """The bucket that was asked for."""
    given = asked["bucket"]
    return given and backup_bucket.Bucket(**{name: value or "" for name, value in given.items()})


def save(module: AnsibleModule, tools: snapshot.Tools) -> None:
    """Save a snapshot, or say what that would do."""
    asked = module.params
    request = snapshot.Request(
        directory=asked["dest"],
        prefix=asked["name"],
        member=asked["member"],
        keep=asked["keep"],
        keep_days=asked["keep_days"],
        reserve=parse_size(asked["reserve"], "reserve"),
        timeout=asked["timeout"],
        encrypt_to=tuple(asked["encrypt_to"]),
        copy_dir=asked["copy_dir"] or "",
        bucket=bucket(asked),
    )
    if module.check_mode:
        plan = snapshot.plan(request, tools, asked["endpoints"], time.time())
        snapshot.check_copies(request, plan.size)
        module.exit_json(
            changed=True,
            msg=f"Would save {format_size(plan.size)} of {plan.member.name} ({plan.member.role}) as {plan.path} "
            f"and remove {counted(plan.removed)}.",
            path=plan.path,
            size=plan.size,
            member=plan.member.name,
            removed=plan.removed,
            left_alone=plan.left_alone,
            diff=diff(plan, plan.removed),
        )
    saved = snapshot.save(request, tools, asked["endpoints"])
    plan, metadata = saved.plan, saved.metadata
    done = f"Saved {format_size(metadata.size)} of {metadata.member} at revision {metadata.revision} as {plan.path}"
    result = {
        **described(metadata),
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
    module.exit_json(msg=f"{done}{copied}; removed {counted(saved.removed)}.", **result)


def verify(module: AnsibleModule, tools: snapshot.Tools) -> None:
    """Verify a snapshot, and that it fits."""
    asked = module.params
    metadata = backup_check.verify(asked["path"], tools.etcdutl_path, asked["timeout"])
    backup_check.check_fits(metadata, cluster_id=asked["cluster_id"], etcd_version=asked["etcd_version"])
    taken = f"of {metadata.member} at revision {metadata.revision}, taken {metadata.as_dict()['taken_at']}"
    module.exit_json(
        changed=False, msg=f"{asked['path']} is sound: {taken}.", path=asked["path"], **described(metadata)
    )


def decrypt(module: AnsibleModule, tools: snapshot.Tools) -> None:
    """Make a plain snapshot of an encrypted one, beside its records."""
    asked = module.params
    source = asked["path"]
    metadata = backup_check.verify(source, tools.etcdutl_path, asked["timeout"])
    if not metadata.encryption:
        raise snapshot.SnapshotError(f"{source} is not encrypted: use it as it is")
    name = os.path.basename(source)[: -len(metadata.encryption) - 1]
    path = os.path.join(asked["dest"] or os.path.dirname(source), name)
    if os.path.lexists(path):
        found = store.read_metadata(path)
        if found.sha256 != metadata.sha256:
            raise snapshot.SnapshotError(f"{path} is another snapshot: choose another dest")
        module.exit_json(changed=False, msg=f"{path} is there already.", path=path, **described(found))
    if not module.check_mode:
        metadata = backup_check.decrypted(
            source, metadata, path, asked["identity_file"] or "", tools.etcdutl_path, asked["timeout"]
        )
    done = "Would decrypt" if module.check_mode else "Decrypted"
    module.exit_json(changed=True, msg=f"{done} {source} to {path}.", path=path, **described(metadata))


def fetch(module: AnsibleModule) -> None:
    """Bring a snapshot back from a bucket."""
    asked = module.params
    source, directory = bucket(asked), asked["dest"]
    store.check_prefix(asked["name"])
    backup_check.check_timeout(asked["timeout"])
    if not os.path.isdir(directory):
        raise snapshot.SnapshotError(f"{directory} is no directory on this host: make it, or mount its volume, first")
    path, metadata, brought = bucket_copies.fetch(
        source, asked["path"] or "", asked["name"], directory, asked["timeout"], check=module.check_mode
    )
    origin = source.url(os.path.basename(path))
    done = f"{'Would fetch' if module.check_mode else 'Fetched'} {origin} to {path}."
    said = done if brought else f"{path} is there already."
    module.exit_json(changed=brought, msg=said, path=path, **described(metadata))


def main() -> None:
    """Run the module."""
    module = AnsibleModule(
        argument_spec={
            **{name: spec for name, spec in CONNECTION_ARGUMENTS.items() if name != "unit"},
            "state": {"type": "str", "choices": list(NEEDED), "default": "saved"},
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
        required_if=[("state", state, needed) for state, needed in NEEDED.items()],
        supports_check_mode=True,
    )
    state = module.params["state"]
    if not module.params[NEEDED[state][0]]:  # given, but null or ""
        module.fail_json(msg=f"{NEEDED[state][0]} is empty: write a path, for example /var/backups/etcd")
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
