# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Role etcd_tls on this machine, in a temporary directory, without etcd."""

from __future__ import annotations

import grp
import shutil
import subprocess
import sys
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization

from tests.playbooks.tls_host import Host, early, make_authority, openssl, provide, sign_again


def test_a_ca_without_its_key_is_never_replaced(host: Host) -> None:
    make_authority(host.authority, days=10)
    (host.authority / "ca.key").unlink()
    before = (host.authority / "ca.crt").read_bytes()
    message = host.refusal()
    assert "ca.key does not exist, but the CA" in message and "Nothing was changed" in message
    assert "CA: it expires on" in message and "server: it does not exist" in message
    assert (host.authority / "ca.crt").read_bytes() == before and not (host.authority / "ca.key").exists()


@pytest.mark.parametrize(("days", "parts"), [(10, ("expires on", "before that date,")), (-1, ("expired on", "now,"))])
def test_a_renewed_ca_is_announced_for_the_applications(host: Host, days: int, parts: tuple[str, str]) -> None:
    """The applications' copies of ca.crt keep the end of the old certificate."""
    path = host.authority / "ca.crt"
    now = datetime.now(timezone.utc)
    sign_again(host, path, now - timedelta(days=90), now + timedelta(days=days))
    old = x509.load_pem_x509_certificate(path.read_bytes())
    done = host.run()
    assert done.returncode == 0, done.stdout + done.stderr
    assert x509.load_pem_x509_certificate(path.read_bytes()).public_key() == old.public_key()
    assert path.read_bytes() != old.public_bytes(serialization.Encoding.PEM)
    assert (
        f"{path} {parts[0]} {old.not_valid_after_utc:%Y-%m-%d}, and is now renewed with the same key. Copy the new file to every application of the "
        f"cluster {parts[1]} because an application does not trust the members once its copy has expired."
        in " ".join(done.stdout.split())
    ), done.stdout
    again = host.run()
    assert again.returncode == 0 and "Copy the new file" not in again.stdout, again.stdout


def test_a_key_of_another_ca_signs_nothing(host: Host) -> None:
    make_authority(host.folder / "other")
    (host.folder / "other" / "ca.key").rename(host.authority / "ca.key")
    assert "ca.key belongs to another certificate, but the CA" in host.refusal()
    assert not host.installed.exists()


def test_a_name_that_vanished_stays_until_it_is_dropped(deployed: Host) -> None:
    """Nothing needs the CA's key while nothing must be signed."""

    def names() -> str:
        return openssl("x509", "-noout", "-ext", "subjectAltName", "-in", deployed.installed / "server.crt")

    assert deployed.issue(etcd_tls_extra_sans=["old.example.net"]) > 0
    assert "old.example.net" in names()
    (deployed.authority / "ca.key").rename(deployed.folder / "kept.key")
    assert deployed.issue() == 0
    (deployed.folder / "kept.key").rename(deployed.authority / "ca.key")
    assert deployed.issue(etcd_tls_drop_names=["old.example.net"]) > 0
    assert "old.example.net" not in names() and "192.0.2.11" in names()


def test_certificates_are_staged_until_the_turn_of_the_member(deployed: Host) -> None:
    """A directory of plain files, as older releases left it, is not changed before, and the paths stay the same after."""

    def installed() -> dict[str, str]:
        files = sorted(deployed.installed.glob("*.*"))
        return {path.name: path.read_text() for path in files}

    for path in list(installed()):
        plain = (deployed.installed / path).resolve()
        (deployed.installed / path).unlink()
        shutil.copy(plain, deployed.installed / path)
    (deployed.installed / "current").unlink()
    shutil.rmtree(deployed.installed / "generation-1")
    before = installed()
    assert len(before) == 7 and deployed.issue() == 0
    names = {"etcd_tls_extra_sans": ["new.example.net"]}
    assert deployed.issue("preflight main", **names) > 0
    # An interruption here leaves the old pair; the next run has nothing to stage.
    assert installed() == before and (deployed.installed / "next").is_symlink()
    assert deployed.issue(**names) == 1
    after = installed()
    assert {name for name in before if after[name] != before[name]} == {"server.crt", "peer.crt"}
    assert deployed.issue(**names) == 0


def test_another_group_gets_keys_and_directories(deployed: Host) -> None:
    """While no member runs. A cluster with several CAs is refused before that."""
    folders = f"{deployed.folder}/{{{{ inventory_hostname }}}}"
    message = deployed.refusal("preflight", others=["n2"], etcd_tls_ca_dir=folders)
    assert f"etcd_tls_ca_dir is {deployed.folder}/n1 (n1); etcd_tls_ca_dir is {deployed.folder}/n2 (n2)" in message
    group = grp.getgrgid(1).gr_name
    assert deployed.issue(etcd_user_group=group) == 2
    for name in ("", "current", "server.key", "peer.key"):
        assert (deployed.installed / name).stat().st_gid == 1, name
    assert deployed.installed.stat().st_mode & 0o777 == 0o750


def test_the_own_ca_is_replaced_in_resumable_steps(deployed: Host) -> None:

    def trusted() -> int:
        return (deployed.installed / "ca.crt").read_text().count("BEGIN CERTIFICATE")

    deploy = "preflight main activate"
    # Resumed after an interruption, the first step is made once.
    assert deployed.issue("rotate_trust", deploy, "rotate_trust", deploy) > 0
    old_ca = openssl("x509", "-in", deployed.authority / "ca.crt")
    old = (deployed.installed / "server.crt").read_text()
    assert trusted() == 2
    assert (
        deployed.issue("rotate_issue", deploy, "rotate_trust", "rotate_issue", "rotate_retire", deploy, "rotate_end")
        > 0
    )
    assert trusted() == 1 and old_ca.strip() not in (deployed.installed / "ca.crt").read_text()
    assert (deployed.installed / "server.crt").read_text() != old and not list(deployed.authority.glob("ca-next.*"))
    openssl("verify", "-CAfile", deployed.authority / "ca.crt", deployed.installed / "server.crt")


def signed_by(host: Host, name: str) -> set[str]:
    """Return the CAs on the controller that signed an installed certificate."""
    found = set()
    for authority in host.authority.glob("*.crt"):
        words = ["openssl", "verify", "-CAfile", str(authority), str(host.installed / f"{name}.crt")]
        if subprocess.run(words, capture_output=True, check=False).returncode == 0:
            found.add(authority.stem)
    return found


def test_a_new_cluster_has_a_ca_for_peers_alone(new: Host) -> None:
    """No client's certificate is a peer's, nor the other way round."""
    assert signed_by(new, "peer") == {"peer-ca"}
    assert signed_by(new, "client") == signed_by(new, "server") == {"ca"}
    assert (new.installed / "peer-ca.crt").read_text().strip() == (new.authority / "peer-ca.crt").read_text().strip()
    assert new.issue() == 0
    # An interruption after the first of both certificates was made.
    (new.authority / "ca.crt").unlink()
    shutil.rmtree(new.installed)
    assert new.issue() > 0
    assert signed_by(new, "peer") == {"peer-ca"} and signed_by(new, "client") == {"ca"}


@pytest.mark.campaign
def test_a_cluster_with_one_ca_keeps_it_until_it_is_moved(deployed: Host) -> None:
    deploy = "preflight main activate"
    assert deployed.issue() == 0
    assert not (deployed.authority / "peer-ca.crt").exists() and not (deployed.installed / "peer-ca.crt").exists()
    client = (deployed.installed / "client.crt").read_text()
    running = {"_etcd_tls_member_runs": True}
    moved = {"etcd_rotate_ca_of": "peers", **running}

    # Interrupted after each step and run again.
    assert deployed.issue("rotate_trust", deploy, "rotate_trust", **moved) > 0
    assert (deployed.installed / "peer-ca.crt").read_text().count("BEGIN CERTIFICATE") == 2
    assert signed_by(deployed, "peer") == {"ca", "peer-ca"}
    key = (deployed.authority / "ca.key").read_bytes()
    message = deployed.refusal("rotate_trust", etcd_rotate_ca_of="clients", **running)
    assert (
        "ca.key also signs their certificates. Finish the move first: run rotate_ca with etcd_rotate_ca_of=peers or"
        in message
    )
    assert (deployed.authority / "ca.key").read_bytes() == key and not (deployed.authority / "ca-next.crt").exists()
    assert (
        deployed.issue(
            "rotate_issue", deploy, "rotate_trust", "rotate_issue", "rotate_retire", deploy, "rotate_end", **moved
        )
        > 0
    )
    assert (deployed.installed / "peer-ca.crt").read_text().count("BEGIN CERTIFICATE") == 1
    assert signed_by(deployed, "peer") == {"peer-ca"} and signed_by(deployed, "client") == {"ca"}
    assert deployed.issue(**running) == 0
    # The clients noticed nothing.
    assert (deployed.installed / "client.crt").read_text() == client
    assert not (deployed.authority / "peer-ca-previous.key").exists() and (deployed.authority / "ca.key").exists()


def test_the_cas_are_created_without_become_if_the_inventory_sets_it(new_once: Host) -> None:
    assert (new_once.authority / "ca.key").owner() == new_once.folder.owner()


def test_a_lost_ca_of_the_peers_is_never_replaced(new: Host, tmp_path: Path) -> None:
    (new.authority / "peer-ca.key").rename(tmp_path / "kept.key")
    assert new.issue() == 0
    message = new.refusal(etcd_tls_extra_sans=["new.example.net"])
    assert (
        "peer-ca.key does not exist, but the CA" in message and "peer: it is not valid for new.example.net" in message
    )
    (new.authority / "peer-ca.crt").unlink()
    message = new.refusal()
    assert "trusts peers by a separate CA" in message and "peer-ca.crt does not exist" in message


def test_a_lost_ca_is_replaced_only_if_that_is_confirmed(new: Host, tmp_path: Path) -> None:
    """No member runs: what a former deployment installed on the hosts decides."""
    before = (new.installed / "ca.crt").read_bytes()
    shutil.rmtree(new.authority)
    message = new.refusal(others=["n2"])
    assert f"Cluster etcd: n1 trusts the CA of a former deployment ({new.installed}/ca.crt" in message
    assert (
        f"{new.authority}/ca.crt does not exist" in message
        and "confirm a new CA with -e etcd_tls_new_ca=etcd (it is not set)" in message
    )
    assert "Put the CAs of this cluster (ca.crt, ca.key, peer-ca.crt, peer-ca.key) back into" in message
    assert message.count("fatal: [") == 1
    assert "(it is other)" in new.refusal(etcd_tls_new_ca="other")
    message = new.refusal(etcd_tls_new_ca="etcd", _etcd_tls_member_runs=True)
    assert "etcd still runs on n1: stop it there first" in message
    assert not new.authority.exists() and (new.installed / "ca.crt").read_bytes() == before
    assert not (tmp_path / "n2").exists()
    assert new.issue(etcd_tls_new_ca="etcd") > 0
    assert (new.installed / "ca.crt").read_bytes() != before
    assert signed_by(new, "peer") == {"peer-ca"} and signed_by(new, "server") == {"ca"}
    assert new.issue() == 0


def test_a_lost_ca_is_found_by_the_preflight_if_the_first_host_has_no_tls(tmp_path: Path) -> None:
    """The condition of the import, which is false on the first host, must not skip the check for the others."""
    host = Host(tmp_path)
    host.installed.mkdir(parents=True)
    make_authority(host.installed)
    message = host.refusal("preflight", others=["n2"], without_tls=["a1"])
    assert f"Cluster etcd: n1 trusts the CA of a former deployment ({host.installed}/ca.crt" in message
    assert message.count("fatal: [") == 1 and "Cluster plain" not in message


def test_hosts_of_another_cluster_are_refused(new: Host, tmp_path: Path) -> None:
    """The CA on the controller may be right; then the confirmed run gives the host certificates of it."""
    new.authority = tmp_path / "other"
    make_authority(new.authority, "other")
    make_authority(new.authority, "other peers", stem="peer-ca")
    message = new.refusal()
    assert f"{new.authority}/ca.crt is another CA" in message and "belonged to another cluster" in message
    assert new.issue(etcd_tls_new_ca="etcd") > 0
    assert signed_by(new, "server") == {"ca"} and signed_by(new, "peer") == {"peer-ca"}
    assert new.issue() == 0


def test_a_host_that_lost_the_library_is_not_refused(deployed: Host, tmp_path: Path) -> None:
    """Its Python was upgraded while its member runs. Nothing is known of its certificates until the library is installed again."""
    (tmp_path / "without" / "cryptography").mkdir(parents=True)
    (tmp_path / "without" / "cryptography" / "__init__.py").write_text("raise ImportError('it is not installed')\n")
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH={tmp_path}/without exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    assert deployed.issue("preflight", _etcd_tls_member_runs=True, ansible_python_interpreter=str(python)) == 0
    # Another CA on the controller is refused as soon as it can be read.
    make_authority(deployed.authority, "another")
    message = deployed.refusal("preflight", _etcd_tls_member_runs=True)
    assert "trusts the CA of a former deployment" in message


def test_certificates_without_their_ca_are_those_of_a_former_deployment(new: Host) -> None:
    shutil.rmtree(new.authority)
    for name in ("ca", "peer-ca"):
        (new.installed / f"{name}.crt").unlink()
    assert f"({new.installed}/server.crt, {new.installed}/peer.crt, {new.installed}/client.crt)" in new.refusal()


@pytest.mark.campaign
def test_a_first_deployment_that_died_starts_again(tmp_path: Path) -> None:
    """Interrupted after the CA was made, after certificates were staged, and after some hosts had them."""
    host = Host(tmp_path)
    assert host.issue("preflight main") > 0
    # Nothing uses what is only staged, so a lost CA does no harm.
    shutil.rmtree(host.authority)
    assert host.issue() > 0
    first = (host.authority / "ca.crt").read_bytes()
    host.issue(others=["n2"])
    assert (tmp_path / "n2" / "tls" / "ca.crt").read_bytes().strip() == first.strip()
    shutil.rmtree(host.installed)
    assert host.issue(others=["n2"]) > 0
    assert (host.authority / "ca.crt").read_bytes() == first


def test_a_name_that_the_certificates_need_is_not_dropped(host: Host) -> None:
    message = host.refusal(etcd_tls_extra_sans=["lb.example.net"], etcd_tls_drop_names=["192.0.2.11", "lb.example.net"])
    assert "etcd_tls_drop_names has 192.0.2.11, lb.example.net, which the certificates need" in message


def subject(host: Host, name: str) -> str:
    """Return the subject of an installed certificate."""
    return openssl("x509", "-noout", "-subject", "-in", host.installed / f"{name}.crt").strip().replace(" ", "")


def test_another_name_of_the_client_is_issued_alone(deployed: Host) -> None:
    """Without a member there is nothing that the change could lock out of."""
    assert subject(deployed, "client").endswith("CN=headroom")
    server = (deployed.installed / "server.crt").read_bytes()
    assert deployed.issue(etcd_tls_client_name="ops") > 0 and subject(deployed, "client").endswith("CN=ops")
    assert (deployed.installed / "server.crt").read_bytes() == server
    assert deployed.issue(etcd_tls_client_name="ops") == 0


def test_another_name_of_the_client_is_refused_while_the_access_is_unknown(deployed: Host) -> None:
    """A member that does not answer may have authentication on."""
    provided = {"ca": str(deployed.authority / "ca.crt"), **provide(deployed, "ca", deployed.folder / "own")}
    stopped = {"_etcd_tls_has_member": True}
    for variables in ({"etcd_tls_client_name": "ops"}, {"etcd_tls_provided": provided}):
        message = deployed.refusal(**variables, **stopped)
        new = variables.get("etcd_tls_client_name", "client")
        assert f"would change from headroom to {new}, but it cannot be read whether authentication is on" in message
        assert "keep headroom until the members answer" in message and "Nothing was changed" in message
    assert subject(deployed, "client").endswith("CN=headroom")
    assert deployed.issue(**stopped) == 0


@pytest.mark.campaign
def test_a_host_whose_clock_is_behind(host: Host) -> None:
    """Certificates are valid from one day before the controller's time, so a smaller difference causes nothing."""
    now = time.time()
    message = host.refusal(_etcd_tls_controller_seconds=now + 2 * 86400)
    assert "n1: the clock of the host says 20" in message and "valid from one day earlier. Set the clock" in message
    assert not host.installed.exists()
    assert host.issue(_etcd_tls_controller_seconds=now + 86400 // 2) > 0
    assert host.issue() == 0
    # Nothing must be signed.
    assert host.issue(_etcd_tls_controller_seconds=now + 2 * 86400) == 0


def test_certificates_of_a_wrong_clock_are_issued_again(deployed: Host) -> None:
    """The controller's clock was ahead when it signed them; now all clocks are right."""
    early(deployed, deployed.installed / "client.crt")
    assert deployed.issue() > 0
    openssl("verify", "-CAfile", deployed.authority / "ca.crt", deployed.installed / "client.crt")
    assert deployed.issue() == 0


def sign(host: Host, authority: Path, *kinds: str) -> None:
    """Sign requests where the keys are kept."""
    for kind in kinds:
        signer = authority / ("peer-ca" if kind == "peer" else "ca")
        files = (
            "-in",
            host.authority / "requests" / f"n1-{kind}.csr",
            "-out",
            host.authority / "certificates" / f"n1-{kind}.crt",
        )
        key = ("-CA", f"{signer}.crt", "-CAkey", f"{signer}.key", "-CAcreateserial")
        openssl("x509", "-req", *files, *key, "-copy_extensions", "copyall", "-days", "365")


def test_a_ca_whose_key_is_offline(tmp_path: Path) -> None:
    host, vault = Host(tmp_path), tmp_path / "vault"
    offline = {"etcd_tls_ca_key_offline": True}
    assert "ca.crt does not exist. Put the certificate of the CA there" in host.refusal(**offline)
    host.authority.mkdir()
    for stem in ("ca", "peer-ca"):
        make_authority(vault, f"etcd {stem}", stem=stem)
        shutil.copy(vault / f"{stem}.crt", host.authority)

    def waits() -> str:
        done = host.run(**offline)
        assert done.returncode == 2, done.stdout
        text = " ".join(done.stdout.split())
        return text[text.index("These requests need") :].partition(" and run the playbook again")[0]

    first = waits()
    assert first.startswith(
        "These requests need a signature by the key of the CA, which is kept offline: "
        f"{host.authority}/requests/n1-server.csr for {host.authority}/ca.crt, expected as {host.authority}/certificates/n1-server.crt "
        "(it does not exist);"
    )
    assert f"n1-peer.csr for {host.authority}/peer-ca.crt, expected" in first and first.count(".csr for ") == 3
    requests = {path.name: path.read_bytes() for path in (host.authority / "requests").iterdir()}
    assert not (host.installed / "current").exists()
    # Some are signed, one by the wrong CA: the requests stay the same, and nothing is activated.
    sign(host, vault, "server", "client", "peer")
    shutil.copy(host.authority / "certificates" / "n1-server.crt", host.authority / "certificates" / "n1-peer.crt")
    second = waits()
    assert "offline: /" in second and "n1-peer.crt (its private key belongs to another" in second
    assert {path.name: path.read_bytes() for path in (host.authority / "requests").iterdir()} == requests
    assert not (host.installed / "current").exists()
    sign(host, vault, "peer")
    assert host.issue(**offline) > 0
    assert signed_by(host, "peer") == {"peer-ca"} and signed_by(host, "server") == {"ca"}
    assert host.issue(**offline) == 0
    assert not list(host.authority.glob("*.key"))
