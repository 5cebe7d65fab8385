# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Members of real etcd move from one CA to a CA of their own in the steps of rotate_ca, one member at a time."""

from __future__ import annotations

import http.client
import ssl
import subprocess
from pathlib import Path

import pytest

from bench.common.member import Member, releases
from tests.integration.client import COMMAND_SECONDS, etcdctl

PORT = 25950
NAMES = ("m0", "m1", "m2")
PORTS = {name: PORT + 10 * number for number, name in enumerate(NAMES)}
NEW_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")


def openssl(folder: Path, *words: str) -> None:
    """Run openssl in a folder."""
    subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)


def issue(folder: Path, authority: str, name: str, usage: str) -> None:
    """Issue a certificate for loopback."""
    extensions = ("-addext", "subjectAltName=IP:127.0.0.1", "-addext", f"extendedKeyUsage={usage}")
    openssl(
        folder, "req", *NEW_KEY, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}", *extensions
    )
    signer = ("-CA", f"{authority}.crt", "-CAkey", f"{authority}.key", "-CAcreateserial", "-copy_extensions", "copyall")
    openssl(folder, "x509", "-req", "-in", f"{name}.csr", "-out", f"{name}.crt", "-days", "9", *signer)


@pytest.fixture(name="folder")
def folder_with_certificates(tmp_path: Path) -> Path:
    """Both CAs, a client's certificate, and for each member a peer's certificate of either CA."""
    for authority in ("ca", "peer-ca"):
        files = ("-keyout", f"{authority}.key", "-out", f"{authority}.crt")
        openssl(tmp_path, "req", "-x509", *NEW_KEY, *files, "-days", "9", "-subj", f"/CN={authority}")
        for name in NAMES:
            issue(tmp_path, authority, f"{name}-of-{authority}", "serverAuth,clientAuth")
    issue(tmp_path, "ca", "client", "clientAuth")
    both = [(tmp_path / f"{name}.crt").read_text(encoding="ascii") for name in ("ca", "peer-ca")]
    (tmp_path / "both.crt").write_text("".join(both), encoding="ascii")
    return tmp_path


def member(folder: Path, name: str, trusted: str, issuer: str) -> Member:
    """A member with TLS between peers."""
    urls = {one: f"https://127.0.0.1:{port + 1}" for one, port in PORTS.items()}
    flags = [f"--listen-peer-urls={urls[name]}", f"--initial-advertise-peer-urls={urls[name]}"]
    flags += ["--initial-cluster=" + ",".join(f"{one}={url}" for one, url in urls.items())]
    certificate = folder / f"{name}-of-{issuer}"
    flags += [f"--peer-cert-file={certificate}.crt", f"--peer-key-file={certificate}.key", "--peer-client-cert-auth"]
    flags += [f"--peer-trusted-ca-file={folder / trusted}.crt"]
    return Member(releases()[-1], folder / "data", PORTS[name], flags, name=name)


def is_peer(folder: Path, name: str) -> bool:
    """Say whether the port for peers answers to the client's certificate."""
    context = ssl.create_default_context(cafile=folder / "both.crt")
    context.load_cert_chain(folder / "client.crt", folder / "client.key")
    connection = http.client.HTTPSConnection("127.0.0.1", PORTS[name] + 1, context=context, timeout=COMMAND_SECONDS)
    try:
        connection.request("GET", "/members")
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


def test_members_move_to_a_ca_of_their_own(folder: Path) -> None:
    running = {name: member(folder, name, "ca", "ca") for name in NAMES}
    try:
        for one in running.values():
            one.start()
        for one in running.values():
            one.wait_ready()
        assert all(is_peer(folder, name) for name in NAMES)
        for trusted, issuer in (("both", "ca"), ("both", "peer-ca"), ("peer-ca", "peer-ca")):
            for name in NAMES:
                running[name].stop()
                running[name] = member(folder, name, trusted, issuer)
                running[name].start()
                running[name].wait_ready()
                etcdctl(list(running.values()), "put", "key", f"{trusted} {name}")
                etcdctl(list(running.values()), "endpoint", "health")
        assert not any(is_peer(folder, name) for name in NAMES)
    finally:
        for one in running.values():
            one.stop()
