"""Definitions of the metrics of lists of n: of hits in one-plus-random, and of one list a user."""

from __future__ import annotations

import math

from evaluation.metrics.definition import Choice, Definition

NO_RELEVANT = "A user without a relevant item has no value."
_TIES = Choice(
    "ties",
    "expected",
    "How a tied item counts: by its probability over a random order, or as the worst or best place.",
    words=("expected", "worst", "best"),
    is_printed=False,
)
_G = Choice("g", None, "Generality; not stated: the share of relevant cases.", low=0.0, high=1.0, is_printed=False)
_GAIN = Choice("gain", "linear", "Gain of a relevance s: s, or 2^s - 1.", words=("linear", "exponential"))

HITS = (
    Definition(
        key="recall",
        title="Recall",
        group="list",
        formula=r"\frac{1}{|T^+|} \sum_{(u,i) \in T^+} h(u,i)",
        options=(_TIES,),
        empty="No value without a relevant case; a user without one has no value of their own.",
        tasks=("some", "all"),
        why="how often an item the person likes reaches the list. In one-plus-random each case has a list of its "
        "own; with one list a user it is the mean over users of the share of their relevant items in the list.",
    ),
    Definition(
        key="fallout",
        title="Fallout",
        group="list",
        formula=r"\frac{1}{|T^-|} \sum_{(u,i) \in T^-} h(u,i)",
        options=(_TIES,),
        direction="lower",
        empty="No value without an irrelevant case; a user without one has no value of their own.",
        tasks=("some",),
        why="how often an item the person dislikes reaches the list.",
    ),
    Definition(
        key="precision-raghavan",
        title="Precision (Raghavan)",
        group="list",
        formula=r"\frac{r g}{r g + f (1 - g)}",
        options=(_G, _TIES),
        empty="No value where recall or fallout has none, or where nothing was retrieved (0/0).",
        tasks=("some",),
        why="recall and fallout in one number, given the generality g. It is not the precision of the list, and "
        "close to 1 where g is.",
        has_user_values=False,
    ),
    Definition(
        key="f",
        title="F",
        group="list",
        formula=r"\frac{2 P r}{P + r}",
        options=(_G, _TIES),
        empty="No value where recall or fallout has none; 0 where nothing was retrieved.",
        tasks=("some",),
        why="P is that of Raghavan; where it is close to 1, F is about 2r/(1 + r) and repeats recall, so the two "
        "count as one metric in comparisons.",
        has_user_values=False,
    ),
)

LISTS = (
    Definition(
        key="precision",
        title="Precision",
        group="list",
        formula=r"\frac{1}{n} \sum_{j=1}^{n} \mathrm{rel}_j",
        empty=f"{NO_RELEVANT} A list shorter than n is divided by n all the same.",
        tasks=("some",),
        why="the share of the list that is good, where the list has a fixed length.",
    ),
    Definition(
        key="f-beta",
        title="F of precision and recall",
        group="list",
        formula=r"\frac{(1 + \beta^2) P r}{\beta^2 P + r}",
        options=(
            Choice("beta", 1.0, "Weight of recall against precision.", low=0.0, is_open=True),
            Choice("of", "users", "Mean of users' F, or F of the means.", words=("users", "means")),
        ),
        empty=f"{NO_RELEVANT} 0 where precision and recall are both 0.",
        tasks=("some", "all"),
        why="one number for both; choose beta by what the task asks of the list. F1 has beta = 1.",
    ),
    Definition(
        key="hit-rate",
        title="Hit rate",
        group="list",
        formula=r"[\exists j \le n: \mathrm{rel}_j = 1]",
        empty=NO_RELEVANT,
        tasks=("some",),
        why="whether the list holds anything good at all.",
    ),
    Definition(
        key="ap",
        title="Average precision (mean: MAP)",
        group="list",
        formula=r"\frac{1}{m} \sum_{j=1}^{n} \mathrm{rel}_j P_j",
        options=(
            Choice(
                "over",
                "relevant",
                "m: all relevant items (as trec_eval), at most n of them, or those in the list.",
                words=("relevant", "capped", "retrieved"),
            ),
        ),
        empty=f"{NO_RELEVANT} 0 without a hit.",
        tasks=("all",),
        why="good items count more the earlier they stand, and (over all relevant) each that is missing costs.",
    ),
    Definition(
        key="rr",
        title="Reciprocal rank (mean: MRR)",
        group="list",
        formula=r"1 / \min \{j \le n: \mathrm{rel}_j = 1\}",
        empty=f"{NO_RELEVANT} 0 without a hit.",
        tasks=("some",),
        why="how far a person reads to the first good item; what follows does not count.",
    ),
    Definition(
        key="dcg",
        title="Discounted cumulative gain",
        group="list",
        formula=r"\sum_{j=1}^{n} \frac{g_j}{\log_2 (j + 1)}",
        options=(_GAIN,),
        empty=NO_RELEVANT,
        high=math.inf,
        tasks=("some", "utility"),
        why="graded gain, discounted by place. Not comparable between users with different numbers of good items.",
    ),
    Definition(
        key="ndcg",
        title="Normalised discounted cumulative gain",
        group="list",
        formula=r"\mathrm{DCG}_n / \mathrm{DCG}_n^{\mathrm{ideal}}",
        options=(_GAIN,),
        empty=NO_RELEVANT,
        tasks=("some", "all"),
        why="graded gain, discounted by place, as a share of what the best list would have.",
    ),
    Definition(
        key="utility",
        title="Utility of the list",
        group="list",
        formula=r"\sum_{j=1}^{n} u_j",
        empty="A user without an item of positive utility has no value.",
        high=math.inf,
        tasks=("utility",),
        why="what a list of fixed length brings, in the unit of the utility, where all of it is seen.",
    ),
    Definition(
        key="fpr",
        title="False-positive rate",
        group="list",
        formula=r"\frac{FP}{FP + TN}",
        direction="lower",
        empty=f"{NO_RELEVANT} Nor has one without an irrelevant candidate.",
        tasks=("some",),
        why="the share of what the person does not want that is put before them.",
    ),
    Definition(
        key="fdr",
        title="False discovery rate",
        group="list",
        formula=r"\frac{FP}{TP + FP}",
        direction="lower",
        empty=f"{NO_RELEVANT} Nor has one with an empty list.",
        tasks=("some",),
        why="the share of the list that is not good; some course notes call it fallout, which is another thing.",
    ),
)
