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


def make(path: Path, days: int) -> None:
    """Make a certificate."""
    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    files = ("-keyout", path.with_suffix(".key"), "-out", path)
    command = ("openssl", "req", "-x509", *curve, *files, "-days", str(days), "-subj", "/CN=n1")
    subprocess.run(command, check=True, capture_output=True)


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
