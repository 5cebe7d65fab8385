# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What kube-bench's audit command sees of a real etcd that reads a config file: see docs/policies/compliance.md."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path

import yaml

from bench.common.member import binary, releases
from tests.integration.client import EVENT_SECONDS
from tests.policies.tools import REPOSITORY, tool

CASE = REPOSITORY / "tests" / "policies" / "kube_bench" / "etcd.yaml"
PORT = 25950
# The `audit` of checks 2.1 to 2.7 in kube-bench's cfg/cis-*/etcd.yaml, with $etcdbin as etcd.
AUDIT = "/bin/ps -ef | /bin/grep etcd | /bin/grep -v grep"
# What these checks look for: flags in the audit's output, and variables of the environment.
FLAGS = ("--auto-tls", "--peer-auto-tls", "--client-cert-auth", "--cert-file", "--key-file", "--trusted-ca-file")


def on_loopback(config: str, folder: Path) -> str:
    """Return the config of the case for a single member on this machine."""
    settings = yaml.safe_load(
        config.replace("10.0.0.1:2379", f"127.0.0.1:{PORT}").replace("10.0.0.1:2380", f"127.0.0.1:{PORT + 1}")
    )
    settings |= {
        "data-dir": str(folder / "data"),
        "initial-cluster": settings["initial-cluster"].split(",")[0],
        "initial-cluster-state": "new",
    }
    return yaml.safe_dump(settings)


def seen_by_kube_bench(process: int) -> tuple[str, str]:
    """Return the line of the process in the audit's output, and its environment."""
    # Without COLUMNS, which shortens the lines of ps.
    done = subprocess.run(["/bin/sh", "-c", AUDIT], capture_output=True, text=True, check=True, env={})
    (line,) = [line for line in done.stdout.splitlines() if line.split()[1] == str(process)]
    return line, Path(f"/proc/{process}/environ").read_text(encoding="utf-8")


def serves_its_own_certificate(process: subprocess.Popen[bytes]) -> bool:
    """Wait until the member presents a certificate; say whether it signed that itself."""
    deadline = time.monotonic() + EVENT_SECONDS
    command = ["openssl", "s_client", "-connect", f"127.0.0.1:{PORT}"]
    while time.monotonic() < deadline:
        assert process.poll() is None
        done = subprocess.run(command, input="", capture_output=True, text=True, check=False, timeout=30)
        if "BEGIN CERTIFICATE" in done.stdout:
            return "self-signed certificate" in done.stdout + done.stderr
        time.sleep(0.2)
    raise AssertionError("etcd presented no certificate")


def test_a_config_file_hides_auto_tls_from_kube_bench_and_not_from_the_linter(tmp_path: Path) -> None:
    path = tmp_path / "etcd.yaml"
    path.write_text(on_loopback(CASE.read_text(encoding="utf-8"), tmp_path), encoding="utf-8")
    command = [str(binary(releases()[-1], "etcd")), f"--config-file={path}"]
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(command, cwd=tmp_path, stdout=log, stderr=log)
    try:
        assert serves_its_own_certificate(process)
        line, environment = seen_by_kube_bench(process.pid)
        assert not [flag for flag in FLAGS if flag in line]
        assert "ETCD_" not in environment
    finally:
        process.kill()
        process.wait()
    done = subprocess.run(
        # Loopback addresses need no client certificates, so the case itself is linted.
        [tool("conftest"), "test", "--output", "json", str(CASE)],
        capture_output=True,
        text=True,
        check=False,
        cwd=REPOSITORY,
    )
    (result,) = json.loads(done.stdout)
    assert {entry["metadata"]["code"] for entry in result["warnings"]} >= {"security/auto_tls"}
    assert {entry["metadata"]["code"] for entry in result["failures"]} >= {"security/client_cert_auth"}
