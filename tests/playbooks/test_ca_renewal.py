# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A CA that expires soon is renewed with its key and its subject, in a temporary directory, without etcd."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.playbooks.tls_host import NEW_KEY, Host, make_authority, openssl


def extensions(certificate: Path) -> set[str]:
    """Return the extensions of a CA on which the certificates that it signed depend."""
    text = openssl("x509", "-noout", "-ext", "basicConstraints,keyUsage,subjectKeyIdentifier", "-in", certificate)
    return {line.strip() for line in text.splitlines()}


def test_a_renewed_ca_keeps_its_subject_and_its_usages(tmp_path: Path) -> None:
    """Its name contains a time, as that of a CA from the playbook rotate_ca. It may have intermediate CAs. The member runs."""
    host = Host(tmp_path)
    host.authority.mkdir()
    files = ("-keyout", host.authority / "ca.key", "-out", host.authority / "ca.crt")
    usages = ("-addext", "keyUsage=critical,keyCertSign,cRLSign,digitalSignature")
    openssl("req", "-x509", *NEW_KEY, *files, "-days", "10", "-subj", "/CN=etcd etcd 20260101T000000Z", *usages)
    assert host.issue(etcd_tls_renew_before=5, etcd_tls_validity_days=10) > 0
    old = {}
    for name in ("ca", "server"):
        old[name] = tmp_path / f"old-{name}.crt"
        old[name].write_bytes((host.installed / f"{name}.crt").read_bytes())
    assert host.issue(_etcd_tls_member_runs=True) > 0
    renewed = {name: host.installed / f"{name}.crt" for name in old}
    assert renewed["ca"].read_bytes() != old["ca"].read_bytes() != b""
    assert extensions(renewed["ca"]) == extensions(old["ca"])
    assert {"CA:TRUE", "Digital Signature, Certificate Sign, CRL Sign"} <= extensions(old["ca"])
    assert renewed["server"].read_bytes() != old["server"].read_bytes()
    # During the rolling update some members have the old set, and some the renewed one.
    for ca, server in ((old, renewed), (renewed, old), (renewed, renewed)):
        openssl("verify", "-CAfile", ca["ca"], server["server"])
    assert host.issue(_etcd_tls_member_runs=True) == 0


def test_a_ca_whose_key_is_offline_is_renewed_where_its_key_is(tmp_path: Path) -> None:
    """With the command of docs/certificates.md. Nothing has to be signed again."""
    host, offline = Host(tmp_path), {"etcd_tls_ca_key_offline": True, "_etcd_tls_member_runs": True}
    make_authority(host.authority, days=10)
    assert host.issue(etcd_tls_renew_before=5) > 0
    key, ca = tmp_path / "ca.key", host.authority / "ca.crt"
    (host.authority / "ca.key").rename(key)
    message = host.refusal(**offline)
    assert "/ca.crt must be renewed (it expires on" in message and "with the same key and subject" in message
    server = (host.installed / "server.crt").read_bytes()
    openssl("x509", "-in", ca, "-signkey", key, "-days", "3650", "-out", tmp_path / "renewed.crt")
    (tmp_path / "renewed.crt").rename(ca)
    assert host.issue(**offline) > 0
    assert (host.installed / "ca.crt").read_text().strip() == ca.read_text().strip()
    assert (host.installed / "server.crt").read_bytes() == server and not (host.authority / "requests").exists()


@pytest.mark.parametrize(
    ("mask", "extension", "problem"),
    [
        ("default", "", "its subject cannot be written with the same encoding"),
        (
            "utf8only",
            "nameConstraints = excluded;DNS:example.org\n",
            "it has extensions that Headroom cannot write again: 2.5.29.30",
        ),
    ],
    ids=["subject", "extension"],
)
def test_a_ca_that_would_change_is_not_renewed(tmp_path: Path, mask: str, extension: str, problem: str) -> None:
    """The subject is a PrintableString, as cfssl writes it; etcd compares the encoding, too."""
    host = Host(tmp_path)
    host.authority.mkdir()
    (tmp_path / "ca.cnf").write_text(
        f"[req]\nstring_mask = {mask}\ndistinguished_name = dn\nx509_extensions = v3\n[dn]\n[v3]\nbasicConstraints = CA:TRUE\n{extension}"
    )
    files = ("-keyout", host.authority / "ca.key", "-out", host.authority / "ca.crt", "-config", tmp_path / "ca.cnf")
    openssl("req", "-x509", *NEW_KEY, *files, "-days", "10", "-subj", "/O=Example/CN=etcd")
    assert host.issue(etcd_tls_renew_before=5) > 0
    before = {path: path.read_bytes() for path in host.authority.iterdir()}
    done = host.run(_etcd_tls_member_runs=True)
    said = " ".join(done.stdout.split())
    assert done.returncode == 2 and "ca.crt must be renewed (CA: it expires on" in said, said
    assert problem in said, said
    assert "replace the CA with the playbook rotate_ca. No CA was changed" in said, said
    assert {path: path.read_bytes() for path in host.authority.iterdir() if path in before} == before
    assert not list(host.authority.glob("ca.crt.*"))


def test_a_ca_that_etcd_cannot_use_is_not_renewed(tmp_path: Path) -> None:
    """With its key, a renewed one would be no better."""
    host = Host(tmp_path)
    host.authority.mkdir()
    files = ("-keyout", host.authority / "ca.key", "-out", host.authority / "ca.crt")
    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:brainpoolP256r1", "-nodes")
    openssl("req", "-x509", *curve, *files, "-days", "365", "-subj", "/CN=etcd")
    before = {path: path.read_bytes() for path in host.authority.iterdir()}
    done = host.run()
    said = " ".join(done.stdout.split())
    assert done.returncode == 2 and "cannot be used, also if it is renewed: etcd cannot use its key (curve" in said, (
        said
    )
    assert {path: path.read_bytes() for path in before} == before and not list(host.authority.glob("ca.crt.*"))
