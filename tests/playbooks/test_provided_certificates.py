# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Role etcd_tls with certificates of the user (etcd_tls_provided), on this machine, without etcd."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from tests.playbooks.tls_host import REQUIRED_NAMES, Host, early, make_authority, provide, sign_again


def test_a_provided_certificate_may_lose_a_name(host: Host) -> None:
    """The member runs."""
    old = provide(host, "ca", host.folder / "1", f"{REQUIRED_NAMES},DNS:old-lb.example.net")
    new, ca = provide(host, "ca", host.folder / "2"), str(host.authority / "ca.crt")
    assert host.issue(etcd_tls_provided={"ca": ca, **old}) > 0
    assert host.issue(etcd_tls_provided={"ca": ca, **new}, _etcd_tls_member_runs=True) > 0
    assert (host.installed / "server.crt").read_text() == Path(new["server"]["certificate"]).read_text()


def test_a_provided_wildcard_for_peers_is_warned_about(host: Host) -> None:
    given: dict[str, Any] = {"etcd_address": "n1.example.net"}
    pairs = provide(host, "ca", host.folder / "1", names="DNS:*.example.net,IP:127.0.0.1")
    given["etcd_tls_provided"] = {"ca": str(host.authority / "ca.crt"), **pairs}
    done = host.run(**given)
    said = " ".join(done.stdout.split())
    assert done.returncode == 0, said
    assert "resolves the address of n1 to such a name. Add the address, or the full name of the host" in said, said
    assert "Warning: the certificate of the peer" not in host.run(**given).stdout


def test_a_confirmed_provided_ca_needs_no_names_of_the_own_one(deployed: Host) -> None:
    """No member runs. The certificates of Headroom's own CA are also valid for n1, localhost and ::1."""
    make_authority(deployed.folder / "new", "new")
    new = provide(deployed, "new", deployed.folder / "1")
    given = {"ca": str(deployed.folder / "new" / "ca.crt"), **new}
    assert deployed.issue(etcd_tls_provided=given, etcd_tls_new_ca="etcd") > 0
    assert (deployed.installed / "server.crt").read_text() == Path(new["server"]["certificate"]).read_text()


@pytest.mark.campaign
def test_a_provided_ca_is_replaced_in_three_steps(host: Host) -> None:
    make_authority(host.folder / "new", "new")
    old, new = provide(host, "ca", host.folder / "1"), provide(host, "new", host.folder / "2")
    both = host.folder / "both.crt"
    both.write_text((host.authority / "ca.crt").read_text() + (host.folder / "new" / "ca.crt").read_text())
    only_new = {"ca": str(host.folder / "new" / "ca.crt")}

    def running(ca: dict[str, str], pairs: dict[str, Any]) -> dict[str, Any]:
        return {"etcd_tls_provided": {**ca, **pairs}, "_etcd_tls_member_runs": True}

    assert host.issue(etcd_tls_provided={"ca": str(host.authority / "ca.crt"), **old}) > 0
    message = host.refusal(**running({"ca": str(both)}, new))
    assert "signed by a CA that this host does not trust yet" in message and "three runs" in message
    assert host.issue(**running({"ca": str(both)}, old)) > 0
    message = host.refusal(**running(only_new, new))
    assert "the installed certificate of server is not signed by a CA that would be trusted" in message
    assert host.issue(**running({"ca": str(both)}, new)) > 0
    assert host.issue(**running(only_new, new)) > 0
    assert (host.installed / "ca.crt").read_text().strip() == Path(only_new["ca"]).read_text().strip()


def test_the_own_cas_are_replaced_by_a_provided_one_in_three_steps(new: Host) -> None:
    """As docs/certificates.md says. The member runs; the provided certificates have only the required names."""
    make_authority(new.folder / "other", "other")
    other = (new.folder / "other" / "ca.crt").read_text()
    pairs, running = provide(new, "other", new.folder / "1"), {"_etcd_tls_member_runs": True}
    both = {name: str(new.authority / f"{stem}.crt") for name, stem in (("ca", "ca"), ("peer_ca", "peer-ca"))}
    only_other = dict.fromkeys(both, str(new.folder / "other" / "ca.crt"))
    for path in both.values():
        Path(path).write_text(Path(path).read_text() + other)
    message = new.refusal(etcd_tls_provided={**both, **pairs}, **running)
    assert "signed by a CA that this host does not trust yet" in message
    before = (new.installed / "server.crt").read_text()
    assert new.issue(**running) > 0 and (new.installed / "server.crt").read_text() == before
    assert new.issue(etcd_tls_provided={**both, **pairs}, **running) > 0
    assert new.issue(etcd_tls_provided={**only_other, **pairs}, **running) > 0
    for name in ("ca", "peer-ca"):
        assert (new.installed / f"{name}.crt").read_text().strip() == other.strip()
    assert (new.installed / "peer.crt").read_text() == Path(pairs["peer"]["certificate"]).read_text()


def test_a_provided_certificate_that_is_not_valid_yet_is_refused(host: Host) -> None:
    pairs = provide(host, "ca", host.folder / "own")
    provided = {"etcd_tls_provided": {"ca": str(host.authority / "ca.crt"), **pairs}}
    early(host, host.folder / "own" / "client.crt")
    message = host.refusal(**provided)
    assert "client: it is not valid before 20" in message and "and the clock says 20" in message
    assert not host.installed.exists()


@pytest.mark.campaign
def test_a_provided_chain_with_an_intermediate_that_is_renewed(host: Host) -> None:
    """The certificate itself stays the same."""
    middle, now = host.folder / "middle" / "ca.crt", datetime.now(timezone.utc)
    make_authority(middle.parent, "middle")
    pairs = provide(host, "middle", host.folder / "own")
    provided = {"etcd_tls_provided": {"ca": str(host.authority / "ca.crt"), **pairs}}
    leaves = {name: Path(pair["certificate"]).read_text() for name, pair in pairs.items()}

    def append_intermediate(days: int) -> None:
        sign_again(host, middle, now - timedelta(days=90), now + timedelta(days=days))
        for name, leaf in leaves.items():
            Path(pairs[name]["certificate"]).write_text(leaf + middle.read_text())

    append_intermediate(-1)
    with Path(pairs["client"]["certificate"]).open("a") as stream:
        stream.write(Path(pairs["client"]["key"]).read_text())
    message = host.refusal(**provided)
    assert "server: its intermediate CA, middle: it expired on 20" in message
    assert "client: its file also contains a private key (PRIVATE KEY)" in message and not host.installed.exists()
    append_intermediate(20)
    assert host.issue(**provided) > 0
    append_intermediate(200)
    assert host.issue(**provided) > 0
    for name in pairs:
        assert (host.installed / f"{name}.crt").read_text() == Path(pairs[name]["certificate"]).read_text()
