"""Splits: what each hides and takes for granted, with its options, from the registry."""

from __future__ import annotations

from evaluation.splitting.registry import SPLITS, SplitKind
from reference.algorithms import allowed_values
from reference.markdown import code, table

HEADS = ("name", "title", "hidden", "takes for granted", "options", "times needed by default", "models per algorithm")


def entries() -> str:
    """A table of all splits."""
    return table(HEADS, map(_row, SPLITS.values()))


def _row(kind: SplitKind) -> tuple[str, ...]:
    options = []
    for info in kind.options.described():
        facts = [allowed_values(info), f"default {'none' if info.default == '' else info.default}"]
        options.append(f"{code(info.name)} ({'; '.join(filter(None, facts))}): {info.description}")
    needs_times = "yes" if kind.needs_times(kind.options()) else "no"
    n_models = "many" if kind.trains_many else "one"
    return code(kind.key), kind.title, kind.hides, kind.assumes, " ".join(options), needs_times, n_models
