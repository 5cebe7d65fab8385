#!/usr/bin/env python3
"""Choose the addresses of a lab's hosts once: podman gives a host that starts again another address by default.

`addresses.py FILE SUBNET HOST…` prints the addresses in FILE, if it exists, and those of the other hosts, as JSON. Members, certificates
and known hosts refer to the addresses, so a host keeps its address as long as the lab's network has it.
"""

from __future__ import annotations

import ipaddress
import json
import sys
from pathlib import Path


def choose(kept: dict[str, str], subnet: str, hosts: list[str]) -> dict[str, str]:
    """Return an address for each host: the kept one if the subnet has it, else the first free one after the gateway's."""
    network = ipaddress.IPv4Network(subnet)
    chosen = {host: address for host, address in kept.items() if ipaddress.IPv4Address(address) in network}
    free = (str(address) for address in list(network.hosts())[1:] if str(address) not in chosen.values())
    for host in hosts:
        if host not in chosen:
            chosen[host] = next(free)
    return chosen


def main(file: Path, subnet: str, hosts: list[str]) -> None:
    """Print the addresses."""
    kept = json.loads(file.read_text()) if file.exists() else {}
    print(json.dumps(choose(kept, subnet, hosts), indent=4))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3:])
