"""Sections on what a run measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis.charts import run as charts
from analysis.exports.blocks import Figure, FigureMaker, Section
from analysis.narrative import figures as titles
from analysis.narrative import objective as of_run
from analysis.tables import objective as run_tables
from analysis.tables.levels import level_of

Result = Mapping[str, Any]


def objective_section(results: Result, figure: FigureMaker) -> Section:
    """What the run measured, at every profile length."""
    found = results["objective"]
    section = Section("objective", "Objective quality", "objective")
    n, lengths = found["n"], found["lengths"]
    for one in lengths:
        section.say(of_run.best_and_worst(one, n))
    for one in lengths[1:]:
        section.say(of_run.shorter(lengths[0], one))
    section.put(run_tables.table_2(found))
    for one in lengths:
        section.say(of_run.served(one))
    section.put(run_tables.served_table(found), is_folded=True)
    bars = []
    for kind in ("recall", "fallout"):
        if any(line[kind] is not None for line in lengths[0]["table"]):
            spec = charts.bars(lengths, kind, of_run.bars_title(lengths[0], kind), n)
            caption = (
                f"{kind.capitalize()} with 95 % intervals of resampled users. "
                f"{'Lower is better. ' if kind == 'fallout' else ''}Outlined bars: profiles cut to the participants' "
                "length."
            )
            bars.append(figure(f"bars-{kind}", spec, caption, run_tables.intervals_table(found, 0)))
    section.draw(*bars)
    for place in range(1, len(lengths)):
        section.put(run_tables.intervals_table(found, place), is_folded=True)
    for place in range(len(lengths)):
        section.draw(_curves(found, place, "recall", figure), _curves(found, place, "fallout", figure))
    for one in lengths:
        section.head(of_run.length_words(one["profile_length"]).capitalize())
        section.draw(_hasse(one, "recall", n, figure), _hasse(one, "fallout", n, figure))
        for kind in ("recall", "fallout"):
            section.say(of_run.signs(one, kind))
            section.say(titles.no_objective_hasse(one, kind) if _hasse(one, kind, n, figure) is None else "")
            section.put(
                run_tables.objective_order(one, kind), is_folded=kind == "fallout" or bool(one["profile_length"])
            )
            section.put(run_tables.signs_table(one, kind), is_folded=True)
    return section


def _suffix(one: Result) -> str:
    return f"-{one['profile_length']}" if one["profile_length"] else ""


def _hasse(one: Result, kind: str, n: int, figure: FigureMaker) -> Figure | None:
    """The order by sign tests on the scale of the metric, at one profile length."""
    tests = one[kind]["sign_tests"]
    if not tests["is_defined"]:
        return None
    up = "; up is better, so the scale is turned over" if kind == "fallout" else "; up is better"
    caption = (
        f"Sign tests by user with Holm's correction at α = {level_of(one)}, {one[kind]['n_users']:,} users, "
        f"{of_run.length_words(one['profile_length'])}{up}. A line joins two algorithms where the upper dominates the "
        "lower and nobody stands between; bars are 95 % intervals of resampled users. A dashed symbol was told apart "
        "from nobody."
    )
    spec = charts.hasse(one, kind, titles.objective_hasse_title(one, kind), n)
    return figure(f"hasse-{kind}{_suffix(one)}", spec, caption, run_tables.objective_order(one, kind))


def _curves(found: Result, place: int, kind: str, figure: FigureMaker) -> Figure | None:
    """A metric by length of the list at one profile length."""
    one, n = found["lengths"][place], found["n"]
    if not any(line and None not in line for line in one["by_n"][kind].values()):
        return None
    spec = charts.curves(one, kind, of_run.curves_title(one, kind, n), n)
    caption = (
        f"{kind.capitalize()} by length of the list, {of_run.length_words(one['profile_length'])}; the hairline marks "
        f"the {n} that tables report.{' Lower is better.' if kind == 'fallout' else ''}"
    )
    return figure(f"curves-{kind}{_suffix(one)}", spec, caption, run_tables.curve_table(found, place, kind))
