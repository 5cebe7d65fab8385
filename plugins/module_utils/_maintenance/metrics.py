# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The metrics file of the enabled operations, for the node exporter's textfile collector.

An operation that was switched off has no metrics: they would stay as they were, and alerts on their age would fire. The module writes the file
if it is missing, or its settings or certificates have changed, and each run of an operation replaces it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection

from ansible_collections.etcdops.headroom.plugins.module_utils._base.files import read_text, write_atomically
from ansible_collections.etcdops.headroom.plugins.module_utils._base.prometheus import Sample, parse_samples
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance.certificates import expiry_times
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance.configuration import Config
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance.records import (
    ENABLED_METRIC,
    EXPIRY_METRIC,
    INTERVAL_METRIC,
    METRICS_FILE,
    OPERATIONS,
    format_metrics,
    read_records,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance.timers import (
    CalendarError,
    longest_interval,
    next_runs,
)

# More than a week of hourly runs, for calendars that leave out some days.
_RUNS = 200
# The metrics that no run of an operation changes.
_SETTINGS = (ENABLED_METRIC, INTERVAL_METRIC)


def metrics_path(directory: str) -> str:
    """Return the path of the metrics file; empty without a directory."""
    return os.path.join(directory, METRICS_FILE) if directory else ""


def enabled_operations(config: Config) -> list[str]:
    """Return the operations that have a timer."""
    return [name for name in OPERATIONS if getattr(config, name).enabled]


def timer_intervals(config: Config, operations: Collection[str] = OPERATIONS) -> dict[str, int]:
    """Return the longest seconds between two runs of each of the operations that is enabled, without those that systemd does not know."""
    found = {}
    for name in enabled_operations(config):
        if name not in operations:
            continue
        with contextlib.suppress(CalendarError):
            interval = longest_interval(next_runs(getattr(config, name).calendar, _RUNS))
            if interval is not None:
                found[name] = interval
    return found


def metrics_text(config: Config) -> str:
    """Return the metrics of all enabled operations."""
    enabled = enabled_operations(config)
    found = read_records(config.state_dir, config.cluster)
    records = {name: record for name, record in found.items() if name in enabled}
    expiries = expiry_times(os.path.dirname(config.connection.client_cert or ""))
    return format_metrics(config.cluster, config.member, records, expiries, enabled, timer_intervals(config))


def write_metrics(config: Config) -> None:
    """Write the metrics, if the configuration has a directory for them and an operation is enabled. Raises OSError."""
    if config.metrics_dir and enabled_operations(config):
        write_atomically(metrics_path(config.metrics_dir), metrics_text(config))


def obsolete_metrics(config: Config, installed_dir: str) -> list[str]:
    """Return the metrics files that no timer updates any more. installed_dir: the directory in the installed configuration."""
    path = metrics_path(config.metrics_dir)
    kept = path if enabled_operations(config) else ""
    found = dict.fromkeys([metrics_path(installed_dir), path])
    return [file for file in found if file and file != kept and os.path.lexists(file)]


def outdated_metrics(config: Config) -> dict[str, str]:
    """Return the metrics file and its new text, if the file is missing or has other settings or certificates than the host; else nothing."""
    path = metrics_path(config.metrics_dir) if enabled_operations(config) else ""
    if not path:
        return {}
    before, wanted = read_text(path), metrics_text(config)
    # Alerts on hosts without metrics, or with other intervals, cannot wait for the next run.
    outdated = not os.path.lexists(path) or _samples(before, *_SETTINGS) != _samples(wanted, *_SETTINGS)
    # The Python of the timers, or that of the modules, may lack the library that reads certificates.
    known, ends = _samples(before, EXPIRY_METRIC), _samples(wanted, EXPIRY_METRIC)
    outdated = outdated or bool(known and ends and known != ends)
    return {path: wanted} if outdated else {}


def _samples(text: str, *names: str) -> set[Sample]:
    return {sample for sample in parse_samples(text) if sample.name in names}
