"""Subsets of ratings: hand-made cases, and every step against a loop over triples."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import date
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from catalog.subsetting.recipe import Recipe
from catalog.subsetting.selection import Counts, Selection, Source, select, subset_arrays
from core.errors import DataError
from tests.sentences import assert_refused_as_approved, assert_sentences_approved

pytestmark = pytest.mark.unit

DAY = 86_400
# Rows are users, columns items: a 2-core of users 0 to 2 and items 0 to 2, to which a chain of two users hangs.
TABLE = (
    (1, 1, 0, 0, 0, 0),
    (1, 1, 1, 0, 0, 0),
    (0, 1, 1, 0, 0, 0),
    (1, 0, 0, 1, 0, 0),
    (0, 0, 0, 1, 1, 0),
)


def source(table=TABLE, *, times=None, has_feature=None) -> Source:
    matrix = sparse.csr_array(np.array(table, dtype=np.float32))
    stamps = np.empty(0, dtype=np.int64) if times is None else np.asarray(times, dtype=np.int64)
    return Source(
        matrix.indptr, matrix.indices, matrix.shape[1], stamps, None if has_feature is None else np.array(has_feature)
    )


def selected(of: Source, seed: int = 1, **parameters) -> Selection:
    return select(of, Recipe(**parameters), rng=np.random.default_rng(seed))


def kept(selection: Selection) -> tuple[list[int], list[int]]:
    return np.flatnonzero(selection.users).tolist(), np.flatnonzero(selection.items).tolist()


def test_a_k_core_is_repeated_until_nothing_is_left_to_remove() -> None:
    # Item 4 has one rating; then user 4 has one, then item 3, then user 3.
    selection = selected(source(), k_core=2)
    assert kept(selection) == ([0, 1, 2], [0, 1, 2])
    assert selection.counts == (Counts(5, 6, 11), Counts(3, 3, 7))


def test_minimums_apply_once_items_first() -> None:
    selection = selected(source(), min_item_ratings=2, min_user_ratings=2)
    assert kept(selection) == ([0, 1, 2, 3], [0, 1, 2, 3])
    assert selection.counts[1:] == (Counts(5, 4, 10), Counts(4, 4, 9))
    assert selection.user_counts.tolist() == [2, 3, 2, 2, 0], "item 3 has one rating left, and stays"


def test_ties_of_top_items_are_broken_by_the_order_of_the_source() -> None:
    assert kept(selected(source(), top_items=3))[1] == [0, 1, 2]
    reverse = source([row[::-1] for row in TABLE])
    assert kept(selected(reverse, top_items=3))[1] == [2, 4, 5], "item 2, not item 3, of those with two ratings"


def test_a_date_range_includes_both_days_in_utc() -> None:
    times = [-1, 0, DAY - 1, DAY, 2 * DAY - 1, 2 * DAY, 9 * DAY, 9 * DAY, 9 * DAY, 0, 0]
    selection = selected(source(times=times), date_from=date(1970, 1, 1), date_until=date(1970, 1, 2))
    assert selection.ratings is not None
    assert np.flatnonzero(selection.ratings).tolist() == [1, 2, 3, 4, 9, 10]
    assert kept(selection) == ([0, 1, 4], [0, 1, 2, 3, 4])
    early = selected(source(times=times), date_until=date(1970, 1, 1))
    assert early.counts[-1] == Counts(3, 4, 5)


def test_users_and_items_without_a_rating_are_removed() -> None:
    selection = selected(source(has_feature=[True, False, False, True, False, True]), feature=("genre", "Drama"))
    assert kept(selection) == ([0, 1, 3, 4], [0, 3])


def test_random_users_follow_the_seed_and_the_share() -> None:
    wide = source(np.ones((50, 4)))
    first, again, other = (selected(wide, seed, random_users=10) for seed in (1, 1, 2))
    assert first.counts[-1] == Counts(10, 4, 40)
    assert kept(first) == kept(again) != kept(other)
    assert selected(wide, random_share=0.25).counts[-1].users == 12
    assert selected(wide, random_users=50).counts[-1].users == 50


def test_the_core_comes_last_so_that_it_holds() -> None:
    selection = selected(source(), random_users=4, k_core=2, min_user_ratings=2, top_items=4)
    matrix = np.array(TABLE)[np.ix_(*kept(selection))]
    assert matrix.sum(axis=0).min() >= 2
    assert matrix.sum(axis=1).min() >= 2


STEPS = {
    "core too large": {"k_core": 4},
    "too few items": {"top_items": 1},
    "more items than there are": {"top_items": 6},
    "more users than there are": {"random_users": 6},
    "too few users": {"random_users": 1},
    "too many ratings per item": {"min_item_ratings": 4},
    "too many ratings per user": {"min_user_ratings": 4},
    "dates without times": {"date_from": date(2000, 1, 1)},
    "no such attribute": {"feature": ("genre", "Drama")},
    "the second step": {"top_items": 2, "k_core": 9},
}
RECIPES = {
    "no step": {},
    "a seed alone": {"seed": 3},
    "core of 0": {"k_core": 0},
    "items below 0": {"top_items": -1},
    "number and share of users": {"random_users": 1, "random_share": 0.5},
    "all users": {"random_share": 1.0},
    "share NaN": {"random_share": float("nan")},
    "seed below 0": {"random_users": 2, "seed": -1},
    "attribute without a value": {"feature": ("genre", "")},
    "dates the wrong way round": {"date_from": date(2001, 1, 2), "date_until": date(2001, 1, 1)},
}


def test_steps_that_leave_too_little_and_recipes_that_cannot_be() -> None:
    timed, unlike = source(times=np.arange(11) * DAY // 2), source(has_feature=[False] * 6)
    cases = {name: partial(selected, source(), **parameters) for name, parameters in STEPS.items()}
    cases |= {
        "dates without ratings": partial(selected, timed, date_from=date(2000, 1, 1)),
        "attribute of no item": partial(selected, unlike, feature=("genre", "Drama")),
        "no core at all": partial(selected, source([[1, 0], [0, 0]]), k_core=1),
    }
    cases |= {f"recipe: {name}": partial(Recipe, **parameters) for name, parameters in RECIPES.items()}
    assert_refused_as_approved("subsets", cases)


def test_steps_are_described_in_their_order_with_all_their_parameters() -> None:
    recipe = Recipe(
        k_core=10, random_share=0.5, seed=7, min_user_ratings=1, min_item_ratings=5, top_items=2137,
        feature=("genre", "Drama"), date_until=date(2016, 12, 31), date_from=date(2015, 1, 1),
    )  # fmt: skip
    assert [dict(step.parameters) for step in recipe.steps()] == [
        {"date_from": "2015-01-01", "date_until": "2016-12-31"},
        {"feature": ["genre", "Drama"]},
        {"top_items": 2137},
        {"min_item_ratings": 5},
        {"min_user_ratings": 1},
        {"random_share": 0.5, "seed": 7},
        {"k_core": 10},
    ]
    recipes = {"every step": recipe, "until a date": Recipe(date_until=date(2016, 1, 1))}
    assert_sentences_approved(
        "sentences/subset-steps", {name: [step.words for step in each.steps()] for name, each in recipes.items()}
    )


def test_progress_names_each_step() -> None:
    lines: list[tuple[str, int, int]] = []
    recipe = Recipe(k_core=2, min_user_ratings=2)
    select(source(), recipe, rng=np.random.default_rng(1), progress=lambda *line: lines.append(line))
    assert lines == [(step.words, at, 2) for at, step in enumerate(recipe.steps(), 1)]


def naive(triples: list[tuple[int, int, int]], recipe: Recipe, has_feature: list[bool], n_items: int):
    """The same steps over a list of (user, item, time); random users apart."""
    rows = list(triples)
    if recipe.date_from is not None:
        rows = [row for row in rows if row[2] >= recipe.date_from.toordinal() - date(1970, 1, 1).toordinal()]
    if recipe.feature is not None:
        rows = [row for row in rows if has_feature[row[1]]]
    if recipe.top_items is not None:
        counts = Counter(item for _, item, _ in rows)
        top = sorted(counts, key=lambda item: (-counts[item], item))[: recipe.top_items]
        rows = [row for row in rows if row[1] in top]
    for column, least in ((1, recipe.min_item_ratings), (0, recipe.min_user_ratings)):
        counts = Counter(row[column] for row in rows)
        rows = [row for row in rows if counts[row[column]] >= (least or 0)]
    while recipe.k_core is not None:
        users, items = Counter(row[0] for row in rows), Counter(row[1] for row in rows)
        fewer = [row for row in rows if users[row[0]] >= recipe.k_core and items[row[1]] >= recipe.k_core]
        if fewer == rows:
            break
        rows = fewer
    return rows


@settings(max_examples=300, deadline=None)
@given(
    pairs=st.sets(st.tuples(st.integers(0, 7), st.integers(0, 6)), min_size=1, max_size=56),
    days=st.lists(st.integers(0, 3), min_size=56, max_size=56),
    has_feature=st.lists(st.booleans(), min_size=7, max_size=7),
    parameters=st.fixed_dictionaries(
        {},
        optional={
            "date_from": st.integers(1, 3).map(lambda day: date(1970, 1, 1 + day)),
            "feature": st.just(("genre", "Drama")),
            "top_items": st.integers(2, 7),
            "min_item_ratings": st.integers(1, 4),
            "min_user_ratings": st.integers(1, 4),
            "k_core": st.integers(1, 4),
        },
    ).filter(bool),
)
def test_every_recipe_selects_what_a_loop_selects(pairs, days, has_feature, parameters) -> None:
    triples = [(user, item, days[at]) for at, (user, item) in enumerate(sorted(pairs))]
    recipe = Recipe(**parameters)
    rows = naive(triples, recipe, has_feature, 7)
    users, items, times = (np.array(column) for column in zip(*triples, strict=True))
    indptr = np.searchsorted(users, np.arange(9)).astype(np.int32)
    of = Source(indptr, items.astype(np.int32), 7, times * DAY, np.array(has_feature))
    try:
        selection = select(of, recipe, rng=np.random.default_rng(1))
    except DataError:
        before_top = replace(recipe, top_items=None, min_item_ratings=None, min_user_ratings=None, k_core=1)
        n_rated = len({item for _, item, _ in naive(triples, before_top, has_feature, 7)})
        left = [len({row[column] for row in rows}) for column in (0, 1)]
        assert min(left) < 2 or (recipe.top_items or 0) > n_rated
        return
    arrays = {
        "indptr": indptr, "indices": of.indices, "values": np.arange(len(triples), dtype=np.float32),
        "user_ids": np.arange(8).astype(np.str_), "item_ids": np.arange(7).astype(np.str_), "timestamps": of.times,
        "probe": np.array([(user, item) for user, item, _ in triples], dtype=np.int64),
    }  # fmt: skip
    cut = subset_arrays(arrays, selection)
    matrix = sparse.csr_array((cut["values"], cut["indices"], cut["indptr"]), shape=selection.counts[-1][:2])
    at_users, at_items = matrix.tocoo().coords
    pairs_cut = list(
        zip(cut["user_ids"][at_users].astype(int), cut["item_ids"][at_items].astype(int), cut["timestamps"] // DAY,
            strict=True)
    )  # fmt: skip
    assert pairs_cut == rows
    assert [triples[int(value)] for value in cut["values"]] == rows
    assert cut["probe"].tolist() == np.column_stack((at_users, at_items)).tolist()
    assert selection.counts[-1] == (len({row[0] for row in rows}), len({row[1] for row in rows}), len(rows))
    assert selection.user_counts.sum() == len(rows)


def test_arrays_are_cut_in_their_types_and_order() -> None:
    of = source(times=np.arange(11) * DAY)
    arrays = {
        "indptr": of.indptr, "indices": of.indices, "values": np.arange(11, dtype=np.float32), "timestamps": of.times,
        "user_ids": np.array(list("abcde")), "item_ids": np.array(list("uvwxyz")),
        "utilities": np.arange(11, dtype=np.float32) / 2, "probe": np.array([(0, 1), (3, 3), (4, 4), (1, 0)]),
    }  # fmt: skip
    cut = subset_arrays(arrays, selected(of, k_core=2))
    assert cut["indptr"].tolist() == [0, 2, 5, 7]
    assert cut["indices"].tolist() == [0, 1, 0, 1, 2, 1, 2]
    assert cut["values"].tolist() == [0, 1, 2, 3, 4, 5, 6]
    assert cut["utilities"].tolist() == [0, 0.5, 1, 1.5, 2, 2.5, 3]
    assert (cut["user_ids"].tolist(), cut["item_ids"].tolist()) == (list("abc"), list("uvw"))
    assert cut["probe"].tolist() == [[0, 1], [1, 0]]
    assert {name: array.dtype for name, array in cut.items()} == {name: arrays[name].dtype for name in cut}, (
        "so that the same content has the same digest"
    )
    without = subset_arrays({**arrays, "probe": arrays["probe"][1:3]}, selected(of, k_core=2))
    assert "probe" not in without
    late = subset_arrays(arrays, selected(of, date_from=date(1970, 1, 2)))
    assert late["probe"].tolist() == [[0, 1], [3, 3], [4, 4], [1, 0]]
    assert subset_arrays(arrays, selected(of, date_from=date(1970, 1, 3)))["probe"].tolist() == [
        [2, 3], [3, 4], [0, 0]
    ], "the rating of the first pair is too early"  # fmt: skip
