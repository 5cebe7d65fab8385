# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A CA that expires soon is renewed with its key and its subject, in a temporary directory, without etcd."""

from __future__ import annotations

from pathlib import Path

from tests.playbooks.tls_host import NEW_KEY, Host, make_authority, openssl


def test_a_renewed_ca_keeps_its_subject(tmp_path: Path) -> None:
    """Its name contains a time, as that of a CA from the playbook rotate_ca; the member runs."""
    host = Host(tmp_path)
    make_authority(host.authority, "etcd etcd 20260101T000000Z", days=10)
    assert host.issue(etcd_tls_renew_before=5, etcd_tls_validity_days=10) > 0
    old = {}
    for name in ("ca", "server"):
        old[name] = tmp_path / f"old-{name}.crt"
        old[name].write_bytes((host.installed / f"{name}.crt").read_bytes())
    assert host.issue(_etcd_tls_member_runs=True) > 0
    renewed = {name: host.installed / f"{name}.crt" for name in old}
    assert renewed["ca"].read_bytes() != old["ca"].read_bytes() != b""
    assert renewed["server"].read_bytes() != old["server"].read_bytes()
    # During the rolling update some members have the old set, and some the renewed one.
    for ca, server in ((old, renewed), (renewed, old), (renewed, renewed)):
        openssl("verify", "-CAfile", ca["ca"], server["server"])
    assert host.issue(_etcd_tls_member_runs=True) == 0


def test_a_ca_that_cannot_keep_its_subject_is_not_renewed(tmp_path: Path) -> None:
    """Its subject is a PrintableString, as cfssl writes it; etcd compares the encoding, too."""
    host = Host(tmp_path)
    host.authority.mkdir()
    (tmp_path / "ca.cnf").write_text(
        "[req]\nstring_mask = default\ndistinguished_name = dn\nx509_extensions = v3\n[dn]\n[v3]\nbasicConstraints = CA:TRUE\n"
    )
    files = ("-keyout", host.authority / "ca.key", "-out", host.authority / "ca.crt", "-config", tmp_path / "ca.cnf")
    openssl("req", "-x509", *NEW_KEY, *files, "-days", "10", "-subj", "/O=Example/CN=etcd")
    assert host.issue(etcd_tls_renew_before=5) > 0
    before = {path: path.read_bytes() for path in host.authority.iterdir()}
    done = host.run(_etcd_tls_member_runs=True)
    said = " ".join(done.stdout.split())
    assert done.returncode == 2 and "ca.crt must be renewed (CA: it expires on" in said, said
    assert "replace the CA with the playbook rotate_ca. No CA was changed" in said, said
    assert {path: path.read_bytes() for path in host.authority.iterdir() if path in before} == before
    assert not list(host.authority.glob("ca.crt.*"))
