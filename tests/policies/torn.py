# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Mutated text files for headroom-lint's reader: units, scripts, INI inventories and etcd.conf, torn anywhere."""

from __future__ import annotations

import random
from collections.abc import Iterator

from .mutations import KINDS, Files, mutate_lines, seeds

TEXTS: Files = {
    "etcd.service": (
        "[Unit]\nDescription=etcd\n[Service]\nType=notify\nEnvironment=ETCD_NAME=n1 GOGC=100\nEnvironmentFile=-etcd.conf\n"
        "ExecStart=/usr/bin/etcd \\\n  --data-dir=/var/lib/etcd \\\n  --listen-client-urls 'https://0.0.0.0:2379' \\\n"
        "  --snapshot-count=100000\nMemoryMax=2G\n"
    ),
    "etcd.service.d/10.conf": '[Service]\nExecStart=\nExecStart=/bin/sh -c "exec etcd --unsafe-no-fsync"\n',
    "etcd.conf": '[Member]\nETCD_NAME="n1"\n#[Cluster]\nETCD_INITIAL_CLUSTER="n1=http://10.0.0.1:2380,"\nETCD_QUOTA_BACKEND_BYTES=8G\n',
    "hosts": "[etcd]\nn1 ansible_host=10.0.0.1 etcd_version=3.5.15\nn[2:3]\n[etcd:vars]\netcd_heartbeat_interval=100\n[all:children]\netcd\n",
    "install.sh": (
        "#!/bin/bash\nVER=v3.5.3\ncat > /etc/systemd/system/etcd.service <<EOF\n[Service]\nExecStart=/usr/bin/etcd --name=n1 \\\n"
        "  --listen-peer-urls=http://${IP}:2380\nEOF\ndocker run -d quay.io/coreos/etcd:v3.5.3 etcd --name $NAME\n"
    ),
    "user-data.yml": (
        "#cloud-config\nwrite_files:\n  - path: /etc/etcd/etcd.conf.yml\n    content: |\n      name: n1\n"
        "      listen-client-urls: http://0.0.0.0:2379\n      enable-v2: true\n"
    ),
}
CHARACTERS = "\0\t\n\r\"'\\$`{}[]<>#=;:|&%\u00e9\U0001f980"


def tear(text: str, source: random.Random) -> str:
    """Cut the text, join it elsewhere, or put a character in it."""
    first, second = sorted(source.choices(range(len(text) + 1), k=2))
    return source.choice(
        [
            text[:first],
            text[:first] + text[second:],
            text[:second] + text[first:],
            text[:first] + source.choice(CHARACTERS) + text[first:],
        ]
    )


def torn(number: int, start: int = 20261122) -> Iterator[Files]:
    """Yield this many sets of files with up to four mutations, always the same ones for the same start."""
    source = random.Random(start)  # nosec
    every = [TEXTS, *seeds().values()]
    for count in range(number):
        files = dict(every[0] if count % 2 == 0 else every[count % len(every)])
        for _ in range(source.randint(1, 4)):
            path = source.choice(sorted(files))
            kind = source.choice([*KINDS, "tear", "tear"])
            text = files[path]
            files[path] = tear(text, source) if kind == "tear" else mutate_lines(text, kind, source)
        yield files
