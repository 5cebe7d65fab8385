# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Encrypt snapshots for recipients and decrypt them with an identity, with age or gpg.

The recipients' keys are public, so the host that takes backups cannot decrypt them. Errors raise SnapshotError and remove the
unfinished file.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence

from ansible_collections.etcdops.headroom.plugins.module_utils._backup.store import SnapshotError
from ansible_collections.etcdops.headroom.plugins.module_utils._base.files import sha256_of_file, sync_path
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import run_etcd_tool

_AGE = ("age1", "ssh-ed25519 ", "ssh-rsa ")


def choose_program(recipients: Sequence[str]) -> str:
    """Return ``age`` for recipients with keys of age or SSH, ``gpg`` for others, empty without recipients.

    Raises SnapshotError for recipients of both kinds, an invalid one, or a program that is not installed.
    """
    if not recipients:
        return ""
    invalid = [one for one in recipients if not one.strip() or one.startswith("-") or "\n" in one]
    if invalid:
        raise SnapshotError(
            f"encrypt_to: {invalid[0]!r} is not a recipient: write an age key (age1…), an SSH key, or a key's name in gpg"
        )
    with_age = [one for one in recipients if one.startswith(_AGE)]
    if with_age and len(with_age) < len(recipients):
        other = next(one for one in recipients if one not in with_age)
        raise SnapshotError(
            f"encrypt_to: {with_age[0]!r} is for age and {other!r} for gpg: use recipients of one program"
        )
    program = "age" if with_age else "gpg"
    check_installed(program)
    return program


def check_installed(program: str) -> None:
    """Raise SnapshotError if the program is not installed."""
    if shutil.which(program) is None:
        raise SnapshotError(f"{program} is not installed on this host: install its package, or leave encrypt_to empty")


def encrypt(program: str, recipients: Sequence[str], path: str, target: str, timeout: int) -> None:
    """Encrypt a file to ``target``, with mode 0600. Raises SnapshotError."""
    with (
        _temporary_keyring()
        if program == "gpg" and all(map(os.path.isfile, recipients))
        else contextlib.nullcontext("") as home
    ):
        argv = ["age", "--encrypt", "--output", target]
        argv += [word for one in recipients for word in ("--recipient", one)] + [path]
        if program == "gpg":
            argv = [*_gpg(home), "--trust-model", "always", "--output", target]
            flag = "--recipient-file" if home else "--recipient"
            argv += [word for one in recipients for word in (flag, one)] + ["--encrypt", path]
        _run(argv, target, f"for {', '.join(recipients)}", timeout)


def decrypt(program: str, identity_file: str, path: str, target: str, timeout: int) -> None:
    """Decrypt a file to ``target``, with mode 0600. Raises SnapshotError.

    ``identity_file`` is an age or SSH key for age; for gpg an exported secret key, or empty for the user's keyring.
    """
    check_installed(program)
    if not identity_file and program == "age":
        raise SnapshotError(f"{path} is encrypted: set identity_file to its secret key")
    if identity_file and not os.access(identity_file, os.R_OK):
        raise SnapshotError(
            f"identity_file {identity_file} cannot be read on this host: correct the path or its permissions"
        )
    with _temporary_keyring() if program == "gpg" and identity_file else contextlib.nullcontext("") as home:
        argv = ["age", "--decrypt", "--identity", identity_file, "--output", target, path]
        if program == "gpg":
            if identity_file:
                _run([*_gpg(home), "--import", identity_file], "", f"with {identity_file}", timeout)
            argv = [*_gpg(home), "--output", target, "--decrypt", path]
        _run(argv, target, f"{path} with {identity_file or 'the keys of this user'}", timeout)


def _gpg(home: str) -> list[str]:
    return ["gpg", "--batch", "--quiet", "--no-tty", "--yes", *(["--homedir", home] if home else [])]


@contextlib.contextmanager
def _temporary_keyring() -> Iterator[str]:
    """Yield a temporary home for gpg, so that nothing is added to the user's keyring."""
    folder = tempfile.mkdtemp(prefix="headroom-gpg-")
    try:
        yield folder
    finally:
        with contextlib.suppress(ValueError):
            run_etcd_tool(["gpgconf", "--homedir", folder, "--kill", "all"], 10.0, "gpgconf")
        shutil.rmtree(folder, ignore_errors=True)


def _run(argv: list[str], target: str, what: str, timeout: int) -> None:
    if target:
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    answer = run_etcd_tool(argv, float(timeout), argv[0])
    if answer.returncode == 0:
        return
    if target:
        os.unlink(target)
    output = next(
        (line.strip() for line in answer.stderr.splitlines() if line.strip()), f"exit status {answer.returncode}"
    )
    cause = f"it did not finish within {timeout} s, raise timeout" if answer.returncode is None else output
    verb = "decrypt" if "decrypt" in "".join(argv) or "--import" in argv else "encrypt"
    raise SnapshotError(f"{argv[0]} cannot {verb} {what}: {cause}")


def sync_and_hash(path: str) -> tuple[int, str]:
    """Flush a file to the disk. Returns its size in bytes and its SHA-256."""
    found = sha256_of_file(path)
    sync_path(path)
    return found
