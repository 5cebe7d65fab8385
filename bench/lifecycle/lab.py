"""The lab of the campaign: five hosts, the members among them, and the release that the inventory asks for."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from bench.common.campaign import hosts, play
from bench.common.campaign.operation import Lab
from bench.common.lab import PROJECT, STATE
from bench.common.member import releases

ALL = tuple(f"etcd-{number}" for number in range(1, 6))
MADE_WITH: dict[str, object] = {"lab_hosts": ALL, "lab_volumes": {"data": "4G", "wal": "2G"}}
INVENTORY = PROJECT / "bench" / "lifecycle" / "inventory"


def _kept() -> Path:
    return STATE / "settled.json"


@dataclass
class LifecycleLab(Lab):
    """Hosts whose inventory is edited: wanted and release are what it says."""

    wanted: tuple[str, ...] = ALL[:1]
    release: str = ""

    def arguments(self, playbook: str = "site.yml", **more: Any) -> list[str]:
        """Return the arguments of ansible-playbook."""
        path = STATE / "members.yml"
        described = {"hosts": dict.fromkeys(self.wanted), "vars": {"etcd_version": self.release}}
        path.write_text(yaml.safe_dump({"etcd": described}))
        inventories = [str(PROJECT / "lab" / "inventory.py"), str(INVENTORY), str(path)]
        where = [word for inventory in inventories for word in ("-i", inventory)]
        return [playbook, *where, *(["-e", json.dumps(more)] if more else [])]

    def members(self) -> tuple[str, ...]:
        """Return the hosts that have a member once the playbook has ended."""
        return self.wanted

    def rebuild(self) -> None:
        """Begin with one member on bare hosts."""
        self.wanted, self.release = ALL[:1], releases()[-1]
        hosts.rebuild(**MADE_WITH)

    def keep(self) -> None:
        """Record that the cluster matches the inventory, for the next campaign."""
        _kept().write_text(json.dumps({"wanted": self.wanted, "release": self.release}))

    def resume(self) -> bool:
        """Continue with the recorded cluster. Returns whether there is one."""
        if not _kept().exists():
            return False
        noted = json.loads(_kept().read_text())
        self.wanted, self.release = tuple(noted["wanted"]), noted["release"]
        return True

    def forget(self) -> None:
        """Remove the record, before a case changes the cluster."""
        _kept().unlink(missing_ok=True)

    def reach(self, members: Sequence[str], release: str) -> None:
        """Bring the cluster to these members and this release. Raises RuntimeError if a playbook fails."""
        series = releases()
        while self.release != release:
            steps = 1 if series.index(release) > series.index(self.release) else -1
            following = series[series.index(self.release) + steps]
            verb = "upgrade" if steps > 0 else "downgrade"
            self.must(f"playbooks/{verb}.yml", **{f"etcd_{verb}_to": following})
            self.release = following
        gone = [host for host in self.wanted if host not in members]
        if self.wanted != tuple(members):
            self.wanted = tuple(members)
            self.must("playbooks/scale.yml", **({"etcd_scale_remove": gone} if gone else {}))
        for host in ALL:
            hosts.inside(
                host, "rm -rf /var/lib/etcd/data.before-* /var/lib/etcd-wal/member/wal.before-* /etc/etcd/replaced"
            )

    def must(self, playbook: str, **more: Any) -> None:
        """Run a playbook. Raises RuntimeError if it fails."""
        outcome = play.run(self.arguments(playbook, **more))
        if outcome.code:
            raise RuntimeError(outcome.output)
