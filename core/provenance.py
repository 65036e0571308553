"""Provenance: canonical JSON, digests, versions, and seeds derived by name."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

CODE_VERSION = "1.0.0"  # the only place of the version; see docs/explanation/versions.md
ROOT = Path(__file__).resolve().parents[1]
ELSEWHERE = {"tests", "docs", "benchmarks"}  # folders of code that is no part of the product
LIBRARIES = ("django", "celery", "numpy", "scipy", "pandas", "vl-convert-python")


def canonical_json(value: Any) -> str:
    """JSON with sorted keys and no extra whitespace, so that equal values have equal text. Raises ValueError for NaN or
    an infinity, which JSON cannot represent.

    Examples
    --------
    >>> canonical_json({"b": 1, "a": [1.5, None]})
    '{"a":[1.5,null],"b":1}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest_of(value: Any) -> str:
    """SHA-256, in hex, of the value's canonical JSON."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()


def digest_of_token(text: str) -> str:
    """The stored digest of a token; a long random token needs only one round of SHA-256."""
    return hashlib.sha256(text.encode()).hexdigest()


def digest_of_arrays(arrays: Mapping[str, np.ndarray[Any, Any]]) -> str:
    """SHA-256, in hex, over names, types, shapes and bytes of the arrays, in the order of their names."""
    whole = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        whole.update(canonical_json([name, array.dtype.str, list(array.shape)]).encode())
        whole.update(array.reshape(-1).view(np.uint8).data)
    return whole.hexdigest()


def derived_seed(seed: int, *names: str | int) -> int:
    """A 63-bit seed for the stream that `names` name; the order of other draws does not matter.

    Examples
    --------
    >>> derived_seed(1, "split") == derived_seed(1, "split") != derived_seed(1, "train")
    True
    """
    text = canonical_json([seed, *names])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1


def rng_for(seed: int, *names: str | int) -> np.random.Generator:
    """A generator of its own for the stream that `names` name."""
    return np.random.Generator(np.random.PCG64(derived_seed(seed, *names)))


@cache
def versions() -> dict[str, str]:
    """Versions of the code, of Python and of the libraries that numbers depend on."""
    libraries = {name: metadata.version(name) for name in LIBRARIES}
    return {"parallax": CODE_VERSION, "python": platform.python_version(), **libraries}


def current_code_digest() -> str:
    """SHA-256, in hex, over names and contents of the Python files of the product as they are on the disk now."""
    whole = hashlib.sha256()
    packages = sorted(file.parent for file in ROOT.glob("*/__init__.py") if file.parent.name not in ELSEWHERE)
    for package in packages:
        for file in sorted(package.rglob("*.py")):
            whole.update(file.relative_to(ROOT).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return whole.hexdigest()


@cache
def code_digest() -> str:
    """The digest at the first call: at the start of a process, the code that it runs."""
    return current_code_digest()
