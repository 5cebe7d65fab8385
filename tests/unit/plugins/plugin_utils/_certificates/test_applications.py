# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why the client certificate of an application cannot be issued."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._certificates.applications import application_problems

from tests.unit.plugins.plugin_utils._certificates.hosts import authority, facts, inspection, trust


def application(**changes: Any) -> Any:
    """An application whose certificate the controller keeps in the working directory."""
    files = {"directory": "/srv", "path": "/srv/shop", "real_directory": "/srv", "real_ca_dir": "/srv/pki"}
    place = {"host": "", "has_host": False, "cluster": "", "clusters": ["north"], "ca_days": 365}
    return {"name": "shop", "common_name": "", "days": 90, **files, **place, **changes}


ON_HOST = {"host": "web1", "has_host": True, "host_tls_dir": "/etc/etcd/tls/"}
FILES_OF_CLUSTER = (
    "etcd_client_certificate_name is {}, but {}.crt and .key are files of the cluster, which would be replaced. Choose another name or another"
    " etcd_client_certificate_dir"
)
NAME = "etcd_client_certificate_name is {}, and must be a common name of 1 to 64 letters, digits and . _ @ -"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, []),
        ({"name": "a.b_c@d-1", "days": "90"}, []),
        ({"name": "", "path": "/srv/"}, [NAME.format('""')]),
        ({"name": "../x"}, [NAME.format('"../x"')]),
        ({"name": "a" * 65}, [NAME.format('"' + "a" * 65 + '"')]),
        (
            {"common_name": "a/b"},
            ['etcd_client_certificate_common_name is "a/b", and must be empty or 1 to 64 letters, digits and . _ @ -'],
        ),
        ({"days": 0}, ["etcd_client_certificate_days is 0, and must be a number of days from 1 on"]),
        ({"days": "1.5"}, ["etcd_client_certificate_days is 1.5, and must be a number of days from 1 on"]),
        (
            {"host": "web9", "path": "/srv/shop"},
            ["etcd_client_certificate_host is web9, which the inventory does not have"],
        ),
        (
            {**ON_HOST, "directory": "shop", "path": "shop/shop"},
            ['etcd_client_certificate_dir is "shop", and must be the full path of a directory on web1'],
        ),
        ({"directory": "shop"}, []),
        (
            {"clusters": ["north", "south"]},
            ["2 clusters (north, south) are in the inventory: name one with etcd_client_certificate_cluster"],
        ),
        ({"clusters": ["north", "south"], "cluster": "south"}, []),
        (
            {"clusters": ["north", "south"], "cluster": "west"},
            ["the inventory has no cluster west: set etcd_client_certificate_cluster to one of north, south"],
        ),
    ],
)
def test_options(changes: dict[str, Any], expected: list[str]) -> None:
    assert application_problems(application(**changes), facts()) == expected


@pytest.mark.parametrize(
    ("changes", "replaced"),
    [
        ({**ON_HOST, "name": "server", "path": "/etc/etcd/tls//server"}, True),
        ({**ON_HOST, "name": "shop", "path": "/etc/etcd/tls/shop"}, False),
        ({**ON_HOST, "name": "server", "path": "/etc/shop/server"}, False),
        ({**ON_HOST, "host_tls_dir": "/", "name": "ca", "path": "/ca"}, True),
        *[
            ({"name": name, "real_directory": "/srv/pki", "path": f"/link/{name}"}, replaced)
            for name, replaced in [("ca", True), ("peer-ca-next", True), ("ca-previous", True), ("server", False)]
        ],
        ({"name": "ca", "path": "/srv/ca"}, False),
    ],
)
def test_files_of_the_cluster(changes: dict[str, Any], replaced: bool) -> None:
    found = application_problems(application(**changes), facts())
    assert found == ([FILES_OF_CLUSTER.format(changes["name"], changes["path"])] if replaced else [])


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            {"provided": True, "ca": {}},
            "the CA of the cluster is provided (etcd_tls_provided). Issue the certificate with that CA",
        ),
        (
            {"ca": {"text": "", "file": "/srv/pki/ca.crt"}},
            "this cluster has no CA yet: /srv/pki/ca.crt does not exist. Run site.yml first",
        ),
        ({"ca": authority("ca", "k1", has_key=False)}, "/srv/pki/ca.key does not exist. Put the key of the CA there"),
        (
            {"ca": authority("ca", "k1", issuing_key="k9")},
            "/srv/pki/ca.key belongs to another certificate than /srv/pki/ca.crt",
        ),
        (
            {"found": inspection(ca=trust("k2"))},
            "n1 does not trust the CA in /srv/pki/ca.crt. Put the CA of this cluster there",
        ),
        ({"found": inspection(ca=trust())}, ""),
    ],
)
def test_cas_that_cannot_sign(changes: dict[str, Any], expected: str) -> None:
    assert application_problems(application(), facts(**changes)) == ([expected] if expected else [])


def test_a_ca_that_ends_before_the_certificate() -> None:
    assert application_problems(application(ca_days=90), facts()) == []
    assert application_problems(application(ca_days=89), facts()) == [
        "the CA is valid for 89 days only, but etcd_client_certificate_days is 90. Set a lower value, or replace the CA with the playbook rotate_ca"
    ]
