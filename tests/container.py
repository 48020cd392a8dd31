"""Run the steps of the Dockerfile without an engine: ``python -m tests.container``.

The build stage's files are copied to a temporary folder, and its last command installs them there; then the
service is started as the entry point does, and the health check runs. Packages are downloaded, so this takes
minutes. Steps that change the system (``apt-get``, ``useradd``) are left out.
"""

from __future__ import annotations

import fnmatch
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
INSTALLED = "/opt/budgetprune"
_SYSTEM = ("apt-get", "useradd")


def stages(text: str) -> list[list[tuple[str, str]]]:
    """Instructions of each stage, as pairs of keyword and argument, from the first FROM on."""
    lines = re.sub(r"\\\n", " ", text).splitlines()
    found: list[list[tuple[str, str]]] = []
    for line in lines:
        if not line.strip() or line.startswith("#"):
            continue
        keyword, _, argument = line.partition(" ")
        if keyword == "FROM":
            found.append([])
        if found:
            found[-1].append((keyword, argument.strip()))
    return found


def arguments_of(stage: list[tuple[str, str]], keyword: str) -> list[str]:
    """Arguments of all instructions of a stage with this keyword."""
    return [argument for name, argument in stage if name == keyword]


def is_sent(name: str, ignored: str) -> bool:
    """Whether a file of the checkout is sent to the engine; the last pattern that matches decides."""
    is_excluded = False
    for line in ignored.splitlines():
        pattern = line.strip()
        if not pattern or pattern.startswith("#"):
            continue
        is_exception = pattern.startswith("!")
        pattern = pattern.removeprefix("!")
        parts = [name, *map(str, Path(name).parents)]
        bare = pattern.removeprefix("**/")
        if any(
            fnmatch.fnmatchcase(part, pattern)
            or (bare != pattern and fnmatch.fnmatchcase(Path(part).name, bare))
            for part in parts
        ):
            is_excluded = not is_exception
    return not is_excluded


def copy_context(stage: list[tuple[str, str]], folder: Path) -> None:
    """Copy what the COPY instructions of a stage name, without ignored files."""
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8")
    for argument in arguments_of(stage, "COPY"):
        *sources, _ = argument.split()
        for source in sources:
            path = ROOT / source
            files = [path] if path.is_file() else [each for each in path.rglob("*") if each.is_file()]
            for file in files:
                name = file.relative_to(ROOT)
                if is_sent(name.as_posix(), ignored):
                    (folder / name).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy2(file, folder / name)


def command_of(stage: list[tuple[str, str]], keyword: str) -> list[str]:
    """Words of the last instruction with this keyword, in the form of a list."""
    argument = arguments_of(stage, keyword)[-1]
    words = json.loads(argument[argument.index("[") :])
    assert all(isinstance(word, str) for word in words)
    return list(words)


@contextmanager
def served(
    stage: list[tuple[str, str]], model: Path, environment: Mapping[str, str]
) -> Iterator[Callable[[], int]]:
    """Start the entry point of a stage on a free port; yields a function that runs its health check.

    The service listens on loopback only.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])

    def here(words: list[str]) -> list[str]:
        named = {"8000": port, "0.0.0.0": "127.0.0.1", "/models/model.budgetprune": str(model)}
        return [named.get(word, word.replace("127.0.0.1:8000", f"127.0.0.1:{port}")) for word in words]

    def check() -> int:
        words = here(command_of(stage, "HEALTHCHECK"))
        return subprocess.run(words, env=environment, capture_output=True, timeout=60, check=False).returncode

    words = here([*command_of(stage, "ENTRYPOINT"), *command_of(stage, "CMD")])
    with subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline().startswith("budgetprune: serving"), "the service did not start"
            yield check
        finally:
            process.terminate()


def main() -> int:
    """Run the steps; the exit status is 0 if all of them succeed."""
    build, final = stages((ROOT / "Dockerfile").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as name:
        folder, started = Path(name), time.monotonic()
        place = folder / "installed"
        copy_context(build, folder / "source")
        for command in arguments_of(build, "RUN"):
            if not command.startswith(_SYSTEM):
                own = command.replace(INSTALLED, str(place)).replace("python -m", f"{sys.executable} -m", 1)
                subprocess.run(own, shell=True, cwd=folder / "source", check=True)
        environment = {"PATH": f"{place / 'bin'}:/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1", "HOME": name}
        model = ROOT / "tests" / "golden" / "averaged-1.budgetprune"
        os.chdir(folder)
        with served(final, model, environment) as check:
            assert check() == 0, "the health check failed"
        assert check() != 0, "the health check succeeds without the service"
        size = sum(file.stat().st_size for file in place.rglob("*") if file.is_file())
        seconds = time.monotonic() - started
    print(f"installed {size / 2**20:.0f} MB in {seconds:.0f} s; the service answers its health check")
    return 0


if __name__ == "__main__":
    sys.exit(main())
