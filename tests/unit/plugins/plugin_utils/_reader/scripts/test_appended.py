# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Config files that a script writes line by line."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.read import read

URL = "http://10.0.0.1:2379"
KEYS = ["name: a", f"listen-client-urls: {URL}", "initial-cluster: a=http://10.0.0.1:2380"]
FILE = "/etc/etcd/etcd.conf.yml"
INNER = "sudo sh -c \"echo '{}' >> {}\""


def documents(text: str) -> list[Any]:
    """The documents in a script."""
    return [entry["contents"] for entry in read({"etcd.sh": text}).document["files"]]


def written(command: str, target: str = FILE) -> str:
    """A script that writes each key by a command."""
    return "".join(command.format(key, target) + "\n" for key in KEYS)


@pytest.mark.parametrize("target", [FILE, "/etc/etcd/etcd.conf"])
@pytest.mark.parametrize(
    "command",
    [
        INNER,
        "sudo bash -c 'echo \"{}\" >> {}'",
        'sudo sh -c "echo \\"{}\\" >> {}"',
        "echo '{}' | sudo tee -a {}",
        'echo "{}" | tee --append {} > /dev/null',
        "echo {} >> {}",
        "printf '{}\\n' >> {}",
    ],
)
def test_lines(command: str, target: str) -> None:
    [document] = documents(written(command, target))
    assert (document["name"], document["listen-client-urls"]) == ("a", URL)


def test_the_line_of_the_script() -> None:
    words = read({"etcd.sh": "\n\n" + written(INNER)}).document["lines"]["etcd.sh"]["words"]
    assert words["listen-client-urls"][0] == 4


@pytest.mark.parametrize(
    "text",
    [
        written("# echo '{}' >> {}"),
        written("echo '{}'"),
        "#!/bin/sh\necho 'image: a' >> a.yml\necho 'name: b' >> a.yml\n",
        "#!/bin/sh\necho " + "x" * 2_000 + "\n",
    ],
)
def test_nothing(text: str) -> None:
    assert not documents(text)


def test_variables() -> None:
    [document] = documents("IP=10.0.0.1\n" + written('echo "{}" >> {}').replace(URL, "http://$IP:2379"))
    assert document["listen-client-urls"] == URL
    [document] = documents("IP=10.0.0.1\n" + written("echo '{}' >> {}").replace(URL, "http://$IP:2379"))
    assert document["listen-client-urls"] == "http://$IP:2379"


def test_branches() -> None:
    lines = written("echo '{}' >> {}").splitlines()
    [document] = documents("\n".join([lines[0], lines[2], "if [ $A ]; then", lines[1], "fi"]))
    assert document["listen-client-urls"] == "{{condition}}"
    [document] = documents("\n".join([lines[0], lines[2], f"[ $A ] && {lines[1]}"]))
    assert document["listen-client-urls"] == "{{condition}}"
    # All lines are in one branch.
    [document] = documents("\n".join([f"if [ ! -f {FILE} ]; then", *lines, "fi"]))
    assert document["listen-client-urls"] == URL
