"""What the run measured of the models."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from analysis.present.words import (
    Triple,
    around,
    cell_of,
    decimal,
    dominance_columns,
    interval_cell,
    length_words,
    ranks_cell,
    share_cell,
    tiered_names,
)
from analysis.results.objective import FULL_RANKING, KINDS, MetricValues, ObjectiveSide, ProfileLength
from analysis.results.report import ConditionFacts, Results, StudyFacts
from charting import marks
from charting.theme import Spec
from documents.blocks import Figure, FigureMaker, Section
from documents.numbers import NONE, capital, listed, number, plural
from documents.tables import Cell, Numbers, Table, Words, plain_table, table
from evaluation.reported_kinds import ERRORS, HITS, LOWER_IS_BETTER, kind_at, kind_name, kind_word
from evaluation.splitting.registry import STRANGERS
from evaluation.tables import POOLED
from inference.pair_decisions import OfflinePairs
from inference.rank_sets import relation_rank_sets
from inference.results import Undefined
from recommenders.registry import families
from studies.design.narrative.plan import level
from studies.usage_data import CHOICE


def metrics_section(results: Results, figure: FigureMaker) -> Section:
    """What the run measured, at every profile length."""
    run = results.objective
    whole, *cut = run.lengths
    section = Section("metrics", "Metrics", "objective")
    for length in run.lengths:
        section.say(best_and_worst(length, run.n, run.tested[0]))
        section.say(_separated(length, run.tested[0]))
    for length in cut:
        as_many = profile_length_note(results.study, length.profile_length)
        section.say(rank_stability(whole, length, run.tested[0], as_many=as_many))
    section.say(by_popularity(whole))
    section.say(unmeasured(run))
    section.draw(_bars(run, run.tested[0], figure))
    section.put(table_2(run, results.conditions))
    return section


def metrics_in_detail(results: Results, figure: FigureMaker) -> Section:
    """The supplement's metrics: intervals, orders, lists as served, and curves over N."""
    run = results.objective
    section = Section("objective", "Metrics in detail", "objective")
    for length in run.lengths:
        section.say(served(length))
    section.put(_served_table(run))
    section.draw(*(_bars(run, kind, figure) for kind in run.tested[1:]))
    whole, *cut = run.lengths
    section.put(popularity_table(whole))
    section.put(_intervals_table(whole))
    section.draw(*(_curves(whole, kind, run.n, figure) for kind in HITS))
    section.draw(*(_hasse(whole, kind, run.n, figure) for kind in run.tested))
    for length in cut:
        section.put(_intervals_table(length))
    for length, kind in itertools.product(run.lengths, run.tested):
        section.say(_separated(length, kind))
        section.put(_objective_order(length, kind))
    return section


def _bars(run: ObjectiveSide, kind: str, figure: FigureMaker) -> Figure | None:
    """A metric by algorithm, with whole profiles and with profiles of the participants' length below."""
    whole = run.lengths[0]
    if not whole.defined_values(kind):
        return None
    caption = (
        f"{kind_name(kind)} with 95% intervals. "
        f"{'Lower is better. ' if kind in LOWER_IS_BETTER else ''}Outlined bars: profiles cut to the participants' "
        "length."
    )
    chart = marks.bars(
        {
            f"profiles of {length.profile_length} ratings" if length.profile_length else "whole profiles": values
            for length in run.lengths[:2]
            if (values := _estimates(length, kind))
        },
        title=bars_title(whole, kind),
        x_title=kind_at(kind, run.n),
        decimals=3,
        is_share=kind not in ERRORS,
    )
    return figure(f"bars-{kind}", chart, caption, _intervals_table(whole))


def _hasse(length: ProfileLength, kind: str, n: int, figure: FigureMaker) -> Figure | None:
    tests = length.tests(kind)
    if isinstance(tests.sign_tests if tests.pairs is None else tests.pairs, Undefined):
        return None
    up = "; lower is better, so the best are at the top" if kind in LOWER_IS_BETTER else "; up is better"
    caption = (
        f"Pairs at α = {level(length.alpha)}, {tests.n_users:,} users, "
        f"{length_words(length.profile_length)}{up}. A line joins two algorithms where the upper dominates the lower "
        "and no other lies between them. A dashed box has no significant differences."
    )
    order = tests.order
    title = f"{len(order.pairs)} of {plural(order.n_possible, 'pair')} differ significantly in {kind_word(kind)}"
    chart = hasse(length, kind, title, n)
    return figure(f"hasse-{kind}", chart, caption, _objective_order(length, kind))


def _curves(length: ProfileLength, kind: str, n: int, figure: FigureMaker) -> Figure | None:
    lines = length.curves(kind)
    if not lines:
        return None
    caption = (
        f"{kind_name(kind)} by length of the list, {length_words(length.profile_length)}; the hairline marks the {n} "
        f"of the tables.{' Lower is better.' if kind == 'fallout' else ''}"
    )
    chart = marks.curves(lines, title=_curves_title(length, kind, n), y_title=kind_name(kind), at_n=n)
    by_n = length.by_n[kind]
    heads = ["Algorithm", *map(str, range(1, 1 + max(map(len, by_n.values()))))]
    rows: list[list[str | Cell]] = [
        [name, *(decimal(value, 3, is_share=True) for value in by_n[name])] for name in length.conditions
    ]
    title = f"{kind_name(kind)} at every N, {length.averaged}"
    numbers = plain_table(f"{kind}-by-n-{slug(length.profile_length)}", title, heads, rows)
    return figure(f"curves-{kind}", chart, caption, numbers)


# Sentences


SAME_RECALL = 0.0005  # a smaller difference does not show in three digits


def best_and_worst(length: ProfileLength, n: int, kind: str = "recall") -> str:
    """The range of the main metric, with the algorithms at its ends."""
    values, words = length.defined_values(kind), length_words(length.profile_length)
    if not values:
        return f"There are no cases to measure {kind_word(kind)} on, {words}."
    means = ", the mean over users," if length.is_by_user else ""
    return f"{kind_at(kind, n)}{means} {words} ranges {_range(values, kind)}."


THIRDS = ("Most popular", "Middle", "Least popular")


def by_popularity(length: ProfileLength) -> str:
    """Recall among the most and the least popular hidden items; empty where they were not measured apart."""
    if len(length.by_popularity) < 2:
        return ""
    first, *_, last = length.by_popularity
    return (
        f"Recall ranges {_range(first.recall, 'recall')} where the hidden item is among the most popular, "
        f"{_range(last.recall, 'recall')} where it is among the least popular (thirds of the training ratings)."
    )


def lists_note(run: ObjectiveSide, length: ProfileLength) -> str:
    """What lists made elsewhere cover, and between which bounds their metrics lie; empty where all of it is known."""
    sentences = []
    for name, covered in length.coverage.items():
        bounds = [
            f"{kind_at(kind, run.n)} between {number(own[name][0], 3, True)} and {number(own[name][1], 3, True)}"
            for kind, own in length.bounds.items()
            if name in own
        ]
        if bounds or min(covered.profiles, covered.cases, covered.items) < 1:
            sentences.append(
                f"{name} has lists for {covered.profiles:.1%} of the test profiles, {covered.cases:.1%} of "
                f"the cases and {covered.items:.1%} of the items"
                + (f", so that its {listed(bounds)} lie, whatever follows the lists" if bounds else "")
            )
    if not sentences:
        return ""
    profiles = length_words(length.profile_length).capitalize()
    return (
        f"{profiles}: {'; '.join(sentences)}. All metrics are of the test profiles with every list, and a pair is "
        "undecided where bounds leave its sign open."
    )


def unmeasured(run: ObjectiveSide) -> str:
    """What the protocol cannot measure; empty for one-plus-random.

    Examples
    --------
    >>> unmeasured(ObjectiveSide(n=5, protocol={"name": "one-plus-random"}, split={}, lengths=()))
    ''
    """
    if run.tested != ERRORS:
        fallout = "Fallout has no value: full ranking makes one list per user and does not measure which disliked items"
        return f"{fallout} reach it." if run.protocol["name"] == FULL_RANKING else ""
    values = run.lengths[0].values(run.tested[0])
    missing = [name for name, value in values.items() if value is None]
    sentence = (
        "Errors are measured on items that users chose to rate, and say nothing about the lists that participants met."
    )
    if not missing:
        return sentence
    predicts = "predicts" if len(missing) == 1 else "predict"
    return (
        f"{sentence} {listed(missing)} {predicts} no ratings, so comparisons with errors leave out {listed(missing)}."
    )


def _separated(length: ProfileLength, kind: str) -> str:
    tests, metric = length.tests(kind), kind_word(kind)
    profiles = length_words(length.profile_length)
    pairs = tests.sign_tests if tests.pairs is None else tests.pairs
    if isinstance(pairs, Undefined):
        return f"No pair of algorithms is compared by {metric} {profiles}. {pairs.reason}"
    n, cases = sum(pair.is_significant for pair in pairs.pairs), plural(tests.n_cases, "case")
    of_users = plural(tests.n_users, "user")
    sample = of_users if tests.n_users == tests.n_cases else f"{of_users}, {cases}"
    separated = f"{n} of {plural(len(pairs.pairs), 'pair')}"
    sentence = f"{profiles.capitalize()}, {metric} separates {separated} of algorithms ({sample})."
    if tests.order.cycle:
        sentence += f" {listed(tests.order.cycle)} dominate each other in a cycle, which is possible with sign tests."
    return sentence


def served(length: ProfileLength) -> str:
    """Whether recall of the lists as served ranks the algorithms alike; empty where it was not measured."""
    as_served, values = length.served.get("recall"), length.defined_values("recall")
    if not as_served or len(values) < len(length.conditions):
        return ""
    gaps = {name: abs(as_served[name] - values[name]) for name in length.conditions}
    widest = max(length.conditions, key=gaps.__getitem__)
    words = f"In the lists as served, with ties and empty slots as shown, {length_words(length.profile_length)}"
    if gaps[widest] < SAME_RECALL:
        return f"{words}, recall differs by less than .0005 for every algorithm."
    reversed_pairs = [
        f"{a} and {b}"
        for a, b in itertools.combinations(length.conditions, 2)
        if (values[a] - values[b]) * (as_served[a] - as_served[b]) < 0
    ]
    order = f"reverses {listed(reversed_pairs)}" if reversed_pairs else "ranks the algorithms in the same order"
    return f"{words}, recall {order}; it changes most for {widest}, by {number(gaps[widest], 3, True)}."


def bars_title(length: ProfileLength, kind: str) -> str:
    """What a bar chart of one metric shows: its range; which algorithms differ is said beside it."""
    values = length.defined_values(kind)
    if min(values.values()) == max(values.values()):
        return f"All algorithms have the same {kind_word(kind)}"
    return f"{capital(kind_word(kind))} {_range(values, kind)}"


def _range(values: Mapping[str, float], kind: str) -> str:
    ends = []
    for value in (min(values.values()), max(values.values())):
        names = listed([name for name in values if values[name] == value])
        ends.append(f"{number(value, 3, kind not in ERRORS)} ({names})")
    return f"from {ends[0]} to {ends[1]}"


def _curves_title(length: ProfileLength, kind: str, n: int) -> str:
    lines = length.curves(kind)
    sign = 1 if kind == "fallout" else -1
    first = sorted(lines, key=lambda name: sign * lines[name][n - 1])
    last = sorted(lines, key=lambda name: sign * lines[name][-1])
    longest = len(next(iter(lines.values())))
    if first == last:
        return f"The ranking by {kind} at {n} is still the ranking at {longest}"
    leads = "has the lowest fallout" if kind == "fallout" else f"leads in {kind}"
    if first[0] == last[0]:
        return f"{first[0]} {leads} at {n} and at {longest}; the ranking below it changes"
    return f"{first[0]} {leads} at {n}, {last[0]} at {longest}"


def rank_stability(whole: ProfileLength, cut: ProfileLength, kind: str = "recall", *, as_many: str = "") -> str:
    """Whether the ranking changes when profiles are shorter; `as_many` says whose profiles are as short, if any are."""
    before, after = whole.defined_values(kind), cut.defined_values(kind)
    if not before or not after:
        return ""
    sign = 1 if kind in LOWER_IS_BETTER else -1
    ranking_before = sorted(before, key=lambda name: sign * before[name])
    ranking_after = sorted(after, key=lambda name: sign * after[name])
    opening = (
        f"With every profile cut at random to {cut.profile_length} ratings,{as_many and f' {as_many},'} the ranking "
        f"by {kind_word(kind)}"
    )
    if ranking_before == ranking_after:
        return f"{opening} remains {', '.join(ranking_before)}."
    return f"{opening} is {', '.join(ranking_after)}; with whole profiles it is {', '.join(ranking_before)}."


def profile_length_note(study: StudyFacts, length: int) -> str:
    """What profiles of that length have in common with the participants'; empty where it is nothing.

    Where participants decided how many items they rated, the fewest that the study admits are compared.
    """
    if length != study.ratings_asked:
        return ""
    verb = "choose" if study.elicitation == CHOICE else "give"
    return f"as many as participants {verb}" + (" at least" if study.ratings_most else "")


def test_users_note(split: Mapping[str, Any]) -> str:
    """Whether the test users were as new to the models as participants are; empty where a file named the cases.

    Examples
    --------
    >>> test_users_note({"name": "probe"})
    'Other ratings of the test users trained the models; none of the participants’ did.'
    """
    if split["name"] != STRANGERS:
        known = "Other ratings of the test users trained the models; none of the participants’ did."
        return "" if split["name"] == "file" else known
    profile = f"{split['given']} of their ratings" if split["given"] else f"all of their ratings but {split['hidden']}"
    return (
        "The test users were as new to the models as the participants, because no rating of theirs was trained on; the "
        f"profiles had {profile}, drawn at random."
    )


# Tables


TYPES = {
    "The same for everyone": "non-personalised",
    "Neighbourhoods of items": "collaborative",
    "Neighbourhoods of users": "collaborative",
    "Latent factors": "collaborative",
    "Linear models": "collaborative",
    "Item features": "content",
}
RATES_NOTE = (
    f"Values are {POOLED}: a user with many cases has more weight. Exact limits (Clopper and Pearson) with the "
    "effective number of cases, as cases of one user are not independent."
)
POOLED_NOTE = (
    f"Values are {POOLED}: a user with many cases has more weight. "
    "Precision after Raghavan, Bollmann and Jung: where most cases are relevant it is close to 1 and F is close to "
    "recall, so comparisons count the two as one metric."
)


ERRORS_NOTE = (
    "Values are means over the users with predicted ratings from every algorithm that has a value, in rating points; "
    "lower is better. In the run's own table every rating has the same weight. An algorithm without predictions "
    "has no value."
)


def length_name(length: int) -> str:
    """A profile length in a heading."""
    return f"{length} ratings" if length else "whole profiles"


def _suffix(length: ProfileLength) -> str:
    return f", {length_name(length.profile_length)}" if length.profile_length else ""


def _header(kind: str, length: ProfileLength) -> str:
    return f"{kind_name(kind)}{_suffix(length)}, {length.averaged}"


def slug(length: int) -> str:
    """A profile length in the key of a table."""
    return f"profile-{length}" if length else "whole"


def table_2(objective: ObjectiveSide, conditions: Sequence[ConditionFacts]) -> Table:
    """Table 2: the tested metrics of each algorithm with their limits at every profile length."""
    # The paper's column: the family of an algorithm in the registry.
    of_family = {key: TYPES[title] for title, keys in families().items() if title in TYPES for key in keys}
    types = {facts.label: of_family.get(facts.algorithm, NONE) for facts in conditions}
    at_n = "" if objective.kinds == ERRORS else f" at N = {objective.n}"
    rare = [
        f"{_header(kind, length).removesuffix(', pooled')} of {listed(names)}"
        for length in objective.lengths
        for kind, names in length.rare.items()
        if names
    ]
    rare_note = f" Fewer than 10 events: {'; '.join(rare)}." if rare else ""
    return table(
        "table-2",
        f"Table 2. Objective measures{at_n}",
        list(zip(*(length.table for length in objective.lengths), strict=True)),
        Words[Lines]("Algorithm", lambda lines: lines[0].condition),
        Words[Lines]("Type", lambda lines: types.get(lines[0].condition, NONE)),
        *(
            column
            for index, length in enumerate(objective.lengths)
            for kind in objective.tested
            for column in _with_limits(_header(kind, length), kind, index)
        ),
        note=f"{_means_note(objective) if objective.is_by_user else RATES_NOTE}{rare_note}",
    )


Lines = tuple[MetricValues, ...]  # of one condition at several profile lengths


def _with_limits(heading: str, kind: str, index: int = 0) -> tuple[Numbers[Lines], Numbers[Lines]]:
    is_share = kind not in ERRORS
    return (
        Numbers(heading, lambda lines: decimal(lines[index].value(kind), 3, is_share), "objective"),
        Numbers(
            "95% CI",
            lambda lines: cell_of(lines[index].intervals[kind], lambda ends: interval_cell(*ends, 3, is_share)),
        ),
    )


def _by_name(heading: str, values: Mapping[str, float | None]) -> Numbers[str]:
    return Numbers(heading, lambda name: decimal(values[name], 3, is_share=True), "objective")


def popularity_table(length: ProfileLength) -> Table | None:
    """Recall by the popularity of the hidden item."""
    if not length.by_popularity:
        return None
    return table(
        "by-popularity",
        "Recall by the popularity of the hidden item",
        length.conditions,
        Words[str]("Algorithm", str),
        *(_by_name(f"{THIRDS[part.third]} ({part.n_cases:,} cases)", part.recall) for part in length.by_popularity),
        note="Thirds of the training ratings, items in order of their number of ratings. Recall with whole profiles, "
        "pooled over the cases of each third; differences are not tested.",
    )


def _means_note(objective: ObjectiveSide) -> str:
    if objective.kinds == ERRORS:
        return ERRORS_NOTE
    measured = [kind for kind in KINDS if any(length.defined_values(kind) for length in objective.lengths)]
    missing = [kind_name(kind) for kind in KINDS if kind not in measured and kind not in HITS]
    note = (
        "Values are means over users: each user with a relevant case has the same weight. Recall is the share of the "
        "user's relevant cases in the list, precision the share of the list that is relevant cases; unrated items "
        "count as not relevant."
    )
    return f"{note} The run did not measure {listed(missing)}." if missing else note


def _intervals_table(length: ProfileLength) -> Table:
    return table(
        f"objective-{slug(length.profile_length)}",
        f"Objective measures with intervals, {length_name(length.profile_length)}",
        [(line,) for line in length.table],
        Words[Lines]("Algorithm", lambda lines: lines[0].condition),
        *(
            column
            for kind in (ERRORS if length.errors else KINDS)
            for column in _with_limits(f"{kind_name(kind)}, {length.averaged}", kind)
        ),
        note=f"{'' if length.is_by_user else POOLED_NOTE} Recall and fallout have exact limits, the others percentile "
        "intervals over resampled users.",
    )


def _served_table(objective: ObjectiveSide) -> Table | None:
    lengths = [length for length in objective.lengths if length.served]
    if not lengths:
        return None
    columns = []
    for length in lengths:
        served, suffix = length.served, _suffix(length)
        for kind in (kind for kind in HITS if kind in served):
            columns += [
                _by_name(_header(kind, length), length.values(kind)),
                _by_name(f"as served{suffix}", served[kind]),
            ]
        if "filled" in served:
            filled = {name: share_cell(share) for name, share in served["filled"].items()}
            columns.append(Numbers(f"Slots filled{suffix}", filled.__getitem__))
    return table(
        "as-served",
        "The same lists as they are served",
        lengths[0].conditions,
        Words[str]("Algorithm", str),
        *columns,
        note="The protocol breaks ties of equal scores at random; served lists have a fixed order, and slots without a "
        "score are filled by popularity.",
    )


def _objective_order(length: ProfileLength, kind: str) -> Table:
    tests = length.tests(kind)
    order = tests.order
    sets = relation_rank_sets(order.dominates, 1 - length.alpha).sets if order.names else {}
    better = f"{'lower' if kind in LOWER_IS_BETTER else 'higher'} {kind_word(kind)}"
    return table(
        f"order-{kind}-{slug(length.profile_length)}",
        f"Pairwise comparisons, {kind_word(kind)}, {length_name(length.profile_length)}",
        tiered_names(order),
        Words("Algorithm", lambda row: row[1]),
        Numbers(
            f"{kind_name(kind)}, {length.aggregation}",
            lambda row: decimal(order.locations[row[1]], 3, kind not in ERRORS),
            "objective",
        ),
        *dominance_columns(order),
        Numbers("Rank confidence set", lambda row: ranks_cell(sets[row[1]])),
        note=f"One algorithm dominates another where it has a significantly {better}, {_method(tests.pairs)}",
        group_name="Tier",
        group=lambda row: row[0],
    )


def _method(pairs: OfflinePairs | Undefined | None) -> str:
    """By which test pairs are ordered; reports of earlier versions have sign tests."""
    if not isinstance(pairs, OfflinePairs):
        return "by sign tests over users with Holm's correction."
    n_few = sum(pair.p_sign_flip is not None for pair in pairs.pairs)
    few = f" In {n_few} of {plural(len(pairs.pairs), 'pair')} fewer than 25 users differ: sign flips must agree there."
    return f"by single-step max-|t| over all pairs, clustered by user.{few if n_few else ''}"


# Charts


def _estimates(length: ProfileLength, kind: str) -> dict[str, Triple]:
    intervals = {line.condition: line.intervals[kind] for line in length.table}
    return {name: around(value, intervals[name]) for name, value in length.defined_values(kind).items()}


def hasse(length: ProfileLength, kind: str, title: str, n: int) -> Spec | None:
    """The order by sign tests with the values of the metric; None where these contradict it.

    Sign tests count users, so that their order may be the reverse of the metric's, or a cycle. `objective_order` then
    has the order, and no picture claims it.
    """
    order, values = length.tests(kind).order, length.defined_values(kind)
    if order.is_empty or order.cycle:
        return None
    higher_is_better = kind not in LOWER_IS_BETTER
    for above, below in order.covers:
        better, worse = (above, below) if higher_is_better else (below, above)
        if not values[better] > values[worse]:
            return None
    words = "" if higher_is_better else ": lower is better, so the best are at the top"
    return marks.hasse(
        _estimates(length, kind),
        list(order.covers),
        title=title,
        y_title=f"{kind_at(kind, n)}{words}",
        side="objective",
        higher_is_better=higher_is_better,
        decimals=3,
        is_share=kind not in ERRORS,
    )
