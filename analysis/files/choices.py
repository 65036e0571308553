"""What a reader can choose on the pages of a report: measures, metrics, profile lengths and algorithms."""

from __future__ import annotations

from dataclasses import dataclass

from analysis.present.words import length_words
from analysis.results.report import Results
from evaluation.reported_kinds import kind_name

Choice = tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class Choices:
    """Pairs of key and name; `alpha` is the level of the tests."""

    measures: tuple[Choice, ...]
    metrics: tuple[Choice, ...]
    lengths: tuple[Choice, ...]
    algorithms: tuple[str, ...]
    alpha: float


def choices_of(results: Results) -> Choices:
    """The choices of a report: what its comparisons hold."""
    compared = results.comparisons
    keys = dict.fromkeys(comparison.variable_key for comparison in compared)
    names = {comparison.variable_key: comparison.variable.name for comparison in compared}
    lengths = sorted({comparison.profile_length for comparison in compared})
    return Choices(
        measures=tuple((key, names[key]) for key in keys),
        metrics=tuple((kind, kind_name(kind)) for kind in dict.fromkeys(pair.kind for pair in compared)),
        lengths=tuple((str(length), length_words(length).removeprefix("with ").capitalize()) for length in lengths),
        algorithms=tuple(condition.label for condition in results.conditions),
        alpha=compared[0].alpha if compared else 0.05,
    )
