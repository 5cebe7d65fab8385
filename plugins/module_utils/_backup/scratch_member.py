# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run a temporary etcd on data in a scratch folder.

It listens on unix sockets in that folder, which only its user can enter, so it needs no port and clients cannot reach it. Its
memory, time and priority are limited, and it ends with the process that started it.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from ansible_collections.etcdops.headroom.plugins.module_utils._backup import member_pages
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.check import is_host_problem
from ansible_collections.etcdops.headroom.plugins.module_utils._base.processes import ProcessResult, program_problem
from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import format_size, format_sizes_distinctly
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import (
    Connection,
    parse_status,
    run_etcdctl,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._host import systemd

# With less, the Go runtime and bbolt's free list leave no memory for the index.
MIN_MEMORY = 128 << 20

_LOG = "etcd.log"
SOCKET = "client"
_PEER = "peer"
# The advertised address, where nothing listens: etcd before 3.7 cannot advertise a unix socket.
PEER_URL = "http://127.0.0.1:1"
_PAUSE = 0.1
# The lines of the log that may name the reason of its end.
_LAST_LINES = 5
_STOP_SECONDS = 60.0
# `timeout` starts its own time limit with each signal that it forwards. If that were the shorter one, it would kill etcd while _stop waits.
_KILL_MARGIN = 30.0
# How `timeout` ends if etcd was killed: by the same signal, or with the shell's status for it.
_KILLED = (-signal.SIGKILL, 128 + signal.SIGKILL)
# etcd's answer to a request without a user while authentication is on.
_NO_USER = "user name is empty"

# ulimit -d limits private writable memory, without the mapped pages of the database; the OOM killer chooses this process first.
_LIMITED = """
echo 1000 > /proc/self/oom_score_adj || :
ulimit -d "$1"
shift
exec "$@"
"""


class ScratchMemberError(ValueError):
    """A scratch member that cannot run or does not answer as it should; the text says why."""


class StartError(ScratchMemberError):
    """etcd ended on the data, and not because of a limit: the data is damaged, or of another release."""


@dataclass(frozen=True)
class Limits:
    """Limits of the scratch member: ``memory`` in bytes, ``seconds`` from ``began`` on, which is on the clock of time.monotonic().

    Messages name the ``option`` with the time limit.
    """

    memory: int
    seconds: float
    option: str = "timeout"
    began: float = field(default_factory=time.monotonic)

    def seconds_left(self) -> float:
        """Return the seconds that are left. Raises ScratchMemberError if none are."""
        left = self.began + self.seconds - time.monotonic()
        if left <= 0:
            raise ScratchMemberError(f"the time limit of {self.seconds:.0f} s has passed: raise {self.option}")
        return left


def memory_problem(memory: int) -> str:
    """Return why a memory limit (bytes) is too low for the scratch member; empty if it is not."""
    if memory < MIN_MEMORY:
        given, minimum = format_sizes_distinctly(memory, MIN_MEMORY)
        return f"memory_max is {given}, but must be at least {minimum}"
    return ""


def socket_url(folder: str) -> str:
    """Return the client URL of the scratch member."""
    return f"unix://{os.path.join(folder, SOCKET)}"


def connection(etcdctl_path: str, seconds: float) -> Connection:
    """Return etcdctl's connection to a scratch member, without TLS because the folder is private."""
    return Connection(etcdctl_path, None, None, None, seconds)


def command_line(
    etcd_path: str, folder: str, data_dir: str, name: str, limits: Limits, flags: tuple[str, ...]
) -> list[str]:
    """Return the command line that applies the limits and runs etcd.

    The program ``timeout`` ends etcd at the deadline even if this process was killed.
    """
    kill_after = f"--kill-after={_STOP_SECONDS + _KILL_MARGIN:g}"
    limit = [str(limits.memory >> 10), "timeout", kill_after, f"{limits.seconds_left():.0f}"]
    return [
        *_parent_death_prefix(),
        *("sh", "-c", _LIMITED, "sh"),
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


def _parent_death_prefix() -> list[str]:
    """Return a command prefix that ends the command with its parent; empty without setpriv of util-linux 2.33 or newer."""
    prefix = ["setpriv", "--pdeathsig", "TERM"]
    if shutil.which("setpriv") is None:
        return []
    done = subprocess.run(
        [*prefix, "true"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False
    )
    return prefix if done.returncode == 0 else []


@contextlib.contextmanager
def run_member(
    etcd_path: str,
    etcdctl_path: str,
    folder: str,
    data_dir: str,
    limits: Limits,
    *,
    name: str = "drill",
    flags: tuple[str, ...] = (),
    graceful: bool = False,
) -> Iterator[str]:
    """Run etcd on ``data_dir`` in ``folder``, yield its client URL once it answers, and stop it afterwards.

    Raises ScratchMemberError if it does not answer, and, with ``graceful``, if it had to be killed, because its database may then be
    incomplete.
    """
    problem = program_problem(etcd_path, "etcd")
    if problem:
        raise ScratchMemberError(problem)
    # Drop the caller's settings: etcd reads ETCD_* and refuses some of them next to flags.
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("ETCD", "GO"))}
    environment["GOMEMLIMIT"] = str(limits.memory * 3 // 4)
    log = os.path.join(folder, _LOG)
    with open(log, "ab") as stream:
        process = subprocess.Popen(
            command_line(etcd_path, folder, data_dir, name, limits, flags),
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
            env=environment,
            cwd=folder,
        )
    try:
        _wait(process, connection(etcdctl_path, 5.0), folder, limits)
        yield socket_url(folder)
    finally:
        killed = _stop(process)
    if graceful and killed:
        raise ScratchMemberError(
            f"etcd was killed before it had stopped, for which it has {_STOP_SECONDS:.0f} s: run it again"
        )


def _wait(process: subprocess.Popen[bytes], link: Connection, folder: str, limits: Limits) -> None:
    """Wait until the member leads and has applied all committed entries. Reads no keys, because auth may be enabled."""
    while True:
        if process.poll() is not None:
            limits.seconds_left()
            ended = ProcessResult(process.returncode, "", "\n".join(_log_lines(folder)[-_LAST_LINES:]))
            reason = exit_reason(folder, limits.memory)
            if process.returncode < 0:
                reason = f"signal {-process.returncode} ended it, perhaps by the OOM killer: {reason}"
            raise (ScratchMemberError if is_host_problem(ended) else StartError)(
                f"etcd does not start with it: {reason}"
            )
        if os.path.exists(os.path.join(folder, SOCKET)):
            if _serves(link, folder):
                return
        try:
            limits.seconds_left()
        except ScratchMemberError as error:
            raise ScratchMemberError(
                f"etcd did not answer within the time limit ({exit_reason(folder, limits.memory)}): {error}"
            ) from error
        time.sleep(_PAUSE)


def _serves(link: Connection, folder: str) -> bool:
    """Return whether the member leads and has applied all committed entries."""
    answer = run_etcdctl(link, [socket_url(folder)], "endpoint", "status")
    if answer.returncode != 0:
        return _NO_USER in answer.stderr and member_pages.is_healthy(os.path.join(folder, SOCKET))
    found = list(parse_status(answer.stdout or "null").values())
    return bool(found and found[0].leader and found[0].raft_applied_index == found[0].raft_index)


def identify(folder: str) -> dict[str, str]:
    """Return cluster id, member id and version of the member without asking for its status. Raises ValueError."""
    version = member_pages.read_version(os.path.join(folder, SOCKET))
    for line in reversed(_log_lines(folder)):
        if '"cluster-id"' in line and '"local-member-id"' in line:
            entry = json.loads(line)
            return {"cluster_id": entry["cluster-id"], "member_id": entry["local-member-id"], "version": version}
    raise ValueError("etcd's log on the copy names no cluster")


def exit_reason(folder: str, memory: int) -> str:
    """Return in one line why the scratch member failed, from its log."""
    lines = _log_lines(folder)
    if _is_out_of_memory(lines):
        return f"it needs more than {format_size(memory)} of memory, raise memory_max"
    return systemd.cause([systemd.readable(line) for line in lines]) or (lines[-1] if lines else "its log is empty")


def _is_out_of_memory(lines: list[str]) -> bool:
    return any("out of memory" in line or "cannot allocate memory" in line for line in lines)


def _log_lines(folder: str) -> list[str]:
    try:
        with open(os.path.join(folder, _LOG), encoding="utf-8", errors="replace") as stream:
            return stream.read().splitlines()
    except OSError:
        return []


def _stop(process: subprocess.Popen[bytes]) -> bool:
    """Stop ``timeout``, which stops etcd. Returns whether etcd was killed, here or by another process."""
    if process.poll() is None:
        process.terminate()
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        # `timeout` leads a process group of its own, and would not take etcd with it.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.kill()
        process.wait()
        return True
    return process.returncode in _KILLED
