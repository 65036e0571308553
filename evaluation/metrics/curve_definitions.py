"""Definitions of areas under curves and of beyond-accuracy metrics."""

from __future__ import annotations

import math

from evaluation.metrics.beyond_accuracy import SMOOTHING
from evaluation.metrics.definition import Choice, Definition
from evaluation.metrics.list_definitions import NO_RELEVANT

_UNTIL = Choice("until", 1.0, "False-alarm rate up to which the area is computed.", low=0.0, high=1.0, is_open=True)
_SCALE = Choice(
    "scale",
    "raw",
    "The raw area, or rescaled so that chance is .5 and perfection 1 (McClish 1989).",
    words=("raw", "standardised"),
)

CURVES = (
    Definition(
        key="average-precision",
        title="Area under the pooled precision-recall curve",
        source="Davis & Goadrich (2006), ICML, doi:10.1145/1143844.1143874.",
        group="curve",
        protocols=("unconstrained",),
        formula=r"\sum_k (r_k - r_{k-1}) P_k",
        needs_n=False,
        empty="Undefined without a relevant pair.",
        tasks=("some",),
        why="one list of all pairs; average precision instead of the trapezoidal area, which is too optimistic. Needs "
        "scores that are comparable across users.",
        has_user_values=False,
    ),
    Definition(
        key="precision-recall-11",
        title="Mean of 11-point interpolated precision",
        short="11-point precision",
        source="Voorhees (2002), Overview of TREC 2002, NIST SP 500-251, appendix.",
        group="curve",
        protocols=("test-observations",),
        formula=r"\frac{1}{11} \sum_{l=0}^{10} \max_{r_k \ge l/10} P_k",
        needs_n=False,
        empty=NO_RELEVANT,
        tasks=("all",),
        why="the curve of each user, averaged over users at eleven recall levels, as in TREC.",
    ),
    Definition(
        key="roc-area",
        title="Area under each user's ROC (Swets' A)",
        short="ROC area",
        source="Bamber (1975), Journal of Mathematical Psychology 12:387-415; McClish (1989), Medical Decision "
        "Making 9(3):190-195, doi:10.1177/0272989X8900900307, for a part of the area.",
        group="curve",
        protocols=("test-observations",),
        formula=r"\Pr(s^+ > s^-) + \tfrac12 \Pr(s^+ = s^-)",
        options=(_UNTIL, _SCALE),
        needs_n=False,
        empty="Undefined for users whose test items are all good or all not good.",
        tasks=("some", "all"),
        why="how often a good item ranks above another item of the same user.",
    ),
    Definition(
        key="groc-area",
        title="Area under the global ROC (GROC)",
        short="GROC area",
        source="Schein, Popescul, Ungar & Pennock (2005), Electronic Commerce Research 5:51-74, section 3.1, "
        "doi:10.1023/B:ELEC.0000045973.51289.8c.",
        group="curve",
        protocols=("unconstrained",),
        formula=r"\Pr(s^+ > s^-) + \tfrac12 \Pr(s^+ = s^-)",
        options=(_UNTIL, _SCALE),
        needs_n=False,
        empty="Undefined if all pairs are good or all are not good.",
        tasks=("some", "all"),
        why="one list of all pairs, so that users may get different numbers of recommendations: it rewards "
        "recommending more to users who like more. Needs scores that are comparable across users.",
        has_user_values=False,
    ),
    Definition(
        key="croc-area",
        title="Area under the customer ROC (CROC)",
        short="CROC area",
        source="Schein, Popescul, Ungar & Pennock (2005), Electronic Commerce Research 5:51-74, section 3.2, "
        "doi:10.1023/B:ELEC.0000045973.51289.8c.",
        group="curve",
        protocols=("test-observations",),
        formula=r"\sum_k \tfrac12 (h_k + h_{k-1}) (f_k - f_{k-1})",
        options=(_UNTIL, _SCALE),
        needs_n=False,
        empty="Undefined if all pairs are good or all are not good.",
        tasks=("some", "all"),
        why="the same number of recommendations for every user. Compare it with the omniscient and the random line, "
        "whose areas are generally not 1 and .5.",
        has_user_values=False,
    ),
)

BEYOND_ACCURACY = (
    Definition(
        key="catalogue-coverage",
        title="Catalogue coverage",
        source="Ge, Delgado-Battenfeld & Jannach (2010), RecSys, doi:10.1145/1864708.1864761.",
        group="beyond accuracy",
        protocols=("full-ranking",),
        formula=r"|\bigcup_u L_u| / |I|",
        empty="Undefined without a catalogue.",
        tasks=(),
        why="the share of items that are recommended to any user; grows with the number of users.",
        has_user_values=False,
    ),
    Definition(
        key="gini",
        title="Gini index of exposure",
        short="Gini index",
        source="Fleder & Hosanagar (2009), Management Science 55(5):697-712, doi:10.1287/mnsc.1080.0974.",
        group="beyond accuracy",
        protocols=("full-ranking",),
        formula=r"\frac{\sum_i (2 i - |I| - 1) e_{(i)}}{|I| \sum_i e_i}",
        direction="neither",
        empty="Undefined if nothing is recommended.",
        tasks=(),
        why="0 if all items are recommended equally often, close to 1 if only a few are recommended.",
        has_user_values=False,
    ),
    Definition(
        key="novelty",
        title="Novelty",
        source="Zhou, Kuscsik, Liu, Medo, Wakeling & Zhang (2010), PNAS 107(10):4511-4515, "
        "doi:10.1073/pnas.1000488107.",
        group="beyond accuracy",
        protocols=("full-ranking",),
        formula=r"-\frac{1}{|L_u|} \sum_{i \in L_u} \log_2 p_i",
        direction="neither",
        high=math.inf,
        empty="Items without training ratings are excluded; undefined if no other item is left.",
        tasks=(),
        why="mean self-information of the items, in bits; p is the share of training users who rated the item.",
    ),
    Definition(
        key="arp",
        title="Average recommendation popularity",
        short="average recommendation popularity",
        source="Yin, Cui, Li, Yao & Chen (2012), PVLDB 5(9):896-907, doi:10.14778/2311906.2311916.",
        group="beyond accuracy",
        protocols=("full-ranking",),
        formula=r"\frac{1}{|L_u|} \sum_{i \in L_u} c_i",
        direction="neither",
        high=math.inf,
        empty="Undefined for an empty list.",
        tasks=(),
        why="c is the number of training ratings of an item. Comparable only on the same training ratings.",
    ),
    Definition(
        key="popularity-lift",
        title="Popularity lift",
        source="Abdollahpouri, Mansoury, Burke & Mobasher (2019), RMSE workshop at RecSys, arXiv:1907.13286.",
        group="beyond accuracy",
        protocols=("full-ranking",),
        formula=r"\frac{\bar c(L) - \bar c(D)}{\bar c(D)}",
        direction="neither",
        low=-1.0,
        high=math.inf,
        empty="Undefined for users without a profile whose items have training ratings, who are in neither mean.",
        tasks=(),
        why="how much more popular the recommendations L are than the items D that the user rated in training; 0 if "
        "equally popular. Overall, both are means over users before the division; each user also has a lift.",
    ),
    Definition(
        key="diversity",
        title="Intra-list diversity",
        source="Ziegler, McNee, Konstan & Lausen (2005), WWW, section 3.2, doi:10.1145/1060745.1060754. "
        "Deviation: one minus the mean similarity, instead of its sum.",
        group="beyond accuracy",
        protocols=("full-ranking",),
        formula=r"1 - \frac{2}{n (n - 1)} \sum_{i < j} \cos(x_i, x_j)",
        direction="neither",
        empty="Items without features are excluded; undefined with fewer than two others.",
        tasks=(),
        why="how dissimilar the items of a list are by their features.",
    ),
    Definition(
        key="calibration",
        title="Miscalibration of genres",
        short="miscalibration of genres",
        source="Steck (2018), RecSys, section 3, doi:10.1145/3240323.3240372.",
        group="beyond accuracy",
        protocols=("full-ranking",),
        formula=r"\sum_g p(g) \ln \frac{p(g)}{.99\, q(g) + .01\, p(g)}",
        direction="lower",
        high=-math.log(SMOOTHING),
        empty="Items without a genre are excluded; undefined if the profile or the list has no other item.",
        tasks=(),
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
