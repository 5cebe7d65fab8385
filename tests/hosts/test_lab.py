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
CHAIN = "NETAVARK-" + hashlib.sha512(NETWORK.encode()).hexdigest()[:13].upper()


def nat(*words, check=True):
    """Run iptables on the machine that the lab's hosts share, and return its output."""
    command = [*ROOT, "iptables", "-w", "-t", "nat", *words]
    return subprocess.run(command, check=check, capture_output=True, text=True).stdout


def create():
    return subprocess.run([PROJECT / "lab/network", NETWORK], check=True, capture_output=True, text=True).stdout


def test_a_network_begins_without_the_rules_of_a_killed_one():
    try:
        nat("-N", CHAIN, check=False)
        nat("-A", CHAIN, "!", "-d", "224.0.0.0/4", "-j", "MASQUERADE")
        assert NETWORK in create()
        assert nat("-S", CHAIN) == f"-N {CHAIN}\n"
        assert create() == ""
    finally:
        podman("network", "rm", NETWORK, check=False)
        nat("-F", CHAIN, check=False)
        nat("-X", CHAIN, check=False)
