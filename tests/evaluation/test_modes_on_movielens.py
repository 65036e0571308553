"""The two modes of one plus random, on MovieLens latest-small, for every algorithm there is.

For each case the closed form gives the probability p that the test item reaches the list, over all draws of the
candidates. So the number of hits among the candidates that were drawn has this mean, the sum of p, and a variance of at
most the sum of p(1 - p), reached where nothing ties. Sampled and exact have to agree within three of these standard
errors, recall and fallout, for every algorithm.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from evaluation.metrics.hits import mean_hits
from evaluation.protocols.cases import Cases, build_cases
from evaluation.protocols.hit_metrics import exact_hit_probability, one_plus_random
from evaluation.protocols.one_plus_random import count_candidates
from evaluation.protocols.registry import protocol
from recommenders import registry
from recommenders.data import ItemFeatures, Profiles, Ratings, Scale
from tests.factories.splits import probe

pytestmark = [pytest.mark.reference, pytest.mark.slow]

SCALE = Scale(0.5, 5.0, 0.5)
MOST_ERRORS = 3.0
LENGTHS = [5, 20]
Data = tuple[Ratings, ItemFeatures, Cases]


@pytest.fixture(scope="module")
def data(movielens_small: Path) -> Data:
    """Training ratings of 300 people, genres, and the cases of a fifth of the ratings with 1,000 candidates each."""
    table = np.genfromtxt(movielens_small / "ratings.csv", delimiter=",", skip_header=1, usecols=(0, 1, 2))
    table = table[table[:, 0] <= 300]
    movies, items = np.unique(table[:, 1].astype(np.int64), return_inverse=True)
    shape = (300, len(movies))
    user_items = csr_array((table[:, 2].astype(np.float32), (table[:, 0].astype(int) - 1, items)), shape=shape)
    user_items.sort_indices()
    split = probe(user_items, share=0.2, seed=4)
    hidden = (split.hidden_users, split.hidden_items, split.hidden_values)
    cases = build_cases(split.train, *hidden, relevant=5, irrelevant=1, seed=4)
    return Ratings(split.train, SCALE), genres(movielens_small, movies.tolist()), cases


def genres(folder: Path, movies: Sequence[int]) -> ItemFeatures:
    place = {movie: row for row, movie in enumerate(movies)}
    with (folder / "movies.csv").open(encoding="utf-8") as file:
        pairs = [
            (place[int(row["movieId"])], genre)
            for row in csv.DictReader(file)
            if int(row["movieId"]) in place
            for genre in row["genres"].split("|")
        ]
    names = sorted({genre for _, genre in pairs})
    rows, columns = [row for row, _ in pairs], [names.index(genre) for _, genre in pairs]
    matrix = csr_array((np.ones(len(pairs), dtype=np.float32), (rows, columns)), shape=(len(movies), len(names)))
    return ItemFeatures(matrix, tuple(("genre", name) for name in names))


def places_by(key: str, data: Data) -> Mapping[str, np.ndarray]:
    ratings, features, cases = data
    kind = registry.algorithm(key)
    params = registry.params_of(key, dict(kind.small))
    given = features if kind.needs_features else None
    model = kind.fit(ratings, params, features=given, rng=np.random.default_rng(2))
    users = np.arange(ratings.n_users)
    scores = model.score(Profiles.of(ratings, users))
    return count_candidates(cases, slice(None), scores, users, model.popularity)


def errors(cases: Cases, found: Mapping[str, np.ndarray]) -> dict[str, float]:
    """How many standard errors sampled lies from exact: recall and fallout, at each length."""
    expected = exact_hit_probability(found["all_above"], found["all_tied"], found["all_n_items"], 1000, LENGTHS)
    sampled = mean_hits(np.arange(len(found["above"])), found["above"], found["tied"], LENGTHS).values
    z = {}
    for name, chosen in (("recall", cases.is_relevant), ("fallout", ~cases.is_relevant)):
        for column, n in enumerate(LENGTHS):
            p, hits = expected[chosen, column], sampled[chosen, column]
            difference, variance = hits.sum() - p.sum(), (p * (1 - p)).sum()
            z[f"{name}@{n}"] = difference / np.sqrt(variance) if variance > 1e-9 else difference / 1e-6
    return z


@pytest.mark.parametrize("key", registry.keys())
def test_sampled_lies_within_its_standard_error_of_exact(key: str, data: Data) -> None:
    cases = data[2]
    assert (cases.n_short, cases.n_relevant > 800, cases.n_irrelevant > 150) == (0, True, True)
    found = errors(cases, places_by(key, data))
    assert {name for name, z in found.items() if abs(z) > MOST_ERRORS} == set(), found


@pytest.mark.parametrize("mode", ["sampled", "exact"])
def test_constant_omniscient_and_random_scorers_get_what_they_have_to(mode: str, data: Data) -> None:
    ratings, _, cases = data
    wanted = protocol("one-plus-random").completed({"mode": mode})
    users = np.arange(ratings.n_users)

    def measured(scores: np.ndarray) -> tuple[float, ...]:
        counts = count_candidates(cases, slice(None), scores, users, ratings.item_counts)
        return one_plus_random(cases, counts, wanted, range(1, 21)).main.recall

    shape = (ratings.n_users, ratings.n_items)
    assert measured(np.zeros(shape)) == tuple(n / 1001 for n in range(1, 21))
    knowing = np.zeros(shape)
    knowing[cases.users, cases.items] = np.where(cases.is_relevant, 1.0, -1.0)
    assert measured(knowing) == (1.0,) * 20
    by_chance = measured(np.random.default_rng(6).random(shape))
    for n in (1, 5, 20):
        share = n / 1001
        assert abs(by_chance[n - 1] - share) <= MOST_ERRORS * np.sqrt(share * (1 - share) / cases.n_relevant)
