"""How the variables go together: over all participants, inside conditions, and between the conditions' means."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from analysis.enums import Variable, described_in_results
from analysis.selectors.inputs import Answers
from analysis.services.perceived import paired_groups
from analysis.services.rankings import told
from inference.correlation import between_conditions, over_all, within_conditions, within_each

FIRST = ("fon", "son")  # the pair that readers look for


def correlations_of(answers: Answers, variables: Sequence[Variable]) -> list[dict[str, Any]]:
    """Every pair of variables, both orders of novelty first.

    Within conditions the conditions' own means are taken off; between them each condition counts once. Who has only
    one of the two is left out of the pair.
    """
    pairs = sorted(combinations(variables, 2), key=lambda pair: (pair[0].key, pair[1].key) != FIRST)
    found = []
    for a, b in pairs:
        x, y = paired_groups(answers, a, b)
        found.append(
            {
                "a": a.key,
                "b": b.key,
                **described_in_results(a, b),
                "overall": told(over_all(x, y)),
                "within": told(within_conditions(x, y)),
                "between": told(between_conditions(x, y)),
                "by_condition": [{"condition": name, **told(one)} for name, one in within_each(x, y).items()],
            }
        )
    return found
