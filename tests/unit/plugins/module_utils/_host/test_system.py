# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of a unit, from what systemctl prints."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._host import memory_limit, system, systemd

SHOWN = """Id=etcd.service
LoadState=loaded
ActiveState=failed
UnitFileState=enabled
MainPID=0
NeedDaemonReload=no
ExecStart={{ path=/opt/etcd/3.7.3/etcd ; argv[]=/opt/etcd/3.7.3/etcd --config-file=/etc/etcd/etcd.yml ; ignore_errors=no }}
MemoryMax=infinity
Environment={environment}
Group=etcd
"""


@pytest.mark.parametrize(
    ("environment", "managed"),
    [
        ("HEADROOM_DIGEST=5f2a GOGC=50", True),
        ("GOGC=50 HEADROOM_DIGEST=5f2a", True),
        ("", False),
        ("ETCD_NAME=n1 OLD_HEADROOM_DIGEST=5f2a", False),
    ],
)
def test_a_unit_that_does_not_run(monkeypatch: pytest.MonkeyPatch, environment: str, managed: bool) -> None:
    def answer(_units: object, names: tuple[str, ...], _timeout: float) -> str:
        shown = SHOWN.format(environment=environment).splitlines()
        return "\n".join(line for line in shown if line.split("=")[0] in names)

    monkeypatch.setattr(systemd, "_show", answer)
    found = system.unit_facts("etcd.service")
    assert found["managed"] is managed
    assert found["starts"] == "/opt/etcd/3.7.3/etcd" and found["enabled_state"] == "enabled"
    assert found["group"] == "etcd"
    assert found["digest"] is None and found["memory_max"] is None


def test_the_limit_of_a_unit_during_a_defragmentation(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A play that reads the raised limit would plan with it."""
    monkeypatch.setattr(systemd, "_show", lambda *_: "Id=etcd.service\nMemoryMax=2000000000\n")
    monkeypatch.setattr(memory_limit, "SAVED_LIMITS", tmp_path)
    assert system.unit_facts("etcd.service")["memory_max"] == 2000000000
    (tmp_path / "etcd.service.limit.json").write_text('{"MemoryMax": "1000000000", "MemoryHigh": "950000000"}')
    assert system.unit_facts("etcd.service")["memory_max"] == 1000000000
