"""Sections on what a run measured."""

from __future__ import annotations

import itertools

from analysis.charts import objective as charts
from analysis.narrative import figures as titles
from analysis.narrative import objective as narrative
from analysis.narrative.words import length_words
from analysis.results.objective import ObjectiveSide, ProfileLength
from analysis.results.report import Results
from analysis.tables import objective as tables
from documents.blocks import Figure, FigureMaker, Section
from evaluation.reported_kinds import HITS, LOWER_IS_BETTER, kind_name
from inference.results import Undefined
from studies.design.narrative.plan import level


def metrics_section(results: Results, figure: FigureMaker) -> Section:
    """What the run measured, at every profile length."""
    run = results.objective
    whole, *cut = run.lengths
    section = Section("metrics", "Metrics", "objective")
    for length in run.lengths:
        section.say(narrative.best_and_worst(length, run.n, run.tested[0]))
        section.say(narrative.separated(length, run.tested[0]))
    for length in cut:
        as_many = narrative.as_many_as_participants(results.study, length.profile_length)
        section.say(narrative.shorter(whole, length, run.tested[0], as_many=as_many))
    section.say(narrative.unmeasured(run))
    section.draw(_bars(run, run.tested[0], figure))
    section.put(tables.table_2(run, results.conditions))
    return section


def metrics_in_detail(results: Results, figure: FigureMaker) -> Section:
    """The supplement's metrics: intervals, orders, lists as served, and curves over N."""
    run = results.objective
    section = Section("objective", "Metrics in detail", "objective")
    for length in run.lengths:
        section.say(narrative.served(length))
    section.put(tables.served_table(run))
    section.draw(*(_bars(run, kind, figure) for kind in run.tested[1:]))
    whole, *cut = run.lengths
    section.put(tables.intervals_table(whole))
    section.draw(*(_curves(whole, kind, run.n, figure) for kind in HITS))
    section.draw(*(_hasse(whole, kind, run.n, figure) for kind in run.tested))
    for length in cut:
        section.put(tables.intervals_table(length))
    for length, kind in itertools.product(run.lengths, run.tested):
        section.say(narrative.separated(length, kind))
        section.put(tables.objective_order(length, kind))
    return section


def _bars(run: ObjectiveSide, kind: str, figure: FigureMaker) -> Figure | None:
    """A metric by algorithm."""
    whole = run.lengths[0]
    if not whole.defined_values(kind):
        return None
    caption = (
        f"{kind_name(kind)} with 95% intervals. "
        f"{'Lower is better. ' if kind in LOWER_IS_BETTER else ''}Outlined bars: profiles cut to the participants' "
        "length."
    )
    chart = charts.bars(run.lengths, kind, narrative.bars_title(whole, kind), run.n)
    return figure(f"bars-{kind}", chart, caption, tables.intervals_table(whole))


def _hasse(length: ProfileLength, kind: str, n: int, figure: FigureMaker) -> Figure | None:
    """The order that the comparisons of pairs support, at one profile length."""
    tests = length.tests(kind)
    if isinstance(tests.sign_tests if tests.pairs is None else tests.pairs, Undefined):
        return None
    up = "; lower is better, so the best are at the top" if kind in LOWER_IS_BETTER else "; up is better"
    caption = (
        f"Pairs at α = {level(length.alpha)}, {tests.n_users:,} users, "
        f"{length_words(length.profile_length)}{up}. A line joins two algorithms where the upper dominates the lower "
        "and no other lies between them. A dashed box has no significant differences."
    )
    chart = charts.hasse(length, kind, titles.objective_hasse_title(length, kind), n)
    return figure(f"hasse-{kind}", chart, caption, tables.objective_order(length, kind))


def _curves(length: ProfileLength, kind: str, n: int, figure: FigureMaker) -> Figure | None:
    """A metric by length of the list at one profile length."""
    if not length.curves(kind):
        return None
    caption = (
        f"{kind_name(kind)} by length of the list, {length_words(length.profile_length)}; the hairline marks the {n} "
        f"of the tables.{' Lower is better.' if kind == 'fallout' else ''}"
    )
    chart = charts.curves(length, kind, narrative.curves_title(length, kind, n), n)
    return figure(f"curves-{kind}", chart, caption, tables.curve_table(length, kind))
