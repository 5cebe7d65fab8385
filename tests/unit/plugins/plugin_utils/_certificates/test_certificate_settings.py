# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The form of the settings of role etcd_tls, and what is wrong with them."""

from __future__ import annotations

import os
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._certificates import settings

from tests.unit.plugins.plugin_utils._certificates.hosts import facts

CERTIFICATE = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
KEY = "-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----\n"


def test_full_paths() -> None:
    provided = {"ca": "pki/ca.crt", "peer_ca": None, "server": {"certificate": "~/s.crt", "key": "/keys/s.key"}}
    assert settings.full_paths(provided, "/srv") == {
        "ca": "/srv/pki/ca.crt",
        "peer_ca": "",
        "server": {"certificate": f"{os.path.expanduser('~')}/s.crt", "key": "/keys/s.key"},
    }
    assert settings.full_paths({}, "/srv") == {}


def use(source: str, directory: str = "", clients: str = "1", peers: str = "2") -> Any:
    """Return the CAs that one host uses, with digests as characters."""
    return {"source": source, "directory": directory, "clients": list(clients), "peers": list(peers)}


OWN, OTHER = use("etcd_tls_ca_dir is /a", "/a"), use("etcd_tls_ca_dir is /b", "/b")
SEPARATE = (
    "cluster north would have several CAs, and its members would not trust each other: {}. By default, etcd_tls_ca_dir is in the folder of the inventory that"
    " has the host. Set the same CA for all hosts of the cluster"
)
TWO_DIRECTORIES = SEPARATE.format("etcd_tls_ca_dir is /a (n1, n3); etcd_tls_ca_dir is /b (n2)")
TWO_SOURCES = SEPARATE.format("etcd_tls_ca_dir is /a (n1); etcd_tls_provided.ca is /b/ca.crt (n2)")


@pytest.mark.parametrize(
    ("hosts", "expected"),
    [
        ([], ""),
        ([OWN], ""),
        ([OWN, OWN], ""),
        ([OWN, OTHER, OWN], TWO_DIRECTORIES),
        ([OWN, use("etcd_tls_provided.ca is /b/ca.crt")], ""),
        ([OWN, use("etcd_tls_provided.ca is /b/ca.crt", clients="01")], ""),
        ([OWN, use("etcd_tls_provided.ca is /b/ca.crt", clients="0")], TWO_SOURCES),
        ([OWN, use("etcd_tls_provided.ca is /b/ca.crt", peers="0")], TWO_SOURCES),
    ],
)
def test_hosts_of_a_cluster_with_several_cas(hosts: list[Any], expected: str) -> None:
    cas = {f"n{number}": ca for number, ca in enumerate(hosts, 1)}
    assert settings.separate_cas("north", cas) == expected


ONLY_CERTIFICATES = (
    "{} also contains {}, but may contain only certificates of CAs: etcd does not start with anything else there, and every user of the hosts may read the"
    " file. Remove the rest from the file{}. Nothing was changed."
)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, []),
        (
            {"gives_directory": False},
            [
                "n1: etcd_tls_ca_dir is empty. By default it is below the folder of the inventory, but this one has no folder (as with -i n1,). Set"
                " etcd_tls_ca_dir to the full path of a directory on the controller. Nothing was changed."
            ],
        ),
        ({"gives_directory": False, "provided": True}, []),
        ({"unit_group": ""}, []),
        (
            {"unit_group": "daemon"},
            [
                "n1: etcd_user_group is etcd, but etcd.service runs with the group daemon, and could no longer read its keys. Set etcd_user_group to"
                " daemon. To change the group, stop etcd on all hosts of the cluster first. Nothing was changed."
            ],
        ),
        ({"ca_files": {"ca.crt": f"a comment\n{CERTIFICATE}", "peer-ca.crt": CERTIFICATE}}, []),
        (
            {
                "ca_files": {
                    "ca.crt": CERTIFICATE + KEY + KEY,
                    "peer-ca.crt": CERTIFICATE.replace("CERTIFICATE", "X509 CRL"),
                }
            },
            [
                ONLY_CERTIFICATES.format("ca.crt", "EC PRIVATE KEY", ", and keep a private key in a file of its own"),
                ONLY_CERTIFICATES.format("peer-ca.crt", "X509 CRL", ""),
            ],
        ),
        # The first host reports it for all.
        ({"cluster_cas": {"n1": OWN, "n2": OTHER, "n3": OWN}}, [f"{TWO_DIRECTORIES}. Nothing was changed."]),
        ({"cluster_cas": {"n2": OWN, "n1": OTHER}}, []),
    ],
)
def test_problems(changes: dict[str, Any], expected: list[str]) -> None:
    assert settings.setting_problems(facts(**changes)) == expected
