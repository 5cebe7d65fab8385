# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Explain that the clock of a host makes certificates not valid yet."""

from __future__ import annotations

from ansible_collections.etcdops.headroom.plugins.plugin_utils._certificates.facts import Facts

_SET_CLOCK = "Set the clock that is wrong (timedatectl shows whether it is synchronized)"


def host_clock_problem(facts: Facts) -> str:
    """Explain that a host would take new certificates for not valid yet; empty if it would not.

    Signed certificates are valid from one day before the controller's time, so that smaller differences of the clocks do no harm.
    """
    clock = facts["found"]["clock"]
    says = f"{facts['host']}: the clock of the host says {clock}, but"
    if facts["provided"]:
        early = _provided_from_later_on(facts, clock)
        if not early:
            return ""
        return (
            f"{says} these certificates of etcd_tls_provided are valid from later on: {', '.join(early)}. {_SET_CLOCK}, or provide certificates that are"
            " valid"
        )
    if not facts["signs"] or clock >= facts["signed_from"]:
        return ""
    return (
        f"{says} the clock of the controller says {facts['controller_clock']}, and certificates that Headroom signs are valid from one day earlier."
        f" {_SET_CLOCK}"
    )


def _provided_from_later_on(facts: Facts, clock: str) -> list[str]:
    found = facts["provided_found"]
    starts = {"ca": found["ca"]["not_before"]}
    if found["peer_ca"]:
        starts["peer_ca"] = found["peer_ca"]["not_before"]
    starts.update({name: one["not_before"] for name, one in found["certificates"].items()})
    return [f"{name} ({start})" for name, start in starts.items() if start and start > clock]
