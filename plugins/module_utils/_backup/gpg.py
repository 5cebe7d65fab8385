# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run gpg without network access, in a temporary home, so that it changes none of the user's files. Private to the collection.

By default gpg creates ~/.gnupg, leaves agents running, and asks key servers for recipients that it does not know.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator

from ansible_collections.etcdops.headroom.plugins.module_utils._backup.store import SnapshotError
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import run_etcd_tool

_SECONDS = 30.0
_KEYRINGS = ("pubring.kbx", "pubring.gpg", "public-keys.d")


def command_line(home: str) -> list[str]:
    """Return gpg's command line for a home, without any way to the network."""
    offline = ["--disable-dirmngr", "--no-auto-key-locate", "--no-auto-key-retrieve"]
    return ["gpg", "--homedir", home, "--batch", "--quiet", "--no-tty", "--yes", *offline]


@contextlib.contextmanager
def temporary_home() -> Iterator[str]:
    """Yield a home that only this user can enter. Its agents end with it."""
    folder = tempfile.mkdtemp(prefix="headroom-gpg-")
    try:
        yield folder
    finally:
        for action in (["--kill", "all"], ["--remove-socketdir"]):
            with contextlib.suppress(ValueError):
                run_etcd_tool(["gpgconf", "--homedir", folder, *action], 10.0, "gpgconf")
        shutil.rmtree(folder, ignore_errors=True)


def users_home() -> str:
    """Return the home of the user's own keys; empty if there are none."""
    home = os.environ.get("GNUPGHOME") or os.path.expanduser("~/.gnupg")
    return home if any(os.path.exists(os.path.join(home, name)) for name in _KEYRINGS) else ""


@contextlib.contextmanager
def users_agent(home: str) -> Iterator[None]:
    """End the user's agent afterwards, unless it ran before: somebody may have entered a passphrase."""
    ran = run_etcd_tool(
        ["gpg-connect-agent", "--homedir", home, "--no-autostart", "/bye"], _SECONDS, "gpg-connect-agent"
    )
    try:
        yield
    finally:
        # gpg-connect-agent succeeds without an agent, but says so.
        if ran.returncode != 0 or "no gpg-agent running" in ran.stderr:
            with contextlib.suppress(ValueError):
                run_etcd_tool(["gpgconf", "--homedir", home, "--kill", "gpg-agent"], 10.0, "gpgconf")


def export_public_key(name: str) -> str:
    """Return a public key of the user's keyring in ASCII, without writing anything there. Raises SnapshotError without one."""
    home = users_home()
    found = ""
    if home:
        reading = [
            "--no-options",
            "--no-autostart",
            "--lock-never",
            "--no-auto-check-trustdb",
            "--no-permission-warning",
        ]
        found = run_etcd_tool([*command_line(home), *reading, "--armor", "--export", name], _SECONDS, "gpg").stdout
    if "BEGIN PGP PUBLIC KEY" not in found:
        where = f"a key in {home}" if home else "a key of this user, who has no keyring"
        raise SnapshotError(
            f"encrypt_to: {name!r} is neither a file on this host nor {where}: write the path of a file with the public key "
            "('gpg --armor --export NAME' writes one)"
        )
    return found


def import_key(home: str, key: str = "", path: str = "") -> list[str]:
    """Return the command that imports a key into a temporary home: the text ``key``, which is written there, or a file."""
    if key:
        path = os.path.join(home, "recipient.asc")
        with open(path, "w", encoding="ascii") as stream:
            stream.write(key)
    return [*command_line(home), "--import", path]
