"""Adjusted comparisons, losses of participants, the item-level view, and the lists that participants saw."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from analysis.compute.perceived import values_of
from analysis.enums import VARIABLE_OF, Variable
from analysis.read.inputs import Answers
from analysis.read.lists import ShownLists
from analysis.read.responses import Reading
from analysis.read.sample import Backgrounds
from analysis.results import covariates as results
from analysis.results.sample import Flow
from core.provenance import rng_for
from inference.aggregation import aggregation
from inference.ancova import ParticipantValues, ancova
from inference.attrition import attrition_test
from inference.attrition_bounds import Arm, lee_bounds, worst_case_bounds
from inference.clusters import clustered
from inference.correlation import between_conditions, within_conditions
from inference.covariates import Covariate
from inference.groups import ExactGroups
from inference.item_effects import AdjustedItems, ItemAnswers, adjusted_items
from inference.mediation import mediation
from inference.results import Undefined
from studies.models import Study

RESAMPLES = 5000
POPULARITY, DIVERSITY = "popularity", "diversity"
GRID = 1_000_000  # parts of a unit in which characteristics of lists are correlated


def covariate_analyses(
    study: Study,
    reading: Reading,
    flow: Flow,
    *,
    lists: ShownLists | None,
    consumed: str,
    tested: Sequence[Variable],
    primary: Variable | None,
    backgrounds: Backgrounds,
    alpha: float,
) -> results.CovariateAnalyses | None:
    """Compute all of them; None without analysed participants, or where each participant met all conditions.

    `lists` are those of the analysed participants, None where items are missing; `primary` is None where it is not
    tested; `consumed` is the study's participle.
    """
    answers = reading.analysed
    if not answers.people or answers.occasions:
        return None
    # One thread: sums over threads differ in their last bits.
    without_primary = tested[0] if answers.people[0].accuracy_sum is None else VARIABLE_OF["accuracy"]
    with threadpool_limits(limits=1, user_api="blas"):
        return results.CovariateAnalyses(
            adjustment=_adjustment(answers, backgrounds, tested, alpha),
            attrition=None if primary is None else _attrition(answers, flow, primary),
            items=_item_view(answers, consumed, alpha),
            lists=_list_effects(study, lists, answers, primary or without_primary),
        )


def _adjustment(
    answers: Answers, backgrounds: Backgrounds, tested: Sequence[Variable], alpha: float
) -> results.Adjustment:
    every = (*backgrounds.factors, *backgrounds.covariates)
    return results.Adjustment(
        factors=tuple(factor.name for factor in backgrounds.factors),
        covariates=tuple(covariate.name for covariate in backgrounds.covariates),
        variables=tuple(_adjusted(answers, backgrounds, variable, alpha) for variable in tested),
        # A participant's value for each of their items.
        ratings=_ratings(
            answers, [(each.name, [each.values[person] for person in _persons(answers)]) for each in every], alpha
        ),
    )


def _adjusted(answers: Answers, backgrounds: Backgrounds, variable: Variable, alpha: float) -> results.AdjustedVariable:
    values = values_of(answers, variable)
    data = participants_with(answers, variable, (*backgrounds.factors, *backgrounds.covariates))
    led = [(row, by) for row, by in enumerate(backgrounds.interviewers) if by is not None and values[row] is not None]
    interviewed = _participants(answers, values, [row for row, _by in led])
    return results.AdjustedVariable(
        key=variable.key,
        name=variable.name,
        ancova=ancova(data, alpha=alpha),
        interviewers=clustered(interviewed, [by for _row, by in led], alpha=alpha) if led else None,
    )


def participants_with(answers: Answers, variable: Variable, covariates: Sequence[Covariate]) -> ParticipantValues:
    """The participants with a value of a variable, and their covariates."""
    values = values_of(answers, variable)
    return _participants(answers, values, [row for row, value in enumerate(values) if value is not None], covariates)


def _participants(
    answers: Answers, values: Sequence[float | None], rows: Sequence[int], covariates: Sequence[Covariate] = ()
) -> ParticipantValues:
    return ParticipantValues(
        values=[value for row in rows if (value := values[row]) is not None],
        conditions=[answers.people[row].condition for row in rows],
        covariates=[Covariate(covariate.name, [covariate.values[row] for row in rows]) for covariate in covariates],
        names=answers.conditions,
    )


def _persons(answers: Answers) -> list[int]:
    """The participant of each slot, by number; slots are ordered by participant, in the order of entry."""
    return [number for number, person in enumerate(answers.people) for _item in range(person.n_items)]


def item_ratings(answers: Answers) -> ItemAnswers | Undefined | None:
    """The rating of every item that was shown; undefined where some are missing, None in a study that asks for none."""
    persons = _persons(answers)
    if len(persons) != len(answers.shown):
        return Undefined("The ratings of single items are incomplete.")
    values = [float(slot.rating) for slot in answers.shown if slot.rating is not None]
    if len(values) < len(answers.shown):
        return None
    return ItemAnswers(
        values=values,
        conditions=[slot.condition for slot in answers.shown],
        persons=persons,
        items=[slot.item for slot in answers.shown],
        names=answers.conditions,
    )


def _ratings(
    answers: Answers, covariates: Sequence[tuple[str, Sequence[float | str | None]]], alpha: float
) -> AdjustedItems | Undefined | None:
    ratings = item_ratings(answers)
    if not isinstance(ratings, ItemAnswers):
        return ratings
    return adjusted_items(ratings, [Covariate(name, values) for name, values in covariates], alpha=alpha)


def _attrition(answers: Answers, flow: Flow, variable: Variable) -> results.Attrition:
    """Lost is who held a slot, is not under way and is not analysed."""
    ended = {row.condition: (row.assigned - row.under_way, row.analysed) for row in flow.by_condition}
    counts = {name: (n_assigned, max(n_assigned - n, 0)) for name, (n_assigned, n) in ended.items()}
    observed: dict[str, list[float]] = {name: [] for name in counts}
    for person, value in zip(answers.people, values_of(answers, variable), strict=True):
        if value is not None:
            observed[person.condition].append(value)
    arms = {
        name: Arm(observed[name], max(n_assigned, len(observed[name]))) for name, (n_assigned, _lost) in counts.items()
    }
    return results.Attrition(
        test=attrition_test(counts),
        variable=variable.key,
        low=float(variable.low),
        high=float(variable.high),
        pairs=tuple(
            results.AttritionPair(
                a=a,
                b=b,
                observed=float(np.mean(arms[a].values) - np.mean(arms[b].values)),
                worst_case=worst_case_bounds(arms[a], arms[b], variable.low, variable.high),
                lee=lee_bounds(arms[a], arms[b]),
            )
            for a, b in combinations(arms, 2)
            if len(arms[a].values) and len(arms[b].values)
        ),
    )


def _item_view(answers: Answers, consumed: str, alpha: float) -> results.ItemView | None:
    """Ratings by whether an item was consumed, or else heard of; novelty counts the opposite.

    None in a study that does not ask for all of them.
    """
    ratings = item_ratings(answers)
    novelty = [(slot.fon, slot.son) for slot in answers.shown if slot.fon is not None and slot.son is not None]
    if ratings is None or len(novelty) < len(answers.shown):
        return None
    if isinstance(ratings, Undefined):
        return results.ItemView(model=ratings, watched=ratings, known=ratings)
    was_consumed = [1.0 - fon for fon, _son in novelty]
    heard_of = [float(fon - son) for fon, son in novelty]
    known = [1.0 - son for _fon, son in novelty]
    return results.ItemView(
        model=adjusted_items(
            ratings, [Covariate(consumed, was_consumed), Covariate("heard of", heard_of)], alpha=alpha
        ),
        watched=aggregation(ratings.values, was_consumed, ratings.conditions, ratings.persons, alpha=alpha),
        known=aggregation(ratings.values, known, ratings.conditions, ratings.persons, alpha=alpha),
    )


def _list_effects(
    study: Study, lists: ShownLists | None, answers: Answers, variable: Variable
) -> results.ListEffects | Undefined:
    if lists is None:
        return Undefined("The items of the lists are incomplete.")
    values = values_of(answers, variable)
    has_diversity = ~np.isnan(lists.diversity)
    rows = [row for row, value in enumerate(values) if value is not None and has_diversity[row]]
    columns = {
        POPULARITY: [float(lists.popularity[row]) for row in rows],
        DIVERSITY: [float(lists.diversity[row]) for row in rows],
    }
    data = _participants(answers, values, rows)
    return results.ListEffects(
        diversity_by=lists.diversity_by,
        n_without=int((~has_diversity).sum()),
        variable=variable.key,
        conditions=tuple(_lists_of(answers, lists, name) for name in answers.conditions),
        correlations=tuple(_correlation(data, name, column, variable) for name, column in columns.items()),
        mediation=(
            mediation(data, columns, resamples=RESAMPLES, rng=rng_for(study.seed, "report", "mediation"))
            if rows
            else Undefined("No participant has a list whose diversity is known.")
        ),
    )


def _lists_of(answers: Answers, lists: ShownLists, name: str) -> results.ListsOfCondition:
    here = np.array([person.condition == name for person in answers.people])
    diverse = lists.diversity[here & ~np.isnan(lists.diversity)]
    return results.ListsOfCondition(
        condition=name,
        n=int(here.sum()),
        popularity=float(lists.popularity[here].mean()) if here.any() else None,
        diversity=float(diverse.mean()) if len(diverse) else None,
    )


def _correlation(
    data: ParticipantValues, characteristic: str, column: Sequence[float], variable: Variable
) -> results.ListCorrelation:
    x, y = (_on_grid(data, values) for values in (column, data.values))
    return results.ListCorrelation(
        characteristic=characteristic,
        variable=variable.key,
        within=within_conditions(x, y),
        between=between_conditions(x, y),
    )


def _on_grid(data: ParticipantValues, values: Sequence[float]) -> ExactGroups:
    groups: dict[str, list[int]] = {name: [] for name in data.names}
    for name, value in zip(data.conditions, values, strict=True):
        groups[name].append(round(value * GRID))
    return ExactGroups({name: points for name, points in groups.items() if points}, GRID)
