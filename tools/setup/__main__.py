"""Set up what the named targets of the Makefile need, everything if none is named. A second run only checks.

Each result is in a cache folder under a name with the digest of its inputs, and gets this name only when it is complete:
an interrupted run leaves no partial result, and several runs may run in parallel.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import os
import sys
import threading
import time
from pathlib import Path

from tools.setup.steps import CACHE, PROJECT, Step, StepFailed
from tools.setup.targets import NEEDS, PURPOSES, steps

LINKS = PROJECT / ".headroom"
ACTIVATE = """# Puts ansible-playbook, conftest, etcdctl and the other pinned tools on PATH: . .headroom/activate
PATH="{links}/bin:{links}/venv/bin:$PATH"
export PATH
# Ansible refuses a locale without UTF-8.
case "${{LC_ALL:-${{LC_CTYPE:-${{LANG:-}}}}}}" in *[Uu][Tt][Ff]8 | *[Uu][Tt][Ff]-8) ;; *) export LC_ALL=C.UTF-8 ;; esac
"""


def link(target: Path, name: str) -> None:
    """Point .headroom/NAME to the target, and replace an older link in one step."""
    path = LINKS / name
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}")
    part.unlink(missing_ok=True)  # of a killed run with the same process id
    part.symlink_to(target)
    part.replace(path)


class Progress:
    """Prints a line when a step begins and one when it ends."""

    def __init__(self, total: int) -> None:
        self.total, self.done, self.lock = total, 0, threading.Lock()

    def run(self, step: Step) -> None:
        """Run a step, and print its name and duration."""
        with self.lock:
            print(f"  ....   {step.name}: {step.purpose}", flush=True)
        seconds = step.run()
        with self.lock:
            self.done += 1
            print(f"  {self.done:>2}/{self.total:<2}  {step.name}: {seconds:.0f} s", flush=True)


def run_two_at_a_time(todo: list[Step], progress: Progress) -> None:
    """Run the steps; after a failure no further step begins."""
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        for result in concurrent.futures.as_completed([pool.submit(progress.run, step) for step in todo]):
            try:
                result.result()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise


def check_owners() -> None:
    """Raise StepFailed if a folder of the set-up belongs to another user, as after `sudo make`."""
    for folder in (LINKS, LINKS / "bin", CACHE):
        if folder.exists() and not os.access(folder, os.W_OK | os.X_OK):
            raise StepFailed(
                f"{folder} belongs to {folder.owner()}, because an earlier run used sudo; run `sudo chown -R $(id -u) {folder}`, "
                "and run make without sudo, which the set-up calls itself where it has to"
            )


def set_up(names: list[str]) -> None:
    """Run the steps that these targets need (all, if none is named) and that are not done yet."""
    check_owners()
    packages, others = steps(names)
    todo = [step for step in others if not step.is_ready()]
    first = [] if packages.is_ready() else [packages]
    if first or todo:
        print(
            f"Set-up for {', '.join(names) or 'all targets'}: {len(first) + len(todo)} steps, into {CACHE}", flush=True
        )
        progress = Progress(len(first) + len(todo))
        for step in first:
            progress.run(step)
        run_two_at_a_time(todo, progress)
    for step in others:
        for name, target in step.links().items():
            link(target, name)
    LINKS.mkdir(exist_ok=True)
    part = LINKS / f".activate.{os.getpid()}"  # another run may read the file at this moment
    part.write_text(ACTIVATE.format(links=LINKS))
    part.replace(LINKS / "activate")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python3 -m tools.setup", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="a target of the Makefile, or a part; default: all")
    parser.add_argument("--list", action="store_true", help="list the parts, and who needs them")
    arguments = parser.parse_args()
    if arguments.list:
        users = {part: ", ".join(target for target, needs in NEEDS.items() if part in needs) for part in PURPOSES}
        print("\n".join(f"{part:12} {why}\n{'':12} needed by {users[part]}" for part, why in PURPOSES.items()))
        return 0
    began = time.monotonic()
    try:
        set_up(arguments.names)
    except (StepFailed, ValueError, OSError) as error:
        print(f"Set-up failed: {error}", file=sys.stderr)
        return 1
    print(f"Set-up: ready ({time.monotonic() - began:.1f} s)", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
