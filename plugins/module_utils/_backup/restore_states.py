# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The states that module etcd_restore brings a member to, one function for each.

Independent of Ansible. Each function takes the restore, the module's options and whether to change nothing (``dry_run``). It returns
``changed``, ``msg`` and the other results of its state, and raises ValueError or OSError.
"""

from __future__ import annotations

import grp
import os
import pwd
from collections.abc import Callable, Mapping
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._backup import restore as backup_restore
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import (
    restore_space,
    snapshot_alarms,
    snapshot_users,
    start_guard,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.restore_folders import Restore, RestoreError
from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import parse_size
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.quota import full_quota_problem

Options = Mapping[str, Any]
Result = dict[str, Any]

# Options that the state prepared requires.
REQUIRED = ("path", "member", "peer_url", "initial_cluster", "token")


def build_request(options: Options) -> backup_restore.Request:
    """Build the request from the module's options."""
    empty = [name for name in REQUIRED if not options[name]]  # given, but null or ""
    if empty:
        raise RestoreError(f"{' and '.join(empty)} must not be empty with state=prepared")
    try:
        owner, group = pwd.getpwnam(options["owner"]).pw_uid, grp.getgrnam(options["group"]).gr_gid
    except KeyError as error:
        raise RestoreError(
            f"user {options['owner']} or group {options['group']} does not exist on this host: create them, or set owner and group"
        ) from error
    if options["bump_revision"] < 0:
        raise RestoreError(f"bump_revision is {options['bump_revision']}, but revisions cannot fall: write 0 or more")
    return backup_restore.Request(
        path=options["path"],
        name=options["member"],
        peer_url=options["peer_url"],
        initial_cluster=options["initial_cluster"],
        token=options["token"],
        owner=owner,
        group=group,
        bump_revision=options["bump_revision"],
        reserve=parse_size(options["reserve"], "reserve"),
        etcdutl_path=options["etcdutl_path"],
        timeout=options["timeout"],
        source=options["source"],
        generation=options["generation"],
        known_revision=options["known_revision"],
    )


def inspect(restore: Restore, options: Options, _dry_run: bool) -> Result:
    """Change nothing: the module returns what the host has of the restore for every state."""
    backup_restore.check_same_folders(restore, options["marker"])
    return {"changed": False, "msg": "Nothing was changed."}


def check_space(restore: Restore, options: Options, dry_run: bool) -> Result:
    """Check that the snapshot and the new data fit, before the snapshot is copied to this host."""
    reserve = parse_size(options["reserve"], "reserve")
    if not restore.is_ready:
        problem = full_quota_problem("the snapshot", options["snapshot_size"], options["quota"])
        if problem:
            raise RestoreError(f"{problem}. No data was changed.")
        restore_space.check_free_space(
            restore, options["snapshot_size"], reserve, options["copy_dirs"], planned=dry_run
        )
    return {"changed": False, "msg": "There is enough space for the new data."}


def check_access(_restore: Restore, options: Options, _dry_run: bool) -> Result:
    """Check that etcd will accept requests, and those of the client, after the restore."""
    problem = snapshot_alarms.corruption_problem(options["path"]) or snapshot_users.access_problem(
        options["path"], options["client_name"]
    )
    if problem:
        raise RestoreError(problem)
    return {"changed": False, "msg": "Nothing was changed."}


def prepare(restore: Restore, options: Options, dry_run: bool) -> Result:
    """Create the new data, or check whether that would work."""
    request = build_request(options)
    if dry_run:
        metadata, _bump = backup_restore.verify(restore, request)
        changed = not restore.is_ready
        if changed:
            backup_restore.check_alone(restore, options["marker"])
            restore_space.check_free_space(restore, metadata.size, request.reserve)
    else:
        changed, metadata = backup_restore.prepare(restore, request, options["marker"])
    action = "Would create" if dry_run else "Created"
    where = restore.swaps[-1].prepared
    message = (
        f"{action} {where} from {request.path}." if changed else f"The data of the restore {restore.id} already exists."
    )
    return {"changed": changed, "msg": message, "metadata": metadata.as_dict()}


def block(restore: Restore, options: Options, dry_run: bool) -> Result:
    """Mark the restore, and keep etcd from starting. The marker comes first: without it the drop-in permits a start."""
    marker, guard = options["marker"], options["start_guard"]
    marked = (backup_restore.read_marker(marker) or {}).get("id") == restore.id
    changed = not (marked and (not guard or start_guard.is_blocked(guard, marker)))
    if dry_run:
        backup_restore.check_alone(restore, marker)
    else:
        backup_restore.begin(restore, marker)
        if guard:
            start_guard.block(guard, marker)
    effect = ", and etcd does not start until it is finished" if guard else ""
    return {"changed": changed, "msg": f"The restore {restore.id} is marked{effect}."}


def activate(restore: Restore, options: Options, dry_run: bool) -> Result:
    """Swap the old and the new data, or report what would be swapped."""
    changed = not restore.is_activated
    if dry_run:
        aside = [f"{swap.live}.before-{restore.id}" for swap in restore.swaps if os.path.lexists(swap.live)]
        moved = f"move the old data to {' and '.join(aside)} and " if aside else ""
        message = f"Would {moved}activate the new data."
    else:
        aside = backup_restore.activate(restore, options["marker"])
        message = f"Moved the old data to {' and '.join(aside)}." if aside else "There was no old data to move."
    if not changed:
        message = f"The data of the restore {restore.id} is already active."
    return {"changed": changed, "msg": message, "aside": aside if changed else []}


def permit(_restore: Restore, _options: Options, dry_run: bool) -> Result:
    """Permit etcd to start, for a restore that has replaced the data."""
    changed = not os.path.exists(start_guard.PERMISSION) if dry_run else start_guard.permit()
    return {"changed": changed, "msg": "etcd may start until the next reboot."}


def finish(_restore: Restore, options: Options, dry_run: bool) -> Result:
    """Finish the restore of this host. The marker goes last: until then the restore can be resumed."""
    marker, guard = options["marker"], options["start_guard"]
    pending = (backup_restore.read_marker(marker) or {}).get("id", "")
    guarded = bool(guard) and (os.path.lexists(guard) if dry_run else start_guard.remove(guard))
    marked = bool(pending) if dry_run else backup_restore.finish(marker)
    message = f"Finished the restore {pending}." if marked else "No restore is in progress."
    if guarded and not marked:
        message += f" {guard} was left of one."
    return {"changed": marked or guarded, "msg": message}


# In the order in which a restore passes through them.
STATES: dict[str, Callable[[Restore, Options, bool], Result]] = {
    "inspected": inspect,
    "checked": check_space,
    "admitted": check_access,
    "prepared": prepare,
    "blocked": block,
    "activated": activate,
    "permitted": permit,
    "finished": finish,
}
