# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Certificates of role etcd_tls for applications, in a temporary directory, without etcd."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from tests.playbooks.tls_host import Host, make_authority, openssl


def test_an_application_gets_a_certificate_and_nothing_else_changes(host: Host, tmp_path: Path) -> None:
    shop = {"etcd_client_certificate_name": "shop", "etcd_client_certificate_dir": str(tmp_path / "shop")}
    (tmp_path / "shop").mkdir()
    before = {path: path.read_bytes() for path in (tmp_path / "ca").iterdir()}
    assert host.issue("client_certificate", **shop, etcd_client_certificate_days=90) == 2
    certificate = tmp_path / "shop" / "shop.crt"
    assert sorted(path.name for path in certificate.parent.iterdir()) == ["shop.crt", "shop.key"]
    assert openssl("verify", "-CAfile", host.authority / "ca.crt", certificate).endswith("OK\n")
    text = openssl("x509", "-noout", "-subject", "-ext", "extendedKeyUsage", "-in", certificate)
    assert re.search(r"CN ?= ?shop", text) and "TLS Web Client Authentication" in text and "Server" not in text
    openssl("x509", "-noout", "-checkend", str(89 * 86400), "-in", certificate)
    assert certificate.with_suffix(".key").stat().st_mode & 0o777 == 0o600
    message = host.refusal("client_certificate", **shop, etcd_client_certificate_days=9999)
    assert re.search("the CA is valid for 36[45] days only, but etcd_client_certificate_days is 9999", message)
    assert host.issue("client_certificate", **shop, etcd_client_certificate_days=90) == 0
    assert {path: path.read_bytes() for path in (tmp_path / "ca").iterdir()} == before and not host.installed.exists()


def test_a_certificate_of_a_ca_that_is_being_replaced(host: Host, tmp_path: Path) -> None:
    """The members trust both CAs, but the old one still issues: the certificate is worth nothing after the rotation."""
    shop = {"etcd_client_certificate_name": "shop", "etcd_client_certificate_dir": str(tmp_path)}
    shop |= {"etcd_client_certificate_days": 90}
    warning = "this certificate is of the old CA, which the members will not trust at the end. Run rotate_ca with -e etcd_rotate_ca_until=issue"
    (host.authority / "ca-next.key").touch()
    assert warning in " ".join(host.run("client_certificate", **shop).stdout.split())
    (host.authority / "ca-next.key").unlink()  # the new key is ca.key now
    said = " ".join(host.run("client_certificate", **shop).stdout.split())
    assert "shop.crt and .key are on the controller" in said and "the old CA" not in said, said


def test_a_certificate_is_not_valid_for_longer_than_the_ca_that_signs_it(host: Host, tmp_path: Path) -> None:
    """During the first step of a rotation the members trust two CAs, and the old one signs."""
    make_authority(host.folder / "old", days=20)
    both = [(host.folder / "old" / "ca.crt").read_text(), (host.authority / "ca.crt").read_text()]
    (host.authority / "ca.crt").write_text("".join(both))
    (host.folder / "old" / "ca.key").rename(host.authority / "ca.key")
    shop = {"etcd_client_certificate_name": "shop", "etcd_client_certificate_dir": str(tmp_path)}
    message = host.refusal("client_certificate", **shop, etcd_client_certificate_days=90)
    assert re.search("the CA is valid for (19|20) days only, but etcd_client_certificate_days is 90", message), message
    assert host.issue("client_certificate", **shop, etcd_client_certificate_days=15) == 2


@pytest.mark.parametrize(
    ("days", "problem"),
    [(2, "A new certificate would be valid from 20"), (-70, "A new certificate would be due for renewal from 20")],
    ids=["behind", "ahead"],
)
def test_an_application_on_a_host_with_a_wrong_clock(host: Host, tmp_path: Path, days: int, problem: str) -> None:
    """Before, each run issued a certificate that the host could not use."""
    shop = {"etcd_client_certificate_name": "shop", "etcd_client_certificate_dir": str(tmp_path)}
    shop |= {"etcd_client_certificate_days": 90}
    wrong = {"_etcd_tls_controller_seconds": time.time() + days * 86400}
    message = host.refusal("client_certificate", **shop, **wrong)
    assert "the clock of the controller says 20" in message and problem in message
    assert "Set the clock that is wrong" in message and not (tmp_path / "shop.key").exists()
    # A certificate that is there stays.
    assert host.issue("client_certificate", **shop) == 2
    assert host.issue("client_certificate", **shop, **wrong) == 0


def test_a_client_of_the_gateway_gets_a_certificate_without_a_common_name(host: Host, tmp_path: Path) -> None:
    """One that has a common name is replaced, with the same key, and the other way round."""
    files = {"etcd_client_certificate_name": "gateway", "etcd_client_certificate_dir": str(tmp_path)}
    gateway = {**files, "etcd_client_certificate_days": 90}
    key, certificate = tmp_path / "gateway.key", tmp_path / "gateway.crt"
    assert host.issue("client_certificate", **gateway, etcd_client_certificate_common_name="") == 2
    before = key.read_bytes()
    subject = openssl("x509", "-noout", "-subject", "-in", certificate)
    assert re.search(r"O ?= ?gateway", subject) and "CN" not in subject
    assert openssl("verify", "-CAfile", host.authority / "ca.crt", certificate).endswith("OK\n")
    assert host.issue("client_certificate", **gateway, etcd_client_certificate_common_name="") == 0
    assert host.issue("client_certificate", **gateway, etcd_client_certificate_common_name="shop") == 1
    subject = openssl("x509", "-noout", "-subject", "-in", certificate)
    assert re.search(r"CN ?= ?shop", subject) and "O" not in subject.replace("CN", "")
    assert key.read_bytes() == before


def test_a_certificate_of_another_cluster_is_kept(host: Host, tmp_path: Path) -> None:
    """Both clusters have an application of this name, and the playbook was run in the same directory."""
    shop = {"etcd_client_certificate_name": "shop", "etcd_client_certificate_dir": str(tmp_path)}
    shop |= {"etcd_client_certificate_days": 90}
    assert host.issue("client_certificate", **shop) == 2
    before = (tmp_path / "shop.crt").read_text()
    for path in host.authority.iterdir():
        path.unlink()
    make_authority(host.authority, "etcd other")
    said = " ".join(host.run("client_certificate", **shop).stdout.split())
    [kept] = tmp_path.glob("shop.crt.*~")
    assert kept.read_text() == before != (tmp_path / "shop.crt").read_text()
    assert f"The former certificate is kept as {kept}." in said, said


def test_a_certificate_for_an_application_that_cannot_be(host: Host) -> None:
    wrong = {"name": "../x", "common_name": "a/b", "days": 0, "host": "n9", "dir": "shop", "cluster": "other"}
    message = host.refusal(
        "client_certificate", **{f"etcd_client_certificate_{name}": value for name, value in wrong.items()}
    )
    for problem in (
        'name is "../x", and must be a common name of 1 to 64 letters',
        'common_name is "a/b", and must be empty or 1 to 64 letters',
        "days is 0, and must be a number of days from 1 on",
        "host is n9, which the inventory does not have",
        'dir is "shop", and must be the full path of a directory on n9',
        "the inventory has no cluster other: set etcd_client_certificate_cluster to one of etcd",
    ):
        assert problem in message
    assert "Nothing was changed" in message
