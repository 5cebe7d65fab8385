# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Real etcd exits on the config files that check_config refuses, and takes those that it accepts."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._model.releases import check_config

from bench.common.member import binary, releases
from tests.integration.client import EVENT_SECONDS

OLD, MIDDLE, NEW = releases()
BOTH_FLAGS = "cannot specify both flags"
SUITES = ["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"]
BOTH_NAMES = "cannot set --experimental"
# etcd looks at its data dir after it has checked its settings, and before it listens.
ACCEPTED = "failed to list data directory"


def answer(version: str, config: dict[str, Any], folder: Path) -> str:
    """Return the output of an etcd that cannot start, because its data dir is a file unless config has another one."""
    data = folder / "file"
    data.touch()
    path = folder / "etcd.yml"
    path.write_text(json.dumps({"name": "m0", "data-dir": str(data), **config}), encoding="utf-8")
    done = subprocess.run(
        [str(binary(version)), "--config-file", str(path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=EVENT_SECONDS,
        env={},
    )
    return done.stdout + done.stderr


@pytest.mark.parametrize(
    ("version", "config", "said"),
    [
        (MIDDLE, {"experimental-snapshot-catch-up-entries": 5, "snapshot-catchup-entries": 5}, BOTH_NAMES),
        (
            MIDDLE,
            {
                "experimental-peer-skip-client-san-verification": True,
                "peer-transport-security": {"skip-client-san-verification": True},
            },
            BOTH_NAMES,
        ),
        (
            MIDDLE,
            {"experimental-initial-corrupt-check": False, "feature-gates": "InitialCorruptCheck=true"},
            BOTH_FLAGS,
        ),
        (
            MIDDLE,
            {"experimental-enable-lease-checkpoint": True, "feature-gates": "LeaseCheckpointPersist=false"},
            BOTH_FLAGS,
        ),
        (MIDDLE, {"feature-gates": "FastLeaseKeepAlive=true"}, "unrecognized feature gate"),
        (NEW, {"feature-gates": "StopGRPCOnDefrag=true"}, "unrecognized feature gate"),
        (OLD, {"tls-min-version": "TLS1.3", "tls-max-version": "TLS1.2"}, "is greater than max version"),
        (NEW, {"tls-min-version": "TLS1.3", "cipher-suites": SUITES}, "cipher suites cannot be configured"),
        (OLD, {"experimental-compact-hash-check-time": 0}, "must be >0"),
        (NEW, {"compact-hash-check-time": 0}, "must be >0"),
        (NEW, {"feature-gates": "LeaseCheckpointPersist=true"}, "requires enabling feature gate LeaseCheckpoint"),
        (
            NEW,
            {"feature-gates": "AllAlpha=true,LeaseCheckpoint=false"},
            "requires enabling feature gate LeaseCheckpoint",
        ),
    ],
)
def test_refused(version: str, config: dict[str, Any], said: str, tmp_path: Path) -> None:
    assert len(check_config(version, config)) == 1
    assert said in answer(version, config, tmp_path)


@pytest.mark.parametrize(
    ("version", "config"),
    [
        (MIDDLE, {"experimental-snapshot-catch-up-entries": 5}),
        (NEW, {"feature-gates": "FastLeaseKeepAlive=false, PriorityRequest=T,"}),
        (NEW, {"tls-min-version": "TLS1.3", "tls-max-version": "TLS1.3", "cipher-suites": []}),
        (NEW, {"tls-max-version": "TLS1.2", "cipher-suites": SUITES, "compact-hash-check-time": 1}),
        (NEW, {"feature-gates": "AllAlpha=true,LeaseCheckpointPersist=true"}),
        # What role etcd renders beside a setting of 3.5 that its user kept.
        (MIDDLE, {"experimental-initial-corrupt-check": True, "feature-gates": "StopGRPCServiceOnDefrag=true"}),
    ],
)
def test_accepted(version: str, config: dict[str, Any], tmp_path: Path) -> None:
    assert check_config(version, config) == []
    assert ACCEPTED in answer(version, config, tmp_path)


@pytest.mark.parametrize("version", [OLD, MIDDLE, NEW])
@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("listen-client-urls", "must be provided for client url"),
        ("listen-client-http-urls", "must be provided for client url"),
        ("listen-peer-urls", "KeyFile and CertFile are not presented"),
        ("listen-metrics-urls", "must be provided for metrics secure url"),
    ],
)
def test_https_without_a_certificate(version: str, setting: str, said: str, tmp_path: Path) -> None:
    """The rule flags/wrong_type denies it."""
    urls = {"listen-client-urls": "http://127.0.0.1:0", "listen-peer-urls": "http://127.0.0.1:0"}
    config = {**urls, "advertise-client-urls": "http://127.0.0.1:1", setting: "https://127.0.0.1:0"}
    assert said in answer(version, {**config, "data-dir": str(tmp_path / "data")}, tmp_path)
