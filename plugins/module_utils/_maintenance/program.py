# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The program that maintains etcd from timers, without a controller: ``headroom defrag|snapshot|drill|status``.

Private to the collection. The role etcd_maintenance installs it, with the modules that it needs, as they are here: what
Ansible does and what a timer does is one implementation. Which host acts is decided in the cluster, not here.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._base.durations import format_utc
from ansible_collections.etcdops.headroom.plugins.module_utils._base.files import write_atomically
from ansible_collections.etcdops.headroom.plugins.module_utils._base.signals import exit_on_signals
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.lock import LockError, read_lock
from ansible_collections.etcdops.headroom.plugins.module_utils._host.memory_limit import restore
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance import (
    configuration,
    defrag,
    drill,
    snapshot,
    timers,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance import records as maintenance_records
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance.configuration import Config

# Each returns a record without what ``perform`` adds, and raises ValueError or OSError.
RUNS: dict[str, Callable[[Config, bool], dict[str, Any]]] = {
    "defrag": defrag.run,
    "snapshot": snapshot.run,
    "drill": drill.run,
}


def main(argv: list[str]) -> int:
    """Run one operation or show what was done. Returns the exit status: 1 if the operation failed."""
    parser = argparse.ArgumentParser(prog="headroom", description="Maintain the etcd member on this host.")
    parser.add_argument("--config", default=configuration.CONFIG_FILE, help=f"default {configuration.CONFIG_FILE}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, text in (
        ("defrag", "defragment this host's member, if it pays and may be done"),
        ("snapshot", "take the cluster's backup, if no other host has yet"),
        ("drill", "restore the newest backup of this host beside etcd, and compare it with the cluster"),
    ):
        command = commands.add_parser(name, help=text, description=text)
        command.add_argument("--check", action="store_true", help="only say what would be done, and why not")
    commands.add_parser("status", help="show what was done last, and what comes next")
    commands.add_parser("settle", help="put back what a run that was killed left: the memory limit")
    asked = parser.parse_args(argv)
    exit_on_signals()
    try:
        config = configuration.load_config(asked.config)
    except ValueError as error:
        sys.stderr.write(f"headroom: {error}\n")
        return 1
    if asked.command == "status":
        sys.stdout.write("".join(f"{line}\n" for line in status(config)))
        return 0
    if asked.command == "settle":
        problem = restore(config.unit)
        if problem:
            sys.stderr.write(f"headroom: {problem}\n")
        return 1 if problem else 0
    record = perform(asked.command, config, asked.check)
    sys.stdout.write(f"{json.dumps(record)}\n")
    return 1 if record["result"] == "failed" else 0


def perform(operation: str, config: Config, check: bool) -> dict[str, Any]:
    """Run an operation and keep its record; in check mode nothing is kept."""
    began, clock = time.time(), time.monotonic()
    try:
        found = RUNS[operation](config, check)
    except (ValueError, OSError) as error:
        found = {"result": "failed", "reason": str(error), "settled": False}
    record = {
        "operation": operation,
        "result": found["result"],
        "reason": found["reason"],
        "started_at": format_utc(began),
        "seconds": round(time.monotonic() - clock, 3),
        "cluster": config.cluster,
        "host": os.uname().nodename,
        **found,
    }
    if check:
        return {**record, "check": True}
    try:
        maintenance_records.save_record(config.state_dir, record)
        publish(config)
    except OSError as error:
        record["result"] = "failed"
        record["reason"] += f"; the report could not be written: {error.filename}: {error.strerror}"
    return record


def publish(config: Config) -> None:
    """Write the metrics of all operations, where that is wanted. Raises OSError."""
    if config.metrics_dir:
        records = maintenance_records.read_records(config.state_dir)
        text = maintenance_records.format_metrics(config.cluster, config.member, records)
        write_atomically(os.path.join(config.metrics_dir, maintenance_records.METRICS_FILE), text)


def status(config: Config) -> list[str]:
    """Return what was done last, what comes next, and who holds the cluster's lock, for a person to read."""
    records = maintenance_records.read_records(config.state_dir)
    states = {name: timers.timer_state(f"headroom-{name}.timer") for name in maintenance_records.OPERATIONS}
    lines = [f"etcd cluster {config.cluster}, member {config.member}"]
    try:
        held = read_lock(config.link, config.endpoints)
        lines.append(str(held) if held else "nobody holds the cluster's lock")
    except LockError as error:
        lines.append(f"who holds the cluster's lock is not known: {error}")
    return [
        *lines,
        *maintenance_records.summarize(
            records, {name: state["next"] if state["active"] else "" for name, state in states.items()}
        ),
    ]
