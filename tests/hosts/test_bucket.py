# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Backups copied from the hosts into a bucket of a real S3-compatible store, which runs on one of them, with its certificate.

These tests run inside molecule's scenario maintenance, in their order; what they set is gone afterwards.
"""

from __future__ import annotations

import json
import subprocess

import pytest
from cluster import HOSTS, followers, forget_last_backup, release_lock
from conftest import PROJECT

from bench.common.lab import addresses, on

STORE = "etcd-1"
PORT = 7070
NAME, PREFIX = "etcd-backups", "example/"
ACCESS, SECRET = "headroom", "secret-of-the-store"
CREDENTIALS = "/etc/etcd/backup-bucket.credentials"
FOLDER = "/var/lib/test-store"
UNIT = "test-store"

pytestmark = pytest.mark.campaign


def wanted(**more):
    """Return the role's variables for the bucket."""
    settings = {
        "bucket": NAME,
        "bucket_endpoint_url": f"https://{addresses()[STORE]}:{PORT}",
        "bucket_ca_cert": "/etc/etcd/tls/ca.crt",
        "bucket_access_key": ACCESS,
        "bucket_secret_key": SECRET,
    }
    return {f"etcd_maintenance_backup_{name}": value for name, value in {**settings, **more}.items()}


def serve():
    """Start the store."""
    tls = "--cert /etc/etcd/tls/server.crt --key /etc/etcd/tls/server.key"
    store = f"--port {addresses()[STORE]}:{PORT} {tls} --access {ACCESS} --secret {SECRET}"
    kept = f"posix --sidecar {FOLDER}/metadata {FOLDER}/buckets"
    on(STORE, f"systemd-run --quiet --collect --unit {UNIT} {FOLDER}/versitygw {store} {kept}")


def lying():
    """Return the names of the objects in the bucket."""
    return set(on(STORE, f"ls {FOLDER}/buckets/{NAME}/{PREFIX}").split())


def backup(host):
    """Take a backup on a host as its timer does, and return its record."""
    forget_last_backup(host)
    release_lock(host)
    # A failed copy is a failed unit, whose record the caller checks. systemd starts a unit five times in ten seconds at most.
    on(host, "systemctl start headroom-snapshot || true; systemctl reset-failed headroom-snapshot || true")
    return json.loads(on(host, "cat /var/lib/headroom/snapshot.json"))


@pytest.fixture(scope="module")
def store():
    """Run the store with an empty bucket."""
    on(STORE, f"mkdir -p {FOLDER}/metadata {FOLDER}/buckets/{NAME}")
    copy = f"src={PROJECT}/.headroom/bin/versitygw dest={FOLDER}/versitygw mode=0755"
    subprocess.run(
        ["ansible", STORE, "-b", "-m", "ansible.builtin.copy", "-a", copy],
        cwd=PROJECT,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    serve()
    yield
    # A failed test may have left the store stopped.
    on(STORE, f"systemctl stop {UNIT} || true; rm -rf {FOLDER}")


def test_an_unusable_bucket_stops_the_play(site, store):
    """The play stops before any change, on the evidence of the host that already has boto3."""
    on(STORE, "apt-get -q update && apt-get install -q -y --no-install-recommends python3-boto3")
    run = site.play(**wanted(bucket_secret_key="wrong"))
    said = " ".join(run.output.split())
    assert run.code != 0 and "the secret key does not match the access key" in said, run.output
    assert "Nothing was changed" in said and SECRET not in said, run.output
    assert set(run.changed.values()) == {0}, run.output
    on(STORE, f"test ! -e {CREDENTIALS}")


def test_backups_are_copied_to_the_bucket_and_fetched(site, store):
    run = site.play("--diff", **wanted())
    assert run.code == 0 and SECRET not in run.output, run.output
    again = site.play(**wanted())
    assert again.code == 0 and set(again.changed.values()) == {0}, again.output
    for host in HOSTS:
        assert on(host, f"stat -c '%U %a' {CREDENTIALS}").strip() == "root 600"
        assert SECRET not in on(host, "cat /etc/etcd/maintenance.json")
    one, other = followers()
    found = [backup(host) for host in (one, other, one)]
    assert [record["result"] for record in found] == ["done"] * 3, found
    names = [record["copies"][0].rsplit("/", 1)[1] for record in found]
    assert lying() == {f"{name}{suffix}" for name in names for suffix in ("", ".json", ".sha256")}
    # All hosts share the folder and its retention, which is 3 here.
    assert backup(other)["result"] == "done"
    assert len(lying()) == 9 and names[0] not in lying()
    ask = json.dumps(
        {
            "state": "fetched",
            "dest": "/root",
            "bucket": {
                "name": NAME,
                "prefix": PREFIX,
                "endpoint_url": wanted()["etcd_maintenance_backup_bucket_endpoint_url"],
                "ca_cert": "/etc/etcd/tls/ca.crt",
                "credentials_file": CREDENTIALS,
            },
        }
    )
    fetched = site.ansible("ansible", HOSTS[1], "-b", "-m", "etcdops.headroom.etcd_snapshot", "-a", ask)
    assert fetched.code == 0 and "Fetched s3://etcd-backups/example/etcd-" in fetched.output, fetched.output
    on(HOSTS[1], "cd /root && sha256sum --check etcd-*.db.sha256 && rm etcd-*.db*")


def test_an_unreachable_store_loses_no_backup(site, store):
    host = followers()[0]
    on(STORE, f"systemctl stop {UNIT}")
    try:
        found = backup(host)
        assert found["result"] == "failed" and found["copies"] == [], found
        assert "there is no copy in s3://etcd-backups/example/: https://" in found["reason"], found
        assert "cannot be reached (Connection refused)" in found["reason"], found
        on(host, f"test -f {found['path']}")
        # Certificates must be renewed, and members started or replaced, while the store is down.
        run = site.play(**wanted())
        assert run.code == 0 and "the last backup failed" in " ".join(run.output.split()), run.output
    finally:
        serve()
    assert backup(host)["result"] == "done"


def test_removing_the_bucket_removes_its_credentials(site, store):
    run = site.play()
    assert run.code == 0, run.output
    for host in HOSTS:
        on(host, f"test ! -e {CREDENTIALS}")
    assert backup(followers()[0])["copies"] == []
