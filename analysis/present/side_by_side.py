"""Preferences between lists side by side: who was preferred, ties, sides, and how alike the lists were."""

from __future__ import annotations

from analysis.present.words import cell_of, coverage, decimal, interval_cell, probability, share_cell, whole
from analysis.results.report import Results
from analysis.results.side_by_side import ComparedPair, DavidsonModel, Preference
from charting import marks
from documents.blocks import FigureMaker, Section
from documents.numbers import f_statistic, interval, listed, named_p, number, percent, plural
from documents.tables import Numbers, Table, Words, table
from inference.paired import SignEffect
from inference.results import Pair, Undefined

ANSWERS = ("Clearly 1st", "Slightly 1st", "No difference", "Slightly 2nd", "Clearly 2nd")


def preferences_section(results: Results, figure: FigureMaker) -> Section:
    """Every question of preference; empty in studies that compare no lists."""
    section = Section("preferences", "Preferences between lists", "perceived")
    if not results.preferences:
        return section
    primary, *exploratory = results.preferences
    section.say(*sentences(primary, results.plan.alpha), style="says")
    section.say(
        *(line for each in exploratory for line in sentences(each, results.plan.alpha, is_primary=False)),
        _lists(primary),
        "Participants judged a list beside another, so these are no judgements of a list alone. Participants "
        "who did not finish are taken as missing at random. Questions other than the primary one are exploratory.",
    )
    numbers = _table(results)
    if len(primary.pairs) == 1:
        rows = {each.variable.name: each.pairs[0] for each in results.preferences}
        ends = f"clearly {primary.pairs[0].a} (−2) to clearly {primary.pairs[0].b} (2)"
    else:
        rows = {f"{pair.a} – {pair.b}": pair for pair in primary.pairs}
        ends = "clearly the first (−2) to clearly the second (2)"
    counts = {name: dict(zip(range(-2, 3), pair.steps, strict=True)) for name, pair in rows.items()}
    if not any(map(sum, (pair.steps for pair in rows.values()))):
        section.put(numbers)
        return section
    title = "Answers to every question" if len(primary.pairs) == 1 else primary.variable.name
    chart = marks.likert_bars(counts, steps=range(-2, 3), title=title, x_title=f"Preference, {ends}")
    section.draw(figure("preferences", chart, "Share of judgements in each of the five steps; their mean.", numbers))
    return section


# Sentences


def finding(preference: Preference, alpha: float) -> str:
    """The headline."""
    tests, model = preference.tests, preference.model
    if isinstance(tests, Undefined):
        return "Preferences between the lists could not be tested."
    if model is None:
        (pair,) = tests.pairs
        if not pair.is_significant:
            return f"No evidence that participants preferred {pair.a} to {pair.b}, or {pair.b} to {pair.a}."
        return "Participants preferred {} to {}.".format(*_ordered(pair))
    names = [name for name, _worth in _from_best(model)]
    if model.test.p >= alpha:
        return f"No evidence that participants preferred one of {listed(names)} to another."
    return f"Participants' preferences differed between {listed(names)}, in this order."


def sentences(preference: Preference, alpha: float, *, is_primary: bool = True) -> list[str]:
    """The test of a question and what stands beside it; of other questions than the primary one with their words."""
    tests, model = preference.tests, preference.model
    of = "" if is_primary else f"“{preference.variable.name}” "
    if isinstance(tests, Undefined):
        return [f"{of}{tests.reason}"]
    pairs = {(pair.a, pair.b): pair for pair in preference.pairs}
    if model is None:
        (tested,) = tests.pairs
        (first, second), verb = _ordered(tested), "preferred" if is_primary else "chose"
        opening = f"{of}Participants {verb} {first} {'to' if is_primary else 'over'} {second}"
        if not tested.is_significant:
            opening = (
                f"{of}We found no evidence that participants {verb} {first} {'to' if is_primary else 'over'} {second}"
            )
        exact = f", exact {named_p(tested.p or 0.0, alpha)}"
        return [
            f"{opening}: {_share(pairs[tested.a, tested.b], first, exact)} P({first}) − P({second}) = "
            f"{number(abs(tested.difference), 2, True)}, 95% bootstrap CI {_limits(tested, is_share=True)}. "
            f"{_sides(preference)}"
        ]
    test = f"{f_statistic(model.test.df, model.test.df_within, model.test.f)}, {named_p(model.test.p)}"
    worths = ", ".join(f"{name} {number(worth)}" for name, worth in _from_best(model))
    verb = "differed" if model.test.p < alpha else "did not differ significantly"
    side = model.side
    return [
        f"{of}Log-worths {verb} between conditions, {test} (Davidson's model, variance clustered by "
        f"{plural(preference.n_participants, 'participant')}): {worths}. {_sides(preference)} Its log odds were "
        f"{number(side.value)}, 95% CI {interval(side.interval.low, side.interval.high)}, {named_p(side.p)}.",
        *(_of_pair(pairs[tested.a, tested.b], tested, alpha) for tested in tests.pairs),
    ]


def _from_best(model: DavidsonModel) -> list[tuple[str, float]]:
    return sorted(model.worths.items(), key=lambda worth: -worth[1])


def _ordered(pair: Pair) -> tuple[str, str]:
    return (pair.a, pair.b) if pair.difference > 0 else (pair.b, pair.a)


def _share(pair: ComparedPair, first: str, exact: str = "") -> str:
    """How many of those with a preference were for `first`, with the exact interval, and how many saw no difference."""
    ties = f"{pair.steps[2]:,} saw no difference."
    if not isinstance(effect := pair.effect, SignEffect):
        return ties
    n, share, low, high = pair.n_a, effect.superiority, effect.interval.low, effect.interval.high
    if first != pair.a:
        n, share, low, high = pair.n_b, 1 - share, 1 - high, 1 - low
    of = f"{n:,} of {pair.n_a + pair.n_b:,} with a preference"
    return f"{of} ({percent(share)}, 95% CI {interval(low, high, 2, True)}{exact}); {ties}"


def _of_pair(pair: ComparedPair, tested: Pair, alpha: float) -> str:
    first, second = _ordered(tested)
    return (
        f"{first} over {second}: {_share(pair, first)} Difference of log-worths {number(abs(tested.difference))}, "
        f"{coverage(alpha)} CI {_limits(tested)}, {named_p(tested.p or 0.0, alpha)}."
    )


def _limits(tested: Pair, *, is_share: bool = False) -> str:
    """The limits of the difference between the preferred condition and the other."""
    low, high = tested.ci_low or 0.0, tested.ci_high or 0.0
    return interval(low, high, 2, is_share) if tested.difference > 0 else interval(-high, -low, 2, is_share)


def _sides(preference: Preference) -> str:
    n = preference.n_left + preference.n_right
    return f"The left list was preferred in {preference.n_left:,} of {plural(n, 'judgement')} with a preference."


def _lists(preference: Preference) -> str:
    shared = [f"{pair.a} and {pair.b} {percent(pair.shared)}" for pair in preference.pairs if pair.shared is not None]
    n = sum(pair.n_identical for pair in preference.pairs)
    identical = f"{plural(n, 'pair')} of identical lists {'is' if n == 1 else 'are'} a tie by design and not counted."
    return (
        f"Items in both lists, of all shown: {', '.join(shared)}. {identical if n else 'No two lists were identical.'}"
    )


Line = tuple[Preference, ComparedPair, Pair | None]


def _answered(at: int) -> Numbers[Line]:
    return Numbers(ANSWERS[at], lambda line: whole(line[1].steps[at]))


def _table(results: Results) -> Table:
    lines: list[Line] = []
    for each in results.preferences:
        tested = {} if isinstance(each.tests, Undefined) else {(pair.a, pair.b): pair for pair in each.tests.pairs}
        lines += [(each, pair, tested.get((pair.a, pair.b))) for pair in each.pairs]
    is_share = results.preferences[0].model is None
    scale = "shares of judgements" if is_share else "log-worths, corrected for all pairs (studentized range)"
    return table(
        "preferences",
        "Preferences",
        lines,
        Words("1st – 2nd", lambda line: f"{line[1].a} – {line[1].b}"),
        *map(_answered, range(5)),
        Numbers(
            "For the 1st",
            lambda line: share_cell(line[1].effect.superiority if isinstance(line[1].effect, SignEffect) else None),
            "perceived",
        ),
        Numbers("Difference", lambda line: cell_of(line[2], lambda pair: decimal(pair.difference, 2, is_share))),
        Numbers(
            f"{coverage(results.plan.alpha)} CI",
            lambda line: cell_of(line[2], lambda pair: interval_cell(pair.ci_low, pair.ci_high, 2, is_share)),
        ),
        Numbers("p", lambda line: cell_of(line[2], lambda pair: probability(pair.p))),
        note=f"For the 1st: of the judgements with a preference. Differences of {scale}.",
        group_name="Question",
        group=lambda line: line[0].variable.name,
    )
