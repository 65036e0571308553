"""Planted effects: how they are written, that they shift by what they say, and that they are found again."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest

from catalog.demo.taste import synthetic_ratings
from core.errors import ParameterError
from core.provenance import rng_for
from inference.anova import one_way
from inference.partial_order import Tier, partial_order
from inference.posthoc import tukey_hsd
from inference.results import AnovaResult, PairwiseResult
from recommenders import registry
from recommenders.base import Algorithm
from recommenders.data import Ratings, Scale
from studies.instrument.measures import ParticipantMeasures, item_measures, participant_measures
from studies.simulation.answer_model import MODELLED, TRUE, Effect, SimulatedPerson, SourceUser, TrainingSide
from studies.simulation.planted_effects import causes_of, effects_by_list, effects_from, planted_sentence

pytestmark = pytest.mark.unit

CONDITIONS = tuple("ABCDEFG")
N, LENGTH, ASKED, REPETITIONS = 30, 5, 5, 100


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["A"], "condition, then variable, then shift"),
        ({"Z": {"accuracy": 1}}, "name Z, and the study's conditions are A, B"),
        ({"A": 0.8}, "on A are written as variable: shift; got 0.8"),
        ({"A": {"novelty": 1}}, "unknown variable 'novelty'; those of this study are accuracy, satisfaction, fon, son"),
        ({"A": {"fon": 1.5}}, "shift of fon in A is a number from -1 to 1; got 1.5"),
        ({"A": {"accuracy": True}}, "got True"),
        ({"A": {"accuracy": float("nan")}}, "got nan"),
        ({"A": {"accuracy": "high"}}, "got 'high'"),
    ],
)
def test_effects_that_cannot_be_read_say_why(given: Any, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        effects_from(given, ["A", "B"])


def test_effects_are_read_in_the_order_of_the_conditions_and_told() -> None:
    effects = effects_from({"B": {"son": -0.1}, "A": {"accuracy": 0.8, "fon": 0}, "C": None, "D": {}}, list("ABCD"))
    assert effects == {"A": {"accuracy": 0.8}, "B": {"son": -0.1}}
    assert list(effects) == ["A", "B"]
    assert planted_sentence(effects).endswith("accuracy +0.8; B second-order novelty -0.1.")
    assert planted_sentence({}) == ""


@cache
def world() -> tuple[Algorithm, TrainingSide, tuple[SourceUser, ...]]:
    """A model of the demo's ratings, and the users it has not seen."""
    found = synthetic_ratings(n_users=900)
    scale = Scale(1.0, 5.0, 1.0)
    n_trained = 900 - 7 * N - 30
    is_trained = found.users < n_trained
    n_items = int(found.items.max()) + 1
    ratings = Ratings.from_triples(
        found.users[is_trained], found.items[is_trained], found.values[is_trained],
        n_users=n_trained, n_items=n_items, scale=scale,
    )  # fmt: skip
    params = registry.params_of("puresvd", {"factors": 10})
    model = registry.algorithm("puresvd").fit(ratings, params, features=None, rng=np.random.default_rng(1))
    counts = np.bincount(found.items[is_trained], minlength=n_items)
    mean = float(found.values[is_trained].mean())
    sums = np.bincount(found.items[is_trained], weights=found.values[is_trained] - mean, minlength=n_items)
    side = TrainingSide(mean, sums / (25.0 + counts), counts, 1.0, 5.0)
    users = []
    for user in range(n_trained, 900):
        mine = found.users == user
        pairs = zip(found.items[mine].tolist(), found.values[mine].tolist(), strict=True)
        users.append(SourceUser(str(user), dict(pairs)))
    return model, side, tuple(users)


def walked(person: SimulatedPerson, model: Algorithm) -> ParticipantMeasures:
    """One person's way in process: rates, gets the model's list, and answers about each item and the whole."""
    profile = person.profile(ASKED)
    listed = model.answer(list(profile), list(profile.values()), Scale(1.0, 5.0, 1.0), LENGTH)
    answers = [{key: a.value for key, a in person.about_item(int(item)).items()} for item in listed.items]
    items = [
        item_measures(
            watched=a["watched"], heard=a.get("heard"), trailer_seen=a.get("trailer_seen"), rating=a["rating"]
        )
        for a in answers
    ]
    return participant_measures(items, person.satisfaction().value)


def people(repetition: int) -> Iterator[tuple[str, int, SourceUser]]:
    """The people of one repetition: no user serves twice."""
    _model, _side, users = world()
    order = rng_for(repetition, "users").permutation(len(users))
    for number in range(len(CONDITIONS) * N):
        yield CONDITIONS[number % len(CONDITIONS)], number, users[order[number]]


def repeated(repetition: int, effects: dict[str, Effect]) -> dict[str, list[ParticipantMeasures]]:
    """All conditions serve one and the same model: they differ by what is planted alone."""
    model, side, _users = world()
    found: dict[str, list[ParticipantMeasures]] = {name: [] for name in CONDITIONS}
    for condition, number, user in people(repetition):
        person = SimulatedPerson(
            user, side, rng_for(repetition, "answers", number), effect=effects.get(condition, {}),
            list_length=LENGTH, effect_rng=rng_for(repetition, "effects", number),
        )  # fmt: skip
        found[condition].append(walked(person, model))
    return found


@cache
def without_effects(repetition: int) -> dict[str, list[ParticipantMeasures]]:
    return repeated(repetition, {})


@pytest.mark.slow
def test_without_an_effect_the_answers_are_those_of_a_simulated_person() -> None:
    model, side, users = world()
    for number, user in enumerate(users[:40]):
        plain = SimulatedPerson(user, side, rng_for(1, number))
        affected = SimulatedPerson(
            user, side, rng_for(1, number), effect={}, list_length=LENGTH, effect_rng=rng_for(2, number)
        )
        assert walked(plain, model) == walked(affected, model)


@pytest.mark.parametrize(
    ("effect", "name", "least_share"),
    [
        ({"accuracy": 0.8}, "accuracy", 0.75),
        ({"accuracy": -0.7}, "accuracy", 0.75),
        ({"satisfaction": 0.3}, "satisfaction", 0.75),
        ({"fon": 0.2}, "fon", 0.75),
        ({"son": -0.05}, "son", 0.4),  # many have heard of everything already
        ({"son": 0.1}, "son", 0.75),
    ],
)
def test_a_shift_moves_its_own_variable_by_what_it_says_and_no_other(
    effect: Effect, name: str, least_share: float
) -> None:
    before, after = without_effects(0), repeated(0, dict.fromkeys(CONDITIONS, effect))
    for variable in ("accuracy", "satisfaction", "fon", "son"):
        change = [
            float(getattr(b, variable)) - float(getattr(a, variable))
            for c in CONDITIONS
            for a, b in zip(before[c], after[c], strict=True)
        ]
        if variable != name:
            assert not np.any(change), variable
        else:
            # The ends of the scale take a part: never more comes than is asked for, but for the draws.
            asked = effect[name]
            assert least_share * abs(asked) < abs(np.mean(change)) < abs(asked) + 0.08
            assert np.sign(np.mean(change)) == np.sign(asked)


def test_second_order_novelty_never_exceeds_the_first_and_what_was_changed_is_no_longer_true() -> None:
    side = TrainingSide(3.5, np.zeros(8), np.array([100, 50, 10, 1, 0, 7, 7, 7]), 0.5, 5.0)
    user = SourceUser("u", {0: 2.0, 1: 3.0, 2: 3.0, 5: 1.0})
    effect = {"accuracy": 1.0, "fon": 0.6, "son": 0.4}
    person = SimulatedPerson(
        user, side, np.random.default_rng(1), effect=effect, list_length=5, effect_rng=np.random.default_rng(2)
    )
    answers = [person.about_item(item) for item in (0, 1, 2, 5, 3)]
    assert [a["watched"].value for a in answers] == [False, False, False, True, False]
    assert [a["heard"].value for a in answers[:3]].count(False) == 2
    for one in answers[:3]:
        assert {answer.provenance for answer in one.values()} == {MODELLED}
        assert not (one["trailer_seen"].value and not one["heard"].value)
    assert answers[3]["watched"].provenance == TRUE
    assert (answers[3]["rating"].value, answers[3]["rating"].provenance) == (2, MODELLED)
    assert [a["rating"].value for a in answers[:3]] == [3, 4, 4]


@pytest.mark.slow
def test_a_planted_effect_comes_out_maximal_and_nothing_comes_out_of_nothing() -> None:
    n_significant = n_maximal = n_alone = n_highest = 0
    for repetition in range(REPETITIONS):
        planted = CONDITIONS[repetition % len(CONDITIONS)]
        base = without_effects(repetition)
        values = {name: [one.accuracy_sum for one in base[name]] for name in CONDITIONS}
        null = one_way(values)
        assert isinstance(null, AnovaResult)
        n_significant += null.p < 0.05
        # Sums of five ratings: whole numbers, and the tests are the same. Only the condition that has an effect
        # answers otherwise.
        model, side, _users = world()
        values[planted] = [
            walked(
                SimulatedPerson(
                    user, side, rng_for(repetition, "answers", number), effect={"accuracy": 0.8},
                    list_length=LENGTH, effect_rng=rng_for(repetition, "effects", number),
                ),
                model,
            ).accuracy_sum
            for condition, number, user in people(repetition)
            if condition == planted
        ]  # fmt: skip
        means = {name: float(np.mean(values[name])) for name in CONDITIONS}
        pairs = tukey_hsd(values)
        assert isinstance(pairs, PairwiseResult)
        order = partial_order(means, pairs)
        n_maximal += order.tiers[planted] is Tier.MAXIMAL
        n_alone += [name for name in CONDITIONS if order.tiers[name] is Tier.MAXIMAL] == [planted]
        n_highest += max(means, key=means.__getitem__) == planted
    assert n_maximal >= 90
    assert n_alone >= 90
    assert n_highest >= 90
    assert 1 <= n_significant <= 10


def test_effects_of_the_occasion_and_of_the_list_before_add_up() -> None:
    causes = causes_of(["A", "B"], 3)
    assert causes == ["A", "B", "occasion:2", "occasion:3", "after:A", "after:B"]
    given = {"occasion:3": {"accuracy": -0.25}, "A": {"accuracy": 0.5, "son": 0.1}, "after:B": {"accuracy": 0.5}}
    effects = effects_from(given, causes)
    assert effects_by_list(effects, ["B", "A", "B"]) == [{}, {"accuracy": 1.0, "son": 0.1}, {"accuracy": -0.25}]
    assert planted_sentence(effects) == (
        "Effects were planted: A perceived accuracy +0.5, second-order novelty +0.1; occasion:3 perceived accuracy "
        "-0.25; after:B perceived accuracy +0.5."
    )
    with pytest.raises(ParameterError, match="name occasion:2"):
        effects_from({"occasion:2": {"accuracy": 1}}, causes_of(["A", "B"]))
