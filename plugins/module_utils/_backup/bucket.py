# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read and write objects in a bucket of Amazon S3 or a compatible store, through boto3.

boto3 (1.24 or newer) is imported only if a bucket is used. All errors are raised as BucketError.
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
# The region that servers without regions expect in a signature.
_REGION = "us-east-1"
# Network timeouts in seconds, and attempts per request.
_NETWORK = {"connect_timeout": 5, "read_timeout": 60, "retries": {"mode": "standard", "total_max_attempts": 3}}
# Bytes per part of an upload. The protocol allows 10,000 parts, so an object can have 640 GB.
_PART = 64 << 20
_CHUNK = 1 << 20
_REFUSALS = {
    "InvalidAccessKeyId": "the access key is unknown",
    "SignatureDoesNotMatch": "the secret key does not match the access key",
    "ExpiredToken": "the credentials have expired",
    "AccessDenied": "these credentials lack the permission",
}
_WRONG_REGION = ("PermanentRedirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException")


class BucketError(ValueError):
    """A bucket that cannot be used, or an operation on it that failed."""


class BucketSettingError(BucketError):
    """An invalid setting of a bucket; the text begins with the setting's name."""


@dataclass(frozen=True)
class Bucket:
    """A bucket and its connection settings.

    ``prefix`` starts all object names, and is empty or ends with a slash. An empty ``endpoint_url`` means Amazon. The credentials
    are ``access_key`` and ``secret_key``, or section ``default`` of a ``credentials_file`` in the format of Amazon's tools, or
    those that boto3 finds by itself, such as an instance role.
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
        """Return the s3:// URL of an object, or of the prefix."""
        return f"s3://{self.name}/{self.prefix}{name}"

    @property
    def server(self) -> str:
        """The server's URL, for messages."""
        return self.endpoint_url or "Amazon S3"


@dataclass(frozen=True)
class Entry:
    """An object in the bucket: size in bytes, time of writing in seconds since 1970."""

    size: int
    written: float


def is_boto3_installed() -> bool:
    """Return whether boto3 can be imported."""
    return importlib.util.find_spec("boto3") is not None


def check_bucket(bucket: Bucket, *, files: bool = True) -> None:
    """Raise BucketError for invalid settings, without contacting the server."""
    if _NAME.fullmatch(bucket.name) is None:
        raise BucketError(
            f"the bucket's name is {bucket.name!r}, but must be 3 to 63 lower-case letters, digits, dots and hyphens"
        )
    if _PREFIX.fullmatch(bucket.prefix) is None or {".", ".."} & set(bucket.prefix.split("/")):
        raise BucketSettingError(
            f"prefix is {bucket.prefix!r}: write folders, each followed by a slash, such as etcd/production/"
        )
    if bucket.endpoint_url and _URL.fullmatch(bucket.endpoint_url) is None:
        raise BucketSettingError(
            f"endpoint_url is {bucket.endpoint_url!r}: write https://HOST or https://HOST:PORT, or leave it out for Amazon S3"
        )
    if bool(bucket.access_key) != bool(bucket.secret_key):
        missing = "secret_key" if bucket.access_key else "access_key"
        raise BucketSettingError(f"{missing} is missing: set both access_key and secret_key")
    if bucket.access_key and bucket.credentials_file:
        raise BucketSettingError("access_key and credentials_file are both set: set one of them")
    for name in ("ca_cert", "credentials_file") if files else ():
        path = getattr(bucket, name)
        if path and not os.access(path, os.R_OK):
            raise BucketSettingError(
                f"{name} is {path}, which cannot be read on this host: copy the file to the host, or correct the path or its permissions"
            )


def connect(bucket: Bucket) -> Objects:
    """Return a client for the bucket's objects, which contacts the server on its first use. Raises BucketError."""
    check_bucket(bucket)
    try:
        boto3 = importlib.import_module("boto3")
    except ImportError as error:
        raise BucketError("a bucket needs Python's boto3 on this host: install its package, python3-boto3") from error
    with _translate_errors(bucket):
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
    """Return boto3's settings. Few other servers support host names per bucket or Amazon's newest checksums."""
    config = importlib.import_module("botocore.config").Config
    settings: dict[str, Any] = {**_NETWORK, "signature_version": "s3v4"}
    if own_server:
        settings["s3"] = {"addressing_style": "path"}
    try:
        return config(**settings, request_checksum_calculation="when_required")
    except TypeError:  # boto3 before 1.36 adds no checksums by default
        return config(**settings)


class Objects:
    """The objects of a bucket below its prefix. Every method raises BucketError."""

    def __init__(self, bucket: Bucket, client: Any) -> None:
        self.bucket, self._client = bucket, client

    def entries(self) -> dict[str, Entry]:
        """Return the objects by name, without those in subfolders."""
        found = {}
        with _translate_errors(self.bucket):
            pages = self._client.get_paginator("list_objects_v2").paginate(
                Bucket=self.bucket.name, Prefix=self.bucket.prefix, Delimiter="/"
            )
            for page in pages:
                for one in page.get("Contents", []):
                    name = one["Key"][len(self.bucket.prefix) :]
                    found[name] = Entry(one["Size"], one["LastModified"].timestamp())
        return found

    def read(self, name: str, limit: int) -> bytes:
        """Return at most ``limit`` bytes of a small object."""
        with _translate_errors(self.bucket), contextlib.closing(self._get(name)) as body:
            content: bytes = body.read(limit)
            return content

    def write(self, name: str, content: bytes) -> None:
        """Write a small object atomically."""
        with _translate_errors(self.bucket):
            self._client.put_object(Bucket=self.bucket.name, Key=self._key(name), Body=content)

    def claim(self, name: str, content: bytes) -> bool:
        """Write a small object unless one of that name exists, safely against races; return whether it was written.

        Uses HTTP's If-None-Match, for which older boto3 has no parameter, and which some stores ignore.
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
        """Upload a file of this host atomically. ``timeout`` is in seconds."""
        config = importlib.import_module("boto3.s3.transfer").TransferConfig(
            multipart_threshold=_PART, multipart_chunksize=_PART, use_threads=False
        )
        with _translate_errors(self.bucket), open(path, "rb") as stream:
            self._client.upload_fileobj(
                stream, self.bucket.name, self._key(name), Config=config, Callback=_deadline_check(timeout, "uploading")
            )

    def download(self, name: str, path: str, timeout: int) -> tuple[int, str]:
        """Download an object to ``path``, which must not exist. Returns its size in bytes and SHA-256."""
        with open(path, "xb") as stream:
            found = self._stream(name, stream.write, timeout)
            stream.flush()
            os.fsync(stream.fileno())
        return found

    def sha256(self, name: str, timeout: int) -> tuple[int, str]:
        """Read a whole object. Returns its size in bytes and SHA-256."""
        return self._stream(name, lambda chunk: None, timeout)

    def remove(self, name: str) -> None:
        """Remove an object, if it exists."""
        with _translate_errors(self.bucket):
            self._client.delete_object(Bucket=self.bucket.name, Key=self._key(name))

    def abort_stale_uploads(self, before: float, names: re.Pattern[str]) -> None:
        """Abort unfinished uploads begun before this time, whose parts are invisible but stored and billed.

        names: the pattern of the names of this cluster's snapshots, because others may use the bucket with the same prefix.
        """
        with _translate_errors(self.bucket):
            asked = {"Bucket": self.bucket.name, "Prefix": self.bucket.prefix}
            for page in self._client.get_paginator("list_multipart_uploads").paginate(**asked):
                for one in page.get("Uploads", []):
                    name = one["Key"][len(self.bucket.prefix) :]
                    if names.fullmatch(name) and one["Initiated"].timestamp() < before:
                        self._client.abort_multipart_upload(
                            Bucket=self.bucket.name, Key=one["Key"], UploadId=one["UploadId"]
                        )

    def _key(self, name: str) -> str:
        return self.bucket.prefix + name

    def _get(self, name: str) -> Any:
        return self._client.get_object(Bucket=self.bucket.name, Key=self._key(name))["Body"]

    def _stream(self, name: str, consume: Callable[[bytes], object], timeout: int) -> tuple[int, str]:
        digest, size, check_deadline = hashlib.sha256(), 0, _deadline_check(timeout, "reading")
        with _translate_errors(self.bucket), contextlib.closing(self._get(name)) as body:
            for chunk in body.iter_chunks(_CHUNK):
                digest.update(chunk)
                size += len(chunk)
                consume(chunk)
                check_deadline(len(chunk))
        return size, digest.hexdigest()


def _deadline_check(timeout: int, doing: str) -> Callable[[int], None]:
    """Return a progress callback that raises BucketError once the timeout has passed."""
    deadline = time.monotonic() + timeout

    def check_deadline(_bytes: int) -> None:
        if time.monotonic() > deadline:
            raise BucketError(f"{doing} did not finish within {timeout} s: raise timeout")

    return check_deadline


@contextlib.contextmanager
def _translate_errors(bucket: Bucket) -> Iterator[None]:
    """Raise boto3's exceptions as BucketError."""
    known = importlib.import_module("botocore.exceptions")
    try:
        yield
    except known.ClientError as error:
        raise BucketError(_refusal(bucket, error.response.get("Error", {}))) from error
    except (known.NoCredentialsError, known.PartialCredentialsError) as error:
        raise BucketError(
            "no credentials were found: set an access key, a credentials file, or an instance role"
        ) from error
    except (known.HTTPClientError, known.ConnectionError) as error:
        if "CERTIFICATE_VERIFY_FAILED" in str(error):
            raise BucketError(f"the certificate of {bucket.server} is not trusted: set ca_cert to its CA") from error
        raise BucketError(f"{bucket.server} cannot be reached ({_cause(error)}): check endpoint_url") from error
    except known.BotoCoreError as error:
        raise BucketError(str(error)) from error


def _refusal(bucket: Bucket, error: dict[str, Any]) -> str:
    """Explain a server's error response. ``error`` is its Code and Message."""
    code, text = str(error.get("Code", "")), str(error.get("Message", ""))
    if code == "NoSuchBucket":
        return f"{bucket.server} has no bucket {bucket.name}: create it, or set another name"
    if code in _WRONG_REGION:
        return (
            f"the bucket {bucket.name} is in another region than {bucket.region or 'the default'}: set region ({text})"
        )
    if code in _REFUSALS:
        return f"{bucket.server} refuses the request: {_REFUSALS[code]} ({code})"
    return f"{bucket.server} answers {code}: {text}"


def _cause(error: Exception) -> str:
    """Return the innermost cause of a library's exception, without its error number."""
    text = re.sub(r"\[(?:Errno|SSL)[^]]*\] ?", "", str(error.__context__ or error))
    return text.rpartition(": ")[2].strip("()'\" ")
