"""The results that a paper prints, as data."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import permutations, product
from pathlib import Path
from typing import Any

import yaml

from core.errors import ParallaxError
from inference.claim_estimates import Constant
from inference.claims import Pairs, Weights

FOLDER = Path(__file__).parent
TIERS = ("maximal", "intermediate", "minimal")
POSITIVE = Constant(math.nextafter(0, math.inf), math.inf)  # a difference of which the paper prints no size
TABLE_1_OF: Mapping[str, str] = {
    "perceived accuracy": "accuracy",
    "first-order novelty": "novelty",
    "second-order novelty": "novelty",
    "global satisfaction": "satisfaction",
}


@dataclass(frozen=True)
class Check:
    """A rule of `inference.claims`, with the quantities that it is about and its numbers."""

    rule: str
    quantities: tuple[str, ...]
    options: Mapping[str, Any]


@dataclass(frozen=True)
class Claim:
    """A statement of the paper: its section, its interpretation here, and the check that decides it.

    Without a check it is shown with the values of the quantity `shows`.
    """

    where: str
    says: str
    read_as: str
    names: tuple[str, ...]
    check: Check | None
    shows: str = ""


@dataclass(frozen=True)
class Published:
    """The paper's numbers; `table_1` has algorithms by variable and tier, `table_2` values by algorithm and metric.

    `printed` are the values in its text, by quantity and algorithm ("all" for every one, "" for a quantity of all
    participants), `pairs` the algorithms that the text sets above others, and `types` the kinds of algorithm.
    """

    key: str
    source: str
    algorithms: tuple[str, ...]
    types: Mapping[str, str]
    table_1: Mapping[str, Mapping[str, tuple[str, ...]]]
    table_2: Mapping[str, Mapping[str, float]]
    printed: Mapping[str, Mapping[str, Any]]
    pairs: Mapping[str, Mapping[str, tuple[str, ...]]]
    claims: tuple[Claim, ...]
    conditions: Mapping[str, Any]
    slips: tuple[str, ...]


class PaperEvidence:
    """A paper's printed values and its own separated pairs, as `inference.claims.Evidence`.

    A column of Table 1 has every maximal algorithm above every minimal one. This follows by transitivity where the
    column has one maximal algorithm, and is the reading of the others. By a metric of Table 2 every two different
    values are separated: they rest on tens of thousands of cases.
    """

    alpha = 0.05

    def __init__(self, paper: Published) -> None:
        self._paper = paper

    def value(self, quantity: str, name: str) -> float | None:
        """A printed value."""
        estimate = self.contrast(quantity, {name: 1.0})
        return None if estimate is None else estimate.value

    def contrast(self, quantity: str, weights: Weights) -> Constant | None:
        """A printed value or range, a difference of printed values, or a difference that the paper calls positive."""
        values = [self._paper.table_2.get(name, {}).get(quantity) for name in weights]
        known = [value for value in values if value is not None]
        if len(known) == len(weights):
            total = sum(weight * value for weight, value in zip(weights.values(), known, strict=True))
            return Constant(total, total)
        if len(weights) > 1:
            tiers = self._paper.table_1.get(TABLE_1_OF.get(quantity, ""), {})
            higher, lower = ({name for name, weight in weights.items() if sign * weight > 0} for sign in (1, -1))
            return POSITIVE if tiers and (higher, lower) == (set(tiers["maximal"]), set(tiers["minimal"])) else None
        (name,) = weights
        of_names = self._paper.printed.get(quantity, {})
        printed = of_names.get(name, of_names.get("all"))
        if printed is None or printed == "positive":
            return POSITIVE if printed else None
        return Constant(*printed) if isinstance(printed, list) else Constant(printed, printed)

    def pairs(self, quantity: str) -> Pairs | None:
        """The pairs that the paper separates."""
        if quantity in self._paper.pairs:
            return {(a, b) for a, rest in self._paper.pairs[quantity].items() for b in rest}
        if quantity in TABLE_1_OF:
            tiers = self._paper.table_1[TABLE_1_OF[quantity]]
            return set(product(tiers["maximal"], tiers["minimal"]))
        values = {name: row[quantity] for name, row in self._paper.table_2.items() if quantity in row}
        return {(a, b) for a, b in permutations(values, 2) if values[a] > values[b]} or None

    def is_lower_better(self, quantity: str) -> bool:
        """Whether it is fallout."""
        return quantity == "fallout"


def papers() -> tuple[str, ...]:
    """The papers that can be replicated."""
    return tuple(sorted(file.stem for file in FOLDER.glob("*.yaml")))


@cache
def published(key: str) -> Published:
    """Read a paper's numbers; raises `replicate.unknown_paper`."""
    if key not in papers():
        raise ParallaxError("replicate.unknown_paper", f"Unknown paper {key!r}. Choose one of: {', '.join(papers())}.")
    document = yaml.safe_load((FOLDER / f"{key}.yaml").read_text(encoding="utf-8"))
    return Published(
        key=key,
        source=document["source"].strip(),
        algorithms=tuple(document["algorithms"]),
        table_1={
            variable: {tier: tuple(names[tier]) for tier in TIERS} for variable, names in document["table_1"].items()
        },
        table_2=document["table_2"],
        types=document["types"],
        printed=document["printed"],
        pairs=document["pairs"],
        claims=tuple(_claim(claim, document["algorithms"]) for claim in document["claims"]),
        conditions=document["conditions"],
        slips=tuple(slip.strip() for slip in document["slips"]),
    )


def _claim(claim: Mapping[str, Any], algorithms: Sequence[str]) -> Claim:
    check, options = None, dict(claim.get("check", {}))
    names = tuple(options.pop("algorithms", algorithms))
    if options:
        of = options.pop("of")
        check = Check(options.pop("rule"), tuple(of if isinstance(of, list) else [of]), options)
    return Claim(claim["where"], claim["says"], claim.get("read_as", ""), names, check, claim.get("shows", ""))
