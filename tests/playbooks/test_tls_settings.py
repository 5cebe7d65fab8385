# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of role etcd_tls: in which form the role takes them, and which it refuses."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from tests.playbooks.tls_host import make_authority
from tests.playbooks.variables import PROJECT, evaluate

HOST = {"etcd_host_cluster_name": "etcd", "etcd_host_user_group": "etcd", "etcd_host_address": "192.0.2.11"}
FORMS = [
    "_etcd_tls_ca_dir",
    "_etcd_tls_provided",
    "_etcd_tls_extra_sans",
    "_etcd_tls_drop_names",
    "_etcd_tls_drops_needed",
]
REFUSED = ["_etcd_tls_setting_problems", "_etcd_tls_ca_text"]
TAKEN = ["_etcd_tls_application_problems"]


def form(**given: Any) -> dict[str, Any]:
    """Settings that the role takes in another form."""
    return {**HOST, "wanted": FORMS, **given}


def member(group: str | None, state: str = "active", **others: Any) -> dict[str, Any]:
    """A host whose unit has this group."""
    facts = {"unit": {"active_state": state, "group": group}}
    return {**HOST, "wanted": REFUSED, "etcd_tls_ca_dir": "/nowhere", "etcd_host_facts": facts, **others}


def cluster(**second: Any) -> dict[str, Any]:
    """Two hosts of a cluster; what is given differs on the second one."""
    ca = {"source": "etcd_tls_ca_dir is /a", "directory": "/a", "clients": ["1"], "peers": ["2"]}
    members = [{"host": "localhost", "ca": ca}, {"host": "n2", "ca": {**ca, **second}}]
    return member("etcd", _etcd_tls_run_members=members)


def application(name: str, folder: str, **others: Any) -> dict[str, Any]:
    """A client certificate with this name in this directory. Of zero days, because the checks of the CA need a host."""
    given = {f"etcd_client_certificate_{key}": value for key, value in (("name", name), ("dir", folder), ("days", 0))}
    return {**HOST, "wanted": TAKEN, **given, **others}


def files(folder: Path) -> dict[str, dict[str, Any]]:
    """Cases with files: a CA with its key in the same file, and applications next to a CA."""
    for stem in ("ca", "peer-ca"):
        make_authority(folder / "pki", stem, stem=stem)
    shared = folder / "pki" / "ca.crt"
    shared.write_text(f"a comment\n{shared.read_text()}{(folder / 'pki' / 'ca.key').read_text()}")
    provided = {"ca": str(shared), "peer_ca": str(folder / "pki" / "peer-ca.crt")}
    (folder / "link").symlink_to(folder / "pki")
    own = {"etcd_tls_ca_dir": str(folder / "pki")}
    return {
        "own CA with its key": member("etcd", **own),
        "provided CA with its key": member("etcd", etcd_tls_provided=provided),
        "ca": application("ca", f"{folder}/link/", **own),
        "peer-ca-next": application("peer-ca-next", f"{folder}/link/", **own),
        "app": application("app", f"{folder}/link/", **own),
        "elsewhere": application("ca", str(folder), **own),
    }


REMOTE = {"etcd_client_certificate_host": "localhost", "etcd_tls_ca_dir": "/a", "etcd_tls_dir": "/etc/etcd/tls"}
CASES = {
    "texts": form(
        etcd_tls_ca_dir="~/pki/",
        etcd_tls_provided={
            "ca": "ca.crt",
            "peer_ca": None,
            "server": {"certificate": "~/server.crt", "key": "/keys/server.key"},
        },
        etcd_tls_extra_sans="lb.example.net, 192.0.2.1",
        etcd_tls_drop_names=["old.example.net"],
    ),
    "others": form(etcd_tls_ca_dir="pki/etcd", etcd_tls_extra_sans=["a"], etcd_tls_drop_names="b,192.0.2.11"),
    "same group": member("etcd"),
    "stopped": member("daemon", "inactive"),
    "unit without a group": member(None),
    "other group": member("daemon"),
    "no folder": {**HOST, "wanted": REFUSED, "inventory_dir": None},
    "one CA": cluster(),
    "other directory": cluster(source="etcd_tls_ca_dir is /b", directory="/b"),
    "member": application("server", "/etc/etcd/tls", **REMOTE),
    "other": application("server", "/etc/shop", **REMOTE),
}


def test_settings(tmp_path: Path) -> None:
    """In one play, because a play takes seconds."""
    cases = {**CASES, **files(tmp_path)}
    found = evaluate(tmp_path, "etcd_tls", "query('ansible.builtin.vars', *wanted)", cases)
    assert_forms(found)
    assert_refusals(found, tmp_path / "pki" / "ca.crt")
    replaced = "are files of the cluster, which would be replaced"
    taken = [case for case in cases if cases[case]["wanted"] is TAKEN and replaced in str(found[case])]
    assert taken == ["member", "ca", "peer-ca-next"]
    assert f"{tmp_path}/link//ca.crt and .key are files of the cluster" in found["ca"][0][0]


def assert_forms(found: dict[str, Any]) -> None:
    home, here = os.path.expanduser("~"), str(PROJECT)
    assert found["texts"] == [
        f"{home}/pki",
        {
            "ca": f"{here}/ca.crt",
            "peer_ca": "",
            "server": {"certificate": f"{home}/server.crt", "key": "/keys/server.key"},
        },
        ["lb.example.net", "192.0.2.1"],
        ["old.example.net"],
        [],
    ]
    assert found["others"] == [f"{here}/pki/etcd", {}, ["a"], ["b", "192.0.2.11"], ["192.0.2.11"]]


def assert_refusals(found: dict[str, Any], shared: Path) -> None:
    for case in ("same group", "stopped", "unit without a group", "one CA"):
        assert found[case] == [[], ""], case
    (message,) = found["other group"][0]
    assert "etcd_user_group is etcd, but etcd.service runs with the group daemon" in message
    assert "Set etcd_user_group to daemon. To change the group, stop etcd on all hosts" in message
    (message,) = found["other directory"][0]
    assert "etcd_tls_ca_dir is /a (localhost); etcd_tls_ca_dir is /b (n2)" in message
    (message,) = found["no folder"][0]
    assert "etcd_tls_ca_dir is empty" in message and "(as with -i n1,)" in message
    for case in ("own CA with its key", "provided CA with its key"):
        (message,), text = found[case]
        assert message.startswith(f"{shared} also contains PRIVATE KEY, but may contain only certificates of CAs")
        # It reaches no host, as text or in a log, before it is refused.
        assert "PRIVATE KEY" not in text and shared.read_text().startswith(text.strip())
