# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The certificates and keys of one host, read from its files and inspected. Private to the collection."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._host import facts as host_facts
from ansible_collections.etcdops.headroom.plugins.module_utils._tls import authorities, inspection, sets

# Options of one certificate; documented in plugins/modules/etcd_tls_info.py.
CERTIFICATE_OPTIONS: dict[str, dict[str, Any]] = {
    "name": {"type": "str", "required": True},
    "certificate": {"type": "path", "required": True},
    "key": {"type": "path", "required": True, "no_log": False},
    "names": {"type": "list", "elements": "str", "default": []},
    "usages": {"type": "list", "elements": "str", "choices": ["server", "client"], "default": []},
    "key_mode": {"type": "str", "no_log": False},
    "key_group": {"type": "str", "no_log": False},
    "peer": {"type": "bool", "default": False},
    "common_name": {"type": "str", "default": ""},
}
# Options of the separate CA of the peers.
PEER_OPTIONS: dict[str, dict[str, Any]] = {
    "ca": {"type": "str", "required": True},
    "ca_file": {"type": "path", "required": True},
    "issuer": {"type": "str"},
}
# The problem of certificates that cannot be read without it.
LIBRARY = "cryptography >= 3.4"
# Options of an inspection; documented there, too.
ARGUMENTS: dict[str, dict[str, Any]] = {
    "ca": {"type": "str", "required": True},
    "ca_file": {"type": "path"},
    "certificates": {"type": "list", "elements": "dict", "required": True, "options": CERTIFICATE_OPTIONS},
    "exact_names": {"type": "bool", "default": False},
    "keep_names": {"type": "bool", "default": True},
    "dropped_names": {"type": "list", "elements": "str", "default": []},
    "renew_before": {"type": "int", "default": 30},
    "directory": {"type": "path"},
    "issuer": {"type": "str"},
    "peer": {"type": "dict", "options": PEER_OPTIONS},
}


def read(path: str) -> bytes | None:
    """Return a file's contents, None if there is no such file."""
    try:
        with open(path, "rb") as stream:
            return stream.read()
    except FileNotFoundError:
        return None


def access_problem(item: Mapping[str, Any]) -> str | None:
    """Return the problem with mode and owner of an existing key's file."""
    if not item["key_mode"] or not os.path.exists(item["key"]):
        return None
    facts = host_facts.file_facts(item["key"])
    wanted = (f"{int(item['key_mode'], 8):04o}", "root", item["key_group"] or facts["group"])
    found = (facts["mode"], facts["owner"], facts["group"])
    return None if found == wanted else f"its private key has {' '.join(found)}, not {' '.join(wanted)}"


def inspect_files(asked: Mapping[str, Any], now: datetime, missing_library: str) -> dict[str, Any]:
    """Inspect the CA and the certificates that ``asked`` names (see ARGUMENTS). Raises OSError or ValueError.

    ``missing_library`` is what to say of certificates that cannot be read, because cryptography is not installed.
    """
    found = {**_inspect(asked, now, missing_library), "clock": inspection.format_time(now)}
    if asked["directory"]:
        found["staged"] = _inspect_staged(asked, found, now, missing_library)
    return found


def _inspect_staged(
    asked: Mapping[str, Any], installed: Mapping[str, Any], now: datetime, missing_library: str
) -> dict[str, Any]:
    """Inspect the set of certificates that is staged to replace the installed one, with the names that a renewed one needs."""
    folder = sets.staging_directory(asked["directory"])
    if not os.path.isdir(folder):
        return {"directory": folder, "complete": False, "fingerprint": None, "certificates": {}, "problems": []}
    certificates = [
        {
            **item,
            **{kind: os.path.join(folder, os.path.basename(item[kind])) for kind in ("certificate", "key")},
            "names": installed["certificates"][item["name"]]["wanted_names"],
        }
        for item in asked["certificates"]
    ]
    staged = {**asked, "certificates": certificates, "ca_file": _staged_path(folder, asked["ca_file"])}
    if asked["peer"]:
        staged["peer"] = {**asked["peer"], "ca_file": _staged_path(folder, asked["peer"]["ca_file"])}
    found = _inspect(staged, now, missing_library)
    trusted = found["ca"]["installed"] and (not found["peer_ca"] or found["peer_ca"]["installed"])
    fits = found["readable"] and trusted and not found["problems"]
    return {
        "directory": folder,
        "complete": fits and sets.is_staged(asked["directory"]),
        **{name: found[name] for name in ("fingerprint", "certificates", "problems")},
    }


def _staged_path(folder: str, path: str | None) -> str | None:
    return path and os.path.join(folder, os.path.basename(path))


def _inspect(asked: Mapping[str, Any], now: datetime, missing_library: str) -> dict[str, Any]:
    """Inspect the CAs and one set of certificates."""
    texts = {item["name"]: (read(item["certificate"]), read(item["key"])) for item in asked["certificates"]}
    clients, peers = _trusts(asked)
    if inspection.IMPORT_ERROR:
        return _unread_result(asked, texts, clients, peers, missing_library)
    findings = {
        item["name"]: _inspect_item(asked, item, texts[item["name"]], peers if peers and item["peer"] else clients, now)
        for item in asked["certificates"]
    }
    of_peers = {item["name"] for item in asked["certificates"] if peers and item["peer"]}
    signed = [
        {name: text for name, (text, _key) in texts.items() if (name in of_peers) is kind} for kind in (False, True)
    ]
    renew_before = timedelta(days=asked["renew_before"])
    found = [
        authorities.inspect_trust(trust, names, now, renew_before)
        for trust, names in zip((clients, peers), signed)
        if trust
    ]
    return _result(findings, found, readable=True)


def _inspect_item(
    asked: Mapping[str, Any],
    item: Mapping[str, Any],
    texts: tuple[bytes | None, bytes | None],
    trust: authorities.Trust,
    now: datetime,
) -> inspection.CertificateFinding:
    """Inspect one certificate and its key, given as texts, and the access to the key's file."""
    text, key = texts
    finding = inspection.inspect_certificate(
        text,
        key,
        trust.wanted,
        inspection.Expected(
            names=item["names"],
            usages=item["usages"],
            exact_names=asked["exact_names"],
            keep_names=asked["keep_names"],
            dropped_names=asked["dropped_names"],
            issuer=trust.issuer,
            common_name=item["common_name"],
        ),
        now=now,
        renew_before=timedelta(days=asked["renew_before"]),
    )
    finding.fits = not finding.problems
    problem = access_problem(item)
    finding.problems += [problem] if problem else []
    return finding


def _unread_result(
    asked: Mapping[str, Any],
    texts: Mapping[str, tuple[bytes | None, bytes | None]],
    clients: authorities.Trust,
    peers: authorities.Trust | None,
    missing_library: str,
) -> dict[str, Any]:
    """Return the result without the library that reads certificates.

    Before the first run has installed it there are no certificates to read, but there may be a CA.
    """
    present = bool(clients.wanted or clients.installed) or any(text for text, _key in texts.values())
    unread = {
        item["name"]: inspection.CertificateFinding(
            [missing_library if texts[item["name"]][0] else "it does not exist"],
            wanted_names=inspection.renewed_names((), item["names"], asked["dropped_names"]),
        )
        for item in asked["certificates"]
    }
    unknown = {
        "installed": False,
        "differs": False,
        "expired": False,
        "not_yet_valid": False,
        "parts": [],
        "trusted_keys": [],
    }
    # Only equal texts are known to be the same CA; without a CA on the controller, no library is needed to see the difference.
    found = [
        (
            inspection.CertificateFinding([] if trust.wanted else ["it does not exist"]),
            {**unknown, "replaces": bool(trust.installed) and not trust.wanted},
        )
        for trust in (clients, peers)
        if trust
    ]
    return _result(unread, found, readable=not present)


def _trusts(asked: Mapping[str, Any]) -> tuple[authorities.Trust, authorities.Trust | None]:
    """Return the CAs that the member trusts for clients, and for peers if they have or will get a separate CA."""
    installed = (read(asked["ca_file"]) if asked["ca_file"] else None) or b""
    clients = authorities.Trust(asked["ca"].encode(), installed, asked["issuer"])
    given = asked["peer"]
    present = read(given["ca_file"]) if given else None
    if not given or not (given["ca"] or present):
        return clients, None
    # A host without a file for peers trusts them by the CA of the clients.
    if not given["ca"]:
        return clients, authorities.Trust(clients.wanted, present or b"", clients.issuer, is_in_place=False)
    wanted = given["ca"].encode()
    in_place = present is not None and present.strip() == wanted.strip()
    return clients, authorities.Trust(
        wanted, present or installed, given["issuer"], is_in_place=in_place, has_file=present is not None
    )


def _result(
    findings: dict[str, inspection.CertificateFinding],
    found: list[tuple[inspection.CertificateFinding, dict[str, Any]]],
    *,
    readable: bool,
) -> dict[str, Any]:
    """Return the result of both modules for an inspection; ``found`` has the CA and, if there is one, the peers' CA."""
    labels = ("CA", "peer CA")
    problems = [f"{label}: {problem}" for label, (ca, _trust) in zip(labels, found) for problem in ca.problems]
    problems += [f"{name}: {problem}" for name, finding in findings.items() for problem in finding.problems]
    described = [
        {
            "problems": ca.problems,
            "sha256": ca.sha256,
            "not_before": ca.not_before,
            "not_after": ca.not_after,
            "days_left": ca.days_left,
            **trust,
        }
        for ca, trust in found
    ]
    digests = [*(ca.sha256 for ca, _trust in found), *(finding.sha256 for finding in findings.values())]
    return {
        "readable": readable,
        "certificates": {name: vars(finding) for name, finding in findings.items()},
        "ca": described[0],
        "peer_ca": described[1] if len(described) > 1 else {},
        "problems": problems,
        "fingerprint": inspection.combined_fingerprint(digests),
    }
