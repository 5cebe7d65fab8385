# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files of the program that etcd_maintenance installs. tests/integration installs and runs it with real etcd."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import bucket as backup_bucket
from ansible_collections.etcdops.headroom.plugins.module_utils._base import deadline
from ansible_collections.etcdops.headroom.plugins.module_utils._host import fstab
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance import installation, metrics, sources
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance.configuration import parse_config
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance.loaded_sources import program_sources
from ansible_collections.etcdops.headroom.plugins.modules import etcd_maintenance

# Prints what the module would install, and what the program alone imports.
LISTING = """
import json, sys
package = sys.argv[1]
before = set(sys.modules)
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance import program
needed = [name for name in set(sys.modules) - before if name.startswith(package + "._") and not hasattr(sys.modules[name], "__path__")]
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance import loaded_sources, sources
files = sources.module_files(loaded_sources.program_sources(), "/lib")
print(json.dumps([sorted(needed), sorted(files)]))
"""


def install(folder: Path) -> Path:
    """Write the program below a folder; return its launcher."""
    launcher = folder / "headroom"
    lib_dir = str(folder / "lib")
    start = installation.LAUNCHER.format(
        python=os.path.realpath(sys.executable), lib_dir=lib_dir, package=sources.PACKAGE
    )
    files = {**sources.module_files(program_sources(), lib_dir), str(launcher): (start, 0o755)}
    for name, (text, mode) in files.items():
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
    return launcher


def test_a_full_disk_is_reported_with_the_path(tmp_path: Path) -> None:
    """The error of a write names no file, unlike that of an open."""
    (tmp_path / "file").symlink_to("/dev/full")
    module = SimpleNamespace(tmpdir=str(tmp_path))
    with pytest.raises(OSError, match="No space left on device") as caught:
        etcd_maintenance.write_file(module, str(tmp_path / "lib" / "program.py"), "text", 0o644)
    assert caught.value.filename == str(tmp_path / "file")


def test_the_launcher_finds_the_installed_modules_only(tmp_path: Path) -> None:
    launcher = install(tmp_path)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    command = [str(launcher), "--config", str(tmp_path / "none"), "status"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=environment, cwd="/")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"headroom: {tmp_path}/none: No such file or directory")


def test_nothing_is_installed_that_the_program_does_not_import() -> None:
    command = [sys.executable, "-c", LISTING, sources.PACKAGE]
    # ansible-test loads collections by a hook of its own, which a new process does not have.
    root = str(Path(installation.__file__).parents[5])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([root, *filter(None, sys.path)])}
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True, env=environment)
    needed, files = json.loads(done.stdout)
    modules = [path for path in files if path.endswith(".py") and not path.endswith("/__init__.py")]
    assert modules == [f"/lib/{name.replace('.', '/')}.py" for name in needed]


def test_modules_of_the_flat_layout_are_obsolete(tmp_path: Path) -> None:
    params = {"lib_dir": str(tmp_path / "lib"), "credentials_file": str(tmp_path / "credentials")}
    install(tmp_path)
    wanted = sources.module_files(program_sources(), params["lib_dir"])
    assert installation.obsolete_modules(params, wanted) + installation.obsolete_credentials(params, wanted) == []
    flat = tmp_path / "lib" / Path(*sources.PACKAGE.split(".")) / "_etcd_lock.py"
    flat.write_text("")
    (tmp_path / "credentials").write_text("")
    assert installation.obsolete_modules(params, wanted) == [str(flat)]
    assert installation.obsolete_credentials(params, wanted) == [str(tmp_path / "credentials")]


def test_the_controller_and_the_module_know_the_same_program() -> None:
    assert sources.imported_sources(sources.source_on_controller) == program_sources()


def test_a_digest_tells_whether_the_installed_modules_are_the_wanted_ones(tmp_path: Path) -> None:
    lib_dir = str(tmp_path / "lib")
    wanted = sources.digest(sources.module_files(program_sources(), "/"), "/")
    assert installation.modules_digest(lib_dir) != wanted
    install(tmp_path)
    assert installation.modules_digest(lib_dir) == wanted
    lock = tmp_path / "lib" / Path(*sources.PACKAGE.split(".")) / "_etcd" / "lock.py"
    text = lock.read_text()
    for change in (
        lambda: lock.write_text(text + "#"),
        lambda: lock.chmod(0o600),
        lambda: lock.rename(lock.with_name("other.py")),
    ):
        change()
        assert installation.modules_digest(lib_dir) != wanted
        install(tmp_path)
        if lock.with_name("other.py").exists():
            assert installation.modules_digest(lib_dir) != wanted, "a module of an earlier version is left"
            lock.with_name("other.py").unlink()
        assert installation.modules_digest(lib_dir) == wanted


def test_endpoints_are_read_from_the_installed_configuration(tmp_path: Path) -> None:
    path = tmp_path / "maintenance.json"
    params = {"config_file": str(path)}
    assert installation.installed_endpoints(params) == []
    path.write_text("{}")
    assert installation.installed_endpoints(params) == []
    path.write_text('{"connection": {"endpoints": ["https://10.0.0.11:2379"]}}')
    assert installation.installed_endpoints(params) == ["https://10.0.0.11:2379"]


def test_a_host_is_compared_with_the_installation_that_is_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metrics, "next_runs", lambda *_: [datetime(2026, 11, day) for day in (20, 21, 22)])
    config = json.loads((Path(__file__).parent.parent / "fixtures" / "maintenance.json").read_text())
    config["snapshot"]["directory"] = str(tmp_path)
    params = {
        "config": config,
        "bucket_keys": {"access_key": "", "secret_key": ""},
        "lib_dir": str(tmp_path / "lib"),
        "program": str(tmp_path / "headroom"),
        "config_file": str(tmp_path / "maintenance.json"),
        "credentials_file": str(tmp_path / "credentials"),
        "unit_dir": str(tmp_path),
        "units": {"headroom-defrag.service": "[Service]\n"},
        "modules_digest": "",
    }
    invalid = installation.inspect({**params, "config": {**config, "cluster": 5}})
    assert invalid == {"problems": ["cluster is 5, which is not text"]}
    found = installation.inspect(params)
    assert found == {
        "problems": [],
        "differs": True,
        "endpoints": [],
        "timers": {},
        "intervals": {"snapshot": 86400},
    }


def test_a_changed_unit_differs(tmp_path: Path) -> None:
    config = json.loads((Path(__file__).parent.parent / "fixtures" / "maintenance.json").read_text())
    config["snapshot"]["directory"] = str(tmp_path)
    config["metrics_dir"] = ""
    names = ("lib_dir", "program", "config_file", "credentials_file", "unit_dir")
    params = {
        **{name: str(tmp_path / name) for name in names},
        "config": config,
        "bucket_keys": None,
        "units": {"headroom-defrag.service": "[Service]\n"},
        "modules_digest": installation.modules_digest(str(tmp_path / "lib_dir")),
    }
    (tmp_path / "unit_dir").mkdir()
    found = installation.compare(params, parse_config(config), None)
    for path, _mode in found.directories:
        Path(path).mkdir(parents=True)
    for path, (text, mode) in found.wanted.items():
        Path(path).write_text(text)
        Path(path).chmod(mode)
    assert installation.inspect(params)["differs"] is False
    (tmp_path / "unit_dir" / "headroom-defrag.service").write_text("[Service]\nNice=5\n")
    assert installation.inspect(params)["differs"] is True


def test_the_launcher_names_the_python_that_stays_after_an_upgrade(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    versioned = os.path.realpath("/usr/bin/python3")
    monkeypatch.setattr(installation.sys, "executable", versioned)
    monkeypatch.setattr(installation.sys, "prefix", sys.base_prefix)
    monkeypatch.setattr(installation, "choose_interpreter", lambda candidates: candidates[0])
    config = json.loads((Path(__file__).parent.parent / "fixtures" / "maintenance.json").read_text())
    params = {
        **{
            name: str(tmp_path / name) for name in ("lib_dir", "program", "config_file", "credentials_file", "unit_dir")
        },
        "units": {},
        "bucket_keys": None,
        "config": config,
    }
    found = installation.compare(params, parse_config({**config, "metrics_dir": ""}), None)
    assert found.wanted[params["program"]][0].startswith("#!/usr/bin/python3 -I\n"), versioned


BUCKET = {
    "name": "etcd-backups",
    "prefix": "example/",
    "endpoint_url": "https://s3.example.com",
    "region": "",
    "ca_cert": "",
    "credentials_file": "/etc/etcd/backup-bucket.credentials",
}
KEYS = {"access_key": "headroom", "secret_key": "secret"}


@pytest.fixture
def contacted(monkeypatch: pytest.MonkeyPatch) -> list[backup_bucket.Bucket]:
    """The buckets that were listed, of a store that does not answer."""
    found: list[backup_bucket.Bucket] = []

    def connect(bucket: backup_bucket.Bucket) -> backup_bucket.Objects:
        found.append(bucket)
        raise backup_bucket.BucketError("https://s3.example.com cannot be reached")

    monkeypatch.setattr(backup_bucket, "connect", connect)
    monkeypatch.setattr(backup_bucket, "is_boto3_installed", lambda: True)
    return found


def installed_copies(folder: Path, **changed: Any) -> dict[str, Any]:
    """Write the installed configuration and keys of a host that copies its backups to a bucket; return the module's arguments."""
    config = json.loads((Path(__file__).parent.parent / "fixtures" / "maintenance.json").read_text())
    config["defrag"]["enabled"] = config["integrity"]["enabled"] = False
    config["snapshot"].update(directory=str(folder), bucket=BUCKET)
    params = {
        "config": config,
        "bucket_keys": KEYS,
        "config_file": str(folder / "maintenance.json"),
        "credentials_file": str(folder / "credentials"),
    }
    before = copy.deepcopy(config)
    before["snapshot"].update(changed)
    (folder / "maintenance.json").write_text(json.dumps(before))
    for path, (text, mode) in installation._credentials_file(params).items():
        Path(path).write_text(text)
        Path(path).chmod(mode)
    return params


@pytest.mark.parametrize("installed", [False, True])
def test_a_store_that_is_down_refuses_no_host_that_copies_to_it_already(
    tmp_path: Path, contacted: list[backup_bucket.Bucket], installed: bool
) -> None:
    """Otherwise members could be neither replaced nor started, nor certificates renewed, until the store is back."""
    config, problems = installation.validated_config(installed_copies(tmp_path), installed=installed)
    assert config is not None and config.snapshot.bucket is not None
    assert (problems, contacted) == ([], [])


@pytest.mark.parametrize("installed", [False, True])
def test_a_store_that_is_down_refuses_no_host_that_joins(
    tmp_path: Path, contacted: list[backup_bucket.Bucket], installed: bool
) -> None:
    """The host that replaces a lost one has no configuration yet, and no file of the store's CA."""
    params = {**installed_copies(tmp_path), "joining": True}
    params["config"]["snapshot"]["bucket"] = {**BUCKET, "ca_cert": str(tmp_path / "none")}
    (tmp_path / "maintenance.json").unlink()
    (tmp_path / "credentials").unlink()
    assert installation.validated_config(params, installed=installed)[1] == []
    assert contacted == []
    params["config"]["snapshot"]["bucket"] = {**BUCKET, "prefix": "/a"}
    (problem,) = installation.validated_config(params, installed=installed)[1]
    assert "prefix is '/a'" in problem
    # A member that stays.
    params = {**installed_copies(tmp_path, bucket=None), "joining": True}
    assert len(installation.validated_config(params, installed=installed)[1]) == len(contacted) == 1


def test_a_share_that_hangs_refuses_no_host_that_joins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    share, real = str(tmp_path / "share"), os.lstat
    params = installed_copies(tmp_path)
    params["config"]["snapshot"].update(copy_dir=share, bucket=None)
    (tmp_path / "maintenance.json").unlink()

    def problems(*, joining: bool) -> list[str]:
        return installation.validated_config({**params, "joining": joining}, installed=False)[1]

    (problem,) = problems(joining=True)
    assert problem.startswith(f"etcd_maintenance_backup_copy_dir: {share} is not a directory on this host")

    def lstat(path: str) -> os.stat_result:
        if path == share:
            time.sleep(600)
        return real(path)

    monkeypatch.setattr(os, "lstat", lstat)
    monkeypatch.setattr(deadline, "ANSWER_SECONDS", 1.0)
    assert problems(joining=True) == []
    (problem,) = problems(joining=False)
    assert problem.startswith(f"etcd_maintenance_backup_copy_dir: {share} does not answer within 1 s")


def test_an_unmounted_backup_volume_refuses_no_replacement_of_a_member(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be a share of all hosts, whose server is down."""
    params = installed_copies(tmp_path)
    monkeypatch.setattr(fstab, "read_text", lambda _path: f"nfs:/backups {tmp_path} nfs")
    (problem,) = installation.validated_config(params, installed=False)[1]
    assert problem.startswith(f"etcd_maintenance_backup_dir: {tmp_path} has no volume")
    assert installation.validated_config({**params, "joining": True}, installed=False)[1] == []


def test_settings_of_a_known_bucket_are_checked_without_the_store(
    tmp_path: Path, contacted: list[backup_bucket.Bucket]
) -> None:
    params = installed_copies(tmp_path, bucket={**BUCKET, "ca_cert": str(tmp_path / "none")})
    params["config"]["snapshot"]["bucket"] = {**BUCKET, "ca_cert": str(tmp_path / "none")}
    _config, (problem,) = installation.validated_config(params, installed=False)
    assert "which cannot be read on this host" in problem and contacted == []


def test_a_bucket_or_keys_that_are_new_are_tried(tmp_path: Path, contacted: list[backup_bucket.Bucket]) -> None:
    def problems(params: dict[str, Any]) -> list[str]:
        return installation.validated_config(params, installed=False)[1]

    refused = ["etcd_maintenance_backup_bucket: https://s3.example.com cannot be reached"]
    for before in ({"bucket": {**BUCKET, "prefix": "other/"}}, {"bucket": None}, {"enabled": False}):
        assert problems(installed_copies(tmp_path, **before)) == refused, before
    assert problems({**installed_copies(tmp_path), "bucket_keys": {**KEYS, "secret_key": "new"}}) == refused
    assert contacted[-1].secret_key == "new"
    for missing in ("credentials", "maintenance.json"):
        params = installed_copies(tmp_path)
        (tmp_path / missing).unlink()
        assert problems(params) == refused, missing
    for text in ("[]", "{", '{"snapshot": 1}'):
        params = installed_copies(tmp_path)
        (tmp_path / "maintenance.json").write_text(text)
        assert problems(params) == refused, text


def test_a_share_that_is_down_refuses_no_host_that_copies_to_it_already(tmp_path: Path) -> None:
    share = str(tmp_path / "share")
    params = installed_copies(tmp_path, copy_dir=share)
    params["config"]["snapshot"]["copy_dir"] = share
    assert installation.validated_config(params, installed=False)[1] == []
    for before in ({"copy_dir": ""}, {"copy_dir": share, "enabled": False}):
        params = installed_copies(tmp_path, **before)
        params["config"]["snapshot"]["copy_dir"] = share
        (problem,) = installation.validated_config(params, installed=False)[1]
        assert problem.startswith(f"etcd_maintenance_backup_copy_dir: {share} is not a directory on this host"), before
