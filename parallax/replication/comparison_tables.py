"""Our tables beside the published ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from analysis.enums import VARIABLE_OF
from analysis.present.words import decimal, interval_cell
from analysis.results.objective import MetricValues
from analysis.results.report import Results
from documents.numbers import NONE, number
from documents.tables import Numbers, Table, Words, plain_table, table
from parallax.replication.claims import Judgement
from parallax.replication.published import TIERS, Published
from parallax.replication.stages import PUBLISHED_FACTORS

COLUMNS = (
    *(("accuracy", "Accuracy"), ("fon", "First-order novelty")),
    *(("son", "Second-order novelty"), ("satisfaction", "Global satisfaction")),
)
KINDS = (("recall", "Recall"), ("fallout", "Fallout"), ("precision", "Precision"), ("f", "F"))
DESCRIBED = (
    *(("mean", "Mean"), ("whisker_low", "Whisker from"), ("q1", "Quartile 1")),
    *(("median", "Median"), ("q3", "Quartile 3"), ("whisker_high", "Whisker to")),
)
MARK = "†"


def table_1(results: Results, paper: Published, names: Mapping[str, str]) -> Table:
    """The partial orders: the tiers of every variable here, and as published."""
    by_key = {variable.key: variable for variable in results.variables}
    rows = []
    for key, name in COLUMNS:
        published = paper.table_1["novelty" if key in ("fon", "son") else key]
        for tier, row in zip(TIERS, by_key[key].orders.tukey.rows, strict=True):
            marked = [f"{names[label]}{MARK}" if label in row.unordered else names[label] for label in row.names]
            rows.append((f"{name}, {tier}", ", ".join(marked) or NONE, ", ".join(published[tier])))
    caption = (
        f"Table 1. Partial orders by Tukey's test. {MARK} no significant differences here. The paper has one column "
        "for both novelties; it stands here twice."
    )
    return plain_table(
        "table-1", caption, ("Tier", "Here" if results.is_live else "Here, simulated", "Published"), rows, is_words=True
    )


def table_2(results: Results, paper: Published, names: Mapping[str, str]) -> Table:
    """Recall, fallout, precision and F at 5: our value, and the published one."""
    rows = []
    for line in results.objective.lengths[0].table:
        name = names[line.condition]
        cells = [name, paper.types[name]]
        for kind, _title in KINDS:
            cells.append(decimal(line.value(kind), 3, is_share=True).text)
            if kind in paper.table_2[name]:
                cells.append(number(paper.table_2[name][kind], 3 if kind == "fallout" else 2, is_share=True))
        rows.append(tuple(cells))
    printed = paper.table_2[paper.algorithms[0]]
    head = ["", "Type"]
    for kind, title in KINDS:
        head += [f"{title}, here", "published"] if kind in printed else [f"{title}, here"]
    return plain_table("table-2", "Table 2. At lists of 5. The paper prints no precision.", head, rows)


def intervals(results: Results, names: Mapping[str, str]) -> Table:
    """95% bootstrap intervals of our values over users."""

    def limits(kind: str, line: MetricValues) -> str:
        low, high = line.intervals[kind] or (None, None)
        return interval_cell(low, high, 3, is_share=True).text

    return table(
        "table-2-intervals",
        "Our values: 95% bootstrap CI over users.",
        results.objective.lengths[0].table,
        Words("", lambda line: names[line.condition]),
        *(Numbers(title, partial(limits, kind)) for kind, title in KINDS),
    )


def figure(results: Results, key: str, names: Mapping[str, str]) -> Table:
    """The numbers behind one of Figures 2 to 5; the paper draws its own and prints none of them."""
    defined = VARIABLE_OF[key]
    described = next(variable.described for variable in results.variables if variable.key == key)

    def shown(field: str, label: str) -> str:
        return number(getattr(described[label], field), 2, defined.is_share) if label in described else NONE

    people = "participants" if results.is_live else "simulated participants"
    caption = (
        f"Figure {defined.figure}. {defined.name} ({defined.unit}) of {people}. The paper draws its "
        "figure and prints none of these numbers."
    )
    return table(
        f"figure-{defined.figure}",
        caption,
        names,
        Words("", names.__getitem__),
        Numbers("n", lambda label: str(described[label].n) if label in described else "0"),
        *(Numbers(head, partial(shown, field)) for field, head in DESCRIBED),
        Numbers("Outliers", lambda label: str(len(described[label].outliers)) if label in described else NONE),
    )


def claims(judgements: Sequence[Judgement]) -> Table:
    """Every statement of the paper that our numbers can be judged against."""

    def statement(judged: Judgement) -> str:
        claim = judged.claim
        return f"{claim.says} (Read here as {claim.read_as}.)" if claim.read_as else claim.says

    return table(
        "claims",
        "Statements of the paper, judged on our numbers.",
        judgements,
        Words("Statement", statement),
        Words("Where", lambda judged: judged.claim.where),
        Words("Verdict", lambda judged: judged.verdict),
        Words("Our numbers", lambda judged: judged.ours),
    )


def conditions(results: Results, paper: Published, facts: Mapping[str, Any]) -> Table:
    """How this study differs from the paper's."""
    published, objective, share, factors = paper.conditions, results.objective, facts["hidden"], facts["factors"]
    hidden = "by a split of another kind" if share is None else f"{share:.0%} of those of the users that models see"
    pure_svd = " and ".join(map(str, factors)) + " factors"
    if not results.is_live and tuple(factors) != PUBLISHED_FACTORS:
        pure_svd += f"; AsySVD and LSA have {factors[0]}"
    rows = (
        *_participants(results, published),
        ("Dataset", published["dataset"], facts["dataset"]),
        ("Users", f"{published['n_users']:,}", f"{facts['n_users']:,}"),
        ("Items", f"{published['n_items']:,}", f"{facts['n_items']:,}"),
        ("Ratings", f"about {published['n_ratings']:,}", f"{facts['n_ratings']:,}"),
        ("Ratings hidden", published["hidden"], hidden),
        ("Relevant cases", f"{published['n_relevant']:,}", f"{objective.n_relevant or 0:,}"),
        ("Irrelevant cases", "not printed", f"{objective.n_irrelevant or 0:,}"),
        ("PureSVD", "50 and 300 factors", pure_svd),
    )
    return plain_table(
        "conditions", "The study of the paper and this one.", ("", "Published", "Here"), rows, is_words=True
    )


def _participants(results: Results, published: Mapping[str, Any]) -> tuple[tuple[str, str, str], ...]:
    n, k = results.flow.analysed, len(results.conditions)
    if results.is_live:
        who = "the pages of the study" if results.flow.interviews is None else "interviewers"
        return (
            ("Participants", published["participants"], f"{n} people in {k} conditions"),
            ("Who asked", published["who_asked"], who),
        )
    return (
        ("Participants", published["participants"], f"{n} simulated ones in {k} conditions; no human participants"),
        ("Who asked", published["who_asked"], "a program that walks the pages over HTTP"),
        ("Assignment", published["assignment"], "permuted blocks within strata, by the study's seed"),
    )
