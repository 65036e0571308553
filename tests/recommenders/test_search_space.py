"""Grids, ranges and draws of settings."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from core.errors import ParameterError
from recommenders import registry
from recommenders.data import ItemFeatures
from recommenders.data_limits import TrainingSize
from recommenders.search_space import (
    Range,
    code,
    default_domains,
    domains,
    grid,
    numeric_values,
    possible_sizes,
    random_settings,
)

pytestmark = pytest.mark.unit
SIZE = TrainingSize(n_users=60, n_items=40)


def test_grid_has_every_combination_once() -> None:
    settings = grid("corngr", " neighbours = 50, 200,50 ; negative=keep,drop")
    assert [tuple(setting.values()) for setting in settings] == [
        ("50", "keep"),
        ("50", "drop"),
        ("200", "keep"),
        ("200", "drop"),
    ]
    assert registry.parse(code("corngr", settings[0]))[1].neighbours == 50  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("key", "text", "words"),
    [
        ("puresvd", "factors", "is not valid. Write it as in"),
        ("puresvd", "speed=2", "no parameter speed; its parameters are: factors"),
        ("toppop", "speed=2", "its parameters are: none"),
        ("puresvd", "factors=2;factors=3", "comes twice"),
        ("puresvd", "factors=2,,3", "is empty"),
        ("puresvd", "factors=two", "must be a whole number; 'two' is not"),
        ("ease", "reg=high", "must be a number; 'high' is not"),
        ("ease", f"reg={','.join(map(str, range(1, 10_002)))}", "10,001 combinations; the most is 10,000"),
    ],
)
def test_invalid_grid_is_refused(key: str, text: str, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        grid(key, text)


def test_ranges_follow_the_types_and_scales_stated() -> None:
    parsed = domains("ials", "factors=10..300;reg=1..5;alpha=0..40;epochs=1..100:linear;positive_from=1..5:log")
    assert parsed == {
        "factors": Range(10.0, 300.0, is_log=True, is_whole=True),
        "reg": Range(1.0, 5.0, is_log=False, is_whole=False),
        "alpha": Range(0.0, 40.0, is_log=False, is_whole=False),
        "epochs": Range(1.0, 100.0, is_log=False, is_whole=True),
        "positive_from": Range(1.0, 5.0, is_log=True, is_whole=False),
    }
    assert domains("corngr", "negative=keep,drop") == {"negative": ("keep", "drop")}


@pytest.mark.parametrize(
    ("key", "text", "words"),
    [
        ("corngr", "negative=drop..keep", "is not a number. List its values"),
        ("ials", "alpha=0..40:log", "begins at 0, which a log scale does not have"),
        ("ials", "alpha=0..40:cubic", "is log or linear, not 'cubic'"),
        ("ials", "factors=0..40", "lie within 1 to inf"),
        ("ials", "factors=40..10", "must ascend"),
        ("ials", "positive_from=1..6", "lie within 1 to 5"),
        ("ials", "reg=1..inf", "must ascend and lie within"),
        ("ials", "factors=1.5..4", "must be a whole number"),
    ],
)
def test_invalid_range_is_refused(key: str, text: str, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        domains(key, text)


def test_draws_cover_the_range_evenly() -> None:
    rng = np.random.default_rng(1)
    whole = [int(Range(1, 4, is_log=False, is_whole=True).draw(rng)) for _ in range(4000)]
    assert np.bincount(whole)[1:].min() > 900
    logs = np.log10([float(Range(0.01, 100, is_log=True, is_whole=False).draw(rng)) for _ in range(4000)])
    assert np.histogram(logs, bins=4, range=(-2, 2))[0].min() > 900
    linear = [float(Range(0, 1, is_log=False, is_whole=False).draw(rng)) for _ in range(4000)]
    assert np.histogram(linear, bins=4, range=(0, 1))[0].min() > 900


def test_default_domains_are_what_schema_and_data_limit() -> None:
    found = default_domains("aspect", SIZE, {"positive_from": "4"})
    assert set(found) >= {"held_out", "cooling"}
    assert "iterations" not in found
    assert "positive_from" not in found
    assert default_domains("popularity-likes", SIZE, {})["by_people"] == ("false", "true")
    assert default_domains("corngr", SIZE, {})["negative"] == ("drop", "keep")
    with pytest.raises(ParameterError, match="parameters: none"):
        default_domains("toppop", SIZE, {})


def test_random_settings_differ_and_end_when_there_are_no_more() -> None:
    ranges = domains("corngr", "neighbours=1..3;negative=keep,drop")
    drawn = [tuple(setting.items()) for setting in random_settings(ranges, 9, np.random.default_rng(1))]
    assert len(drawn) == len(set(drawn)) == 6
    first = [tuple(setting.items()) for setting in random_settings(ranges, 2, np.random.default_rng(1))]
    assert first == drawn[:2]


def test_numeric_values_need_one_parameter_of_numbers() -> None:
    assert numeric_values([]) is None
    assert numeric_values([{"a": "1", "b": "2"}]) is None
    assert numeric_values([{"negative": "keep"}]) is None


def test_possible_sizes_are_those_the_data_can_have() -> None:
    assert possible_sizes("aspect", SIZE) == [2, 5, 10, 20]
    assert possible_sizes("lsa", TrainingSize(60, 40, features(n_items=40, n_terms=11))) == [5, 10]
    assert possible_sizes("lpca", SIZE, (3, 40, 41)) == [3, 40]


def features(n_items: int, n_terms: int) -> ItemFeatures:
    terms = tuple(("word", str(at)) for at in range(n_terms))
    return ItemFeatures(sparse.csr_array(np.ones((n_items, n_terms), dtype=np.float32)), terms)
