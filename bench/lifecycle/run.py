"""Time an upgrade and a downgrade of three idle members, and a rolling change of a setting, in a lab of its own.

All in one go, so that the figures compare. Prints a table; exits 1 if the upgrade takes longer than the project's limit.
"""

from __future__ import annotations

import sys
from statistics import median

from bench.common.member import releases
from bench.common.playbook import timed_play

LAB = "bench-lifecycle"
INVENTORY = "inventory,lab/inventory.py,molecule/lifecycle/inventory"
LIMIT = 1.5  # × the rolling change
ROUNDS = 3


def play(playbook: str, **variables: object) -> float:
    """Run a playbook in the lab and return the seconds that it took."""
    given = [word for name, value in variables.items() for word in ("-e", f"{name}={value}")]
    return timed_play(playbook, *given, LAB_NAME=LAB, ANSIBLE_INVENTORY=INVENTORY)[0]


def main() -> int:
    *_, old, new = releases()
    seconds: dict[str, list[float]] = {
        "a rolling change of a setting": [],
        f"downgrade to {old}": [],
        f"upgrade to {new}": [],
    }
    change, down, up = seconds.values()
    play("lab/create.yml")
    try:
        play("site.yml", etcd_version=new)
        for number in range(ROUNDS):
            setting = {"etcd_snapshot_catchup_entries": 400 + number}
            change.append(play("site.yml", etcd_version=new, **setting))
            down.append(play("playbooks/downgrade.yml", etcd_downgrade_to=old, **setting))
            up.append(play("playbooks/upgrade.yml", etcd_upgrade_to=new, **setting))
    finally:
        play("lab/destroy.yml")
    print(f"| run, median of {ROUNDS} | seconds | × change | limit |\n|---|---|---|---|")
    for name, took in seconds.items():
        limit = LIMIT if took is up else ""
        print(f"| {name} | {median(took):.1f} | {median(took) / median(change):.2f} | {limit} |")
    return int(median(up) > LIMIT * median(change))


if __name__ == "__main__":
    sys.exit(main())
