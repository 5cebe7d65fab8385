"""Load the demo's cluster at twice the planned rate, and draw the plan beside the measurement.

Writes values of the planned size through all members with etcd's own benchmark tool, bounded in count, then restarts one follower, while
the memory of every member is sampled as the kernel sees it. Leaves plan_and_measured.csv and .svg in docs/images.
"""

from __future__ import annotations

import argparse
import csv
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import yaml
from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import MIB
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.plan import plan_flags

from bench.common.lab import PROJECT, STATE, addresses, certificates, on

mpl.use("svg")
mpl.rcParams["svg.hashsalt"] = "headroom"
OUT = PROJECT / "docs" / "images"
SAMPLE = (
    "p=$(systemctl show -P MainPID etcd); grep -E '^Rss(Anon|File):' /proc/$p/status | tr -s ' \\t' ' '; "
    "systemctl show -P MemoryMax etcd"
)
RESTARTED = "etcd-1"


def sample(host: str, began: float, rows: list[dict[str, float | str]], stop: threading.Event) -> None:
    """Read a member's memory about twice a second until the event is set."""
    while not stop.is_set():
        try:
            text = on(host, SAMPLE)
            anon, file = (int(n) * 1024 for n in re.findall(r"(\d+) kB", text)[:2])
            rows.append(
                {"seconds": round(time.monotonic() - began, 1), "host": host, "rss_anon": anon, "rss_file": file}
            )
        except (subprocess.CalledProcessError, ValueError):
            pass  # no process to read during a restart
        stop.wait(0.5)


def draw(rows: list[dict[str, float | str]], plan_lines: dict[str, int]) -> None:
    """Draw the members' memory over time, with the plan's figures as lines."""
    figure, axes = plt.subplots(figsize=(9, 3.6))
    for host in sorted({str(row["host"]) for row in rows}):
        own = [row for row in rows if row["host"] == host]
        axes.plot(
            [row["seconds"] for row in own],
            [float(row["rss_anon"]) / MIB for row in own],
            label=f"{host}: RssAnon",
            lw=1.2,
        )
    styles = [("memory_max", "MemoryMax", "-", "tab:red"), ("gomemlimit", "GOMEMLIMIT", ":", "tab:red")]
    styles += [("restart_rss_anon_peak", "planned peak after a restart", "--", "black")]
    styles += [("rss_anon_peak", "planned peak, running", "-.", "black")]
    for key, label, style, colour in styles:
        axes.axhline(
            plan_lines[key] / MIB, ls=style, c=colour, lw=1, label=f"{label}: {plan_lines[key] / MIB:,.0f} MiB"
        )
    axes.set(xlabel="seconds", ylabel="MiB", ylim=0, xlim=0)
    axes.set_title("Values of 100 KB, 100 writes a second; at the end one follower restarts", fontsize=10)
    axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    figure.tight_layout()
    figure.savefig(OUT / "plan_and_measured.svg", metadata={"Date": None})


def write(rows: list[dict[str, float | str]]) -> None:
    """Write the samples beside the picture."""
    with (OUT / "plan_and_measured.csv").open("w") as out:
        writer = csv.DictWriter(out, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(sorted(rows, key=lambda row: (row["host"], row["seconds"])))


def planned() -> tuple[dict[str, int], int]:
    """Return the plan of the example inventory for three members, and the value size, all in bytes."""
    variables = yaml.safe_load((PROJECT / "inventory/group_vars/etcd.yml").read_text())
    result = plan_flags(variables["etcd_version"], variables["etcd_workload"], 3, variables["etcd_memory_budget"])
    flags = {flag["name"]: flag["value"] for flag in result["flags"]}
    peaks = {name: result["estimate"][name] for name in ("rss_anon_peak", "restart_rss_anon_peak")}
    size = result["estimate"]["workload"]["value_size"]
    return {**peaks, "memory_max": flags["memory_max"], "gomemlimit": flags["gomemlimit"]}, size


def load(targets: Iterable[str], size: int, puts: int, rate: int) -> None:
    """Write values with etcd's benchmark tool, bounded in count and time."""
    tls = certificates("etcd-1")
    endpoints = ",".join(f"https://{address}:2379" for address in targets)
    shown: list[str | Path] = [
        "--cacert",
        tls / "ca.crt",
        "--cert",
        tls / "client.crt",
        "--key",
        tls / "client.key",
    ]
    writes = ["put", "--total", str(puts), "--rate", str(rate), "--key-space-size", "2000", "--sequential-keys"]
    with (STATE / "benchmark.log").open("w") as log:
        command: list[str | Path] = [PROJECT / ".headroom/bin/benchmark", "--endpoints", endpoints, *shown]
        command += ["--conns", "12", "--clients", "48", *writes, "--val-size", str(size)]
        subprocess.run(
            command,
            check=True,
            stdout=log,
            stderr=log,
            timeout=600,
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--puts", type=int, default=9000)
    parser.add_argument("--rate", type=int, default=100, help="puts a second")
    parser.add_argument("--redraw", action="store_true", help="draw the samples that are there, and measure nothing")
    arguments = parser.parse_args()
    lines, size = planned()
    if arguments.redraw:
        kept = csv.DictReader((OUT / "plan_and_measured.csv").open())
        draw([{**row, "seconds": float(row["seconds"])} for row in kept], lines)
        return 0
    hosts = addresses()
    rows: list[dict[str, float | str]] = []
    stop, began = threading.Event(), time.monotonic()
    threads = [threading.Thread(target=sample, args=(host, began, rows, stop)) for host in hosts]
    for thread in threads:
        thread.start()
    try:
        time.sleep(3)
        load(hosts.values(), size, arguments.puts, arguments.rate)
        on(RESTARTED, "systemctl restart etcd")
        time.sleep(10)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    OUT.mkdir(parents=True, exist_ok=True)
    write(rows)
    draw(rows, lines)
    running, restarted = (
        max(float(row["rss_anon"]) for row in rows if (row["host"] == RESTARTED) == one) for one in (False, True)
    )
    print(
        f"highest RssAnon, running: {running / MIB:,.0f} MiB, planned {lines['rss_anon_peak'] / MIB:,.0f} MiB; "
        f"after a restart: {restarted / MIB:,.0f} MiB, planned {lines['restart_rss_anon_peak'] / MIB:,.0f} MiB"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
