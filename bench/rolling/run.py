"""Change a lab's cluster while a client writes every 50 ms, and report what the client and the members noticed.

    python -m bench.rolling.run etcd_snapshot_catchup_entries=321
    python -m bench.rolling.run --playbook playbooks/rotate_ca.yml

Runs the playbook, by default site.yml, with those variables. Exits 1 if a write failed, or if the members did not restart one after the other;
with site.yml also if the leader was not the last.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys

from bench.common.lab import PROJECT, addresses, certificates, on

STARTED = "cut -d ' ' -f 22 /proc/$(systemctl show -P MainPID etcd)/stat"
STATUS = (
    "etcdctl --cacert /etc/etcd/tls/ca.crt --cert /etc/etcd/tls/client.crt --key /etc/etcd/tls/client.key "
    "--endpoints https://127.0.0.1:2379 endpoint status -w json"
)


def started(hosts: list[str]) -> dict[str, int]:
    """Return when each member's process started, in kernel ticks since boot (the hosts of a lab share a kernel)."""
    return {host: int(on(host, STARTED)) for host in hosts}


def leads(host: str) -> bool:
    """Return whether the member on this host reports that it leads."""
    [answer] = json.loads(on(host, STATUS))
    return bool(answer["Status"]["header"]["member_id"] == answer["Status"]["leader"])


def main() -> int:
    parser = argparse.ArgumentParser(description="Change a lab's cluster while a client writes.")
    parser.add_argument("--playbook", default="site.yml")
    parser.add_argument("variables", nargs="*", metavar="NAME=VALUE")
    arguments = parser.parse_args()
    hosts = addresses()
    names = list(hosts)
    before = started(names)
    [leader] = [host for host in names if leads(host)]
    writer = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "bench.rolling.writes",
            "--tls",
            certificates(names[0]),
            *(f"https://{address}:2379" for address in hosts.values()),
        ],
        stdin=subprocess.PIPE,
        cwd=PROJECT,
        text=True,
    )
    variables = [word for pair in arguments.variables for word in ("-e", pair)]
    play = subprocess.run(
        ["ansible-playbook", arguments.playbook, *variables], cwd=PROJECT, capture_output=True, text=True, check=False
    )
    writer.communicate("", timeout=60)
    after = started(names)
    order = sorted((host for host in names if after[host] != before[host]), key=after.__getitem__)
    print(f"leader before: {leader}; restarted, in this order: {', '.join(order) or 'none'}")
    if play.returncode:
        print(play.stdout + play.stderr)
    alone = len({after[host] for host in order}) == len(order)
    last = arguments.playbook != "site.yml" or order[-1:] == [leader]
    return int(bool(play.returncode or writer.returncode or not alone or not last))


if __name__ == "__main__":
    sys.exit(main())
