"""Measure one case: an operation with a fault, under a client that writes all the time."""

from __future__ import annotations

import os
import ssl
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from uuid import uuid4

from bench.common.campaign import hosts, play
from bench.common.campaign.case import KILL, Case
from bench.common.campaign.client import Client, Record, read_back
from bench.common.campaign.faults import BY_NAME, Injection
from bench.common.campaign.operation import Lab, Operation
from bench.common.campaign.play import KILLED_IN, Outcome, Step
from bench.common.campaign.results import KILLED, SEPARATOR, Row
from bench.common.gateway import tls_context
from bench.common.lab import PROJECT

# What a play runs; the benchmarks themselves are beside it.
MEASURED = ("plugins", "roles", "playbooks", "site.yml")
WARM_SECONDS = 2.0
HEALTHY_SECONDS = 60.0
EARLY = "the run ended before the kill"


def connect() -> ssl.SSLContext | None:
    """Return a context with the certificates of a host, or None as long as no host has them."""
    folder = hosts.fetch_certificates()
    try:
        return tls_context(folder) if folder else None
    except ssl.SSLError:  # they are being replaced
        return None


def commit() -> str:
    """Return the last commit that changed what is measured, with a + if it has changed since."""
    last = ["git", "log", "-1", "--format=%h", "--", *MEASURED]
    dirty = ["git", "status", "--porcelain", "--", *MEASURED]
    found, changed = (
        subprocess.run(words, cwd=PROJECT, capture_output=True, text=True, check=False).stdout.strip()
        for words in (last, dirty)
    )
    return (found or "unknown") + ("+" if changed else "")


def measure(
    lab: Lab,
    operation: Operation,
    case: Case,
    number: int,
    kills: Sequence[str] = (),
    middles: Mapping[str, float] | None = None,
) -> tuple[Row, tuple[Step, ...]]:
    """Measure a case; return its row, and the steps of its disturbed run.

    number: makes the change of each case different. kills: the moments at which successive runs are killed, until one ends before its kill; by
    default that of the case. middles: when each task is in its middle, for a walk; see walk.begin.
    """
    began = time.monotonic()
    operation.prepare(lab, number)
    # Not earlier: to prepare a deployment is to build a new lab, without the file of the walk.
    play.begin_walk(middles or {})
    prefix = f"/chaos/{uuid4().hex}/"
    client = Client(prefix, hosts.urls(), connect)
    client.record.members = operation.voters or client.record.members
    injection = Injection(BY_NAME[case.fault]) if case.fault in BY_NAME else None
    client.start()
    try:
        if operation.serves_before:
            _wait_for_writes(client)
            time.sleep(WARM_SECONDS)
        operation.prepare_under_load(lab)
        moment, *later = kills or [case.at]
        first = operation.run(lab, kill=moment if case.fault == KILL else "", injection=injection)
        if injection:
            injection.finish()
        killed, following = _run_to_end(lab, operation, first, later)
        last = following or first
        healthy = hosts.wait_healthy(HEALTHY_SECONDS, lab.members())
        site = play.run(lab.arguments())
        time.sleep(1.0)
    finally:
        record = client.stop()
    problem = _problem(case, first, injection)
    try:
        lost = len(record.lost(read_back(prefix, hosts.urls(), _context()), operation.must_survive))
    except OSError as error:
        lost, problem = sum(write.acknowledged for write in record.writes), f"{problem}; {error}".strip("; ")
    row = _row(case, record, first, killed, following, site)
    row = replace(
        row,
        seconds=round(time.monotonic() - began, 1),
        lost=lost,
        converged=last.code == 0 and healthy and operation.is_complete(),
        problem=problem,
    )
    return row, first.steps


def _row(
    case: Case, record: Record, first: Outcome, killed: Sequence[Outcome], following: Outcome | None, site: Outcome
) -> Row:
    """Return the row of a case, without its duration, lost writes, convergence and problem.

    killed: the runs that were killed after the first one. following: the run that ended by itself after them. site: the last run of site.yml.
    """
    failed, otherwise = record.failed()
    return Row(
        operation=case.operation,
        fault=case.fault,
        at=case.at,
        date=datetime.now(timezone.utc).strftime("%Y-%m-%d"),
        commit=commit(),
        seconds=0.0,
        run_seconds=round(first.seconds, 1),
        writes=sum(write.acknowledged for write in record.writes),
        failed=failed,
        failed_otherwise=otherwise,
        lost=0,
        pause=round(record.longest_pause(), 2),
        code=_code(first),
        said=first.said,
        next_code=_code(following) if following else "",
        next_said=following.said if following else "",
        next_seconds=round(following.seconds if following else 0.0, 1),
        converged=False,
        unchanged=site.unchanged,
        last_said=_last_problem(site),
        load=round(os.getloadavg()[0], 1),
        problem="",
        tasks=SEPARATOR.join(one.said.removeprefix(KILLED_IN) for one in killed),
    )


def _run_to_end(
    lab: Lab, operation: Operation, first: Outcome, later: Sequence[str]
) -> tuple[list[Outcome], Outcome | None]:
    """Run an operation until a run ends by itself. Returns the runs that were killed after the first, and the last one (None: not needed)."""
    killed: list[Outcome] = []
    if first.code == 0 and not operation.has_work_left():
        return killed, None
    for kill in later if first.code is None else ():
        outcome = operation.rerun(lab, kill=kill)
        if outcome.code is not None:
            return killed, outcome
        killed.append(outcome)
    return killed, operation.rerun(lab)


def _wait_for_writes(client: Client) -> None:
    """Wait until the cluster accepts the client's writes. Raises RuntimeError after a minute."""
    end = time.monotonic() + 60
    while not client.acknowledged(within=1.0):
        if time.monotonic() > end:
            raise RuntimeError("the cluster accepts no writes before the case begins")
        time.sleep(0.1)


def _context() -> ssl.SSLContext:
    context = connect()
    if context is None:
        raise OSError("no host has certificates")
    return context


def _code(outcome: Outcome) -> str:
    return KILLED if outcome.code is None else str(outcome.code)


def _last_problem(outcome: Outcome) -> str:
    """Return what the last run of site.yml changed, or its error; empty if it changed nothing."""
    if outcome.unchanged:
        return ""
    changed = ", ".join(str(step.point) for step in outcome.steps if step.changed)
    return outcome.said or play.shorten(f"changed something: {changed}")


def _problem(case: Case, first: Outcome, injection: Injection | None) -> str:
    """Return why the case does not count: the play ended before the kill, or the fault did not begin; empty if it counts."""
    if case.fault == KILL and first.code is not None:
        return EARLY
    if injection and (injection.problem or not injection.began):
        return injection.problem or "the run ended before the fault"
    return ""
