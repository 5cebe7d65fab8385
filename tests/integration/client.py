# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run etcdctl on the members of a test, connect the collection's code to them, and wait for events, with time limits that fit a busy machine."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Sequence

from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import Connection

from bench.common.member import Member, binary, metrics

# etcd gives up a request after 5 s plus two election timeouts, 7 s by default: a shorter limit of the client fails where etcd still succeeds.
REQUEST_SECONDS = 10.0
COMMAND_SECONDS = 30
# For an event that takes a second or two on an idle machine.
EVENT_SECONDS = 120.0


def connection(version: str, timeout: float = REQUEST_SECONDS) -> Connection:
    """Return a connection without TLS that uses etcdctl of a release."""
    return Connection(str(binary(version, "etcdctl")), None, None, None, timeout)


def tls_connection(member: Member, timeout: float) -> Connection:
    """Return a connection with a member's client certificate that uses etcdctl of its release."""
    ca, certificate, key = (f"{member.tls}/{name}" for name in ("ca.crt", "client.crt", "client.key"))
    return Connection(str(binary(member.version, "etcdctl")), ca, certificate, key, timeout)


def command_line(members: Member | Sequence[Member], *words: str) -> list[str]:
    """Return the command line of etcdctl of the first member's release for the endpoints of members, with its client certificate."""
    asked = [members] if isinstance(members, Member) else members
    tls = asked[0].tls
    files = [("cacert", "ca.crt"), ("cert", "client.crt"), ("key", "client.key")] if tls else []
    return [
        str(binary(asked[0].version, "etcdctl")),
        f"--endpoints={','.join(member.endpoint for member in asked)}",
        f"--command-timeout={COMMAND_SECONDS}s",
        f"--dial-timeout={COMMAND_SECONDS}s",
        *(f"--{flag}={tls}/{file}" for flag, file in files),
        *words,
    ]


def run(members: Member | Sequence[Member], *words: str, text: str = "") -> subprocess.CompletedProcess[str]:
    """Run etcdctl, whether it fails or not. text: its standard input, for a value that is too long for an argument."""
    argv = command_line(members, *words)
    return subprocess.run(argv, input=text, capture_output=True, text=True, timeout=2 * COMMAND_SECONDS, check=False)


def etcdctl(members: Member | Sequence[Member], *words: str, check: bool = True, text: str = "") -> str:
    """Run etcdctl and return its standard output. check: raise CalledProcessError, with what etcdctl says, if it fails."""
    done = run(members, *words, text=text)
    if check and done.returncode != 0:
        error = subprocess.CalledProcessError(done.returncode, done.args, done.stdout, done.stderr)
        error.add_note(done.stderr)
        raise error
    return done.stdout


def wait_until(happened: Callable[[], object], failure: str, seconds: float = EVENT_SECONDS) -> None:
    """Wait until a function returns something true. Raises AssertionError with the failure's text after ``seconds``."""
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline, f"{failure} within {seconds:g} s"
        time.sleep(0.1)


def wait_for_leader(members: Sequence[Member]) -> None:
    """Wait until one of these members leads, for example after another one was stopped."""

    def figures(name: str) -> list[float]:
        return [metrics(member.metrics_url)[name] for member in members]

    wait_until(
        lambda: any(figures("etcd_server_is_leader")) and all(figures("etcd_server_has_leader")),
        f"none of {', '.join(member.name for member in members)} became the leader",
    )
