"""What participants picked of their lists, by condition, and the tests of picks and of recorded behaviour."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from statistics import fmean

from analysis.enums import Variable, scale_variables
from analysis.read.inputs import Answers
from analysis.read.responses import Reading
from analysis.results.choices import ChoicesOfCondition, ComparedShares, is_of_picks
from analysis.results.plan import ReportPlan
from inference.choices import ItemChoice, item_choice, mean_shares, picking_test
from inference.power import wilson
from inference.results import Undefined
from studies.participation.selectors.choices import Chosen


def choices_by_condition(reading: Reading, choices: Mapping[int, Chosen]) -> tuple[ChoicesOfCondition, ...]:
    """Describe the choices of the analysed participants; empty in studies without a choice."""
    picks: dict[str, list[Chosen]] = {name: [] for name in reading.analysed.conditions}
    for person, key in zip(reading.analysed.people, reading.keys, strict=True):
        if key in choices:
            picks[person.condition].append(choices[key])
    return tuple(_described(name, own) for name, own in picks.items()) if choices else ()


def picks_of_items(reading: Reading, choices: Mapping[int, Chosen]) -> ItemChoice | Undefined | None:
    """What the picks of the analysed participants depended on; None in studies without a choice."""
    own = [choices[key] for key in reading.keys if key in choices]
    picks = [(each.rank, each.ratings) for each in own if each.rank is not None]
    return item_choice(picks) if choices else None


def tested_shares(answers: Answers, variables: Iterable[Variable], plan: ReportPlan) -> tuple[ComparedShares, ...]:
    """The test of every planned choice and recorded behaviour for which the plan froze one."""
    return tuple(_tested(answers, variable, plan.alpha) for variable in variables if variable.key in plan.tests)


def _tested(answers: Answers, variable: Variable, alpha: float) -> ComparedShares:
    rows = next(outcome.rows for outcome in answers.outcomes if outcome.key == variable.key)
    counts: dict[str, list[tuple[int, int]]] = {name: [] for name in answers.conditions}
    for person, (_condition, score, _answers) in zip(answers.people, rows, strict=True):
        if score is not None:
            counts[person.condition].append((int(Fraction(score) * person.n_items), person.n_items))
    if is_of_picks(variable.key):
        picked = {name: (sum(done > 0 for done, _n in own), len(own)) for name, own in counts.items()}
        result = picking_test(picked, alpha=alpha)
    else:
        result = mean_shares(counts, alpha=alpha)
    return ComparedShares(variable_key=variable.key, scale_variables=scale_variables([variable]), result=result)


def _described(condition: str, choices: list[Chosen]) -> ChoicesOfCondition:
    n, picked = len(choices), [each for each in choices if each.rank is not None and each.popularity is not None]
    limits = wilson(len(picked), n) if n else None
    return ChoicesOfCondition(
        condition=condition,
        n=n,
        n_chosen=len(picked),
        share=len(picked) / n if n else None,
        low=limits.low if limits else None,
        high=limits.high if limits else None,
        rank=fmean(each.rank or 0 for each in picked) if picked else None,
        popularity=fmean(each.popularity or 0 for each in picked) if picked else None,
    )
