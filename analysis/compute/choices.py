"""What participants picked of their lists, by condition."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean

from analysis.read.responses import Reading
from analysis.results.choices import ChoicesOfCondition
from inference.power import wilson
from studies.participation.selectors.choices import Chosen


def choices_by_condition(reading: Reading, choices: Mapping[int, Chosen]) -> tuple[ChoicesOfCondition, ...]:
    """Describe the choices of the analysed participants; empty in studies without a choice."""
    picks: dict[str, list[Chosen]] = {name: [] for name in reading.analysed.conditions}
    for person, key in zip(reading.analysed.people, reading.keys, strict=True):
        if key in choices:
            picks[person.condition].append(choices[key])
    return tuple(_described(name, own) for name, own in picks.items()) if choices else ()


def _described(condition: str, choices: list[Chosen]) -> ChoicesOfCondition:
    n, picked = len(choices), [each for each in choices if each.rank is not None and each.popularity is not None]
    limits = wilson(len(picked), n) if n else None
    return ChoicesOfCondition(
        condition=condition,
        n=n,
        n_chosen=len(picked),
        share=len(picked) / n if n else None,
        low=limits.low if limits else None,
        high=limits.high if limits else None,
        rank=fmean(each.rank or 0 for each in picked) if picked else None,
        popularity=fmean(each.popularity or 0 for each in picked) if picked else None,
    )
