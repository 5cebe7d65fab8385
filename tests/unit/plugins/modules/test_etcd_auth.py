# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""etcd_auth as Ansible runs it, as far as no etcd is needed."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.testing import patch_module_args
from ansible_collections.etcdops.headroom.plugins.modules import etcd_auth

NEW = (
    "req",
    "-x509",
    "-newkey",
    "ec",
    "-pkeyopt",
    "ec_paramgen_curve:prime256v1",
    "-nodes",
    "-subj",
    "/CN=headroom-n2",
)


@pytest.mark.parametrize("exists", [True, False], ids=["a certificate", "no certificate"])
def test_a_failure_names_the_user_of_the_certificate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], exists: bool
) -> None:
    """Role etcd_auth creates the user that etcd refuses."""
    certificate, etcdctl = tmp_path / "client.crt", tmp_path / "etcdctl"
    if exists:
        command = ["openssl", *NEW, "-keyout", str(tmp_path / "client.key"), "-out", str(certificate)]
        subprocess.run(command, check=True, capture_output=True)
    etcdctl.write_text("#!/bin/sh\necho 'Error: etcdserver: permission denied' >&2; exit 1\n", encoding="ascii")
    etcdctl.chmod(0o755)
    arguments = {
        "endpoints": ["https://127.0.0.1:2379"],
        "ca_cert": str(certificate),
        "client_cert": str(certificate),
        "client_key": str(tmp_path / "client.key"),
        "etcdctl_path": str(etcdctl),
    }
    with patch_module_args(arguments), pytest.raises(SystemExit):
        etcd_auth.main()
    result: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert result["failed"] and result.get("user") == ("headroom-n2" if exists else None), result
    assert ("user headroom-n2" in result["msg"]) is exists, result
