# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab itself: what a killed lab left behind does not reach the next one of its name."""

from __future__ import annotations

import hashlib
import os
import subprocess

from conftest import PROJECT

NETWORK = "headroom-test-of-a-network"
CHAIN = "NETAVARK-" + hashlib.sha512(NETWORK.encode()).hexdigest()[:13].upper()


def root(*command):
    """Run a command as root on the machine that the lab's hosts share; return its exit code and what it printed."""
    sudo = [] if os.geteuid() == 0 else ["sudo", "-n"]
    done = subprocess.run([*sudo, *command], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


def nat(*arguments):
    return root("iptables", "-w", "-t", "nat", *arguments)


def test_a_network_begins_without_the_rules_of_a_killed_one():
    podman, network = PROJECT / "lab/podman", PROJECT / "lab/network"
    try:
        nat("-N", CHAIN)
        assert nat("-A", CHAIN, "!", "-d", "224.0.0.0/4", "-j", "MASQUERADE")[0] == 0
        created = subprocess.run([network, NETWORK], capture_output=True, text=True, check=True)
        assert NETWORK in created.stdout
        assert nat("-S", CHAIN) == (0, f"-N {CHAIN}\n")
        again = subprocess.run([network, NETWORK], capture_output=True, text=True, check=True)
        assert again.stdout == ""
    finally:
        subprocess.run([podman, "network", "rm", NETWORK], capture_output=True, check=False)
        nat("-F", CHAIN), nat("-X", CHAIN)
