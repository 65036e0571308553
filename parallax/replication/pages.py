"""A replication as a page, as Markdown and as files: ours beside the published, and always said to be simulated."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.charts import people as charts
from analysis.enums import VARIABLES
from analysis.models import Report
from analysis.narrative import perceived as of_people
from analysis.narrative import plan as of_plan
from analysis.narrative import verdict
from charting import marks, render
from charting.theme import Spec
from evaluation.experiments.document import Block, Grid, Heading, Picture, Points, Text, markdown, page
from parallax.replication import beside
from parallax.replication.claims import NO, YES, Judged, Ours, judged
from parallax.replication.published import Published

TITLE = "Looking for good recommendations, once more, with simulated participants"
HERE, PUBLISHED = "here", "published in 2011"
PPI = 300


@dataclass(frozen=True)
class Replication:
    """Everything that a page is made from."""

    paper: Published
    report: Report
    names: Mapping[str, str]
    novelty_r: float | None
    facts: Mapping[str, Any]

    @property
    def results(self) -> Mapping[str, Any]:
        """The report's numbers."""
        found: Mapping[str, Any] = self.report.results
        return found

    def claims(self) -> list[Judged]:
        """Every statement of the paper, judged."""
        ours = Ours(self.results, self.names, self.novelty_r)
        return [judged(claim, ours) for claim in self.paper.claims]

    def tables(self) -> dict[str, Grid]:
        """Tables 1 and 2, the data of Figures 2 to 5, and the claims."""
        found = {"table-1": beside.table_1(self.results, self.paper, self.names)}
        found["table-2"] = beside.table_2(self.results, self.paper, self.names)
        found["table-2-intervals"] = beside.intervals(self.results, self.names)
        for grid, variable in zip(
            beside.figures(self.results, self.names), sorted(VARIABLES, key=lambda one: one.figure), strict=True
        ):
            found[f"figure-{variable.figure}"] = grid
        found["claims"] = beside.claims(self.claims())
        return found


def specs(made: Replication) -> dict[str, tuple[str, Spec]]:
    """Every figure by its key, with what it shows in words: metrics beside the published, and box plots of ours."""
    found: dict[str, tuple[str, Spec]] = {}
    lines = {made.names[line["condition"]]: line for line in made.results["objective"]["lengths"][0]["table"]}
    for kind, title in beside.KINDS:
        both = [
            name for name, line in lines.items() if line[kind] is not None and kind in made.paper.table_2.get(name, {})
        ]
        if not both:
            continue
        ours = {name: _estimate(lines[name][kind], lines[name]["intervals"][kind]) for name in both}
        printed = {name: (made.paper.table_2[name][kind],) * 3 for name in both}
        words = f"{title} at 5 here (filled) and as published (outlined)"
        spec = marks.bars({HERE: ours, PUBLISHED: printed}, title=words, x_title=f"{title} at 5", decimals=3)
        found[f"table-2-{kind}"] = (words, spec)
    by_key = {one["key"]: one for one in made.results["variables"]}
    for variable in sorted(VARIABLES, key=lambda one: one.figure):
        finding = of_people.box_title(by_key[variable.key])
        box = charts.box(by_key[variable.key], f"Simulated participants: {finding}")
        if box is not None:
            words = f"Figure {variable.figure} here: {variable.in_text} of simulated participants"
            found[f"figure-{variable.figure}"] = (words, box)
    return found


def _estimate(value: float, bounds: list[float] | None) -> tuple[float, float, float]:
    """A value with its interval, which holds it."""
    low, high = bounds or (value, value)
    return value, min(low, value), max(high, value)


def blocks(made: Replication, pictures: Mapping[str, Picture]) -> list[Block]:
    """The whole page."""
    results, tables = made.results, made.tables()
    badge = "Simulated participants" + (", synthetic ratings" if made.facts["is_synthetic"] else "")
    found: list[Block] = [
        Heading(TITLE, 1),
        Text(f"{badge}. {verdict.simulated_notice(results)}"),
        Text(
            f"Replicated is: {made.paper.source}. Every published number below is printed there; what the paper only "
            "draws is left blank and not read off."
        ),
        Text("".join(run.text for run in verdict.headline(results)) + ". " + verdict.paragraph(results)),
        beside.conditions(results, made.paper, made.facts),
        Heading("Statements of the paper"),
        Text(_count(made.claims())),
        tables["claims"],
        Heading("Table 1: the partial orders"),
        tables["table-1"],
        Heading("Table 2: recall, fallout and F"),
        tables["table-2"],
        tables["table-2-intervals"],
        Text("The published F and recall together imply a precision near 1 in every row, within their rounding."),
        *(pictures[key] for key in pictures if key.startswith("table-2")),
    ]
    for variable in sorted(VARIABLES, key=lambda one: one.figure):
        key = f"figure-{variable.figure}"
        found.append(Heading(f"Figure {variable.figure}: {variable.in_text}"))
        if key in pictures:
            found.append(pictures[key])
        found.append(tables[key])
    found += [
        Heading("Plan and deviations"),
        Points((*of_plan.frozen(results), *of_plan.deviations(results))),
        Heading("Slips in the paper"),
        Points(made.paper.slips),
        Heading("Where everything is"),
        Text(
            f"The study is {made.report.study.slug}, its report number {made.report.number} is in the folder report, "
            f"inputs {made.report.inputs_hash[:12]}, design {made.report.study.design_hash[:12]}. Tables are in "
            "tables, figures in figures, every number in replication.json."
        ),
    ]
    return found


def _count(found: list[Judged]) -> str:
    same, other = (sum(one.verdict == verdict for one in found) for verdict in (YES, NO))
    return (
        f"Of {len(found)} statements, {same} come out as in the paper, {other} do not, and {len(found) - same - other} "
        "could not be decided. Only significant results decide: a statement counts as in the paper, or not, where the "
        "95% bootstrap interval over participants or the named test leaves no doubt on these data, and a result that "
        "is not significant counts as neither. The participants are simulated from the ratings of other users, so this "
        "describes the design, the algorithms and the measures, and is no evidence whether the paper is right about "
        "people."
    )


def printed(made: Replication) -> str:
    """Tables 1 and 2 and the data of Figures 2 to 5, ours beside the published, for a terminal."""
    parts = []
    for key, grid in made.tables().items():
        if key == "claims":
            parts.append("\n".join(f"  {one.verdict:<20}  {one.claim.says} ({one.ours})" for one in made.claims()))
            continue
        parts.append(f"{grid.caption}\n\n{_aligned(grid)}")
    return "\n\n".join(parts)


def _aligned(grid: Grid) -> str:
    """A table in columns of one width."""
    lines = [grid.head, *grid.rows]
    widths = [max(len(line[place]) for line in lines) for place in range(len(grid.head))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )


def write(made: Replication, folder: Path) -> list[Path]:
    """Write replication.html, .md and .json, figures and tables; the same replication gives the same bytes."""
    contents: dict[str, bytes] = {}
    pictures = {}
    for key, (words, spec) in specs(made).items():
        drawing = render.svg(spec)
        contents[f"figures/{key}.svg"] = drawing.encode()
        contents[f"figures/{key}.png"] = render.png(spec, ppi=PPI)
        pictures[key] = Picture(f"figures/{key}.svg", words, drawing)
    for key, grid in made.tables().items():
        stream = io.StringIO(newline="")
        csv.writer(stream, lineterminator="\n").writerows([grid.head, *grid.rows])
        contents[f"tables/{key}.csv"] = stream.getvalue().encode()
        contents[f"tables/{key}.md"] = markdown([grid]).encode()
    whole = blocks(made, pictures)
    contents["replication.md"] = markdown(whole).encode()
    contents["replication.html"] = page(TITLE, whole).encode()
    contents["replication.json"] = (
        json.dumps(_numbers(made), indent=2, ensure_ascii=False, allow_nan=False, sort_keys=True) + "\n"
    ).encode()
    written = []
    for name, content in contents.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        written.append(path)
    return written


def _numbers(made: Replication) -> dict[str, Any]:
    return {
        "paper": made.paper.key,
        "is_simulated": True,
        "facts": dict(made.facts),
        "study": made.report.study.slug,
        "design_hash": made.report.study.design_hash,
        "report_inputs_hash": made.report.inputs_hash,
        "names": dict(made.names),
        "novelty_r": made.novelty_r,
        "published": {
            "table_1": {
                key: {tier: list(names) for tier, names in tiers.items()} for key, tiers in made.paper.table_1.items()
            },
            "table_2": {name: dict(values) for name, values in made.paper.table_2.items()},
        },
        "here": {
            "table_1": {one["key"]: one["orders"]["tukey"]["rows"] for one in made.results["variables"]},
            "table_2": made.results["objective"]["lengths"][0]["table"],
            "figures": {one["key"]: one["described"] for one in made.results["variables"]},
        },
        "claims": [
            {"says": one.claim.says, "where": one.claim.where, "verdict": one.verdict, "ours": one.ours}
            for one in made.claims()
        ],
    }
