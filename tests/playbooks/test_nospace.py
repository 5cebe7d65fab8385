# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""nospace.yml recovers the clusters of a run that can be recovered, and names the others. Without hosts and etcd."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from tests.playbooks.variables import role_variables

PROJECT = Path(__file__).resolve().parents[2]
# Replaces a module: logs its name, and returns what the test says, by host and module.
MODULE = """#!/usr/bin/python
# WANT_JSON
import json, os, pathlib
folder, host = pathlib.Path({folder!r}), os.environ["MEMBER"]
with open(folder / "calls", "a") as log:
    log.write(host + " {name}" + chr(10))
calls = [line for line in (folder / "calls").read_text().splitlines() if line == host + " {name}"]
answers = json.loads((folder / "answers.json").read_text()).get(host + " {name}", [{{}}])
print(json.dumps({{**{default!r}, "leader": host[0] + "1", **answers[min(len(calls), len(answers)) - 1]}}))
"""
ETCDCTL = """#!/bin/sh
for word in "$@"; do
  case $word in compact|lease|put|get) verb=$word; break;; esac
done
echo "$MEMBER $verb" >> {folder}/calls
echo "$MEMBER $*" >> {folder}/requests
if [ "$MEMBER $verb" = "c1 compact" ] || [ "$MEMBER $verb" = "w1 put" ]; then echo "Error: no answer of $MEMBER" >&2; exit 1; fi
if [ "$verb" = lease ]; then echo "lease 123 granted"; elif [ "$verb" = get ]; then echo 123; fi
"""
FULL = {"no_space": ["m"], "fits": True, "explanations": ["m: 90 % is history"], "revision": 9, "compactions": {}}
MODULES = {
    "etcd_space_info": FULL,
    "etcd_defrag": {"deferred": False, "changed": True},
    "etcd_alarm": {"changed": True},
    "etcd_cluster_info": {"cluster": {}},
}
QUORUM = {"cluster": {"quorum": {"ok": True}, "members": []}}
NO_QUORUM = {"_etcd_own_answer": {"cluster": {}}}
# The first host of a cluster leads.
RECOVERED = {
    "1": ["etcd_space_info", "compact", "etcd_space_info", "etcd_defrag", "etcd_space_info", "etcd_alarm", "lease", "put", "get", "lease"],
    "2": ["etcd_space_info", "etcd_defrag", "etcd_space_info", "lease", "put", "get", "lease"],
}  # fmt: skip


def names(cluster: str) -> list[str]:
    return [f"{cluster}1", f"{cluster}2"]


def run(
    folder: Path, clusters: str, answers: Mapping[str, Any], variables: Mapping[str, Any], *options: str
) -> tuple[int, str, dict[str, list[str]]]:
    """Run the playbook. Returns its exit status, its output with single blanks, and the calls by host.

    clusters: their names; the hosts of cluster x are x1 and x2. answers: of modules, by "host module", in order. variables: by host.
    """
    (folder / "answers.json").write_text(json.dumps(answers))
    (folder / "calls").write_text("")
    (folder / "library").mkdir()
    for name, default in MODULES.items():
        text = MODULE.format(folder=str(folder), name=name, default=default)
        (folder / "library" / f"stub_{name}.py").write_text(text)
    (folder / "etcdctl").write_text(ETCDCTL.format(folder=folder))
    (folder / "etcdctl").chmod(0o755)

    def stubbed(text: str) -> str:
        text = text.replace("/usr/local/bin/etcdctl", str(folder / "etcdctl")).replace("delay: 3", "delay: 0")
        text = re.sub(r"etcdops\.headroom\.(etcd_\w+):", r"stub_\1:", text)
        return text.replace("name: etcdops.headroom.etcd\n", f"name: {folder}/roles/etcd\n")

    tasks = folder / "roles" / "etcd" / "tasks"
    tasks.mkdir(parents=True)
    for path in (PROJECT / "roles" / "etcd" / "tasks").glob("*.yml"):
        (tasks / path.name).write_text(stubbed(path.read_text()))
    described = {
        "etcd_member": {"host": "{{ inventory_hostname }}", "cluster": "{{ etcd_cluster_name }}"},
        "etcd_clusters": {
            cluster: {
                "first_host": f"{cluster}1",
                "members": {
                    name: {"host": name, "name": name, "client_url": f"https://{name}:2379"} for name in names(cluster)
                },
            }
            for cluster in clusters
        },
    }
    (tasks / "describe.yml").write_text(yaml.safe_dump([{"ansible.builtin.set_fact": described}]))
    (_targets, *plays) = yaml.safe_load(stubbed((PROJECT / "playbooks" / "nospace.yml").read_text()))
    del plays[0]["module_defaults"]
    plays[0] |= {"become": False, "environment": {"MEMBER": "{{ inventory_hostname }}"}}
    (folder / "play.yml").write_text(yaml.safe_dump(plays, sort_keys=False))
    shared = {
        **role_variables("cluster", "etcd_cluster", "_etcd_learners", "_etcd_voter_urls", "_etcd_verifying_host"),
        **role_variables("answer", "_etcd_info"),
        "ansible_connection": "local",
        "ansible_python_interpreter": "{{ ansible_playbook_python }}",
        "etcd_name": "{{ inventory_hostname }}",
        "etcd_endpoints": ["https://{{ inventory_hostname }}:2379"],
        "etcd_client_urls": ["https://{{ inventory_hostname }}:2379"],
        "etcd_etcdctl_environment": {},
        **dict.fromkeys(("etcd_tls_dir", "etcd_data_dir", "etcd_wal_dir"), "/x"),
        "_etcd_own_answer": QUORUM,
        "_etcd_quorum_problem": "has no quorum: 1 of 2 members are healthy.",
    }
    inventory = {
        name: {"etcd_cluster_name": cluster, **variables.get(name, {})}
        for cluster in clusters
        for name in names(cluster)
    }
    groups = {"etcd_targets": {"hosts": inventory, "vars": shared}}
    (folder / "hosts.yml").write_text(yaml.safe_dump(groups))
    command = ["ansible-playbook", "-i", str(folder / "hosts.yml"), str(folder / "play.yml"), *options]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    calls: dict[str, list[str]] = {name: [] for name in inventory}
    for line in (folder / "calls").read_text().splitlines():
        host, call = line.split(" ", 1)
        calls[host].append(call)
    return done.returncode, re.sub(r"\s+", " ", done.stdout), calls


SILENT = {"failed": True, "msg": "m2 returned no status: no answer in time"}
CASES: dict[str, tuple[dict[str, Any], str, str]] = {
    # By cluster: the answers, the host and the reason of the failure, and a call that is not made after it.
    "q": ({}, "q1, q2: Cluster q has no quorum: 1 of 2 members are healthy", "etcd_space_info"),
    "m": ({"m1 etcd_space_info": [SILENT]}, "m1: m2 returned no status: no answer in time", "compact"),
    "c": ({}, "c1: Error: no answer of c1", "etcd_defrag"),
    "d": ({"d2 etcd_defrag": [{"deferred": True, "msg": "d2 was not defragmented."}]}, "d2: d2 was not defragmented", "etcd_alarm"),
    "f": (
        {"f2 etcd_space_info": [{}, {"fits": False, "explanations": ["f1: 95 % is live data"]}]},
        "f2: Cluster f still uses 90 % of its quota or more: f1: 95 % is live data",
        "etcd_alarm",
    ),
    "a": ({"a1 etcd_alarm": [{"failed": True, "msg": "the alarm CORRUPT is set"}]}, "a1: the alarm CORRUPT is set", "lease"),
    "w": ({}, "w1: Cluster w: a key written through https://w1:2379 could not be read", "no such call"),
}  # fmt: skip


def test_clusters_that_cannot_be_recovered_do_not_keep_others_from_it(tmp_path: Path) -> None:
    answers = {call: found for given, _text, _never in CASES.values() for call, found in given.items()}
    clusters = "".join(CASES) + "s"
    status, output, calls = run(tmp_path, clusters, answers, {"q1": NO_QUORUM, "q2": NO_QUORUM})
    assert status == 2, output
    assert (calls["s1"], calls["s2"]) == (RECOVERED["1"], RECOVERED["2"]), output
    for cluster, (_given, text, never) in CASES.items():
        assert never not in calls[f"{cluster}1"] + calls[f"{cluster}2"], (cluster, calls)
        assert f"cluster {cluster}, on {text}" in output, output
    assert output.count('"msg": "Not completed: cluster a, on a1: ') == 1, output
    again = ",".join(name for cluster in sorted(CASES) for name in names(cluster))
    assert f"run this playbook again, with --limit {again} to leave out the other clusters" in output, output


def test_a_host_that_becomes_unreachable_ends_only_its_cluster(tmp_path: Path) -> None:
    connection = "{{ 'ssh' if _etcd_space is defined else 'local' }}"
    gone = {"ansible_connection": connection, "ansible_host": "127.0.0.1", "ansible_port": 1}
    status, output, calls = run(tmp_path, "ns", {}, {"n1": gone})
    assert status != 0 and calls["n1"] == calls["n2"] == ["etcd_space_info"], output
    assert calls["s1"] == RECOVERED["1"] and "Not completed: cluster n, on n1: see above." in output, output


def test_the_history_is_compacted_through_a_voting_member(tmp_path: Path) -> None:
    """The first host has a learner if the replacement of its member was interrupted. Its own URL is that of the loopback interface."""
    urls = {"n1": ["https://127.0.0.1:2379", "https://n2:2379"], "n2": ["https://127.0.0.1:2379", "https://n1:2379"]}
    members = [{"name": "n1", "role": "learner"}, {"name": "n2", "role": "leader"}]
    answer = {"cluster": {"quorum": {"ok": True}, "members": members}}
    variables = {name: {"etcd_client_urls": urls[name], "_etcd_own_answer": answer} for name in urls}
    status, output, calls = run(tmp_path, "n", {}, variables)
    assert status == 0 and calls["n1"].count("compact") == 1, output
    requests = (tmp_path / "requests").read_text()
    assert "n1 --endpoints=https://n2:2379 --command-timeout=600s compact 9 --physical" in requests, requests
    assert "https://n1:2379" not in requests, requests


def test_a_cluster_that_has_space_is_not_changed(tmp_path: Path) -> None:
    space = {f"{host} etcd_space_info": [{"no_space": []}] for host in ("n1", "n2", "s2")}
    status, output, calls = run(tmp_path, "ns", space, {})
    assert status == 0 and "Not completed" not in output, output
    assert calls["n1"] == calls["n2"] == ["etcd_space_info"] and "Cluster n: the alarm NOSPACE is not set" in output, (
        output
    )
    assert calls["s1"] == RECOVERED["1"] and calls["s2"] == RECOVERED["2"], "s2 answered before the alarm was raised"


def test_check_mode_reports_and_changes_nothing(tmp_path: Path) -> None:
    status, output, calls = run(tmp_path, "ns", {}, {"n1": NO_QUORUM}, "--check")
    assert status == 2 and "Not completed: cluster n, on n1: Cluster n has no quorum" in output, output
    assert calls["s1"] == calls["s2"] == ["etcd_space_info"] and "Cluster s: NOSPACE, raised by m" in output, output
