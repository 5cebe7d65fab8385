# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Encrypt snapshots for recipients and decrypt them with an identity, with age or gpg.

The recipients' keys are public, so the host that takes backups cannot decrypt them. Errors raise SnapshotError and remove the
unfinished file.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence

from ansible_collections.etcdops.headroom.plugins.module_utils._backup import gpg
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.store import SnapshotError
from ansible_collections.etcdops.headroom.plugins.module_utils._base.files import sha256_of_file, sync_and_drop_cache
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import run_etcd_tool

# As gpg says it in the locale C; its status lines say nothing of it.
_NO_SECRET_KEY = "No secret key"
_AGE = ("age1", "ssh-ed25519 ", "ssh-rsa ")


class MissingKeyError(SnapshotError):
    """This user has no key that decrypts the file."""


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
    if program == "gpg":
        for one in recipients:
            _public_key(one)
    return program


def _public_key(recipient: str) -> str:
    """Return a recipient's key from the user's keyring, empty for a file. Raises SnapshotError for a recipient that is neither."""
    return "" if os.path.isfile(recipient) else gpg.export_public_key(recipient)


def check_installed(program: str) -> None:
    """Raise SnapshotError if the program is not installed."""
    if shutil.which(program) is None:
        raise SnapshotError(f"{program} is not installed on this host: install its package, or leave encrypt_to empty")


def encrypt(program: str, recipients: Sequence[str], path: str, target: str, timeout: int) -> None:
    """Encrypt a file to ``target``, with mode 0600. Raises SnapshotError."""
    what = f"for {', '.join(recipients)}"
    if program == "age":
        to = [word for one in recipients for word in ("--recipient", one)]
        _run(["age", "--encrypt", "--output", target, *to, path], target, what, timeout)
        return
    with gpg.temporary_home() as home:
        to = []
        for one in recipients:
            key = _public_key(one)
            if key:
                _run(gpg.import_key(home, key), "", what, timeout)
            to += ["--recipient" if key else "--recipient-file", one]
        argv = [*gpg.command_line(home), "--no-autostart", "--trust-model", "always", "--output", target]
        _run([*argv, *to, "--encrypt", path], target, what, timeout)


def requires_identity_file(program: str) -> bool:
    """Return whether decryption needs an identity file: with gpg, if this user has no keyring."""
    return program == "age" or not gpg.users_home()


def decrypt(program: str, identity_file: str, path: str, target: str, timeout: int) -> None:
    """Decrypt a file to ``target``, with mode 0600. Raises SnapshotError, without a key of this user MissingKeyError.

    ``identity_file`` is an age or SSH key for age; for gpg an exported secret key, or empty for the user's keyring.
    """
    check_installed(program)
    if not identity_file and requires_identity_file(program):
        raise MissingKeyError(f"{path} is encrypted: set identity_file to its secret key")
    if identity_file and not os.access(identity_file, os.R_OK):
        raise SnapshotError(
            f"identity_file {identity_file} cannot be read on this host: correct the path or its permissions"
        )
    what = f"{path} with {identity_file or 'the keys of this user'}"
    if program == "age":
        _run(["age", "--decrypt", "--identity", identity_file, "--output", target, path], target, what, timeout)
    elif identity_file:
        with gpg.temporary_home() as home:
            _run(gpg.import_key(home, path=identity_file), "", f"with {identity_file}", timeout)
            _run([*gpg.command_line(home), "--output", target, "--decrypt", path], target, what, timeout)
    else:
        home = gpg.users_home()
        try:
            with gpg.users_agent(home):
                _run([*gpg.command_line(home), "--output", target, "--decrypt", path], target, what, timeout)
        except SnapshotError as error:
            if _NO_SECRET_KEY not in str(error):
                raise
            # The keyring may have public keys only.
            raise MissingKeyError(f"{error}: set identity_file to its secret key") from error


def _run(argv: list[str], target: str, what: str, timeout: int) -> None:
    if target:
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    answer = run_etcd_tool(argv, float(timeout), argv[0], variables={"LC_ALL": "C", "LANGUAGE": ""})
    if answer.returncode == 0:
        return
    if target:
        os.unlink(target)
    output = next(
        (line.strip() for line in answer.stderr.splitlines() if line.strip()), f"exit status {answer.returncode}"
    )
    cause = f"it did not finish within {timeout} s, raise timeout" if answer.returncode is None else output
    verb = "encrypt" if what.startswith("for ") else "decrypt"
    raise SnapshotError(f"{argv[0]} cannot {verb} {what}: {cause}")


def sync_and_hash(path: str) -> tuple[int, str]:
    """Flush a file to the disk and read it back from there. Returns its size in bytes and its SHA-256."""
    sync_and_drop_cache(path)
    return sha256_of_file(path)
