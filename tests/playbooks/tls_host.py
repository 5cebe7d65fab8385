# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A host for tests of role etcd_tls: its own directory of certificates on this machine, without etcd."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

PROJECT = Path(__file__).resolve().parents[2]


class Host:
    """A host with its own directory of certificates, and a controller with a CA."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.authority = folder / "ca"
        self.installed = folder / "etc" / "tls"

    def run(
        self, *entry_points: str, others: Sequence[str] = (), without_tls: Sequence[str] = (), **variables: Any
    ) -> subprocess.CompletedProcess[str]:
        """Run entry points of the role, by default as site.yml does: its checks, the role, and the activation of what is staged.

        ``others`` are hosts of the same cluster, each with the directory of its name. ``without_tls`` are hosts of another cluster, and come first.
        """
        given = {
            "ansible_connection": "local",
            "ansible_python_interpreter": "{{ ansible_playbook_python }}",
            "etcd_tls_ca_dir": str(self.authority),
            "etcd_tls_dir": str(self.installed),
            "etcd_config_file": str(self.folder / "etc" / "etcd.yml"),
            "etcd_data_dir": str(self.folder / "data"),
            "etcd_user": "root",
            "etcd_user_group": "root",
            "etcd_address": "192.0.2.11",
            "etcd_tls_enabled": True,
            **variables,
        }
        plays = [
            {
                "name": "Run the role",
                "hosts": "etcd",
                "gather_facts": False,
                "become": os.geteuid() != 0,
                "tasks": [
                    {
                        "name": f"Run {name}",
                        "ansible.builtin.import_role": {"name": "etcdops.headroom.etcd_tls", "tasks_from": name},
                        "when": ["etcd_tls_enabled | bool", *(["etcd_tls_staged"] if name == "activate" else [])],
                    }
                    for name in play.split()
                ],
            }
            for play in entry_points or ["preflight main activate"]
        ]
        extra = {name: value for name, value in variables.items() if name.startswith("_")}
        own = {name: {**given, "etcd_tls_dir": str(self.folder / name / "tls")} for name in others}
        plain = {name: {**given, "etcd_cluster_name": "plain", "etcd_tls_enabled": False} for name in without_tls}
        hosts = {**plain, "n1": given, **own}
        (self.folder / "hosts.yml").write_text(yaml.safe_dump({"etcd": {"hosts": hosts}}, sort_keys=False))
        (self.folder / "play.yml").write_text(yaml.safe_dump(plays))
        command = ["ansible-playbook", "-i", str(self.folder / "hosts.yml"), str(self.folder / "play.yml")]
        command += ["-e", json.dumps(extra)]  # a role's own variables have precedence over the inventory's
        return subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=300, check=False)

    def copy_to(self, folder: Path) -> Host:
        """Return an equal host, with all files of this one and of its controller in another folder."""
        shutil.copytree(self.folder, folder, symlinks=True, dirs_exist_ok=True)
        return Host(folder)

    def issue(self, *entry_points: str, **variables: Any) -> int:
        """Run entry points of the role; return how many tasks changed something."""
        done = self.run(*entry_points, **variables)
        assert done.returncode == 0, done.stdout + done.stderr
        return int(re.findall(r"changed=(\d+)", done.stdout)[0])

    def refusal(self, *entry_points: str, **variables: Any) -> str:
        """Run the role, which must fail without a change; return its output in one line."""
        done = self.run(*entry_points, **variables)
        assert done.returncode == 2, done.stdout + done.stderr
        assert set(re.findall(r"changed=(\d+)", done.stdout)) == {"0"}, done.stdout
        return " ".join(done.stdout.split())


def openssl(*words: str | Path) -> str:
    """Run openssl and return its output."""
    return subprocess.run(["openssl", *words], check=True, capture_output=True, text=True).stdout


NEW_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")


def make_authority(folder: Path, name: str = "etcd etcd", days: int = 365, stem: str = "ca") -> None:
    """Make the key and the certificate of a CA, as the controller keeps them."""
    folder.mkdir(exist_ok=True)
    files = ("-keyout", folder / f"{stem}.key", "-out", folder / f"{stem}.crt")
    openssl("req", "-x509", *NEW_KEY, *files, "-days", str(days), "-subj", f"/CN={name}")


REQUIRED_NAMES = "IP:192.0.2.11,IP:127.0.0.1"


def provide(host: Host, authority: str, certificates: Path, names: str = REQUIRED_NAMES) -> dict[str, Any]:
    """Make certificates of a CA, by default with the names that are required, and return the variable that provides them."""
    certificates.mkdir()
    (certificates / "names").write_text(f"subjectAltName={names}\n", encoding="ascii")
    signer = host.folder / authority
    pairs = {}
    for kind in ("server", "peer", "client"):
        key, request, certificate = (str(certificates / f"{kind}.{end}") for end in ("key", "csr", "crt"))
        openssl("req", *NEW_KEY, "-keyout", key, "-out", request, "-subj", f"/CN={kind}")
        signing = ("-CA", signer / "ca.crt", "-CAkey", signer / "ca.key", "-CAcreateserial")
        openssl("x509", "-req", "-in", request, "-out", certificate, *signing, "-extfile", certificates / "names")
        pairs[kind] = {"certificate": certificate, "key": key}
    return pairs


def early(host: Host, path: Path) -> None:
    """Replace a certificate by one for the same key that is valid from tomorrow on."""
    tomorrow = datetime.now(timezone.utc) + timedelta(days=1)
    sign_again(host, path, tomorrow, tomorrow + timedelta(days=90))


def sign_again(host: Host, path: Path, start: datetime, end: datetime) -> None:
    """Replace a certificate by one of the CA for the same key, with another validity."""
    ca = x509.load_pem_x509_certificate((host.authority / "ca.crt").read_bytes())
    key = serialization.load_pem_private_key((host.authority / "ca.key").read_bytes(), None)
    old = x509.load_pem_x509_certificate(path.read_bytes())
    builder = x509.CertificateBuilder(ca.subject, old.subject, old.public_key(), old.serial_number + 1)
    builder = builder.not_valid_before(start).not_valid_after(end)
    for extension in old.extensions:
        builder = builder.add_extension(extension.value, extension.critical)
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    path.resolve().write_bytes(builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
