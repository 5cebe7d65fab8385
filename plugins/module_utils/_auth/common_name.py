# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The common name in a certificate's subject, by which etcd identifies a client. Needs the standard library only."""

from __future__ import annotations

import ssl

from ansible_collections.etcdops.headroom.plugins.module_utils._base.der import certificate_fields, elements

_COMMON_NAME = bytes([0x55, 0x04, 0x03])
_BMP_STRING = 0x1E
# The fields of a certificate before its subject: serial number, signature algorithm, issuer, validity.
_FIELDS_BEFORE_SUBJECT = 4


def read_common_name(path: str) -> str:
    """Return the common name of the first certificate in a PEM file, empty if it has none. Raises ValueError."""
    try:
        with open(path, encoding="ascii") as stream:
            text = stream.read()
    except OSError as error:
        raise ValueError(f"the client certificate {path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"the client certificate {path} is not PEM") from error
    begin, end = ssl.PEM_HEADER, ssl.PEM_FOOTER
    first = text.find(begin)
    try:
        if first < 0:
            raise ValueError("no certificate")
        return common_name(ssl.PEM_cert_to_DER_cert(text[first : text.index(end, first) + len(end)]))
    except (ValueError, IndexError) as error:
        raise ValueError(f"the client certificate {path} is not a certificate in PEM form") from error


def common_name(certificate: bytes) -> str:
    """Return the common name in the subject of a certificate in DER form. The last one counts, as for etcd (Go).

    Raises ValueError or IndexError for anything else than a certificate.
    """
    ((_tag, _content),) = elements(certificate)  # nothing may follow it
    fields = certificate_fields(certificate)
    found = ""
    for _set, attributes in elements(fields[_FIELDS_BEFORE_SUBJECT][1]):
        for _sequence, attribute in elements(attributes):
            (_oid, kind), (tag, value) = elements(attribute)
            if kind == _COMMON_NAME:
                found = value.decode("utf-16-be" if tag == _BMP_STRING else "utf-8")
    return found
