# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run etcdctl and parse its JSON.

The parsers are pure. They accept what etcdctl 3.5, 3.6 and 3.7 print with ``-w json``, and the answers of etcd's gRPC
gateway, which writes 64-bit integers as strings. Member and cluster ids become hexadecimal strings, as in etcd's logs,
because many JSON parsers cannot represent them as integers.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._base.processes import ProcessResult, run_process
from ansible_collections.etcdops.headroom.plugins.module_utils._base.versions import minor


class EtcdctlError(ValueError):
    """etcdctl could not be run, or its output could not be parsed."""


@dataclass(frozen=True)
class Connection:
    """How to reach etcd: the client binary, the TLS files, and the seconds that one request may take.

    user, password: with which etcdctl authenticates. Without them etcd takes the user from the client certificate.
    """

    etcdctl_path: str
    ca_cert: str | None
    client_cert: str | None
    client_key: str | None
    timeout: float
    user: str = ""
    password: str = field(default="", repr=False)


@dataclass(frozen=True)
class ListedMember:
    """A member in the member list. One that never started has no name and no client URL."""

    id: str
    name: str
    peer_urls: list[str]
    client_urls: list[str]
    learner: bool


@dataclass(frozen=True)
class MemberList:
    """The member list, and the member that answered."""

    cluster_id: str
    answered_by: str
    members: list[ListedMember]


@dataclass(frozen=True)
class Status:
    """The status that a member reports. ``leader`` is empty if it knows none; sizes are bytes.

    version: without the suffix of a custom build. downgrade_to: the minor version that a downgrade is enabled to, empty without one; 3.5 does not tell.
    """

    member_id: str
    version: str
    leader: str
    learner: bool
    db_size: int
    db_size_in_use: int
    db_quota: int | None
    raft_index: int
    raft_applied_index: int
    raft_term: int
    errors: list[str] = field(default_factory=list)
    revision: int = 0
    downgrade_to: str = ""


@dataclass(frozen=True)
class Health:
    """Whether a linearizable read through an endpoint succeeded, and if not, the error. alarms: types of those set in the cluster."""

    healthy: bool
    error: str
    alarms: tuple[str, ...] = ()


NOSPACE, CORRUPT = "NOSPACE", "CORRUPT"
# etcdctl appends the types, without their members.
_ACTIVE_ALARMS = "Active Alarm(s)"
_RELEASE = re.compile(r"\d+\.\d+\.\d+")


@dataclass(frozen=True)
class Alarm:
    """An alarm that is set: NOSPACE or CORRUPT, and the member that raised it."""

    member_id: str
    type: str


def run_etcdctl(
    connection: Connection, endpoints: list[str], *arguments: str, text: str = "", binary: bool = False
) -> ProcessResult:
    """Run an etcdctl command for at most a second longer than the connection's timeout. ``text`` is its standard input.

    binary: it prints protocol buffers, in ``data`` of the result, in place of JSON, which takes twice the CPU.
    """
    argv = [*command_line(connection, endpoints), "-w", "protobuf" if binary else "json", *arguments]
    # In the environment, which only this user and root can read: a command line is readable by everyone.
    login = {"ETCDCTL_USER": connection.user, "ETCDCTL_PASSWORD": connection.password} if connection.user else {}
    # Go's default collects garbage several times for one large answer.
    go = {"GOGC": "400"} if binary else {}
    return run_etcd_tool(argv, connection.timeout + 1.0, "etcdctl", text, {**login, **go}, binary)


def move_leader(connection: Connection, endpoint: str, target_id: str) -> str:
    """Move the leadership from the leader at ``endpoint`` to the member with this id. Returns the error, empty if none."""
    answer = run_etcdctl(connection, [endpoint], "move-leader", target_id)
    return "" if answer.returncode == 0 else failure_reason(answer)


def command_line(connection: Connection, endpoints: list[str]) -> list[str]:
    """Return the start of an etcdctl command line: the program, endpoints, timeouts and TLS files."""
    argv = [
        connection.etcdctl_path,
        f"--endpoints={','.join(endpoints)}",
        f"--command-timeout={connection.timeout:g}s",
        f"--dial-timeout={connection.timeout:g}s",
    ]
    if any(url.startswith("https://") for url in endpoints):
        argv += [
            f"--{flag}={path}"
            for flag, path in (
                ("cacert", connection.ca_cert),
                ("cert", connection.client_cert),
                ("key", connection.client_key),
            )
            if path
        ]
    return argv


def run_etcd_tool(
    argv: list[str],
    timeout: float,
    name: str,
    text: str = "",
    variables: Mapping[str, str] | None = None,
    binary: bool = False,
) -> ProcessResult:
    """Run etcdctl or etcdutl (``name``), and kill it after ``timeout`` seconds. ``text`` is its standard input.

    Variables named ``ETCDCTL_*`` other than ``variables`` are removed: etcdctl refuses to run when one repeats a flag.
    Raises EtcdctlError if the program cannot be started.
    """
    environment = {key: value for key, value in os.environ.items() if not key.startswith("ETCDCTL_")}
    environment.update(variables or {})
    try:
        return run_process(argv, timeout, text=text, environment=environment, binary=binary)
    except FileNotFoundError as error:
        raise EtcdctlError(f"{argv[0]} does not exist: install {name} or set {name}_path") from error
    except PermissionError as error:
        raise EtcdctlError(f"{argv[0]} may not be run by this user: {error.strerror}") from error


def failure_reason(answer: ProcessResult) -> str:
    """Return why etcdctl failed, in one line.

    The retry interceptor logs the cause as a JSON line on standard error ("connection refused", an untrusted
    certificate); the last plain line ("Error: context deadline exceeded") often says less.
    """
    if answer.returncode is None:
        return "etcdctl did not end in time and was killed"
    plain, logged = "", ""
    for line in answer.stderr.splitlines():
        if line.startswith("{"):
            try:
                logged = str(json.loads(line).get("error", "")) or logged
            except ValueError:
                continue
        elif line.strip():
            plain = line.strip()
    cause = shorten_error(logged)
    plain = re.sub(r"^Error: ", "", plain)
    if cause and cause not in plain:
        return cause
    return plain or cause or f"etcdctl ended with exit status {answer.returncode}"


def shorten_error(text: str) -> str:
    """Return the cause within a gRPC error: ``dial tcp 10.0.0.1:2379: connect: connection refused``."""
    dialled = re.search(r'desc = \\?"transport: (?:Error while dialing: )?(.+?)\\?"', text)
    if dialled:
        return dialled.group(1)
    return text.rsplit("desc = ", 1)[-1].strip()


def parse_members(text: str) -> MemberList:
    """Parse ``etcdctl member list -w json`` or the gateway's ``/v3/cluster/member/list``."""
    data = _object(text, "member list")
    header = data.get("header", {})
    members = [
        ListedMember(
            id=_hex_id(entry["ID"]),
            name=entry.get("name", ""),
            peer_urls=list(entry.get("peerURLs", [])),
            client_urls=list(entry.get("clientURLs", [])),
            learner=bool(entry.get("isLearner", False)),
        )
        for entry in data.get("members", [])
    ]
    return MemberList(
        cluster_id=_hex_id(header.get("cluster_id", 0)),
        answered_by=_hex_id(header.get("member_id", 0)),
        members=sorted(members, key=lambda member: (member.name, member.id)),
    )


def parse_status(text: str) -> dict[str, Status]:
    """Parse ``etcdctl endpoint status -w json``: endpoint to status, without the endpoints that did not answer.

    etcdctl prints ``null`` (3.6 and later) or ``[]`` (3.5) if none did.
    """
    return {entry["Endpoint"]: _status(entry["Status"]) for entry in _list(text, "endpoint status")}


def parse_health(text: str) -> dict[str, Health]:
    """Parse ``etcdctl endpoint health -w json``: endpoint to health.

    etcdctl reports every endpoint as unhealthy while any alarm of any member is set. Alarms are reported separately here, and
    an endpoint whose only error is "Active Alarm(s)" answered a linearizable read, so it counts as healthy.
    A learner serves no linearizable reads; its health follows from its status.
    """
    result = {}
    for entry in _list(text, "endpoint health"):
        error = shorten_error(str(entry.get("error", "")))
        only_alarm = error.startswith(_ACTIVE_ALARMS)
        result[entry["endpoint"]] = Health(
            healthy=bool(entry.get("health", False)) or only_alarm,
            error="" if only_alarm else error,
            alarms=tuple(error[len(_ACTIVE_ALARMS) :].strip(": ").split()) if only_alarm else (),
        )
    return result


def parse_alarms(errors: list[str]) -> list[Alarm]:
    """Parse the alarms among the errors of a status: ``memberID:9251344371800250839 alarm:NOSPACE``.

    ``alarm:CORRUPT`` alone concerns the whole cluster, and has the member id 0: etcd found different hashes without a majority.
    """
    found = (re.match(r"(?:memberID:(\d+)\s+)?alarm:(\w+)", error) for error in errors)
    return [Alarm(member_id=_hex_id(match.group(1) or 0), type=match.group(2)) for match in found if match]


def _status(data: dict[str, Any]) -> Status:
    quota = data.get("dbSizeQuota")
    leader = int(data.get("leader", 0))
    return Status(
        member_id=_hex_id(data.get("header", {}).get("member_id", 0)),
        version=base_release(str(data.get("version", ""))),
        leader=_hex_id(leader) if leader else "",
        learner=bool(data.get("isLearner", False)),
        db_size=int(data.get("dbSize", 0)),
        db_size_in_use=int(data.get("dbSizeInUse", 0)),
        db_quota=None if quota is None else int(quota),
        raft_index=int(data.get("raftIndex", 0)),
        raft_applied_index=int(data.get("raftAppliedIndex", 0)),
        raft_term=int(data.get("raftTerm", 0)),
        errors=[str(error).strip() for error in data.get("errors", [])],
        revision=int(data.get("header", {}).get("revision", 0)),
        downgrade_to=downgrade_target(data),
    )


def base_release(text: str) -> str:
    """Return the release that a member is built from: "3.6.16" of "3.6.16-acme", a custom build, or "3.7.0" of "3.7.0-rc.1". Empty without one."""
    found = _RELEASE.match(text)
    return found.group() if found else ""


def downgrade_target(status: dict[str, Any]) -> str:
    """Return the minor version that a downgrade is enabled to, from a status; empty without one."""
    info = status.get("downgradeInfo") or {}
    return minor(str(info.get("targetVersion", ""))) if info.get("enabled") else ""


def _hex_id(value: int | str) -> str:
    return format(int(value), "x")


def _object(text: str, what: str) -> dict[str, Any]:
    data = _json(text, what)
    if not isinstance(data, dict):
        raise EtcdctlError(f"{what}: expected a JSON object, got {text[:80]!r}")
    return data


def _list(text: str, what: str) -> list[dict[str, Any]]:
    data = _json(text, what)
    if data is None:
        return []
    if not isinstance(data, list):
        raise EtcdctlError(f"{what}: expected a JSON list, got {text[:80]!r}")
    return data


def _json(text: str, what: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise EtcdctlError(f"{what}: etcdctl printed {text[:80]!r}, which is not JSON") from error
