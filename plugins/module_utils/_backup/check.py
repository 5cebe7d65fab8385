# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Verify snapshots and decrypt them.

Independent of Ansible, because the timers' program uses it too. Problems raise SnapshotError or EtcdctlError.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._backup import encryption as crypt
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import store
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.store import (
    DamagedError,
    Metadata,
    SnapshotError,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._base.files import sha256_of_file
from ansible_collections.etcdops.headroom.plugins.module_utils._base.processes import ProcessResult, program_problem
from ansible_collections.etcdops.headroom.plugins.module_utils._base.versions import minor, minor_key
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import failure_reason, run_etcd_tool

# Runs a program, given its arguments, its time limit in seconds and its name for messages. Raises EtcdctlError.
Runner = Callable[[list[str], float, str], ProcessResult]

# etcd appends the SHA-256 of the database file, whose size is a multiple of a disk sector.
# Source: hasChecksum in etcdutl/snapshot/v3_snapshot.go.
DIGEST_BYTES = 32
_SECTOR = 512
_CHUNK = 1 << 20
_MAX_TIMEOUT = 86400
# Errors of etcdutl that say nothing about the snapshot.
_HOST_PROBLEM = re.compile(
    "out of memory|cannot allocate memory|no space left|disk quota exceeded|read-only file system|permission denied|too many open files|"
    "resource temporarily"
)


@dataclass(frozen=True)
class Status:
    """The status of a snapshot as etcdutl reports it."""

    hash: str
    revision: int
    total_keys: int
    storage_version: str


def check_timeout(timeout: int) -> None:
    """Raise SnapshotError for an invalid time limit in seconds."""
    if not 1 <= timeout <= _MAX_TIMEOUT:
        raise SnapshotError(f"timeout is {timeout}, but must be 1 to {_MAX_TIMEOUT} seconds, for example 1800")


@contextlib.contextmanager
def translate_os_errors(path: str) -> Iterator[None]:
    """Raise OSError as a SnapshotError that names the file."""
    try:
        yield
    except OSError as error:
        raise SnapshotError(f"{error.filename or path}: {error.strerror}; existing snapshots are unchanged") from error


def check_etcdutl(path: str) -> None:
    """Raise SnapshotError if etcdutl is missing, before a snapshot is downloaded that it has to verify."""
    problem = program_problem(path, "etcdutl")
    if problem:
        raise SnapshotError(problem)


def verify_digest(path: str) -> tuple[int, str]:
    """Verify the digest that etcd appends to a snapshot. Returns the snapshot's size in bytes and its SHA-256.

    ``etcdutl snapshot status`` does not verify that digest, only ``restore`` does.
    Raises DamagedError for a truncated or altered snapshot, OSError if it cannot be read.
    """
    size = os.stat(path).st_size
    if size % _SECTOR != DIGEST_BYTES:
        raise DamagedError(
            f"{path} is truncated or not a snapshot: its size of {size} bytes does not include etcd's SHA-256. Use another snapshot"
        )
    running, left = hashlib.sha256(), size - DIGEST_BYTES
    with open(path, "rb") as stream:
        while left:
            chunk = stream.read(min(_CHUNK, left))
            if not chunk:
                raise DamagedError(f"{path} became shorter while it was read: use another snapshot")
            running.update(chunk)
            left -= len(chunk)
        content, recorded = running.digest(), stream.read(DIGEST_BYTES)
    if content != recorded:
        raise DamagedError(
            f"{path} was altered: the SHA-256 of its content is {content.hex()}, but etcd recorded {recorded.hex()}. Use another snapshot"
        )
    running.update(recorded)
    return size, running.hexdigest()


def read_status(path: str, etcdutl_path: str, timeout: int, run: Runner) -> Status:
    """Check a snapshot's pages with etcdutl and return its status. Raises DamagedError, SnapshotError or EtcdctlError."""
    answer = run([etcdutl_path, "snapshot", "status", path, "-w", "json"], float(timeout), "etcdutl")
    if answer.returncode != 0:
        # etcdutl may panic on a damaged file: the first line has the cause, the last one the location.
        panic = next((line for line in answer.stderr.splitlines() if line.startswith(("panic: ", "fatal error: "))), "")
        cause = panic or failure_reason(answer)
        if answer.returncode is None:
            cause = f"etcdutl did not finish within {timeout} s, raise timeout"
        if is_host_problem(answer):
            raise SnapshotError(f"{path} cannot be checked: {cause}")
        raise DamagedError(f"{path} is damaged: {cause}")
    try:
        data: dict[str, Any] = json.loads(answer.stdout)
        return Status(
            hash=format(int(data["hash"]), "x"),
            revision=int(data["revision"]),
            total_keys=int(data["totalKey"]),
            storage_version=str(data.get("version", "")),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise SnapshotError(f"etcdutl did not print the status of {path}, but {answer.stdout[:80]!r}") from error


def is_host_problem(answer: ProcessResult) -> bool:
    """Return whether etcdutl or etcd failed because of the host, not because of the snapshot."""
    # A negative status is a signal, for example of the OOM killer.
    return answer.returncode is None or answer.returncode < 0 or bool(_HOST_PROBLEM.search(answer.stderr))


def verify_snapshot(path: str, etcdutl_path: str, timeout: int, *, run: Runner = run_etcd_tool) -> Metadata:
    """Verify a snapshot against its records and with etcdutl. Returns its metadata.

    etcdutl checked an encrypted snapshot before its encryption; only its SHA-256 is verified here.
    Raises DamagedError for a bad snapshot, SnapshotError or EtcdctlError if it cannot be checked.
    """
    check_timeout(timeout)
    check_etcdutl(etcdutl_path)
    if not os.path.isfile(path):
        raise SnapshotError(f"{path} is not a file on this host: correct the path")
    with translate_os_errors(path):
        metadata, recorded = store.read_metadata(path), store.read_checksum(path)
        size = os.stat(path).st_size
        if size != metadata.file_size:
            raise DamagedError(
                f"{path} is truncated or altered: it has {size} bytes, but {metadata.file_size} according to its record. Use another snapshot"
            )
        _size, sha256 = crypt.sync_and_hash(path) if metadata.encryption else verify_digest(path)
    for record, value in ((store.CHECKSUM, recorded), (store.METADATA, metadata.file_sha256)):
        if value != sha256:
            raise DamagedError(
                f"{path} was altered: its SHA-256 is {sha256}, but {value} in {path + record}. Use another snapshot"
            )
    if not metadata.encryption:
        read_status(path, etcdutl_path, timeout, run)
    return metadata


def check_existing(path: str, metadata: Metadata) -> None:
    """Raise DamagedError if the file that an earlier run decrypted or fetched to ``path`` is not the one of its record, ``metadata``.

    A crash of the host may have cut it off. Raises SnapshotError if it cannot be read.
    """
    fix = "remove that file and run this again"
    with translate_os_errors(path):
        size = os.stat(path).st_size
        if size != metadata.file_size:
            raise DamagedError(f"{path} has {size} bytes, but {metadata.file_size} according to its record: {fix}")
        _size, sha256 = sha256_of_file(path)
    if sha256 != metadata.file_sha256:
        raise DamagedError(
            f"{path} has the SHA-256 {sha256}, but {metadata.file_sha256} according to its record: {fix}"
        )


def decrypt_and_publish(
    path: str, metadata: Metadata, target: str, identity_file: str, etcdutl_path: str, timeout: int
) -> Metadata:
    """Decrypt a snapshot to ``target`` and write its records. Returns the new metadata. Raises SnapshotError."""
    with translate_os_errors(target), store.staging_folder(os.path.dirname(target)) as folder:
        temporary = os.path.join(folder, "snapshot.db")
        plain = decrypt(path, metadata, temporary, identity_file, etcdutl_path, timeout)
        store.publish(temporary, target, plain)
    return plain


def decrypt(
    path: str, metadata: Metadata, target: str, identity_file: str, etcdutl_path: str, timeout: int
) -> Metadata:
    """Decrypt a verified snapshot to ``target`` and verify the result. Returns the metadata of the decrypted file.

    Raises DamagedError for a bad result, SnapshotError if it cannot be decrypted, for example without the right key.
    """
    crypt.decrypt(metadata.encryption, identity_file, path, target, timeout)
    _size, sha256 = verify_digest(target)
    if sha256 != metadata.sha256:
        raise DamagedError(
            f"{path} decrypts to a file with the SHA-256 {sha256}, but its record has {metadata.sha256}. Use another snapshot"
        )
    read_status(target, etcdutl_path, timeout, run_etcd_tool)
    return replace(metadata, encryption="", encrypted_size=0, encrypted_sha256="")


def check_restorable(metadata: Metadata, *, cluster_id: str, etcd_version: str) -> None:
    """Raise SnapshotError if a snapshot must not be restored here; an empty argument is not compared.

    ``etcd_version`` is the release to run. A minor version cannot read the database of a newer one.
    """
    if cluster_id and metadata.cluster_id != cluster_id:
        raise SnapshotError(
            f"the snapshot belongs to the cluster {metadata.cluster_id} (member {metadata.member}), not to {cluster_id}: use another snapshot"
        )
    if etcd_version and _minor_key(metadata.etcd_version) > _minor_key(etcd_version):
        raise SnapshotError(
            f"the snapshot is of etcd {metadata.etcd_version}, which etcd {etcd_version} cannot read: "
            f"restore it with {minor(metadata.etcd_version)} or newer"
        )


def _minor_key(version: str) -> tuple[int, ...]:
    """Return the minor version as integers that compare. Raises SnapshotError for anything else than a version."""
    key = minor_key(version)
    if not key:
        raise SnapshotError(f"{version!r} is not an etcd version: write it like 3.6.16")
    return key
