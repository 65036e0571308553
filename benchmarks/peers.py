"""Other people's libraries, each in an environment of its own, so that the product depends on none of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any, Self

HERE = Path(__file__).parent
CACHE = Path(os.environ.get("PARALLAX_VAR", HERE.parent / "var")) / "benchmarks"


def environment(peer: str) -> Path:
    """The interpreter of a peer's environment, which is made first if it is not there or its pins have changed."""
    pins = HERE / "peers" / f"{peer}.txt"
    folder = CACHE / "peers" / f"{peer}-{sha256(pins.read_bytes()).hexdigest()[:12]}"
    python = folder / "bin" / "python"
    if (folder / "ready").exists():
        return python
    print(f"Installing {peer} (once) …", file=sys.stderr)
    subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    # A line "# build: …" names what a package without a wheel is compiled with.
    build = [line.removeprefix("# build:").split() for line in pins.read_text().splitlines() if "# build:" in line]
    for packages in build:
        subprocess.run([*pip, *packages], check=True)
    subprocess.run([*pip, *(["--no-build-isolation"] if build else []), "-r", pins], check=True)
    (folder / "ready").touch()
    return python


class Peer:
    """A peer's process with the data loaded, doing one task at a time."""

    def __init__(self, name: str, data: Path, threads: int) -> None:
        limits = {key: str(threads) for key in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
        self._process = subprocess.Popen(
            [environment(name), HERE / "peers" / "pieces.py", data, str(threads)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, **limits},
        )
        self.name = name
        self.versions: dict[str, str] = self.do("hello")["versions"]

    def do(self, task: str) -> dict[str, Any]:
        """Have a task done and return what was measured."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{task}\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"{self.name} ended without an answer to {task}.")
        return dict(json.loads(answer))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
