# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find when the certificates on this host expire, for the metrics."""

from __future__ import annotations

import os

from ansible_collections.etcdops.headroom.plugins.module_utils._tls import inspection

AUTHORITIES = ("ca", "peer-ca")
NAMES = (*AUTHORITIES, "server", "peer", "client")


def expiry_times(directory: str) -> dict[str, int]:
    """Return when each certificate expires, in seconds since 1970; the last one of a file of several CAs.

    Certificates that do not exist or cannot be read are left out.
    """
    found = {}
    for name in NAMES if inspection.IMPORT_ERROR is None else ():
        try:
            with open(os.path.join(directory, f"{name}.crt"), "rb") as stream:
                certificates = inspection.parse_certificates(stream.read())
        except (OSError, ValueError):
            continue
        counted = certificates if name in AUTHORITIES else certificates[:1]
        if counted:
            found[name] = int(max(inspection.not_after(certificate).timestamp() for certificate in counted))
    return found
