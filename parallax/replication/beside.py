"""Our tables beside the published ones, as grids of text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from analysis.enums import VARIABLE_OF, VARIABLES
from analysis.tables.cells import NONE, written
from evaluation.experiments.document import Grid
from parallax.replication.claims import Judged
from parallax.replication.published import TIERS, Published
from parallax.replication.stages import PAPERS_FACTORS

Result = Mapping[str, Any]
COLUMNS = (("accuracy", "Accuracy"), ("fon", "First-order novelty"), ("son", "Second-order novelty"),
           ("satisfaction", "Global satisfaction"))  # fmt: skip
KINDS = (("recall", "Recall"), ("fallout", "Fallout"), ("precision", "Precision"), ("f", "F"))
MARK = "†"


def table_1(results: Result, paper: Published, names: Mapping[str, str]) -> Grid:
    """The partial orders: the tiers of every variable here, and as published."""
    by_key = {one["key"]: one for one in results["variables"]}
    rows = []
    for key, name in COLUMNS:
        tiers = by_key[key]["orders"]["tukey"]["rows"]
        published = paper.table_1["novelty" if key in ("fon", "son") else key]
        for tier, row in zip(TIERS, tiers, strict=True):
            unordered = set(row["unordered"])
            ours = [f"{names[label]}{MARK}" if label in unordered else names[label] for label in row["names"]]
            rows.append((f"{name}, {tier}", ", ".join(ours) or NONE, ", ".join(published[tier])))
    caption = (
        f"Table 1. Partial orders by Tukey's test. {MARK} no significant differences here. The paper has one column "
        "for both novelties; it stands here twice."
    )
    return Grid(caption, ("Tier", "Here, simulated", "Published"), tuple(rows), is_words=True)


def table_2(results: Result, paper: Published, names: Mapping[str, str]) -> Grid:
    """Recall, fallout, precision and F at 5: our value, and the published one."""
    rows = []
    for line in results["objective"]["lengths"][0]["table"]:
        name = names[line["condition"]]
        cells = [name]
        for kind, _title in KINDS:
            cells.append(NONE if line[kind] is None else written(line[kind], 3, is_share=True))
            if kind in paper.table_2[name]:
                cells.append(written(paper.table_2[name][kind], 3 if kind == "fallout" else 2, is_share=True))
        rows.append(tuple(cells))
    printed = paper.table_2[paper.algorithms[0]]
    head = [""]
    for kind, title in KINDS:
        head += [f"{title}, here", "published"] if kind in printed else [f"{title}, here"]
    return Grid("Table 2. At lists of 5. The paper prints no precision.", tuple(head), tuple(rows))


def intervals(results: Result, names: Mapping[str, str]) -> Grid:
    """What 95 % of resamples of users give for our values."""
    rows = []
    for line in results["objective"]["lengths"][0]["table"]:
        cells = [names[line["condition"]]]
        for kind, _title in KINDS:
            bounds = line["intervals"][kind]
            cells.append(NONE if bounds is None else " to ".join(written(one, 3, is_share=True) for one in bounds))
        rows.append(tuple(cells))
    head = ("", *(title for _kind, title in KINDS))
    return Grid("Our values: 95 % of resamples of users.", head, tuple(rows))


def figure(results: Result, key: str, names: Mapping[str, str]) -> Grid:
    """The numbers behind one of Figures 2 to 5; the paper draws its own and prints none of them."""
    defined = VARIABLE_OF[key]
    variable = next(one for one in results["variables"] if one["key"] == key)
    rows: list[tuple[str, ...]] = []
    for label, name in names.items():
        found = variable["described"].get(label)
        if found is None:
            rows.append((name, "0", *(NONE,) * 7))
            continue
        numbers = [found[field] for field in ("mean", "whisker_low", "q1", "median", "q3", "whisker_high")]
        cells = (written(value, 2, defined.is_share) for value in numbers)
        rows.append((name, str(found["n"]), *cells, str(len(found["outliers"]))))
    head = ("", "n", "Mean", "Whisker from", "Quartile 1", "Median", "Quartile 3", "Whisker to", "Outliers")
    caption = (
        f"Figure {defined.figure}. {defined.name} ({defined.unit}) of simulated participants. The paper draws its "
        "figure and prints none of these numbers."
    )
    return Grid(caption, head, tuple(rows))


def figures(results: Result, names: Mapping[str, str]) -> list[Grid]:
    """Figures 2 to 5."""
    return [figure(results, variable.key, names) for variable in sorted(VARIABLES, key=lambda one: one.figure)]


def claims(found: Sequence[Judged]) -> Grid:
    """Every statement of the paper that our numbers can be judged against."""
    rows = tuple(
        (
            one.claim.says + (f" (Read here as {one.claim.read_as}.)" if one.claim.read_as else ""),
            one.claim.where,
            one.verdict,
            one.ours,
        )
        for one in found
    )
    return Grid(
        "Statements of the paper, judged on our numbers; in brackets 95% bootstrap intervals over participants.",
        ("Statement", "Where", "Verdict", "Our numbers"),
        rows,
        is_words=True,
    )


def conditions(results: Result, paper: Published, facts: Mapping[str, Any]) -> Grid:
    """What is otherwise here than in the paper."""
    told = paper.conditions
    objective = results["objective"]
    n, k = results["flow"]["analysed"], len(results["conditions"])
    rows = (
        ("Participants", told["participants"], f"{n} simulated ones in {k} conditions; nobody was asked"),
        ("Who asked", told["who_asked"], "a program that walks the pages over HTTP"),
        ("Assignment", told["assignment"], "permuted blocks within strata, by the study's seed"),
        ("Dataset", told["dataset"], facts["dataset"]),
        ("Users", f"{told['n_users']:,}", f"{facts['n_users']:,}"),
        ("Items", f"{told['n_items']:,}", f"{facts['n_items']:,}"),
        ("Ratings", f"about {told['n_ratings']:,}", f"{facts['n_ratings']:,}"),
        ("Ratings hidden", told["hidden"], f"{facts['hidden']:.0%} of those of the users that models see"),
        ("Relevant cases", f"{told['n_relevant']:,}", f"{objective['n_relevant'] or 0:,}"),
        ("Irrelevant cases", "not printed", f"{objective['n_irrelevant'] or 0:,}"),
        ("PureSVD", "50 and 300 factors", _factors(facts["factors"])),
    )
    return Grid("The study of the paper and this one.", ("", "Published", "Here"), rows, is_words=True)


def _factors(factors: Sequence[int]) -> str:
    said = " and ".join(map(str, factors)) + " factors"
    return said if tuple(factors) == PAPERS_FACTORS else f"{said}; AsySVD and LSA have {factors[0]}"
