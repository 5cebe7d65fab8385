# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""etcd_role, etcd_user and etcd_auth on real etcd of each series, whose clients are known by their certificates."""

from __future__ import annotations

import importlib
import json
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.testing import patch_module_args
from ansible_collections.etcdops.headroom.plugins.module_utils._auth.access_control import (
    NO_PASSWORD,
    RIGHT,
    AccessControl,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import Connection

from bench.common.member import Member, binary, releases, running
from bench.memory import load
from tests.integration.client import REQUEST_SECONDS

VERSIONS = {version.rpartition(".")[0]: version for version in releases()}
MODULES = "ansible_collections.etcdops.headroom.plugins.modules."
PORT = 26110
PASSWORDS = {"root": "root-Secret%s", "shop": "shöp-Secret", "new": "another-Secret"}

Run = Callable[..., dict[str, Any]]


class CommandLines(threading.Thread):
    """Collects the command lines of all processes until it is stopped."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.seen: set[bytes] = set()
        self._done = threading.Event()

    def run(self) -> None:
        while not self._done.wait(0.02):
            for process in os.scandir("/proc"):
                if process.name.isdigit():
                    try:
                        self.seen.add(Path(process.path, "cmdline").read_bytes())
                    except OSError:
                        continue

    def stop(self) -> set[bytes]:
        """Return what was collected."""
        self._done.set()
        self.join()
        return self.seen


@pytest.fixture(name="member", params=sorted(VERSIONS))
def real_member(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Member]:
    """A member that asks its clients for certificates, with one of headroom, of a user without roles, and of nobody."""
    folder = load.certificates(tmp_path / "tls")
    for name in ("headroom", "small", "nobody"):
        load.issue(folder, name, f"/CN={name}", [*load.SIGNED, "-addext", "subjectAltName=IP:127.0.0.1"])
    found = Member(VERSIONS[request.param], tmp_path, PORT, tls=folder)
    with running([found]):
        yield found


@pytest.fixture(name="run")
def module_of(member: Member, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return the function that runs a module as Ansible does, as the user headroom."""

    def run(module: str, check: bool = False, certificate: str = "headroom", **arguments: Any) -> dict[str, Any]:
        options = {
            "etcdctl_path": str(binary(member.version, "etcdctl")),
            "endpoints": [member.endpoint],
            "request_timeout": REQUEST_SECONDS,
            "ca_cert": f"{member.tls}/ca.crt",
            "client_cert": f"{member.tls}/{certificate}.crt",
            "client_key": f"{member.tls}/{certificate}.key",
            "_ansible_check_mode": check,
            "_ansible_diff": True,
            **arguments,
        }
        with patch_module_args({name: value for name, value in options.items() if value is not None}):
            with pytest.raises(SystemExit):
                importlib.import_module(MODULES + module).main()
        done = capsys.readouterr()
        assert not [word for word in PASSWORDS.values() if word in done.out + done.err], "a password was printed"
        result: dict[str, Any] = json.loads(done.out)
        return result

    return run


def both(run: Run, module: str, **arguments: Any) -> dict[str, Any]:
    """Run a module in check mode, for real and again. Returns the real result, which must be what was announced."""
    announced = run(module, check=True, **arguments)
    real = run(module, **arguments)
    again = run(module, **arguments)
    assert not any(result.get("failed") for result in (announced, real, again)), (announced, real, again)
    assert real["changed"] and announced["changed"] and announced["diff"] == real["diff"], (announced, real)
    assert again["changed"] is False, again
    return real


def refused(result: dict[str, Any], *parts: str) -> None:
    """Assert that the module failed and said this."""
    assert result.get("failed"), result
    assert not [part for part in parts if part not in result["msg"]], result["msg"]


def test_roles(run: Run) -> None:
    items = [
        {"access": "readwrite", "prefix": "/shop/"},
        {"access": "read", "key": "/a", "range_end": "/c"},
        {"access": "write", "key": "-dash"},
        {"access": "read", "from_key": "zz"},
    ]
    made = both(run, "etcd_role", name="shop", permissions=items)
    assert {frozenset(item.items()) for item in made["permissions"]} == {frozenset(item.items()) for item in items}
    assert made["diff"]["before"] == {} and made["diff"]["after"]["permissions"] == made["permissions"]
    # The same range in other words is the same permission.
    same = {"access": "readwrite", "key": "/shop/", "range_end": "/shop0"}
    assert run("etcd_role", name="shop", permissions=[same])["changed"] is False
    wider = both(run, "etcd_role", name="shop", permissions=[{"access": "readwrite", "key": "/a", "range_end": "/c"}])
    assert {"access": "readwrite", "key": "/a", "range_end": "/c"} in wider["permissions"]
    assert len(wider["permissions"]) == 4
    purged = both(run, "etcd_role", name="shop", permissions=[{"access": "read", "prefix": ""}], purge=True)
    assert purged["permissions"] == [{"access": "read", "prefix": ""}]
    assert both(run, "etcd_role", name="shop", purge=True)["permissions"] == []
    assert both(run, "etcd_role", name="shop", state="absent")["diff"]["after"] == {}


def test_roles_that_cannot_be(run: Run) -> None:
    def role(**item: Any) -> dict[str, Any]:
        return run("etcd_role", name="shop", permissions=[{"access": "read", "key": "/ok"}, {"access": "read", **item}])

    refused(role(key="b", range_end="a"), "item 2: range_end 'a' is not after key 'b'", "swap them")
    refused(role(key=""), "item 2: key is empty", "prefix: ''")
    refused(role(), "no range set; set one of key, prefix and from_key")
    refused(role(key="/ok", access="write"), "the key /ok has the access read and write")
    refused(run("etcd_role", name="root"), "name is 'root'", "choose another name")
    assert run("etcd_role", name="shop", state="absent")["changed"] is False, "nothing was created"


def users(run: Run) -> None:
    """Create root, the user headroom of the certificates, and two others."""
    root = {"name": "root", "password": PASSWORDS["root"], "roles": ["root"], "update_password": "on_create"}
    both(run, "etcd_user", **root)
    both(run, "etcd_user", name="headroom", no_password=True, roles=["root"])
    both(run, "etcd_user", name="small", no_password=True)


def test_enabling_is_refused_if_it_would_lock_out(run: Run) -> None:
    enable = {"state": "enabled", "root_password": PASSWORDS["root"]}
    refused(run("etcd_auth", **enable), "user root does not exist", "user headroom, as which", "Nothing was changed")
    run("etcd_user", name="root", password=PASSWORDS["root"])
    run("etcd_user", name="headroom", no_password=True)
    lacks = run("etcd_auth", **enable)
    refused(lacks, "user root lacks the role root", "user headroom, as which this task would log in afterwards, lacks")
    run("etcd_user", name="root", roles=["root"])
    run("etcd_user", name="headroom", roles=["root"])
    refused(run("etcd_auth", state="enabled"), "root_password is not set")
    refused(run("etcd_auth", certificate="nobody", **enable), "user nobody, as which")
    refused(run("etcd_auth", state="enabled", root_password="has space"), "has a space or a control character")
    assert run("etcd_auth")["enabled"] is False


def test_a_certificate_with_another_name_must_keep_the_access(run: Run, member: Member) -> None:
    """Without authentication any name has access; with it only a user with the role root."""
    users(run)
    assert not run("etcd_auth", next_user="ops").get("failed")
    assert run("etcd_auth", state="enabled", root_password=PASSWORDS["root"])["enabled"]
    change = "authentication is on, and the common name of the client certificate would change from headroom to"
    refused(run("etcd_auth", next_user="ops"), f"{change} ops, but user ops does not exist", "or keep headroom")
    refused(run("etcd_auth", next_user="small"), f"{change} small, but user small lacks the role root")
    refused(run("etcd_auth", next_user=""), f"{change} none, but the new certificate has no common name")
    run("etcd_user", name="ops", no_password=True, roles=["root"])
    for accepted in ("ops", "root"):
        result = run("etcd_auth", next_user=accepted)
        assert result["changed"] is False and result["user"] == "headroom", result
    # A certificate without access is replaced, because that is the repair.
    for certificate in ("nobody", "small"):
        assert not run("etcd_auth", certificate=certificate, next_user="headroom").get("failed")
    unreachable = run("etcd_auth", next_user="ops", endpoints=["https://127.0.0.1:1"])
    refused(unreachable, "cannot be read whether authentication is on", "keep headroom until the members answer")


def test_members_must_keep_taking_users_from_certificates(run: Run, member: Member) -> None:
    """Without authentication every client has access anyway. Members whose status is unknown may need the restart."""
    off = {"next_client_cert_auth": False}
    users(run)
    assert not run("etcd_auth", **off).get("failed")
    assert run("etcd_auth", state="enabled", root_password=PASSWORDS["root"])["enabled"]
    lost = "authentication is on, and without client-cert-auth etcd takes no user from a client certificate"
    refused(run("etcd_auth", **off), lost, "set client-cert-auth to true, or disable authentication first")
    refused(run("etcd_auth", certificate="nobody", **off), lost)
    for accepted in (
        {"next_client_cert_auth": True},
        {**off, "endpoints": ["https://127.0.0.1:1"]},
        {**off, "certificate": "missing"},
        {**off, "login_user": "root", "login_password": PASSWORDS["root"]},
    ):
        result = run("etcd_auth", **accepted)
        assert result.get("changed") is False and not result.get("failed"), (accepted, result)
    member.stop()
    member.flags = ("--client-cert-auth=false",)
    with running([member]):
        refused(run("etcd_auth", **off), lost)


def test_authentication(run: Run, tmp_path: Path) -> None:
    users(run)
    lines = CommandLines()
    lines.start()
    enabled = both(run, "etcd_auth", state="enabled", root_password=PASSWORDS["root"])
    assert enabled["enabled"] and enabled["user"] == "headroom"
    refused(
        run("etcd_auth", state="enabled", root_password=PASSWORDS["new"]), "root_password is not the password of root"
    )
    # A password is proved by logging in.
    both(run, "etcd_role", name="shop", permissions=[{"access": "readwrite", "prefix": "/shop/"}])
    made = both(run, "etcd_user", name="shop", password=PASSWORDS["shop"], roles=["shop"])
    assert made["password_changed"] is False and made["roles"] == ["shop"]
    (tmp_path / "password").write_text(PASSWORDS["new"] + "\n")
    changed = both(run, "etcd_user", name="shop", password_file=str(tmp_path / "password"))
    assert changed["password_changed"] is True
    old = {"name": "shop", "password": PASSWORDS["shop"]}
    assert run("etcd_user", **old, update_password="on_create")["changed"] is False
    assert not [line for line in lines.stop() for word in PASSWORDS.values() if word.encode() in line]
    assert any(b"etcdctl" in line for line in lines.seen), "the processes were seen"
    # What nobody can change.
    refused(run("etcd_user", name="shop", no_password=True), "created with a password", "Nothing was changed")
    refused(run("etcd_user", name="small", password=PASSWORDS["new"]), "created without a password")
    assert run("etcd_user", name="small", no_password=True)["changed"] is False
    refused(run("etcd_user", name="root", state="absent"), "cannot be deleted while authentication is on")
    refused(run("etcd_user", name="headroom", state="absent"), "this task works as that user")
    refused(run("etcd_user", name="headroom", purge_roles=True), "would lose the role root")
    refused(
        run("etcd_user", name="shop", roles=["sh0p"]),
        "role sh0p does not exist, so user shop cannot get it (existing roles: shop",
    )
    assert "sh0p" in str(run("etcd_user", check=True, name="shop", roles=["sh0p"])["warnings"])
    both(run, "etcd_user", name="shop", state="absent")
    # Wrong credentials.
    refused(run("etcd_user", certificate="nobody", name="x"), "does not exist", "set login_user")
    refused(run("etcd_user", certificate="small", name="x"), "user small", "lacks the role root")
    wrong = run("etcd_user", name="x", login_user="root", login_password=PASSWORDS["new"])
    refused(wrong, "etcd refuses the password of root", "login_password")
    refused(run("etcd_user", name="x", login_user="root"), "login_user is set without login_password")
    # Root's password works without the certificate's user, and gets everybody out again.
    root = {"certificate": "nobody", "login_user": "root", "login_password": PASSWORDS["root"]}
    assert both(run, "etcd_auth", state="disabled", **root)["enabled"] is False
    assert run("etcd_user", name="root", state="absent")["changed"] is True


def access_to(member: Member) -> AccessControl:
    """The users as the user headroom of the certificates sees them."""
    files = [f"{member.tls}/{name}" for name in ("ca.crt", "headroom.crt", "headroom.key")]
    link = Connection(str(binary(member.version, "etcdctl")), *files, float(REQUEST_SECONDS))
    return AccessControl(link, [member.endpoint])


def test_a_password_that_is_set_while_authentication_is_off(run: Run, member: Member) -> None:
    """etcd ignores it, and reports success, for a user that was created without one, so the user is created again."""
    users(run)
    access = access_to(member)
    for name in ("ignored", "shop", "killed"):
        run("etcd_user", name=name, no_password=True)
    access.set_password("ignored", PASSWORDS["shop"])
    run("etcd_role", name="shop")
    run("etcd_role", name="other")
    access.grant_role("shop", "other")
    wanted = {"name": "shop", "password": PASSWORDS["shop"], "roles": ["shop"]}
    revision = access.status().revision
    announced = run("etcd_user", check=True, **wanted)
    assert access.status().revision == revision
    real = run("etcd_user", **wanted)
    assert real["password_changed"] and real["diff"] == announced["diff"] and real["roles"] == ["other", "shop"], real
    assert sorted(access.user_roles("shop")) == ["other", "shop"]
    assert run("etcd_user", **{**wanted, "password": PASSWORDS["new"]})["password_changed"]
    # A run that dies after it has deleted the user.
    access.delete_user("killed")
    assert run("etcd_user", **{**wanted, "name": "killed"})["roles"] == ["shop"]
    assert run("etcd_auth", state="enabled", root_password=PASSWORDS["root"])["enabled"]
    assert access.authenticate("ignored", PASSWORDS["shop"]) == NO_PASSWORD
    assert access.authenticate("shop", PASSWORDS["new"]) == RIGHT
    assert access.authenticate("killed", PASSWORDS["shop"]) == RIGHT
    assert run("etcd_user", **{**wanted, "password": PASSWORDS["new"]})["changed"] is False


def test_authentication_is_disabled_again_if_the_proof_fails(run: Run, member: Member) -> None:
    """The members do not take users from certificates: the user of the certificate exists, and does not work."""
    users(run)
    member.stop()
    member.flags = ("--client-cert-auth=false",)
    with running([member]):
        result = run("etcd_auth", state="enabled", root_password=PASSWORDS["root"])
        refused(
            result, "authentication is on, and etcd sees no user in the request", "Authentication was disabled again"
        )
        assert run("etcd_auth")["enabled"] is False
        logged_in = {"login_user": "root", "login_password": PASSWORDS["root"]}
        assert run("etcd_auth", state="enabled", root_password=PASSWORDS["root"], **logged_in)["enabled"] is True
