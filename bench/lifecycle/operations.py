"""The operations of a cluster's life that are killed, in an order in which each begins where the one before ended."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from bench.common.campaign import hosts, play
from bench.common.campaign.faults import Injection
from bench.common.campaign.operation import Lab, Play
from bench.common.campaign.play import Outcome
from bench.common.damage import damage_script
from bench.common.member import releases
from bench.lifecycle.lab import ALL, LifecycleLab
from tools.setup.targets import THREE_ETCDS

# Places in the list of releases.
OLD, MIDDLE, NEW = range(3)
VALUE = "the-value-that-is-damaged"


class Change(Play):
    """A change of members or of the release.

    before, after: numbers of members; source, target: releases, by their place. seconds: about how long it takes after its first change.
    """

    playbook = ""
    before = after = 3
    source = target = NEW
    seconds = 60.0

    def prepare(self, lab: Lab, number: int) -> None:
        assert isinstance(lab, LifecycleLab)
        lab.reach(ALL[: self.before], releases()[self.source])
        self.lab = lab
        lab.wanted = ALL[: self.after]
        self.voters = min(self.before, self.after)

    def run(self, lab: Lab, kill: str = "", injection: Injection | None = None) -> Outcome:
        # etcd_version of the inventory follows once the playbook has ended.
        self.lab.release = releases()[self.source]
        outcome = play.run(self.arguments(lab), kill=play.parse_point(kill) if kill else None)
        self.lab.release = releases()[self.target]
        return outcome

    def arguments(self, lab: Lab) -> list[str]:
        return lab.arguments(f"playbooks/{self.playbook}.yml", **self.variables())

    def variables(self) -> dict[str, Any]:
        """Return the variables that the playbook is run with."""
        return {}

    def is_complete(self) -> bool:
        return not self.difference()

    def difference(self) -> str:
        """Return how the members differ from those of the inventory at the release; empty if they do not."""
        wanted = self.lab.wanted
        answer = hosts.inside(wanted[0], f"{hosts.ETCDCTL} member list -w json", check=False)
        try:
            listed = json.loads(answer)["members"]
        except ValueError:
            return f"{wanted[0]} does not answer"
        found = {str(one.get("name", "")): bool(one.get("isLearner")) for one in listed}
        texts = [f"{name or 'a member that never started'} is a learner" for name, learns in found.items() if learns]
        texts += [f"{name or 'a member that never started'} is too many" for name in found if name not in wanted]
        texts += [f"{name} is missing" for name in wanted if name not in found]
        versions = {host: str(status["version"]) for host, status in hosts.statuses().items() if host in wanted}
        texts += [f"{host} runs {version}" for host, version in versions.items() if version != self.lab.release]
        texts += [f"{host} does not answer" for host in wanted if host not in versions]
        return ", ".join(texts + self.more_differences())

    def more_differences(self) -> list[str]:
        """Return what else is not as it should be."""
        return []


class Scale(Change):
    """scale.yml between two numbers of members."""

    playbook = "scale"

    def variables(self) -> dict[str, Any]:
        gone = ALL[self.after : self.before]
        return {"etcd_scale_remove": list(gone)} if gone else {}


class Grow(Scale):
    """One member becomes three."""

    name, about = "grow 1 to 3", "`scale.yml`: one member becomes three"
    before, after = 1, 3


class GrowMore(Scale):
    """Three members become five."""

    name, about = "grow 3 to 5", "`scale.yml`: three members become five"
    before, after = 3, 5


class Shrink(Scale):
    """Five members become three."""

    name, about = "shrink 5 to 3", "`scale.yml`: five members become three"
    before, after = 5, 3


class Replace(Change):
    """replace.yml for members whose data is deleted."""

    playbook = "replace"

    def __init__(self) -> None:
        self.victims: list[str] = []

    def variables(self) -> dict[str, Any]:
        return {"etcd_replace": ",".join(self.victims)}

    def followers(self, count: int) -> list[str]:
        """Return the last hosts of the cluster whose members do not lead."""
        leading = hosts.leader()
        return [host for host in self.lab.wanted if host != leading][-count:]

    def delete(self, count: int) -> None:
        """Delete the data of this many members."""
        self.victims = self.followers(count)
        for host in self.victims:
            hosts.inside(host, "systemctl stop etcd; rm -rf /var/lib/etcd/data/member /var/lib/etcd-wal/member/wal")


class ReplaceDead(Replace):
    """A member whose data is lost."""

    name, about = "replace a dead member", "`replace.yml` for one of three members, whose data was deleted"

    def prepare_under_load(self, lab: Lab) -> None:
        self.delete(1)


class ReplaceTwo(Replace):
    """Two of five members whose data is lost."""

    name, about = "replace two of five", "`replace.yml` for two of five members, whose data was deleted"
    before = after = 5

    def prepare_under_load(self, lab: Lab) -> None:
        self.delete(2)


class ReplaceLeader(Replace):
    """The leader, which is healthy."""

    name, about = "replace the leader", "`replace.yml` with `etcd_replace_healthy` for the leader of three members"

    def prepare_under_load(self, lab: Lab) -> None:
        self.victims = [hosts.leader()]

    def variables(self) -> dict[str, Any]:
        return {**super().variables(), "etcd_replace_healthy": True}

    def more_differences(self) -> list[str]:
        [host] = self.victims
        kept = hosts.inside(host, "ls -d /var/lib/etcd/data.before-* | wc -l", check=False).strip()
        return [] if kept == "1" else [f"{host} was replaced {kept} times"]


class Rebuild(Replace):
    """A member whose database is damaged."""

    name, about = (
        "rebuild a corrupt member",
        "`replace.yml` for one of three members, in whose database a value was changed",
    )

    def prepare_under_load(self, lab: Lab) -> None:
        self.victims = self.followers(1)
        [host] = self.victims
        puts = "; ".join(f"{hosts.ETCDCTL} put /damaged/{number} {VALUE}-{number}" for number in range(10))
        hosts.inside(host, puts)
        hosts.inside(host, damage_script(VALUE))
        if not hosts.wait_healthy(60, lab.members()):
            raise RuntimeError(f"{host} does not start with its damaged database")
        time.sleep(2)


class Release(Change):
    """upgrade.yml or downgrade.yml from one release to the next."""

    def __init__(self, playbook: str, source: int, target: int) -> None:
        self.playbook, self.source, self.target = playbook, source, target
        # As the set-up names them, so that the name is known before they are built.
        series = [name.removeprefix("etcd-") for name in THREE_ETCDS]
        self.name = f"{playbook} {series[source]} to {series[target]}"
        self.about = f"`{playbook}.yml`"

    def variables(self) -> dict[str, Any]:
        return {f"etcd_{self.playbook}_to": releases()[self.target]}


OPERATIONS: tuple[Callable[[], Change], ...] = (
    Grow,
    GrowMore,
    ReplaceTwo,
    Shrink,
    ReplaceDead,
    ReplaceLeader,
    Rebuild,
    partial(Release, "downgrade", NEW, MIDDLE),
    partial(Release, "downgrade", MIDDLE, OLD),
    partial(Release, "upgrade", OLD, MIDDLE),
    partial(Release, "upgrade", MIDDLE, NEW),
)
