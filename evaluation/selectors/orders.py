"""Where one plus random and full ranking order the algorithms of a run differently."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

from evaluation.enums import RunStatus
from evaluation.metrics.registry import metric as named_metric
from evaluation.models import EvaluationRun
from evaluation.selectors.results import model_rows
from evaluation.selectors.runs import metric_names

OTHER = {"one-plus-random": "full-ranking", "full-ranking": "one-plus-random"}
SAME_INPUTS = ("version", "reserve", "seed")


@dataclass(frozen=True)
class Turned:
    """Two algorithms, the first of which has the higher recall in this run and the lower in the other.

    `here` and `there` are their recalls.
    """

    first: str
    second: str
    here: tuple[float, float]
    there: tuple[float, float]


@dataclass(frozen=True)
class OtherOrder:
    """A run beside the run by the other protocol on the same hidden ratings."""

    other: EvaluationRun
    n: int
    n_pairs: int
    turned: tuple[Turned, ...]


def other_order(run: EvaluationRun) -> OtherOrder | None:
    """Compare the order of algorithms by recall with that of the newest run by the other protocol.

    The two have the same dataset version, split, reserved users, seed and limit of what is relevant. None where there
    is no such run, or it has not two algorithms, or no list length, in common with this one.
    """
    name = OTHER.get(run.protocol["name"])
    if name is None or run.status != RunStatus.SUCCEEDED:
        return None
    same = {field: getattr(run, field) for field in SAME_INPUTS}
    found = EvaluationRun.objects.filter(
        status=RunStatus.SUCCEEDED, protocol__name=name, split__name=run.split["name"], **same
    )
    for other in found.select_related("version__dataset").order_by("-pk"):
        if other.split != run.split or other.protocol["relevant"] != run.protocol["relevant"]:
            continue
        here, there = _recalls(run), _recalls(other)
        lengths = sorted(set(here) & set(there), key=lambda n: (n != run.n, n))
        for n in lengths:
            pairs = [pair for pair in combinations(here[n], 2) if all(one in there[n] for one in pair)]
            if pairs:
                turned = [_turned(pair, here[n], there[n]) for pair in pairs]
                return OtherOrder(other, n, len(pairs), tuple(one for one in turned if one is not None))
    return None


def _turned(pair: tuple[str, str], here: dict[str, float], there: dict[str, float]) -> Turned | None:
    first, second = sorted(pair, key=lambda label: -here[label])
    if here[first] == here[second] or there[first] >= there[second]:
        return None
    return Turned(first, second, (here[first], here[second]), (there[first], there[second]))


def _recalls(run: EvaluationRun) -> dict[int, dict[str, float]]:
    """Recall of each algorithm by list length, as far as the run measured it."""
    found: dict[int, dict[str, float]] = {}
    of_lists = {name: one.n for name in metric_names(run) if (one := named_metric(name)).key == "recall" and one.n}
    for row in model_rows(run):
        if run.protocol["name"] == "one-plus-random":
            values = dict(enumerate(row.cells["recall"].by_n, start=1))
        else:
            values = {n: row.cells[name].value for name, n in of_lists.items()}
        for n, value in values.items():
            if value is not None:
                found.setdefault(n, {})[row.label] = value
    return found
