"""Our tables beside the published ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from analysis.enums import VARIABLE_OF, VARIABLES
from analysis.present.words import decimal, interval_cell
from analysis.results.report import Results
from documents.numbers import NONE, number
from documents.tables import Table, plain_table
from parallax.replication.claims import Judgement
from parallax.replication.published import TIERS, Published
from parallax.replication.stages import PUBLISHED_FACTORS

COLUMNS = (("accuracy", "Accuracy"), ("fon", "First-order novelty"), ("son", "Second-order novelty"),
           ("satisfaction", "Global satisfaction"))  # fmt: skip
KINDS = (("recall", "Recall"), ("fallout", "Fallout"), ("precision", "Precision"), ("f", "F"))
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
    rows = []
    for line in results.objective.lengths[0].table:
        cells = [names[line.condition]]
        for kind, _title in KINDS:
            low, high = line.intervals[kind] or (None, None)
            cells.append(interval_cell(low, high, 3, is_share=True).text)
        rows.append(tuple(cells))
    head = ("", *(title for _kind, title in KINDS))
    return plain_table("table-2-intervals", "Our values: 95% bootstrap CI over users.", head, rows)


def figure(results: Results, key: str, names: Mapping[str, str]) -> Table:
    """The numbers behind one of Figures 2 to 5; the paper draws its own and prints none of them."""
    defined = VARIABLE_OF[key]
    described = next(variable.described for variable in results.variables if variable.key == key)
    rows: list[tuple[str, ...]] = []
    for label, name in names.items():
        box = described.get(label)
        if box is None:
            rows.append((name, "0", *(NONE,) * 7))
            continue
        numbers = (box.mean, box.whisker_low, box.q1, box.median, box.q3, box.whisker_high)
        cells = (number(value, 2, defined.is_share) for value in numbers)
        rows.append((name, str(box.n), *cells, str(len(box.outliers))))
    head = ("", "n", "Mean", "Whisker from", "Quartile 1", "Median", "Quartile 3", "Whisker to", "Outliers")
    people = "participants" if results.is_live else "simulated participants"
    caption = (
        f"Figure {defined.figure}. {defined.name} ({defined.unit}) of {people}. The paper draws its "
        "figure and prints none of these numbers."
    )
    return plain_table(f"figure-{defined.figure}", caption, head, rows)


def figures(results: Results, names: Mapping[str, str]) -> list[Table]:
    """Figures 2 to 5."""
    ordered = sorted(VARIABLES, key=lambda variable: variable.figure)
    return [figure(results, variable.key, names) for variable in ordered]


def claims(judgements: Sequence[Judgement]) -> Table:
    """Every statement of the paper that our numbers can be judged against."""
    rows = [
        (
            judged.claim.says + (f" (Read here as {judged.claim.read_as}.)" if judged.claim.read_as else ""),
            judged.claim.where,
            judged.verdict,
            judged.ours,
        )
        for judged in judgements
    ]
    return plain_table(
        "claims",
        "Statements of the paper, judged on our numbers.",
        ("Statement", "Where", "Verdict", "Our numbers"),
        rows,
        is_words=True,
    )


def conditions(results: Results, paper: Published, facts: Mapping[str, Any]) -> Table:
    """How this study differs from the paper's."""
    published, objective = paper.conditions, results.objective
    rows = (
        *_participants(results, published),
        ("Dataset", published["dataset"], facts["dataset"]),
        ("Users", f"{published['n_users']:,}", f"{facts['n_users']:,}"),
        ("Items", f"{published['n_items']:,}", f"{facts['n_items']:,}"),
        ("Ratings", f"about {published['n_ratings']:,}", f"{facts['n_ratings']:,}"),
        ("Ratings hidden", published["hidden"], _hidden(facts["hidden"])),
        ("Relevant cases", f"{published['n_relevant']:,}", f"{objective.n_relevant or 0:,}"),
        ("Irrelevant cases", "not printed", f"{objective.n_irrelevant or 0:,}"),
        ("PureSVD", "50 and 300 factors", _factors(facts["factors"], is_live=results.is_live)),
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
        ("Participants", published["participants"], f"{n} simulated ones in {k} conditions; nobody was asked"),
        ("Who asked", published["who_asked"], "a program that walks the pages over HTTP"),
        ("Assignment", published["assignment"], "permuted blocks within strata, by the study's seed"),
    )


def _hidden(share: float | None) -> str:
    return "by a split of another kind" if share is None else f"{share:.0%} of those of the users that models see"


def _factors(factors: Sequence[int], *, is_live: bool) -> str:
    words = " and ".join(map(str, factors)) + " factors"
    return words if is_live or tuple(factors) == PUBLISHED_FACTORS else f"{words}; AsySVD and LSA have {factors[0]}"
