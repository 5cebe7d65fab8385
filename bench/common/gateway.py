"""Call etcd's JSON gateway over TLS with a client certificate: one connection for each endpoint, opened on demand."""

from __future__ import annotations

import base64
import http.client
import json
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

# What a call raises if the member did not answer, or refused.
Errors = (OSError, http.client.HTTPException)


def tls_context(folder: Path) -> ssl.SSLContext:
    """Return a context from a folder with ca.crt, client.crt and client.key."""
    context = ssl.create_default_context(cafile=folder / "ca.crt")
    context.load_cert_chain(folder / "client.crt", folder / "client.key")
    return context


def encode(text: str) -> str:
    """Return a key or a value as the gateway expects it."""
    return base64.b64encode(text.encode()).decode()


def decode(text: str) -> str:
    """Return a key or a value from the gateway's answer."""
    return base64.b64decode(text).decode()


class Endpoint:
    """A member's client URL with a connection. For one thread."""

    def __init__(self, url: str, context: ssl.SSLContext) -> None:
        self.url, self.context = urlsplit(url), context
        self.connection: http.client.HTTPSConnection | None = None

    def call(self, path: str, body: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        """Post a request and return the answer. Raises one of Errors if the member did not accept it in time."""
        return dict(json.loads(self._exchange("POST", path, json.dumps(body).encode(), seconds)))

    def get(self, path: str, seconds: float) -> bytes:
        """Return the answer to a plain request, such as /health."""
        return self._exchange("GET", path, None, seconds)

    def _exchange(self, method: str, path: str, body: bytes | None, seconds: float) -> bytes:
        try:
            if self.connection is None:
                self.connection = http.client.HTTPSConnection(
                    self.url.hostname or "", self.url.port, timeout=seconds, context=self.context
                )
            if self.connection.sock:
                self.connection.sock.settimeout(seconds)
            self.connection.request(method, path, body)
            answer = self.connection.getresponse()
            text = answer.read()
            if answer.status != 200:
                raise http.client.HTTPException(f"{answer.status}: {text[:200]!r}")
            return text
        except Errors:
            self.close()
            raise

    def close(self) -> None:
        """Close the connection; the next call opens another one."""
        if self.connection:
            self.connection.close()
        self.connection = None
