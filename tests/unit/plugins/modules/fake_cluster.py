# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A fake etcdctl of three members, for the tests of etcd_cluster_info and etcd_member."""

from __future__ import annotations

import json
from typing import Any

import pytest
from ansible.module_utils.testing import patch_module_args

# Three members of one address; the leader is the member whose id the file next to it names, move-leader changes that.
ETCDCTL = """#!{python} -IS
import json, sys
from pathlib import Path
state = Path(__file__).with_name("leader")
words = sys.argv[1:]
url = words[0].partition("=")[2].split(",")
names = dict(zip({urls!r}, (1, 2, 3)))
header = {{"cluster_id": 7, "member_id": names[url[0]]}}
if "move-leader" in words:
    state.write_text(words[words.index("move-leader") + 1])
    print("null")
elif "list" in words:
    members = [{{"ID": i, "name": "m%d" % i, "clientURLs": [u], "peerURLs": [u]}} for u, i in names.items()]
    print(json.dumps({{"header": header, "members": members}}))
elif "health" in words:
    ill = Path(__file__).with_name("ill")
    sick = ill.read_text() if ill.exists() else ""
    print(json.dumps([{{"endpoint": u, "health": u != sick, "error": "" if u != sick else "sick"}} for u in url]))
else:
    status = {{"header": header, "version": "3.7.3", "leader": int(state.read_text(), 16), "raftIndex": 9,
              "raftAppliedIndex": 9, "raftTerm": 2, "dbSize": 1, "dbSizeInUse": 1}}
    print(json.dumps([{{"Endpoint": url[0], "Status": status}}]))
"""


def run(module: Any, capsys: pytest.CaptureFixture[str], **arguments: Any) -> dict[str, Any]:
    """Return the module's result. The unit exists on no machine; a busy machine may need long to start an etcdctl."""
    with (
        patch_module_args({"unit": "headroom-unit-test.service", "request_timeout": 60, **arguments}),
        pytest.raises(SystemExit),
    ):
        module.main()
    result: dict[str, Any] = json.loads(capsys.readouterr().out)
    return result
