# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An etcd for a moment: started on data in a scratch folder, reached by nobody else, gone afterwards. Private to the collection.

It listens on unix sockets in that folder, which only its user can enter: no port is taken, and no client finds it. Its
memory, its time and its priority are bounded, and it ends with the process that started it, however that ends.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import format_size
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import (
    Connection,
    parse_status,
    run_etcdctl,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._host import systemd

# What etcd writes beside its database: two WAL segments of 64 MB, one of them ahead of need, and growth in steps of 16 MB.
OVERHEAD = 160 << 20
# Below this the Go runtime and bbolt's free list leave no room for an index.
LEAST_MEMORY = 128 << 20

_PREFIX = ".headroom-drill-"
_LOCK = "lock"
_LOG = "etcd.log"
_SOCKET = "client"
_PEER = "peer"
# What it says its address is: nothing listens there. etcd before 3.7 refuses to advertise a unix socket.
PEER_URL = "http://127.0.0.1:1"
# sun_path holds 108 bytes with its end on Linux.
_LONGEST_SOCKET = 107
_PAUSE = 0.1
_STOP_SECONDS = 60.0

# The kernel refuses what goes over the limit of private writable memory, which mapped database pages are no part of; and if
# memory runs out on the host, it ends this process first.
_BOUNDED = """
echo 1000 > /proc/self/oom_score_adj || :
ulimit -d "$1"
shift
exec "$@"
"""


class DrillError(ValueError):
    """A backup that cannot be restored, or a drill that cannot be held; the text is one sentence."""


@dataclass(frozen=True)
class Bounds:
    """What the scratch member may use: ``memory`` in bytes, ``deadline`` on the clock of time.monotonic()."""

    memory: int
    deadline: float

    def left(self) -> float:
        """Return the seconds that are left. Raises DrillError if none are."""
        seconds = self.deadline - time.monotonic()
        if seconds <= 0:
            raise DrillError("time is up: raise timeout")
        return seconds


@contextlib.contextmanager
def scratch_folder(parent: str, needed: int) -> Iterator[str]:
    """Give a folder for this user alone with ``needed`` bytes of room, and remove it whatever happens.

    Folders that killed drills left are removed first. Raises DrillError if there is no room.
    """
    check_parent(parent, needed)
    folder = tempfile.mkdtemp(prefix=_PREFIX, dir=parent)
    handle = os.open(os.path.join(folder, _LOCK), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield folder
    finally:
        os.close(handle)
        shutil.rmtree(folder, ignore_errors=True)


def check_parent(parent: str, needed: int) -> None:
    """Remove what killed drills left in ``parent``, and raise DrillError if it cannot hold a scratch member."""
    if not os.path.isdir(parent) or not os.access(parent, os.R_OK | os.W_OK | os.X_OK):
        raise DrillError(f"scratch_dir {parent} is no directory that user {os.geteuid()} can write to: choose another")
    longest = len(os.fsencode(os.path.join(parent, _PREFIX + "x" * 8, _SOCKET)))
    if longest > _LONGEST_SOCKET:
        raise DrillError(f"scratch_dir {parent} is too long for the sockets in it by {longest - _LONGEST_SOCKET} bytes")
    _remove_leftovers(parent)
    room = os.statvfs(parent)
    free = room.f_bavail * room.f_frsize
    if free < needed:
        raise DrillError(
            f"scratch_dir {parent} has {format_size(free)} free, but the drill needs {format_size(needed)}: "
            "free some space, or set scratch_dir to a larger volume"
        )


def _remove_leftovers(parent: str) -> None:
    for name in os.listdir(parent):
        folder = os.path.join(parent, name)
        if not name.startswith(_PREFIX) or os.path.islink(folder):
            continue
        try:
            handle = os.open(os.path.join(folder, _LOCK), os.O_RDWR | os.O_NOFOLLOW)
        except OSError:  # of another user, or of a drill that is only just beginning
            continue
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
        except BlockingIOError:
            continue
        finally:
            os.close(handle)


def socket_url(folder: str) -> str:
    """Return where clients reach the scratch member."""
    return f"unix://{os.path.join(folder, _SOCKET)}"


def connection(etcdctl_path: str, seconds: float) -> Connection:
    """Return how etcdctl asks a scratch member: no TLS, as the folder keeps others out."""
    return Connection(etcdctl_path, None, None, None, seconds)


def command(etcd_path: str, folder: str, data_dir: str, name: str, bounds: Bounds, flags: tuple[str, ...]) -> list[str]:
    """Return the whole command line: the bounds, then etcd.

    ``timeout`` ends etcd at the deadline even if nobody else is left to do so.
    """
    limit = [str(bounds.memory >> 10), "timeout", "--kill-after=10", f"{bounds.left():.0f}"]
    return [
        *_dies_with_parent(),
        *("sh", "-c", _BOUNDED, "sh"),
        *limit,
        *("nice", "-n", "19"),
        *(("ionice", "-c", "3") if shutil.which("ionice") else ()),
        etcd_path,
        f"--name={name}",
        f"--data-dir={data_dir}",
        f"--listen-client-urls={socket_url(folder)}",
        f"--advertise-client-urls={PEER_URL}",
        f"--listen-peer-urls=unix://{os.path.join(folder, _PEER)}",
        f"--initial-advertise-peer-urls={PEER_URL}",
        f"--initial-cluster={name}={PEER_URL}",
        "--log-level=info",
        *flags,
    ]


def _dies_with_parent() -> list[str]:
    """Return the prefix that ends a command when its parent does, where setpriv knows how to (util-linux 2.33)."""
    prefix = ["setpriv", "--pdeathsig", "TERM"]
    if shutil.which("setpriv") is None:
        return []
    done = subprocess.run(
        [*prefix, "true"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False
    )
    return prefix if done.returncode == 0 else []


@contextlib.contextmanager
def member(
    etcd_path: str,
    etcdctl_path: str,
    folder: str,
    data_dir: str,
    bounds: Bounds,
    *,
    name: str = "drill",
    flags: tuple[str, ...] = (),
    in_order: bool = False,
) -> Iterator[str]:
    """Run etcd on ``data_dir`` below ``folder`` and give its client URL once it answers; ends it afterwards.

    Raises DrillError if it does not come to answer, and, with ``in_order``, if it had to be killed: what it had yet to
    write to its database is not there then.
    """
    if shutil.which(etcd_path) is None:
        raise DrillError(f"{etcd_path} is no program that can be run: install etcd or set etcd_path")
    # None of the caller's settings: etcd reads ETCD_*, and refuses some that are also given as flags.
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("ETCD", "GO"))}
    environment["GOMEMLIMIT"] = str(bounds.memory * 3 // 4)
    log = os.path.join(folder, _LOG)
    with open(log, "ab") as stream:
        process = subprocess.Popen(
            command(etcd_path, folder, data_dir, name, bounds, flags),
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
            env=environment,
            cwd=folder,
        )
    try:
        _wait(process, connection(etcdctl_path, 5.0), folder, bounds)
        yield socket_url(folder)
    finally:
        killed = _end(process)
    if in_order and killed:
        raise DrillError(f"etcd did not end in {_STOP_SECONDS:.0f} s: try again")


def _wait(process: subprocess.Popen[bytes], link: Connection, folder: str, bounds: Bounds) -> None:
    """Return once it leads and has applied all that was committed. Nothing is read: the backup may be one with auth enabled."""
    while True:
        if process.poll() is not None:
            raise DrillError(f"etcd does not start on it: {log_cause(folder, bounds.memory)}")
        if os.path.exists(os.path.join(folder, _SOCKET)):
            answer = run_etcdctl(link, [socket_url(folder)], "endpoint", "status")
            found = list(parse_status(answer.stdout or "null").values()) if answer.returncode == 0 else []
            if found and found[0].leader and found[0].raft_applied_index == found[0].raft_index:
                return
        try:
            bounds.left()
        except DrillError as error:
            raise DrillError(
                f"etcd did not answer in time on it ({log_cause(folder, bounds.memory)}): {error}"
            ) from error
        time.sleep(_PAUSE)


def log_cause(folder: str, memory: int) -> str:
    """Return in one line why the scratch member ended, from what it logged."""
    try:
        with open(os.path.join(folder, _LOG), encoding="utf-8", errors="replace") as stream:
            lines = stream.read().splitlines()
    except OSError:
        lines = []
    if any("out of memory" in line or "cannot allocate memory" in line for line in lines):
        return f"it needs more than {format_size(memory)} of memory, raise memory_max"
    return systemd.cause([systemd.readable(line) for line in lines]) or (lines[-1] if lines else "it logged nothing")


def _end(process: subprocess.Popen[bytes]) -> bool:
    """End ``timeout``, which ends etcd. Returns whether it had to be killed."""
    if process.poll() is None:
        process.terminate()
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return True
    return False
