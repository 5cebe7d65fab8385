# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""etcd_workload_info finds a burst of the past in a real Prometheus server that scrapes a real member."""

from __future__ import annotations

import base64
import contextlib
import json
import shutil
import signal
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from ansible.module_utils.testing import patch_module_args
from ansible_collections.etcdops.headroom.plugins.modules import etcd_workload_info

from bench.common.member import Member, binary, releases, running
from bench.memory import load
from tests.integration.client import wait_until

PORT, SERVER = 25910, "http://127.0.0.1:25990"
VALUE, RATE, SECONDS = 3000, 50, 9
CONFIG = """
global: {{scrape_interval: 1s}}
scrape_configs: [{{job_name: anything, static_configs: [{{targets: ["127.0.0.1:{port}"]}}]}}]
"""


@contextlib.contextmanager
def prometheus(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server that scrapes the member each second, and wait until it has a scrape."""
    if not shutil.which("prometheus"):
        pytest.skip("Prometheus is not installed: the set-up takes it from Debian's package, where available")
    (folder / "prometheus.yml").write_text(CONFIG.format(port=PORT))
    command = ["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/tsdb"]
    log = (folder / "prometheus.log").open("wb")
    server = subprocess.Popen([*command, f"--web.listen-address={SERVER.partition('://')[2]}"], stdout=log, stderr=log)
    try:
        wait_until(lambda: server.poll() is not None or scrapes(), "Prometheus scraped no member")
        assert server.poll() is None, (folder / "prometheus.log").read_text()
        yield server
    finally:
        server.terminate()
        server.wait()
        log.close()


def samples(metric: str) -> list[tuple[float, float]]:
    """Each scrape of a metric: the time in seconds and the value."""
    with contextlib.suppress(OSError):
        with urllib.request.urlopen(f"{SERVER}/api/v1/query?query={quote(metric)}[10m]") as answer:
            found = json.load(answer)["data"]["result"]
            return [(at, float(value)) for at, value in found[0]["values"]] if found else []
    return []


def scrapes() -> int:
    """The number of scrapes that the server has."""
    return len(samples("etcd_server_id"))


def wait_for_scrapes(number: int) -> None:
    """Wait for this many more scrapes."""
    seen = scrapes()
    wait_until(lambda: scrapes() >= seen + number, f"Prometheus did not scrape {number} times")


def highest_rate(shortest: float) -> float:
    """Return the highest put rate between two scrapes at least this many seconds apart, because a slow machine writes in bursts."""
    puts = samples("etcd_mvcc_put_total")
    pairs = [(first, last) for first in puts for last in puts if last[0] - first[0] >= shortest]
    return max((last[1] - first[1]) / (last[0] - first[0]) for first, last in pairs)


def burst(member: Member) -> float:
    """Put two keys in a transaction at a fixed rate, and return the puts a second."""
    value = base64.b64encode(bytes(VALUE)).decode()
    puts = [{"request_put": {"key": base64.b64encode(key).decode(), "value": value}} for key in (b"ke1", b"ke2")]
    began = time.monotonic()
    for number in range(RATE * SECONDS):
        time.sleep(max(0.0, began + number / RATE - time.monotonic()))
        load.gateway(member, "kv/txn", {"success": puts})
    return len(puts) * RATE * SECONDS / (time.monotonic() - began)


def measure(capsys: pytest.CaptureFixture[str], member: Member, **more: Any) -> dict[str, Any]:
    """The result of the module."""
    arguments = {"endpoints": [member.endpoint], "etcdctl_path": str(binary(member.version, "etcdctl")), "window": 1}
    arguments.update(prometheus_url=SERVER, history="5m", request_timeout=15)
    with patch_module_args({**arguments, **more}), pytest.raises(SystemExit):
        etcd_workload_info.main()
    result: dict[str, Any] = json.loads(capsys.readouterr().out)
    return result


def test_a_burst_before_the_measurement_is_the_peak(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    member = Member(releases()[-1], tmp_path, PORT)
    with running([member]), prometheus(tmp_path):
        rate = burst(member)
        compaction = {"revision": RATE * SECONDS, "physical": True}
        wait_for_scrapes(2)
        load.gateway(member, "kv/compaction", compaction)
        wait_for_scrapes(2)
        found, highest = measure(capsys, member), highest_rate(2)
        without = measure(capsys, member, prometheus_url="")
        unknown = measure(capsys, member, prometheus_url="http://127.0.0.1:25991")
        strange = measure(capsys, member, prometheus_url=member.endpoint)
        length = measure(capsys, member, history="a week")

    workload, history = found["etcd_workload"], found["history"]
    assert rate * 0.85 <= workload["puts_per_second"] <= highest * 1.15 + 1
    assert "the peak" in found["basis"]["puts_per_second"]
    assert history["put_size_peak"] == pytest.approx(VALUE + 3, rel=0.01)
    assert workload["revisions_per_key"] == pytest.approx(RATE * SECONDS + 1, rel=0.02)
    assert without["etcd_workload"]["puts_per_second"] == 0 and without["history"] is None
    assert without["etcd_workload"]["revisions_per_key"] < 5
    assert "http://127.0.0.1:25991/api/v1/series does not answer" in unknown["msg"]
    assert "/api/v1/series answered 404" in strange["msg"]
    assert "history is 'a week'" in length["msg"] and "7d" in length["msg"]


def test_a_burst_before_the_job_was_renamed_is_the_peak(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    member = Member(releases()[-1], tmp_path, PORT)
    with running([member]), prometheus(tmp_path) as server:
        rate = burst(member)
        wait_for_scrapes(2)
        config = tmp_path / "prometheus.yml"
        config.write_text(config.read_text().replace("anything", "a-new-name"))
        server.send_signal(signal.SIGHUP)
        renamed = 'etcd_server_id{job="a-new-name"}'
        wait_until(lambda: len(samples(renamed)) > 2, "Prometheus did not scrape under the new name")
        found = measure(capsys, member)
    assert found["etcd_workload"]["puts_per_second"] >= rate * 0.85, found


def test_a_server_that_does_not_scrape_the_members(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    member, other = (
        Member(releases()[-1], tmp_path, PORT),
        Member(releases()[-1], tmp_path / "other", PORT + 10, name="m2"),
    )
    with running([member, other]), prometheus(tmp_path):
        found = measure(capsys, other)
    assert found["failed"] and "Prometheus has no etcd_server_id of the members" in found["msg"]
