# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check upgrade paths between releases, and list their steps. Pure.

Source: https://etcd.io/docs/v3.7/upgrades/ and https://etcd.io/docs/v3.7/downgrades/.
"""

from __future__ import annotations

from ansible_collections.etcdops.headroom.plugins.module_utils._model.release_tables import SERIES
from ansible_collections.etcdops.headroom.plugins.module_utils._model.releases import known_bugs, series, version_key


def newest_of(name: str) -> str:
    """Return the newest known release of a series, "3.6.x" of one that is not known."""
    newest: str = SERIES[name]["newest"] if name in SERIES else f"{name}.x"
    return newest


def minor_below(version: str) -> str:
    """Return "3.5" of "3.6.16"."""
    key = version_key(version)
    return f"{key[0]}.{key[1] - 1}"


def upgrade_steps(running: list[str], target: str) -> list[str]:
    """Return the releases to run one after the other, the target last: the newest known one of each series in between.

    running: the releases of the members; only the oldest counts. Raises UnknownVersion for an unknown target.
    """
    series(target)
    low = min((version_key(version)[:2] for version in running), default=version_key(target)[:2])
    between = [name for name in SERIES if low < version_key(name) < version_key(target)[:2]]
    return [*(newest_of(name) for name in between), target]


def check_upgrade(running: str, target: str) -> str:
    """Return why a member of one version must not be changed to another, or nothing.

    etcd goes from one minor version to the next, and back only by a downgrade that is enabled in the cluster first.
    The release before has to be recent enough, too: see upgrade_floor in model/releases.yml.
    """
    have, want = version_key(running), version_key(target)
    if want[:2] < have[:2]:
        return (
            f"etcd {target} cannot take over the data of {running}: a downgrade has to be enabled in the cluster first "
            f"(playbook downgrade, -e etcd_downgrade_to={target}), or set etcd_version to {have[0]}.{have[1]}.x"
        )
    if want[:2] > (have[0], have[1] + 1):
        newest = newest_of(f"{have[0]}.{have[1] + 1}")
        return (
            f"from etcd {running} to {target} skips a minor version: go to {newest} first, or in one run with the playbook "
            f"upgrade and -e etcd_upgrade_to={target}"
        )
    return _below_floor(running, target) if want[:2] > have[:2] else ""


def _below_floor(running: str, target: str) -> str:
    """Return why the next minor version cannot take over from this patch release, or nothing."""
    release = SERIES.get(target.rpartition(".")[0], {})
    floor = release.get("upgrade_floor")
    if floor is None or version_key(running) >= version_key(floor):
        return ""
    newest = SERIES[series(running)]["newest"]
    reasons = [bug["text"] for bug in known_bugs(running) if bug["kind"] == "upgrade"]
    return "; ".join(
        [
            f"from etcd {running} to {target}: etcd supports this upgrade from {floor} on ({release['upgrade_guide']})",
            *reasons,
            f"go to {newest} first",
        ]
    )
