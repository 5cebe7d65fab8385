# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Notes that hold several files: below lines with their paths, or in blocks of Markdown."""

from __future__ import annotations

from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.read import read

from tests.unit.plugins.plugin_utils._reader.reading import members_in

URLS = "--listen-client-urls http://0.0.0.0:2379"

NOTES = """/etc/etcd/etcd.conf:

ETCD_NAME="a"
ETCD_LISTEN_CLIENT_URLS="http://10.0.0.1:2379"

/etc/systemd/system/etcd.service:

[Unit]
After=network.target
[Service]
EnvironmentFile=/etc/etcd/etcd.conf
ExecStart=/usr/bin/etcd
Nice=-20
"""


def test_notes_with_several_files() -> None:
    [member] = members_in("etcd.conf", NOTES)
    assert (member["format"], member["name"], member["facts"]["nice"]["value"]) == ("systemd unit", "a", "-20")
    assert member["where"]["ETCD_LISTEN_CLIENT_URLS"] == ["etcd.conf", 4] and not member["unknown"]


def test_markdown_with_several_blocks() -> None:
    text = f"""Set the release:

```sh
VERSION=v3.6.1
```

Start:

```bash
docker run quay.io/coreos/etcd:$VERSION etcd --name s1 {URLS}
```

On a server, put this into `/etc/default/etcd`:

~~~
ETCD_NAME=infra0
ETCD_ELECTION_TIMEOUT=2000
~~~

and use it in `/etc/systemd/system/etcd.service`:

```ini
[Service]
EnvironmentFile=/etc/default/etcd
ExecStart=/usr/bin/etcd --data-dir /d
```
"""
    script, unit = members_in("README.md", text)
    assert (script["name"], script["image"]) == ("s1", "quay.io/coreos/etcd:v3.6.1")
    assert unit["environment"] == {"ETCD_NAME": "infra0", "ETCD_ELECTION_TIMEOUT": "2000"}
    assert unit["where"]["ETCD_ELECTION_TIMEOUT"] == ["README.md", 17]
    settings = "```yaml\nname: c\nlisten-client-urls: http://c:2379\nadvertise-client-urls: http://c:2379\n```\n"
    contents = [entry["contents"] for entry in read({"README.md": text + settings}).document["files"]]
    assert "c" in [one.get("name") for one in contents] and len(contents) == 3
    # The same member in another form.
    assert len(members_in("README.md", text + "```\nETCD_NAME=s1\nETCD_ELECTION_TIMEOUT=2000\n```\n")) == 2
    # One block alone, and blocks that are all commands.
    start = text.index("On a server")
    assert [found["name"] for found in members_in("README.md", text[:start])] == ["s1"]
    assert [found["name"] for found in members_in("README.md", text[start : text.index("and use")])] == ["infra0"]


def test_lines_behind_a_block_that_is_a_file() -> None:
    command = f"docker run quay.io/coreos/etcd:v3.6.1 etcd --name s1 \\\n  {URLS}"
    text = f"```\nETCD_NAME=a\nETCD_ELECTION_TIMEOUT=2000\n```\n\n```sh\n{command}\n```\n"
    script = next(found for found in members_in("README.md", text) if found["image"])
    assert script["where"]["--listen-client-urls"] == ["README.md", 8]
