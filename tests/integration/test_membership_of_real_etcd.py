# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Members of real etcd on loopback join, are promoted and are removed by the module, on each release and after an interruption."""

from __future__ import annotations

import http.client
import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.testing import patch_module_args
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import lock
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster_view import view_cluster
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.member_identity import read_identity
from ansible_collections.etcdops.headroom.plugins.module_utils._membership import plan as membership_plan
from ansible_collections.etcdops.headroom.plugins.module_utils._membership.request import Request
from ansible_collections.etcdops.headroom.plugins.module_utils._storage.wal_move import member_facts
from ansible_collections.etcdops.headroom.plugins.modules import etcd_space_info

from bench.common.member import Member, binary, releases, running
from tests.integration.client import REQUEST_SECONDS, connection, etcdctl, run, wait_for_leader, wait_until

MODULES = "ansible_collections.etcdops.headroom.plugins.modules"
PORT = 26510
LOCK_SECONDS = 300

# An etcdctl that returns unreadable member lists once the lock is acquired, and hangs when asked to add a member.
FAULTY = """#!/bin/sh
case "$*" in *" txn") touch {folder}/locked ;; esac
case "$*" in *"member list"*) if [ -e {folder}/locked ]; then echo no list; exit 0; fi ;; esac
case "$*" in *"member add"*) touch {folder}/adding; exec sleep 60 ;; esac
exec {etcdctl} "$@"
"""


class Cluster:
    """Members on loopback that are started one after the other."""

    def __init__(self, version: str, folder: Path, size: int, flags: Sequence[str] = ()) -> None:
        self.version, self.folder = version, folder
        self.stack = ExitStack()
        ports = {f"m{number}": PORT + 10 * number for number in range(1, size + 1)}
        self.members = {
            name: Member(version, folder, port, flags, name=name, peers=ports) for name, port in ports.items()
        }
        self.stack.enter_context(running(list(self.members.values())))

    def alive(self) -> list[Member]:
        return [member for member in self.members.values() if member.process and member.process.poll() is None]

    def endpoints(self) -> list[str]:
        return [member.endpoint for member in self.alive()]

    def peer_url(self, name: str) -> str:
        return f"http://127.0.0.1:{PORT + 10 * int(name[1:]) + 1}"

    def command(self, name: str, state: str, module: str = "etcd_membership", **more: Any) -> list[str]:
        """Return the command line that runs a module as Ansible would."""
        urls = {"peer_url": self.peer_url(name)} if state in ("learner", "promoted", "moved") else {}
        arguments = {
            "name": name,
            "state": state,
            "endpoints": self.endpoints(),
            "etcdctl_path": str(binary(self.version, "etcdctl")),
            "request_timeout": REQUEST_SECONDS,
            "unit": "headroom-no-such.service",
            "timeout": 60,
            **urls,
            **more,
        }
        code = (
            "import json, sys; from ansible.module_utils.testing import patch_module_args\n"
            f"from {MODULES}.{module} import main\n"
            "with patch_module_args(json.loads(sys.argv[1])): main()"
        )
        return [sys.executable, "-c", code, json.dumps(arguments)]

    def module(self, name: str, state: str, module: str = "etcd_membership", **more: Any) -> dict[str, Any]:
        """Run a module as Ansible would, in a process of its own."""
        command = self.command(name, state, module, **more)
        done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
        assert done.stdout, done.stderr
        return dict(json.loads(done.stdout))

    def ctl(self, *words: str) -> str:
        return etcdctl(self.alive(), *words)

    def listed(self) -> dict[str, bool]:
        """Return whether each member is a learner, by name; by peer URL before its first start."""
        found = json.loads(self.ctl("member", "list", "-w", "json"))["members"]
        return {one.get("name") or one["peerURLs"][0]: bool(one.get("isLearner")) for one in found}

    def peer_urls(self, name: str) -> list[str]:
        """Return the peer URLs that the cluster has of a member."""
        found = json.loads(self.ctl("member", "list", "-w", "json"))["members"]
        return [url for one in found if one.get("name") == name for url in one["peerURLs"]]

    def start(self, name: str, initial_cluster: str) -> Member:
        """Start a member that joins, with what the module returned."""
        peers = {pair.split("=")[0]: int(pair.rsplit(":", 1)[1]) - 1 for pair in initial_cluster.split(",")}
        joining = Member(
            self.version, self.folder, PORT + 10 * int(name[1:]), name=name, peers=peers,
            flags=["--initial-cluster-state=existing"],
        )  # fmt: skip
        joining.start()
        self.members[name] = joining
        self.stack.callback(joining.stop)
        return joining


@pytest.fixture(params=releases())
def single(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Cluster]:
    cluster = Cluster(request.param, tmp_path, 1)
    with cluster.stack:
        yield cluster


@pytest.fixture
def three(tmp_path: Path) -> Iterator[Cluster]:
    cluster = Cluster(releases()[-1], tmp_path, 3)
    with cluster.stack:
        yield cluster


def test_a_member_joins_although_each_step_is_interrupted_and_repeated(single: Cluster) -> None:
    would = single.module("m2", "learner", _ansible_check_mode=True)
    assert (would["changed"], single.listed()) == (True, {"m1": False})
    added = single.module("m2", "learner")
    assert added["changed"] and single.listed() == {"m1": False, single.peer_url("m2"): True}
    # Killed here: the next run finds the learner that never started.
    again = single.module("m2", "learner")
    assert not again["changed"]
    assert (again["member_id"], again["initial_cluster"]) == (added["member_id"], added["initial_cluster"])
    early = single.module("m2", "promoted", timeout=1)
    assert early["failed"] and "does not answer yet" in early["msg"] and early["msg"].endswith("(waited 1 s)")
    joined = single.start("m2", added["initial_cluster"])
    promoted = single.module("m2", "promoted")
    assert promoted["changed"] and single.listed() == {"m1": False, "m2": False}
    assert not single.module("m2", "promoted")["changed"]
    assert not single.module("m2", "learner")["changed"], "a voting member is not added again"
    wal = joined.folder / "m2" / "member" / "wal"
    identity = read_identity([str(wal)])
    assert identity == {"member_id": added["member_id"], "cluster_id": promoted["cluster"]["id"]}
    removed = single.module("m1", "absent")
    assert removed["changed"] and removed["moved_to"] in ("", "m2")
    del single.members["m1"]
    assert single.listed() == {"m2": False}
    assert not single.module("m1", "absent")["changed"]
    last = single.module("m2", "absent", timeout=1)
    assert "m2 is the only voting member; a cluster needs at least one" in last["msg"]


@pytest.mark.parametrize("version", releases())
def test_a_learner_whose_first_start_failed_joins_after_the_cluster_has_changed(version: str, tmp_path: Path) -> None:
    """It created its database, but no log, so etcd reads initial-cluster again, which must list the current members."""
    cluster = Cluster(version, tmp_path, 3)
    with cluster.stack:
        added = cluster.module("m4", "learner")
        itself = f"m4={cluster.peer_url('m4')}"

        def fails(initial_cluster: str) -> str:
            joining = cluster.start("m4", initial_cluster)
            assert joining.process and joining.process.wait(60) != 0
            joining.stop()
            facts = member_facts(str(tmp_path / "m4"), None)
            assert facts["present"] and facts["wal_files"] == 0, "roles/etcd/tasks/join_member.yml depends on it"
            return (tmp_path / "m4.log").read_text()

        fails(f"m1=http://127.0.0.1:9,{itself}")  # as behind a firewall
        assert cluster.module("m2", "absent")["changed"]
        cluster.members.pop("m2").stop()
        assert "member count is unequal" in fails(added["initial_cluster"])
        again = cluster.module("m4", "learner")
        assert not again["changed"] and "m2=" not in again["initial_cluster"]
        cluster.start("m4", again["initial_cluster"])
        promoted = cluster.module("m4", "promoted")
        assert promoted["changed"] and cluster.listed() == {"m1": False, "m3": False, "m4": False}, promoted


def write(cluster: Cluster, count: int) -> None:
    """Write keys through the gateway, which takes a millisecond or two each."""
    connection = http.client.HTTPConnection(cluster.endpoints()[0].removeprefix("http://"))
    for _number in range(count):
        connection.request("POST", "/v3/kv/put", json.dumps({"key": "a2V5", "value": "dmFsdWU="}))
        assert connection.getresponse().read()
    connection.close()


def raft_index(member: Member) -> int:
    return int(json.loads(etcdctl(member, "endpoint", "status", "-w", "json"))[0]["Status"]["raftIndex"])


def test_a_learner_that_etcd_would_promote_is_not_promoted_yet(three: Cluster) -> None:
    added = three.module("m4", "learner")
    joined = three.start("m4", added["initial_cluster"])
    write(three, 1000)
    wait_until(lambda: raft_index(joined) >= 1000, "m4 did not catch up")
    assert joined.process
    joined.process.send_signal(signal.SIGSTOP)
    try:
        write(three, 80)
        waits = three.module("m4", "promoted", timeout=1, request_timeout=1)
        assert waits["failed"] and three.listed()["m4"] is True
        etcdctl(three.members["m1"], "member", "promote", added["member_id"])  # etcd itself does
    finally:
        joined.process.send_signal(signal.SIGCONT)
    assert three.listed()["m4"] is False


def test_members_are_not_changed_while_another_one_is_down(three: Cluster) -> None:
    three.members["m3"].stop()
    refused = three.module("m4", "learner", timeout=1)
    assert refused["failed"] and "not healthy: m3" in refused["msg"] and "(waited 1 s)" in refused["msg"]
    refused = three.module("m2", "absent", timeout=1)
    assert refused["failed"] and "not healthy: m3" in refused["msg"]
    assert three.listed() == {"m1": False, "m2": False, "m3": False}
    assert three.module("m3", "absent")["changed"]
    # The dead member is gone: the same host joins again under its name, without its data.
    shutil.move(three.folder / "m3", three.folder / "m3.before")
    added = three.module("m3", "learner")
    three.start("m3", added["initial_cluster"])
    assert three.module("m3", "promoted")["changed"]
    assert three.listed() == {"m1": False, "m2": False, "m3": False}


def test_the_etcd_of_another_cluster_on_a_host_is_no_answer(three: Cluster) -> None:
    """A machine with an etcd of its own took over the host of m3. Its member list lacks m3, which would look like a removal that is done."""
    known = json.loads(three.ctl("member", "list", "-w", "json"))
    ours = format(known["header"]["cluster_id"], "x")
    gone = next(format(one["ID"], "x") for one in known["members"] if one["name"] == "m3")
    urls = [three.members[name].endpoint for name in ("m3", "m1", "m2")]
    dead = three.members.pop("m3")
    dead.stop()
    other = Member(three.version, three.folder / "other", dead.port, ["--initial-cluster-token=other"], name="x1")
    (three.folder / "other").mkdir()
    three.stack.callback(other.stop)
    other.start()
    other.wait_ready()
    alone = three.module("m3", "absent", member_id=gone, cluster_id=ours, endpoints=urls[:1], timeout=1)
    assert alone["failed"] and f"{urls[0]}: the etcd of cluster " in alone["msg"], alone
    assert f", not of {ours}: stop it, or correct its address) (waited 1 s)" in alone["msg"], alone
    locked = {"lock_seconds": LOCK_SECONDS, "play": "a play", "cluster_id": ours}
    for _time in range(3):  # etcdctl chooses the endpoint
        held = three.module("m3", "locked", data_dir="/nowhere", endpoints=urls, **locked)
        assert not held.get("failed") and held["cluster"]["id"] == ours, held
    assert lock.read_lock(connection(three.version), [other.endpoint]) is None
    data = {"data_dir": str(three.folder / "nowhere"), "endpoints": urls}
    voter = three.module("m3", "learner", **data, **locked)
    assert voter["failed"] and f"is the peer URL of m3 ({gone}), which votes, but this host has no" in voter["msg"], (
        voter
    )
    removed = three.module("m3", "absent", member_id=gone, endpoints=urls, **locked)
    assert removed["changed"] and three.listed() == {"m1": False, "m2": False}, removed
    other.stop()
    added = three.module("m3", "learner", **data, **locked)
    assert added["changed"] and added["member_id"] != gone, added


@pytest.mark.parametrize("version", releases())
def test_a_member_moves_to_another_peer_url(version: str, tmp_path: Path) -> None:
    cluster = Cluster(version, tmp_path, 3)
    with cluster.stack:
        wanted = f"http://127.0.0.1:{PORT + 101}"
        would = cluster.module("m1", "moved", peer_url=wanted, _ansible_check_mode=True)
        assert would["changed"] and cluster.peer_urls("m1") == [cluster.peer_url("m1")]
        taken = cluster.module("m1", "moved", peer_url=cluster.peer_url("m2"))
        assert taken["failed"] and taken["msg"].endswith(f"{cluster.peer_url('m2')} is the peer URL of m2")
        assert cluster.module("m1", "moved", peer_url=wanted)["changed"]
        assert not cluster.module("m1", "moved", peer_url=wanted)["changed"]
        cluster.members["m1"].stop()
        moved = Member(version, tmp_path, PORT + 100, name="m1")
        cluster.members["m1"] = moved
        cluster.stack.callback(moved.stop)
        moved.start()
        moved.wait_ready()
        assert cluster.peer_urls("m1") == [wanted]
        # The others reach it there: it votes although one of them is down, and then nobody may move.
        cluster.members["m3"].stop()
        cluster.ctl("put", "key", "value")
        refused = cluster.module("m2", "moved", peer_url=f"http://127.0.0.1:{PORT + 111}", timeout=1)
        assert refused["failed"] and "not healthy: m3" in refused["msg"]


def test_a_learner_of_somebody_else_and_a_taken_name_are_refused(three: Cluster) -> None:
    assert three.module("m9", "learner")["changed"]
    assert "is still a learner; etcd accepts one at a time" in three.module("m4", "learner")["msg"]
    refused = three.module("m3", "learner", peer_url="http://127.0.0.1:2")
    assert "the cluster already has a member named m3" in refused["msg"]


def test_the_lock_is_held_from_the_learner_on_and_released_after_a_removal(three: Cluster) -> None:
    link = connection(three.version)
    added = three.module("m4", "learner", lock_seconds=LOCK_SECONDS, play="a play")
    held = lock.read_lock(link, three.endpoints())
    assert held and (held.holder.member, held.holder.play) == ("m4", "a play")
    removed = three.module("m4", "absent", member_id=added["member_id"], lock_seconds=LOCK_SECONDS, play="a play")
    assert removed["changed"] and lock.read_lock(link, three.endpoints()) is None


def test_the_lock_is_kept_between_the_removal_and_the_new_member(three: Cluster) -> None:
    """Otherwise a backup could take it in between, and the cluster would wait for it with one member less."""
    link = connection(three.version)
    mine = {"lock_seconds": LOCK_SECONDS, "play": "a play"}
    three.members["m3"].stop()
    removed = three.module("m3", "absent", keep_lock=True, **mine)
    held = lock.read_lock(link, three.endpoints())
    assert removed["changed"] and held and (held.holder.member, held.holder.play) == ("m3", "a play"), removed
    added = three.module("m3", "learner", **mine)
    again = lock.read_lock(link, three.endpoints())
    assert added["changed"] and again and again.holder == held.holder, added


def test_a_join_is_refused_if_another_play_has_changed_the_member_since_the_plan(three: Cluster) -> None:
    """Both plays replace m3. The second one would stop the new member and move its data aside."""
    link = connection(three.version)
    data = three.folder / "m3"
    found = read_identity([str(data / "member" / "wal")])
    assert found
    mine = {"lock_seconds": LOCK_SECONDS, "play": "a play", "data_dir": str(data)}
    stale = three.module("m3", "locked", planned_member_id="8e9e05c52164694d", **mine)
    assert stale["failed"] and stale["msg"] == (
        f"another play has changed m3 since this run was planned: the data on this host is of member {found['member_id']} now. Nothing was changed on "
        "this member: run the playbook again, to plan from its current state"
    )
    assert lock.read_lock(link, three.endpoints()) is None
    assert three.module("m3", "locked", **mine)["failed"], "there was no data when the change was planned"
    current = three.module("m3", "locked", planned_member_id=found["member_id"], **mine)
    held = lock.read_lock(link, three.endpoints())
    assert current["changed"] is False and held and (held.holder.member, held.holder.play) == ("m3", "a play")


def test_a_cluster_without_quorum_grants_no_lock_and_the_join_goes_on(three: Cluster) -> None:
    for name in ("m2", "m3"):
        three.members[name].stop()
    went_on = three.module("m4", "locked", lock_seconds=LOCK_SECONDS, play="a play", data_dir="/nowhere")
    assert not went_on.get("failed") and not went_on["changed"], went_on


def faulty_etcdctl(cluster: Cluster, *, readable: bool = False) -> str:
    path = cluster.folder / "faulty-etcdctl"
    text = FAULTY.format(folder=cluster.folder, etcdctl=binary(cluster.version, "etcdctl"))
    path.write_text(text.replace("/locked ;;", "/unused ;;") if readable else text)
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(
    ("module", "name", "state"), [("etcd_membership", "m4", "learner"), ("etcd_member", "m1", "drained")]
)
def test_the_lock_is_released_after_an_error(three: Cluster, module: str, name: str, state: str) -> None:
    link = connection(three.version)
    failed = three.module(name, state, module, lock_seconds=60, play="a play", etcdctl_path=faulty_etcdctl(three))
    assert failed["failed"] and "no list" in failed["msg"], failed
    assert (three.folder / "locked").exists() and lock.read_lock(link, three.endpoints()) is None


def test_the_lock_is_released_if_the_module_is_terminated(three: Cluster) -> None:
    link = connection(three.version)
    program = faulty_etcdctl(three, readable=True)
    command = three.command("m4", "learner", lock_seconds=60, etcdctl_path=program, request_timeout=30)
    with subprocess.Popen(command, stdout=subprocess.PIPE) as module:
        wait_until((three.folder / "adding").exists, "the module did not ask for the new member")
        assert lock.read_lock(link, three.endpoints())
        module.terminate()
    assert module.returncode == 128 + signal.SIGTERM and lock.read_lock(link, three.endpoints()) is None


@pytest.mark.parametrize("state", ["learner", "locked"])
def test_members_are_not_changed_while_a_backup_holds_the_lock(three: Cluster, state: str) -> None:
    link = connection(three.version)
    lock.acquire_lock(link, three.endpoints(), lock.Holder("a host", "m1", "backup"), LOCK_SECONDS)
    busy = three.module("m4", state, lock_seconds=LOCK_SECONDS, timeout=1)
    assert busy["failed"] and "a host holds the cluster's lock since" in busy["msg"]
    assert three.listed() == {"m1": False, "m2": False, "m3": False}


def test_a_corrupt_member_is_removed_with_its_alarm(three: Cluster) -> None:
    """While the alarm is set, etcd refuses all writes, and so the lock."""
    found = json.loads(three.ctl("member", "list", "-w", "json"))["members"]
    corrupt = next(one["ID"] for one in found if one["name"] == "m3")
    connection = http.client.HTTPConnection(three.endpoints()[0].removeprefix("http://"))
    body = {"action": "ACTIVATE", "memberID": str(corrupt), "alarm": "CORRUPT"}
    connection.request("POST", "/v3/maintenance/alarm", json.dumps(body))
    assert connection.getresponse().status == 200
    connection.close()
    removed = three.module("m3", "absent", lock_seconds=LOCK_SECONDS)
    assert removed["changed"] and three.listed() == {"m1": False, "m2": False}, removed
    del three.members["m3"]
    assert three.ctl("put", "key", "value").strip() == "OK"


@pytest.fixture(params=releases())
def small(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Cluster]:
    """Three members with a quota that a few puts reach."""
    cluster = Cluster(request.param, tmp_path, 3, [f"--quota-backend-bytes={4 << 20}"])
    with cluster.stack:
        yield cluster


def planned(cluster: Cluster, names: Sequence[str], **request_: Any) -> membership_plan.Plan:
    """Return the plan for an inventory with these hosts; a host of the cluster has its member's data."""
    view = view_cluster(connection(cluster.version), cluster.endpoints()).cluster.as_dict()
    ids = {one["name"]: one["id"] for one in view["members"]}
    hosts = [
        {
            "host": name,
            "name": name,
            "peer_url": cluster.peer_url(name),
            "client_url": f"http://127.0.0.1:{PORT + 10 * int(name[1:])}",
            "has_data": name in ids,
            "identity": {"member_id": ids[name], "cluster_id": view["id"]} if name in ids else None,
        }
        for name in names
    ]
    return membership_plan.plan(view, hosts, Request(**request_), "cluster c")


def test_a_dead_member_is_removed_while_the_databases_are_full(
    small: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    """The playbook nospace needs all voting members, so the removal has to come first."""
    access = {"endpoints": small.endpoints(), "etcdctl_path": str(binary(small.version, "etcdctl"))}

    def space() -> dict[str, Any]:
        with patch_module_args(access), pytest.raises(SystemExit):
            etcd_space_info.main()
        return dict(json.loads(capsys.readouterr().out))

    def put(number: int) -> str:
        return run(small.alive(), "put", f"key-{number}", text="v" * (1 << 20)).stderr

    small.members["m3"].stop()
    wait_for_leader(small.alive())
    found = space()
    assert (found["no_space"], len(found["members"])) == ([], 2) and found["silent"][0].startswith("m3 ("), found
    assert any("database space exceeded" in put(number) for number in range(20))
    found = space()
    assert found["failed"] and "m3 (" in found["msg"] and "playbook scale with etcd_scale_remove" in found["msg"]
    for healthy in ("m1", "m2"):
        staying = sorted({"m1", "m2", "m3"} - {healthy})
        problems = planned(small, staying, remove=[healthy], allow_even=True).problems
        assert any("the alarm NOSPACE is set by" in problem for problem in problems), problems
    (join,) = planned(small, ["m1", "m2", "m4"], remove=["m3"]).problems
    assert "the alarm NOSPACE is set by" in join, join
    removal = planned(small, ["m1", "m2"], remove=["m3"], allow_even=True)
    assert ([one.name for one in removal.removes], removal.problems) == (["m3"], [])
    removed = small.module("m3", "absent", lock_seconds=LOCK_SECONDS)
    assert removed["changed"] and small.listed() == {"m1": False, "m2": False}, removed
    del small.members["m3"]
    found = space()
    assert found["no_space"] and found["silent"] == [], found
    assert "database space exceeded" in put(0)
    assert not planned(small, ["m1", "m2"]).as_dict()["pending"]
