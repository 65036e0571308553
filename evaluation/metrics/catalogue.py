"""Every metric's definition: formula, range, direction, empty case, task and choices, in one place."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

from evaluation.metrics.definition import Choice, Definition

_TIES = Choice(
    "ties",
    "expected",
    "How a tied item counts: by its probability over a random order, or as the worst or best place.",
    words=("expected", "worst", "best"),
    is_printed=False,
)
_G = Choice("g", None, "Generality; not stated: the share of relevant cases.", low=0.0, high=1.0, is_printed=False)
_OVER = Choice(
    "over",
    "ratings",
    "Mean over all ratings, or over users' own values.",
    words=("ratings", "users"),
)
_GAIN = Choice("gain", "linear", "Gain of a relevance s: s, or 2^s - 1.", words=("linear", "exponential"))
_LEAST = Choice("least", 2, "Fewest rated test items a user needs.", low=2)
_UNTIL = Choice("until", 1.0, "False-alarm rate up to which the area counts.", low=0.0, high=1.0, is_open=True)
_SCALE = Choice(
    "scale",
    "raw",
    "The area itself, or mapped so that chance is .5 and perfection 1 (McClish 1989).",
    words=("raw", "standardised"),
)
_NO_RELEVANT = "A user without a relevant item has no value."
_NO_PREDICTION = "Only predicted ratings count; no value without one. See the coverage beside it."

_HITS = (
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

_LISTS = (
    Definition(
        key="precision",
        title="Precision",
        group="list",
        formula=r"\frac{1}{n} \sum_{j=1}^{n} \mathrm{rel}_j",
        empty=f"{_NO_RELEVANT} A list shorter than n is divided by n all the same.",
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
        empty=f"{_NO_RELEVANT} 0 where precision and recall are both 0.",
        tasks=("some", "all"),
        why="one number for both; choose beta by what the task asks of the list. F1 has beta = 1.",
    ),
    Definition(
        key="hit-rate",
        title="Hit rate",
        group="list",
        formula=r"[\exists j \le n: \mathrm{rel}_j = 1]",
        empty=_NO_RELEVANT,
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
        empty=f"{_NO_RELEVANT} 0 without a hit.",
        tasks=("all",),
        why="good items count more the earlier they stand, and (over all relevant) each that is missing costs.",
    ),
    Definition(
        key="rr",
        title="Reciprocal rank (mean: MRR)",
        group="list",
        formula=r"1 / \min \{j \le n: \mathrm{rel}_j = 1\}",
        empty=f"{_NO_RELEVANT} 0 without a hit.",
        tasks=("some",),
        why="how far a person reads to the first good item; what follows does not count.",
    ),
    Definition(
        key="dcg",
        title="Discounted cumulative gain",
        group="list",
        formula=r"\sum_{j=1}^{n} \frac{g_j}{\log_2 (j + 1)}",
        options=(_GAIN,),
        empty=_NO_RELEVANT,
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
        empty=_NO_RELEVANT,
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
        empty=f"{_NO_RELEVANT} Nor has one without an irrelevant candidate.",
        tasks=("some",),
        why="the share of what the person does not want that is put before them.",
    ),
    Definition(
        key="fdr",
        title="False discovery rate",
        group="list",
        formula=r"\frac{FP}{TP + FP}",
        direction="lower",
        empty=f"{_NO_RELEVANT} Nor has one with an empty list.",
        tasks=("some",),
        why="the share of the list that is not good; some course notes call it fallout, which is another thing.",
    ),
)

_RATINGS = (
    Definition(
        key="mae",
        title="Mean absolute error",
        group="rating",
        formula=r"\frac{1}{|W|} \sum |p - r|",
        options=(_OVER,),
        needs_n=False,
        high=math.inf,
        direction="lower",
        empty=_NO_PREDICTION,
        tasks=("prediction",),
        why="the mean distance of predictions from ratings, in rating points.",
    ),
    Definition(
        key="mse",
        title="Mean squared error",
        group="rating",
        formula=r"\frac{1}{|W|} \sum (p - r)^2",
        options=(_OVER,),
        needs_n=False,
        high=math.inf,
        direction="lower",
        empty=_NO_PREDICTION,
        tasks=("prediction",),
        why="as the mean absolute error, with large errors weighing more.",
    ),
    Definition(
        key="rmse",
        title="Root mean squared error",
        group="rating",
        formula=r"\sqrt{\frac{1}{|W|} \sum (p - r)^2}",
        options=(_OVER,),
        needs_n=False,
        high=math.inf,
        direction="lower",
        empty=_NO_PREDICTION,
        tasks=("prediction",),
        why="large errors weigh more, in rating points; orders algorithms as the mean squared error does.",
    ),
    Definition(
        key="nmae",
        title="Normalised mean absolute error",
        group="rating",
        formula=r"\frac{\mathrm{MAE}}{r_{\max} - r_{\min}}",
        options=(_OVER,),
        needs_n=False,
        high=math.inf,
        direction="lower",
        empty=_NO_PREDICTION,
        tasks=("prediction",),
        why="the mean absolute error as a share of the declared scale, for comparing datasets. Above 1 only where "
        "predictions leave the scale.",
    ),
    Definition(
        key="mae-extremes",
        title="Mean absolute error on the extremes",
        group="rating",
        formula=r"\frac{1}{|W'|} \sum_{r \le r_{neg} \vee r \ge r_{pos}} |p - r|",
        options=(
            Choice("negative", 2.0, "Ratings up to this one are extreme."),
            Choice("positive", 4.0, "Ratings from this one on are extreme."),
            _OVER,
        ),
        needs_n=False,
        high=math.inf,
        direction="lower",
        empty=f"{_NO_PREDICTION} No value without an extreme rating.",
        tasks=("prediction",),
        why="errors where they would mislead: on items the person clearly likes or dislikes.",
    ),
    Definition(
        key="prediction-coverage",
        title="Coverage of predictions",
        group="rating",
        formula=r"|W| / |T|",
        options=(_OVER,),
        needs_n=False,
        empty="No value without a test rating.",
        tasks=("prediction",),
        why="the share of test ratings that were predicted: errors are comparable at equal coverage only.",
    ),
)

_WHOLE = (
    Definition(
        key="half-life",
        title="Half-life utility",
        group="whole list",
        formula=r"\frac{\sum_a R_a}{\sum_a R_a^{\max}}, \quad R_a = \sum_j \frac{\max(u(a,j) - d, 0)}"
        r"{2^{(j-1)/(\alpha-1)}}",
        options=(
            Choice("alpha", 5.0, "The place seen with probability one half.", low=1.0, is_open=True),
            Choice("default", 0.0, "The default rating d, below which an item is worth nothing."),
        ),
        needs_n=False,
        empty="A user without an item of positive utility has no value and adds nothing to either sum.",
        tasks=("utility", "some"),
        why="the whole list, with each place half as likely to be seen every alpha - 1 places; the utility may be "
        "binary, graded, or money.",
    ),
    Definition(
        key="spearman",
        title="Spearman's rho",
        group="whole list",
        formula=r"\frac{\sum (u - \bar u)(u^p - \bar u^p)}{\sqrt{\sum (u - \bar u)^2 \sum (u^p - \bar u^p)^2}}",
        options=(_LEAST,),
        needs_n=False,
        low=-1.0,
        empty="A user with too few rated test items, or with equal ratings or equal scores only, has no value.",
        tasks=("prediction",),
        why="agreement of the order of scores with that of ratings, ties at their mean rank. Weighs the bottom of "
        "the list as much as the top.",
    ),
    Definition(
        key="kendall",
        title="Kendall's tau-b",
        group="whole list",
        formula=r"\frac{C - D}{\sqrt{(C + D + T_R)(C + D + T_P)}}",
        options=(_LEAST,),
        needs_n=False,
        low=-1.0,
        empty="A user with too few rated test items, or with equal ratings or equal scores only, has no value.",
        tasks=("prediction",),
        why="agreement of the order of scores with that of ratings, pair by pair. Weighs the bottom of the list as "
        "much as the top.",
    ),
)

_CURVES = (
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
        empty=_NO_RELEVANT,
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

_BEYOND = (
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
        why="how much of the list two algorithms share.",
    ),
)

METRICS: Mapping[str, Definition] = MappingProxyType(
    {one.key: one for one in (*_HITS, *_LISTS, *_RATINGS, *_WHOLE, *_CURVES, *_BEYOND)}
)
