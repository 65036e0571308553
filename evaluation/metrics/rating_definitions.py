"""Definitions of errors of predicted ratings and of metrics of whole lists."""

from __future__ import annotations

import math

from evaluation.metrics.definition import Choice, Definition

_OVER = Choice(
    "over",
    "ratings",
    "Mean over all ratings, or over users.",
    words=("ratings", "users"),
)
_LEAST = Choice("least", 2, "Fewest rated test items a user needs.", low=2)
_NO_ORDER = "Undefined for users with too few rated test items, or whose ratings or scores are all equal."
_NO_PREDICTION = "Only predicted ratings count; undefined without one. Report the coverage, too."


def _error(
    key: str,
    title: str,
    short: str,
    formula: str,
    *,
    source: str,
    why: str,
    options: tuple[Choice, ...] = (_OVER,),
    empty: str = _NO_PREDICTION,
) -> Definition:
    """Define an error of predicted ratings, with values of at least 0; lower is better."""
    return Definition(
        key=key,
        title=title,
        short=short,
        source=source,
        group="rating",
        protocols=("rating-prediction",),
        formula=formula,
        options=options,
        needs_n=False,
        high=math.inf,
        direction="lower",
        empty=empty,
        tasks=("prediction",),
        why=why,
    )


RATINGS = (
    _error(
        "mae",
        "Mean absolute error",
        "MAE",
        r"\frac{1}{|W|} \sum |p - r|",
        source="Gunawardana & Shani (2009), JMLR 10:2935-2962, section 5.1.",
        why="the mean distance of predictions from ratings, in rating points.",
    ),
    _error(
        "mse",
        "Mean squared error",
        "MSE",
        r"\frac{1}{|W|} \sum (p - r)^2",
        source="Gunawardana & Shani (2009), JMLR 10:2935-2962, section 5.1.",
        why="like the mean absolute error, but large errors weigh more.",
    ),
    _error(
        "rmse",
        "Root mean squared error",
        "RMSE",
        r"\sqrt{\frac{1}{|W|} \sum (p - r)^2}",
        source="Gunawardana & Shani (2009), JMLR 10:2935-2962, section 5.1.",
        why="large errors weigh more, in rating points; ranks algorithms as the mean squared error does.",
    ),
    _error(
        "nmae",
        "Normalised mean absolute error",
        "NMAE",
        r"\frac{\mathrm{MAE}}{r_{\max} - r_{\min}}",
        source="Goldberg, Roeder, Gupta & Perkins (2001), Information Retrieval 4:133-151, "
        "doi:10.1023/A:1011419012209.",
        why="the mean absolute error as a share of the declared scale, for comparing datasets. Above 1 only if "
        "predictions are outside the scale.",
    ),
    _error(
        "mae-extremes",
        "Mean absolute error on the extremes",
        "MAE of extreme ratings",
        r"\frac{1}{|W'|} \sum_{r \le r_{neg} \vee r \ge r_{pos}} |p - r|",
        source="Shardanand & Maes (1995), CHI, doi:10.1145/223904.223931.",
        options=(
            Choice("negative", 2.0, "Ratings up to this one are extreme."),
            Choice("positive", 4.0, "Ratings from this one on are extreme."),
            _OVER,
        ),
        empty=f"{_NO_PREDICTION} Undefined without an extreme rating.",
        why="errors where they matter most: on items that the user clearly likes or dislikes.",
    ),
    Definition(
        key="prediction-coverage",
        title="Coverage of predictions",
        source="Herlocker, Konstan, Terveen & Riedl (2004), TOIS 22(1):5-53, doi:10.1145/963770.963772.",
        group="rating",
        protocols=("rating-prediction",),
        formula=r"|W| / |T|",
        options=(_OVER,),
        needs_n=False,
        empty="Undefined without a test rating.",
        tasks=("prediction",),
        why="the share of test ratings with a prediction. Errors are comparable only at equal coverage.",
    ),
)

WHOLE_LISTS = (
    Definition(
        key="half-life",
        title="Half-life utility",
        source="Breese, Heckerman & Kadie (1998), UAI, section 3.1; Gunawardana & Shani (2009), JMLR "
        "10:2935-2962, section 5.3.",
        group="whole list",
        formula=r"\frac{\sum_a R_a}{\sum_a R_a^{\max}}, \quad R_a = \sum_j p_j \max(u(a,j) - d, 0), \quad "
        r"p_j = 2^{-(j-1)/(\alpha-1)}",
        options=(
            Choice("alpha", 5.0, "The rank that is viewed with probability one half.", low=1.0, is_open=True),
            Choice("default", 0.0, "The default rating d; items rated up to d have no utility."),
            Choice(
                "viewed",
                None,
                "The known probabilities p_j of viewing ranks 1, 2, …, in place of alpha; none is above the one "
                "before, and later ranks are not viewed. 1x3:.5 is 1 at ranks 1 to 3 and .5 at rank 4.",
                is_by_rank=True,
                replaces="alpha",
            ),
        ),
        needs_n=False,
        empty="Undefined for users without an item of positive utility, who contribute to neither sum.",
        tasks=("utility", "some"),
        why="the whole list, with a viewing probability that halves every alpha - 1 ranks or is known; the utility may "
        "be binary, graded, or monetary.",
    ),
    Definition(
        key="spearman",
        title="Spearman's rho",
        short="Spearman's ρ",
        source="Herlocker, Konstan, Terveen & Riedl (2004), TOIS 22(1):5-53, section 4.3, doi:10.1145/963770.963772.",
        group="whole list",
        protocols=("test-observations",),
        formula=r"\frac{\sum (u - \bar u)(u^p - \bar u^p)}{\sqrt{\sum (u - \bar u)^2 \sum (u^p - \bar u^p)^2}}",
        options=(_LEAST,),
        needs_n=False,
        low=-1.0,
        empty=_NO_ORDER,
        tasks=("prediction",),
        why="rank correlation of scores and ratings, ties at their mean rank. The bottom of the list weighs as much as "
        "the top.",
    ),
    Definition(
        key="kendall",
        title="Kendall's tau-b",
        short="Kendall's τ_b",
        source="Kendall (1945), Biometrika 33(3):239-251.",
        group="whole list",
        protocols=("test-observations",),
        formula=r"\frac{C - D}{\sqrt{(C + D + T_R)(C + D + T_P)}}",
        options=(_LEAST,),
        needs_n=False,
        low=-1.0,
        empty=_NO_ORDER,
        tasks=("prediction",),
        why="rank correlation of scores and ratings over pairs. The bottom of the list weighs as much as the top.",
    ),
)
