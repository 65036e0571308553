"""Every metric's definition by its key."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from types import MappingProxyType

from evaluation.metrics.beyond_accuracy import SMOOTHING
from evaluation.metrics.definition import OF_LISTS, Choice, Definition

NO_RELEVANT = "Undefined for users without a relevant item."
_TIES = Choice(
    "ties",
    "expected",
    "How tied items count: by the probability of a hit in random order, or at the worst or best rank.",
    words=("expected", "worst", "best"),
    is_printed=False,
)
_G = Choice("g", None, "Generality; by default the share of relevant cases.", low=0.0, high=1.0, is_printed=False)
_GAIN = Choice("gain", "linear", "Gain of relevance s: s, or 2^s - 1.", words=("linear", "exponential"))

_hit = partial(Definition, group="list", protocols=("one-plus-random",))
_list = partial(Definition, group="list")

HITS = (
    _list(
        key="recall",
        title="Recall",
        source="Cremonesi, Koren & Turrin (2010), RecSys, section 3, doi:10.1145/1864708.1864721.",
        protocols=("one-plus-random", *OF_LISTS),
        formula=r"\frac{1}{|T^+|} \sum_{(u,i) \in T^+} h(u,i)",
        options=(_TIES,),
        empty="Undefined without a relevant case, overall and for single users.",
        tasks=("some", "all"),
        why="how often an item that the user likes is in the list. In one-plus-random each case has its own list; with "
        "one list per user it is the mean over users of the share of relevant items in the list.",
    ),
    _hit(
        key="fallout",
        title="Fallout",
        source="Cremonesi, Garzotto, Negro, Papadopoulos & Turrin (2011), INTERACT, section 5.1, "
        "doi:10.1007/978-3-642-23765-2_11.",
        formula=r"\frac{1}{|T^-|} \sum_{(u,i) \in T^-} h(u,i)",
        options=(_TIES,),
        direction="lower",
        empty="Undefined without an irrelevant case, overall and for single users.",
        tasks=("some",),
        why="how often an item that the user dislikes is in the list.",
    ),
    _hit(
        key="precision-raghavan",
        title="Precision (Raghavan)",
        short="precision",
        source="Raghavan, Bollmann & Jung (1989), TOIS 7(3):205-229, doi:10.1145/65943.65945.",
        formula=r"\frac{r g}{r g + f (1 - g)}",
        options=(_G, _TIES),
        empty="Undefined if recall or fallout is undefined or nothing was retrieved (0/0).",
        tasks=("some",),
        why="recall and fallout in one number, given the generality g. It is not the precision of the list, and it is "
        "close to 1 if g is.",
        has_user_values=False,
    ),
    _hit(
        key="f",
        title="F",
        short="F",
        source="Cremonesi, Garzotto, Negro, Papadopoulos & Turrin (2011), INTERACT, section 5.1, "
        "doi:10.1007/978-3-642-23765-2_11.",
        formula=r"\frac{2 P r}{P + r}",
        options=(_G, _TIES),
        empty="Undefined if recall or fallout is undefined; 0 if nothing was retrieved.",
        tasks=("some",),
        why="P is Raghavan's precision; if it is close to 1, F is about 2r/(1 + r) and redundant with recall, so the "
        "two count as one metric in comparisons.",
        has_user_values=False,
    ),
)

LISTS = (
    _list(
        key="precision",
        title="Precision",
        source="Gunawardana & Shani (2009), JMLR 10:2935-2962, section 5.2.",
        formula=r"\frac{1}{n} \sum_{j=1}^{n} \mathrm{rel}_j",
        empty=f"{NO_RELEVANT} Shorter lists are divided by n, too.",
        tasks=("some",),
        why="the share of good items in a list of fixed length.",
    ),
    _list(
        key="capped-recall",
        title="Capped recall",
        source="Thakur, Reimers, Rücklé, Srivastava & Gurevych (2021), NeurIPS Datasets and Benchmarks, for the term.",
        formula=r"\frac{1}{\min(m, n)} \sum_{j=1}^{n} \mathrm{rel}_j",
        empty=NO_RELEVANT,
        tasks=("some",),
        why="the relevant items in the list, as a share of those that fit there: also users with more than n relevant "
        "items can reach 1. Some libraries call it recall.",
    ),
    _list(
        key="f-beta",
        title="F of precision and recall",
        short="F",
        source="van Rijsbergen (1979), Information Retrieval, chapter 7.",
        formula=r"\frac{(1 + \beta^2) P r}{\beta^2 P + r}",
        options=(
            Choice("beta", 1.0, "Weight of recall against precision.", low=0.0, is_open=True),
            Choice("of", "users", "Mean over users of F, or F of the means.", words=("users", "means")),
        ),
        empty=f"{NO_RELEVANT} 0 if precision and recall are both 0.",
        tasks=("some", "all"),
        why="precision and recall in one number; choose beta to suit the task. F1 has beta = 1.",
    ),
    _list(
        key="hit-rate",
        title="Hit rate",
        source="Deshpande & Karypis (2004), TOIS 22(1):143-177, doi:10.1145/963770.963776.",
        formula=r"[\exists j \le n: \mathrm{rel}_j = 1]",
        empty=NO_RELEVANT,
        tasks=("some",),
        why="whether the list contains any good item.",
    ),
    _list(
        key="ap",
        title="Average precision (mean: MAP)",
        short="AP",
        source="Buckley & Voorhees (2000), SIGIR, doi:10.1145/345508.345543; over all relevant items as "
        "trec_eval computes it.",
        formula=r"\frac{1}{m} \sum_{j=1}^{n} \mathrm{rel}_j P_j",
        options=(
            Choice(
                "over",
                "relevant",
                "m: all relevant items (as trec_eval), at most n of them, those in the list, or n.",
                words=("relevant", "capped", "retrieved", "length"),
            ),
        ),
        empty=f"{NO_RELEVANT} 0 without a hit.",
        tasks=("all",),
        why="good items count more the higher they rank, and (over all relevant items) missing items are penalised.",
    ),
    _list(
        key="rr",
        title="Reciprocal rank (mean: MRR)",
        short="RR",
        source="Voorhees (1999), The TREC-8 question answering track report, NIST SP 500-246.",
        formula=r"1 / \min \{j \le n: \mathrm{rel}_j = 1\}",
        empty=f"{NO_RELEVANT} 0 without a hit.",
        tasks=("some",),
        why="how far down the first good item is; later items do not count.",
    ),
    _list(
        key="dcg",
        title="Discounted cumulative gain",
        short="DCG",
        source="Järvelin & Kekäläinen (2002), TOIS 20(4):422-446, doi:10.1145/582415.582418. Deviation: the "
        "discount is log2(j + 1) at every rank.",
        formula=r"\sum_{j=1}^{n} \frac{g_j}{\log_2 (j + 1)}",
        options=(_GAIN,),
        empty=NO_RELEVANT,
        high=math.inf,
        tasks=("some", "utility"),
        why="graded gain, discounted by rank. Not comparable between users with different numbers of good items.",
    ),
    _list(
        key="ndcg",
        title="Normalised discounted cumulative gain",
        short="nDCG",
        source="Järvelin & Kekäläinen (2002), TOIS 20(4):422-446, doi:10.1145/582415.582418. Deviation: the "
        "discount of dcg.",
        formula=r"\mathrm{DCG}_n / \mathrm{DCG}_n^{\mathrm{ideal}}",
        options=(_GAIN,),
        empty=NO_RELEVANT,
        tasks=("some", "all"),
        why="graded gain, discounted by rank, as a share of the ideal list's.",
    ),
    _list(
        key="utility",
        title="Utility of the list",
        source="Gunawardana & Shani (2009), JMLR 10:2935-2962, section 5.3.",
        formula=r"\sum_{j=1}^{n} u_j",
        empty="Undefined for users without an item of positive utility.",
        high=math.inf,
        tasks=("utility",),
        why="the total utility of a list of fixed length that is viewed entirely.",
    ),
    _list(
        key="fpr",
        title="False-positive rate",
        short="false-positive rate",
        source="Gunawardana & Shani (2009), JMLR 10:2935-2962, section 5.2.",
        formula=r"\frac{FP}{FP + TN}",
        direction="lower",
        empty=f"{NO_RELEVANT} Also without an irrelevant candidate.",
        tasks=("some",),
        why="the share of irrelevant items that are recommended.",
    ),
    _list(
        key="fdr",
        title="False discovery rate",
        short="false discovery rate",
        source="Benjamini & Hochberg (1995), JRSS B 57(1):289-300, for the term.",
        formula=r"\frac{FP}{TP + FP}",
        direction="lower",
        empty=f"{NO_RELEVANT} Also with an empty list.",
        tasks=("some",),
        why="the share of the list that is not good. Some course notes call it fallout, which is a different metric.",
    ),
)

_OVER = Choice(
    "over",
    "ratings",
    "Mean over all ratings, or over users.",
    words=("ratings", "users"),
)
_LEAST = Choice("least", 2, "Fewest rated test items a user needs.", low=2)
_NO_ORDER = "Undefined for users with too few rated test items, or whose ratings or scores are all equal."
_NO_PREDICTION = "Only predicted ratings count; undefined without one. Report the coverage, too."

_prediction = partial(
    Definition, group="rating", protocols=("rating-prediction",), options=(_OVER,), needs_n=False, tasks=("prediction",)
)
# Errors of predicted ratings, with values of at least 0.
_error = partial(_prediction, high=math.inf, direction="lower", empty=_NO_PREDICTION)

RATINGS = (
    _error(
        key="mae",
        title="Mean absolute error",
        short="MAE",
        formula=r"\frac{1}{|W|} \sum |p - r|",
        source="Gunawardana & Shani (2009), JMLR 10:2935-2962, section 5.1.",
        why="the mean distance of predictions from ratings, in rating points.",
    ),
    _error(
        key="mse",
        title="Mean squared error",
        short="MSE",
        formula=r"\frac{1}{|W|} \sum (p - r)^2",
        source="Gunawardana & Shani (2009), JMLR 10:2935-2962, section 5.1.",
        why="like the mean absolute error, but large errors weigh more.",
    ),
    _error(
        key="rmse",
        title="Root mean squared error",
        short="RMSE",
        formula=r"\sqrt{\frac{1}{|W|} \sum (p - r)^2}",
        source="Gunawardana & Shani (2009), JMLR 10:2935-2962, section 5.1.",
        why="large errors weigh more, in rating points; ranks algorithms as the mean squared error does.",
    ),
    _error(
        key="nmae",
        title="Normalised mean absolute error",
        short="NMAE",
        formula=r"\frac{\mathrm{MAE}}{r_{\max} - r_{\min}}",
        source="Goldberg, Roeder, Gupta & Perkins (2001), Information Retrieval 4:133-151, "
        "doi:10.1023/A:1011419012209.",
        why="the mean absolute error as a share of the declared scale, for comparing datasets. Above 1 only if "
        "predictions are outside the scale.",
    ),
    _error(
        key="mae-extremes",
        title="Mean absolute error on the extremes",
        short="MAE of extreme ratings",
        formula=r"\frac{1}{|W'|} \sum_{r \le r_{neg} \vee r \ge r_{pos}} |p - r|",
        source="Shardanand & Maes (1995), CHI, doi:10.1145/223904.223931.",
        options=(
            Choice("negative", 2.0, "Ratings up to this one are extreme."),
            Choice("positive", 4.0, "Ratings from this one on are extreme."),
            _OVER,
        ),
        empty=f"{_NO_PREDICTION} Undefined without an extreme rating.",
        why="errors where they matter most: on items that the user clearly likes or dislikes.",
    ),
    _prediction(
        key="prediction-coverage",
        title="Coverage of predictions",
        source="Herlocker, Konstan, Terveen & Riedl (2004), TOIS 22(1):5-53, doi:10.1145/963770.963772.",
        formula=r"|W| / |T|",
        empty="Undefined without a test rating.",
        why="the share of test ratings with a prediction. Errors are comparable only at equal coverage.",
    ),
)

_whole_list = partial(Definition, group="whole list", needs_n=False)
_over_test_items = partial(_whole_list, protocols=("test-observations",), options=(_LEAST,), tasks=("prediction",))
_correlation = partial(_over_test_items, low=-1.0, empty=_NO_ORDER)

WHOLE_LISTS = (
    _whole_list(
        key="half-life",
        title="Half-life utility",
        source="Breese, Heckerman & Kadie (1998), UAI, section 3.1; Gunawardana & Shani (2009), JMLR "
        "10:2935-2962, section 5.3.",
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
        empty="Undefined for users without an item of positive utility, who contribute to neither sum.",
        tasks=("utility", "some"),
        why="the whole list, with a viewing probability that halves every alpha - 1 ranks or is known; the utility may "
        "be binary, graded, or monetary.",
    ),
    _correlation(
        key="spearman",
        title="Spearman's rho",
        short="Spearman's ρ",
        source="Herlocker, Konstan, Terveen & Riedl (2004), TOIS 22(1):5-53, section 4.3, doi:10.1145/963770.963772.",
        formula=r"\frac{\sum (u - \bar u)(u^p - \bar u^p)}{\sqrt{\sum (u - \bar u)^2 \sum (u^p - \bar u^p)^2}}",
        why="rank correlation of scores and ratings, ties at their mean rank. The bottom of the list weighs as much as "
        "the top.",
    ),
    _correlation(
        key="kendall",
        title="Kendall's tau-b",
        short="Kendall's τ_b",
        source="Kendall (1945), Biometrika 33(3):239-251.",
        formula=r"\frac{C - D}{\sqrt{(C + D + T_R)(C + D + T_P)}}",
        why="rank correlation of scores and ratings over pairs. The bottom of the list weighs as much as the top.",
    ),
)

_UNTIL = Choice("until", 1.0, "False-alarm rate up to which the area is computed.", low=0.0, high=1.0, is_open=True)
_SCALE = Choice(
    "scale",
    "raw",
    "The raw area, or rescaled so that chance is .5 and perfection 1 (McClish 1989).",
    words=("raw", "standardised"),
)

_curve = partial(Definition, group="curve", protocols=("test-observations",), needs_n=False)
_pooled_curve = partial(_curve, protocols=("unconstrained",), has_user_values=False)

CURVES = (
    _pooled_curve(
        key="average-precision",
        title="Area under the pooled precision-recall curve",
        source="Davis & Goadrich (2006), ICML, doi:10.1145/1143844.1143874.",
        formula=r"\sum_k (r_k - r_{k-1}) P_k",
        empty="Undefined without a relevant pair.",
        tasks=("some",),
        why="one list of all pairs; average precision instead of the trapezoidal area, which is too optimistic. Needs "
        "scores that are comparable across users.",
    ),
    _curve(
        key="precision-recall-11",
        title="Mean of 11-point interpolated precision",
        short="11-point precision",
        source="Voorhees (2002), Overview of TREC 2002, NIST SP 500-251, appendix.",
        formula=r"\frac{1}{11} \sum_{l=0}^{10} \max_{r_k \ge l/10} P_k",
        empty=NO_RELEVANT,
        tasks=("all",),
        why="the curve of each user, averaged over users at eleven recall levels, as in TREC.",
    ),
    _curve(
        key="roc-area",
        title="Area under each user's ROC (Swets' A)",
        short="ROC area",
        source="Bamber (1975), Journal of Mathematical Psychology 12:387-415; McClish (1989), Medical Decision "
        "Making 9(3):190-195, doi:10.1177/0272989X8900900307, for a part of the area.",
        formula=r"\Pr(s^+ > s^-) + \tfrac12 \Pr(s^+ = s^-)",
        options=(_UNTIL, _SCALE),
        empty="Undefined for users whose test items are all good or all not good.",
        tasks=("some", "all"),
        why="how often a good item ranks above another item of the same user.",
    ),
    _pooled_curve(
        key="groc-area",
        title="Area under the global ROC (GROC)",
        short="GROC area",
        source="Schein, Popescul, Ungar & Pennock (2005), Electronic Commerce Research 5:51-74, section 3.1, "
        "doi:10.1023/B:ELEC.0000045973.51289.8c.",
        formula=r"\Pr(s^+ > s^-) + \tfrac12 \Pr(s^+ = s^-)",
        options=(_UNTIL, _SCALE),
        empty="Undefined if all pairs are good or all are not good.",
        tasks=("some", "all"),
        why="one list of all pairs, so that users may get different numbers of recommendations: it rewards "
        "recommending more to users who like more. Needs scores that are comparable across users.",
    ),
    _curve(
        key="croc-area",
        title="Area under the customer ROC (CROC)",
        short="CROC area",
        source="Schein, Popescul, Ungar & Pennock (2005), Electronic Commerce Research 5:51-74, section 3.2, "
        "doi:10.1023/B:ELEC.0000045973.51289.8c.",
        formula=r"\sum_k \tfrac12 (h_k + h_{k-1}) (f_k - f_{k-1})",
        options=(_UNTIL, _SCALE),
        empty="Undefined if all pairs are good or all are not good.",
        tasks=("some", "all"),
        why="the same number of recommendations for every user. Compare it with the omniscient and the random line, "
        "whose areas are generally not 1 and .5.",
        has_user_values=False,
    ),
)

_beyond = partial(Definition, group="beyond accuracy", protocols=("full-ranking",), tasks=(), direction="neither")

BEYOND_ACCURACY = (
    _beyond(
        key="catalogue-coverage",
        title="Catalogue coverage",
        source="Ge, Delgado-Battenfeld & Jannach (2010), RecSys, doi:10.1145/1864708.1864761.",
        formula=r"|\bigcup_u L_u| / |I|",
        empty="Undefined without a catalogue.",
        direction="higher",
        why="the share of items that are recommended to any user; grows with the number of users.",
        has_user_values=False,
    ),
    _beyond(
        key="gini",
        title="Gini index of exposure",
        short="Gini index",
        source="Fleder & Hosanagar (2009), Management Science 55(5):697-712, doi:10.1287/mnsc.1080.0974.",
        formula=r"\frac{\sum_i (2 i - |I| - 1) e_{(i)}}{|I| \sum_i e_i}",
        empty="Undefined if nothing is recommended.",
        why="0 if all items are recommended equally often, close to 1 if only a few are recommended.",
        has_user_values=False,
    ),
    _beyond(
        key="novelty",
        title="Novelty",
        source="Zhou, Kuscsik, Liu, Medo, Wakeling & Zhang (2010), PNAS 107(10):4511-4515, "
        "doi:10.1073/pnas.1000488107.",
        formula=r"-\frac{1}{|L_u|} \sum_{i \in L_u} \log_2 p_i",
        high=math.inf,
        empty="Items without training ratings are excluded; undefined if no other item is left.",
        why="mean self-information of the items, in bits; p is the share of training users who rated the item.",
    ),
    _beyond(
        key="arp",
        title="Average recommendation popularity",
        short="average recommendation popularity",
        source="Yin, Cui, Li, Yao & Chen (2012), PVLDB 5(9):896-907, doi:10.14778/2311906.2311916.",
        formula=r"\frac{1}{|L_u|} \sum_{i \in L_u} c_i",
        high=math.inf,
        empty="Undefined for an empty list.",
        why="c is the number of training ratings of an item. Comparable only on the same training ratings.",
    ),
    _beyond(
        key="popularity-lift",
        title="Popularity lift",
        source="Abdollahpouri, Mansoury, Burke & Mobasher (2019), RMSE workshop at RecSys, arXiv:1907.13286.",
        formula=r"\frac{\bar c(L) - \bar c(D)}{\bar c(D)}",
        low=-1.0,
        high=math.inf,
        empty="Undefined for users without a profile whose items have training ratings, who are in neither mean.",
        why="how much more popular the recommendations L are than the items D that the user rated in training; 0 if "
        "equally popular. Overall, both are means over users before the division; each user also has a lift.",
    ),
    _beyond(
        key="diversity",
        title="Intra-list diversity",
        source="Ziegler, McNee, Konstan & Lausen (2005), WWW, section 3.2, doi:10.1145/1060745.1060754. "
        "Deviation: one minus the mean similarity, instead of its sum.",
        formula=r"1 - \frac{2}{n (n - 1)} \sum_{i < j} \cos(x_i, x_j)",
        empty="Items without features are excluded; undefined with fewer than two others.",
        why="how dissimilar the items of a list are by their features.",
    ),
    _beyond(
        key="calibration",
        title="Miscalibration of genres",
        short="miscalibration of genres",
        source="Steck (2018), RecSys, section 3, doi:10.1145/3240323.3240372.",
        formula=r"\sum_g p(g) \ln \frac{p(g)}{.99\, q(g) + .01\, p(g)}",
        direction="lower",
        high=-math.log(SMOOTHING),
        empty="Items without a genre are excluded; undefined if the profile or the list has no other item.",
        why="how far the genres of the list, q, are from those of all items that the user rated before the test, p; an "
        "item's genres share it equally. 0 if the list is calibrated. Genre features are required.",
    ),
    Definition(
        key="serendipity",
        title="Serendipity",
        source="Ge, Delgado-Battenfeld & Jannach (2010), RecSys, doi:10.1145/1864708.1864761; Murakami, Mori & "
        "Orihara (2008), doi:10.1007/978-3-540-78197-4_5.",
        group="beyond accuracy",
        formula=r"|\{i \in L_u \setminus P_u : \mathrm{rel}_i = 1\}| / n",
        empty=NO_RELEVANT,
        tasks=("some",),
        why="the share of the list that is good and not obvious: P is the list of the same length that ranks the same "
        "items by their training ratings alone. 0 for a list by popularity, and never above precision.",
    ),
    Definition(
        key="overlap",
        title="Overlap of two lists",
        source="The project's own: the size of the intersection, as a share of the length.",
        group="beyond accuracy",
        protocols=(),
        formula=r"|A_u \cap B_u| / n",
        direction="neither",
        empty="Undefined for users whose lists are both empty.",
        tasks=(),
        why="the share of the list that two algorithms have in common. A full-ranking run measures it for every pair "
        "of its algorithms; it cannot be requested by name.",
        is_of_pairs=True,
    ),
)

METRICS: Mapping[str, Definition] = MappingProxyType(
    {definition.key: definition for definition in (*HITS, *LISTS, *RATINGS, *WHOLE_LISTS, *CURVES, *BEYOND_ACCURACY)}
)
