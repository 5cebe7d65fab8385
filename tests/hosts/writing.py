# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A client that writes a unique key every 50 ms through all hosts while a test changes the cluster."""

from __future__ import annotations

import json
import re
import shutil
import time
from contextlib import contextmanager
from datetime import datetime
from uuid import uuid4

from bench.common.campaign.client import LIMIT, Client, read_back
from bench.common.campaign.hosts import fetch_certificates, play_quietly, urls
from bench.common.campaign.measure import connect
from bench.common.gateway import Session, tls_context
from bench.common.lab import addresses, on
from tests.campaign import IS_CAMPAIGN

# Beside other checks, members wait for two cores: a write in 200 may take longer than its limit of 2 s. Two members that are away at once cost more.
SHARED_FAILURES = 0.005
ENOUGH = 100  # writes

# The user of this client where authentication is on, for `etcd_auth_users` and `etcd_auth_roles`.
ROLE = {"name": "writing", "permissions": [{"access": "readwrite", "prefix": "/writing/"}]}
USER = {"name": "writing", "password": "Writing-Secret-of-the-lab", "roles": ["writing"]}


@contextmanager
def writing(members=3, more_ports=(), *, auth=False):
    """Write throughout, and assert that no acknowledged write is lost, and that none failed while a majority of the members and the disk served.

    more_ports: client ports that members have for a part of the time. auth: whether authentication is on; the cluster has USER then.
    """
    began = time.time()
    prefix = f"/writing/{uuid4().hex}/"
    reached = [
        *urls(),
        *(f"{url.rpartition(':')[0]}:{port}" for port in more_ports for url in urls()),
    ]
    session = Session(USER["name"], USER["password"]) if auth else None
    context = context_without_name() if auth else None
    client = Client(prefix, reached, lambda: context or connect(), session)
    client.record.members = members
    client.start()
    try:
        yield client
        time.sleep(1)
    finally:
        record = client.stop()
    lost = record.lost(read_back(prefix, reached, context or connect(), session), lambda _write: True)
    failed, without_majority = record.failed()
    print(
        f"{len(record.writes)} writes, {failed} failed, {without_majority} more without a majority, {len(lost)} lost, "
        f"longest pause {record.longest_pause():.2f} s"
    )
    stalls = disk_stalls(began)
    missing = [
        time.strftime("%H:%M:%S", time.gmtime(write.due))
        for write in record.since_first()
        if not write.acknowledged and record.had_majority(write)
        if not any(begin < write.due + LIMIT and write.due < end for begin, end in stalls)
    ]
    assert lost == []
    assert len(record.writes) > ENOUGH
    assert len(missing) <= tolerated_failures(len(record.writes)), (missing, stalls)


def context_without_name():
    """Return a context with a certificate that has no common name: while authentication is on, etcd's gateway refuses any other."""
    folder = fetch_certificates().parent / "without-name"
    folder.mkdir(mode=0o700, exist_ok=True)
    shutil.copy(folder.parent / "client" / "ca.crt", folder)
    asked = {"name": "client", "common_name": "", "dir": str(folder), "cluster": "example"}
    variables = {f"etcd_client_certificate_{name}": value for name, value in asked.items()}
    play_quietly(["playbooks/client_certificate.yml", "-e", json.dumps(variables)])
    return tls_context(folder)


def tolerated_failures(writes):
    """Return the number of writes that may fail while a majority serves: none in `make bench-lifecycle`, because nothing else loads the machine."""
    return 0 if IS_CAMPAIGN else int(writes * SHARED_FAILURES)


def disk_stalls(since):
    """Return the intervals in which the shared disk delayed a member's write by more than a second, from etcd's log."""
    found = []
    for host in addresses():
        journal = on(
            host, f"journalctl -u etcd --since @{since:.0f} -o cat --no-pager | grep -F 'slow fdatasync' || true"
        )
        for line in journal.splitlines():
            entry = json.loads(line)
            took = re.fullmatch(r"([0-9.]+)s", entry["took"])
            if took:
                end = datetime.fromisoformat(entry["ts"].replace("Z", "+00:00")).timestamp()
                found.append((end - float(took[1]), end))
    return found
