# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Query the members of a cluster: member list, status, health and metrics."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from ansible_collections.etcdops.headroom.plugins.module_utils._base.processes import ProcessResult
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import http_api
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster import (
    Cluster,
    Member,
    assemble_cluster,
    choose_url,
    unreachable_cluster,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import (
    Connection,
    EtcdctlError,
    MemberList,
    Status,
    failure_reason,
    parse_health,
    parse_members,
    parse_status,
    run_etcdctl,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.member_metrics import (
    MemberMetrics,
    parse_member_metrics,
)

_THREADS = 16
# How long a cluster without a healthy voter is asked again, and how often: an election, or a disk that is busy for a moment, passes.
GRACE_SECONDS, PAUSE = 15.0, 1.0


class NoAnswerError(ValueError):
    """No member returned the member list."""


@dataclass(frozen=True)
class ClusterView:
    """A cluster, and by name the metrics of each voting member, or why they could not be read."""

    cluster: Cluster
    metrics: dict[str, MemberMetrics | str]


def observe_serving_cluster(connection: Connection, endpoints: list[str]) -> tuple[Cluster, str]:
    """As observe_cluster, but while members answer and no voter is healthy, ask again for at most GRACE_SECONDS."""
    deadline = time.monotonic() + GRACE_SECONDS
    while True:
        cluster, answered_by = observe_cluster(connection, endpoints)
        voters = [member for member in cluster.members if member.votes]
        if not voters or any(member.healthy for member in voters) or time.monotonic() >= deadline:
            return cluster, answered_by
        time.sleep(PAUSE)


def observe_cluster(
    connection: Connection, endpoints: list[str], *, read_at_endpoints: bool = False
) -> tuple[Cluster, str]:
    """Query a cluster's members, their status and their health.

    The list is requested from ``endpoints``; then each member is asked at its own client URL. Statuses are requested by
    one etcdctl for each member, all at once: a single etcdctl asks for them one after the other, and each silent member
    would cost a whole timeout.
    read_at_endpoints: ask a member whose own URL does not answer at the one of ``endpoints`` that answers with its id, such
    as a forwarded port. Only to read: behind a load balancer, the next request may reach another member.
    Returns the cluster and the name of the member that returned the list. Raises EtcdctlError if etcdctl cannot be run;
    a cluster that does not answer is a result.
    """
    with ThreadPoolExecutor(max_workers=_THREADS) as pool:
        refused = _connection_problems(pool, connection, endpoints)
        open_endpoints = [url for url in endpoints if not refused[url]]
        if not open_endpoints:
            return unreachable_cluster("; ".join(f"{url}: {refused[url]}" for url in endpoints)), ""
        try:
            listed = _request_member_list(connection, open_endpoints)
        except NoAnswerError as error:
            return unreachable_cluster(str(error)), ""
        targets = {member.id: choose_url(member.client_urls, endpoints) for member in listed.members}
        urls = [url for url in targets.values() if url]
        refused = _connection_problems(pool, connection, urls)
        open_urls = [url for url in urls if not refused[url]]
        status_jobs = [pool.submit(run_etcdctl, connection, [url], "endpoint", "status") for url in open_urls]
        # A learner serves no reads: etcdctl 3.5 would retry until its time limit.
        learners = {targets[member.id] for member in listed.members if member.learner}
        readable = [url for url in open_urls if url not in learners]
        healths = parse_health(_output(run_etcdctl(connection, readable, "endpoint", "health"))) if readable else {}
        statuses: dict[str, Status] = {}
        for url, job in zip(open_urls, status_jobs):
            answer = job.result()
            statuses.update(parse_status(_output(answer)))
            if url not in statuses:
                refused[url] = failure_reason(answer)
        if read_at_endpoints:
            spare = [url for url in open_endpoints if url not in urls]
            silent = {member_id for member_id, url in targets.items() if url and url not in statuses}
            found = _statuses_of_silent(pool, connection, spare, silent)
            targets.update({status.member_id: url for url, status in found.items()})
            statuses.update(found)
            readable = [url for url, status in found.items() if not status.learner]
            if readable:
                healths.update(parse_health(_output(run_etcdctl(connection, readable, "endpoint", "health"))))
    cluster = assemble_cluster(listed, targets, statuses, healths, refused)
    return cluster, next((member.name for member in listed.members if member.id == listed.answered_by), "")


def _statuses_of_silent(
    pool: ThreadPoolExecutor, connection: Connection, urls: list[str], silent: set[str]
) -> dict[str, Status]:
    """Return the statuses at these URLs, one for each member that is among the silent ones. silent: ids."""
    found: dict[str, Status] = {}
    for url, answer in zip(urls, pool.map(lambda url: run_etcdctl(connection, [url], "endpoint", "status"), urls)):
        status = parse_status(_output(answer)).get(url)
        if status and status.member_id in silent - {one.member_id for one in found.values()}:
            found[url] = status
    return found


def view_cluster(connection: Connection, endpoints: list[str]) -> ClusterView:
    """Query the cluster, and then the metrics of all voting members in parallel. Raises EtcdctlError."""
    cluster, _answered_by = observe_cluster(connection, endpoints)
    voters = [member for member in cluster.members if member.votes and member.endpoint]
    with ThreadPoolExecutor(max_workers=_THREADS) as pool:
        found = pool.map(lambda member: _fetch_member_metrics(connection, member), voters)
        return ClusterView(cluster, {member.name: metrics for member, metrics in zip(voters, found)})


def _request_member_list(connection: Connection, endpoints: list[str]) -> MemberList:
    """Request the member list without a majority, so that a cluster without quorum can be described too.

    etcdctl can do that since 3.6. With 3.5 the gRPC gateway is asked, and etcdctl only where the gateway is disabled.
    """
    answer = run_etcdctl(connection, endpoints, "member", "list", "--consistency=s")
    if answer.returncode not in (0, None) and "unknown flag" in answer.stderr:
        for url in endpoints:
            try:
                return http_api.fetch_member_list(connection, url)
            except EtcdctlError:
                continue
        answer = run_etcdctl(connection, endpoints, "member", "list")
    elif "not supported for learner" in answer.stderr:
        # etcdctl chose the endpoint of a learner: query one after the other.
        answers = (run_etcdctl(connection, [url], "member", "list", "--consistency=s") for url in endpoints)
        answer = next((other for other in answers if other.returncode == 0), answer)
    if answer.returncode != 0:
        raise NoAnswerError(f"{', '.join(endpoints)}: {failure_reason(answer)}")
    return parse_members(answer.stdout)


def _connection_problems(pool: ThreadPoolExecutor, connection: Connection, urls: list[str]) -> dict[str, str]:
    return dict(zip(urls, pool.map(lambda url: http_api.connection_problem(url, connection.timeout), urls)))


def _output(answer: ProcessResult) -> str:
    """Return standard output, which contains the members that answered even if the exit status is not 0."""
    return answer.stdout or "null"


def _fetch_member_metrics(connection: Connection, member: Member) -> MemberMetrics | str:
    try:
        return parse_member_metrics(http_api.fetch_metrics(connection, member.endpoint), member.db_size_in_use or 0)
    except EtcdctlError as error:
        return str(error)
