"""Best first: by the printed value and by the direction of the metric, whichever metric it is."""

from __future__ import annotations

import pytest

from evaluation.metrics.registry import METRICS
from evaluation.run_pages import better_of
from evaluation.selectors.paired_tests import is_higher_better
from evaluation.sorting import Sorting

pytestmark = pytest.mark.unit
VALUES = [0.2, None, 0.1, 0.3]


@pytest.mark.parametrize("key", METRICS)
def test_best_first_follows_the_direction_of_every_metric(key: str) -> None:
    name = f"{key}@5" if METRICS[key].needs_n else key
    lower = {name} if better_of(name) == "lower" else set()
    order = Sorting({"sort": name}, [name], lower)
    best_first = sorted(VALUES, key=order.sort_key)
    assert best_first == ([0.1, 0.2, 0.3, None] if METRICS[key].direction == "lower" else [0.3, 0.2, 0.1, None])
    assert sorted(VALUES, key=Sorting({"sort": f"-{name}"}, [name], lower).sort_key)[-1] is None
    assert order.head(name, name).sorted_as == ("ascending" if lower else "descending")
    assert is_higher_better(name) == (METRICS[key].direction != "lower")


@pytest.mark.parametrize(
    ("name", "expected"),
    [("recall(mode=exact)", "higher"), ("fallout(mode=sampled)", "lower"), ("filled-slots", "lower")],
)
def test_direction_of_columns_that_are_no_plain_metric(name: str, expected: str) -> None:
    assert better_of(name) == expected


def test_values_that_print_alike_keep_their_order() -> None:
    order = Sorting({"sort": "recall"}, ["recall"])
    assert sorted([("A", 0.1201), ("B", 0.1204)], key=lambda row: order.sort_key(row[1])) == [
        ("A", 0.1201),
        ("B", 0.1204),
    ]


def test_heads_turn_the_order_and_keep_the_other_choices() -> None:
    order = Sorting({"sort": "recall", "baseline": "LSA", "page": "2"}, ["recall", "fallout"])
    assert order.head("recall", "Recall").link == "?baseline=LSA&sort=-recall"
    assert order.head("fallout", "Fallout").link == "?baseline=LSA&sort=fallout"
    assert (order.head("recall", "Recall").sign, order.head("fallout", "Fallout").sign) == ("↓", "")
    assert Sorting({"sort": "-recall"}, ["recall"]).head("recall", "Recall").link == "?sort=recall"


def test_unknown_column_sorts_nothing() -> None:
    assert Sorting({"sort": "nothing"}, ["recall"]).key == ""
