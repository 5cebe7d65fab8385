# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Explain why the client certificate of an application cannot be issued."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator
from typing import Any, TypedDict

from ansible_collections.etcdops.headroom.plugins.plugin_utils._certificates.facts import Facts

_COMMON_NAME = "[A-Za-z0-9][A-Za-z0-9._@-]{0,63}"
_MEMBER_FILES = ("ca", "peer-ca", "server", "peer", "client")


class Application(TypedDict):
    """The options of the playbook client_certificate; roles/etcd_tls/vars/main/application.yml has the expressions.

    host: where the key is; the controller if empty. has_host: whether the inventory has it. host_tls_dir: etcd_tls_dir of that host. path: of the
    certificate, without extension. real_directory, real_ca_dir: on the controller, with symbolic links resolved. clusters: those of the inventory.
    ca_days: how many days the CA is valid. Ansible computes each value when it is read, as those of `Facts`.
    """

    name: Any
    common_name: Any
    days: Any
    host: str
    has_host: bool
    host_tls_dir: str
    directory: str
    path: str
    real_directory: str
    real_ca_dir: str
    cluster: str
    clusters: list[str]
    ca_days: int


def application_problems(application: Application, facts: Facts) -> list[str]:
    """Explain why the certificate cannot be issued; empty if it can."""
    problems = [*_name_problems(application)]
    days = application["days"]
    if re.match("[1-9][0-9]*$", str(days)):
        problem = _authority_problem(application, facts, int(days))
        problems += [problem] if problem else []
    else:
        problems.append(f"etcd_client_certificate_days is {days}, and must be a number of days from 1 on")
    return [*problems, *_place_problems(application), *_cluster_problems(application)]


def _name_problems(application: Application) -> Iterator[str]:
    name, common_name = application["name"], application["common_name"]
    if not re.match(f"{_COMMON_NAME}$", str(name)):
        yield f"etcd_client_certificate_name is {json.dumps(name)}, and must be a common name of 1 to 64 letters, digits and . _ @ -"
    if not re.match(f"({_COMMON_NAME})?$", str(common_name)):
        yield f"etcd_client_certificate_common_name is {json.dumps(common_name)}, and must be empty or 1 to 64 letters, digits and . _ @ -"
    if _replaces_cluster_files(application):
        yield (
            f"etcd_client_certificate_name is {name}, but {application['path']}.crt and .key are files of the cluster, which would be replaced. Choose"
            " another name or another etcd_client_certificate_dir"
        )


def _replaces_cluster_files(application: Application) -> bool:
    """Return whether the certificate would overwrite the files of a CA or of a member."""
    name = str(application["name"])
    if application["has_host"]:
        folder = _without_slashes(posixpath.dirname(application["path"]))
        return folder == _without_slashes(application["host_tls_dir"]) and name in _MEMBER_FILES
    is_authority = re.match("(peer-)?ca(-next|-previous)?$", name)
    return bool(is_authority) and application["real_directory"] == application["real_ca_dir"]


def _without_slashes(path: str) -> str:
    """Return a path without slashes at its end, except for the root."""
    return re.sub("(?<=.)/+$", "", path)


def _authority_problem(application: Application, facts: Facts, days: int) -> str:
    """Return the first reason why the CA cannot sign. Of several CAs that the members trust, one signs."""
    ca = facts["ca"]
    if facts["provided"]:
        return "the CA of the cluster is provided (etcd_tls_provided). Issue the certificate with that CA"
    if not ca["text"]:
        return f"this cluster has no CA yet: {ca['file']} does not exist. Run site.yml first"
    if not ca["has_key"]:
        return f"{ca['key_file']} does not exist. Put the key of the CA there"
    if ca["issuing_key"] not in ca["keys"]:
        return f"{ca['key_file']} belongs to another certificate than {ca['file']}"
    trusted = facts["found"]["ca"]["trusted_keys"]
    if trusted and ca["issuing_key"] not in trusted:
        return f"{facts['host']} does not trust the CA in {ca['file']}. Put the CA of this cluster there"
    if application["ca_days"] < days:
        return (
            f"the CA is valid for {application['ca_days']} days only, but etcd_client_certificate_days is {application['days']}. Set a lower value, or"
            " replace the CA with the playbook rotate_ca"
        )
    return ""


def _place_problems(application: Application) -> Iterator[str]:
    host, directory = application["host"], application["directory"]
    if host and not application["has_host"]:
        yield f"etcd_client_certificate_host is {host}, which the inventory does not have"
    if host and not posixpath.isabs(directory):
        yield f"etcd_client_certificate_dir is {json.dumps(directory)}, and must be the full path of a directory on {host}"


def _cluster_problems(application: Application) -> Iterator[str]:
    cluster, clusters = application["cluster"], application["clusters"]
    if not cluster and len(clusters) > 1:
        yield f"{len(clusters)} clusters ({', '.join(clusters)}) are in the inventory: name one with etcd_client_certificate_cluster"
    if cluster and cluster not in clusters:
        yield f"the inventory has no cluster {cluster}: set etcd_client_certificate_cluster to one of {', '.join(clusters)}"
