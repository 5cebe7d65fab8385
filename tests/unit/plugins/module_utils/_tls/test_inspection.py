# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Certificates that fit, and each way in which one does not."""

from __future__ import annotations

import ipaddress
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._tls import inspection

pytest.importorskip("cryptography")

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

NOW = datetime(2026, 11, 21, tzinfo=timezone.utc)
MONTH = timedelta(days=30)


def ec_key() -> Any:
    """A key as the role makes it."""
    return ec.generate_private_key(ec.SECP256R1())


def pem(item: Any) -> bytes:
    """A certificate or a private key in PEM form."""
    if isinstance(item, x509.Certificate):
        return item.public_bytes(serialization.Encoding.PEM)
    encoding, shape = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    return bytes(item.private_bytes(encoding, shape, serialization.NoEncryption()))


def make(
    key: Any,
    *,
    name: str = "n1",
    issuer: tuple[Any, Any] | None = None,
    sans: tuple[str, ...] = (),
    usages: tuple[Any, ...] | None = (ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH),
    days: int = 365,
    authority: bool = False,
    path_length: int | None = None,
    extensions: tuple[Any, ...] = (),
) -> Any:
    """A certificate; its issuer is a pair of certificate and key, or itself."""
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer[0].subject if issuer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(NOW - timedelta(days=400))
        .not_valid_after(NOW + timedelta(days=days))
        .add_extension(x509.BasicConstraints(ca=authority, path_length=path_length), critical=True)
    )
    names: list[x509.GeneralName] = []
    for san in sans:
        try:
            names.append(x509.IPAddress(ipaddress.ip_address(san)))
        except ValueError:
            names.append(x509.DNSName(san))
    if names:
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    if usages is not None and not authority:
        builder = builder.add_extension(x509.ExtendedKeyUsage(usages), critical=False)
    for extension in extensions:
        builder = builder.add_extension(extension, critical=False)
    signer = issuer[1] if issuer else key
    return builder.sign(
        signer, None if isinstance(signer, (ed448.Ed448PrivateKey, ed25519.Ed25519PrivateKey)) else hashes.SHA256()
    )


CA_KEY = ec_key()
CA = make(CA_KEY, name="ca", authority=True, days=3650)
KEY = ec_key()
LEAF = make(KEY, issuer=(CA, CA_KEY), sans=("n1", "10.0.0.11", "::1"))


def inspect(
    certificate: bytes | None,
    key: bytes | None = None,
    *,
    authorities: bytes | None = None,
    now: datetime = NOW,
    renew_before: timedelta = MONTH,
    **other: Any,
) -> inspection.CertificateFinding:
    """The finding with the demands of a server."""
    demands: dict[str, Any] = {
        "names": ["n1", "10.0.0.11", "::1"],
        "usages": ["server", "client"],
        "exact_names": True,
        **other,
    }
    return inspection.inspect_certificate(
        certificate,
        pem(KEY) if key is None else key or None,
        pem(CA) if authorities is None else authorities,
        inspection.Expected(**demands),
        now=now,
        renew_before=renew_before,
    )


def test_a_certificate_without_problems() -> None:
    finding = inspect(pem(LEAF))
    assert finding.problems == []
    assert not finding.not_yet_valid and finding.not_before == "2025-10-17T00:00:00Z"
    assert finding.common_name == "n1" and finding.not_after == "2027-11-21T00:00:00Z"
    assert finding.names == ["n1", "10.0.0.11", "::1"]


@pytest.mark.parametrize(
    ("certificate", "key", "demands", "problem"),
    [
        (None, None, {}, "it does not exist"),
        (b"", None, {}, "it contains no certificate in PEM form"),
        (pem(LEAF)[:100] + pem(LEAF)[140:], None, {}, "it cannot be read"),
        (pem(LEAF), b"", {}, "its private key does not exist"),
        (pem(LEAF), b"no key", {}, "its private key cannot be read"),
        (pem(LEAF), pem(ec_key()), {}, "its private key belongs to another certificate"),
        (
            pem(LEAF),
            None,
            {"authorities": pem(make(ec_key(), name="ca", authority=True))},
            "it is not signed by the CA",
        ),
        (pem(LEAF), None, {"authorities": b""}, "it is not signed by the CA"),
        (pem(LEAF), None, {"names": ["n1", "10.0.0.11", "::1", "10.0.0.12"]}, "it is not valid for 10.0.0.12"),
        (pem(LEAF), None, {"names": ["n1", "::1"]}, "it is valid for 10.0.0.11, which is no longer requested"),
        (pem(LEAF), None, {"renew_before": timedelta(days=365)}, "it expires on 2027-11-21, in 365 days"),
        (pem(LEAF), None, {"now": NOW + timedelta(days=366)}, "it expired on 2027-11-21"),
        (
            pem(LEAF),
            None,
            {"now": NOW - timedelta(days=400, hours=2)},
            "it is not valid before 2025-10-17 00:00 UTC, and the clock says 2025-10-16 22:00 UTC",
        ),
        (
            pem(
                make(
                    KEY, issuer=(CA, CA_KEY), sans=("n1", "10.0.0.11", "::1"), usages=(ExtendedKeyUsageOID.SERVER_AUTH,)
                )
            ),
            None,
            {},
            "it may not be used for client authentication",
        ),
    ],
)
def test_one_problem(certificate: bytes | None, key: bytes | None, demands: dict[str, Any], problem: str) -> None:
    finding = inspect(certificate, key, **demands)
    assert len(finding.problems) == 1 and finding.problems[0].startswith(problem)


@pytest.mark.parametrize(("wanted", "problems"), [("", []), ("n1", []), ("n2", ['its common name is "n1", not "n2"'])])
def test_the_common_name(wanted: str, problems: list[str]) -> None:
    assert inspect(pem(LEAF), common_name=wanted).problems == problems


def test_all_problems_are_reported_together() -> None:
    finding = inspect(pem(LEAF), pem(ec_key()), names=["n2"], now=NOW + timedelta(days=366), authorities=b"")
    assert len(finding.problems) == 5


@pytest.mark.parametrize(
    ("wanted", "exact", "fits"),
    [
        (["N1", "0:0:0:0:0:0:0:1", "10.0.0.11"], True, True),
        (["n1"], False, True),
        (["n1"], True, False),
    ],
)
def test_spelling_of_names_does_not_matter(wanted: list[str], exact: bool, fits: bool) -> None:
    assert (inspect(pem(LEAF), names=wanted, exact_names=exact).problems == []) is fits


@pytest.mark.parametrize(
    ("wanted", "dropped", "renewed", "fits"),
    [
        (["n1", "10.0.0.11", "::1"], [], ["n1", "10.0.0.11", "::1"], True),
        (["n1"], [], ["n1", "10.0.0.11", "::1"], True),
        (["n1", "10.0.0.12"], [], ["n1", "10.0.0.12", "10.0.0.11", "::1"], False),
        (["n1"], ["10.0.0.11"], ["n1", "::1"], False),
        (["n1"], ["gone.example.net"], ["n1", "10.0.0.11", "::1"], True),
        (["n1", "late.example.net"], ["late.example.net"], ["n1", "10.0.0.11", "::1"], True),
        (["N1"], ["0:0::1"], ["n1", "10.0.0.11"], False),
    ],
    ids=["all", "some vanished", "a new one", "one dropped", "dropped before", "wanted, but dropped", "spelling"],
)
def test_a_certificate_keeps_its_names_until_they_are_dropped(
    wanted: list[str], dropped: list[str], renewed: list[str], fits: bool
) -> None:
    finding = inspect(pem(LEAF), names=wanted, dropped_names=dropped, exact_names=False)
    assert finding.wanted_names == renewed and (finding.problems == []) is fits


@pytest.mark.parametrize(
    ("name", "fits"), [("n1.example.net", True), ("a.n1.example.net", False), ("example.net", False)]
)
def test_a_wildcard_matches_one_label(name: str, fits: bool) -> None:
    wild = make(KEY, issuer=(CA, CA_KEY), sans=("*.example.net",))
    assert (inspect(pem(wild), names=[name], exact_names=False).problems == []) is fits


@pytest.mark.parametrize(
    ("names", "needed"),
    [
        (("*.example.net",), True),
        (("*.example.net", "localhost", "127.0.0.1", "::1"), True),
        (("*.example.net", "n1.example.net"), False),
        (("*.example.net", "10.0.0.11"), False),
        (("10.0.0.11",), False),
        ((), False),
    ],
)
def test_etcd_compares_a_wildcard_with_the_name_of_an_address(names: tuple[str, ...], needed: bool) -> None:
    assert inspect(pem(make(KEY, issuer=(CA, CA_KEY), sans=names))).needs_reverse_lookup is needed


def test_a_chain_through_an_intermediate_authority() -> None:
    middle_key = ec_key()
    middle = make(middle_key, name="middle", issuer=(CA, CA_KEY), authority=True)
    leaf = make(KEY, issuer=(middle, middle_key), sans=("n1", "10.0.0.11", "::1"))
    assert inspect(pem(leaf) + pem(middle)).problems == []
    assert inspect(pem(leaf)).problems == ["it is not signed by the CA"]


def no_certificate_signing() -> Any:
    """The key usage of a key that signs no certificates."""
    names = ("content_commitment", "key_encipherment", "data_encipherment", "key_agreement", "key_cert_sign")
    others = dict.fromkeys((*names, "crl_sign", "encipher_only", "decipher_only"), False)
    return x509.KeyUsage(digital_signature=True, **others)


def name_constraints(permitted: tuple[str, ...] = (), excluded: tuple[str, ...] = ()) -> Any:
    """Name constraints; values with a slash are networks."""
    subtrees = [
        [x509.IPAddress(ipaddress.ip_network(item)) if "/" in item else x509.DNSName(item) for item in items] or None
        for items in (permitted, excluded)
    ]
    return x509.NameConstraints(*subtrees)


SERVER_ONLY = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH])
ANY_USAGE = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE])


@pytest.mark.parametrize(
    ("middle", "problem"),
    [
        ({}, ""),
        ({"authority": False}, "it is not a CA certificate (basicConstraints lacks CA:TRUE)"),
        ({"extensions": (no_certificate_signing(),)}, "it may not sign certificates (its key usage lacks keyCertSign)"),
        ({"path_length": 0}, ""),
        ({"extensions": (SERVER_ONLY,)}, "it may not sign for client authentication (its extended key usage)"),
        ({"extensions": (ANY_USAGE,)}, ""),
        (
            {"extensions": (name_constraints(excluded=("10.0.0.0/8", "::/0")),)},
            "it may not sign for 10.0.0.11, ::1 (its name constraints)",
        ),
        # Names of a kind without constraints are free; without an IPv6 network no IPv6 address is permitted.
        ({"extensions": (name_constraints(("10.0.0.0/8",)),)}, "it may not sign for ::1 (its name constraints)"),
        ({"extensions": (name_constraints(("10.0.0.0/8", "::1/128")),)}, ""),
        ({"extensions": (name_constraints(("example.net",)),)}, "it may not sign for n1 (its name constraints)"),
        ({"extensions": (name_constraints(("N1",)),)}, ""),
        ({"extensions": (name_constraints((".n1",)),)}, "it may not sign for n1 (its name constraints)"),
    ],
)
def test_an_intermediate_authority_must_allow_the_certificate(middle: dict[str, Any], problem: str) -> None:
    """As Go judges a chain (Certificate.Verify of crypto/x509)."""
    key = ec_key()
    between = make(key, name="middle", issuer=(CA, CA_KEY), **{"authority": True, "usages": None, **middle})
    leaf = make(KEY, issuer=(between, key), sans=("n1", "10.0.0.11", "::1"))
    assert inspect(pem(leaf) + pem(between)).problems == (
        [f"its intermediate CA, middle: {problem}"] if problem else []
    )


@pytest.mark.parametrize(
    ("excluded", "fits"), [("a.example.net", False), (".example.net", False), ("a.b.example.net", True), ("net", False)]
)
def test_a_wildcard_is_excluded_with_a_name_that_it_matches(excluded: str, fits: bool) -> None:
    own = make(CA_KEY, name="ca", authority=True, extensions=(name_constraints(excluded=(excluded,)),))
    wild = make(KEY, issuer=(own, CA_KEY), sans=("*.example.net",))
    finding = inspect(pem(wild), names=[], exact_names=False, authorities=pem(own))
    problem = "its CA, ca: it may not sign for *.example.net (its name constraints)"
    assert finding.problems == ([] if fits else [problem])


def test_the_ca_must_allow_the_certificate_and_its_intermediate_authorities() -> None:
    key = ec_key()
    limited = make(CA_KEY, name="ca", authority=True, path_length=0, extensions=(SERVER_ONLY,))
    between = make(key, name="middle", issuer=(CA, CA_KEY), authority=True)
    leaf = pem(make(KEY, issuer=(between, key), sans=("n1", "10.0.0.11", "::1"))) + pem(between)
    assert inspect(leaf, authorities=pem(limited)).problems == [
        "its CA, ca: its path length allows 0 intermediate CAs below it, and there are 1",
        "its CA, ca: it may not sign for client authentication (its extended key usage)",
    ]
    # Another certificate of this CA is trusted, too, and allows more. One that is not used limits nothing.
    assert inspect(leaf, authorities=pem(limited) + pem(CA)).problems == []
    assert inspect(leaf, authorities=pem(limited), usages=["server"]).problems == [
        "its CA, ca: its path length allows 0 intermediate CAs below it, and there are 1"
    ]


BRAINPOOL = ec.generate_private_key(ec.BrainpoolP256R1())
UNUSABLE = "etcd cannot use its key (curve brainpoolP256r1): use Ed25519, RSA with at least 1024 bits, or a curve of"


@pytest.mark.parametrize(
    ("key", "problem"),
    [
        (ec.generate_private_key(ec.SECP384R1()), ""),
        (ed25519.Ed25519PrivateKey.generate(), ""),
        (rsa.generate_private_key(65537, 2048), ""),
        (BRAINPOOL, f"{UNUSABLE} P-256, P-384, P-521"),
        (
            ec.generate_private_key(ec.SECP224R1()),
            UNUSABLE.replace("brainpoolP256r1", "P-224") + " P-256, P-384, P-521",
        ),
        (ed448.Ed448PrivateKey.generate(), UNUSABLE.replace("curve brainpoolP256r1", "Ed448") + " P-256, P-384, P-521"),
    ],
    ids=["P-384", "Ed25519", "RSA", "Brainpool", "P-224", "Ed448"],
)
def test_the_key_must_be_one_that_etcd_can_use(key: Any, problem: str) -> None:
    leaf = make(key, issuer=(CA, CA_KEY), sans=("n1", "10.0.0.11", "::1"))
    assert inspect(pem(leaf), pem(key)).problems == ([problem] if problem else [])


def test_etcd_parses_each_certificate_of_the_file() -> None:
    other = make(BRAINPOOL, name="other", issuer=(CA, CA_KEY), authority=True)
    assert inspect(pem(LEAF) + pem(other)).problems == [
        f"its intermediate CA, other: {UNUSABLE} P-224, P-256, P-384, P-521"
    ]


def test_any_usage_is_every_usage() -> None:
    usages = (ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE,)
    assert inspect(pem(make(KEY, issuer=(CA, CA_KEY), sans=("n1", "10.0.0.11", "::1"), usages=usages))).problems == []


def test_a_chain_without_an_authority_is_refused() -> None:
    key = ec_key()
    circle = make(key, name="circle", authority=True)
    leaf = make(KEY, issuer=(circle, key), sans=("n1", "10.0.0.11", "::1"))
    assert inspect(pem(leaf) + pem(circle)).problems == ["it is not signed by the CA"]


@pytest.mark.parametrize(
    ("days", "days_left", "expired", "ca_ends_first"),
    [(3650, 365, False, False), (20, 20, False, True), (-1, -1, True, True)],
)
def test_a_certificate_ends_with_the_ca_that_signed_it(
    days: int, days_left: int, expired: bool, ca_ends_first: bool
) -> None:
    """Another CA that is trusted too does not help."""
    old = make(CA_KEY, name="ca", authority=True, days=days)
    finding = inspect(pem(LEAF), authorities=pem(make(ec_key(), name="new", authority=True, days=3650)) + pem(old))
    assert (finding.days_left, finding.expired, finding.ca_ends_first) == (days_left, expired, ca_ends_first)
    assert finding.problems == []


def test_a_renewed_certificate_of_the_ca_counts() -> None:
    finding = inspect(pem(LEAF), authorities=pem(make(CA_KEY, name="ca", authority=True, days=-1)) + pem(CA))
    assert (finding.days_left, finding.expired, finding.ca_ends_first) == (365, False, False)


def test_a_certificate_ends_with_its_intermediate_authority() -> None:
    middle_key = ec_key()
    middle = make(middle_key, name="middle", issuer=(CA, CA_KEY), authority=True, days=3)
    leaf = make(KEY, issuer=(middle, middle_key), sans=("n1", "10.0.0.11", "::1"))
    assert inspect(pem(leaf) + pem(middle)).days_left == 3


def test_an_intermediate_authority_must_be_valid() -> None:
    """As that of a company that was renewed, while the certificate stayed the same."""
    key = ec_key()
    old, new = (make(key, name="middle", issuer=(CA, CA_KEY), authority=True, days=days) for days in (-1, 3000))
    leaf = pem(make(KEY, issuer=(old, key), sans=("n1", "10.0.0.11", "::1")))
    expired, renewed = inspect(leaf + pem(old)), inspect(leaf + pem(new))
    assert expired.problems == ["its intermediate CA, middle: it expired on 2026-11-20"] and expired.expired
    assert renewed.problems == [] and renewed.sha256 == expired.sha256 and renewed.chain_sha256 != expired.chain_sha256
    soon = inspect(leaf + pem(make(key, name="middle", issuer=(CA, CA_KEY), authority=True, days=20)))
    assert soon.problems == ["its intermediate CA, middle: it expires on 2026-12-11, in 20 days"]
    early = inspect(leaf + pem(new), now=NOW - timedelta(days=401))
    assert early.not_yet_valid and len(early.problems) == 2
    # Go verifies with any of them.
    other_ca = (make(key, name="other", authority=True), key)
    cross_signed = make(key, name="middle", issuer=other_ca, authority=True, days=3650)
    assert inspect(leaf + pem(cross_signed) + pem(old) + pem(new)).problems == []


def test_a_file_with_one_certificate_has_the_digest_of_this_certificate() -> None:
    finding = inspect(pem(LEAF))
    assert finding.chain_sha256 == finding.sha256


def test_a_private_key_in_the_file_of_a_certificate() -> None:
    for text in (pem(LEAF) + pem(KEY), b"-----BEGIN EC PRIVATE KEY-----\n" + pem(LEAF)):
        (problem,) = inspect(text).problems
        assert (
            problem.startswith("its file also contains a private key (")
            and "Keep the key in a file of its own" in problem
        )
    assert inspect(b"-----BEGIN EC PARAMETERS-----\n-----END EC PARAMETERS-----\n" + pem(LEAF)).problems == []


def test_combined_fingerprint() -> None:
    assert inspection.combined_fingerprint(["a", None]) is None
    assert (
        inspection.combined_fingerprint(["a", "b"])
        == inspection.combined_fingerprint(["a", "b"])
        != inspection.combined_fingerprint(["ab", ""])
    )
