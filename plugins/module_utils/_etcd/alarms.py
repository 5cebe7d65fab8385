# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""List alarms, and disarm chosen ones.

``etcdctl alarm disarm`` disarms all alarms, including a CORRUPT that was raised a moment before. The gRPC gateway disarms a single one,
but takes no user from a client certificate, so with authentication enabled only etcdctl works. Source: AlarmDisarm in
client/v3/maintenance.go and AuthInfoFromTLS in server/auth/store.go.
"""

from __future__ import annotations

import json
from collections.abc import Collection

from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import http_api
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster import REMEDY_OF_CORRUPTION
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import (
    CORRUPT,
    NOSPACE,
    Alarm,
    Connection,
    EtcdctlError,
    failure_reason,
    run_etcdctl,
)

# etcdctl prints the numbers of AlarmType in api/etcdserverpb/rpc.proto.
_TYPES = {1: NOSPACE, 2: CORRUPT}


class AlarmError(ValueError):
    """Alarms that could not be listed, or may not be disarmed; the message says why."""


def list_alarms(connection: Connection, endpoints: list[str]) -> list[Alarm]:
    """Return the alarms that are set. Raises AlarmError or EtcdctlError."""
    answer = run_etcdctl(connection, endpoints, "alarm", "list")
    if answer.returncode != 0:
        raise AlarmError(f"etcdctl alarm list: {failure_reason(answer)}")
    return parse_alarm_list(answer.stdout)


def parse_alarm_list(text: str) -> list[Alarm]:
    """Parse what ``etcdctl alarm list`` and ``alarm disarm`` print with ``-w json``. Raises AlarmError."""
    try:
        found = json.loads(text).get("alarms") or []
        return [Alarm(format(int(one.get("memberID", 0)), "x"), _type_name(one["alarm"])) for one in found]
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise AlarmError(f"etcdctl printed {text[:80]!r}, which is not a list of alarms") from error


def _type_name(value: int | str) -> str:
    return _TYPES.get(value, str(value)) if isinstance(value, int) else value


def disarm_nospace(connection: Connection, endpoints: list[str]) -> list[Alarm]:
    """Disarm the alarms NOSPACE, and no other. Returns those that were disarmed.

    Raises AlarmError if CORRUPT is set before or afterwards: 3.5 accepts writes again once NOSPACE is disarmed, although CORRUPT
    stays set. Source: Alarm in server/etcdserver/apply.go of 3.5. Raises EtcdctlError if etcdctl cannot be run.
    """
    alarms = list_alarms(connection, endpoints)
    refuse_corrupt(alarms, "and NOSPACE was not disarmed")
    nospace = [alarm for alarm in alarms if alarm.type == NOSPACE]
    if nospace:
        disarm_alarms(connection, endpoints, nospace)
        refuse_corrupt(
            list_alarms(connection, endpoints),
            "and NOSPACE was disarmed: etcd 3.5 may accept writes until its members are restarted",
        )
    return nospace


def refuse_corrupt(alarms: list[Alarm], consequence: str) -> None:
    """Raise AlarmError if CORRUPT is set."""
    corrupt = [alarm for alarm in alarms if alarm.type == CORRUPT]
    if corrupt:
        raise AlarmError(f"the alarm {describe_alarms(corrupt)} is set, {consequence}; {REMEDY_OF_CORRUPTION}")


def describe_alarms(alarms: Collection[Alarm]) -> str:
    """Return the alarms with the ids of their members, for messages."""
    named = (
        f"{alarm.type} of {'the cluster' if alarm.member_id == '0' else f'member {alarm.member_id}'}"
        for alarm in alarms
    )
    return ", ".join(sorted(named))


def disarm_alarms(connection: Connection, endpoints: list[str], alarms: Collection[Alarm]) -> None:
    """Disarm these alarms and no others. Raises AlarmError or EtcdctlError."""
    problems = (_deactivate(connection, endpoints, alarm) for alarm in alarms)
    problem = next(filter(None, problems), "")
    if not problem:
        return
    others = [alarm for alarm in list_alarms(connection, endpoints) if alarm not in alarms]
    if others:
        raise AlarmError(
            f"{describe_alarms(alarms)} was not disarmed: etcdctl would also disarm {describe_alarms(others)}, and the gateway, which "
            f"disarms a single alarm, cannot be used ({problem})"
        )
    answer = run_etcdctl(connection, endpoints, "alarm", "disarm")
    if answer.returncode != 0:
        raise AlarmError(f"etcdctl alarm disarm: {failure_reason(answer)}")
    unintended = [alarm for alarm in parse_alarm_list(answer.stdout) if alarm not in alarms]
    if unintended:
        raise AlarmError(
            f"etcdctl also disarmed {describe_alarms(unintended)}, which was raised at that moment: compare the members now, with "
            "`headroom integrity` on the leader's host"
        )


def _deactivate(connection: Connection, endpoints: list[str], alarm: Alarm) -> str:
    """Disarm one alarm through the gateway of the first member that does it. Returns the last error, empty if it was disarmed."""
    problem = "no endpoint is given"
    for url in endpoints:
        try:
            http_api.deactivate_alarm(connection, url, alarm)
            return ""
        except EtcdctlError as error:
            problem = str(error)
    return problem
