# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running members get other addresses and ports, while a client writes a key every 50 ms, and although the play is killed."""

from __future__ import annotations

import ipaddress
import json

import pytest
import yaml
from cluster import ETCDCTL
from test_membership import SCENARIO, command, inventory, members, play, started, unchanged
from writing import writing

from bench.common.lab import addresses
from tests.campaign import IS_CAMPAIGN

HOSTS = ("etcd-1", "etcd-2", "etcd-3")
TLS_CTL = ETCDCTL.rpartition(":")[0]


@pytest.fixture
def second_address(site):
    """Give etcd-2 a second address in the lab's network, as a network for the members would."""
    found = ipaddress.ip_interface(
        site.on("etcd-2", "ip -o -4 addr show scope global | awk '{print $4; exit}'").strip()
    )
    other = found + 100
    site.on(
        "etcd-2",
        f"ip addr replace {other.ip}/{found.network.prefixlen} dev $(ip -o -4 route get 192.0.2.1 | sed 's/.* dev //; s/ .*//')",
    )
    return str(other.ip)


def described(folder, peer_port, client_port, **of_hosts):
    """Return the inventories of the three hosts with variables of their own."""
    path = folder / "addresses.yml"
    hosts = {host: of_hosts.get(host.replace("-", ""), {}) for host in HOSTS}
    ports = {"etcd_peer_port": peer_port, "etcd_client_port": client_port}
    path.write_text(yaml.safe_dump({"etcd": {"hosts": hosts, "vars": ports}}))
    return f"{SCENARIO},{path}"


def peer_urls(site, port=2379):
    return {one["name"]: one["peerURLs"] for one in listed(site, port)}


def listed(site, port=2379):
    return json.loads(site.on("etcd-1", f"{TLS_CTL}:{port} member list -w json"))["members"]


def client_ports(site, port=2379):
    return {url.rpartition(":")[2] for one in listed(site, port) for url in one["clientURLs"]}


def lead(site, name, port):
    """Move the leadership to a member."""
    found = listed(site, port)
    member = next(format(one["ID"], "x") for one in found if one["name"] == name)
    urls = ",".join(url for one in found for url in one["clientURLs"])
    site.on("etcd-1", f"{TLS_CTL.rpartition(' ')[0]} {urls} move-leader {member}")


@pytest.mark.campaign
def test_running_members_move_to_other_addresses_and_ports(site, tmp_path, second_address):
    if len(members(site)) == 1:
        assert play(site, "scale", inventory(tmp_path, *HOSTS)).code == 0
    moved = described(
        tmp_path,
        2390,
        2479,
        etcd2={"etcd_peer_address": second_address},
        etcd3={"etcd_listen_addresses": ["0.0.0.0"]},
    )
    before = peer_urls(site)
    foretold = play(site, "site", moved, "--check")
    assert foretold.code == 0 and set(foretold.changed.values()) != {0}, foretold.output
    assert peer_urls(site) == before
    with writing(more_ports=[2479]):
        # The cluster knows the new URL of the first member, which still runs with the old one.
        site.kill_at("Write the configuration file", *command("playbooks/site.yml", moved))
        half = peer_urls(site)
        assert sum(half[name] != before[name] for name in HOSTS) == 1, half
        if IS_CAMPAIGN:
            # Whoever thinks better of it goes back: the member has not restarted, so nothing else tells that it must.
            back = play(site, "site", inventory(tmp_path, *HOSTS))
            assert back.code == 0 and peer_urls(site) == before, back.output
        # The first member has its new configuration, and runs with the old one.
        site.kill_at("Write the systemd unit", *command("playbooks/site.yml", moved))
        assert client_ports(site) == {"2379"}
        run = play(site, "site", moved)
        assert run.code == 0, run.output
    own = {**addresses(), "etcd-2": second_address}
    assert peer_urls(site, 2479) == {name: [f"https://{own[name]}:2390"] for name in HOSTS}
    assert client_ports(site, 2479) == {"2479"}
    # Every address has another name in each version of ss.
    listening = site.on("etcd-3", "ss -Hltn | awk '{print $4}'").split()
    assert {"2479", "2390"} <= {place.rpartition(":")[2] for place in listening}
    assert not [place for place in listening if place.startswith(own["etcd-3"])]
    again = play(site, "site", moved)
    assert unchanged(again), again.output
    # The timers' program asks at the new port.
    found = [json.loads(site.on(host, "headroom integrity"))["result"] for host in HOSTS]
    assert sorted(found) == ["done", "skipped", "skipped"]


@pytest.mark.campaign
def test_addresses_that_cannot_be_used_change_nothing(site, tmp_path, second_address):
    before = started(site, *HOSTS), peer_urls(site, 2479)
    own = addresses()
    elsewhere = {"etcd3": {"etcd_listen_addresses": ["0.0.0.0"], "etcd_client_port": 2579}}
    # The leader's host compares the members' hashes, where its member answers and not where it is to answer.
    lead(site, "etcd-3", 2479)
    one_thing = f"etcd-3 would move to https://{own['etcd-3']}:2579: change one thing at a time, and run site.yml first"
    for playbook, asked, variables, text in (
        ("replace", {"etcd_replace": "etcd-1", "etcd_replace_healthy": True}, elsewhere, one_thing),
        ("site", {}, {"etcd3": {"etcd_client_port": 22}}, "because another process listens on 0.0.0.0:22; stop it"),
    ):
        base = {"etcd2": {"etcd_peer_address": second_address}, "etcd3": {"etcd_listen_addresses": ["0.0.0.0"]}}
        run = play(site, playbook, described(tmp_path, 2390, 2479, **{**base, **variables}), **asked)
        assert run.code != 0 and text in " ".join(run.output.split()), run.output
        assert set(run.changed.values()) <= {0}
    assert (started(site, *HOSTS), peer_urls(site, 2479)) == before


@pytest.mark.campaign
def test_the_members_move_back(site, tmp_path):
    with writing(more_ports=[2479]):
        run = play(site, "site", described(tmp_path, 2380, 2379))
        assert run.code == 0, run.output
    assert peer_urls(site) == {
        name: [f"https://{address}:2380"] for name, address in addresses().items() if name in HOSTS
    }
    assert unchanged(play(site, "site", inventory(tmp_path, *HOSTS)))
