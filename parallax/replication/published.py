"""The results that a paper prints, as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from core.errors import ParallaxError

FOLDER = Path(__file__).parent
TIERS = ("maximal", "intermediate", "minimal")


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
