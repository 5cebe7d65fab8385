# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab itself: what a killed lab left behind does not reach the next one of its name."""

from __future__ import annotations

import hashlib
import subprocess

from conftest import PROJECT

from bench.common.campaign.hosts import ROOT, podman

NETWORK = "headroom-test-of-a-network"
CHAIN, OTHER = (
    "NETAVARK-" + hashlib.sha512(name.encode()).hexdigest()[:13].upper() for name in (NETWORK, f"{NETWORK}-of-another")
)


def nat(*words, check=True):
    """Run iptables on the machine that the lab's hosts share, and return its output."""
    command = [*ROOT, "iptables", "-w", "-t", "nat", *words]
    return subprocess.run(command, check=check, capture_output=True, text=True).stdout


def create():
    return subprocess.run([PROJECT / "lab/network", NETWORK], check=True, capture_output=True, text=True).stdout


def jumps():
    """The rules that lead from POSTROUTING to the chains of the two networks."""
    return [rule for rule in nat("-S", "POSTROUTING").splitlines() if rule.endswith((CHAIN, OTHER))]


def test_a_network_begins_without_the_rules_of_killed_ones():
    try:
        # The subnet that the new network gets was the one of another network.
        create()
        subnet = podman("network", "inspect", NETWORK, "--format", "{{(index .Subnets 0).Subnet}}").strip()
        podman("network", "rm", NETWORK)
        for chain, source in ((CHAIN, "198.51.100.0/24"), (OTHER, subnet), (OTHER, "203.0.113.0/24")):
            nat("-N", chain, check=False)
            nat("-A", chain, "!", "-d", "224.0.0.0/4", "-j", "MASQUERADE")
            nat("-A", "POSTROUTING", "-s", source, "-j", chain)
        assert NETWORK in create()
        assert subnet in podman("network", "inspect", NETWORK)
        assert nat("-S", CHAIN) == f"-N {CHAIN}\n"
        assert jumps() == [f"-A POSTROUTING -s 203.0.113.0/24 -j {OTHER}"]
        assert create() == ""
    finally:
        podman("network", "rm", NETWORK, check=False)
        for rule in jumps():
            nat("-D", *rule.split()[1:], check=False)
        for chain in (CHAIN, OTHER):
            nat("-F", chain, check=False)
            nat("-X", chain, check=False)


def test_a_host_whose_processes_were_killed_from_outside_is_removed_and_no_other():
    image = podman("images", "--format", "{{.Repository}}:{{.Tag}}", "--filter", "reference=localhost/headroom-lab-*")
    killed, running, stopped = hosts = [f"headroom-test-{state}" for state in ("killed", "running", "stopped")]
    try:
        for name in hosts:
            podman("run", "--detach", "--name", name, "--network", "none", image.split()[0], "sleep", "600")
        podman("kill", stopped)
        # As podman itself has no say when a machine's memory ends: neither the host's process nor the one that watches it ends in good order.
        pids = podman("inspect", "--format", "{{.State.ConmonPid}} {{.State.Pid}}", killed).split()
        subprocess.run([*ROOT, "kill", "-KILL", *pids], check=True)
        done = subprocess.run(
            [PROJECT / "lab/killed", *hosts, "headroom-test-absent"], check=True, capture_output=True, text=True
        )
        assert done.stdout.split() == [killed]
        left = podman("ps", "--all", "--format", "{{.Names}}").split()
        assert (killed in left, running in left, stopped in left) == (False, True, True)
    finally:
        podman("rm", "--force", "--ignore", "--time", "0", *hosts, check=False)
