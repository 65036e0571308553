"""Memory check before a fit: the estimated need against what the machine or its container has available."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
from django.conf import settings

from core.errors import ParallaxError
from recommenders import registry
from recommenders.base import Algorithm
from recommenders.data import ItemFeatures, Ratings
from recommenders.parameters import Parameters

PROC = Path("/proc/self/cgroup")
CGROUPS = Path("/sys/fs/cgroup")
UNLIMITED = 1 << 60  # version 1 writes "no limit" as a number near 2^63
GB = 1024**3
MB = 1024**2


def available_bytes() -> int:
    """Return the memory a fit may use: the minimum of machine, container limit and the MEMORY_LIMIT setting."""
    return min(filter(None, (psutil.virtual_memory().available, container_bytes(), settings.MEMORY_LIMIT)))


def container_bytes() -> int | None:
    """Return the memory left by the control groups of this process, page cache excluded; None without a limit."""
    left = [limit - used for limit, used in _group_limits() if limit < UNLIMITED]
    return max(1, min(left)) if left else None


def _group_limits() -> Iterator[tuple[int, int]]:
    """Yield limit and usage of each control group of this process (v1 and v2), up to the root."""
    lines = PROC.read_text().splitlines() if PROC.exists() else []
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            root, names = CGROUPS, ("memory.max", "memory.current", "inactive_file")
        elif "memory" in controllers.split(","):
            root = CGROUPS / "memory"
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        else:
            continue
        # Inside a container the path may be the host's, of which only the root is visible.
        group = root / path.lstrip("/")
        for folder in dict.fromkeys((group, *group.parents)):
            if folder.is_relative_to(root) and (limit := _limit(folder, *names)) is not None:
                yield limit


def _limit(folder: Path, limit_name: str, used_name: str, cache_name: str) -> tuple[int, int] | None:
    try:
        limit, used = (folder / limit_name).read_text().strip(), int((folder / used_name).read_text())
        facts = dict(line.split(" ", 1) for line in (folder / "memory.stat").read_text().splitlines())
    except (OSError, ValueError):
        return None
    return None if limit == "max" else (int(limit), used - int(facts.get(cache_name, 0)))


def needed_bytes(*, kind: type[Algorithm], params: Parameters, ratings: Ratings, features: ItemFeatures | None) -> int:
    """Estimate the memory needed to fit an algorithm on these data."""
    return kind.fit_bytes(
        ratings.n_users,
        ratings.n_items,
        ratings.n_ratings,
        params,
        n_terms=features.item_terms.shape[1] if features is not None else 0,
        n_item_terms=features.item_terms.nnz if features is not None else 0,
    )


def check_memory(*, algorithm: str, params: Mapping[str, Any], ratings: Ratings, features: ItemFeatures | None) -> None:
    """Refuse a fit that would not fit into memory. Raises ParallaxError with code ``model.too_large``: the estimate,
    what is available, and what to do.
    """
    kind, chosen = registry.algorithm(algorithm), registry.params_of(algorithm, params)
    needed = needed_bytes(kind=kind, params=chosen, ratings=ratings, features=features)
    available = available_bytes()
    if needed <= available:
        return
    alternatives: dict[str, str] = {}
    for name, value in _smaller(chosen):
        smaller = needed_bytes(kind=kind, params=replace(chosen, **{name: value}), ratings=ratings, features=features)
        if smaller <= available and name not in alternatives:
            alternatives[name] = f"{name}={value} (about {in_words(smaller)})"
    advice = "No smaller value of its parameters fits. "
    if alternatives:
        advice = f"It would fit with {' or '.join(alternatives.values())}. "
    limit = " (setting PARALLAX_MEMORY_LIMIT)" if available == settings.MEMORY_LIMIT else ""
    raise ParallaxError(
        "model.too_large",
        f"{kind.label(chosen)} on {ratings.n_users:,} users and {ratings.n_items:,} items would need about "
        f"{in_words(needed)} of memory during the fit, and {in_words(available)} are available here{limit}. "
        f"{advice}Otherwise use a machine with more memory, or fewer items.",
        {"needed_bytes": needed, "available_bytes": available, "algorithm": algorithm},
    )


def _smaller(params: Parameters) -> Iterator[tuple[str, Any]]:
    """Yield smaller values of the parameters that determine memory, the least reduction first."""
    for info in params.described():
        value = getattr(params, info.name)
        if info.name == "neighbourhood" and value != "item":
            yield info.name, "item"
        if info.name in ("factors", "classes"):
            while (value := value // 2) >= 1:
                yield info.name, value


def in_words(n_bytes: int) -> str:
    """Format a number of bytes.

    >>> in_words(3 * 1024**3)
    '3.0 GB'
    """
    return f"{n_bytes / GB:,.1f} GB" if n_bytes >= GB else f"{max(1, round(n_bytes / MB)):,} MB"
