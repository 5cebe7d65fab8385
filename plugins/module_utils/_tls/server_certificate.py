# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the validity and the names of a certificate: of a member's client port, or in a file.

Needs the standard library only, because managed hosts may lack cryptography.
"""

from __future__ import annotations

import ipaddress
import re
import socket
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from urllib.parse import urlsplit

from ansible_collections.etcdops.headroom.plugins.module_utils._base.der import (
    certificate_fields,
    elements,
    first_content,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import Connection

_EXTENSIONS = 0xA3
_OID, _UTC_TIME = 0x06, 0x17
_DNS_NAME, _IP_ADDRESS = 0x82, 0x87
_SUBJECT_ALT_NAME = b"\x55\x1d\x11"
_SECONDS_OF_A_DAY = 86400
_PEM = re.compile(r"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", re.DOTALL)


class CertificateError(ValueError):
    """A certificate that cannot be read, or a server without one."""


@dataclass(frozen=True)
class Validity:
    """Begin and end of a certificate's validity (seconds since 1970), and its names and addresses."""

    not_before: float
    not_after: float
    names: list[str]

    def days_left(self, now: float) -> int:
        """Return the whole days until it expires, negative if it has expired."""
        return int((self.not_after - now) // _SECONDS_OF_A_DAY)

    def date(self) -> str:
        """Return the day on which it expires."""
        return datetime.fromtimestamp(self.not_after, timezone.utc).strftime("%Y-%m-%d")

    def start(self, now: float) -> str | None:
        """Return from when on it is valid, if that is later than now."""
        if self.not_before <= now:
            return None
        return datetime.fromtimestamp(self.not_before, timezone.utc).strftime("%Y-%m-%d %H:%M UTC")


def fetch_validity(connection: Connection, url: str) -> Validity:
    """Return the validity of the certificate that a member presents to clients. Raises CertificateError.

    The certificate is not verified, so that an expired one is read too. Nothing but the handshake is sent.
    """
    parts = urlsplit(url)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    try:
        if connection.client_cert:
            context.load_cert_chain(connection.client_cert, connection.client_key)
        address = (parts.hostname or "", parts.port or 2379)
        with socket.create_connection(address, timeout=connection.timeout) as plain:
            with context.wrap_socket(plain, server_hostname=parts.hostname) as secure:
                found = secure.getpeercert(binary_form=True)
    except (OSError, ValueError) as error:
        raise CertificateError(f"{url} shows no certificate: {error}") from error
    if not found:
        raise CertificateError(f"{url} shows no certificate")
    return parse_der(found)


def parse_pem(text: str) -> Validity:
    """Return the time in which all certificates of a PEM file are valid, and the names of the first, which is the server's in a chain.

    Raises CertificateError.
    """
    found = _parse_each(text)
    return Validity(max(one.not_before for one in found), min(one.not_after for one in found), found[0].names)


def parse_trusted_pem(text: str) -> Validity:
    """Return the time in which any certificate of a PEM file with trusted CAs is valid: an expired one next to its successor does no harm.

    Raises CertificateError.
    """
    found = _parse_each(text)
    return Validity(min(one.not_before for one in found), max(one.not_after for one in found), found[0].names)


def _parse_each(text: str) -> list[Validity]:
    """Return the validity of each certificate of a PEM file, at least one. Raises CertificateError."""
    found: list[Validity] = []
    for block in _PEM.findall(text):
        try:
            found.append(parse_der(ssl.PEM_cert_to_DER_cert(block)))
        except ValueError as error:
            raise CertificateError(f"its certificate {len(found) + 1} cannot be read: {error}") from error
    if not found:
        raise CertificateError("it contains no certificate in PEM form")
    return found


def parse_der(der: bytes) -> Validity:
    """Return the validity of a certificate. Raises CertificateError."""
    try:
        fields = certificate_fields(der)
        _serial, _algorithm, _issuer, validity, _subject, _key = (content for _tag, content in fields[:6])
        begin, end = (_time(tag, text.decode("ascii")) for tag, text in elements(validity))
        extensions = next((content for tag, content in fields if tag == _EXTENSIONS), b"")
        return Validity(begin, end, list(_names(extensions)))
    except (IndexError, ValueError) as error:
        raise CertificateError(f"it cannot be read as an X.509 certificate: {error}") from error


def _time(tag: int, text: str) -> float:
    if tag == _UTC_TIME:
        text = ("19" if text >= "50" else "20") + text
    return datetime.strptime(text, "%Y%m%d%H%M%SZ").replace(tzinfo=timezone.utc).timestamp()


def _names(extensions: bytes) -> Iterator[str]:
    for _sequence, extension in elements(first_content(extensions)):
        parts = list(elements(extension))
        if parts[0] != (_OID, _SUBJECT_ALT_NAME):
            continue
        for tag, content in elements(first_content(parts[-1][1])):
            if tag == _DNS_NAME:
                yield content.decode("ascii", "replace")
            elif tag == _IP_ADDRESS:
                yield str(ipaddress.ip_address(content))
