# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Report hosts that trust the CA of a former deployment, which is not the one of this run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypedDict


class Former(TypedDict):
    """A host with files of a former deployment whose trust the CA of this run would replace.

    runs: whether a member uses them. lost: whether the controller has no CA. replaces: whether its CA of the clients is another one than on the host;
    otherwise it is the one of the peers. given: etcd_tls_new_ca. confirmed: whether that names the cluster.
    """

    host: str
    cluster: str
    files: list[str]
    runs: bool
    lost: bool
    replaces: bool
    given: str
    confirmed: bool
    provided: bool
    directory: str
    ca_file: str
    peer_ca_file: str


def former_problems(hosts: Iterable[Former]) -> list[str]:
    """Return one message for each cluster, with all of its hosts."""
    clusters: dict[str, list[Former]] = {}
    for host in hosts:
        clusters.setdefault(host["cluster"], []).append(host)
    return [_problem(clusters[cluster]) for cluster in sorted(clusters, key=lambda name: str(name).lower())]


def _problem(hosts: Sequence[Former]) -> str:
    one = hosts[0]
    trust = f"{', '.join(host['host'] for host in hosts)} trust{'s' if len(hosts) == 1 else ''}"
    files = ", ".join(dict.fromkeys(path for host in hosts for path in host["files"]))
    return (
        f"Cluster {one['cluster']}: {trust} the CA of a former deployment ({files}), but {_found(one)}. Members and clients with different CAs do not trust"
        f" each other. {_fix(one)}. {_confirmation(hosts)}. Nothing was changed."
    )


def _found(one: Former) -> str:
    """Say what is on the controller."""
    if one["lost"]:
        return f"{one['ca_file']} does not exist"
    if one["replaces"]:
        return f"{one['ca_file']} is another CA"
    return f"{one['ca_file']} is their CA, but {one['peer_ca_file']} is another one"


def _fix(one: Former) -> str:
    """Say how to use the CA of the hosts."""
    if one["provided"]:
        return "Set etcd_tls_provided.ca and peer_ca to the CAs of this cluster; docs/certificates.md says how to replace a CA without downtime"
    return (
        f"Put the CAs of this cluster (ca.crt, ca.key, peer-ca.crt, peer-ca.key) back into {one['directory']}. If their keys are kept elsewhere, put ca.crt"
        " and peer-ca.crt there, which each host has too, and set etcd_tls_ca_key_offline to true"
    )


def _confirmation(hosts: Sequence[Former]) -> str:
    """Say how to replace the CA of the hosts, which no running member may use."""
    one = hosts[0]
    running = [host["host"] for host in hosts if host["runs"]]
    if running and one["confirmed"]:
        return f"etcd_tls_new_ca confirms a new CA, but etcd still runs on {', '.join(running)}: stop it there first"
    option = f"with -e etcd_tls_new_ca={one['cluster']} (it is {one['given'] or 'not set'})"
    if one["lost"]:
        stop = "stop etcd on all hosts of the cluster, and " if running else ""
        return (
            f"If the CA is lost for good, {stop}confirm a new CA {option}: all members get certificates of a new CA, and each application needs the new"
            " ca.crt and a new certificate"
        )
    stop = "stop etcd there, and " if running else ""
    return (
        "If it is right, because the hosts belonged to another cluster or missed a change of the CA, "
        f"{stop}confirm it {option}: these hosts get new certificates"
    )
