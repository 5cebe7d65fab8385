# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A bucket of Amazon S3 or of a store that speaks its protocol, by way of boto3. Private to the collection.

boto3 (1.24 or newer) is asked for only when a bucket is: hosts without one need none. Whatever goes wrong is one BucketError
in words for an operator.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import importlib.util
import os
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

_NAME = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_PREFIX = re.compile(r"(?:[A-Za-z0-9._=-]+/)*")
_URL = re.compile(r"https?://[^/\s?#]+/?")
# What servers that check no region expect in a signature.
_REGION = "us-east-1"
# Each wait for the network in seconds, and how often a request is tried.
_PATIENCE = {"connect_timeout": 5, "read_timeout": 60, "retries": {"mode": "standard", "total_max_attempts": 3}}
# Parts of an upload: the protocol takes 10,000 of them, so that 640 GB fit.
_PART = 64 << 20
_CHUNK = 1 << 20
_REFUSED = {
    "InvalidAccessKeyId": "it does not know the access key",
    "SignatureDoesNotMatch": "the secret key does not fit the access key",
    "ExpiredToken": "the credentials have expired",
    "AccessDenied": "these credentials may not do that",
}
_MOVED = ("PermanentRedirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException")


class BucketError(ValueError):
    """A bucket that cannot be used, or not for this."""


@dataclass(frozen=True)
class Bucket:
    """Which bucket, and how it is reached.

    ``prefix`` is what all names in it start with, empty or with a slash at its end. An empty ``endpoint_url`` is Amazon's. The
    credentials are ``access_key`` and ``secret_key``, or those of a ``credentials_file`` as Amazon's tools read it (its section
    ``default``), or what boto3 finds by itself, such as the role of an instance.
    """

    name: str
    prefix: str = ""
    endpoint_url: str = ""
    region: str = ""
    ca_cert: str = ""
    access_key: str = field(default="", repr=False)
    secret_key: str = field(default="", repr=False)
    credentials_file: str = ""

    def url(self, name: str = "") -> str:
        """Return what a file in it is called by operators' tools."""
        return f"s3://{self.name}/{self.prefix}{name}"

    @property
    def place(self) -> str:
        """The server's URL, as far as it is known."""
        return self.endpoint_url or "Amazon S3"


@dataclass(frozen=True)
class Entry:
    """A file in the bucket: its size in bytes and when it was written, in seconds since 1970."""

    size: int
    written: float


def available() -> bool:
    """Whether boto3 is there."""
    return importlib.util.find_spec("boto3") is not None


def check(bucket: Bucket) -> None:
    """Raise BucketError for what cannot be meant. Asks nobody."""
    if _NAME.fullmatch(bucket.name) is None:
        raise BucketError(
            f"the bucket's name is {bucket.name!r}, but must be 3 to 63 lower-case letters, digits, dots and hyphens"
        )
    if _PREFIX.fullmatch(bucket.prefix) is None or {".", ".."} & set(bucket.prefix.split("/")):
        raise BucketError(
            f"prefix is {bucket.prefix!r}: write folders with a slash after each, such as etcd/production/"
        )
    if bucket.endpoint_url and _URL.fullmatch(bucket.endpoint_url) is None:
        raise BucketError(
            f"endpoint_url is {bucket.endpoint_url!r}: write https://HOST or https://HOST:PORT, or leave it out for Amazon S3"
        )
    if bool(bucket.access_key) != bool(bucket.secret_key):
        missing = "secret_key" if bucket.access_key else "access_key"
        raise BucketError(f"{missing} is missing: access_key and secret_key belong together")
    if bucket.access_key and bucket.credentials_file:
        raise BucketError("access_key and credentials_file are both set: name one of them")
    for name in ("ca_cert", "credentials_file"):
        path = getattr(bucket, name)
        if path and not os.access(path, os.R_OK):
            raise BucketError(f"{name} is {path}, which cannot be read on this host")


def connect(bucket: Bucket) -> Objects:
    """Return the bucket's files. Raises BucketError; the server is asked with the first of them."""
    check(bucket)
    try:
        boto3 = importlib.import_module("boto3")
    except ImportError as error:
        raise BucketError("a bucket needs Python's boto3 on this host: install its package, python3-boto3") from error
    with _clear(bucket):
        core = importlib.import_module("botocore.session").Session()
        if bucket.credentials_file:
            core.set_config_variable("credentials_file", bucket.credentials_file)
            core.set_config_variable("profile", "default")
        region = bucket.region or (_REGION if bucket.endpoint_url else None)
        return Objects(
            bucket,
            boto3.session.Session(botocore_session=core).client(
                "s3",
                endpoint_url=bucket.endpoint_url or None,
                region_name=region,
                verify=bucket.ca_cert or None,
                aws_access_key_id=bucket.access_key or None,
                aws_secret_access_key=bucket.secret_key or None,
                config=_config(bool(bucket.endpoint_url)),
            ),
        )


def _config(own_server: bool) -> Any:
    """Return boto3's settings. Few servers but Amazon's give each bucket a host name, or know Amazon's newest checksums."""
    config = importlib.import_module("botocore.config").Config
    settings: dict[str, Any] = {**_PATIENCE, "signature_version": "s3v4"}
    if own_server:
        settings["s3"] = {"addressing_style": "path"}
    try:
        return config(**settings, request_checksum_calculation="when_required")
    except TypeError:  # before 1.36, which added no checksums by itself
        return config(**settings)


class Objects:
    """The files of a bucket below its prefix. Every method raises BucketError."""

    def __init__(self, bucket: Bucket, client: Any) -> None:
        self.bucket, self._client = bucket, client

    def entries(self) -> dict[str, Entry]:
        """Return the files by name, without those in folders below."""
        found = {}
        with _clear(self.bucket):
            pages = self._client.get_paginator("list_objects_v2").paginate(
                Bucket=self.bucket.name, Prefix=self.bucket.prefix, Delimiter="/"
            )
            for page in pages:
                for one in page.get("Contents", []):
                    name = one["Key"][len(self.bucket.prefix) :]
                    found[name] = Entry(one["Size"], one["LastModified"].timestamp())
        return found

    def read(self, name: str, most: int) -> bytes:
        """Return the content of a small file, of which no more than ``most`` bytes are read."""
        with _clear(self.bucket), contextlib.closing(self._get(name)) as body:
            content: bytes = body.read(most)
            return content

    def write(self, name: str, content: bytes) -> None:
        """Write a small file, which is there as a whole or not at all."""
        with _clear(self.bucket):
            self._client.put_object(Bucket=self.bucket.name, Key=self._key(name), Body=content)

    def claim(self, name: str, content: bytes) -> bool:
        """Write a small file unless there is one of that name, whoever is faster; say whether it was written.

        By HTTP's If-None-Match, which older versions of boto3 have no parameter for and some stores pass over.
        """

        def conditional(params: dict[str, Any], **_rest: Any) -> None:
            params["headers"]["If-None-Match"] = "*"

        event = "before-call.s3.PutObject"
        self._client.meta.events.register(event, conditional)
        try:
            self.write(name, content)
        except BucketError as error:
            if "PreconditionFailed" in str(error):
                return False
            raise
        finally:
            self._client.meta.events.unregister(event, conditional)
        return True

    def upload(self, path: str, name: str, timeout: int) -> None:
        """Copy a file of this host; it is there as a whole or not at all. ``timeout`` is in seconds."""
        config = importlib.import_module("boto3.s3.transfer").TransferConfig(
            multipart_threshold=_PART, multipart_chunksize=_PART, use_threads=False
        )
        with _clear(self.bucket), open(path, "rb") as stream:
            self._client.upload_fileobj(
                stream, self.bucket.name, self._key(name), Config=config, Callback=_until(timeout, "uploading")
            )

    def download(self, name: str, path: str, timeout: int) -> tuple[int, str]:
        """Copy a file to ``path``, which is new. Returns its size in bytes and SHA-256."""
        with open(path, "xb") as stream:
            found = self._stream(name, stream.write, timeout)
            stream.flush()
            os.fsync(stream.fileno())
        return found

    def sha256(self, name: str, timeout: int) -> tuple[int, str]:
        """Read a whole file back. Returns its size in bytes and SHA-256."""
        return self._stream(name, lambda chunk: None, timeout)

    def remove(self, name: str) -> None:
        """Remove a file; one that is not there is no error."""
        with _clear(self.bucket):
            self._client.delete_object(Bucket=self.bucket.name, Key=self._key(name))

    def abandon_uploads(self, before: float) -> None:
        """Give up uploads that were begun before this time and never ended: their parts are stored, and paid for, unseen."""
        with _clear(self.bucket):
            asked = {"Bucket": self.bucket.name, "Prefix": self.bucket.prefix}
            for page in self._client.get_paginator("list_multipart_uploads").paginate(**asked):
                for one in page.get("Uploads", []):
                    if one["Initiated"].timestamp() < before:
                        self._client.abort_multipart_upload(
                            Bucket=self.bucket.name, Key=one["Key"], UploadId=one["UploadId"]
                        )

    def _key(self, name: str) -> str:
        return self.bucket.prefix + name

    def _get(self, name: str) -> Any:
        return self._client.get_object(Bucket=self.bucket.name, Key=self._key(name))["Body"]

    def _stream(self, name: str, take: Callable[[bytes], object], timeout: int) -> tuple[int, str]:
        running, size, still = hashlib.sha256(), 0, _until(timeout, "reading")
        with _clear(self.bucket), contextlib.closing(self._get(name)) as body:
            for chunk in body.iter_chunks(_CHUNK):
                running.update(chunk)
                size += len(chunk)
                take(chunk)
                still(len(chunk))
        return size, running.hexdigest()


def _until(timeout: int, doing: str) -> Callable[[int], None]:
    """Return what is called with the bytes of each step, and stops a transfer that takes too long."""
    deadline = time.monotonic() + timeout

    def still(_bytes: int) -> None:
        if time.monotonic() > deadline:
            raise BucketError(f"{doing} did not end within {timeout} s: raise timeout")

    return still


@contextlib.contextmanager
def _clear(bucket: Bucket) -> Iterator[None]:
    """Say in a sentence what boto3 raises."""
    known = importlib.import_module("botocore.exceptions")
    try:
        yield
    except known.ClientError as error:
        raise BucketError(_answer(bucket, error.response.get("Error", {}))) from error
    except (known.NoCredentialsError, known.PartialCredentialsError) as error:
        raise BucketError(
            "no credentials were found: set an access key, a credentials file, or a role of this host"
        ) from error
    except (known.HTTPClientError, known.ConnectionError) as error:
        if "CERTIFICATE_VERIFY_FAILED" in str(error):
            raise BucketError(f"the certificate of {bucket.place} is not trusted: set ca_cert to its CA") from error
        raise BucketError(f"{bucket.place} cannot be reached ({_cause(error)}): is endpoint_url right?") from error
    except known.BotoCoreError as error:
        raise BucketError(str(error)) from error


def _answer(bucket: Bucket, error: dict[str, Any]) -> str:
    """What a server's refusal means. ``error`` is its Code and Message."""
    code, text = str(error.get("Code", "")), str(error.get("Message", ""))
    if code == "NoSuchBucket":
        return f"{bucket.place} has no bucket {bucket.name}: make it, or name another"
    if code in _MOVED:
        return f"the bucket {bucket.name} is in another region than {bucket.region or 'the one asked'}: set region ({text})"
    if code in _REFUSED:
        return f"{bucket.place} refuses: {_REFUSED[code]} ({code})"
    return f"{bucket.place} answers {code}: {text}"


def _cause(error: Exception) -> str:
    """The cause below what libraries wrap around it, without its number."""
    text = re.sub(r"\[(?:Errno|SSL)[^]]*\] ?", "", str(error.__context__ or error))
    return text.rpartition(": ")[2].strip("()'\" ")
