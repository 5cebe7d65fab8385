# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When certificates expire, read from files."""

from __future__ import annotations

import subprocess
from datetime import datetime, timezone
from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance.certificates import expiry_times

pytest.importorskip("cryptography")


def make(path: Path, days: int, authority: Path | None = None) -> None:
    """Make a certificate, signed by itself or by an authority."""
    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    files = ("-keyout", path.with_suffix(".key"), "-out", path)
    subject = ("-days", str(days), "-subj", f"/CN={path.stem}")
    signed = ("-CA", authority, "-CAkey", authority.with_suffix(".key")) if authority else ()
    subprocess.run(("openssl", "req", "-x509", *curve, *files, *subject, *signed), check=True, capture_output=True)


def test_expiry_times(tmp_path: Path) -> None:
    assert expiry_times(str(tmp_path)) == {}
    for name, days in (("ca", 10), ("new", 100), ("server", 5), ("peer-ca", 50)):
        make(tmp_path / f"{name}.crt", days)
    with (tmp_path / "ca.crt").open("ab") as stream:
        stream.write((tmp_path / "new.crt").read_bytes())
    (tmp_path / "peer.crt").write_text("not a certificate")
    (tmp_path / "client.crt").write_text("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
    now = datetime.now(timezone.utc).timestamp()
    found = {name: round((time - now) / 86400) for name, time in expiry_times(str(tmp_path)).items()}
    assert found == {"ca": 100, "peer-ca": 50, "server": 5}


def test_a_certificate_expires_with_the_ca_that_signed_it(tmp_path: Path) -> None:
    """While two CAs are trusted, the file of the CAs is valid longer than what the old one signed."""
    for name, days in (("ca", 10), ("new", 100), ("peer-ca", 50)):
        make(tmp_path / f"{name}.crt", days)
    for name, days, authority in (("server", 80, "ca"), ("client", 5, "ca"), ("peer", 80, "peer-ca")):
        make(tmp_path / f"{name}.crt", days, tmp_path / f"{authority}.crt")
    with (tmp_path / "ca.crt").open("ab") as stream:
        stream.write((tmp_path / "new.crt").read_bytes())
    now = datetime.now(timezone.utc).timestamp()
    found = {name: round((time - now) / 86400) for name, time in expiry_times(str(tmp_path)).items()}
    assert found == {"ca": 100, "peer-ca": 50, "server": 10, "client": 5, "peer": 50}
