# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What each version calls its settings, and which config files it would misread."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._model import releases
from ansible_collections.etcdops.headroom.plugins.module_utils._model.release_tables import SERIES, SETTINGS


@pytest.mark.parametrize(
    ("version", "series"), [("3.5.0", "3.5"), ("3.6.16", "3.6"), ("3.7.3", "3.7"), ("3.7.99", "3.7")]
)
def test_series(version: str, series: str) -> None:
    assert releases.series(version) == series


@pytest.mark.parametrize("bad", ["3.4.30", "3.8.0", "4.0.0", "3.6", "v3.6.16", "", "3.6.16-rc.0", "03.6.1", 3.6, None])
def test_unknown_versions_name_the_known(bad: Any) -> None:
    with pytest.raises(releases.UnknownVersion, match=r"3\.5 \(newest 3\.5\.35\), 3\.6 \(newest .*3\.7 \(newest"):
        releases.series(bad)


@pytest.mark.parametrize(
    ("version", "key"),
    [
        ("3.5.35", "experimental-snapshot-catch-up-entries"),
        ("3.6.16", "snapshot-catchup-entries"),
        ("3.7.3", "snapshot-catchup-entries"),
    ],
)
def test_catchup_is_spelt_as_the_version_does(version: str, key: str) -> None:
    assert releases.render_config(version, {"snapshot_catchup_entries": 500}) == {key: 500}


def test_render_nests_converts_and_leaves_out() -> None:
    settings = {
        "name": "n1",
        "cert_file": "/c",
        "peer_client_cert_auth": True,
        "quota_backend_bytes": "2GB",
        "heartbeat_interval": "100",
        "auto_compaction_retention": 1,
        "corrupt_check_time": "10m",
        "wal_dir": None,
        "gogc": 50,
        "gomemlimit": "1GB",
        "memory_high": 1,
        "memory_max": 1,
    }
    assert releases.render_config(
        "3.6.16", settings, {"log-level": "warn", "client-transport-security": {"key-file": "/k"}}
    ) == {
        "name": "n1",
        "client-transport-security": {"cert-file": "/c", "key-file": "/k"},
        "peer-transport-security": {"client-cert-auth": True},
        "quota-backend-bytes": 2 << 30,
        "heartbeat-interval": 100,
        "auto-compaction-retention": "1",
        "corrupt-check-time": 600 * 10**9,
        "log-level": "warn",
    }


@pytest.mark.parametrize(
    ("version", "settings", "extra", "text"),
    [
        ("3.7.3", {"snapshot_countt": 1}, {}, "snapshot_countt: no such setting of etcd, did you mean snapshot_count?"),
        ("3.5.35", {"max_learners": 1}, {}, "max_learners: etcd 3.5.35 has no such setting (only 3.6, 3.7)"),
        ("3.7.3", {"client_crl_file": "/x"}, {}, "no key for it, only the flag --client-crl-file"),
        ("3.7.3", {"snapshot_count": 1}, {"snapshot-count": 2}, "snapshot-count: set twice"),
        ("3.7.3", {"quota_backend_bytes": "lots"}, {}, "quota-backend-bytes: 'lots' must be a whole number"),
        ("3.7.3", {"max_wals": -1}, {}, "max-wals: -1 must be a whole number, not negative"),
    ],
)
def test_render_refuses(version: str, settings: dict[str, Any], extra: dict[str, Any], text: str) -> None:
    with pytest.raises(releases.BadConfig) as error:
        releases.render_config(version, settings, extra)
    assert text in str(error.value)


@pytest.mark.parametrize(
    ("version", "config", "problem"),
    [
        (
            "3.7.3",
            {"enable-v2": True},
            "enable-v2: etcd 3.7.3 does not have this key and would ignore it: the v2 API is gone since 3.6",
        ),
        (
            "3.6.16",
            {"experimental-snapshot-catchup-entries": 1},
            "experimental-snapshot-catchup-entries: in a config file of 3.6 this spelling resets the value to 5000; use snapshot-catchup-entries",
        ),
        (
            "3.5.35",
            {"snapshot-catchup-entries": 1},
            "snapshot-catchup-entries: etcd 3.5.35 does not have this key and would ignore it: "
            "it is called experimental-snapshot-catch-up-entries",
        ),
        (
            "3.7.3",
            {"experimental-initial-corrupt-check": True},
            "experimental-initial-corrupt-check: etcd 3.7.3 does not have this key and would ignore it: "
            "use feature-gates: InitialCorruptCheck=true",
        ),
        (
            "3.7.3",
            {"cert-file": "/x"},
            "cert-file: etcd 3.7.3 does not have this key and would ignore it: it is called client-transport-security.cert-file",
        ),
        (
            "3.7.3",
            {"peer-transport-security": {"cert_file": "/x"}},
            "peer-transport-security.cert_file: etcd 3.7.3 does not have this key and would ignore it: "
            "it is called peer-transport-security.cert-file",
        ),
        (
            "3.5.35",
            {"snapshot-counter": 1},
            "snapshot-counter: etcd 3.5.35 does not have this key and would ignore it, did you mean snapshot-count?",
        ),
        (
            "3.7.3",
            {"raft-read-timeout": 1},
            "raft-read-timeout: etcd 3.7.3 does not have this key and would ignore it: "
            "there is a flag of this name, but the config file has no key for it",
        ),
        (
            "3.5.35",
            {"warning-unary-request-duration": 1},
            "warning-unary-request-duration: etcd 3.5.35 does not have this key and would ignore it: it is not in 3.5",
        ),
        (
            "3.7.3",
            {"quota-backend-bytes": "8G"},
            "quota-backend-bytes: '8G' must be a whole number; '8G' is 8589934592",
        ),
        (
            "3.7.3",
            {"watch-progress-notify-interval": "10m"},
            "watch-progress-notify-interval: '10m' must be a whole number of nanoseconds; '10m' is 600000000000",
        ),
        (
            "3.7.3",
            {"auto-compaction-retention": 5},
            "auto-compaction-retention: 5 must be a text, for example '5' in quotes",
        ),
        ("3.7.3", {"log-outputs": "stderr"}, "log-outputs: 'stderr' must be a list of texts"),
        ("3.7.3", {"pre-vote": "yes"}, "pre-vote: 'yes' must be true or false"),
        ("3.7.3", {"socket-options": True}, "socket-options: must be a map of reuse-address, reuse-port"),
        ("3.7.3", ["a"], "the configuration of etcd must be a map, not list"),
        (
            "3.7.3",
            {"tls-min-version": "TLS1.3", "tls-max-version": "TLS1.2"},
            "tls-min-version: etcd 3.7.3 exits, as TLS1.3 is above the tls-max-version of TLS1.2: lower it",
        ),
        (
            "3.5.35",
            {"tls-min-version": "TLS1.3", "cipher-suites": ["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"]},
            "cipher-suites: etcd 3.5.35 exits if they are set beside a tls-min-version of TLS1.3: remove them",
        ),
        (
            "3.6.16",
            {"compact-hash-check-time": 0},
            "compact-hash-check-time: 0 must be above 0, or etcd 3.6.16 exits; 60000000000, a minute, is its default",
        ),
        (
            "3.5.35",
            {"experimental-compact-hash-check-time": -1},
            "experimental-compact-hash-check-time: -1 must be above 0, or etcd 3.5.35 exits; 60000000000, a minute, is its default",
        ),
        (
            "3.7.3",
            {"feature-gates": "StopGRPCOnDefrag=true"},
            "feature-gates: etcd 3.7.3 exits, as it has no gate StopGRPCOnDefrag: did you mean StopGRPCServiceOnDefrag?",
        ),
        (
            "3.6.16",
            {"feature-gates": "CompactHashCheck=true, Quick=true"},
            "feature-gates: etcd 3.6.16 exits, as it has no gate Quick: it has AllAlpha, AllBeta, CompactHashCheck, InitialCorruptCheck, "
            "LeaseCheckpoint, LeaseCheckpointPersist, SetMemberLocalAddr, StopGRPCServiceOnDefrag, TxnModeWriteWithSharedBuffer",
        ),
        (
            "3.6.16",
            {"feature-gates": "CompactHashCheck"},
            "feature-gates: 'CompactHashCheck' must be a name with true or false, such as AllAlpha=true",
        ),
        (
            "3.7.3",
            {"feature-gates": "LeaseCheckpointPersist=true"},
            "feature-gates: etcd 3.7.3 exits, as LeaseCheckpointPersist needs LeaseCheckpoint: add LeaseCheckpoint=true",
        ),
    ],
)
def test_check_config(version: str, config: Any, problem: str) -> None:
    assert releases.check_config(version, config) == [problem]


def test_deprecated_keys_still_work() -> None:
    assert releases.check_config("3.6.16", {"experimental-snapshot-catch-up-entries": 5}) == []
    gates = {"experimental-initial-corrupt-check": True, "feature-gates": "CompactHashCheck=true"}
    assert releases.check_config("3.6.16", gates) == []


@pytest.mark.parametrize(
    ("version", "gates"),
    [
        ("3.7.3", "FastLeaseKeepAlive=false,PriorityRequest=T,"),
        ("3.6.16", "LeaseCheckpoint=true, LeaseCheckpointPersist=true"),
        ("3.6.16", "AllAlpha=true,LeaseCheckpointPersist=true"),
        ("3.6.16", "LeaseCheckpointPersist=false"),
        ("3.6.16", ""),
    ],
)
def test_feature_gates_that_etcd_takes(version: str, gates: str) -> None:
    assert releases.check_config(version, {"feature-gates": gates}) == []


@pytest.mark.parametrize(
    ("config", "old", "new"),
    [
        ({"snapshot-catchup-entries": 5}, {"experimental-snapshot-catch-up-entries": 5}, "snapshot-catchup-entries"),
        (
            {"peer-transport-security": {"skip-client-san-verification": True}},
            {"experimental-peer-skip-client-san-verification": True},
            "peer-transport-security.skip-client-san-verification",
        ),
        (
            {"feature-gates": "InitialCorruptCheck=true"},
            {"experimental-initial-corrupt-check": False},
            "feature-gates (InitialCorruptCheck=true)",
        ),
        # etcd looks for the name anywhere in the text.
        (
            {"feature-gates": "LeaseCheckpointPersist=false"},
            {"experimental-enable-lease-checkpoint": True},
            "feature-gates (LeaseCheckpointPersist=false)",
        ),
    ],
)
def test_a_deprecated_key_beside_its_successor(config: dict[str, Any], old: dict[str, Any], new: str) -> None:
    [key] = old
    refused = f"{key}: etcd 3.6.16 exits if it is set beside {new}: remove {key}"
    assert releases.check_config("3.6.16", {**config, **old}) == [refused]
    assert releases.check_config("3.6.16", config) == releases.check_config("3.6.16", old) == []


def test_the_setting_of_a_plan_beside_an_extra_key_of_its_old_name() -> None:
    with pytest.raises(releases.BadConfig, match="exits if it is set beside snapshot-catchup-entries"):
        releases.render_config("3.6.16", {"snapshot_catchup_entries": 5}, {"experimental-snapshot-catch-up-entries": 5})


@pytest.mark.parametrize("series", list(SERIES))
def test_every_setting_renders_to_a_key_that_the_series_knows(series: str) -> None:
    values = {"string": "x", "strings": ["x"], "bool": False, "uint": 1, "int": 1, "duration": 1}
    for name, entry in SETTINGS.items():
        here = entry.get(series)
        if here is not None and here["key"] is not None:
            value = "CompactHashCheck=true" if name == "feature_gates" else values[here["type"]]
            assert releases.render_config(SERIES[series]["newest"], {name: value}) != {}, name


@pytest.mark.parametrize(
    ("version", "ids"),
    [
        ("3.5.2", {"corruption-3.5.0", "corruption-defrag-snapshot"}),
        ("3.5.22", {"corruption-defrag-snapshot"}),
        ("3.6.4", {"corruption-defrag-snapshot"}),
        ("3.6.5", set()),
        ("3.5.23", set()),
        ("3.7.3", set()),
    ],
)
def test_known_bugs(version: str, ids: set[str]) -> None:
    assert {bug["id"] for bug in releases.known_bugs(version) if _denied(bug)} == ids


def _denied(bug: dict[str, str]) -> bool:
    return bug["kind"] == "data" and bug["severity"] == "deny"


def test_known_bugs_name_the_fix() -> None:
    assert {bug["fixed"] for bug in releases.known_bugs("3.7.0")} == {"3.7.1"}


@pytest.mark.parametrize("version", ["3.5.35", "3.6.16", "3.7.3"])
@pytest.mark.parametrize("key", ["force-new-cluster", "unsafe-no-fsync"])
def test_settings_that_lose_data_are_refused(version: str, key: str) -> None:
    """The role refuses these settings, whether or not the linter ran."""
    with pytest.raises(releases.BadConfig, match=f"{key}: .*remove it"):
        releases.render_config(version, {}, {key: True})
    assert releases.render_config(version, {}, {key: False}) == {key: False}


@pytest.mark.parametrize(
    ("key", "fix"),
    [
        ("data-dir", "set etcd_data_dir"),
        ("wal-dir", "set etcd_wal_dir"),
        ("initial-cluster", "remove it"),
        ("initial-cluster-state", "remove it"),
        ("initial-cluster-token", "set etcd_cluster_name"),
    ],
)
@pytest.mark.parametrize("settings", [{}, {"initial_cluster_state": "new", "data_dir": "/var/lib/etcd/data"}])
def test_where_data_is_and_which_cluster_it_belongs_to_are_no_further_settings(
    settings: dict[str, str], key: str, fix: str
) -> None:
    with pytest.raises(releases.BadConfig, match=f"{key}: .*{fix}") as refused:
        releases.render_config("3.7.3", settings, {key: "existing"})
    assert "set twice" not in str(refused.value)
