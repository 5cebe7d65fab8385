# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reach a cluster that is only read: its members, their metrics, the member that is read from, and the number of leases."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from ansible_collections.etcdops.headroom.plugins.module_utils._audit.pages import NO_USER, read_failure
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.scrape import Scrape, ScrapeError, parse_scrape
from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import format_count
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import http_api
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster import Cluster, Member
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster_view import observe_cluster
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import (
    Connection,
    EtcdctlError,
    run_etcdctl,
)

_THREADS = 16
# etcd does not limit its answer, which would be megabytes for more leases.
_MAX_LEASES = 100_000


class MeasureError(ValueError):
    """A request that is invalid, or a cluster that does not answer."""


@dataclass(frozen=True)
class Timing:
    """The clock (seconds), the pause and the random numbers (0 to 1) that a measurement uses. now: seconds since 1970."""

    clock: Callable[[], float]
    pause: Callable[[float], None]
    random: Callable[[], float]
    now: Callable[[], float] = time.time


def answering_cluster(connection: Connection, endpoints: list[str]) -> Cluster:
    """Return the cluster. Raises MeasureError if no member answers."""
    cluster = observe_cluster(connection, endpoints, read_at_endpoints=True)[0]
    if not cluster.members:
        fix = (
            "Authentication is on: set login_user and login_password, or client_cert and client_key of a user"
            if any(text in cluster.error for text in NO_USER)
            else "Set endpoints to client URLs, and ca_cert, client_cert and client_key to certificates that the members accept"
        )
        raise MeasureError(f"no etcd answers: {cluster.error}. {fix}")
    return cluster


def choose_reader(cluster: Cluster) -> Member:
    """Return the member from which keys are read: a follower, that which lags least, before the leader. Raises MeasureError."""
    usable = [member for member in cluster.members if member.votes and member.endpoint and member.version is not None]
    usable = usable or [member for member in cluster.members if member.votes and member.healthy]
    if not usable:
        found = "; ".join(
            f"{member.name or member.id} at {member.endpoint or 'no URL'}: {member.status_error or member.health_error}"
            for member in cluster.members
        )
        raise MeasureError(
            f"no voting member returns its status: {found}. Add a URL to endpoints at which a member itself answers, "
            "or correct the members' advertise-client-urls"
        )
    return min(usable, key=lambda member: (member.role == "leader", member.lag or 0, member.name))


def scrape_members(
    connection: Connection, cluster: Cluster, urls: list[str], clock: Callable[[], float]
) -> dict[str, Scrape | str]:
    """Read the metrics of all members at once: by member id, the page, or why there is none."""
    targets = urls or [member.endpoint for member in cluster.members if member.endpoint]
    with ThreadPoolExecutor(max_workers=_THREADS) as pool:
        found = list(pool.map(lambda url: _scrape(connection, url, clock), targets))
    if not urls:
        answered = iter(found)
        return {
            member.id: _own(next(answered), member) if member.endpoint else "it was added but never started"
            for member in cluster.members
        }
    problems = [page for page in found if isinstance(page, str)]
    missing = "; ".join(problems) or "no page of metrics_urls is this member's"
    pages: dict[str, Scrape | str] = {member.id: missing for member in cluster.members}
    pages.update({page.member_id: page for page in found if isinstance(page, Scrape)})
    return pages


def _own(page: Scrape | str, member: Member) -> Scrape | str:
    """Return a page of metrics, or why it is not the member's: a load balancer chooses a member for each request."""
    if isinstance(page, str) or page.member_id == member.id:
        return page
    return f"the metrics at {member.endpoint} are those of another member ({page.member_id})"


def _scrape(connection: Connection, url: str, clock: Callable[[], float]) -> Scrape | str:
    base = url[: -len("/metrics")] if url.endswith("/metrics") else url.rstrip("/")
    began = clock()
    try:
        page = http_api.fetch_metrics(connection, base)
        return parse_scrape(page, (began + clock()) / 2)
    except EtcdctlError as error:
        return str(error)
    except ScrapeError as error:
        return f"{base}/metrics: {error}"


def count_leases(connection: Connection, url: str, page: Scrape | str) -> int | str:
    """Return the number of leases, or why they were not counted. ``page``: the member's metrics, or why there are none."""
    known = page.figures if isinstance(page, Scrape) else {}
    granted = round(known.get("leases_granted", 0) - known.get("leases_revoked", 0))
    if granted > _MAX_LEASES:
        return (
            f"there are more than {format_count(_MAX_LEASES)} ({format_count(granted)} granted since the member started), "
            "and etcd can only list all of them in one answer"
        )
    try:
        answer = run_etcdctl(connection, [url], "lease", "list")
        if answer.returncode != 0:
            return str(read_failure(answer, connection.timeout)).replace("keys", "leases")
        return len(json.loads(answer.stdout).get("leases", []))
    except (EtcdctlError, ValueError, AttributeError) as error:
        return f"the list of leases could not be read: {error}"
