"""Lists by key on arrays alone; files and runs are followed in tests/evaluation/test_uploaded_lists.py."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from recommenders import registry
from recommenders.data import History, Profiles, Ratings, Scale
from recommenders.items import Items
from recommenders.reranking import Reranked
from recommenders.uploaded_lists import Lists, profile_key

pytestmark = pytest.mark.unit

FIVE = Scale(1, 5, 1)
IDS = ("50", "318", "7", "é")
RATINGS = Ratings.from_triples([0, 0, 1], [0, 1, 1], [5, 4, 3], n_users=2, n_items=4, scale=FIVE)
# The profile of the page on uploads: its text is "1\t5\t1\n318\t4\n50\t5".
OWN = "profile:a4ad1f610344887583619e8255fc7e2bd7c845a1bfdf331d229e7e8516f221dd"


def model_of(genres: bool = True, **lists: list[int]) -> Lists:
    """Lists of item numbers by key; of the four items the first two are dramas, the third is a comedy."""
    sizes = [len(items) for items in lists.values()]
    contents: dict[str, Any] = {
        "is_known": np.ones(4, dtype=bool),
        "list_keys": np.array(list(lists)),
        "list_indptr": np.concatenate(([0], np.cumsum(sizes))),
        "list_items": np.concatenate(list(lists.values())).astype(np.int32),
        "list_scores": np.concatenate([-1.0 - np.arange(size) for size in sizes]),
        "genres": np.array(["Comedy", "Drama"] if genres else [], dtype=np.str_),
        "genre_indptr": np.array([0, 1, 2, 3, 3] if genres else [0] * 5),
        "genre_indices": np.array([1, 1, 0] if genres else [], dtype=np.int32),
    }
    model = Lists.read(contents, RATINGS, Lists.Params(upload="0" * 64))
    model.items = Items({"ids": lambda: IDS})
    return model


def listed(
    model: Any, items: list[int], ratings: list[float], participant: str = "", answers: dict[str, str] | None = None
) -> list[int]:
    context = {"language": "en", **({"participant": participant} if participant else {}), "answers": answers or {}}
    profile = Profiles.single(items, ratings, 4, FIVE, History("rating", context=context))
    scores = model.score(profile)[0]
    return [int(item) for item in np.argsort(-scores, kind="stable") if np.isfinite(scores[item])]


def test_the_most_specific_list_is_served_and_none_is_filled() -> None:
    own = profile_key(["50", "318"], [5, 4], FIVE)
    lists = {"*": [0, 1, 2, 3], "segment:Comedy": [3, 1], own: [2], "participant:K3": [3, 2]}
    model = model_of(**lists)
    assert listed(model, [0, 1], [5, 4]) == [2]
    assert listed(model, [0, 1], [5, 4], participant="K3") == [3, 2]
    assert listed(model, [0, 1], [5, 4], participant="other") == [2]
    assert listed(model, [0, 1], [5, 3]) == [0, 1, 2, 3]  # other ratings, and no list of dramas
    assert listed(model, [2], [1]) == [3, 1]
    assert listed(model, [3], [1]) == [0, 1, 2, 3]
    rows = Profiles.single([2], [1], 4, FIVE).user_items
    assert model._score(rows).tolist() == model.score(Profiles(rows, FIVE)).tolist()
    del lists["*"]
    assert listed(model_of(**lists), [3], [1]) == []
    assert listed(model_of(genres=False, **{"*": [1]}), [2], [1]) == [1]


def test_a_list_by_an_answer_comes_before_that_of_a_genre_and_after_that_of_a_profile() -> None:
    lists = {"*": [0, 1], "segment:Comedy": [3], OWN: [2], "segment:mood=calm": [1, 3], "segment:age=young": [3, 0]}
    model = model_of(**lists)
    assert listed(model, [2], [1], answers={"mood": "calm"}) == [1, 3]
    assert listed(model, [2], [1], answers={"age": "young", "mood": "calm"}) == [1, 3]  # the first of the upload
    assert listed(model, [2], [1], answers={"age": "young", "mood": "tense"}) == [3, 0]
    assert listed(model, [2], [1], answers={"mood": "tense"}) == [3]
    assert listed(model, [0, 1], [5, 4], answers={"mood": "calm"}) == [2]
    assert listed(model, [2], [1], participant="K3", answers={"mood": "calm"}) == [1, 3]


def test_a_profile_is_covered_by_a_list_with_an_item_it_has_not_rated() -> None:
    model = model_of(**{"segment:Drama": [0, 1], "segment:Comedy": [0]})
    profiles = Profiles.of(
        Ratings.from_triples([0, 0, 1, 2, 3], [0, 1, 0, 2, 3], [5, 4, 3, 2, 1], n_users=4, n_items=4, scale=FIVE),
        [0, 1, 2, 3],
    )
    assert model.covers(profiles).tolist() == [False, True, True, False]


def test_keys_are_of_ratings_on_the_scale_of_the_data_in_any_order() -> None:
    assert profile_key(["50", "318"], [5, 4], FIVE) == profile_key(["318", "50"], [4.0, 5.0], FIVE) == OWN
    assert profile_key(["50", "318"], [5, 4], Scale(0.5, 5, 0.5)) != OWN
    model = model_of(**{OWN: [2]})
    halved = Profiles.single([0, 1], [2.5, 2.0], 4, Scale(0.5, 2.5, 0.5))  # the same points of half the scale
    assert np.isfinite(model.score(halved)[0]).tolist() == [False, False, True, False]


def test_re_ranked_lists_stay_lists() -> None:
    kind = registry.algorithm("lists|popularity")
    assert issubclass(kind, Reranked)
    model = kind.on(
        model_of(**{"participant:K3": [0, 1, 3]}), kind.Params(upload="0" * 64, popularity_strength=1.0), None
    )
    assert kind.is_partial
    assert kind.context_fields == {"participant", "answers"}
    assert listed(model, [2], [5], participant="K3") == [3, 0, 1]
    assert listed(model, [2], [5]) == []
