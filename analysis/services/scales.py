"""Scales of the questionnaire: how well each hangs together, and its means by condition."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from analysis.selectors.inputs import Answers, ScaleAnswers
from analysis.services.rankings import told
from inference.anova import one_way
from inference.descriptive import describe
from inference.reliability import cronbach_alpha

LEAST_N = 2
OUTSIDE = 0.05  # of an interval of reliability, which describes and tests nothing


def study_scale(answers: Answers, scale: ScaleAnswers, planned: Sequence[str] = ()) -> dict[str, Any]:
    """Describe one scale: alpha over all participants, means by condition, one analysis of variance."""
    groups: dict[str, list[Fraction]] = {name: [] for name in answers.conditions}
    for condition, score, _given in scale.rows:
        if score is not None:
            groups[condition].append(Fraction(score))
    table = [[None if one is None else Fraction(one) for one in given] for _condition, _score, given in scale.rows]
    described = describe(groups)
    return {
        "key": scale.key,
        "is_planned": scale.key in planned,
        "name": scale.name,
        "low": scale.low,
        "high": scale.high,
        "questions": list(scale.questions),
        "n_scored": sum(map(len, groups.values())),
        "n": len(scale.rows),
        "conditions": list(groups),
        "reliability": told(cronbach_alpha(table, OUTSIDE)),
        "described": described.as_dict(),
        "anova": told(one_way(groups, least_n=LEAST_N)),
    }
