# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The common name of a certificate, read with the standard library."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._auth.common_name import read_common_name


def certificate(path: Path, subject: str, *options: str) -> Path:
    """Create a certificate with openssl."""
    command = (
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -utf8 -days 1 -keyout /dev/null"
    )
    subprocess.run([*command.split(), "-out", str(path), "-subj", subject, *options], check=True, capture_output=True)
    return path


@pytest.mark.parametrize(
    ("subject", "name"),
    [
        ("/CN=headroom", "headroom"),
        ("/O=Shop/OU=Ops/CN=shöp: ä", "shöp: ä"),
        ("/O=nobody", ""),
        ("/CN=first/CN=last", "last"),
        (f"/O={'x' * 60}/OU={'y' * 60}/CN={'z' * 60}", "z" * 60),
    ],
)
def test_common_name(tmp_path: Path, subject: str, name: str) -> None:
    assert read_common_name(str(certificate(tmp_path / "one.crt", subject))) == name


def test_the_first_certificate_of_a_chain_counts(tmp_path: Path) -> None:
    first = certificate(tmp_path / "first.crt", "/CN=client", "-addext", f"subjectAltName=DNS:{'a' * 60}.example.com")
    chain = tmp_path / "chain.crt"
    chain.write_text("client\n" + first.read_text() + certificate(tmp_path / "ca.crt", "/CN=ca").read_text())
    assert read_common_name(str(chain)) == "client"


def test_files_that_are_no_certificates(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="cannot be read: No such file"):
        read_common_name(str(tmp_path / "missing"))
    whole = certificate(tmp_path / "one.crt", "/CN=a").read_text().splitlines()
    torn = "\n".join([whole[0], whole[1], whole[-1]])
    for text in ("", "text", torn, torn.replace(whole[-1], "")):
        (tmp_path / "file").write_text(text)
        with pytest.raises(ValueError, match="is not a certificate in PEM form"):
            read_common_name(str(tmp_path / "file"))
    (tmp_path / "file").write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match="is not PEM"):
        read_common_name(str(tmp_path / "file"))
