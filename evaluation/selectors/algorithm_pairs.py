"""Pairs of algorithms: which one plus random and full ranking order differently, and how far their lists overlap."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from core import artefacts
from evaluation.enums import RunStatus
from evaluation.metrics.beyond_accuracy import overlap
from evaluation.metrics.list_values import mean_of_users
from evaluation.metrics.registry import metric as named_metric
from evaluation.models import EvaluationRun
from evaluation.selectors.results import model_rows
from evaluation.selectors.runs import metric_names

COUNTERPARTS = {"one-plus-random": "full-ranking", "full-ranking": "one-plus-random"}
SAME_INPUTS = ("version", "reserve", "seed")


@dataclass(frozen=True)
class Reversal:
    """Two algorithms, of which the first has the higher recall in this run and the lower recall in the other.

    `here` and `there` are their recalls.
    """

    first: str
    second: str
    here: tuple[float, float]
    there: tuple[float, float]


@dataclass(frozen=True)
class OrderComparison:
    """The comparison with the run by the other protocol on the same hidden ratings."""

    run: EvaluationRun
    n: int
    n_pairs: int
    reversals: tuple[Reversal, ...]


def order_comparison(run: EvaluationRun) -> OrderComparison | None:
    """Compare the order of algorithms by recall with that of the newest run by the other protocol.

    Both runs have the same dataset version, split, reserved users, seed and limit of relevance. None without such a run
    that has two algorithms and a list length in common with this one.
    """
    name = COUNTERPARTS.get(run.protocol["name"])
    if name is None or run.status != RunStatus.SUCCEEDED:
        return None
    same = {field: getattr(run, field) for field in SAME_INPUTS}
    candidates = EvaluationRun.objects.comparable_in(run.project_id).filter(
        status=RunStatus.SUCCEEDED, protocol__name=name, split__name=run.split["name"], **same
    )
    for counterpart in candidates.select_related("version__dataset").order_by("-pk"):
        if counterpart.split != run.split or counterpart.protocol["relevant"] != run.protocol["relevant"]:
            continue
        here, there = _recalls(run), _recalls(counterpart)
        lengths = sorted(set(here) & set(there), key=lambda n: (n != run.n, n))
        for n in lengths:
            pairs = [pair for pair in combinations(here[n], 2) if all(label in there[n] for label in pair)]
            if pairs:
                reversals = [_reversal(pair, here[n], there[n]) for pair in pairs]
                return OrderComparison(
                    counterpart, n, len(pairs), tuple(reversal for reversal in reversals if reversal is not None)
                )
    return None


def _reversal(pair: tuple[str, str], here: dict[str, float], there: dict[str, float]) -> Reversal | None:
    first, second = sorted(pair, key=lambda label: -here[label])
    if here[first] == here[second] or there[first] >= there[second]:
        return None
    return Reversal(first, second, (here[first], here[second]), (there[first], there[second]))


def _recalls(run: EvaluationRun) -> dict[int, dict[str, float]]:
    recalls: dict[int, dict[str, float]] = {}
    of_lists = {
        name: parsed.n for name in metric_names(run) if (parsed := named_metric(name)).key == "recall" and parsed.n
    }
    for row in model_rows(run):
        if run.protocol["name"] == "one-plus-random":
            values = dict(enumerate(row.cells["recall"].by_n, start=1))
        else:
            values = {n: row.cells[name].value for name, n in of_lists.items()}
        for n, value in values.items():
            if value is not None:
                recalls.setdefault(n, {})[row.label] = value
    return recalls


@dataclass(frozen=True)
class Overlap:
    """The mean share of the top n items that two algorithms have in common; None if all lists are empty."""

    first: str
    second: str
    n: int
    share: float | None


def overlaps(run: EvaluationRun, profile_length: int = 0) -> tuple[Overlap, ...]:
    """Return the overlap of all pairs of algorithms; empty if the protocol stores no lists."""
    lists = []
    for row in model_rows(run, profile_length):
        arrays = artefacts.load("results", row.users_digest).arrays
        if "list_items" not in arrays:
            return ()
        lists.append((row.label, np.asarray(arrays["list_items"])))
    return tuple(
        Overlap(first, second, run.n, mean_of_users(overlap(of_first, of_second, run.n)).value)
        for (first, of_first), (second, of_second) in combinations(lists, 2)
    )
