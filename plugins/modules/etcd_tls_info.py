#!/usr/bin/python
# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Look at a host's certificates and keys, and say what is wrong with them."""

from __future__ import annotations

DOCUMENTATION = r"""
module: etcd_tls_info
short_description: Certificates and keys of etcd, and what is wrong with them
version_added: 0.1.0
description:
  - Reads certificates and private keys and checks, for all of them in one call, whether each certificate exists, belongs to its key, is signed
    by the CA, covers its names, may be used for its purpose, and is valid for long enough.
  - Changes nothing and returns nothing secret.
options:
  ca:
    description: The CA's certificate in PEM form, or several. Empty if there is none yet - then no certificate is signed by it.
    type: str
    required: true
  ca_file:
    description: The file on the host that holds the CA's certificate. If given, its text is compared with O(ca).
    type: path
  certificates:
    description: The certificates to look at.
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description: How it is called in the result.
        type: str
        required: true
      certificate:
        description: The certificate's file, in PEM form, with intermediate certificates behind it if there are any.
        type: path
        required: true
      key:
        description: The private key's file, in PEM form, without a password.
        type: path
        required: true
      names:
        description: DNS names and addresses that it must be valid for.
        type: list
        elements: str
        default: []
      usages:
        description: What it must be good for.
        type: list
        elements: str
        choices: [server, client]
        default: []
      key_mode:
        description: The mode that the key's file must have.
        type: str
      key_group:
        description: The group that the key's file must belong to. Its owner must be root.
        type: str
  exact_names:
    description: Whether a certificate that is valid for further names is wrong, too.
    type: bool
    default: false
  renew_before:
    description: Days before its end from which on a certificate counts as expiring.
    type: int
    default: 30
attributes:
  check_mode:
    description: Reads only, so check mode makes no difference.
    support: full
  diff_mode:
    description: Changes nothing, so there is nothing to compare.
    support: none
  platform:
    description: POSIX.
    support: full
    platforms: posix
requirements:
  - cryptography 3.4 or newer
author:
  - Headroom contributors (@etcdops)
"""

EXAMPLES = r"""
- name: Look at a member's certificates
  etcdops.headroom.etcd_tls_info:
    ca: "{{ lookup('ansible.builtin.file', 'ca.crt') }}"
    ca_file: /etc/etcd/tls/ca.crt
    certificates:
      - name: server
        certificate: /etc/etcd/tls/server.crt
        key: /etc/etcd/tls/server.key
        names: [n1, 10.0.0.11]
        usages: [server, client]
  register: tls
"""

RETURN = r"""
certificates:
  description:
    - For each certificate, by name, RV(ignore:problems) (sentences that read on from its name; empty if all is well), RV(ignore:fits) (nothing is wrong
      but perhaps mode and owner of its key's file), RV(ignore:sha256) of its DER form,
      RV(ignore:not_after), RV(ignore:common_name) and RV(ignore:names). All but the problems are none or empty if it cannot be read.
  type: dict
  returned: always
  sample:
    server:
      problems: []
      fits: true
      sha256: 3f0a9c
      not_after: "2031-11-20T06:00:00Z"
      common_name: n1
      names: [n1, localhost, 10.0.0.11, 127.0.0.1]
ca:
  description:
    - RV(ignore:problems), RV(ignore:sha256) and RV(ignore:not_after) of O(ca); RV(ignore:installed), whether O(ca_file) has just its text;
      RV(ignore:replaces), whether O(ca_file) exists and has no key in common with O(ca) - replacing it would part the members that trust it.
  type: dict
  returned: always
  sample: {problems: [], sha256: 77aa01, not_after: "2036-11-18T06:00:00Z", installed: true, replaces: false}
readable:
  description: Whether everything could be read; false if there are certificates, but the library cryptography is missing.
  type: bool
  returned: always
  sample: true
problems:
  description: All problems, each with the name of what has it.
  type: list
  elements: str
  returned: always
  sample: ["server: it expires on 2026-12-01, in 10 days"]
fingerprint:
  description: One digest over the CA's certificate and all certificates; none if one of them cannot be read.
  type: str
  returned: always
  sample: 9c1b5e
"""

import os
from datetime import datetime, timedelta, timezone
from typing import Any

from ansible.module_utils.basic import AnsibleModule, missing_required_lib
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import tls
from ansible_collections.etcdops.headroom.plugins.module_utils._host import facts as host_facts


def read(path: str) -> bytes | None:
    """A file's contents, None if there is no such file."""
    try:
        with open(path, "rb") as stream:
            return stream.read()
    except FileNotFoundError:
        return None


def access_problem(item: dict[str, Any]) -> str | None:
    """What is wrong with mode and owner of an existing key's file."""
    if not item["key_mode"] or not os.path.exists(item["key"]):
        return None
    facts = host_facts.file_facts(item["key"])
    wanted = (f"{int(item['key_mode'], 8):04o}", "root", item["key_group"] or facts["group"])
    found = (facts["mode"], facts["owner"], facts["group"])
    return None if found == wanted else f"its private key has {' '.join(found)}, not {' '.join(wanted)}"


def main() -> None:
    """Read and inspect."""
    certificate_options = {
        "name": {"type": "str", "required": True},
        "certificate": {"type": "path", "required": True},
        "key": {"type": "path", "required": True, "no_log": False},
        "names": {"type": "list", "elements": "str", "default": []},
        "usages": {"type": "list", "elements": "str", "choices": ["server", "client"], "default": []},
        "key_mode": {"type": "str", "no_log": False},
        "key_group": {"type": "str", "no_log": False},
    }
    module = AnsibleModule(
        argument_spec={
            "ca": {"type": "str", "required": True},
            "ca_file": {"type": "path"},
            "certificates": {"type": "list", "elements": "dict", "required": True, "options": certificate_options},
            "exact_names": {"type": "bool", "default": False},
            "renew_before": {"type": "int", "default": 30},
        },
        supports_check_mode=True,
    )
    asked = module.params
    now, renew_before = datetime.now(timezone.utc), timedelta(days=asked["renew_before"])
    authority = asked["ca"].encode()
    try:
        texts = {item["name"]: (read(item["certificate"]), read(item["key"])) for item in asked["certificates"]}
        installed = read(asked["ca_file"]) if asked["ca_file"] else None
        access = {item["name"]: access_problem(item) for item in asked["certificates"]}
    except (OSError, ValueError) as problem:
        module.fail_json(msg=f"The certificates cannot be looked at: {problem}. Is become: true missing?")
    if tls.IMPORT_ERROR:
        # Before the first run has installed the library, nothing is there that it would be needed for, but perhaps a CA.
        present = bool(authority or installed) or any(text for text, _key in texts.values())
        reason = missing_required_lib("cryptography >= 3.4") if present else "it does not exist"
        unread = {name: tls.CertificateFinding([reason]) for name in texts}
        missing = tls.CertificateFinding([] if authority else ["it does not exist"])
        module.exit_json(**result(unread, missing, readable=not present, installed=False, replaces=False))

    findings = {}
    for item in asked["certificates"]:
        text, key = texts[item["name"]]
        finding = tls.inspect_certificate(
            certificate=text,
            key=key,
            authorities=authority,
            names=item["names"],
            usages=item["usages"],
            now=now,
            renew_before=renew_before,
            exact_names=asked["exact_names"],
        )
        finding.fits = not finding.problems
        finding.problems += [problem for problem in (access[item["name"]],) if problem]
        findings[item["name"]] = finding
    ca = (
        tls.inspect_authority(authority, now, renew_before)
        if authority
        else tls.CertificateFinding(["it does not exist"])
    )
    module.exit_json(
        **result(
            findings,
            ca,
            readable=True,
            installed=installed is not None and installed.strip() == authority.strip(),
            replaces=bool(installed) and not (authority and tls.is_same_authority(installed or b"", authority)),
        )
    )


def result(
    findings: dict[str, tls.CertificateFinding],
    ca: tls.CertificateFinding,
    *,
    readable: bool,
    installed: bool,
    replaces: bool,
) -> dict[str, Any]:
    """The module's result."""
    problems = [f"CA: {problem}" for problem in ca.problems]
    problems += [f"{name}: {problem}" for name, finding in findings.items() for problem in finding.problems]
    authority = {"problems": ca.problems, "sha256": ca.sha256, "not_after": ca.not_after}
    return {
        "changed": False,
        "readable": readable,
        "certificates": {name: vars(finding) for name, finding in findings.items()},
        "ca": {**authority, "installed": installed, "replaces": replaces},
        "problems": problems,
        "fingerprint": tls.combined_fingerprint([ca.sha256, *(finding.sha256 for finding in findings.values())]),
    }


if __name__ == "__main__":
    main()
