from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from core.errors import DataError, ParameterError
from studies.known_items import HALF_STARS
from studies.simulation.answer_model import (
    MODELLED,
    TRUE,
    Answer,
    SimulatedPerson,
    SourceUser,
    TrainingSide,
    demographics,
)

pytestmark = pytest.mark.unit


def side(popularity: list[int] | None = None, offsets: list[float] | None = None) -> TrainingSide:
    counts = np.array(popularity or [100, 50, 10, 1, 0])
    return TrainingSide(3.5, np.array(offsets or [0.0] * len(counts)), counts, 0.5, 5.0)


def test_the_profile_is_true_and_of_the_length_asked() -> None:
    user = SourceUser("u", {0: 4.5, 1: 0.5, 2: 3.0})
    person = SimulatedPerson(user, side(), np.random.default_rng(1))
    profile = person.profile(2)
    assert len(profile) == 2
    assert all(rating == {0: 5, 1: 1, 2: 3}[item] for item, rating in profile.items())
    with pytest.raises(DataError, match="4 are needed"):
        person.profile(4)


def test_of_a_range_every_number_of_items_occurs_up_to_what_the_history_has() -> None:
    user = SourceUser("u", dict.fromkeys(range(4), 3.0))
    lengths = {len(SimulatedPerson(user, side(), np.random.default_rng(s)).profile(2, 9)) for s in range(60)}
    assert lengths == {2, 3, 4}


def test_known_items_are_answered_on_the_elicitation_scale_and_recommended_ones_from_one_to_five() -> None:
    user = SourceUser("u", {0: 3.5})
    person = SimulatedPerson(user, side(), np.random.default_rng(1), elicitation=HALF_STARS)
    assert HALF_STARS.value(person.profile(1)[0]) == 3.5
    assert person.about_item(0)["rating"] == Answer(4, TRUE)


def test_what_the_user_rated_was_watched_and_both_answers_are_true() -> None:
    person = SimulatedPerson(SourceUser("u", {2: 2.5}), side(), np.random.default_rng(1))
    answers = person.about_item(2)
    assert {key: (a.value, a.provenance) for key, a in answers.items()} == {
        "watched": (True, TRUE),
        "rating": (3, TRUE),
    }


def test_the_rest_is_modelled_around_damped_means() -> None:
    generous = SourceUser("u", {0: 5.0})
    ratings: Counter[int] = Counter()
    for seed in range(400):
        person = SimulatedPerson(generous, side(offsets=[0.0, 0.0, 0.0, -2.0, 0.0]), np.random.default_rng(seed))
        answers = person.about_item(3)
        assert {a.provenance for a in answers.values()} == {MODELLED}
        assert answers["watched"].value is False
        assert not (answers["trailer_seen"].value and not answers["heard"].value)
        ratings[answers["rating"].value] += 1
    mean = sum(rating * n for rating, n in ratings.items()) / 400
    # 3.5 - 2.0 + 1.5/11 expected, before rounding and the ends of the scale.
    assert mean == pytest.approx(1.64, abs=0.2)


def test_popular_items_are_heard_of_more_often() -> None:
    person = SimulatedPerson(SourceUser("u", {0: 3.0}), side(), np.random.default_rng(1))
    chances = [person.probability_heard(item) for item in range(5)]
    assert chances == sorted(chances, reverse=True)
    assert chances[-1] == 0.0
    assert 0 < chances[0] < 1


def test_satisfaction_follows_the_ratings_and_comes_after_them() -> None:
    user = SourceUser("u", {0: 5.0, 1: 5.0})
    with pytest.raises(DataError, match="after the items"):
        SimulatedPerson(user, side(), np.random.default_rng(1)).satisfaction()
    values = []
    for seed in range(50):
        person = SimulatedPerson(user, side(), np.random.default_rng(seed))
        person.about_item(0), person.about_item(1)
        values.append(person.satisfaction().value)
    assert min(values) >= 4
    assert max(values) == 5


def test_the_same_seed_gives_the_same_person() -> None:
    def answers(seed: int) -> list[object]:
        person = SimulatedPerson(SourceUser("u", {0: 4.0, 4: 2.0}), side(), np.random.default_rng(seed))
        return [person.profile(1), *(person.about_item(item) for item in range(5)), person.satisfaction()]

    assert answers(3) == answers(3)
    assert any(answers(seed) != answers(3) for seed in range(4, 9))


def test_the_other_scale_is_mapped_before_noise() -> None:
    ten = TrainingSide(9.9, np.zeros(2), np.array([5, 5]), 1.0, 10.0)
    values = [
        SimulatedPerson(SourceUser("u", {0: 9.9}), ten, np.random.default_rng(s)).about_item(1)["rating"].value
        for s in range(60)
    ]
    assert np.mean(values) > 4.2


def test_of_usage_data_the_taking_is_true_and_the_stars_are_modelled() -> None:
    usage = TrainingSide(1.0, np.zeros(2), np.array([5, 5]), 1.0, 1.0)
    person = SimulatedPerson(SourceUser("u", {0: 1.0}), usage, np.random.default_rng(1))
    assert person.profile(1) == {0: 5}
    assert person.rating_provenance == MODELLED
    answers = person.about_item(0)
    assert (answers["watched"].provenance, answers["rating"]) == (TRUE, Answer(5, MODELLED))
    interests = [
        SimulatedPerson(SourceUser("u", {0: 1.0}), usage, np.random.default_rng(s)).about_item(1)["rating"].value
        for s in range(60)
    ]
    assert 2.7 < np.mean(interests) < 3.3


def test_demographics_are_almost_even_over_gender_and_age() -> None:
    people = [demographics(n, np.random.default_rng(n), low_age=20, high_age=50) for n in range(40)]
    strata = Counter((p["gender"], p["age"] > 35) for p in people)
    assert set(strata.values()) == {10}
    assert all(20 <= p["age"] <= 50 for p in people)


def test_a_training_side_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ParameterError, match="goes upward"):
        TrainingSide(3, np.zeros(1), np.zeros(1, dtype=np.int64), 5, 1)
    with pytest.raises(DataError, match="one offset"):
        TrainingSide(3, np.zeros(2), np.zeros(1, dtype=np.int64), 1, 5)


def test_a_choice_follows_interest_and_is_none_where_all_of_it_is_low() -> None:
    liked = SimulatedPerson(SourceUser("u", {0: 5.0, 1: 1.0}), side(), np.random.default_rng(1))
    picks = Counter(liked.choose([1, 0], np.random.default_rng(seed)).value for seed in range(400))
    assert set(picks) == {1, 2}
    assert picks[2] / 400 == pytest.approx(np.exp(5) / (np.exp(5) + np.exp(1)), abs=0.02)
    assert liked.choose([1], np.random.default_rng(1)) == Answer("none", MODELLED)
    assert liked.interest(2) == pytest.approx(3.5 + liked.user_offset)
    felt = liked.about_item(2)["rating"].value
    assert liked.interest(2) == felt


def test_each_list_has_an_effect_and_ratings_of_its_own_and_items_are_felt_about_alike() -> None:
    user = SourceUser("u", {0: 3.0})

    def person(*later: tuple[dict[str, float], int], **effect: float) -> SimulatedPerson:
        rng = np.random.default_rng(2)
        return SimulatedPerson(user, side(), rng, effect=effect, list_length=2, later=later)

    plain, shifted = person(({}, 2)), person(({"accuracy": 1.0}, 2))
    for one in (plain, shifted):
        one.about_item(1)
        one.about_item(2)
    assert plain.item_ratings == shifted.item_ratings
    before = plain.interest(1)
    for one in (plain, shifted):
        one.turn_to(2)
        one.turn_to(1)
        assert one.item_ratings == []
    told = [(plain.about_item(item), shifted.about_item(item)) for item in (1, 0)]
    assert plain.item_ratings == shifted.item_ratings == [before, 3]
    assert [after["rating"].value - own["rating"].value for own, after in told] == [1, 1]
    assert [own["rating"].value for own, _after in told] == [before, 3]
