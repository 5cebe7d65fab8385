# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Batch files and scripts of PowerShell that start etcd."""

from __future__ import annotations

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.scripts.windows import is_script

from tests.unit.plugins.plugin_utils._reader.reading import members_in

URL = "http://0.0.0.0:2379"
BATCH = r"""@echo off
rem etcd --name x --listen-client-urls http://0.0.0.0:1
set NAME=node-1
set "IP=10.0.0.1"
start "kv" /b .\etcd-v3.5.1\etcd.exe --name %NAME% --data-dir .\data ^
  --listen-client-urls http://%IP%:2379 --max-wals %WALS%
pause >nul
"""
POWERSHELL = r"""# etcd --listen-client-urls http://0.0.0.0:1
param([string]$DataDir = "$env:USERPROFILE\kv")
$env:ETCD_NAME = "kv"
$etcdArgs = @(
    "--data-dir", $DataDir, # below the home
    "--listen-client-urls", "http://0.0.0.0:2379"
)
$version = "3.4.28"
Invoke-WebRequest "https://github.com/etcd-io/etcd/releases/download/v$version/etcd-v$version-windows-amd64.zip"
if ($Background) {
    $process = Start-Process -FilePath "$dir\etcd.exe" -ArgumentList $etcdArgs -PassThru
} else {
    & etcd @etcdArgs
}
"""
PROCESS = r"""Start-Process .\bin\etcd.exe `
  -ArgumentList "--name=a", "--listen-client-urls=http://0.0.0.0:2379" -NoNewWindow
"""
OPEN_ARRAY = "$a = @(\n  'x'\n"
DOCKER = "docker run -d `\n  quay.io/coreos/etcd:v3.5.1 `\n  etcd --listen-client-urls http://0.0.0.0:2379\n"


def test_batch() -> None:
    (found,) = members_in("run.bat", BATCH)
    assert found["command"][1:5] == ["--name", "node-1", "--data-dir", "./data"]
    assert found["command"][5:] == ["--listen-client-urls", "http://10.0.0.1:2379", "--max-wals", "${WALS}"]
    assert found["where"]["--listen-client-urls"] == ["run.bat", 6]


def test_powershell() -> None:
    (found,) = members_in("run.ps1", POWERSHELL)
    assert found["command"] == ["etcd", "--data-dir", "$DataDir", "--listen-client-urls", URL]
    assert found["release"] == "3.4.28"
    assert found["environment"] == {"ETCD_NAME": "kv"}


@pytest.mark.parametrize("path", ["run.ps1", "run.PSM1"])
def test_process(path: str) -> None:
    (found,) = members_in(path, PROCESS)
    assert found["command"][1:3] == ["--name=a", f"--listen-client-urls={URL}"]


def test_container() -> None:
    (found,) = members_in("run.ps1", DOCKER)
    assert found["image"] == "quay.io/coreos/etcd:v3.5.1"
    assert members_in("run.ps1", OPEN_ARRAY) == []


def test_array_of_a_shell_on_one_line() -> None:
    (found,) = members_in("run.sh", f'#!/bin/sh\nargs=(--name a --listen-client-urls {URL})\netcd "${{args[@]}}"\n')
    assert found["command"] == ["etcd", "--name", "a", "--listen-client-urls", URL]


def test_names() -> None:
    assert [path for path in ("a.cmd", "a.BAT", "a.ps1", "a.sh", "cmd") if is_script(path)] == [
        "a.cmd",
        "a.BAT",
        "a.ps1",
    ]
