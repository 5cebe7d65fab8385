# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find etcd's command line among the words of a unit or a script: directly, after a shell, or inside a container."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import NamedTuple

from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.shell.command_wrappers import (
    RUNS,
    SEPARATOR,
    is_behind_wrapper,
    variables_before,
)
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.shell.engine_options import (
    makes_another,
    mounted,
    options_of,
)
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.shell.sources import (
    exports_sourced_in_text,
    sources_in_text,
)

# Flags that only etcd's server has. A word before them is etcd, whatever it is called.
SERVER_FLAG = re.compile(
    r"^--?(listen-(client|peer)-urls|advertise-client-urls|initial-(advertise-peer-urls|cluster|cluster-token|cluster-state)"
    r"|(experimental-)?snapshot-(count|catchup-entries)|quota-backend-bytes|auto-compaction-(mode|retention)|unsafe-no-fsync"
    r"|force-new-cluster|peer-(client-)?cert-(file|auth))(=|$)"
)
_EXECUTABLE = re.compile(r"^[@:+!-]*([\w./{}$-]*/)?etcd(-?v?[0-9][\w.]*?)?(\.exe)?$")
_IMAGE = re.compile(r"^(?:[\w.:{}$-]+/)*etcd(?:-(?:amd64|arm64))?(?::[\w.{}$ -]+)?(?:@sha256:[0-9a-f]+)?$")
# systemd-docker takes the arguments of docker after a few of its own.
_CONTAINER = re.compile(r"^[@:+!-]*([\w./-]*/)?((systemd-)?docker|podman|nerdctl)$")
# The engine in a variable, as in $DOCKER run.
_ENGINE = re.compile(r"^[@-]*\$[\w({]")
_ROCKET = re.compile(r"^[@:+!-]*([\w./-]*/)?rkt$")
_ENV = re.compile(r"^([\w./-]*/)?env$")
_SHELL = re.compile(r"^[@:+!-]*([\w./-]*/)?(ba|da|a|z)?sh$")
# These programs run a command that is one of their arguments.
_RUNNERS = re.compile(
    r"^([\w./-]*/)?(ssh|sshpass|pssh|pdsh|su|runuser|tmux|screen|eval|daemon|setsid|timeout|chroot|nsenter|vagrant|multipass|lxc|limactl"
    r"|(ssh|remote|run|exec)[_-]\w+|\w+[_-](ssh|remote|run|exec))$"
)
# `snapshot restore` has some of the server's flags.
_OTHER_TOOLS = re.compile(r"^([\w./{}$-]*/)?(etcdctl|etcdutl)$")
_ENDS = re.compile(r"^([;&|<>]|[0-9]>)")
_ENDED = re.compile(r"([^\s;&|\\]+)(;|&&?|\|\|?)")
# What may follow etcd without flags.
_NOTHING = re.compile(r"^([;&|<>]|[0-9]>|\$|\{\{|$)")
# Commands whose arguments may be the word etcd, as in systemctl status etcd --no-pager.
_OTHER_COMMANDS = re.compile(
    r"^([\w./-]*/)?(systemctl|service|rc-service|journalctl|apt|apt-get|yum|dnf|pacman|apk|brew|snap|helm|kubectl|useradd|groupadd|chown|chmod|mkdir|tar"
    r"|cp|mv|rm|ln|cd|ls|install|which|pkill|killall|pgrep|echo|printf|grep|git|make"
    r"|etcdctl|etcdutl)$"
)
# As in formats.command_line of the policies; tests/policies/test_reader_tables.py compares both.
SCRIPT_FOLLOWS = re.compile(r"^-[a-z]*c[aefhilmnuvx]*$")
_SUBSTITUTION = re.compile(r"`[^`]*`|\$\([^()]*\)")
# With the value that counts if the variable is not set.
_VARIABLE = re.compile(r"\$(?:\{(\w+)(?::?[-=]([^{}$`]*))?\}|(\w+))")
# Parts of templates, whose blanks and quotes belong to no command line.
TEMPLATE = re.compile(
    r"\{\{.{,500}?\}\}|\{%.{,500}?%\}|<%.{,500}?%>|%\{[^{}]{,500}\}|\$\{(?!\w{,99}:?[-=+?])[^{}]{,500}\}"
)
# Flags of the server that other programs have, too.
_FLAG_OF_ETCD = re.compile(
    r"^--?(name|(data|wal)-dir|config-file|(peer-)?(cert|key|trusted-ca|crl)-file|(peer-)?client-cert-auth|(peer-)?auto-tls|cipher-suites"
    r"|logger|log-[a-z-]+|heartbeat-interval|election-timeout|max-(snapshots|wals|request-bytes|txn-ops)|discovery(-[a-z]+)?|proxy(-[a-z]+)?"
    r"|enable-[a-z0-9]+|experimental-[a-z-]+|strict-reconfig-check|metrics|listen-metrics-urls|auth-token|debug|pre-vote|cors)(=|$)"
)
# etcd answers these and exits.
_QUESTION = re.compile(r"^--?(version|help|h)$")


class Command(NamedTuple):
    """etcd's command line: its words, and what the container around it adds."""

    words: tuple[str, ...]
    image: str | None = None
    environment: tuple[tuple[str, str], ...] = ()
    memory: str | None = None
    mounts: tuple[tuple[str, str], ...] = ()  # path in the container, and the host's folder or the name of a volume
    environment_files: tuple[str, ...] = ()
    in_memory: tuple[str, ...] = ()  # paths in the container at which memory is mounted
    sources: tuple[str, ...] = ()  # commands before etcd that may set any variable, as in sources.py
    passes_on: bool = False  # whether etcd gets the variables of a file that a shell sources before it


def is_image(reference: str) -> bool:
    """Return whether a reference names an image of etcd."""
    return _IMAGE.match(reference) is not None


def is_etcd(word: str) -> bool:
    """Return whether a word is the program of etcd's server."""
    return _EXECUTABLE.match(word) is not None


def is_flag(word: str) -> bool:
    """Return whether a word is a flag of etcd's server, perhaps one that other programs have, too."""
    return SERVER_FLAG.match(word) is not None or _FLAG_OF_ETCD.match(word) is not None


def runs_another_tool(words: list[str]) -> bool:
    """Return whether words run etcdctl or etcdutl."""
    return any(_OTHER_TOOLS.match(word) for word in words)


def split_words(text: str) -> list[str]:
    """Split a text as a shell does. A command substitution stays one word, and an unbalanced quote is a character."""
    text = TEMPLATE.sub(lambda found: _placeholder(found[0]), text)
    text = _SUBSTITUTION.sub("$(command)", text)
    try:
        words = shlex.split(text)
    except ValueError:
        words = [word.strip("\"'") for word in text.split()]
    return [part for word in words for part in _without_end(word)]


def _placeholder(part: str) -> str:
    """Return a part of a template as one word; ERB's in the form of Jinja's."""
    compact = re.sub(r"\s+|[\"']", "", part)
    return "{{" + compact.strip("<>%=-") + "}}" if compact.startswith("<%") else compact


def _without_end(word: str) -> list[str]:
    """Part a word from the end of its command, as in ``2379;``. A quoted text with blanks is a command of its own."""
    found = _ENDED.fullmatch(word)
    return [found[1], found[2]] if found else [word]


def expand(words: list[str], variables: Mapping[str, str]) -> list[str]:
    """Replace known variables. A word that is only a variable may become several words or none."""
    expanded: list[str] = []
    for before, word in zip(["", *words], words):
        alone = re.fullmatch(r"\$\{?(\w+)(?:\[[@*]\])?\}?", word)
        # A shell takes its script as one word.
        if alone and alone[1] in variables and not SCRIPT_FOLLOWS.match(before):
            expanded += split_words(variables[alone[1]])
        else:
            expanded.append(fill(word, variables))
    return expanded


def fill(text: str, variables: Mapping[str, str]) -> str:
    """Replace known variables in a text, and others by the default beside their name."""
    return _VARIABLE.sub(lambda found: variables.get(found[1] or found[3], found[2] or found[0]), text)


def find_etcd(words: list[str], variables: Mapping[str, str] | None = None) -> Command | None:
    """Return the command line of an etcd server among words, None if there is none."""
    words = expand(words, variables or {})
    for position, word in enumerate(words):
        if _is_engine(words, position):
            starts = (number + 1 for number in range(len(words)) if _is_engine(words, number))
            return next(filter(None, (_in_container(words[start:]) for start in starts)), None)
        if _ROCKET.match(word):
            return _in_pod(words[position + 1 :])
        if _SHELL.match(word) and any(SCRIPT_FOLLOWS.match(item) for item in words[position + 1 : position + 3]):
            return _in_script(words[-1], variables)
        if _RUNNERS.match(word):
            inner = (_in_script(item, variables) for item in words[position + 1 :] if re.search(r"\s", item))
            found = next((command for command in inner if command), None)
            if found:
                return found
    for position, word in enumerate(words):
        if is_etcd(word) and _is_command(words, position) and not _asks(words[position + 1 :]):
            before = words[:position]
            arguments = _arguments(before, words[position + 1 :])
            sources = tuple(_environment_of(before))
            return Command(("etcd", *arguments), environment=variables_before(before), sources=sources)
    first = next((position for position, word in enumerate(words) if word.startswith("-") and position), None)
    # The flags after --etcd-arg are arguments of k3s.
    if runs_another_tool(words[:first]) or "--etcd-arg" in words:
        return None
    if first is not None and any(SERVER_FLAG.match(word) for word in words[first:]):
        return Command(("etcd", *_until_end(_own_flags(words, first))))
    return None


def _in_script(text: str, variables: Mapping[str, str] | None) -> Command | None:
    """Parse a script that a shell runs as one word."""
    found = find_etcd(split_words(text), variables)
    # A container does not get the script's variables.
    if found is None or found.image is not None:
        return found
    sources = (*found.sources, *sources_in_text(text))
    return found._replace(sources=sources, passes_on=exports_sourced_in_text(text))


def _environment_of(words: list[str]) -> list[str]:
    """Return the placeholders for variables that env sets, as in env $(cat FILE) etcd."""
    start = max((number + 1 for number, word in enumerate(words) if SEPARATOR.match(word)), default=0)
    before = words[start:]
    position = next((number for number, word in enumerate(before) if _ENV.match(word)), len(before))
    return [f"env {word}" for word in before[position:] if word.startswith("$")]


def _own_flags(words: list[str], first: int) -> list[str]:
    """Return etcd's flags behind another program, which may have flags of its own before them, or in front of `--`."""
    server = next(position for position in range(first, len(words)) if SERVER_FLAG.match(words[position]))
    passed = [position for position in range(server) if words[position] == "--"]
    if passed:
        first = next(position for position in range(passed[-1] + 1, server + 1) if words[position].startswith("-"))
    elif not re.search(r"etcd|[${]", words[first - 1]):
        first = next(p for p in range(first, server + 1) if _FLAG_OF_ETCD.match(words[p]) or p == server)
    return words[first:]


def _is_engine(words: list[str], position: int) -> bool:
    """Return whether a word runs containers, perhaps as a variable before `run` and an image of etcd."""
    if _CONTAINER.match(words[position]):
        return True
    return (
        words[position + 1 : position + 2] == ["run"]
        and _ENGINE.match(words[position]) is not None
        and any(":" in word and _IMAGE.match(word) for word in words[position + 1 :])
    )


def _in_pod(words: list[str]) -> Command | None:
    """Parse the words after rkt: the image, and etcd's flags behind `--`."""
    image = next((word for word in words if _IMAGE.match(word.removeprefix("docker://")) and "/" in word), None)
    if image is None or "run" not in words[:2]:
        return None
    flags = words[words.index("--") + 1 :] if "--" in words else []
    targets = [found[1] for word in words if (found := re.search(r"(?:^|,)target=([^,]*)", word))]
    mounts = tuple((target, "") for target in targets)
    return Command(("etcd", *_until_end(flags)), image.removeprefix("docker://"), mounts=mounts)


def _is_command(words: list[str], position: int) -> bool:
    """Return whether the word is a command rather than an argument: a data directory may be called etcd too."""
    start = max((number + 1 for number in range(position) if SEPARATOR.match(words[number])), default=0)
    if any(_OTHER_COMMANDS.match(word) for word in words[start:position]):
        return False
    following = words[position + 1] if position + 1 < len(words) else ""
    is_first = position == 0 or RUNS.match(words[position - 1]) is not None or is_behind_wrapper(words, position)
    if following.startswith("-"):
        # After another program, the word is known to be etcd only if a flag of etcd follows.
        return is_first or (not words[position - 1].startswith("-") and any(map(is_flag, words[position + 1 :])))
    return _NOTHING.match(following) is not None and is_first


def _asks(words: list[str]) -> bool:
    """Return whether the arguments only ask etcd for its version or for help."""
    return any(_QUESTION.match(word) for word in words[:1])


def _arguments(before: list[str], words: list[str]) -> list[str]:
    """Return the words of a command after its program, without the end of a subshell that began directly before it."""
    found = _until_end(words)
    if found and before and before[-1].startswith("("):
        found[-1] = found[-1].rstrip(")")
    return [word for word in found if word]


def _until_end(words: list[str]) -> list[str]:
    end = next((position for position, word in enumerate(words) if _ENDS.match(word)), len(words))
    return words[:end]


def _in_container(words: list[str]) -> Command | None:
    """Parse the words after docker, podman or nerdctl."""
    verb = next((position for position, word in enumerate(words) if word in ("run", "create")), None)
    if verb is None or any(makes_another(words, position) for position in range(verb)):
        return None
    options, rest = options_of(words[verb + 1 :])
    if not rest:
        return None
    image, arguments = rest[0], _until_end(rest[1:])
    entrypoints = [word for name, value in options if name == "--entrypoint" for word in split_words(value)]
    inner = find_etcd([*entrypoints, *arguments])
    is_other = runs_another_tool(entrypoints) or any(map(_SHELL.match, entrypoints[:1]))
    is_of_image = _IMAGE.match(image) and (not arguments or arguments[0].startswith("-")) and not is_other
    if is_of_image and (not entrypoints or inner is None):
        inner = Command(("etcd", *arguments))
    if inner is None:
        return None
    pairs = [value.partition("=") for name, value in options if name in ("-e", "--env")]
    limits = [value for name, value in options if name in ("-m", "--memory")]
    # Without a value, docker passes on its own variable.
    environment = tuple((name, value if equals else f"${{{name}}}") for name, equals, value in pairs)
    mounts = tuple(mounted(value) for name, value in options if name in ("-v", "--volume", "--mount"))
    mounts += tuple((value.split(":")[0], "") for name, value in options if name == "--tmpfs")
    # Another container's volumes may be anywhere.
    mounts += tuple(("/", "") for name, _value in options if name == "--volumes-from")
    files = tuple(value for name, value in options if name == "--env-file")
    in_memory = tuple(
        mounted(value)[0] if name == "--mount" else value.split(":")[0]
        for name, value in options
        if name == "--tmpfs" or (name == "--mount" and re.search(r"(?:^|,)type=tmpfs(?:,|$)", value))
    )
    limit = limits[-1] if limits else None
    # A shell in the container may set more.
    environment += inner.environment
    return Command(inner.words, image, environment, limit, mounts, files, in_memory, inner.sources, inner.passes_on)
