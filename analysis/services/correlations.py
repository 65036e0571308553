"""How the variables go together: over all participants, inside conditions, and between the conditions' means."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from analysis.enums import Variable
from analysis.selectors.inputs import Answers
from analysis.services.perceived import groups_of
from analysis.services.rankings import told
from inference.correlation import between_conditions, over_all, within_conditions, within_each

FIRST = ("fon", "son")  # the pair that readers look for


def correlations_of(answers: Answers, variables: Sequence[Variable]) -> list[dict[str, Any]]:
    """Every pair of variables, both orders of novelty first.

    Within conditions the conditions' own means are taken off; between them each condition counts once.
    """
    groups = {variable.key: groups_of(answers, variable) for variable in variables}
    pairs = sorted(combinations(groups, 2), key=lambda pair: pair != FIRST)
    found = []
    for a, b in pairs:
        x, y = groups[a], groups[b]
        found.append(
            {
                "a": a,
                "b": b,
                "overall": told(over_all(x, y)),
                "within": told(within_conditions(x, y)),
                "between": told(between_conditions(x, y)),
                "by_condition": [{"condition": name, **told(one)} for name, one in within_each(x, y).items()],
            }
        )
    return found
