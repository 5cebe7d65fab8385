"""A step of the set-up, and what all steps use: the cache folder, locks, digests, and commands that log."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

PROJECT = Path(__file__).resolve().parents[2]
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "headroom"


HELD = threading.local()
"""`descriptors` are those of the locks that this thread holds."""


class StepFailed(Exception):
    """A command of a step failed; the text names the command and its log."""


@dataclass(frozen=True)
class Step:
    """One result of the set-up: its name, its use, and how to find it, make it and link it into .headroom."""

    name: str
    purpose: str
    is_ready: Callable[[], bool]
    make: Callable[[IO[str]], None]
    links: Callable[[], dict[str, Path]] = dict
    """Maps a path below .headroom to its target in the cache."""

    def run(self) -> float:
        """Make the result unless another run has made it since; return the seconds taken."""
        began = time.monotonic()
        log = CACHE / "logs" / f"{self.name}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        with locked(self.name):
            if not self.is_ready():
                with log.open("w") as stream:
                    self.make(stream)
        return time.monotonic() - began


def digest(*parts: object) -> str:
    """Return ten hex digits over the parts; a Path counts with its content."""
    sha = hashlib.sha256()
    for part in parts:
        sha.update(part.read_bytes() if isinstance(part, Path) else str(part).encode())
        sha.update(b"\0")
    return sha.hexdigest()[:10]


@contextlib.contextmanager
def locked(name: str) -> Iterator[None]:
    """Hold a lock that all set-ups of this user share.

    The kernel releases it when this process and the command that it runs have ended: the command goes on if only this process is killed.
    """
    folder = CACHE / "locks"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / name).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        outer = held()
        HELD.descriptors = (*outer, lock.fileno())
        try:
            yield
        finally:
            HELD.descriptors = outer


def held() -> tuple[int, ...]:
    """Return the descriptors of the locks that this thread holds."""
    return getattr(HELD, "descriptors", ())


@contextlib.contextmanager
def complete_folder(path: Path) -> Iterator[Path]:
    """Yield a temporary folder to fill, and rename it to `path` at the end: `path` is either complete or absent."""
    part = path.with_name(f".{path.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    yield part
    os.sync()  # after a power failure, the folder must not be there without the content of its files
    part.rename(path)


def run(log: IO[str], *command: str | Path, cwd: Path | None = None, env: dict[str, str] | None = None) -> None:
    """Run a command and write its output to the step's log.

    Raises StepFailed with the last lines of the log if the command is missing or fails.
    """
    line = " ".join(map(str, command))
    log.write(f"$ {line}\n")
    log.flush()
    try:
        subprocess.run(
            command,
            cwd=cwd,
            env={**os.environ, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            check=True,
            pass_fds=held(),
        )
    except OSError:  # it is missing, or in a folder of PATH that this user may not read
        raise StepFailed(f"{command[0]} is not installed; install it and run the same command again") from None
    except subprocess.CalledProcessError as error:
        log.flush()
        tail = "\n".join(Path(log.name).read_text(errors="replace").splitlines()[-25:])
        if command[0] == "sudo" and "password is required" in tail:
            raise StepFailed(
                f"`{line}` needs root, but sudo asks for a password: run make as root, or as a user whose sudo asks for none"
            ) from None
        raise StepFailed(f"{line} exited with {error.returncode}:\n{tail}\n(full log: {log.name})") from None


def as_root(*command: str) -> list[str]:
    """Prefix the command with sudo unless this user is root."""
    return [*([] if os.geteuid() == 0 else ["sudo", "-n"]), *command]
