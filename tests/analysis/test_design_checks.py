"""What a study's own data say of its design: each finding on answers made to have it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from analysis.compute import sample as checks
from analysis.present import method as narrative
from analysis.read.inputs import Answers, Person, ScaleAnswers, Shown
from analysis.read.responses import Reading
from analysis.read.sample import Opened
from analysis.results.sample import (
    AtTheEnd,
    DesignCheck,
    NegativeItem,
    OtherLengths,
    Overdispersed,
    SeveralConditions,
    Ungraded,
    Waits,
)
from studies.models import ExternalId, ListRequest, Participant, Study
from tests.sentences import assert_sentences_approved


def answered(ratings: dict[str, list[list[int]]], scales: tuple[ScaleAnswers, ...] = ()) -> Answers:
    """The answers of people by condition, each with the ratings of their list."""
    people, shown = [], []
    for name, lists in ratings.items():
        for own in lists:
            people.append(
                Person(len(own), sum(own), 0, 0, n_liking=0, liking_sum=0, n_interest=len(own),
                       interest_sum=sum(own), satisfaction=3, condition=name)
            )  # fmt: skip
            shown += [Shown(name, f"i{at}", f"Item {at}", rating, 0, 0, "neither", False)
                      for at, rating in enumerate(own)]  # fmt: skip
    return Answers(tuple(ratings), tuple(people), tuple(shown), len(shown), 0, 0, scales=scales)


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> object:
    """All checks but those that ask the database."""
    monkeypatch.setattr(checks, "_days", lambda _reading: ())
    monkeypatch.setattr(checks, "_people", lambda _reading: ())
    monkeypatch.setattr(checks, "_waits", lambda _reading: ())

    def of(answers: Answers, details: Mapping[int, int] = {}) -> tuple[DesignCheck, ...]:
        keys = tuple(range(len(answers.people)))
        return checks.design_checks(Reading(answers, answers, {}, (), keys), Opened(details, {}))  # type: ignore[arg-type]

    return of


GRADED = [[3, 4], [2, 3], [4, 3], [2, 4], [1, 2]]


def test_graded_answers_of_equal_lists_have_no_finding(found: object) -> None:
    assert found(answered({"A": GRADED, "B": GRADED})) == ()  # type: ignore[operator]
    assert narrative.sentences(()) == [narrative.NOTHING]
    assert narrative.sentences(None) == []


def test_counts_that_vary_more_than_chance_allows(found: object) -> None:
    answers = answered({"A": GRADED, "B": GRADED})
    even = dict(enumerate([2, 3, 2, 4, 3, 3, 2, 4, 2, 3]))
    assert found(answers, even) == ()  # type: ignore[operator]
    (finding,) = found(answers, dict(enumerate([0, 0, 1, 0, 20, 0, 30, 0, 1, 0])))  # type: ignore[operator]
    assert isinstance(finding, Overdispersed)
    assert finding.name == "details"
    assert round(finding.dispersion, 2) == 23.6
    assert "23.60 times the mean" in narrative.sentences((finding,))[0]


@pytest.mark.django_db
def test_one_person_in_two_conditions(study: Study) -> None:
    first, second = study.conditions.all()[:2]
    keys = []
    for number, condition in enumerate((first, second, second)):
        participant = Participant.objects.create(
            study=study, condition=condition, code=f"P{number}", token_digest=f"{number}", entry_key=f"{number}",
            consented_at=timezone.now(), last_seen_at=timezone.now(),
        )  # fmt: skip
        ExternalId.objects.create(
            study=study, participant=participant, name="id", value="anna" if number < 2 else "ben"
        )
        keys.append(participant.pk)
    answers = answered({"A": GRADED, "B": GRADED})
    assert tuple(checks._people(Reading(answers, answers, {}, (), tuple(keys)))) == (SeveralConditions(n=1),)  # type: ignore[arg-type]
    assert not tuple(checks._people(Reading(answers, answers, {}, (), tuple(keys[1:]))))  # type: ignore[arg-type]
    assert_sentences_approved(
        "sentences/one-person", {"several conditions": narrative.sentences((SeveralConditions(n=1),))}
    )


@pytest.mark.django_db
def test_waits_for_remote_lists_are_compared(study: Study) -> None:
    conditions, now = study.conditions.all()[:2], timezone.now()
    keys = []
    for number in range(10):
        participant = Participant.objects.create(
            study=study, condition=conditions[number % 2], code=f"P{number}", token_digest=f"{number}",
            entry_key=f"{number}", consented_at=now, last_seen_at=now,
        )  # fmt: skip
        keys.append(participant.pk)
    answers = answered({"A": GRADED, "B": GRADED})
    reading = Reading(answers, answers, {}, (), tuple(keys))  # type: ignore[arg-type]
    assert not tuple(checks._waits(reading))
    for number, key in enumerate(keys):
        waited = timedelta(seconds=2 + number / 10 + 30 * (number % 2))
        ListRequest.objects.create(participant_id=key, requested_at=now, shown_at=now + waited)
    (finding,) = checks._waits(reading)
    assert isinstance(finding, Waits)
    assert finding.median_seconds == {conditions[0].label: pytest.approx(2.4), conditions[1].label: pytest.approx(32.5)}
    assert finding.p == pytest.approx(0.009, abs=0.001)  # complete separation of five from five: H = 6.82 on 1 df
    said = narrative.sentences((finding,))
    assert said[0].startswith("Participants waited for their lists, in the median: ")
    assert "32.5 s (Kruskal-Wallis, p = .009)." in said[0]
    assert said[1] == narrative.NOTHING


def test_lists_of_other_lengths(found: object) -> None:
    assert found(answered({"A": GRADED, "B": [[3, 4, 2]] * 5})) == (  # type: ignore[operator]
        OtherLengths(fewest={"A": 2, "B": 3}, most={"A": 2, "B": 3}),
    )


@pytest.mark.parametrize(("end", "is_ceiling"), [(5, True), (1, False)])
def test_half_of_the_ratings_at_an_end(found: object, end: int, is_ceiling: bool) -> None:
    own = [[end, 3], [end, 4], [end, 2], [end, 3], [end, 3]]
    assert found(answered({"A": GRADED, "B": own})) == (  # type: ignore[operator]
        AtTheEnd(condition="B", is_ceiling=is_ceiling, share=0.5),
    )


def test_many_lists_with_one_rating_throughout(found: object) -> None:
    assert found(answered({"A": GRADED, "B": [*GRADED[:3], [3, 3], [2, 2]]})) == (  # type: ignore[operator]
        Ungraded(n=2, analysed=10),
    )
    one = answered({"A": GRADED, "B": [*GRADED[:4], [3, 3]]})
    assert found(one) == ()  # type: ignore[operator]


def test_a_question_that_falls_as_its_scale_rises(found: object) -> None:
    rows = tuple(("A", None, (str(at % 5 + 1), str(at % 5 + 1), str(5 - at % 5))) for at in range(10))
    scale = ScaleAnswers("trust", "Trust", 1, 5, ("I trust it", "I rely on it", "I doubt it"), rows)
    (finding,) = found(answered({"A": GRADED, "B": GRADED}, (scale,)))  # type: ignore[operator]
    assert isinstance(finding, NegativeItem)
    assert (finding.question, round(finding.r, 6)) == ("I doubt it", -1)
    sentences = narrative.sentences((replace(finding, r=-0.4),))
    assert_sentences_approved("sentences/reversed-question", {"r = -.4": sentences})
