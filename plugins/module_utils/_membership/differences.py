# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare a member with its configuration: what restarts it, and what only writes a file. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._host.process import DIGEST_VARIABLE

DIGEST_LINE = f"Environment={DIGEST_VARIABLE}="
_DIGEST_LENGTH = 16
# A backslash and an n. A line feed would restart the members of all clusters that were deployed before.
_SEPARATOR = "\\n"


@dataclass(frozen=True)
class Planned:
    """The configuration of a member.

    lasting: the settings without those of the first start, as JSON with sorted keys. config: the text of etcd's config file. unit: the text of the unit,
    without the digest. certificates: their fingerprint. moves: whether this run changes the peer URL in the cluster. staged: whether new certificates wait.
    """

    lasting: str
    config: str
    unit: str
    certificates: str
    peer_url: str
    moves: bool
    staged: bool


@dataclass(frozen=True)
class Paths:
    """The files of a member: its configuration, its unit, and the marks of interrupted runs."""

    config: str
    unit: str
    forming: str
    renewing: str


def compare_member(planned: Planned, facts: Mapping[str, Any], paths: Paths) -> dict[str, Any]:
    """Return the differences of a member from its configuration. facts: the result of etcd_host_info.

    - ``digest`` of everything that the member is started with. If it changes, the member restarts
    - ``unit``: the text of the unit, with the digest
    - ``restarts``, and ``changes``: whether the member restarts or anything else is to do
    - ``decided_by_digest``: whether a process with this digest needs no restart
    """
    digest = member_digest(planned)
    unit = planned.unit.replace(DIGEST_LINE, DIGEST_LINE + digest)
    restarts = _restart_reasons(planned, facts, digest)
    return {
        "digest": digest,
        "unit": unit,
        "restarts": bool(restarts),
        "decided_by_digest": not restarts - {"digest", "inactive"},
        "changes": bool(restarts) or _has_other_changes(planned, facts, paths, unit),
    }


def member_digest(planned: Planned) -> str:
    """Return the digest of the settings, the unit and the certificates."""
    return _sha256(_SEPARATOR.join([planned.lasting, planned.unit, planned.certificates]))[:_DIGEST_LENGTH]


def _restart_reasons(planned: Planned, facts: Mapping[str, Any], digest: str) -> set[str]:
    state = facts["unit"]
    process = (facts.get("etcd") or {}).get("process") or {}
    # The former URL, if an earlier run changed it in the cluster and was killed before the restart.
    advertised = (process.get("settings") or {}).get("initial_advertise_peer_urls") or []
    reasons = {
        "digest": (state.get("digest") or "") != digest,
        "certificates": planned.staged,
        "address": planned.moves or bool(advertised and advertised != [planned.peer_url]),
        "inactive": state["active_state"] != "active",
    }
    return {reason for reason, holds in reasons.items() if holds}


def _has_other_changes(planned: Planned, facts: Mapping[str, Any], paths: Paths, unit: str) -> bool:
    state, files = facts["unit"], facts["files"]
    return bool(
        files[paths.forming]["exists"]
        or files[paths.renewing]["exists"]
        or state["enabled_state"] != "enabled"
        or state["needs_reload"]
        or files[paths.config].get("sha256", "") != _sha256(planned.config)
        or files[paths.unit].get("sha256", "") != _sha256(unit)
    )


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
