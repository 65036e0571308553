"""The results that a paper prints, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from core.errors import ParallaxError

FOLDER = Path(__file__).parent
TIERS = ("maximal", "intermediate", "minimal")


@dataclass(frozen=True)
class Claim:
    """A statement of the paper: its section, its interpretation here, and the check that decides it."""

    where: str
    says: str
    read_as: str
    check: Mapping[str, Any]


@dataclass(frozen=True)
class Published:
    """The paper's numbers; `table_1` has algorithms by variable and tier, `table_2` values by algorithm and metric."""

    key: str
    source: str
    algorithms: tuple[str, ...]
    table_1: Mapping[str, Mapping[str, tuple[str, ...]]]
    table_2: Mapping[str, Mapping[str, float]]
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
        claims=tuple(
            Claim(claim["where"], claim["says"], claim.get("read_as", ""), claim["check"])
            for claim in document["claims"]
        ),
        conditions=document["conditions"],
        slips=tuple(slip.strip() for slip in document["slips"]),
    )
