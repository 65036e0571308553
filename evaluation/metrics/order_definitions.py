"""Definitions of the errors of predicted ratings, and of the metrics of whole lists."""

from __future__ import annotations

import math

from evaluation.metrics.definition import Choice, Definition

_OVER = Choice(
    "over",
    "ratings",
    "Mean over all ratings, or over users' own values.",
    words=("ratings", "users"),
)
_LEAST = Choice("least", 2, "Fewest rated test items a user needs.", low=2)
_NO_ORDER = "A user with too few rated test items, or with equal ratings or equal scores only, has no value."
_NO_PREDICTION = "Only predicted ratings count; no value without one. See the coverage beside it."


def _error(
    key: str, title: str, formula: str, *, why: str, options: tuple[Choice, ...] = (_OVER,), empty: str = _NO_PREDICTION
) -> Definition:
    """An error of predicted ratings: 0 or more, the lower the better, of whatever length the lists are."""
    return Definition(
        key=key,
        title=title,
        group="rating",
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
        r"\frac{1}{|W|} \sum |p - r|",
        why="the mean distance of predictions from ratings, in rating points.",
    ),
    _error(
        "mse",
        "Mean squared error",
        r"\frac{1}{|W|} \sum (p - r)^2",
        why="as the mean absolute error, with large errors weighing more.",
    ),
    _error(
        "rmse",
        "Root mean squared error",
        r"\sqrt{\frac{1}{|W|} \sum (p - r)^2}",
        why="large errors weigh more, in rating points; orders algorithms as the mean squared error does.",
    ),
    _error(
        "nmae",
        "Normalised mean absolute error",
        r"\frac{\mathrm{MAE}}{r_{\max} - r_{\min}}",
        why="the mean absolute error as a share of the declared scale, for comparing datasets. Above 1 only where "
        "predictions leave the scale.",
    ),
    _error(
        "mae-extremes",
        "Mean absolute error on the extremes",
        r"\frac{1}{|W'|} \sum_{r \le r_{neg} \vee r \ge r_{pos}} |p - r|",
        options=(
            Choice("negative", 2.0, "Ratings up to this one are extreme."),
            Choice("positive", 4.0, "Ratings from this one on are extreme."),
            _OVER,
        ),
        empty=f"{_NO_PREDICTION} No value without an extreme rating.",
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

WHOLE_LISTS = (
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
        empty=_NO_ORDER,
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
        empty=_NO_ORDER,
        tasks=("prediction",),
        why="agreement of the order of scores with that of ratings, pair by pair. Weighs the bottom of the list as "
        "much as the top.",
    ),
)
