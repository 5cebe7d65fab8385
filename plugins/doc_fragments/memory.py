# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options that the modules about memory share."""

from __future__ import annotations


class ModuleDocFragment:
    """Document the common options of etcd_memory_estimate and etcd_memory_plan."""

    DOCUMENTATION = r"""
options:
  version:
    description:
      - The release of etcd, for example V(3.6.16). The series 3.5, 3.6 and 3.7 are known.
    type: str
    required: true
  unknown_version:
    description:
      - What to do with a release of a series that is newer than all known series, for example V(3.8.1).
      - V(refuse) fails, and V(newest) uses the rules of the newest known release and says so in the notes.
      - Older series and invalid releases are always refused.
    type: str
    choices: [refuse, newest]
    default: refuse
    version_added: 0.3.0
  workload:
    description:
      - The load on the cluster. All keys are optional; the result lists the keys for which a default was used.
      - Sizes take a unit, as in V(100KB); 1 KB is 1024 bytes.
      - C(value_size), the mean value of a put (1 KB).
      - C(key_size), the mean length of a key (64 bytes).
      - C(keys), live keys (10000).
      - C(puts_per_second), writes a second at the peak (100).
      - C(clients), connections to one member (50).
      - C(writers), those of them that put at once (as many as clients). Leave out connections that only read or watch.
      - C(tls), whether clients connect with TLS (true).
      - C(watch_streams), watch streams on one member (50).
      - C(watchers), watchers on one member (500).
      - C(watched_ranges), distinct keys or ranges that they watch (as many as watchers).
      - C(leases), live leases (0).
      - C(range_size), bytes of range answers in flight at once (10 MB).
      - C(revisions_per_key), revisions kept for each key (computed from the writes and the compaction). A plan with a longer history counts
        that instead, unless C(auto_compaction_retention) is pinned.
    type: dict
    default: {}
  members:
    description: How many members the cluster has.
    type: int
    default: 3
"""
