# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that hold etcd's settings in pieces: notes, exports, commands in variables, containers with environment files, playbooks and templates."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.read import read

URLS = "--listen-client-urls http://0.0.0.0:2379"
EXPORTS = """#!/bin/bash
IP=$(hostname -i)
export ETCD_NAME="a"
export ETCD_LISTEN_CLIENT_URLS="http://${IP}:2379"
"""
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
CONTAINER = """systemd:
  units:
    - name: etcd-member.service
      contents: |
        [Service]
        Environment=ETCD_IMAGE=quay.io/coreos/etcd:v3.5.4
        ExecStartPre=/usr/bin/docker run -d --env-file /etc/etcd/etcd.env $${ETCD_IMAGE}
        ExecStart=docker logs -f etcd
storage:
  files:
    - path: FILE
      contents:
        inline: |
          ETCD_LISTEN_CLIENT_URLS=http://0.0.0.0:2379
"""
PLAYBOOK = """- hosts: etcd
  tasks:
    - get_url: {url: "https://github.com/etcd-io/etcd/releases/download/v3.4.15/etcd-v3.4.15-linux-amd64.tar.gz", dest: /tmp}
    - ansible.builtin.MODULE: STATE
"""
TEMPLATE = """name: {{ etcd_name }}
listen-client-urls: http://0.0.0.0:2379
initial-cluster: {% for host in groups['etcd'] %}{{ host }}=http://{{ host }}:2380{% endfor %}
quota-backend-bytes: -1
"""


def members(path: str, text: str) -> list[dict[str, Any]]:
    """The members in one file."""
    files = read({path: text}).document["files"]
    return [entry["contents"]["headroom_member"] for entry in files if "headroom_member" in entry["contents"]]


def test_variables_that_a_script_exports_for_others() -> None:
    [member] = members("defaults", EXPORTS)
    assert (member["name"], member["environment"]["ETCD_LISTEN_CLIENT_URLS"]) == ("a", "http://${IP}:2379")
    assert member["where"]["ETCD_LISTEN_CLIENT_URLS"] == ["defaults", 4]
    assert not members("client", EXPORTS.replace("ETCD_LISTEN_CLIENT_URLS", "ETCD_INITIAL_CLUSTER"))


def test_notes_with_several_files() -> None:
    [member] = members("etcd.conf", NOTES)
    assert (member["format"], member["name"], member["facts"]["nice"]["value"]) == ("systemd unit", "a", "-20")
    assert member["where"]["ETCD_LISTEN_CLIENT_URLS"] == ["etcd.conf", 4] and not member["unknown"]


@pytest.mark.parametrize("run", ["$CMD", "exec $CMD", '$CMD >> "$LOG" 2>&1'])
def test_a_command_in_a_variable(run: str) -> None:
    [member] = members("start.sh", f'#!/bin/sh\nIP=$(hostname -i)\nCMD="etcd -name a \\\n {URLS} $MORE"\n{run}\n')
    assert member["name"] == "a" and member["where"]["--listen-client-urls"] == ["start.sh", 4]
    [constant] = members("start.sh", f"#!/bin/sh\nCMD='etcd --name a {URLS}'\n{run}\n")
    assert constant["name"] == "a" and constant["where"]["--name"] == ["start.sh", 3]


@pytest.mark.parametrize(
    ("line", "starts"),
    [
        ("nohup etcd > /tmp/etcd.log 2>&1 &", True),
        ("sudo -u etcd bash -c 'cd /tmp && nohup etcd & >> log'", True),
        ("exec /usr/bin/etcd", True),
        ("for name in etcd etcdctl; do", False),
        ("echo starting etcd", False),
    ],
)
def test_etcd_without_a_flag(line: str, starts: bool) -> None:
    assert bool(members("start.sh", f"#!/bin/sh\n{line}\n")) == starts


@pytest.mark.parametrize(("path", "found"), [("/etc/etcd/etcd.env", True), ("/etc/other.env", False)])
def test_a_container_with_an_environment_file(path: str, found: bool) -> None:
    member = members("etcd.yaml", CONTAINER.replace("FILE", path))[0]
    assert member["image"] == "quay.io/coreos/etcd:v3.5.4"
    assert ("ETCD_LISTEN_CLIENT_URLS" in member["environment"]) == found
    unread = {"--env-file /etc/etcd/etcd.env": "it is not among the files"}
    assert member["unknown"] == ({} if found else unread)
    [started] = members("a.sh", "docker run --env-file /etc/etcd/etcd.env quay.io/coreos/etcd:v3.5.4\n")
    assert started["unknown"] == unread


@pytest.mark.parametrize(
    ("module", "state", "starts"),
    [
        ("systemd", "{name: etcd.service, state: started}", True),
        ("service", "{name: etcd, enabled: true}", True),
        ("service", "name=etcd state=restarted", True),
        ("service", "{name: '{{ item }}', state: started}\n      loop: [etcd, kubelet]", True),
        ("service", "{name: '{{ item }}', state: started}\n      loop: [kubelet]", False),
        ("systemd", "{name: etcd.service, state: stopped}", False),
        ("systemd", "daemon_reload=yes", False),
    ],
)
def test_a_playbook_that_starts_the_service(module: str, state: str, starts: bool) -> None:
    found = members("etcd.yaml", PLAYBOOK.replace("MODULE", module).replace("STATE", state))
    assert [(member["format"], member["release"]) for member in found] == [("playbook", "3.4.15")] * starts


@pytest.mark.parametrize(
    ("task", "installs"),
    [
        ("file: {src: 'a/{{ item }}', dest: '/b/{{ item }}', state: link}\n  with_items: [etcd, etcdctl]", True),
        ("ansible.builtin.copy: {src: a/etcd, dest: /b/, remote_src: true}", True),
        ("ansible.builtin.copy: {src: 'a/{{ item }}', dest: /b/}\n  loop: [etcdctl]", False),
        ("ansible.builtin.file: {path: '/b/{{ item }}', state: directory}\n  loop: [etcd]", False),
    ],
)
def test_a_playbook_that_installs_the_program(task: str, installs: bool) -> None:
    download = "- get_url: {url: 'https://a/etcd/releases/download/v3.4.1/etcd-v3.4.1-linux-amd64.tar.gz', dest: /a}\n"
    found = members("etcd.yml", f"{download}- {task}\n")
    assert [member["release"] for member in found] == ["3.4.1"] * installs


def test_a_script_that_writes_a_short_configuration() -> None:
    script = (
        "#!/bin/sh\ncat > /etc/etcd/etcd.conf.yml<<EOF\nname: a\ndata-dir: /b\nlisten-client-urls: http://a:2379\nEOF\n"
    )
    [file] = read({"a.sh": script}).document["files"]
    assert file["contents"] == {"name": "a", "data-dir": "/b", "listen-client-urls": "http://a:2379"}


def test_an_example_of_an_inventory_is_one() -> None:
    inventory = "all: {children: {etcd: {hosts: {a: {}}, vars: {etcd_version: v3.3.4}}}}\n"
    for path in ("inventory.yml.example", "hosts.yaml.dist"):
        assert read({path: inventory}).document["translated"] == {path: True}
    assert read({"inventory.yml": inventory, "x.yml.sample": "a: 1\n"}).document["translated"] == {}


@pytest.mark.parametrize(
    ("path", "text", "releases"),
    [
        ("roles/etcd/defaults/main.yml", "etcd_version: v3.4.0\netcd_dir: /etc/etcd\n", ["3.4.0"]),
        ("vars.yml.vagrant", "etcd_version: 3.4.0\n", ["3.4.0"]),
        ("main.yml", "kube_version: v1.30.0\n", []),
        # The policies read these.
        ("group_vars/all.yml", "etcd_version: 3.4.0\n", []),
        ("hosts.yml", "etcd: {hosts: {a: {}}}\nother:\n  vars:\n    etcd_version: 3.4.0\n", []),
        ("values.yaml", "apiVersion: v1\nspec:\n  etcd_version: 3.4.0\n", []),
        ("main.yml", "etcd_server_version: v3.4.0\n", ["3.4.0"]),
        ("main.yml", "etcd_operator_version: v3.4.0\nmin_etcd_version: 3.3.0\n", []),
        ("main.yml", "etcd:\n  # pinned\n\n  dir: /d\n  version: 3.4.0\nkube: {}\n", ["3.4.0"]),
        ("main.yml", "ETCD:\n  VERSION: v3.4.0\n", ["3.4.0"]),
        ("main.yml", "etcd:\n  dir: /d\n  exporter:\n    version: 3.4.0\n", []),
        ("main.yml", "etcd:\n  version: 3.4.0\n  endpoints: [a]\n", []),
        ("main.yml", "app:\n  etcd:\n    version: 3.4.0\n", []),
        ("hiera.yaml", "etcd::version: '3.4.0'\n", ["3.4.0"]),
    ],
)
def test_the_release_in_the_variables_of_a_role(path: str, text: str, releases: list[str]) -> None:
    assert [member["release"] for member in members(path, text)] == releases
    # Another file may override it.
    assert [entry["path"] for entry in read({path: text, "b.yml": "a: 1\n"}).document["files"]] == [path, "b.yml"]


def test_the_flags_in_the_variables_of_a_role() -> None:
    flags = "  name: '{{ host }}'\n  snapshot-count: 100000\n  wal-dir: ''\n  listen-client-urls: http://a:2379\n"
    more = "  initial-cluster-state: new\n  client-cert-auth: true\n"
    [member] = members("main.yml", f"etcd_version: 3.5.13\netcd_directory: {{path: /a}}\netcd_flags:\n{flags}{more}")
    assert member["release"] == "3.5.13" and member["silent"] == ["extra_config"]
    assert member["command"] == [
        "etcd",
        "--name={{ host }}",
        "--snapshot-count=100000",
        "--listen-client-urls=http://a:2379",
        "--initial-cluster-state=new",
        "--client-cert-auth=true",
    ]


def test_an_environment_file_of_docker_with_colons() -> None:
    text = "# a\nETCD_LISTEN_CLIENT_URLS: http://0.0.0.0:2379\nETCD_NAME: 'a'\n"
    [member] = members("etcd.env", text)
    assert member["environment"] == {"ETCD_LISTEN_CLIENT_URLS": "http://0.0.0.0:2379", "ETCD_NAME": "a"}
    # systemd has no such lines.
    assert members("etcd.conf", text) == []


def test_a_template_of_a_configuration() -> None:
    [entry] = read({"etcd.conf.j2": TEMPLATE}).document["files"]
    nested = TEMPLATE.replace("initial-cluster: {", "initial-cluster: '{").replace("endfor %}", "endfor %}'")
    [same] = read({"etcd.conf.j2": nested}).document["files"]
    assert same["contents"] == entry["contents"]
    assert entry["contents"]["quota-backend-bytes"] == -1 and entry["contents"]["name"] == "{{ etcd_name }}"
    [under] = read({"etcd.conf.j2": TEMPLATE + "{% if tls %}\ncert-file: a\n{% endif %}\n"}).document["files"]
    assert under["contents"]["cert-file"] == "{{condition}}" and under["contents"]["quota-backend-bytes"] == -1


@pytest.mark.parametrize(
    ("opening", "middle", "closing"),
    [("{% if tls %}", "{% else %}", "{% endif %}"), ("{{- if .TLS }}", "{{- else }}", "{{- end }}")],
)
def test_conditions_of_a_template_are_unknown(opening: str, middle: str, closing: str) -> None:
    def either(name: str, end: str = "") -> str:
        urls = [f"{name}{scheme}://10.0.0.1:2379{end}" for scheme in ("https", "http")]
        return f"{opening}\n{urls[0]}\n{middle}\n{urls[1]}\n{closing}\n"

    variables = either("ETCD_LISTEN_CLIENT_URLS=")
    [member] = members("etcd.env.j2", f"ETCD_NAME=a\nETCD_INITIAL_CLUSTER=a=http://b:2380\n{variables}")
    assert member["environment"]["ETCD_LISTEN_CLIENT_URLS"] == "{{condition}}"
    flags = either("--listen-client-urls=", " \\")
    [unit] = members(
        "etcd.service.j2", f"[Service]\nExecStart=/usr/bin/etcd --name a \\\n{flags}  --max-wals=9\nNice=-5\n"
    )
    assert (
        unit["command"] == ["etcd", "--name", "a", "{{condition}}", "--max-wals=9"]
        and unit["facts"]["nice"]["value"] == "-5"
    )
    assert unit["unknown"] == {"{{condition}}": "it is filled in when etcd starts"}
    last = flags.replace(" \\\n" + closing, "\n" + closing)
    [ended] = members("etcd.service.j2", f"[Service]\nExecStart=/usr/bin/etcd --name a \\\n{last}Nice=-5\n")
    assert ended["command"] == ["etcd", "--name", "a", "{{condition}}"] and ended["facts"]["nice"]["value"] == "-5"


def test_the_content_of_a_loop_stays() -> None:
    [member] = members(
        "a.j2", "{% for x in y %}\nETCD_LISTEN_CLIENT_URLS=http://{{ x }}:2379\n{% endfor %}\nETCD_NAME=a\n"
    )
    assert member["environment"] == {"ETCD_LISTEN_CLIENT_URLS": "http://{{ x }}:2379", "ETCD_NAME": "a"}


def test_a_manifest_in_a_script() -> None:
    manifest = "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - {name: etcd, command: [etcd, --listen-client-urls=http://0.0.0.0:2379]}\n"
    [entry] = read({"up.sh": f"kubectl apply -f - <<EOF\n{manifest}EOF\n"}).document["files"]
    assert entry["contents"]["kind"] == "Pod"


@pytest.mark.parametrize("command", ["network create etcd", "volume create etcd", "--context a pod create etcd"])
def test_docker_creates_other_things_too(command: str) -> None:
    assert members("up.sh", f"#!/bin/sh\ndocker {command}\n") == []
    [_member] = members(
        "etcd.service", "[Service]\nExecStart=/usr/bin/docker -H unix:///a.sock run quay.io/coreos/etcd:v3.5.0\n"
    )
    [member] = members("up.sh", "#!/bin/sh\ndocker --context a container run quay.io/coreos/etcd:v3.5.0\n")
    assert member["image"] == "quay.io/coreos/etcd:v3.5.0"


@pytest.mark.parametrize("image", ["quay.io/coreos/etcd:v2.3.8", "kv"])
def test_a_container_whose_first_flag_is_one_of_the_server(image: str) -> None:
    text = f"#!/bin/sh\ndocker run {image} -advertise-client-urls http://10.0.0.1:2379 -name a -listen-client-urls http://0.0.0.0:2379\n"
    [member] = members("up.sh", text)
    assert member["command"][-2:] == ["-listen-client-urls", "http://0.0.0.0:2379"]
    assert (member["command"][1] == "-advertise-client-urls") is (image != "kv")
    assert members("up.sh", "#!/bin/sh\ndocker run kv -advertise-client-urls http://10.0.0.1:2379\n") == []


def test_a_program_around_etcd() -> None:
    text = (
        "[Service]\nEnvironment=ETCD_LISTEN_CLIENT_URLS=http://0.0.0.0:2379\nExecStart=/usr/lib/coreos/etcd-wrapper\n"
    )
    [member] = members("etcd.service", text)
    assert member["unknown"] == {"ExecStart=/usr/lib/coreos/etcd-wrapper": "it is a program around etcd"}
    assert members("etcd.service", text.replace("ETCD_LISTEN_CLIENT_URLS", "ETCD_ENDPOINTS")) == []
    for program in ("/usr/local/bin/etcd-backup.sh", "/usr/bin/etcdctl snapshot save a"):
        assert members("etcd-backup.service", text.replace("/usr/lib/coreos/etcd-wrapper", program)) == []


@pytest.mark.parametrize("arguments", ["$*", "$@", ""])
def test_a_command_in_a_variable_with_the_arguments_of_the_script(arguments: str) -> None:
    text = f'#!/bin/sh\nCOMMAND="/bin/etcd --listen-client-urls http://${{IP}}:2379 {arguments}"\nexec $COMMAND\n'
    [member] = members("run.sh", text)
    assert (member["command"][-1], member["unknown"]) == ("http://${IP}:2379", {})


def test_a_comment_behind_quotes() -> None:
    [member] = members("etcd.conf", 'ETCD_LISTEN_CLIENT_URLS="http://0.0.0.0:2379"  # all\n')
    assert member["environment"] == {"ETCD_LISTEN_CLIENT_URLS": "http://0.0.0.0:2379"}


def test_variables_of_an_image() -> None:
    text = (
        "FROM debian\nARG ETCD_VERSION=v3.5.5\nENV ETCD_ROOT=/opt ETCD_NMAE=a\nENV ETCD_LISTEN_CLIENT_URLS http://0.0.0.0:2379\n"
        'RUN rm -f etcd-v2.0.10-linux-amd64*\nENTRYPOINT ["/run.sh"]\nCMD ["bash", "-c", "${ETCD_ROOT}/etcd"]\n'
    )
    [member] = members("Dockerfile", text)
    assert set(member["environment"]) == {"ETCD_NMAE", "ETCD_LISTEN_CLIENT_URLS"}, "the file uses ETCD_ROOT itself"
    assert member["release"] == "3.5.5"


def test_an_image_of_etcdctl() -> None:
    assert members("Dockerfile", 'FROM quay.io/coreos/etcd:v3.5.0\nENTRYPOINT ["etcdctl"]\n') == []


def test_an_indented_unit() -> None:
    [member] = members("etcd.template", f"[Unit]\n  After=x\n  [Service]\n  ExecStart=/usr/bin/etcd --name a {URLS}\n")
    assert (member["format"], member["name"]) == ("systemd unit", "a")


def test_a_playbook_that_writes_its_unit() -> None:
    unit = "[Service]\\nExecStart=/usr/bin/etcd --name a --listen-client-urls https://a:2379\\n"
    text = f"""- hosts: etcd
  vars:
    etcd_version: 3.4.15
  tasks:
    - copy: {{dest: /etc/systemd/system/etcd.service, content: "{unit}"}}
    - systemd: {{name: etcd, state: started}}
"""
    found = [entry["contents"] for entry in read({"site.yml": text}).document["files"]]
    [member] = [contents["headroom_member"] for contents in found if isinstance(contents, dict)]
    assert (member["format"], member["release"]) == ("systemd unit", "3.4.15")


def test_arguments_of_k3s_are_no_variables() -> None:
    text = 'cluster-init: true\netcd-arg:\n  - "--quota-backend-bytes=5"\n'
    files = read({"config.yaml": text}).document["files"]
    assert ["headroom_member" in entry["contents"] for entry in files] == [False]


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
    script, unit = members("README.md", text)
    assert (script["name"], script["image"]) == ("s1", "quay.io/coreos/etcd:v3.6.1")
    assert unit["environment"] == {"ETCD_NAME": "infra0", "ETCD_ELECTION_TIMEOUT": "2000"}
    assert unit["where"]["ETCD_ELECTION_TIMEOUT"] == ["README.md", 17]
    settings = "```yaml\nname: c\nlisten-client-urls: http://c:2379\nadvertise-client-urls: http://c:2379\n```\n"
    contents = [entry["contents"] for entry in read({"README.md": text + settings}).document["files"]]
    assert "c" in [one.get("name") for one in contents] and len(contents) == 3
    # The same member in another form.
    assert len(members("README.md", text + "```\nETCD_NAME=s1\nETCD_ELECTION_TIMEOUT=2000\n```\n")) == 2
    # One block alone, and blocks that are all commands.
    start = text.index("On a server")
    assert [found["name"] for found in members("README.md", text[:start])] == ["s1"]
    assert [found["name"] for found in members("README.md", text[start : text.index("and use")])] == ["infra0"]


def test_lines_behind_a_block_that_is_a_file() -> None:
    command = f"docker run quay.io/coreos/etcd:v3.6.1 etcd --name s1 \\\n  {URLS}"
    text = f"```\nETCD_NAME=a\nETCD_ELECTION_TIMEOUT=2000\n```\n\n```sh\n{command}\n```\n"
    script = next(found for found in members("README.md", text) if found["image"])
    assert script["where"]["--listen-client-urls"] == ["README.md", 8]


def test_a_list_of_flags() -> None:
    flags = "--data-dir=${SNAP_COMMON}/var/run/etcd\n# local\n--listen-client-urls=https://0.0.0.0:12379\n\n--client-cert-auth\n"
    [found] = members("args/etcd", flags)
    assert found["command"][1:] == [line for line in flags.splitlines() if line.startswith("-")]
    assert found["where"]["--client-cert-auth"] == ["args/etcd", 5]
    # Whatever reads the list may add flags.
    assert found["silent"] == ["extra_config"]
    for other in ("--data-dir=/d\n--name=a\n", flags + "more\n", "- --listen-client-urls=a\n"):
        assert not members("args/etcd", other)


INSTALL = "curl -sfL https://get.k3s.io |"


@pytest.mark.parametrize(
    ("lines", "document"),
    [
        (
            f'{INSTALL} INSTALL_K3S_EXEC="server --cluster-init --etcd-arg=quota-backend-bytes=8G" sh -',
            {"cluster-init": True, "etcd-arg": ["--quota-backend-bytes=8G"]},
        ),
        (
            f"{INSTALL} sh -s - server \\\n --disable traefik --etcd-arg --snapshot-count=5 > log",
            {"etcd-arg": ["--snapshot-count=5"]},
        ),
        (f'A=--cluster-init\nexport INSTALL_K3S_EXEC="server $A"\n{INSTALL} sh -', {"cluster-init": True}),
        ("k3s server --etcd-arg=max-wals=3 &", {"etcd-arg": ["--max-wals=3"]}),
        # Words that are unknown, an agent, and another program.
        (f"{INSTALL} sh -s - server --cluster-init $MORE", None),
        (f"{INSTALL} sh -s - agent --etcd-arg=max-wals=3", None),
        ("other server --cluster-init", None),
    ],
)
def test_a_script_that_installs_k3s(lines: str, document: dict[str, Any] | None) -> None:
    found = read({"install.sh": f"#!/bin/sh\n{lines}\n"}).document
    assert [entry["contents"] for entry in found["files"]] == ([document] if document else [])


UNIT_OF_K3S = """\
[Service]
EnvironmentFile=-/etc/systemd/system/k3s.service.env
ExecStartPre=-/sbin/modprobe overlay
ExecStart=/usr/local/bin/k3s \\
    server \\
\t'--cluster-init' \\
\t'--etcd-arg=unsafe-no-fsync=true' \\

"""


def test_a_unit_of_k3s() -> None:
    found = read({"k3s.service": UNIT_OF_K3S})
    assert found.document["files"] == [
        {"path": "k3s.service", "contents": {"cluster-init": True, "etcd-arg": ["--unsafe-no-fsync=true"]}}
    ]
    assert found.document["lines"]["k3s.service"]["words"]["unsafe-no-fsync"] == [7] and found.passed_over == {}
    agent = read({"k3s.service": UNIT_OF_K3S.replace("server", "agent")})
    assert agent.document["files"] == [] and agent.passed_over == {"k3s.service": "it starts no etcd"}


def test_more_arguments_for_k3s_in_a_cloud_config() -> None:
    inner = "etcd-arg+: [unsafe-no-fsync=true]\n"
    text = f"#cloud-config\nwrite_files:\n- path: /etc/rancher/k3s/config.yaml.d/a.yaml\n  content: |\n    {inner}"
    files = read({"user-data": text}).document["files"]
    assert {"etcd-arg+": ["unsafe-no-fsync=true"]} in [entry["contents"] for entry in files]
