"""Describe the analysed participants: answers about themselves with their balance, duration, details, comments."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import pairwise
from statistics import fmean, median, stdev
from typing import Any

import numpy as np
from django.db.models import Count
from numpy.typing import NDArray

from analysis.read.inputs import Answers
from analysis.read.responses import Reading
from analysis.read.sample import Opened, Respondent, comment_questions, questions_about
from analysis.results import sample as results
from core.provenance import rng_for
from inference.balance import (
    LargestDifference,
    categorical_difference,
    largest_by_chance,
    largest_difference,
    numeric_difference,
)
from inference.counts import overdispersion
from inference.rank_tests import kruskal_wallis
from inference.results import Undefined
from studies.instrument.questionnaires.conditions import is_number
from studies.instrument.questionnaires.questions import OTHER, Question
from studies.instrument.questionnaires.schema import Questionnaire
from studies.models import ExternalId, ListRequest, Participant
from studies.monitoring.selectors.quality import PERSON_NAMES

Read = Callable[[Respondent], Any]
Floats = NDArray[np.float64]


def described_sample(
    reading: Reading, questionnaire: Questionnaire, opened: Opened, seed: int
) -> results.Sample | None:
    """The analysed participants by arm; None where there is none. `questionnaire` has its placeholders filled."""
    people, conditions = reading.respondents, reading.arms
    if not people:
        return None
    keyed = list(zip(people, reading.keys, strict=True))
    return results.Sample(
        conditions=conditions,
        characteristics=tuple(
            characteristic
            for question in questions_about(questionnaire)
            for characteristic in _characteristics(question, people, conditions, seed)
        ),
        by_condition=tuple(
            _conduct([(person, key) for person, key in keyed if person.condition == name], opened)
            for name in conditions
        ),
        total=_conduct(keyed, opened),
        asks_comments=bool(comment_questions(questionnaire)),
        arm="sequence" if reading.sequences else "condition",
    )


def _english(texts: Mapping[str, str]) -> str:
    return texts.get("en") or next(iter(texts.values()), "")


def _characteristics(
    question: Question, people: Sequence[Respondent], conditions: Sequence[str], seed: int
) -> list[results.Characteristic]:
    key, text = question.key, _english(question.text)
    if not question.rows:
        return [_characteristic(question, key, text, people, conditions, seed)]
    rows = [(row.key, f"{text} {_english(row.text)}") for row in question.rows]
    return [_characteristic(question, f"{key}.{row}", words, people, conditions, seed, row=row) for row, words in rows]


def _characteristic(
    question: Question,
    key: str,
    wording: str,
    people: Sequence[Respondent],
    conditions: Sequence[str],
    seed: int,
    *,
    row: str = "",
) -> results.Characteristic:

    def answer(person: Respondent) -> Any:
        whole = person.answers.get(question.key)
        return (whole or {}).get(row) if row else whole

    labels = {value: label for value, label in _labels(question).items() if any(_has(answer(p), value) for p in people)}
    has_numbers = not labels and not _labels(question) and not question.is_in_words
    describe = partial(_answers, answer=answer, values=tuple(labels), has_numbers=has_numbers)
    groups = {name: [person for person in people if person.condition == name] for name in conditions}
    described = {name: describe(group) for name, group in groups.items()}
    difference = _of_numbers if has_numbers else _of_choices if question.takes_several else _of_categories
    balance: LargestDifference | Undefined | None = None
    by_chance = None
    if has_numbers or labels:
        rows = {
            name: np.array([_brought(answer(person), tuple(labels)) for person in group]).reshape(-1, len(labels) + 1)
            for name, group in groups.items()
        }
        balance = largest_difference(rows, difference)
    if isinstance(balance, LargestDifference):
        rng = rng_for(seed, "report", f"balance-{key}")
        sizes = [len(group) for group in groups.values()]
        by_chance = largest_by_chance(np.concatenate(list(rows.values())), sizes, difference, rng)
    return results.Characteristic(
        key=key,
        question=wording,
        unit=_english(question.unit),
        is_multiple=question.takes_several,
        answers=tuple(labels.values()),
        by_condition=tuple(described.values()),
        total=describe(people),
        balance=balance,
        by_chance=by_chance,
    )


def _brought(answer: Any, values: tuple[Any, ...]) -> list[float]:
    """An answer as a row of numbers: whether each value was chosen, and whether there is an answer; or the number."""
    if values:
        return [*(float(answer is not None and _has(answer, value)) for value in values), float(answer is not None)]
    return [float(answer) if is_number(answer) else math.nan]


def _of_numbers(a: Floats, b: Floats) -> float | None:
    """As `numeric_difference`, of rows that are not numbers where there is no answer."""
    return numeric_difference(*(rows[~np.isnan(rows)] for rows in (a, b)))


def _of_categories(a: Floats, b: Floats) -> float | None:
    """Of single choices: the rows count each category, and the answers at last."""
    return categorical_difference(*(rows[:, :-1].sum(axis=0).astype(int).tolist() for rows in (a, b)))


def _of_choices(a: Floats, b: Floats) -> float | None:
    """The largest difference over choices of any number, each chosen or not by those who answered."""
    (*chosen_a, n_a), (*chosen_b, n_b) = (rows.sum(axis=0).astype(int).tolist() for rows in (a, b))
    differences = [categorical_difference((x, n_a - x), (y, n_b - y)) for x, y in zip(chosen_a, chosen_b, strict=True)]
    return max((difference for difference in differences if difference is not None), default=None)


def _labels(question: Question) -> dict[Any, str]:
    labels = dict(question.fixed_answers) | {choice.value: _english(choice.label) for choice in question.choices}
    return {**labels, OTHER: _english(question.other)} if question.other else labels


def _has(answer: Any, value: Any) -> bool:
    return value in answer if isinstance(answer, list) else answer == value


def _answers(
    people: Sequence[Respondent], *, answer: Read, values: tuple[Any, ...], has_numbers: bool
) -> results.AnswersOfCondition:
    present = [value for value in map(answer, people) if value is not None and (not has_numbers or is_number(value))]
    return results.AnswersOfCondition(
        n=len(present),
        n_missing=len(people) - len(present),
        number=_summary([float(value) for value in present]) if has_numbers else None,
        counts=tuple(sum(_has(own, value) for own in present) for value in values),
    )


def _summary(values: Sequence[float]) -> results.NumberSummary | None:
    if not values:
        return None
    return results.NumberSummary(
        mean=fmean(values),
        sd=stdev(values) if len(values) > 1 else None,
        median=median(values),
        minimum=min(values),
        maximum=max(values),
    )


def _conduct(keyed: Sequence[tuple[Respondent, int]], opened: Opened) -> results.Conduct:
    details = [opened.details.get(key, 0) for _person, key in keyed]
    trailers = [opened.trailers.get(key, 0) for _person, key in keyed]
    return results.Conduct(
        n=len(keyed),
        seconds=_summary([person.seconds for person, _key in keyed if person.seconds is not None]),
        details_opened=sum(details),
        opened_details=sum(map(bool, details)),
        trailers_opened=sum(trailers),
        opened_trailers=sum(map(bool, trailers)),
        commented=sum(person.has_commented for person, _key in keyed),
    )


LEVEL = 0.001  # below which conditions count as collected at different times, and counts as overdispersed
HALF = 0.5  # of the ratings of a condition at one end of the scale
MANY_UNGRADED = 0.2  # of the participants
LOWEST, HIGHEST = 1, 5  # ratings of items
FEWEST_ROWS = 10  # complete answers to a scale, below which a correlation says little
DAY = 86_400  # seconds


def design_checks(reading: Reading, opened: Opened) -> tuple[results.DesignCheck, ...]:
    """Everything that the checks found, and how long participants waited for remote lists."""
    answers = reading.analysed
    of_conditions = (
        *_people(reading),
        *_lengths(answers),
        *_days(reading),
        *_waits(reading),
        *_counts(reading, opened),
    )
    return (*of_conditions, *_ends(answers), *_ungraded(answers), *_negative_items(answers))


def _people(reading: Reading) -> Iterator[results.DesignCheck]:
    """Entry refuses a second participation by a panel's id, but not by a parameter that a researcher's own link has."""
    ids = ExternalId.objects.filter(participant__in=reading.keys, name__in=PERSON_NAMES).order_by()
    conditions = Count("participant__condition", distinct=True)
    n = ids.values("name", "value").annotate(conditions=conditions).filter(conditions__gt=1).count()
    if n:
        yield results.SeveralConditions(n=n)


def _counts(reading: Reading, opened: Opened) -> Iterator[results.DesignCheck]:
    for name, counts in (("details", opened.details), ("trailers", opened.trailers)):
        by_condition: dict[str, list[int]] = defaultdict(list)
        for person, key in zip(reading.analysed.people, reading.keys, strict=True):
            by_condition[person.condition].append(counts.get(key, 0))
        compared = overdispersion(by_condition)
        if not isinstance(compared, Undefined) and compared.p < LEVEL:
            yield results.Overdispersed(name=name, dispersion=compared.dispersion)


def _lengths(answers: Answers) -> Iterator[results.DesignCheck]:
    sizes = {name: [person.n_items for person in answers.of(name)] for name in answers.conditions}
    known = {name: own for name, own in sizes.items() if own}
    if len({tuple(sorted(set(own))) for own in known.values()}) > 1:
        yield results.OtherLengths(
            fewest={name: min(own) for name, own in known.items()},
            most={name: max(own) for name, own in known.items()},
        )


def _days(reading: Reading) -> Iterator[results.DesignCheck]:
    rows = Participant.objects.filter(pk__in=reading.keys, assigned_at__isnull=False).order_by("assigned_at")
    moments = [(label, at) for label, at in rows.values_list("condition__label", "assigned_at") if at is not None]
    days: dict[str, list[float]] = defaultdict(list)
    for label, at in moments:
        days[str(label)].append((at - moments[0][1]).total_seconds() / DAY)
    tested = kruskal_wallis(days)
    if not isinstance(tested, Undefined) and tested.p < LEVEL:
        yield results.OtherDays(median_day={name: median(own) for name, own in days.items()}, p=tested.p)


def _waits(reading: Reading) -> Iterator[results.DesignCheck]:
    """What participants lived through differs between conditions if some waited longer, whatever their lists were."""
    requests = ListRequest.objects.filter(participant__in=reading.keys, shown_at__isnull=False)
    waits: dict[str, list[float]] = defaultdict(list)
    for request in requests.select_related("participant__condition"):
        waits[str(request.participant.condition)].append(request.waited_seconds or 0.0)
    if waits:
        tested = kruskal_wallis(waits)
        yield results.Waits(
            median_seconds={name: median(own) for name, own in waits.items()},
            p=None if isinstance(tested, Undefined) else tested.p,
        )


def _ends(answers: Answers) -> Iterator[results.DesignCheck]:
    for name in answers.conditions:
        ratings = [slot.rating for slot in answers.shown if slot.condition == name and slot.rating is not None]
        for end, is_ceiling in ((HIGHEST, True), (LOWEST, False)):
            if ratings and (share := ratings.count(end) / len(ratings)) >= HALF:
                yield results.AtTheEnd(condition=name, is_ceiling=is_ceiling, share=share)


def _ungraded(answers: Answers) -> Iterator[results.DesignCheck]:
    sizes = [person.n_items for person in answers.people]
    ratings = [slot.rating for slot in answers.shown if slot.rating is not None]
    if sum(sizes) != len(ratings):
        return
    starts = np.concatenate([[0], np.cumsum(sizes)]).tolist()
    lists = [ratings[start:end] for start, end in pairwise(starts)]
    n = sum(len(own) > 1 and len(set(own)) == 1 for own in lists)
    if lists and n >= MANY_UNGRADED * len(lists):
        yield results.Ungraded(n=n, analysed=len(lists))


def _negative_items(answers: Answers) -> Iterator[results.DesignCheck]:
    for scale in answers.scales:
        rows = [row for _condition, _score, row in scale.rows if None not in row]
        if len(scale.questions) < 2 or len(rows) < FEWEST_ROWS:
            continue
        values = np.array([[float(Fraction(answer or 0)) for answer in row] for row in rows])
        for column, question in enumerate(scale.questions):
            own, rest = values[:, column], np.delete(values, column, axis=1).sum(axis=1)
            if own.std() and rest.std() and (r := float(np.corrcoef(own, rest)[0, 1])) < 0:
                yield results.NegativeItem(scale=scale.name, question=question, r=r)
