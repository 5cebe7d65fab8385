# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Make a snapshot of a stopped member's data, for a cluster that has lost its quorum.

The database alone lacks acknowledged writes that a crashed member has only in its WAL. So the data is copied, etcd is started on the
copy with ``--force-new-cluster``, which applies all committed entries of the WAL, and its database is taken after a graceful stop. The
member's own data is only read. A killed member may not know that its very last write was committed, because raft records that with
the next entry; etcd then omits that write.
"""

from __future__ import annotations

import contextlib
import errno
import glob
import hashlib
import json
import os
import re
import shutil
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from ansible_collections.etcdops.headroom.plugins.module_utils._backup import check, data_release, restore, store
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import scratch_member as scratch
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.scratch_folder import OVERHEAD, scratch_folder
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.scratch_member import ScratchMemberError
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.store import Metadata, SnapshotError
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.bbolt import database_path
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import run_etcd_tool, run_etcdctl

# The option of etcd_rescue for Request.directory, which messages name.
OPTION = "dest"

_PREFIX = "rescued"
# What of a member's name the name of a file does not get.
_NO_NAME = re.compile(r"[^A-Za-z0-9._-]")
_CHUNK = 1 << 20


# What a broken disk or a damaged filesystem answers.
_BROKEN = (errno.EIO, errno.EUCLEAN, errno.ENODATA)


class UnusableDataError(SnapshotError):
    """Data that no snapshot can be made from: etcd does not start on it, or the disk does not return it."""


@dataclass(frozen=True)
class Request:
    """The member's data and the snapshot's directory. ``memory_max`` is in bytes, ``timeout`` in seconds for all steps."""

    member: str
    data_dir: str
    wal_dir: str
    directory: str
    memory_max: int
    timeout: int


@dataclass(frozen=True)
class Tools:
    """The programs of the release that wrote the data."""

    etcd_path: str
    etcdctl_path: str
    etcdutl_path: str


@dataclass(frozen=True)
class Source:
    """The two folders of a member's data, and their size in bytes."""

    snap: str
    wal: str
    size: int


def find_data(request: Request) -> Source:
    """Find the member's data. Raises SnapshotError without a database or a log: its volume may only be unmounted, and hold the newest data."""
    snap = os.path.join(request.data_dir, "member", "snap")
    wal = request.wal_dir or os.path.join(request.data_dir, "member", "wal")
    missing = [path for path in (os.path.join(snap, "db"), os.path.join(wal, "*.wal")) if not _exists(path)]
    if missing:
        rest = " and ".join(filter(None, (request.data_dir, request.wal_dir)))
        raise SnapshotError(
            f"{' and '.join(missing)} {'do' if len(missing) > 1 else 'does'} not exist on this host: mount the volume, or correct data_dir or "
            f"wal_dir. If it is lost, move what is left in {rest} away, and use the data of another member"
        )
    return Source(snap, wal, sum(_file_sizes(snap)) + sum(_file_sizes(wal)))


def _file_sizes(folder: str) -> Iterator[int]:
    """Yield the sizes of the files in a folder. In check mode etcd may still run, and remove files."""
    for entry in os.scandir(folder):
        with contextlib.suppress(FileNotFoundError):
            if entry.is_file():
                yield entry.stat().st_size


def _exists(path: str) -> bool:
    """Return whether a file exists, or any file if the name is a pattern."""
    folder, name = os.path.split(path)
    return any(glob.iglob(os.path.join(glob.escape(folder), name)))


def check_tools(request: Request, tools: Tools) -> None:
    """Raise SnapshotError if a program is missing, or etcd cannot run or is too old for the data: the data is usable with the right one.

    The playbook calls it before etcd is stopped, too.
    """
    missing = [path for path in (tools.etcd_path, tools.etcdctl_path, tools.etcdutl_path) if shutil.which(path) is None]
    if missing:
        raise SnapshotError(
            f"{' and '.join(missing)} {'are not executable programs' if len(missing) > 1 else 'is not an executable program'} on this host: "
            f"put etcd, etcdctl and etcdutl of the release that wrote {request.data_dir} there"
        )
    if not data_release.read_program_version(tools.etcd_path):
        raise SnapshotError(
            f"{tools.etcd_path} --version does not print the version of etcd, so the program may be damaged: put etcd, etcdctl and etcdutl of the "
            f"release that wrote {request.data_dir} there"
        )
    problem = data_release.release_problem(database_path(request.data_dir), tools.etcd_path)
    if problem:
        raise SnapshotError(problem)


def snapshot_path(request: Request, now: float) -> str:
    """Return an unused path for the snapshot. It has the member's name, so that the snapshots of several survivors have different paths."""
    return store.new_path(request.directory, f"{_PREFIX}-{_NO_NAME.sub('_', request.member)}", now)


def required_bytes(source: Source) -> int:
    """Return the bytes needed for the copy, which becomes the snapshot."""
    return source.size + OVERHEAD


def rescue_snapshot(request: Request, tools: Tools) -> tuple[str, Metadata]:
    """Make a snapshot of the member's data. Returns its path and metadata.

    Raises UnusableDataError, SnapshotError, RestoreError, ScratchMemberError or EtcdctlError.
    """
    check.check_timeout(request.timeout)
    source = find_data(request)
    check_tools(request, tools)
    restore.check_stopped(request.data_dir)
    limits = scratch.Limits(request.memory_max, request.timeout)
    now = int(time.time())
    try:
        with scratch_folder(request.directory, required_bytes(source), OPTION) as folder:
            data = os.path.join(folder, "data")
            _copy(source, data)
            described = _replay(request, tools, folder, data, limits)
            database = database_path(data)
            size, sha256 = _append_digest(database)
            status = check.read_status(database, tools.etcdutl_path, request.timeout, run_etcd_tool)
            metadata = Metadata(
                cluster_id=described["cluster_id"],
                member=request.member,
                member_id=described["member_id"],
                etcd_version=described["version"],
                size=size,
                sha256=sha256,
                taken_at=now,
                **asdict(status),
            )
            path = snapshot_path(request, now)
            store.publish(database, path, metadata)
    except scratch.StartError as error:
        raise UnusableDataError(f"no snapshot was made from {request.data_dir}: {error}") from error
    except ScratchMemberError as error:
        raise ScratchMemberError(f"no snapshot was made from {request.data_dir}: {error}") from error
    except OSError as error:
        kind = UnusableDataError if error.errno in _BROKEN else SnapshotError
        raise kind(f"{error.filename or request.directory}: {error.strerror}; no snapshot was made") from error
    return path, metadata


def _copy(source: Source, data: str) -> None:
    for origin, name in ((source.snap, "snap"), (source.wal, "wal")):
        target = os.path.join(data, "member", name)
        os.makedirs(target, mode=0o700)
        for entry in os.scandir(origin):
            if entry.is_file():
                shutil.copy(entry.path, os.path.join(target, entry.name))


def _replay(request: Request, tools: Tools, folder: str, data: str, limits: scratch.Limits) -> dict[str, str]:
    """Start etcd on the copy, so that it applies the WAL, and stop it. Returns its cluster id, member id and version."""
    # No quota: with etcd's default of 2 GiB, a larger database would raise the alarm NOSPACE, which the snapshot would keep.
    flags = ("--force-new-cluster", "--quota-backend-bytes=-1")
    with scratch.run_member(
        tools.etcd_path, tools.etcdctl_path, folder, data, limits, name=request.member, flags=flags, graceful=True
    ) as url:
        link = scratch.connection(tools.etcdctl_path, min(60.0, limits.seconds_left()))
        answer = run_etcdctl(link, [url], "endpoint", "status")
        try:
            if answer.returncode != 0:  # authentication is on, and stays on in the snapshot
                return scratch.identify(folder)
            status = json.loads(answer.stdout)[0]["Status"]
            header = status["header"]
            return {
                "cluster_id": format(int(header["cluster_id"]), "x"),
                "member_id": format(int(header["member_id"]), "x"),
                "version": str(status["version"]),
            }
        except (LookupError, TypeError, ValueError) as error:
            raise ScratchMemberError(
                f"etcd on the copy returned no status, but {answer.stdout[:80]!r} ({error})"
            ) from error


def _append_digest(path: str) -> tuple[int, str]:
    """Append the SHA-256 that etcd appends to a snapshot. Returns the snapshot's size and SHA-256."""
    running = hashlib.sha256()
    with open(path, "r+b") as stream:
        for chunk in iter(lambda: stream.read(_CHUNK), b""):
            running.update(chunk)
        digest = running.digest()
        stream.write(digest)
        stream.flush()
        os.fsync(stream.fileno())
        size = stream.tell()
    running.update(digest)
    return size, running.hexdigest()
