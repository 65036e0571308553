"""Algorithms: formula, source, parameters and cost, from the registry."""

from __future__ import annotations

import inspect
import re
from typing import Any

from core.errors import ParameterError
from recommenders import registry
from recommenders.base import Algorithm
from recommenders.parameters import ParameterInfo
from reference.markdown import autodoc, code, table

# Users, items and ratings of MovieLens 1M and 20M, for the estimates of memory.
SIZES = {"MovieLens 1M": (6_040, 3_706, 1_000_209), "MovieLens 20M": (138_493, 26_744, 20_000_263)}


def entries() -> str:
    """Every algorithm by family, with the text of its class."""
    parts = []
    for family, keys in registry.families().items():
        parts.append(f"## {family}")
        parts += [_entry(registry.algorithm(key)) for key in keys]
    return "\n\n".join(parts)


def documented(algorithm: type[Algorithm]) -> type[Algorithm]:
    """The class whose docstring describes an algorithm: its own, or that of the class that it only completes."""
    return algorithm.__mro__[1] if algorithm.__name__.startswith("_") else algorithm


def _entry(algorithm: type[Algorithm]) -> str:
    infos = algorithm.Params.described()
    scores = "predicted ratings" if algorithm.score_kind == "rating" else "an order only"
    facts = [f"Scores are {scores}.", "It can explain its recommendations." if algorithm.explains else ""]
    if algorithm.needs_features:
        facts.append("It needs item features.")
    described = documented(algorithm)
    text = described.__doc__ or ""
    if registry.package_of(algorithm.key) is None and not (re.search("Source|References", text) and "Cost: " in text):
        raise ValueError(f"The docstring of {algorithm.key} lacks its source or its cost.")
    parts = [
        f"### {algorithm.title} — `{algorithm.key}`",
        autodoc(f"autoclass:: {described.__module__}.{described.__qualname__}", ":no-index:"),
        " ".join(filter(None, facts)),
    ]
    if infos:
        rows = [(code(info.name), code(str(info.default)), allowed_values(info), info.description) for info in infos]
        parts.append(table(("parameter", "default", "values", "meaning"), rows))
    return "\n\n".join([*parts, _memory(algorithm)])


def allowed_values(info: ParameterInfo) -> str:
    """The values that a parameter or option may have; empty if any."""
    if info.choices:
        return ", ".join(map(code, info.choices))
    if info.minimum is not None and info.maximum is not None:
        return f"{info.minimum:g} to {info.maximum:g}"
    if info.minimum is not None:
        return f"at least {info.minimum:g}"
    return {"bool": "true or false"}.get(info.type.__name__, "")


def _memory(algorithm: type[Algorithm]) -> str:
    what = inspect.cleandoc(algorithm.fit_bytes.__doc__ or "").split("\n\n")[0].replace("\n", " ")
    estimates = [f"{_bytes(algorithm, size)} on {name}" for name, size in SIZES.items() if _bytes(algorithm, size)]
    return f"Memory of a fit: {what} Estimate with default parameters: {', '.join(estimates)}." if estimates else ""


def _bytes(algorithm: type[Algorithm], size: tuple[int, int, int]) -> str:
    params: Any = algorithm.Params()
    try:
        n_bytes = algorithm.fit_bytes(*size, params, n_terms=size[1], n_item_terms=20 * size[1])
    except ParameterError:
        return ""
    return f"{n_bytes / 1e9:.2g} GB" if n_bytes >= 1e9 else f"{max(1, round(n_bytes / 1e6)):,} MB"
