# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find when the certificates on this host expire, for the metrics."""

from __future__ import annotations

import os
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._tls import chains, inspection

AUTHORITIES = ("ca", "peer-ca")
NAMES = (*AUTHORITIES, "server", "peer", "client")


def expiry_times(directory: str) -> dict[str, int]:
    """Return when each certificate expires, in seconds since 1970; the last one of a file of several CAs.

    server, peer and client expire with the CA that signed them if that one ends first. Certificates that do not exist or cannot be read are
    left out.
    """
    if inspection.IMPORT_ERROR is not None:
        return {}
    texts = {name: _certificates(os.path.join(directory, f"{name}.crt")) for name in NAMES}
    trusted = [authority for name in AUTHORITIES for authority in texts[name]]
    ends = {
        name: max(map(chains.not_after, chain))
        if name in AUTHORITIES
        else min(map(chains.not_after, chains.path_to_authority(chain, trusted) or chain[:1]))
        for name, chain in texts.items()
        if chain
    }
    return {name: int(end.timestamp()) for name, end in ends.items()}


def _certificates(path: str) -> list[Any]:
    """Return the certificates of a file; none if it does not exist or cannot be read."""
    try:
        with open(path, "rb") as stream:
            return chains.parse_certificates(stream.read())
    except (OSError, ValueError):
        return []
