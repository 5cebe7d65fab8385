# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import base64
from datetime import datetime, timedelta, timezone
from ipaddress import ip_address

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._tls.server_certificate import (
    CertificateError,
    parse_der,
    parse_pem,
    parse_trusted_pem,
)
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding

KEY = ec.generate_private_key(ec.SECP256R1())
NOW = datetime(2026, 1, 1, tzinfo=timezone.utc)


def certificate(days: int, *names: x509.GeneralName) -> x509.Certificate:
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "etcd")])
    builder = x509.CertificateBuilder(subject, subject, KEY.public_key(), 7, NOW - timedelta(9), NOW + timedelta(days))
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    if names:
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    return builder.sign(KEY, hashes.SHA256())


@pytest.mark.parametrize("days", [30, 40_000, -2], ids=["UTCTime", "GeneralizedTime", "expired"])
def test_expiry_and_names_are_those_of_the_certificate(days: int) -> None:
    names = [x509.DNSName("etcd-1"), x509.IPAddress(ip_address("10.0.0.11")), x509.IPAddress(ip_address("fd00::1"))]
    found = parse_der(certificate(days, *names).public_bytes(Encoding.DER))
    assert found.not_after == (NOW + timedelta(days)).timestamp()
    assert found.days_left(NOW.timestamp()) == days
    assert found.start(NOW.timestamp()) is None
    assert found.start((NOW - timedelta(9, 1)).timestamp()) == "2025-12-23 00:00 UTC"
    assert found.names == ["etcd-1", "10.0.0.11", "fd00::1"]


@pytest.mark.parametrize("order", [(-5, 500), (500, -5), (-5, 500, 5)])
def test_of_trusted_cas_the_one_that_stays_valid_longest_counts(order: tuple[int, ...]) -> None:
    """After a rotation, a file of CAs often still has the old one."""
    found = parse_trusted_pem("".join(certificate(days).public_bytes(Encoding.PEM).decode() for days in order))
    assert found.days_left(NOW.timestamp()) == 500 and found.start(NOW.timestamp()) is None
    with pytest.raises(CertificateError, match="no certificate in PEM form"):
        parse_trusted_pem("")


@pytest.mark.parametrize("order", [(5, 500), (500, 5), (500, 900, 5)])
def test_of_a_bundle_the_certificate_that_expires_first_counts(order: tuple[int, ...]) -> None:
    first, *others = (
        certificate(days, *([] if number else [x509.DNSName("etcd-1")])) for number, days in enumerate(order)
    )
    text = "".join(one.public_bytes(Encoding.PEM).decode() for one in (first, *others))
    found = parse_pem("bag attributes\n" + text)
    assert (found.date(), found.names) == ("2026-01-06", ["etcd-1"])
    with pytest.raises(CertificateError, match="its certificate 2 cannot be read"):
        parse_pem(
            first.public_bytes(Encoding.PEM).decode()
            + "-----BEGIN CERTIFICATE-----\nMAMCAQE=\n-----END CERTIFICATE-----"
        )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no certificate",
        "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----",
        "-----BEGIN CERTIFICATE-----\nMAMCAQE=\n-----END CERTIFICATE-----",
    ],
)
def test_anything_else_is_one_clear_error(text: str) -> None:
    with pytest.raises(CertificateError, match="it "):
        parse_pem(text)


def test_a_certificate_that_is_cut_off_anywhere_is_refused() -> None:
    der = certificate(30, x509.DNSName("etcd-1")).public_bytes(Encoding.DER)
    for length in range(0, len(der), 7):
        with pytest.raises(CertificateError):
            parse_pem(
                f"-----BEGIN CERTIFICATE-----\n{base64.b64encode(der[:length]).decode()}\n-----END CERTIFICATE-----"
            )
