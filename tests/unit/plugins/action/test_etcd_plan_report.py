# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run playbooks/plan.yml and etcd_plan_report through ansible-playbook, without hosts or inventory."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ansible_collections.etcdops.headroom as collection
import yaml

ROOT = Path(next(iter(collection.__path__))).parent.parent.parent
BESIDE = str(Path(sys.executable).parent)
PROGRAM = shutil.which("ansible-playbook", path=f"{BESIDE}{os.pathsep}{os.environ['PATH']}") or "ansible-playbook"
ASKED = {"etcd_version": "3.7.3", "etcd_workload": {"value_size": "100KB"}, "etcd_memory_budget": "2GB"}


def prepared(
    folder: Path,
    variables: dict[str, Any],
    *arguments: str,
    playbook: str = "etcdops.headroom.plan",
    **environment: str,
) -> tuple[list[str], dict[str, Any]]:
    """Return the command and its settings, to run the playbook as a user of the installed collection does."""
    (folder / "home").mkdir(exist_ok=True)
    known = {key: value for key, value in os.environ.items() if not key.startswith("ANSIBLE_")}
    known |= {"ANSIBLE_COLLECTIONS_PATH": str(ROOT), "ANSIBLE_HOME": str(folder / "home"), "LC_ALL": "C.UTF-8"}
    return [PROGRAM, playbook, "-e", json.dumps(variables), *arguments], {
        "cwd": folder,
        "env": {**known, **environment},
    }


def play(folder: Path, variables: dict[str, Any], *arguments: str, **others: str) -> subprocess.CompletedProcess[str]:
    command, settings = prepared(folder, variables, *arguments, **others)
    return subprocess.run(command, **settings, capture_output=True, encoding="utf-8", timeout=120, check=False)


def test_prints_a_table_and_changes_nothing(tmp_path: Path) -> None:
    done = play(tmp_path, {**ASKED, "etcd_members": 5, "etcd_snapshot_count": 3000, "etcd_volume_size": "4GB"})
    assert done.returncode == 0, done.stdout + done.stderr
    assert "\netcd 3.7.3, 5 members, a memory budget of 2.0 GiB for each\n" in done.stdout
    assert re.search(r"^  snapshot_count +3,000  yours +yours; ", done.stdout, re.MULTILINE)
    assert re.search(r"^  quota_backend_bytes +3\.[0-9] GiB ", done.stdout, re.MULTILINE)
    assert re.search(r"^  keys +10,000  assumed  ", done.stdout, re.MULTILINE)
    assert not re.search(r"[{}]|\\n", done.stdout)
    assert "changed=0" in done.stdout
    assert {path.name for path in tmp_path.iterdir()} == {"home"}


def test_it_ends_although_the_reader_of_its_output_ended(tmp_path: Path) -> None:
    """As `| head` does, in the middle of the plan."""
    command, settings = prepared(tmp_path, ASKED)
    with subprocess.Popen(command, **settings, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout
        assert next(line for line in process.stdout if b"a memory budget of" in line)
        process.stdout.close()
        try:
            process.wait(60)
        finally:
            process.kill()


def play_several(folder: Path, cases: Sequence[dict[str, Any]], **environment: str) -> list[str]:
    """Run the playbook's task once for each set of variables, in one play that ignores failures; return what each task printed.

    Variable check_mode: whether the task only predicts the change.
    """
    source = ROOT / "ansible_collections/etcdops/headroom/playbooks/plan.yml"
    [_controller, book] = yaml.safe_load(source.read_text())
    [task] = book["tasks"]
    book["vars_files"] = [str((source.parent / path).resolve()) for path in book["vars_files"]]
    book["tasks"] = [
        {**task, "vars": case, "check_mode": case.get("check_mode", False), "ignore_errors": True} for case in cases
    ]
    (folder / "play.yml").write_text(json.dumps([book]))
    done = play(folder, {}, playbook="play.yml", **environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.partition("PLAY RECAP")[0].split("\nTASK [")[1:]


def test_every_variable_is_optional_and_a_report_is_written_once(tmp_path: Path) -> None:
    targets = [tmp_path / f"plan.{ending}" for ending in ("html", "svg", "png")]
    wanted: list[dict[str, Any]] = [{**ASKED, "report": target.name} for target in targets]
    predicted = [{**case, "check_mode": True} for case in wanted]
    optional, *printed = play_several(tmp_path, [{}, *predicted, *wanted, *wanted])
    assert "No budget was given" in optional and "\nok: [localhost]" in optional
    for number, (target, text) in enumerate(zip(targets * 3, printed, strict=True)):
        result, status = (
            ("not written, because of --check", "changed"),
            ("written", "changed"),
            ("unchanged", "ok"),
        )[number // len(targets)]
        assert f"report: {target}, {result}" in text and f"\n{status}: [localhost]" in text, text
    assert {path.name for path in tmp_path.iterdir()} == {"home", "play.yml", *(target.name for target in targets)}


INVALID: list[tuple[dict[str, Any], str]] = [
    (
        {"report": "plan.pdf"},
        "report plan.pdf cannot be written: it ends in .pdf; write plan.html, plan.svg or plan.png",
    ),
    ({"report": "plan"}, "report plan cannot be written: it has no ending;"),
    ({"report": "no/plan.svg"}, "/no does not exist; create it, or choose another"),
    ({"report": "/proc/plan.svg"}, "report /proc/plan.svg cannot be written:"),
    ({"etcd_workload": {"value_sise": 1}}, "workload has an unknown key 'value_sise', did you mean 'value_size'?"),
    ({"etcd_version": "3.8.0"}, "etcd 3.8.0 is not known"),
    ({"etcd_memory_budget": "100MB"}, "What would fit: a memory budget of"),
    ({"etcd_gomemlimit": "3GB"}, "settings.gomemlimit (3.0 GiB) is above the memory budget (2.0 GiB)"),
]


def test_invalid_input_stops_before_anything_is_printed(tmp_path: Path) -> None:
    printed = play_several(tmp_path, [{**ASKED, **variables} for variables, _text in INVALID])
    for (variables, text), output in zip(INVALID, printed, strict=True):
        assert "\nfatal: [localhost]: FAILED!" in output and text in " ".join(output.split()), (variables, output)
        assert "a memory budget of 2.0 GiB for each" not in output, variables  # nothing was printed before
    assert {path.name for path in tmp_path.iterdir()} == {"home", "play.yml"}


def test_missing_matplotlib_names_the_fix(tmp_path: Path) -> None:
    absent = tmp_path / "absent" / "matplotlib"
    absent.mkdir(parents=True)
    (absent / "__init__.py").write_text("raise ImportError('not here')\n")
    path = os.pathsep.join([str(absent.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    drawn, table = play_several(tmp_path, [{**ASKED, "report": "plan.svg"}, ASKED], PYTHONPATH=path)
    assert "\nfatal: [localhost]: FAILED!" in drawn
    missing = "matplotlib is missing on the controller (not here); install it for the Python of Ansible"
    assert missing in " ".join(drawn.split())
    assert not (tmp_path / "plan.svg").exists()
    assert "\nok: [localhost]" in table
