# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A host with certificates of two CAs, as role etcd_tls knows it, for tests that change one thing."""

from __future__ import annotations

from typing import Any

KINDS = ("server", "peer", "client")
CLOCK = "2026-06-10T12:00:00Z"
LATER = "2026-06-20T00:00:00Z"
PKI = "/srv/pki"


def certificate(
    *problems: str, signed_by: str | None = "k1", not_before: str = "2026-06-01T00:00:00Z"
) -> dict[str, Any]:
    return {"problems": list(problems), "fits": not problems, "signed_by": signed_by, "not_before": not_before}


def trust(*keys: str, **changes: Any) -> dict[str, Any]:
    """A CA that is on the host as on the controller."""
    compared = {"installed": True, "replaces": False, "parts": [], "trusted_keys": list(keys)}
    return {"problems": [], "sha256": "d1", "not_before": "2026-06-01T00:00:00Z", **compared, **changes}


def inspection(**changes: Any) -> dict[str, Any]:
    certificates = {kind: certificate(signed_by="p1" if kind == "peer" else "k1") for kind in KINDS}
    found = {"readable": True, "clock": CLOCK, "ca": trust("k1"), "peer_ca": trust("p1"), "certificates": certificates}
    return {**found, **changes}


def authority(name: str, *keys: str, **changes: Any) -> dict[str, Any]:
    """A CA on the controller with its key."""
    files = {"text": "a certificate", "file": f"{PKI}/{name}.crt", "key_file": f"{PKI}/{name}.key"}
    state = {"has_key": True, "can_sign": True, "has_several": False, "retires": False}
    return {**files, **state, "keys": list(keys), "issuing_key": keys[0], **changes}


def facts(**changes: Any) -> Any:
    """What role etcd_tls knows of a host that needs no change."""
    settings = {"provided": False, "gives_directory": True, "directory": PKI, "tls_dir": "/etc/etcd/tls"}
    settings |= {"group": "etcd", "unit_group": "etcd", "key_offline": False, "new_ca_confirmed": False}
    clocks = {"controller_clock": CLOCK, "signed_from": "2026-06-09T12:00:00Z", "signs": False}
    members: dict[str, Any] = {"members_without_host": [], "checks_members": True, "cluster_cas": {}}
    cas = {"ca": authority("ca", "k1"), "peer_ca": authority("peer-ca", "p1"), "gets_peer_ca": True, "ca_files": {}}
    rotation: dict[str, Any] = {"replaced_keys": [], "peers_move": False}
    found = {"host": "n1", "cluster": "north", "member_runs": True, "found": inspection()}
    return {**settings, **clocks, **members, **cas, **rotation, **found, **changes}
