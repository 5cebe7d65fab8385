# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""tests/run.py: how it counts, in which order it prints, and which checks run side by side."""

from __future__ import annotations

import dataclasses
import re
import time
from pathlib import Path

import pytest

from tests import checks, run
from tests.checks import Check


@pytest.fixture(autouse=True)
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(run, "LOGS", tmp_path)
    return tmp_path


def journal(logs: Path, name: str, *until: str) -> Check:
    """Return a check that writes when it begins and ends, and waits for lines of the journal in between, 60 seconds at most."""
    file = logs / "journal"
    missing = " || ".join(f"! grep -q '{line}' {file}" for line in until) or "false"
    wait = f"for _ in $(seq 600); do {{ {missing}; }} || break; sleep 0.1; done"
    return Check(name, f"echo begin {name} >> {file}; {wait}; echo end {name} >> {file}")


def cpu(logs: Path, first: int, end: int) -> list[Check]:
    return [journal(logs, f"cpu{number}") for number in range(first, end)]


def at_once(logs: Path, prefix: str) -> int:
    """Return how many checks whose names begin with the prefix ran at the same time, at most."""
    running, most = 0, 0
    for line in (logs / "journal").read_text().splitlines():
        event, name = line.split()
        if name.startswith(prefix):
            running += 1 if event == "begin" else -1
            most = max(most, running)
    return most


def test_two_checks_with_hosts_run_beside_the_others(logs: Path) -> None:
    three = [f"begin {name}" for name in ("host0", "host1", "cpu0")]
    hosts = [journal(logs, "host0", *three), journal(logs, "host1", *three), journal(logs, "host2")]
    results = run.run_all([*hosts, journal(logs, "host3")], [journal(logs, "cpu0", *three), *cpu(logs, 1, 4)])
    assert len(results) == 8 and not any(one.failed for one in results)
    assert at_once(logs, "host") == 2
    assert at_once(logs, "") >= 3


def test_a_part_that_needs_the_machine_runs_after_all_checks_with_hosts(logs: Path) -> None:
    first = dataclasses.replace(journal(logs, "host0"), alone=journal(logs, "alone", "end cpu0"))
    hosts = [first, journal(logs, "host1"), journal(logs, "host2")]
    results = run.run_all(hosts, [journal(logs, "cpu0", "begin alone"), *cpu(logs, 1, 6)])
    lines = (logs / "journal").read_text().splitlines()
    assert len(lines) == 20 and len(results) == 10
    during = lines[lines.index("begin alone") + 1 : lines.index("end alone")]
    assert during and all(line.split()[1].startswith("cpu") for line in during), "the others go on"


def test_what_failed_is_printed_last(capsys: pytest.CaptureFixture[str]) -> None:
    command = "echo 'FAILED tests/a.py::test_b'; echo '[ERROR]: the disk is full'; echo FAILEDLY; seq 100; exit 1"
    run.run(Check("bad", command))
    printed = capsys.readouterr().out.splitlines()
    assert [line.strip() for line in printed[-3:]] == ["FAILED tests/a.py::test_b", "[ERROR]: the disk is full", ""]


def test_a_failed_check_prints_the_end_of_its_output(capsys: pytest.CaptureFixture[str]) -> None:
    command = "seq 100; echo '3 passed, 2 failed'; exit 1"
    result = run.run(Check("bad", command, r"(\d+) passed", r"(\d+) failed"))
    assert (result.passed, result.failed) == (3, 2)
    said = capsys.readouterr().out
    assert re.match(r"FAILED  bad \(\d+ s, \d+ s of processor time, 3 tests\)\n42\n", said)
    assert "3 passed, 2 failed\n  … full log: " in said


# A file of tests for the run to count.
SKIPPING = """import pytest
@pytest.mark.skip(reason="needs root")
def test_one(): pass
@pytest.mark.skip(reason="no etcd: 3.5")
@pytest.mark.parametrize("number", [1, 2])
def test_two(number): pass
"""


def test_skipped_tests_are_counted_with_their_reasons(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "test_skipping.py"
    file.write_text(f"{SKIPPING}def test_three(): pass\n")
    result = run.run(checks.pytest("some", str(file)))
    assert (result.passed, result.failed, result.skipped) == (1, 0, 3)
    assert re.match(r"ok      some \(\d+ s, \d+ s of processor time, 3 skipped\)\n$", capsys.readouterr().out)
    run.print_skipped([result, run.Result(Check("other", ""), 0.0, 0.0, 1, 0)])
    assert capsys.readouterr().out == "some: 3 skipped (needs root; no etcd: 3.5)\n"


def test_a_check_whose_tests_are_all_skipped_passed_none(tmp_path: Path) -> None:
    file = tmp_path / "test_skipping.py"
    file.write_text(SKIPPING)
    result = run.run(checks.pytest("none", str(file)))
    assert (result.passed, result.failed, result.skipped) == (0, 0, 3)


def test_skipped_tests_are_counted_beside_failed_ones(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "test_skipping.py"
    file.write_text(f"{SKIPPING}def test_three(): raise ValueError\n")
    result = run.run(checks.pytest("bad", str(file)))
    assert (result.passed, result.failed, result.skipped) == (0, 1, 3)
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].endswith(", 3 skipped)") and any("::test_three" in line for line in printed[-4:])


def test_a_check_without_a_count_counts_as_one() -> None:
    assert (run.run(Check("good", "true")).passed, run.run(Check("bad", "false")).failed) == (1, 1)


def test_the_slowest_checks_are_printed_with_their_slowest_tests(capsys: pytest.CaptureFixture[str]) -> None:
    results = [run.Result(Check(f"c{number}", ""), number, 0.0, 1, 0) for number in range(12)]
    results[5].tests = [(4.4, "tests/a.py::test_b (call)")]
    run.print_slowest(results)
    lines = [line for line in capsys.readouterr().out.splitlines() if line]
    assert lines[0].startswith("The 10 slowest checks") and lines[1].split() == ["11", "s", "c11"]
    assert lines[lines.index("     5 s  c5") + 1].split() == ["4", "s", "tests/a.py::test_b", "(call)"]
    assert len(lines) == 12


def test_the_plugin_records_the_duration_of_slow_tests(tmp_path: Path) -> None:
    slow = tmp_path / "test_slow.py"
    slow.write_text("import time\ndef test_slow(): time.sleep(1.1)\ndef test_quick(): pass\n")
    result = run.run(checks.pytest("slow", str(slow)))
    assert result.passed == 2
    assert [name.rpartition("::")[2] for _, name in result.tests] == ["test_slow (call)"]


def test_every_name_of_a_check_is_unique_and_chosen_by_name() -> None:
    hosts, others = run.chosen(["all"])
    names = [check.name for check in hosts + others + [check.alone for check in hosts if check.alone]]
    assert len(names) == len(set(names))
    assert run.chosen(["check"]) == ([], checks.FAST)
    assert run.chosen([names[0]]) == ([hosts[0]], [])
    with pytest.raises(ValueError, match="no check is called nothing"):
        run.chosen(["nothing"])


def test_every_file_of_tests_is_run_by_a_check() -> None:
    """Directly, with its folder, or by a scenario of Molecule."""
    commands = [check.command for check in [*checks.HOSTS, *checks.CPU, *checks.FAST]]
    scenarios = [path.read_text(encoding="utf-8") for path in (run.PROJECT / "molecule").rglob("*.yml")]
    named = set(re.findall(r"tests/[\w./-]+", "\n".join([*commands, *scenarios])))
    files = [path.relative_to(run.PROJECT) for path in (run.PROJECT / "tests").rglob("test_*.py")]
    assert len(files) > 200
    assert [str(file) for file in files if not named & {str(file), *map(str, file.parents)}] == []


def test_no_further_check_begins_after_an_interruption(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[str] = []

    def interrupted(check: Check, *, nice: bool = False) -> str:
        begun.append(check.name)
        if check.name == "alone":
            raise KeyboardInterrupt
        time.sleep(0.2)
        return check.name

    monkeypatch.setattr(run, "run", interrupted)
    host = Check("host", "true", alone=Check("alone", "true"))
    with pytest.raises(KeyboardInterrupt):
        run.run_all([host], [Check(f"cpu{number}", "true") for number in range(200)])
    assert "alone" in begun and len(begun) < 50


def test_a_run_with_hosts_waits_for_another_one_and_its_checks(
    logs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The check goes on after the run that started it has ended, as after a kill."""
    monkeypatch.setattr(run, "STATE", logs)
    with run.lock_of_labs():
        run.run(Check("goes on", f"(sleep 1; touch {logs}/ended) &"))
    assert not (logs / "ended").exists()
    with run.lock_of_labs():
        assert (logs / "ended").exists()
    assert "waits for another run of checks with hosts" in capsys.readouterr().out
