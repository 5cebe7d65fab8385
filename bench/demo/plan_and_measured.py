#!/usr/bin/env python3
"""Load the demo's cluster as its inventory says it will be loaded, and draw the plan beside what was measured.

Writes values of the planned size through all members with etcd's own benchmark tool, bounded in count, then restarts one follower, while
the memory of every member is sampled as the kernel sees it. Leaves plan_and_measured.csv and .svg in docs/images.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import matplotlib as mpl

mpl.use("svg")
import matplotlib.pyplot as plt

PROJECT = Path(__file__).resolve().parent.parent.parent
LAB = PROJECT / ".headroom" / "labs" / "demo"
OUT = PROJECT / "docs" / "images"
SAMPLE = (
    "p=$(systemctl show -P MainPID etcd); grep -E '^Rss(Anon|File):' /proc/$p/status | tr -s ' \\t' ' '; "
    "systemctl show -P MemoryMax etcd"
)
MIB = 1024**2


def on(host: str, command: str) -> str:
    """Run a command as root on a lab host."""
    inventory = json.loads(
        subprocess.run([PROJECT / "lab/inventory.py"], capture_output=True, text=True, check=True).stdout
    )
    facts = inventory["_meta"]["hostvars"][host]
    control = facts["ansible_control_path"].replace("%%", "%")
    ssh = ["ssh", "-i", facts["ansible_ssh_private_key_file"], *facts["ansible_ssh_common_args"].split()]
    ssh += ["-o", "ControlMaster=auto", "-o", "ControlPersist=60s", "-o", f"ControlPath={control}"]
    host_command = [*ssh, f"lab@{facts['ansible_host']}", "sudo", "sh", "-eu"]
    done = subprocess.run(host_command, input=command, capture_output=True, text=True, check=True)
    return done.stdout


def sample(host: str, began: float, rows: list[dict[str, float | str]], stop: threading.Event) -> None:
    """Read a member's memory about twice a second until told to stop."""
    while not stop.is_set():
        try:
            text = on(host, SAMPLE)
            anon, file = (int(n) * 1024 for n in re.findall(r"(\d+) kB", text)[:2])
            rows.append(
                {"seconds": round(time.monotonic() - began, 1), "host": host, "rss_anon": anon, "rss_file": file}
            )
        except (subprocess.CalledProcessError, ValueError):
            pass  # between two processes there is nothing to read
        stop.wait(0.5)


def draw(rows: list[dict[str, float | str]], plan: dict[str, int], restarted: float) -> None:
    """Draw the members' memory over time, and the plan's lines."""
    figure, axes = plt.subplots(figsize=(8, 4))
    for host in sorted({str(row["host"]) for row in rows}):
        own = [row for row in rows if row["host"] == host]
        axes.plot(
            [row["seconds"] for row in own],
            [float(row["rss_anon"]) / MIB for row in own],
            label=f"{host}, RssAnon",
            lw=1.3,
        )
    lines = [("memory_max", "MemoryMax", "-", "tab:red"), ("gomemlimit", "GOMEMLIMIT", ":", "tab:red")]
    lines += [
        ("rss_anon_peak", "planned peak", "--", "black"),
        ("restart_rss_anon_peak", "planned peak after a restart", "-.", "black"),
    ]
    for key, label, style, colour in lines:
        if key in plan:
            axes.axhline(plan[key] / MIB, ls=style, c=colour, lw=1, label=f"{label}: {plan[key] / MIB:,.0f} MiB")
    axes.axvline(restarted, c="grey", lw=0.8)
    axes.annotate(" a follower restarts", (restarted, axes.get_ylim()[1] * 0.5), fontsize=8, color="grey")
    axes.set(
        xlabel="seconds",
        ylabel="MiB",
        title="Plan and measurement: three members under the planned load",
        ylim=0,
        xlim=0,
    )
    axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5))
    figure.tight_layout()
    OUT.mkdir(parents=True, exist_ok=True)
    figure.savefig(OUT / "plan_and_measured.svg", metadata={"Date": None})
    with (OUT / "plan_and_measured.csv").open("w") as out:
        writer = csv.DictWriter(out, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(sorted(rows, key=lambda row: (row["host"], row["seconds"])))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "plan", type=Path, help="JSON of the plan: memory_max, gomemlimit, rss_anon_peak, restart_rss_anon_peak"
    )
    parser.add_argument("--puts", type=int, default=9000)
    parser.add_argument("--rate", type=int, default=100)
    parser.add_argument("--value-size", type=int, default=102400)
    arguments = parser.parse_args()
    plan = json.loads(arguments.plan.read_text())
    addresses = json.loads((LAB / "hosts.json").read_text())
    tls = LAB / "bench-tls"
    tls.mkdir(exist_ok=True)
    for name in ("ca.crt", "client.crt", "client.key"):
        (tls / name).write_text(on("etcd-1", f"cat /etc/etcd/tls/{name}"))
    rows: list[dict[str, float | str]] = []
    stop, began = threading.Event(), time.monotonic()
    threads = [threading.Thread(target=sample, args=(host, began, rows, stop)) for host in addresses]
    for thread in threads:
        thread.start()
    try:
        time.sleep(3)
        subprocess.run(
            [
                PROJECT / ".headroom/bin/benchmark", "--endpoints", ",".join(f"https://{a}:2379" for a in addresses.values()),
                "--cacert", tls / "ca.crt", "--cert", tls / "client.crt", "--key", tls / "client.key", "--conns", "12", "--clients", "48",
                "put", "--total", str(arguments.puts), "--rate", str(arguments.rate), "--key-space-size", "2000",
                "--sequential-keys", "--val-size", str(arguments.value_size),
            ],
            check=True, stdout=subprocess.DEVNULL, timeout=600,
        )  # fmt: skip
        restarted = time.monotonic() - began
        on("etcd-1", "systemctl restart etcd")
        time.sleep(10)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    draw(rows, plan, restarted)
    peak = max(float(row["rss_anon"]) for row in rows)
    print(f"highest RssAnon {peak / MIB:,.0f} MiB, planned peak {plan['rss_anon_peak'] / MIB:,.0f} MiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
