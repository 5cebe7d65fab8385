# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""site.yml on a deployed cluster: what is changed, what is refused, and what is repaired."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
from datetime import datetime

import pytest
from cluster import ETCDCTL, start_times
from conftest import PROJECT
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization

from bench.common.lab import close_connections
from bench.common.processes import kill_with_descendants
from tests.campaign import in_campaign


def test_second_run_and_check_change_nothing(site):
    for arguments in ((), ("--check", "--diff")):
        run = site.play(*arguments, lint=True)
        assert run.code == 0, run.output
        assert set(run.changed.values()) == {0}, run.output


def test_a_member_that_systemd_starts_during_the_play_is_not_restarted(site):
    """For example after its full disk was emptied. The play was planned while the member was down."""
    site.on("etcd-3", "systemctl stop etcd")
    started = {}

    def start(process):
        os.killpg(process.pid, signal.SIGSTOP)
        site.on("etcd-3", "systemctl start etcd")
        started.update(start_times(site))
        os.killpg(process.pid, signal.SIGCONT)

    command = ("ansible-playbook", "site.yml", "-e", "etcd_lint_enabled=false")
    run = site.act_at("Compare the member with its configuration", start, *command)
    assert run.code == 0, run.output
    assert set(run.changed.values()) == {0} and start_times(site) == started, run.output


@pytest.mark.parametrize("tag", [*map(in_campaign, ["lint", "storage", "tls", "members", "maintenance"]), "report"])
def test_each_part_alone_changes_nothing(site, tag):
    run = site.play("--tags", tag, lint=True)
    assert run.code == 0, run.output
    assert set(run.changed.values()) == {0}, run.output
    assert ("members healthy" in run.output) is (tag == "report"), run.output


@pytest.mark.campaign
def test_new_names_renew_the_certificates_one_member_at_a_time(site):
    def fingerprints():
        return {
            host: site.on(host, "cat /etc/etcd/tls/server.crt /etc/etcd/tls/server.key | sha256sum")
            for host in site.hosts
        }

    # Plain files, as older releases wrote them.
    site.on(
        "etcd-2",
        "cd /etc/etcd/tls && for f in *.crt *.key; do cp -pL $f $f.plain && mv $f.plain $f; done && rm -r current generation-*",
    )
    before, started = fingerprints(), start_times(site)
    names = {"etcd_tls_extra_sans": ["etcd.example.net"]}
    # As if the play had been killed before the first member's turn: certificates are staged, and each member can restart with its old pair.
    staged = site.play("--tags", "tls", **names)
    assert staged.code == 0 and min(staged.changed[host] for host in site.hosts) > 0, staged.output
    assert fingerprints() == before and start_times(site) == started
    site.on("etcd-2", "systemctl restart etcd")
    started = start_times(site)
    run = site.play(**names)
    assert run.code == 0, run.output
    assert all(fingerprints()[host] != before[host] for host in site.hosts)
    after = start_times(site)
    assert len(set(after.values())) == 3 and all(after[host] > started[host] for host in site.hosts)
    assert "etcd.example.net" in site.on(
        "etcd-1", "openssl x509 -noout -ext subjectAltName -in /etc/etcd/tls/server.crt"
    )
    # The name is not requested any more, as if DNS were down: it stays.
    again = site.play()
    assert again.code == 0 and set(again.changed.values()) == {0}, again.output


def test_a_downgrade_that_etcd_does_not_support_is_refused(site):
    run = site.play(etcd_version="3.6.16")
    assert run.code != 0 and set(run.changed.values()) == {0}
    assert "etcd 3.6.16 cannot take over the data of 3.7.3" in run.output, run.output


@pytest.mark.campaign
def test_a_drifted_unit_is_corrected_without_a_restart(site):
    site.on(
        "etcd-2",
        "sed -i 's/^LimitNOFILE=.*/LimitNOFILE=1/' /etc/systemd/system/etcd.service && systemctl daemon-reload",
    )
    before = start_times(site)
    run = site.play()
    assert run.code == 0 and run.changed["etcd-2"] > 0 and run.changed["etcd-1"] == run.changed["etcd-3"] == 0, (
        run.output
    )
    assert start_times(site) == before


def authority_of_lab():
    """Return the controller's folder of the CAs."""
    return PROJECT / ".headroom" / "labs" / os.environ["LAB_NAME"] / "pki"


def expired(old, signer):
    """Return a certificate in PEM form with the same key and names that has expired. signer: the CA's stem in the controller's folder."""
    key = serialization.load_pem_private_key((authority_of_lab() / f"{signer}.key").read_bytes(), None)
    builder = x509.CertificateBuilder(old.issuer, old.subject, old.public_key(), old.serial_number)
    builder = builder.not_valid_before(datetime(2026, 1, 1)).not_valid_after(datetime(2026, 1, 2))
    for extension in old.extensions:
        builder = builder.add_extension(extension.value, extension.critical)
    return builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM).decode()


def write(site, host, name, text):
    """Replace the text of a member's installed certificate."""
    site.on(host, f"cat > $(readlink -f /etc/etcd/tls/{name}.crt) <<'EOF'\n{text}EOF")


def expire(site, host):
    """Replace a host's certificates by expired ones, and restart its member, as after a power cut."""
    for name, signer in (("server", "ca"), ("peer", "peer-ca"), ("client", "ca")):
        old = x509.load_pem_x509_certificate(site.on(host, f"cat /etc/etcd/tls/{name}.crt").encode())
        write(site, host, name, expired(old, signer))
    site.on(host, "systemctl restart --no-block etcd")


def test_expired_certificates_are_renewed_without_quorum(site):
    for host in site.hosts:
        expire(site, host)
    refused = site.play("--tags", "members")
    assert refused.code != 0 and "its certificates have expired" in refused.output, refused.output
    assert set(refused.changed.values()) == {0}, refused.output
    run = site.play()
    assert run.code == 0 and "3 of 3 members healthy" in run.output, run.output
    said = " ".join(run.output.split())
    assert "New ones are activated now" in said and "certificates are valid until" in said, run.output


@pytest.mark.campaign
def test_an_interrupted_renewal_of_an_expired_ca_is_finished(site):
    """Members that run without a quorum, and only the mark says that they may trust the expired CA. Stopped processes stand for them."""
    for stem in ("ca", "peer-ca"):
        path = authority_of_lab() / f"{stem}.crt"
        path.write_text(expired(x509.load_pem_x509_certificate(path.read_bytes()), stem))
        for host in site.hosts:
            write(site, host, stem, path.read_text())
    site.act_at(
        "Restart the member",
        lambda process: kill_with_descendants(process.pid),
        *("ansible-playbook", "site.yml", "-e", json.dumps({"etcd_lint_enabled": False})),
    )
    close_connections()
    assert [site.on(host, "ls /etc/etcd/renewing") for host in site.hosts] == ["/etc/etcd/renewing"] * 3
    for host in ("etcd-2", "etcd-3"):
        site.on(host, "systemctl kill -s STOP etcd")
    run = site.play()
    assert "It restarts now, without waiting" in " ".join(run.output.split()), run.output
    assert run.code == 0 and "3 of 3 members healthy" in run.output, run.output
    assert [site.on(host, "ls /etc/etcd/renewing 2>/dev/null; true") for host in site.hosts] == [""] * 3
    again = site.play()
    assert again.code == 0 and set(again.changed.values()) == {0}, again.output


@pytest.mark.campaign
def test_a_rotation_continues_after_the_old_ca_has_expired(site):
    """All members trust both CAs and have certificates of the old one. Their quorum is lost with it."""
    rotate = ("ansible-playbook", "playbooks/rotate_ca.yml")
    begun = site.ansible(*rotate, "-e", "etcd_rotate_ca_until=trust", timeout=1200)
    assert begun.code == 0, begun.output
    for stem in ("ca", "peer-ca"):
        path = authority_of_lab() / f"{stem}.crt"
        old, new = x509.load_pem_x509_certificates(path.read_bytes())
        both = expired(old, stem) + new.public_bytes(serialization.Encoding.PEM).decode()
        path.write_text(both)
        for host in site.hosts:
            write(site, host, stem, both)
    for host in site.hosts:
        site.on(host, "systemctl restart --no-block etcd")
    run = site.ansible(*rotate, timeout=1200)
    assert run.code == 0 and "3 of 3 members healthy" in run.output, run.output
    for host in site.hosts:
        for stem, signed in (("ca", "server"), ("peer-ca", "peer")):
            verified = site.on(
                host, f"cd /etc/etcd/tls && grep -c BEGIN {stem}.crt && openssl verify -CAfile {stem}.crt {signed}.crt"
            )
            assert verified.split() == ["1", f"{signed}.crt:", "OK"]


def test_lost_quorum_stops_before_any_change(site):
    """If no member is down, starting members cannot restore the quorum."""
    for host in ("etcd-2", "etcd-3"):
        site.on(host, "systemctl kill -s STOP etcd")
    try:
        run = site.play(etcd_snapshot_catchup_entries=123)
        assert run.code != 0
        assert re.search(r"has no quorum: 0 of 3", run.output) and "Nothing was changed" in run.output, run.output
        assert set(run.changed.values()) <= {0}
    finally:
        for host in ("etcd-2", "etcd-3"):
            site.on(host, "systemctl kill -s CONT etcd")


def test_members_out_of_memory_are_repaired_without_quorum(site):
    """Two of three members are killed at every start for want of memory: their update is the repair."""
    unit = "/etc/systemd/system/etcd.service"
    for host in ("etcd-2", "etcd-3"):
        site.on(
            host,
            f"sed -i 's/^MemoryHigh=.*/MemoryHigh=infinity/; s/^MemoryMax=.*/MemoryMax=8M/' {unit} && systemctl daemon-reload",
        )
        site.on(host, "systemctl restart --no-block etcd")
    for host in ("etcd-2", "etcd-3"):
        site.on(host, "timeout 60 sh -c 'until [ $(systemctl show -P NRestarts etcd) -ge 1 ]; do sleep 0.2; done'")
    run = site.play()
    assert run.code == 0 and "3 of 3 members healthy" in run.output, run.output


@pytest.mark.campaign
def test_a_stopped_member_is_started(site):
    site.on("etcd-3", "systemctl stop etcd")
    run = site.play()
    assert run.code == 0 and run.changed["etcd-3"] > 0, run.output
    assert "active" in site.on("etcd-3", "systemctl is-active etcd")


@pytest.mark.campaign
def test_a_lost_ca_is_replaced_while_all_members_are_down(site):
    """A new CA needs a confirmation. The members then start with its certificates, and with their data."""
    site.on("etcd-1", f"{ETCDCTL} put /before-the-ca kept")
    before = site.on("etcd-1", "cat /etc/etcd/tls/ca.crt")
    for host in site.hosts:
        site.on(host, "systemctl stop etcd")
    shutil.rmtree(authority_of_lab())
    refused = site.play("--tags", "tls")
    assert refused.code != 0 and "confirm a new CA with -e etcd_tls_new_ca=example" in " ".join(refused.output.split())
    assert set(refused.changed.values()) <= {0} and not authority_of_lab().exists(), refused.output
    run = site.play(etcd_tls_new_ca="example")
    assert run.code == 0 and "3 of 3 members healthy" in run.output, run.output
    for host in site.hosts:
        assert site.on(host, "cat /etc/etcd/tls/ca.crt") != before
        assert site.on(host, f"{ETCDCTL} get --print-value-only /before-the-ca") == "kept"
