# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Maintain etcd from timers, without a controller: ``headroom defrag|snapshot|drill|integrity|status``.

The role etcd_maintenance installs this program with a copy of the modules that it imports, so that Ansible and timers
share one implementation. The hosts agree through the cluster on which of them acts.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._base.durations import format_utc
from ansible_collections.etcdops.headroom.plugins.module_utils._base.locks import wait_for_lock
from ansible_collections.etcdops.headroom.plugins.module_utils._base.signals import exit_on_signals
from ansible_collections.etcdops.headroom.plugins.module_utils._defrag.limit import restore_limit
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.lock import LockError, read_lock
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance import (
    configuration,
    defrag,
    drill,
    integrity,
    snapshot,
    timers,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance import records as maintenance_records
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance.configuration import Config
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance.metrics import write_metrics

# Longer than an operation takes to write its record and the metrics.
_WRITE_SECONDS = 20.0
# Each returns a record without the entries that ``run_operation`` adds, and raises ValueError or OSError.
_OPERATIONS: dict[str, Callable[[Config, bool], dict[str, Any]]] = {
    "defrag": defrag.run,
    "snapshot": snapshot.run,
    "drill": drill.run,
    "integrity": integrity.run,
}


def main(argv: list[str]) -> int:
    """Run one operation, or show the state. Returns the exit status: 1 if the operation failed."""
    parser = argparse.ArgumentParser(prog="headroom", description="Maintain the etcd member on this host.")
    parser.add_argument(
        "--config", default=maintenance_records.CONFIG_FILE, help=f"default {maintenance_records.CONFIG_FILE}"
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, text in (
        ("defrag", "defragment this host's member, if it is worthwhile and possible"),
        ("snapshot", "take the cluster's backup, if no other host has yet"),
        ("drill", "restore the newest backup of this host into a scratch member, and compare it with the cluster"),
        ("integrity", "compare the members' hashes of all keys, if this host's member leads"),
    ):
        command = commands.add_parser(name, help=text, description=text)
        command.add_argument(
            "--check", action="store_true", help="only say what would be done, or why nothing would be"
        )
    commands.add_parser("status", help="show the last runs and the next ones")
    commands.add_parser("settle", help="restore the memory limit that a killed run left raised")
    arguments = parser.parse_args(argv)
    exit_on_signals()
    try:
        config = configuration.load_config(arguments.config)
    except ValueError as error:
        sys.stderr.write(f"headroom: {error}\n")
        return 1
    if arguments.command == "status":
        sys.stdout.write("".join(f"{line}\n" for line in describe_status(config)))
        return 0
    if arguments.command == "settle":
        problem = restore_limit(config.unit, config.connection, config.endpoints[0])
        if problem:
            sys.stderr.write(f"headroom: {problem}\n")
        return 1 if problem else 0
    record = run_operation(arguments.command, config, arguments.check)
    sys.stdout.write(f"{json.dumps(record)}\n")
    return 1 if record["result"] == "failed" else 0


def run_operation(operation: str, config: Config, check: bool) -> dict[str, Any]:
    """Run an operation and save its record, except in check mode.

    A signal, and any other exception than ValueError and OSError, also leaves a failed record, which is printed, and is raised again.
    """
    began, clock = time.time(), time.monotonic()
    try:
        found = _OPERATIONS[operation](config, check)
    except (ValueError, OSError) as error:
        found = {"result": "failed", "reason": str(error), "settled": False}
    except (SystemExit, Exception) as error:
        if not check and not (isinstance(error, SystemExit) and error.code in (None, 0)):
            found = _interrupted(operation, config, began, error)
            record = maintenance_records.new_record(operation, config.cluster, began, time.monotonic() - clock, found)
            sys.stdout.write(f"{json.dumps(_save(config, record))}\n")
        raise
    record = maintenance_records.new_record(operation, config.cluster, began, time.monotonic() - clock, found)
    return {**record, "check": True} if check else _save(config, record)


def _interrupted(operation: str, config: Config, began: float, error: BaseException) -> dict[str, Any]:
    """Return what is known of a run that ``error`` ended, with what it has saved itself."""
    found = {"result": "failed", "reason": _cause(operation, error), "settled": False}
    before = maintenance_records.read_records(config.state_dir, config.cluster).get(operation, {})
    # A backup saves a record before it makes its copies.
    if before.get("result") != "failed" or before["started_at"] < format_utc(began):
        return found
    kept = {name: value for name, value in before.items() if name not in ("started_at", "seconds")}
    return {**kept, **found, "reason": f"{before['reason']}: {found['reason']}"}


def _cause(operation: str, error: BaseException) -> str:
    """Return what ended a run, for its record."""
    journal = f"`journalctl -u headroom-{operation}` on the host"
    if not isinstance(error, SystemExit):
        return f"an error in the program ended it ({type(error).__name__}: {error}): {journal} shows where"
    try:
        name = signal.Signals(int(error.code or 0) - 128).name
    except ValueError:
        return f"it exited with {error.code!r}: {journal} shows why"
    return f"{name} ended it before it had finished: {journal} shows whether it was stopped or reached its time limit"


def _save(config: Config, record: dict[str, Any]) -> dict[str, Any]:
    """Save a record and the metrics. Returns the record, which has failed if they could not be written."""
    with _one_writer(config.state_dir):
        # Each on its own: the record is needed most where the metrics cannot be written.
        for what, write in (
            ("record", lambda: maintenance_records.save_record(config.state_dir, record)),
            ("metrics", lambda: write_metrics(config)),
        ):
            try:
                write()
            except OSError as error:
                record["result"] = "failed"
                record["reason"] += f"; its {what} could not be written: {error.filename}: {error.strerror}"
    return record


@contextlib.contextmanager
def _one_writer(folder: str) -> Iterator[None]:
    """Keep other operations from writing the metrics, which are of all records, until the block has ended, if they do so in time."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):  # saving the record reports it
            handle = os.open(folder, os.O_RDONLY)
            stack.callback(os.close, handle)
            wait_for_lock(handle, _WRITE_SECONDS)
        yield


def describe_status(config: Config) -> list[str]:
    """Return the status as lines of text: the holder of the cluster's lock, the last runs and the next ones."""
    records = maintenance_records.read_records(config.state_dir, config.cluster)
    states = timers.timer_states([f"headroom-{name}.timer" for name in maintenance_records.OPERATIONS])
    lines = [f"etcd cluster {config.cluster}, member {config.member}"]
    try:
        held = read_lock(config.connection, config.endpoints)
        lines.append(str(held) if held else "nobody holds the cluster's lock")
    except LockError as error:
        lines.append(f"the holder of the cluster's lock is unknown: {error}")
    return [
        *lines,
        *maintenance_records.summarize(
            records,
            {
                name: state["next"] if state["active"] else ""
                for name, state in zip(maintenance_records.OPERATIONS, states.values())
            },
        ),
    ]
