#!/usr/bin/env python3
# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ask real etcd binaries whether releases.yml tells the truth about their flags and config-file keys.

    model/check_binaries.py PATH…    each an etcd binary, or an upstream-shaped archive (…-linux-amd64.tar.gz) that holds one

Nothing is started: every run ends in an error or with the version. For each binary:

- every flag of --help is known, and every known flag is taken;
- every known config key is refused with a value of a wrong type, which shows that etcd reads it;
- keys of other series, and removed ones, are ignored in silence;
- the feature gates are those of --help, and it refuses a gate of another name.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

MODEL = Path(__file__).resolve().parent.parent / "policies" / "data" / "model.json"
# An address that etcd refuses after it has read the whole file: nothing ever listens.
STOP = {"listen-peer-urls": "http://bad address"}


def run(binary: Path, *arguments: str) -> str:
    """Run etcd with arguments that make it stop, and return all that it says."""
    done = subprocess.run(
        [str(binary), *arguments], capture_output=True, text=True, timeout=30, check=False, env={"ETCD_NAME": "x"}
    )
    return done.stdout + done.stderr


def reads_key(binary: Path, folder: Path, dotted: str, wrong: Any) -> bool:
    """Return whether etcd reads a key: then a value of a wrong type is an error of its own."""
    config: Any = wrong
    for name in reversed(dotted.split(".")):
        config = {name: config}
    # The key under test last: a duplicate of STOP's key would replace it.
    path = folder / "config.yml"
    path.write_text(json.dumps({**STOP, **config}), encoding="utf-8")
    said = run(binary, "--config-file", str(path))
    if "unmarshal" in said:
        return True
    if "bad address" not in said and "invalid" not in said:
        raise RuntimeError(f"{binary} with {config}: neither a type error nor the bad address: {said[-300:]}")
    return False


def known_flags(model: dict[str, Any], series: str) -> set[str]:
    """Return every flag that the model knows of one series."""
    release = model["series"][series]
    spelt = {entry[series]["flag"] for entry in model["settings"].values() if series in entry}
    # Flags that are called like their key; the keys of nested sections have flags of other names, which the settings list.
    plain = {key for key in release["config_keys"] if "." not in key}
    renamed = {entry[series]["key"] for entry in model["settings"].values() if series in entry} - spelt
    # catch-up, with a hyphen, is only ever a key.
    return (
        (spelt | plain | set(release["flags_only"])) - (renamed - {None}) - {"experimental-snapshot-catch-up-entries"}
    )


def check_flags(binary: Path, model: dict[str, Any], series: str) -> Iterator[str]:
    """Yield what is wrong about flags."""
    release = model["series"][series]
    known = known_flags(model, series)
    listed = set(re.findall(r"^  --([a-z0-9-]+)", run(binary, "--help"), re.MULTILINE)) - set(release["help_only"])
    for flag in sorted(listed - known - set(release["deprecated"]) - set(release["misread"])):
        yield f"--{flag} is in --help, releases.yml does not know it"
    for flag in sorted(known | set(model["ignored_flags"])):
        if "provided but not defined" in run(binary, f"--{flag}=x", "--version"):
            yield f"--{flag} is in releases.yml, the binary does not take it"
    for flag in sorted(set(release["help_only"]) | set(release["removed"])):
        if "provided but not defined" not in run(binary, f"--{flag}=x", "--version"):
            yield f"--{flag} should be gone, the binary takes it"


def check_gates(binary: Path, model: dict[str, Any], series: str) -> Iterator[str]:
    """Yield what is wrong about feature gates."""
    known = set(model["series"][series]["feature_gates"])
    for gate in sorted(known ^ set(re.findall(r"^\s+(\w+)=true\|false", run(binary, "--help"), re.MULTILINE))):
        yield f"feature gate {gate} is only in {'releases.yml' if gate in known else '--help'}"
    others = {gate for release in model["series"].values() for gate in release["feature_gates"]} - known
    for gate in sorted(others | {"NoSuchGate"}) if known else ():
        if "unrecognized feature gate" not in run(binary, f"--feature-gates={gate}=true", "--version"):
            yield f"feature gate {gate} is not in releases.yml, the binary takes it"


def check_keys(binary: Path, folder: Path, model: dict[str, Any], series: str) -> Iterator[str]:
    """Yield what is wrong about config keys."""
    known: dict[str, str] = model["series"][series]["config_keys"]
    for key in known:
        if key not in STOP and not reads_key(binary, folder, key, {"wrong": "type"}):
            yield f"{key} is in releases.yml, the binary ignores it"
    others = {key for release in model["series"].values() for key in [*release["config_keys"], *release["removed"]]}
    for key in sorted(others - set(known)):
        if reads_key(binary, folder, key, {"wrong": "type"}):
            yield f"{key} is not in releases.yml, the binary reads it"


@contextmanager
def binary_of(path: Path) -> Iterator[Path]:
    """Give the etcd binary, taken out of an archive if need be."""
    if not path.name.endswith(".tar.gz"):
        yield path
        return
    with tempfile.TemporaryDirectory() as folder, tarfile.open(path) as archive:
        member = next(item for item in archive if Path(item.name).name == "etcd" and item.isfile())
        content = archive.extractfile(member)
        assert content is not None, "it is a file"
        binary = Path(folder) / "etcd"
        with content, binary.open("wb") as copy:
            shutil.copyfileobj(content, copy)
        binary.chmod(0o755)
        yield binary


def main() -> int:
    """Check every binary given; the exit code is 1 where one of them disagrees."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", type=Path, nargs="+", metavar="PATH")
    model = json.loads(MODEL.read_text(encoding="utf-8"))["headroom"]["model"]
    failed = 0
    for path in parser.parse_args().paths:
        with binary_of(path) as binary, tempfile.TemporaryDirectory() as folder:
            found = re.search(r"etcd Version: (\d+\.\d+)(\.\d+)", run(binary, "--version"))
            if found is None or found[1] not in model["series"]:
                print(f"{path}: no etcd of a known series")
                failed += 1
                continue
            problems = [
                *check_flags(binary, model, found[1]),
                *check_gates(binary, model, found[1]),
                *check_keys(binary, Path(folder), model, found[1]),
            ]
        count = len(model["series"][found[1]]["config_keys"])
        print(f"etcd {found[1]}{found[2]}: {count} keys and {len(known_flags(model, found[1]))} flags asked for")
        for problem in problems:
            print(f"  {problem}")
        failed += bool(problems)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
