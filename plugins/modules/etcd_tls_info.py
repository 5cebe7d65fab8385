#!/usr/bin/python
# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Inspect certificates and keys of a host."""

from __future__ import annotations

DOCUMENTATION = r"""
module: etcd_tls_info
short_description: Inspect certificates and keys of etcd
version_added: 0.1.0
description:
  - Reads certificates and private keys and checks, for all of them in one call, whether each certificate exists, belongs to its key, is signed
    by the CA, covers its names, may be used for its purpose, and is valid for long enough.
  - Changes nothing and returns nothing secret.
options:
  ca:
    description: The CA's certificate in PEM form, or several. Empty if there is none yet - then no certificate counts as signed.
    type: str
    required: true
  ca_file:
    description: The file on the host with the CA's certificate. If set, its content is compared with O(ca).
    type: path
  certificates:
    description: The certificates to inspect.
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description: Name of the certificate in the result.
        type: str
        required: true
      certificate:
        description: The certificate's file, in PEM form, followed by intermediate certificates if there are any.
        type: path
        required: true
      key:
        description: The private key's file, in PEM form, without a password.
        type: path
        required: true
      names:
        description: DNS names and addresses that the certificate must contain.
        type: list
        elements: str
        default: []
      usages:
        description: Extended key usages that the certificate must have.
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
      peer:
        description: Whether it is signed by the CA of O(peer), if there is one.
        type: bool
        default: false
        version_added: 0.3.0
      common_name:
        description: The common name that the certificate must have. Empty if it does not matter.
        type: str
        default: ""
        version_added: 0.3.0
  exact_names:
    description: Whether additional names are a problem.
    type: bool
    default: false
  keep_names:
    description:
      - Whether a renewed certificate, and so the staged one, must be valid for all names of the installed one.
      - Set it to V(false) for certificates that are not issued here, because their names are their issuer's choice.
    type: bool
    default: true
    version_added: 0.3.0
  dropped_names:
    description: Names that a certificate must not contain, even if O(certificates[].names) lists them.
    type: list
    elements: str
    default: []
    version_added: 0.3.0
  directory:
    description: The directory in which M(etcdops.headroom.etcd_tls_set) stages a set of these certificates. If given, that set is inspected, too.
    type: path
    version_added: 0.3.0
  issuer:
    description: SHA-256 of the public key of the CA that must have signed the certificates, if several CAs are trusted.
    type: str
    version_added: 0.3.0
  peer:
    description: The separate CA of the peers.
    type: dict
    version_added: 0.3.0
    suboptions:
      ca:
        description: Its certificate in PEM form, or several. Empty if peers and clients share O(ca).
        type: str
        required: true
      ca_file:
        description: The file on the host with this certificate. If it does not exist, the member trusts peers by O(ca_file).
        type: path
        required: true
      issuer:
        description: The same as O(issuer), for the certificates of peers.
        type: str
  renew_before:
    description: A certificate that expires within this number of days counts as expiring.
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
    - For each certificate, by name, RV(ignore:problems) (clauses whose subject is the certificate; empty if there are none), RV(ignore:fits) (there are
      no problems except possibly the mode and owner of its key's file), RV(ignore:sha256) of its DER form,
      RV(ignore:chain_sha256) of all certificates in its file,
      RV(ignore:not_before) and RV(ignore:not_yet_valid) with its intermediate CAs, RV(ignore:signed_by) (the digest of the public key of the CA),
      RV(ignore:common_name), RV(ignore:names), and RV(ignore:wanted_names), the names for a renewed certificate - the
      requested names and, with O(keep_names) and without O(exact_names), the current ones. Most are none or empty if the certificate cannot be read.
    - RV(ignore:not_after), RV(ignore:days_left) and RV(ignore:expired) are those of the certificate or of the CA that signed it, whichever ends first;
      RV(ignore:ca_ends_first), whether that is the CA.
    - RV(ignore:needs_reverse_lookup) is whether etcd accepts it as the certificate of a peer only if the address of the member resolves to a name that a
      wildcard of the certificate matches - it has no other name of a remote host.
  type: dict
  returned: always
  sample:
    server:
      problems: []
      fits: true
      sha256: 3f0a9c
      chain_sha256: 3f0a9c
      not_before: "2026-11-20T06:00:00Z"
      not_after: "2031-11-20T06:00:00Z"
      days_left: 1824
      ca_ends_first: false
      common_name: n1
      names: [n1, localhost, 10.0.0.11, 127.0.0.1]
ca:
  description:
    - RV(ignore:problems), RV(ignore:sha256), RV(ignore:not_before), RV(ignore:not_after) and RV(ignore:days_left) of O(ca);
      RV(ignore:installed), whether the content of O(ca_file) equals O(ca);
      RV(ignore:differs), whether O(ca_file) lacks a certificate of O(ca) or has another one; their order does not matter;
      RV(ignore:replaces), whether O(ca_file) exists and has no key in common with O(ca) - replacing it would break the trust between members.
    - RV(ignore:expired), whether all certificates in O(ca_file) have expired; RV(ignore:not_yet_valid), whether none of them is valid yet;
      RV(ignore:trusted_keys), the digests of their public keys;
      RV(ignore:parts), names of the certificates that are signed by a CA in O(ca_file), but by none in O(ca).
    - The digest of several certificates does not depend on their order.
  type: dict
  returned: always
  sample: {problems: [], sha256: 77aa01, not_after: "2036-11-18T06:00:00Z", installed: true, differs: false, replaces: false, expired: false,
    parts: [], trusted_keys: [1b9a02]}
peer_ca:
  description: The same as RV(ca) for the separate CA of the peers; empty if there is none, neither in O(peer.ca) nor in O(peer.ca_file).
  type: dict
  returned: always
  version_added: 0.3.0
  sample: {}
clock:
  description: The time of the host, in UTC, with which the validity was compared.
  type: str
  returned: always
  version_added: 0.3.0
  sample: "2026-11-21T06:00:00Z"
readable:
  description: False if there are certificates, but the library cryptography is missing, so that they cannot be read.
  type: bool
  returned: always
  sample: true
problems:
  description: All problems, each with the name of the certificate or the CA.
  type: list
  elements: str
  returned: always
  sample: ["server: it expires on 2026-12-01, in 10 days"]
staged:
  description:
    - RV(ignore:directory) of the next set below O(directory); RV(ignore:certificates), RV(ignore:problems) and RV(ignore:fingerprint) as of the installed
      ones; RV(ignore:complete), whether the set is completely staged, without problems.
  type: dict
  returned: if O(directory) is given
  version_added: 0.3.0
  sample: {directory: /etc/etcd/tls/generation-2, complete: false, fingerprint: null, certificates: {}, problems: []}
fingerprint:
  description: One digest over the CA's certificate and all certificates; none if one of them cannot be read.
  type: str
  returned: always
  sample: 9c1b5e
"""

from datetime import datetime, timezone

from ansible.module_utils.basic import AnsibleModule, missing_required_lib
from ansible_collections.etcdops.headroom.plugins.module_utils._tls import host_certificates


def main() -> None:
    """Run the module."""
    module = AnsibleModule(argument_spec=host_certificates.ARGUMENTS, supports_check_mode=True)
    try:
        result = host_certificates.inspect_files(
            module.params, datetime.now(timezone.utc), missing_required_lib(host_certificates.LIBRARY)
        )
    except (OSError, ValueError) as problem:
        module.fail_json(msg=f"The certificates cannot be read: {problem}. Is become: true missing?")
    module.exit_json(changed=False, **result)


if __name__ == "__main__":
    main()
