# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bring the settings of role etcd_tls into one form, and explain what is wrong with them."""

from __future__ import annotations

import os.path
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ansible_collections.etcdops.headroom.plugins.plugin_utils._certificates.facts import ClusterAuthority, Facts

_BLOCK = re.compile("-----BEGIN ([^-]+)-----")
_CERTIFICATE_BLOCKS = ("CERTIFICATE", "X509 CERTIFICATE")


def full_paths(provided: Mapping[str, Any], directory: str) -> dict[str, Any]:
    """Return provided files with full paths; relative ones begin at the directory. Files are paths, or mappings with paths, by name."""

    def full(path: str | None) -> str:
        return os.path.join(directory, os.path.expanduser(path)) if path else ""

    return {
        name: {kind: full(path) for kind, path in given.items()} if isinstance(given, Mapping) else full(given)
        for name, given in provided.items()
    }


def setting_problems(facts: Facts) -> list[str]:
    """Explain what is wrong with the settings of a host and with the files that they name."""
    return [f"{problem}. Nothing was changed." for problem in _problems(facts)]


def _problems(facts: Facts) -> Iterator[str]:
    host = facts["host"]
    if not facts["provided"] and not facts["gives_directory"]:
        yield (
            f"{host}: etcd_tls_ca_dir is empty. By default it is below the folder of the inventory, but this one has no folder (as with -i n1,). Set"
            " etcd_tls_ca_dir to the full path of a directory on the controller"
        )
    yield from _foreign_blocks(facts["ca_files"])
    group = facts["unit_group"]
    # The role changes the group of the keys before the members restart.
    if group not in ("", facts["group"]):
        yield (
            f"{host}: etcd_user_group is {facts['group']}, but etcd.service runs with the group {group}, and could no longer read its keys. Set"
            f" etcd_user_group to {group}. To change the group, stop etcd on all hosts of the cluster first"
        )
    cas = facts["cluster_cas"]
    problem = separate_cas(facts["cluster"], cas)
    if problem and host == next(iter(cas), None):
        yield problem


def _foreign_blocks(files: Mapping[str, str]) -> Iterator[str]:
    """Name files of CAs with anything but certificates.

    etcd takes every block of such a file for a certificate, and does not start with a private key there. Everyone on the hosts may read the file.
    """
    for path, text in files.items():
        found = [kind for kind in dict.fromkeys(_BLOCK.findall(text)) if kind not in _CERTIFICATE_BLOCKS]
        if found:
            own_file = (
                ", and keep a private key in a file of its own" if any("PRIVATE KEY" in kind for kind in found) else ""
            )
            yield (
                f"{path} also contains {', '.join(found)}, but may contain only certificates of CAs: etcd does not start with anything else there, and"
                f" every user of the hosts may read the file. Remove the rest from the file{own_file}"
            )


def separate_cas(cluster: str, cas: Mapping[str, ClusterAuthority]) -> str:
    """Explain that hosts of a cluster, given by name, would use different CAs; empty if all have one in common with the first host."""
    first = next(iter(cas.values()), None)
    if first is None or all(_have_common_ca(ca, first) for ca in cas.values()):
        return ""
    hosts: dict[str, list[str]] = {}
    for host, ca in cas.items():
        hosts.setdefault(ca["source"], []).append(host)
    sources = "; ".join(f"{source} ({', '.join(names)})" for source, names in hosts.items())
    return (
        f"cluster {cluster} would have several CAs, and its members would not trust each other: {sources}. By default, etcd_tls_ca_dir is in the folder of"
        " the inventory that has the host. Set the same CA for all hosts of the cluster"
    )


def _have_common_ca(ca: ClusterAuthority, other: ClusterAuthority) -> bool:
    """Return whether hosts trust each other. Provided files may differ, as long as the hosts have a CA in common."""
    if ca["directory"] and other["directory"]:
        return ca["directory"] == other["directory"]
    return not set(ca["clients"]).isdisjoint(other["clients"]) and not set(ca["peers"]).isdisjoint(other["peers"])
