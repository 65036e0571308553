"""Definitions of top-n metrics: of hits in one-plus-random, and of one list per user."""

from __future__ import annotations

import math

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

HITS = (
    Definition(
        key="recall",
        title="Recall",
        source="Cremonesi, Koren & Turrin (2010), RecSys, section 3, doi:10.1145/1864708.1864721.",
        group="list",
        protocols=("one-plus-random", *OF_LISTS),
        formula=r"\frac{1}{|T^+|} \sum_{(u,i) \in T^+} h(u,i)",
        options=(_TIES,),
        empty="Undefined without a relevant case, overall and for single users.",
        tasks=("some", "all"),
        why="how often an item that the user likes is in the list. In one-plus-random each case has its own list; with "
        "one list per user it is the mean over users of the share of relevant items in the list.",
    ),
    Definition(
        key="fallout",
        title="Fallout",
        source="Cremonesi, Garzotto, Negro, Papadopoulos & Turrin (2011), INTERACT, section 5.1, "
        "doi:10.1007/978-3-642-23765-2_11.",
        group="list",
        protocols=("one-plus-random",),
        formula=r"\frac{1}{|T^-|} \sum_{(u,i) \in T^-} h(u,i)",
        options=(_TIES,),
        direction="lower",
        empty="Undefined without an irrelevant case, overall and for single users.",
        tasks=("some",),
        why="how often an item that the user dislikes is in the list.",
    ),
    Definition(
        key="precision-raghavan",
        title="Precision (Raghavan)",
        short="precision",
        source="Raghavan, Bollmann & Jung (1989), TOIS 7(3):205-229, doi:10.1145/65943.65945.",
        group="list",
        protocols=("one-plus-random",),
        formula=r"\frac{r g}{r g + f (1 - g)}",
        options=(_G, _TIES),
        empty="Undefined if recall or fallout is undefined or nothing was retrieved (0/0).",
        tasks=("some",),
        why="recall and fallout in one number, given the generality g. It is not the precision of the list, and it is "
        "close to 1 if g is.",
        has_user_values=False,
    ),
    Definition(
        key="f",
        title="F",
        short="F",
        source="Cremonesi, Garzotto, Negro, Papadopoulos & Turrin (2011), INTERACT, section 5.1, "
        "doi:10.1007/978-3-642-23765-2_11.",
        group="list",
        protocols=("one-plus-random",),
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
    Definition(
        key="precision",
        title="Precision",
        source="Gunawardana & Shani (2009), JMLR 10:2935-2962, section 5.2.",
        group="list",
        formula=r"\frac{1}{n} \sum_{j=1}^{n} \mathrm{rel}_j",
        empty=f"{NO_RELEVANT} Shorter lists are divided by n, too.",
        tasks=("some",),
        why="the share of good items in a list of fixed length.",
    ),
    Definition(
        key="f-beta",
        title="F of precision and recall",
        short="F",
        source="van Rijsbergen (1979), Information Retrieval, chapter 7.",
        group="list",
        formula=r"\frac{(1 + \beta^2) P r}{\beta^2 P + r}",
        options=(
            Choice("beta", 1.0, "Weight of recall against precision.", low=0.0, is_open=True),
            Choice("of", "users", "Mean over users of F, or F of the means.", words=("users", "means")),
        ),
        empty=f"{NO_RELEVANT} 0 if precision and recall are both 0.",
        tasks=("some", "all"),
        why="precision and recall in one number; choose beta to suit the task. F1 has beta = 1.",
    ),
    Definition(
        key="hit-rate",
        title="Hit rate",
        source="Deshpande & Karypis (2004), TOIS 22(1):143-177, doi:10.1145/963770.963776.",
        group="list",
        formula=r"[\exists j \le n: \mathrm{rel}_j = 1]",
        empty=NO_RELEVANT,
        tasks=("some",),
        why="whether the list contains any good item.",
    ),
    Definition(
        key="ap",
        title="Average precision (mean: MAP)",
        short="AP",
        source="Buckley & Voorhees (2000), SIGIR, doi:10.1145/345508.345543; over all relevant items as "
        "trec_eval computes it.",
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
        why="good items count more the higher they rank, and (over all relevant items) missing items are penalised.",
    ),
    Definition(
        key="rr",
        title="Reciprocal rank (mean: MRR)",
        short="RR",
        source="Voorhees (1999), The TREC-8 question answering track report, NIST SP 500-246.",
        group="list",
        formula=r"1 / \min \{j \le n: \mathrm{rel}_j = 1\}",
        empty=f"{NO_RELEVANT} 0 without a hit.",
        tasks=("some",),
        why="how far down the first good item is; later items do not count.",
    ),
    Definition(
        key="dcg",
        title="Discounted cumulative gain",
        short="DCG",
        source="Järvelin & Kekäläinen (2002), TOIS 20(4):422-446, doi:10.1145/582415.582418. Deviation: the "
        "discount is log2(j + 1) at every rank.",
        group="list",
        formula=r"\sum_{j=1}^{n} \frac{g_j}{\log_2 (j + 1)}",
        options=(_GAIN,),
        empty=NO_RELEVANT,
        high=math.inf,
        tasks=("some", "utility"),
        why="graded gain, discounted by rank. Not comparable between users with different numbers of good items.",
    ),
    Definition(
        key="ndcg",
        title="Normalised discounted cumulative gain",
        short="nDCG",
        source="Järvelin & Kekäläinen (2002), TOIS 20(4):422-446, doi:10.1145/582415.582418. Deviation: the "
        "discount of dcg.",
        group="list",
        formula=r"\mathrm{DCG}_n / \mathrm{DCG}_n^{\mathrm{ideal}}",
        options=(_GAIN,),
        empty=NO_RELEVANT,
        tasks=("some", "all"),
        why="graded gain, discounted by rank, as a share of the ideal list's.",
    ),
    Definition(
        key="utility",
        title="Utility of the list",
        source="Gunawardana & Shani (2009), JMLR 10:2935-2962, section 5.3.",
        group="list",
        formula=r"\sum_{j=1}^{n} u_j",
        empty="Undefined for users without an item of positive utility.",
        high=math.inf,
        tasks=("utility",),
        why="the total utility of a list of fixed length that is viewed entirely.",
    ),
    Definition(
        key="fpr",
        title="False-positive rate",
        short="false-positive rate",
        source="Gunawardana & Shani (2009), JMLR 10:2935-2962, section 5.2.",
        group="list",
        formula=r"\frac{FP}{FP + TN}",
        direction="lower",
        empty=f"{NO_RELEVANT} Also without an irrelevant candidate.",
        tasks=("some",),
        why="the share of irrelevant items that are recommended.",
    ),
    Definition(
        key="fdr",
        title="False discovery rate",
        short="false discovery rate",
        source="Benjamini & Hochberg (1995), JRSS B 57(1):289-300, for the term.",
        group="list",
        formula=r"\frac{FP}{TP + FP}",
        direction="lower",
        empty=f"{NO_RELEVANT} Also with an empty list.",
        tasks=("some",),
        why="the share of the list that is not good. Some course notes call it fallout, which is a different metric.",
    ),
)
