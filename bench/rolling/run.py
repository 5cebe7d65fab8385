"""Change a setting of a lab's cluster while a client writes every 50 ms, and report what the client and the members noticed.

    python -m bench.rolling.run etcd_snapshot_catchup_entries=321

Runs site.yml with that variable. Exits 1 if a write failed, or if the members did not restart one after the other with the leader last.
"""

from __future__ import annotations

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
    variables = [word for pair in sys.argv[1:] for word in ("-e", pair)]
    site = subprocess.run(
        ["ansible-playbook", "site.yml", *variables], cwd=PROJECT, capture_output=True, text=True, check=False
    )
    writer.communicate("", timeout=60)
    after = started(names)
    order = sorted((host for host in names if after[host] != before[host]), key=after.__getitem__)
    print(f"leader before: {leader}; restarted, in this order: {', '.join(order) or 'none'}")
    if site.returncode:
        print(site.stdout + site.stderr)
    alone = len({after[host] for host in order}) == len(order)
    return int(bool(site.returncode or writer.returncode or not alone or order[-1:] != [leader]))


if __name__ == "__main__":
    sys.exit(main())
