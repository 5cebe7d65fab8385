# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is asked of a member over HTTP."""

from __future__ import annotations

import contextlib
import http.server
import ssl
import threading
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from ipaddress import ip_address
from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import http_api
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import Connection, EtcdctlError
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.http_api import parse_quota
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat


@pytest.mark.parametrize(
    ("page", "quota"),
    [
        ("# HELP x\netcd_server_quota_backend_bytes 2.147483648e+09\n", 2 << 30),
        ("etcd_server_quota_backend_bytes_other 1\n", None),
    ],
)
def test_parse_quota(page: str, quota: int | None) -> None:
    assert parse_quota(page) == quota


def write_certificates(folder: Path, address: str) -> None:
    """Write a CA as kubespray's openssl makes it, without keyUsage, and a server's certificate and key."""
    key = ec.generate_private_key(ec.SECP256R1())
    now = datetime.now(timezone.utc)
    names = [x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)]) for name in ("ca", "etcd")]
    for number, (file, subject) in enumerate(zip(("ca.pem", "server.pem"), names)):
        builder = x509.CertificateBuilder(
            names[0], subject, key.public_key(), number + 1, now - timedelta(1), now + timedelta(1)
        )
        builder = builder.add_extension(x509.BasicConstraints(ca=number == 0, path_length=None), critical=number == 0)
        if number:
            builder = builder.add_extension(
                x509.SubjectAlternativeName([x509.IPAddress(ip_address(address))]), critical=False
            )
        (folder / file).write_bytes(builder.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM))
    (folder / "server.key").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Serve a page over TLS on loopback; yield the URL."""

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"page")

        def log_message(self, *_arguments: object) -> None:
            """Be silent."""

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "server.pem", folder / "server.key")
    with http.server.HTTPServer(("127.0.0.1", 0), Page) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield f"https://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize(("address", "problem"), [("127.0.0.1", ""), ("192.0.2.1", "certificate verify failed")])
def test_a_ca_that_go_accepts_is_accepted_and_verified(
    address: str, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = ssl.create_default_context

    def strict(**given: str) -> ssl.SSLContext:
        """Return the context of Python 3.13."""
        context = usual(**given)
        context.verify_flags |= ssl.VERIFY_X509_STRICT
        return context

    monkeypatch.setattr(http_api.ssl, "create_default_context", strict)
    write_certificates(tmp_path, address)
    link = Connection("/nowhere/etcdctl", str(tmp_path / "ca.pem"), None, None, 10.0)
    with serving(tmp_path) as url:
        if not problem:
            assert http_api.fetch_metrics(link, url) == "page"
            return
        with pytest.raises(EtcdctlError, match=problem):
            http_api.fetch_metrics(link, url)
