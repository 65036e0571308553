"""Definitions of the areas of curves, and of what lists are like apart from being right."""

from __future__ import annotations

import math

from evaluation.metrics.definition import Choice, Definition
from evaluation.metrics.list_definitions import NO_RELEVANT

_UNTIL = Choice("until", 1.0, "False-alarm rate up to which the area counts.", low=0.0, high=1.0, is_open=True)
_SCALE = Choice(
    "scale",
    "raw",
    "The area itself, or mapped so that chance is .5 and perfection 1 (McClish 1989).",
    words=("raw", "standardised"),
)

CURVES = (
    Definition(
        key="average-precision",
        title="Area under the pooled precision-recall curve",
        group="curve",
        formula=r"\sum_k (r_k - r_{k-1}) P_k",
        needs_n=False,
        empty="No value without a relevant pair.",
        tasks=("some",),
        why="one list of all pairs; average precision, not a trapezoid, which would be too kind. Needs scores that "
        "compare across people.",
        has_user_values=False,
    ),
    Definition(
        key="precision-recall-11",
        title="Mean of 11-point interpolated precision",
        group="curve",
        formula=r"\frac{1}{11} \sum_{l=0}^{10} \max_{r_k \ge l/10} P_k",
        needs_n=False,
        empty=NO_RELEVANT,
        tasks=("all",),
        why="each person's own curve, averaged over people at eleven recalls, as TREC does.",
    ),
    Definition(
        key="roc-area",
        title="Area under each person's ROC (Swets' A)",
        group="curve",
        formula=r"\Pr(s^+ > s^-) + \tfrac12 \Pr(s^+ = s^-)",
        options=(_UNTIL, _SCALE),
        needs_n=False,
        empty="A user whose test items are all good, or all not, has no value.",
        tasks=("some", "all"),
        why="how often a good item stands above another one of the same person.",
    ),
    Definition(
        key="groc-area",
        title="Area under the global ROC (GROC)",
        group="curve",
        formula=r"\Pr(s^+ > s^-) + \tfrac12 \Pr(s^+ = s^-)",
        options=(_UNTIL, _SCALE),
        needs_n=False,
        empty="No value where all pairs are good, or all not.",
        tasks=("some", "all"),
        why="one list of all pairs, as if recommendations were not shared out among people: it rewards "
        "recommending more to those who like more. Needs scores that compare across people.",
        has_user_values=False,
    ),
    Definition(
        key="croc-area",
        title="Area under the customer ROC (CROC)",
        group="curve",
        formula=r"\sum_k \tfrac12 (h_k + h_{k-1}) (f_k - f_{k-1})",
        options=(_UNTIL, _SCALE),
        needs_n=False,
        empty="No value where all pairs are good, or all not.",
        tasks=("some", "all"),
        why="the same number of recommendations for everyone; compare it with the omniscient and the random line, "
        "as neither has area 1 or .5 in general.",
        has_user_values=False,
    ),
)

BEYOND_ACCURACY = (
    Definition(
        key="catalogue-coverage",
        title="Catalogue coverage",
        group="beyond accuracy",
        formula=r"|\bigcup_u L_u| / |I|",
        empty="No value without a catalogue.",
        tasks=(),
        why="the share of items that anyone is recommended; grows with the number of users.",
        has_user_values=False,
    ),
    Definition(
        key="gini",
        title="Gini index of exposure",
        group="beyond accuracy",
        formula=r"\frac{\sum_i (2 i - |I| - 1) e_{(i)}}{|I| \sum_i e_i}",
        direction="neither",
        empty="No value where nothing is recommended.",
        tasks=(),
        why="0 where all items are recommended equally often, close to 1 where a few are.",
        has_user_values=False,
    ),
    Definition(
        key="novelty",
        title="Novelty",
        group="beyond accuracy",
        formula=r"-\frac{1}{|L_u|} \sum_{i \in L_u} \log_2 p_i",
        direction="neither",
        high=math.inf,
        empty="Items nobody rated in training have no popularity and do not count; no value where none is left.",
        tasks=(),
        why="mean self-information of the items, in bits; p is the share of training users who rated the item.",
    ),
    Definition(
        key="diversity",
        title="Intra-list diversity",
        group="beyond accuracy",
        formula=r"1 - \frac{2}{n (n - 1)} \sum_{i < j} \cos(x_i, x_j)",
        direction="neither",
        empty="Items without features do not count; no value with fewer than two others.",
        tasks=(),
        why="how unlike each other the items of one list are, by their features.",
    ),
    Definition(
        key="overlap",
        title="Overlap of two lists",
        group="beyond accuracy",
        formula=r"|A_u \cap B_u| / n",
        direction="neither",
        empty="No value for a user both of whose lists are empty.",
        tasks=(),
        why="how much of the list two algorithms share. A run of full ranking measures it of every pair of its "
        "algorithms; it is not asked for by name.",
        is_of_pairs=True,
    ),
)
