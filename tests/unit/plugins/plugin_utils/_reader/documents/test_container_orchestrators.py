# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Images of LinuxKit."""

from __future__ import annotations

import pytest

from tests.unit.plugins.plugin_utils._reader.reading import documents_in

LINUXKIT = """kernel:
  image: linuxkit/kernel:6.6.13
services:
  - name: kv
    image: gcr.io/google-containers/etcd-amd64:3.1.13
    binds:
     - /srv:/srv
    command: ["etcd", "--name", "${name}",
"--max-wals=4"]
  - name: without-image
"""


@pytest.mark.parametrize("path", ["image.yml", "image.yml.tpl"])
def test_image_of_linuxkit(path: str) -> None:
    [found] = documents_in(path, LINUXKIT)
    assert found == {
        "services": {
            "kv": {
                "image": "gcr.io/google-containers/etcd-amd64:3.1.13",
                "entrypoint": ["etcd", "--name", "${name}", "--max-wals=4"],
                "volumes": ["/srv:/srv"],
            }
        }
    }


def test_other_lists_of_services() -> None:
    text = LINUXKIT[LINUXKIT.index("services:") :]
    [found] = documents_in("pipeline.yml", text)
    assert isinstance(found["services"], list)
