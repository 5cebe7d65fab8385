"""Call etcd's JSON gateway over TLS with a client certificate: one connection for each endpoint, opened on demand."""

from __future__ import annotations

import base64
import contextlib
import http.client
import json
import ssl
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

# What a call raises if the member did not answer, or refused.
Errors = (OSError, http.client.HTTPException)
LOGIN_SECONDS = 10
# How etcd refuses a token: the revision of the users and roles is another one, or the token is unknown.
NO_LONGER_VALID = (400, 401)


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


class Refused(http.client.HTTPException):
    """The member answered, and not with 200, or the session has no token for it yet (status 0)."""

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class Session:
    """The tokens of a user, one for each endpoint, which all connections share.

    The gateway does not know the user of a client certificate, so where authentication is on a client needs a password. A login takes a thread
    of its own: it takes a busy member longer than a request may take, and until then the requests go to other members.
    """

    def __init__(self, name: str, password: str) -> None:
        self.body = {"name": name, "password": password}
        self.lock = threading.Lock()
        self.tokens: dict[str, str] = {}
        self.under_way: set[str] = set()

    def token(self, url: str, context: ssl.SSLContext) -> str:
        """Return the token for an endpoint. Without one, log in and raise Refused."""
        with self.lock:
            if url in self.tokens:
                return self.tokens[url]
            if url not in self.under_way:
                self.under_way.add(url)
                threading.Thread(target=self.log_in, args=(url, context), daemon=True).start()
        raise Refused(f"{url}: logging in")

    def log_in(self, url: str, context: ssl.SSLContext) -> None:
        """Log in at an endpoint, and wait for it; the next call tries again if that failed."""
        endpoint, token = Endpoint(url, context), ""
        with contextlib.suppress(*Errors):
            token = str(endpoint.post("/v3/auth/authenticate", self.body, LOGIN_SECONDS)["token"])
        endpoint.close()
        with self.lock:
            self.under_way.discard(url)
            if token:
                self.tokens[url] = token

    def forget(self, url: str, token: str) -> None:
        """Log in again at the next call, unless another connection did so: a restarted member knows no token."""
        with self.lock:
            if self.tokens.get(url) == token:
                del self.tokens[url]


class Endpoint:
    """A member's client URL with a connection, and a session if authentication is on. For one thread."""

    def __init__(self, url: str, context: ssl.SSLContext, session: Session | None = None) -> None:
        self.url, self.context, self.session = urlsplit(url), context, session
        self.connection: http.client.HTTPSConnection | None = None

    def call(self, path: str, body: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        """Post a request and return the answer. Raises one of Errors if the member did not accept it in time."""
        if not self.session:
            return self.post(path, body, seconds)
        token = self.session.token(self.url.geturl(), self.context)
        try:
            return self.post(path, body, seconds, {"Authorization": token})
        except Refused as error:
            if error.status in NO_LONGER_VALID:
                self.session.forget(self.url.geturl(), token)
            raise

    def post(
        self, path: str, body: Mapping[str, Any], seconds: float, headers: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        """Post a request without the session."""
        return dict(json.loads(self._exchange("POST", path, json.dumps(body).encode(), seconds, headers)))

    def get(self, path: str, seconds: float) -> bytes:
        """Return the answer to a plain request, such as /health."""
        return self._exchange("GET", path, None, seconds)

    def _exchange(
        self, method: str, path: str, body: bytes | None, seconds: float, headers: Mapping[str, str] | None = None
    ) -> bytes:
        try:
            if self.connection is None:
                self.connection = http.client.HTTPSConnection(
                    self.url.hostname or "", self.url.port, timeout=seconds, context=self.context
                )
            if self.connection.sock:
                self.connection.sock.settimeout(seconds)
            self.connection.request(method, path, body, headers or {})
            answer = self.connection.getresponse()
            text = answer.read()
            if answer.status != 200:
                raise Refused(f"{answer.status}: {text[:200]!r}", answer.status)
            return text
        except Errors:
            self.close()
            raise

    def close(self) -> None:
        """Close the connection; the next call opens another one."""
        if self.connection:
            self.connection.close()
        self.connection = None
