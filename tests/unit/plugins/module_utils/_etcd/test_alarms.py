# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Disarming chosen alarms where the gateway cannot be used. tests/integration disarms alarms of real etcd."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._base.processes import ProcessResult
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import alarms, http_api
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import Alarm, Connection, EtcdctlError

LINK = Connection("/nowhere/etcdctl", None, None, None, 0.5)
URLS = ["http://127.0.0.1:1"]
FULL, CORRUPT = {"memberID": 10, "alarm": 1}, {"memberID": 11, "alarm": 2}
ROOT = Path(alarms.__file__).parents[3]


class Cluster:
    """The alarms of a cluster with authentication: etcdctl disarms all of them, and the gateway none."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *lists: list[dict[str, int]]) -> None:
        self.lists, self.disarmed = list(lists), 0
        monkeypatch.setattr(alarms, "run_etcdctl", self.run)
        monkeypatch.setattr(http_api, "deactivate_alarm", self.refuse)

    def run(self, _link: Connection, _urls: list[str], *words: str) -> ProcessResult:
        self.disarmed += words == ("alarm", "disarm")
        return ProcessResult(0, json.dumps({"header": {}, "alarms": self.lists.pop(0)}), "")

    def refuse(self, _link: Connection, url: str, _alarm: Alarm) -> None:
        raise EtcdctlError(f"{url}/v3/maintenance/alarm: HTTP status 401")


def test_etcdctl_disarms_where_the_gateway_cannot(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Cluster(monkeypatch, [FULL], [FULL], [FULL], [])
    assert alarms.disarm_nospace(LINK, URLS) == [Alarm("a", "NOSPACE")]
    assert cluster.disarmed == 1


def test_etcdctl_is_not_used_while_another_alarm_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Cluster(monkeypatch, [FULL], [FULL, CORRUPT])
    with pytest.raises(
        alarms.AlarmError, match=r"^NOSPACE of member a was not disarmed: etcdctl would also disarm CORRUPT"
    ):
        alarms.disarm_nospace(LINK, URLS)
    assert cluster.disarmed == 0


def test_an_alarm_that_etcdctl_disarmed_in_addition_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    Cluster(monkeypatch, [FULL], [FULL], [FULL, CORRUPT], [])
    with pytest.raises(alarms.AlarmError, match=r"etcdctl also disarmed CORRUPT of member b, which was raised at that"):
        alarms.disarm_nospace(LINK, URLS)


def test_nospace_stays_while_corrupt_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Cluster(monkeypatch, [FULL, {"alarm": 2}])
    with pytest.raises(
        alarms.AlarmError, match="the alarm CORRUPT of the cluster is set, and NOSPACE was not disarmed"
    ):
        alarms.disarm_nospace(LINK, URLS)
    assert cluster.disarmed == 0 and cluster.lists == []


def test_nothing_is_disarmed_without_an_alarm(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Cluster(monkeypatch, [])
    assert alarms.disarm_nospace(LINK, URLS) == [] and cluster.disarmed == 0


@pytest.mark.parametrize(
    "text", ["", "[]", '{"alarms": [{"memberID": 1}]}', '{"alarms": [{"memberID": "x", "alarm": 1}]}']
)
def test_other_output_is_an_error(text: str) -> None:
    with pytest.raises(alarms.AlarmError, match="which is not a list of alarms"):
        alarms.parse_alarm_list(text)


def test_only_one_place_disarms_all_alarms() -> None:
    """Everything else disarms the alarms that it names."""
    found = [
        str(path.relative_to(ROOT))
        for folder in ("plugins", "playbooks", "roles")
        for path in (ROOT / folder).rglob("*.*")
        if path.suffix in (".py", ".yml", ".j2")
        and any(text in path.read_text() for text in ('"alarm", "disarm"', "alarm, disarm", "alarm disarm]"))
    ]
    assert found == ["plugins/module_utils/_etcd/alarms.py"]
