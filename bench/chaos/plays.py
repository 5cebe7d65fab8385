"""The playbooks that a fault befalls."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace

from bench.common.campaign import play
from bench.common.campaign.client import Write
from bench.common.campaign.faults import Injection
from bench.common.campaign.hosts import inside
from bench.common.campaign.operation import BACKUPS, Lab, Play
from bench.common.campaign.play import Outcome, Point
from bench.common.lab import PROJECT
from bench.common.member import releases

# What a restore adds to the revision of the snapshot, so that watchers notice it.
BUMP = 1_000_000_000


class Deploy(Play):
    """site.yml on bare hosts."""

    name, about = "deploy", "`site.yml` on bare hosts"
    point = Point("Wait until the member serves with its settings")
    serves_before = False

    def prepare(self, lab: Lab, number: int) -> None:
        lab.rebuild()


class Change(Play):
    """A setting that restarts every member."""

    name, about = "change", "`site.yml` with another `etcd_snapshot_catchup_entries`, which restarts every member"
    point = Point("Write the configuration file")

    def prepare(self, lab: Lab, number: int) -> None:
        lab.variables["etcd_snapshot_catchup_entries"] = 4000 + number


class Renew(Play):
    """Certificates with another name."""

    name, about = "renew", "`site.yml` with another name in `etcd_tls_extra_sans`, which renews every certificate"
    point = Point("Write the configuration file")

    def prepare(self, lab: Lab, number: int) -> None:
        lab.variables["etcd_tls_extra_sans"] = [f"case-{number}.example.net"]


class Restore(Play):
    """A snapshot, taken while the client writes, replaces the data."""

    name, about = "restore", "`playbooks/restore.yml` with a snapshot of a moment before"
    point = Point("Activate the new data")

    def __init__(self) -> None:
        self.path, self.revision = "", 0

    def prepare_under_load(self, lab: Lab) -> None:
        asked = ["etcd-2", "-b", "-m", "etcdops.headroom.etcd_snapshot", "-a", f"dest={BACKUPS}"]
        done = subprocess.run(["ansible", *asked], cwd=PROJECT, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(done.stdout + done.stderr)
        self.path = inside("etcd-2", f"ls -t {BACKUPS}/*.db | head -n 1").strip()
        self.revision = int(json.loads(inside("etcd-2", f"cat {self.path}.json"))["revision"])

    def arguments(self, lab: Lab) -> list[str]:
        asked = {"etcd_restore_snapshot": self.path, "etcd_restore_confirm": "example"}
        return lab.arguments("playbooks/restore.yml", **asked)

    def rerun(self, lab: Lab, kill: str = "") -> Outcome:
        outcome = self.run(lab, kill=kill)
        if outcome.code and "etcd_restore_again" in outcome.output:
            return replace(outcome, code=0, said="refused, since the cluster already runs on the snapshot")
        return outcome

    def must_survive(self, write: Write) -> bool:
        """Writes between the snapshot and the restored cluster are replaced, as the user asked."""
        return write.revision <= self.revision or write.revision > self.revision + BUMP // 2


class Upgrade(Play):
    """To the newest minor release, from the one before."""

    name, about = "upgrade", "`playbooks/upgrade.yml` to the newest minor release; before it, a downgrade by one"
    point = Point("Write the configuration file")

    def prepare(self, lab: Lab, number: int) -> None:
        *_, self.old, self.new = releases()
        lab.variables.pop("etcd_version", None)
        outcome = play.run(lab.arguments("playbooks/downgrade.yml", etcd_downgrade_to=self.old))
        if outcome.code:
            raise RuntimeError(outcome.output)

    def run(self, lab: Lab, kill: str = "", injection: Injection | None = None) -> Outcome:
        # The playbook refuses etcd_version as an extra variable; the runs of site.yml that follow need it.
        lab.variables.pop("etcd_version", None)
        outcome = super().run(lab, kill, injection)
        lab.variables["etcd_version"] = self.new
        return outcome

    def arguments(self, lab: Lab) -> list[str]:
        return lab.arguments("playbooks/upgrade.yml", etcd_upgrade_to=self.new)


class Replace(Play):
    """A member whose data is lost."""

    name, about = "replace", "`playbooks/replace.yml` for a member whose data was deleted"
    point = Point("Start the learner")
    lost = "etcd-3"

    def prepare(self, lab: Lab, number: int) -> None:
        inside(self.lost, "systemctl stop etcd; rm -rf /var/lib/etcd/data/member /var/lib/etcd-wal/member/wal")

    def arguments(self, lab: Lab) -> list[str]:
        return lab.arguments("playbooks/replace.yml", etcd_replace=self.lost)
