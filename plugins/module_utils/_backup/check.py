# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Say whether a snapshot can be trusted, and what it is of. Private to the collection.

Knows nothing of Ansible: a timer's program uses it too. Everything that is wrong is one SnapshotError or EtcdctlError.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._backup import encryption as crypt
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import store
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.store import Metadata, SnapshotError
from ansible_collections.etcdops.headroom.plugins.module_utils._base.processes import ProcessResult
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import failure_reason, run_etcd_tool

# Runs a program: its arguments, the seconds that it has, its name for messages. Raises EtcdctlError.
Runner = Callable[[list[str], float, str], ProcessResult]

# etcd appends the SHA-256 of the database file, whose size is a multiple of a disk sector.
# Source: hasChecksum in etcdutl/snapshot/v3_snapshot.go.
DIGEST_BYTES = 32
_SECTOR = 512
_CHUNK = 1 << 20
_LONGEST = 86400


@dataclass(frozen=True)
class Status:
    """What etcdutl reads in a snapshot."""

    hash: str
    revision: int
    total_keys: int
    storage_version: str


def check_timeout(timeout: int) -> None:
    """Raise SnapshotError for seconds in which nothing, or nothing soon, ends."""
    if not 1 <= timeout <= _LONGEST:
        raise SnapshotError(f"timeout is {timeout}, but must be 1 to {_LONGEST} seconds, for example 1800")


@contextlib.contextmanager
def clear_errors(path: str) -> Iterator[None]:
    """Turn what the system refuses into a SnapshotError that names the file."""
    try:
        yield
    except OSError as error:
        raise SnapshotError(f"{error.filename or path}: {error.strerror}; the snapshots kept are untouched") from error


def check_program(path: str) -> None:
    """Find out before the download whether the snapshot can be checked after it."""
    if shutil.which(path) is None:
        raise SnapshotError(f"{path} is no program that can be run: install etcdutl or set etcdutl_path")


def digest(path: str) -> tuple[int, str]:
    """Return size in bytes and SHA-256 of a snapshot, once etcd's own digest at its end is found to be right.

    ``etcdutl snapshot status`` does not look at that digest, only ``restore`` does.
    Raises SnapshotError for a snapshot that is cut off or altered, OSError if it cannot be read.
    """
    size = os.stat(path).st_size
    if size % _SECTOR != DIGEST_BYTES:
        raise SnapshotError(f"{path} is cut off, or no snapshot: its {size} bytes do not end with etcd's SHA-256")
    running, left = hashlib.sha256(), size - DIGEST_BYTES
    with open(path, "rb") as stream:
        while left:
            chunk = stream.read(min(_CHUNK, left))
            if not chunk:
                raise SnapshotError(f"{path} became shorter while it was read")
            running.update(chunk)
            left -= len(chunk)
        content, recorded = running.digest(), stream.read(DIGEST_BYTES)
    if content != recorded:
        raise SnapshotError(
            f"{path} was altered: the SHA-256 of its content is {content.hex()}, etcd recorded {recorded.hex()} in it"
        )
    running.update(recorded)
    return size, running.hexdigest()


def read_status(path: str, etcdutl_path: str, timeout: int, run: Runner) -> Status:
    """Let etcdutl check a snapshot's pages and describe it. Raises SnapshotError or EtcdctlError."""
    answer = run([etcdutl_path, "snapshot", "status", path, "-w", "json"], float(timeout), "etcdutl")
    if answer.returncode != 0:
        # On some damage etcdutl panics: then the first line says why, the last one where.
        panic = next((line for line in answer.stderr.splitlines() if line.startswith(("panic: ", "fatal error: "))), "")
        cause = panic or failure_reason(answer)
        if answer.returncode is None:
            cause = f"etcdutl did not end within {timeout} s, raise timeout"
        raise SnapshotError(f"{path} is not sound: {cause}")
    try:
        data: dict[str, Any] = json.loads(answer.stdout)
        return Status(
            hash=format(int(data["hash"]), "x"),
            revision=int(data["revision"]),
            total_keys=int(data["totalKey"]),
            storage_version=str(data.get("version", "")),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise SnapshotError(f"etcdutl printed no status of {path} but {answer.stdout[:80]!r}") from error


def verify(path: str, etcdutl_path: str, timeout: int, *, run: Runner = run_etcd_tool) -> Metadata:
    """Compare a snapshot with the records beside it, and let etcdutl check it. Returns its metadata.

    An encrypted one was checked by etcdutl before; whether it still is what was encrypted then, its SHA-256 tells.
    Raises SnapshotError or EtcdctlError if it must not be relied upon.
    """
    check_timeout(timeout)
    check_program(etcdutl_path)
    if not os.path.isfile(path):
        raise SnapshotError(f"{path} is no file on this host")
    with clear_errors(path):
        metadata, recorded = store.read_metadata(path), store.read_checksum(path)
        size = os.stat(path).st_size
        if size != metadata.file_size:
            raise SnapshotError(f"{path} is cut off or altered: it has {size} bytes, when taken {metadata.file_size}")
        _size, sha256 = crypt.sha256_of(path) if metadata.encryption else digest(path)
    for record, value in ((store.CHECKSUM, recorded), (store.METADATA, metadata.file_sha256)):
        if value != sha256:
            raise SnapshotError(f"{path} was altered: its SHA-256 is {sha256}, {path + record} says {value}")
    if not metadata.encryption:
        read_status(path, etcdutl_path, timeout, run)
    return metadata


def decrypted(
    path: str, metadata: Metadata, target: str, identity_file: str, etcdutl_path: str, timeout: int
) -> Metadata:
    """Put what an encrypted snapshot decrypts to at ``target``, with records; returns those. Raises SnapshotError."""
    with clear_errors(target), store.workplace(os.path.dirname(target)) as folder:
        temporary = os.path.join(folder, "snapshot.db")
        plain = decrypt(path, metadata, temporary, identity_file, etcdutl_path, timeout)
        store.publish(temporary, target, plain)
    return plain


def decrypt(
    path: str, metadata: Metadata, target: str, identity_file: str, etcdutl_path: str, timeout: int
) -> Metadata:
    """Decrypt a verified snapshot to ``target`` and check that it is what was taken. Returns the metadata of the plain file.

    Raises SnapshotError.
    """
    crypt.decrypt(metadata.encryption, identity_file, path, target, timeout)
    _size, sha256 = digest(target)
    if sha256 != metadata.sha256:
        raise SnapshotError(f"{path} decrypts to the SHA-256 {sha256}, when taken it was {metadata.sha256}")
    read_status(target, etcdutl_path, timeout, run_etcd_tool)
    return replace(metadata, encryption="", encrypted_size=0, encrypted_sha256="")


def check_fits(metadata: Metadata, *, cluster_id: str, etcd_version: str) -> None:
    """Raise SnapshotError if a snapshot must not be restored here; an empty argument is not compared.

    etcd_version: the release that shall run on it. An older minor version does not read a newer one's database.
    """
    if cluster_id and metadata.cluster_id != cluster_id:
        raise SnapshotError(
            f"the snapshot is of the cluster {metadata.cluster_id} (member {metadata.member}), not of {cluster_id}"
        )
    if etcd_version and _minor(metadata.etcd_version) > _minor(etcd_version):
        raise SnapshotError(
            f"the snapshot is of etcd {metadata.etcd_version}, which etcd {etcd_version} cannot read: "
            f"restore it with {'.'.join(map(str, _minor(metadata.etcd_version)))} or newer"
        )


def _minor(version: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in version.split(".")[:2])
    except ValueError as error:
        raise SnapshotError(f"{version!r} is no etcd version: write it like 3.6.16") from error
