# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Scripts and playbooks that only install etcd: the release is all that is known of the member."""

from __future__ import annotations

import pytest

from tests.unit.plugins.plugin_utils._reader.reading import member_in, members_in

DOWNLOAD = "https://github.com/etcd-io/etcd/releases/download/v3.4.2/etcd-v3.4.2-linux-amd64.tar.gz"


@pytest.mark.parametrize(
    ("lines", "installs"),
    [
        ("tar xzf a.tgz -C /usr/local/bin --strip-components=1", True),
        ("tar xzf a.tgz\nmv a/etcd* /usr/bin/", True),
        ("tar xzf a.tgz\nsudo mv a/etcd a/etcdctl /usr/bin/", True),
        ("tar xzf a.tgz\nmv a/{etcd,etcdctl} /usr/bin/", True),
        ("tar xzf a.tgz --wildcards etcd etcdctl", True),
        ("tar xzf a.tgz\n/tmp/etcd --version\n/tmp/etcdctl version", True),
        # etcdctl alone.
        ("tar xzf a.tgz\nmv a/etcdctl /usr/bin/\necho Installed etcd", False),
        ("tar xzf a.tgz\ncp a/etcdctl /opt/etcd", False),
        ("tar xzf a.tgz\nmkdir -p /etc/etcd /var/lib/etcd\netcdctl snapshot save /b", False),
        ("tar xzf a.tgz\netcdctl --endpoints a snapshot save /b\nsystemctl start etcd", False),
        ("tar xzf a.tgz\nmv a/etcd /bin/\netcdctl snapshot save /b", True),
        # An archive that nobody unpacks.
        ("curl -LO http://a/b", False),
    ],
)
def test_a_script_that_installs_etcd(lines: str, installs: bool) -> None:
    found = members_in("install.sh", f"#!/bin/sh\ncurl -L {DOWNLOAD} -o a.tgz\n{lines}\n")
    assert [(each["release"], each["silent"]) for each in found] == [("3.4.2", ["extra_config"])] * installs
    assert members_in("install.sh", f"#!/bin/sh\nETCD_VER=3.4.2\n{lines}\n") == []


def test_a_script_without_its_shell() -> None:
    """Its name tells."""
    text = f"LINK={DOWNLOAD}\ncd /tmp && curl -LO $LINK && tar -zxf etcd.tar.gz && mv etcd /usr/local/\n"
    assert [found["release"] for found in members_in("install.sh", text)] == ["3.4.2"]
    assert members_in("notes.txt", text) == []


@pytest.mark.parametrize("text", [f"curl -L {DOWNLOAD} -o a.tgz", "curl -O https://x/etcd-v3.4.2-linux-amd64.tar.gz"])
def test_a_pre_release(text: str) -> None:
    script = f"#!/bin/sh\n{text}\ntar xzf a.tgz -C /bin --strip-components=1\n".replace("3.4.2", "3.6.0-rc.0")
    assert [found["release"] for found in members_in("install.sh", script)] == ["3.6.0"]


@pytest.mark.parametrize(
    ("tasks", "installs"),
    [
        ("- unarchive: {src: URL, dest: /opt, remote_src: true}\n", True),
        ("- get_url: {url: URL, dest: /a.tgz}\n- ansible.builtin.shell: tar xzf /a.tgz -C /opt\n", True),
        ("- unarchive: {src: URL, dest: /opt}\n- shell: mv /opt/a/etcd /opt/a/etcdctl /usr/bin/\n", True),
        ("- unarchive: {src: URL, dest: /opt}\n- name: etcd\n  copy: {src: /opt/etcdctl, dest: /bin}\n", False),
        ("- get_url: {url: URL, dest: /a.tgz}\n", False),
    ],
)
def test_a_playbook_that_unpacks_etcd(tasks: str, installs: bool) -> None:
    assert [member["release"] for member in members_in("etcd.yml", tasks.replace("URL", DOWNLOAD))] == [
        "3.4.2"
    ] * installs


@pytest.mark.parametrize(
    ("roles", "installs"),
    [
        ("  roles: [roles/etcd]\n", True),
        ("  roles: [{role: common}, {role: me.etcd}]\n", True),
        ("  tasks:\n    - ansible.builtin.include_role: {name: ansible-role-etcd}\n", True),
        ("  roles: [etcd-backup, etcdctl]\n", False),
        ("  roles: web\n", False),
        ("  tasks:\n    - include_role: name=etcd_client\n", False),
    ],
)
def test_a_playbook_that_applies_a_role(roles: str, installs: bool) -> None:
    """The release counts that the play passes on to the role."""
    text = f"- hosts: all\n  vars:\n    etcd_version: v3.5.17\n{roles}"
    assert [member["release"] for member in members_in("site.yml", text)] == ["3.5.17"] * installs


def test_an_installation_on_another_host() -> None:
    text = "scp etcd-v3.4.3-linux-amd64.tar.gz root@a:\nssh root@a << 'EOF'\ntar xf etcd-v3.4.3-linux-amd64.tar.gz\nsystemctl start etcd\nEOF\n"
    assert member_in("etcd.sh", text)["release"] == "3.4.3"
