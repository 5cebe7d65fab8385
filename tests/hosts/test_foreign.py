# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""playbooks/priority.yml on an etcd that Headroom did not deploy: in a unit written by hand, and without a unit."""

from __future__ import annotations

import json

import pytest

HOST = "etcd-3"
UNIT = "by-hand.service"
DROP_IN = f"/etc/systemd/system/{UNIT}.d/50-headroom-priority.conf"
FLAGS = (
    "--data-dir=/var/tmp/by-hand --listen-client-urls=http://127.0.0.1:12379 --advertise-client-urls=http://127.0.0.1:12379 "
    "--listen-peer-urls=http://127.0.0.1:12380 --initial-advertise-peer-urls=http://127.0.0.1:12380 "
    "--initial-cluster=default=http://127.0.0.1:12380"
)
THREADS = "for task in /proc/{pid}/task/*; do ionice -p ${{task##*/}}; ps -o ni= -L -q ${{task##*/}} | head -n 1; done | sort | uniq"
ALL = "-5\nbest-effort: prio 0"


def play(site, *arguments, **variables):
    """Run the playbook on the host."""
    extra = ["-e", json.dumps(variables)]
    return site.ansible("ansible-playbook", "playbooks/priority.yml", "--limit", HOST, *extra, *arguments)


def priorities(site, pid):
    """Return the distinct I/O classes and nice values of a process's threads."""
    lines = site.on(HOST, THREADS.format(pid=pid)).split("\n")
    return "\n".join(line.strip() for line in lines)


@pytest.fixture
def unit(site):
    """Run etcd in a unit written by hand; yield a function that returns its PID."""
    binary = site.on(HOST, "readlink -f /proc/$(systemctl show -P MainPID etcd)/exe").strip()
    text = f"[Service]\\nType=notify\\nExecStart={binary} {FLAGS}\\n"
    site.on(HOST, f"printf '{text}' > /etc/systemd/system/{UNIT} && systemctl daemon-reload && systemctl start {UNIT}")
    yield lambda: site.on(HOST, f"systemctl show -P MainPID {UNIT}").strip()
    site.on(
        HOST,
        f"systemctl stop {UNIT}; rm -rf /etc/systemd/system/{UNIT} {DROP_IN.rpartition('/')[0]} /var/tmp/by-hand; systemctl daemon-reload",
    )


def test_a_unit_written_by_hand_gets_a_drop_in(site, unit):
    pid = unit()
    site.on(HOST, f"ionice -c2 -n0 -p {pid}")
    before = priorities(site, pid)
    assert "best-effort: prio 0" in before and before != ALL, "ionice -p reaches the main thread only"

    check = play(site, "--check", "--diff", etcd_priority_unit=UNIT)
    assert check.code == 0 and check.changed[HOST] > 0, check.output
    assert "+IOSchedulingClass=best-effort" in check.output and "another priority than best-effort/0" in check.output
    assert priorities(site, pid) == before and "no drop-in" in site.on(
        HOST, f"ls {DROP_IN} 2>/dev/null || echo no drop-in"
    )

    run = play(site, etcd_priority_unit=UNIT)
    assert run.code == 0 and run.changed[HOST] > 0, run.output
    assert f"{UNIT} sets it again at each start" in run.output
    assert unit() == pid and priorities(site, pid) == ALL, "at once, without a restart"
    found = f"find /sys/fs/cgroup -path '*/{UNIT}/cpu.weight' -o -path '*/{UNIT}/cpu.shares'"
    seen = site.on(HOST, f"systemctl show -P IOWeight {UNIT}; {found} | xargs cat").split()
    assert seen[0] == "500" and set(seen[1:]) in ({"500"}, {"5120"}), f"the running unit's control group: {seen}"

    again = play(site, "--diff", etcd_priority_unit=UNIT)
    assert again.code == 0 and again.changed[HOST] == 0, again.output

    site.on(HOST, f"systemctl restart {UNIT}")
    assert unit() != pid and priorities(site, unit()) == ALL, "it lasts"


def test_several_processes_are_listed(site, unit):
    run = play(site)
    assert run.code != 0 and run.changed[HOST] == 0
    assert "2 processes are called etcd: select one with unit or pid" in run.output and UNIT in run.output, run.output


@pytest.mark.campaign
def test_realtime_is_refused(site, unit):
    run = play(site, etcd_priority_unit=UNIT, etcd_io_scheduling_class="realtime")
    assert run.code != 0 and run.changed[HOST] == 0
    assert "io_class is realtime, which is refused" in run.output, run.output


def test_a_process_without_a_unit_is_changed_until_it_ends(site, unit):
    """A process started from a shell is in the shell's control group, whose unit must get no drop-in."""
    other = "/var/tmp/etcd-by-hand"
    units = "ls -d /etc/systemd/system/*.d 2>/dev/null | sort"
    site.on(HOST, f"systemctl stop {UNIT}; ln -sf $(readlink -f /proc/$(systemctl show -P MainPID etcd)/exe) {other}")
    before = site.on(HOST, units)
    serves = "timeout 60 sh -c 'until etcdctl --endpoints http://127.0.0.1:12379 endpoint health; do sleep 0.2; done'"
    start = f"setsid {other} {FLAGS} > /dev/null 2>&1 < /dev/null & pid=$!; {serves} > /dev/null 2>&1; echo $pid"
    pid = site.on(HOST, start).strip()
    try:
        run = play(site, etcd_priority_name="etcd-by-hand")
        assert run.code == 0 and run.changed[HOST] == 1 and "It does not persist" in run.output, run.output
        assert priorities(site, pid) == ALL
        assert site.on(HOST, units) == before
        again = play(site, etcd_priority_name="etcd-by-hand")
        assert again.code == 0 and again.changed[HOST] == 0, again.output
    finally:
        site.on(HOST, f"kill {pid}; rm {other}")
