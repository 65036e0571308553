"""Shares of picks and of opened items: against R on random studies, by hand, under the null, and without a result."""

from __future__ import annotations

import csv
import importlib.util
import sys
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from inference.attrition import AttritionResult, attrition_test
from inference.choices import ItemChoice, SharesTest, item_choice, mean_shares, picking_test
from inference.results import Undefined

pytestmark = pytest.mark.unit
DATA = Path(__file__).parents[1] / "data" / "statistics"


@cache
def designs() -> dict[str, Any]:
    spec = importlib.util.spec_from_file_location("choice_designs", DATA / "choice_designs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return {design.name: design for design in module.designs()}


@cache
def references() -> dict[str, dict[str, list[float]]]:
    found: dict[str, dict[str, list[float]]] = {}
    with (DATA / "choices.csv").open() as stream:
        for row in csv.DictReader(stream):
            found.setdefault(row["design"], {})[row["statistic"]] = [float(each) for each in row["values"].split(";")]
    return found


@pytest.mark.reference
@pytest.mark.parametrize("name", list(designs()))
def test_numbers_agree_with_r(name: str) -> None:
    """R 4.2.2 with survival; the script is tests/data/statistics/choices.R."""
    design, expected = designs()[name], references()[name]
    test = picking_test(design.picked)
    assert isinstance(test, SharesTest)
    chi_squared, df, p = expected["score"]
    assert test.statistic == pytest.approx(chi_squared, rel=1e-9)
    assert test.df == df
    if test.method == "chi-square":
        assert test.p == pytest.approx(p, rel=1e-9)
    else:  # fisher.test of more than two conditions has seven digits
        assert test.method == "exact"
        assert test.p == pytest.approx(expected["exact"][0], rel=1e-6)
    for pair in test.pairs.pairs:
        assert (pair.ci_low, pair.ci_high) == pytest.approx(tuple(expected[f"newcombe.{pair.a}{pair.b}"]), abs=1e-9)
    behaviour = mean_shares(design.opened)
    assert isinstance(behaviour, SharesTest)
    assert list(behaviour.pairs.locations.values()) == pytest.approx(expected["gee.means"], rel=1e-9)
    errors = dict(zip(behaviour.pairs.locations, expected["gee.errors"], strict=True))
    for pair in behaviour.pairs.pairs:
        assert pair.se == pytest.approx(np.hypot(errors[pair.a], errors[pair.b]), rel=1e-8)
    chosen = item_choice(design.picks)
    assert isinstance(chosen, ItemChoice)
    for odds, kind in zip(chosen.odds.values(), ("rank", "popularity"), strict=True):
        # statsmodels stops where the gradient is below 1e-5.
        assert (odds.ratio, odds.interval.low, odds.interval.high) == pytest.approx(
            tuple(expected[f"clogit.{kind}"]), rel=1e-4
        )


def test_lists_of_one_length_give_means_of_shares_with_their_variance_over_n_less_one() -> None:
    """Mancl and DeRouen's correction of a mean divides each residual by 1 - 1 / n; Welch's t follows with it."""
    counts = {"A": [(0, 4), (1, 4), (3, 4)], "B": [(4, 4), (3, 4), (4, 4), (1, 4)]}
    shares = {name: [done / shown for done, shown in own] for name, own in counts.items()}
    test = mean_shares(counts)
    assert isinstance(test, SharesTest)
    assert test.pairs.locations == pytest.approx({name: np.mean(own) for name, own in shares.items()})
    (pair,) = test.pairs.pairs
    assert pair.se == pytest.approx(np.sqrt(sum(np.var(own, ddof=1) / (len(own) - 1) for own in shares.values())))
    assert pair.df is not None
    assert pair.se is not None
    assert pair.p == pytest.approx(2 * stats.t.sf(abs(pair.difference / pair.se), pair.df))
    assert test.method == "Wald"
    assert test.p == pytest.approx(pair.p)


def test_lists_of_one_item_are_independent() -> None:
    """No list has two items whose correlation could be estimated."""
    test = mean_shares({"A": [(0, 1), (1, 1), (1, 1), (1, 1)], "B": [(0, 1), (0, 1), (1, 1)]})
    assert isinstance(test, SharesTest)
    (pair,) = test.pairs.pairs
    assert pair.difference == pytest.approx(3 / 4 - 1 / 3)
    assert pair.se == pytest.approx(np.sqrt(np.var([0, 1, 1, 1], ddof=1) / 3 + np.var([0, 0, 1], ddof=1) / 2))


def test_small_counts_are_tested_exactly_and_large_ones_by_score() -> None:
    small, large = picking_test({"A": (9, 10), "B": (4, 10)}), picking_test({"A": (18, 20), "B": (8, 20)}, alpha=0.01)
    assert isinstance(small, SharesTest)
    assert isinstance(large, SharesTest)
    assert (small.method, large.method) == ("exact", "chi-square")
    assert small.p == pytest.approx(stats.fisher_exact(np.array([[9, 1], [4, 6]])).pvalue)
    assert large.p == pytest.approx(stats.chi2_contingency([[18, 2], [8, 12]], correction=False).pvalue)
    assert [pair.p for pair in (*small.pairs.pairs, *large.pairs.pairs)] == [small.p, large.p]
    assert large.pairs.alpha == 0.01
    many = picking_test({str(at): (at % 3, 20 + at) for at in range(40)})
    assert isinstance(many, SharesTest)
    assert many.method == "Monte Carlo"


def test_a_pair_in_which_no_participant_picked_has_no_difference_and_an_interval() -> None:
    test = picking_test({"A": (0, 20), "B": (0, 20), "C": (9, 20)})
    assert isinstance(test, SharesTest)
    pair, *_others = test.pairs.pairs
    assert (pair.difference, pair.p, pair.is_significant) == (0.0, 1.0, False)
    assert pair.ci_low is not None
    assert pair.ci_low == pytest.approx(-(pair.ci_high or 0))
    assert pair.ci_low < -0.1


def test_the_table_adds_every_outcome_that_is_no_more_probable() -> None:
    sizes, picked = np.array([5, 6, 4, 3]), np.array([4, 1, 2, 0])
    grid = np.stack(np.meshgrid(*(np.arange(n + 1) for n in sizes), indexing="ij"), axis=-1).reshape(-1, 4)
    chances = {tuple(row): stats.multivariate_hypergeom.pmf(row, sizes, 7) for row in grid if row.sum() == 7}
    observed = chances[tuple(picked)]
    found = attrition_test({str(at): (int(n), int(own)) for at, (n, own) in enumerate(zip(sizes, picked, strict=True))})
    assert isinstance(found, AttritionResult)
    assert found.p == pytest.approx(sum(p for p in chances.values() if p <= observed * (1 + 1e-9)))


def test_pairs_are_corrected_for_their_number() -> None:
    counts = {"A": (25, 30), "B": (15, 30), "C": (14, 30)}
    test = picking_test(counts)
    assert isinstance(test, SharesTest)
    for pair, (a, b) in zip(test.pairs.pairs, combinations(counts, 2), strict=True):
        alone = picking_test({a: counts[a], b: counts[b]})
        assert isinstance(alone, SharesTest)
        assert pair.p == pytest.approx(min(1, 3 * alone.p))
        (own,) = alone.pairs.pairs
        assert pair.ci_low < own.ci_low < own.ci_high < pair.ci_high  # type: ignore[operator]


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (picking_test({"A": (3, 5), "B": (0, 0)}), "two conditions with participants; there are 1"),
        (picking_test({"A": (0, 5), "B": (0, 6)}), "None or all of the participants"),
        (picking_test({"A": (5, 5), "B": (6, 6)}), "None or all of the participants"),
        (mean_shares({"A": [(1, 5), (2, 5)], "B": [(1, 5)]}), "there are 1"),
        (mean_shares({"A": [(0, 5), (0, 5)], "B": [(0, 5), (0, 4)]}), "Within every condition"),
        (
            mean_shares({"A": [(0, 5)] * 3, "B": [(1, 5)] * 3, "C": [(1, 5), (2, 5)]}),
            "Too many conditions have no variance",
        ),
        (item_choice([(1, [3])]), "No participant picked an item from a list of two or more"),
        (item_choice([(1, [9, 3, 1]), (1, [4, 8, 2]), (1, [7, 1, 2])]), "determine every pick"),
    ],
)
def test_what_has_no_result_says_why(found: Any, reason: str) -> None:
    assert isinstance(found, Undefined)
    assert reason in found.reason


def test_a_correlation_that_no_list_can_have_is_not_used() -> None:
    """Pairs of short lists answered in opposite ways would give the long ones negative weights."""
    own = [(1, 2)] * 200 + [(10, 20), (11, 20)]
    test = mean_shares({"A": own, "B": own})
    assert isinstance(test, SharesTest)
    assert test.pairs.locations["A"] == pytest.approx(221 / 440)


def test_equally_popular_items_leave_the_rank() -> None:
    chosen = item_choice([(1, [3, 3]), (2, [3, 3]), (1, [3, 3])])
    assert isinstance(chosen, ItemChoice)
    assert list(chosen.odds) == ["one rank further down"]
    assert item_choice([(1, [3, 3]), (2, [9, 9]), (1, [1, 1])]) == chosen  # only differences within lists count
    assert chosen.odds["one rank further down"].ratio == pytest.approx(0.5, rel=1e-4)  # two picked the first, one not


def rejected(draw: Any, test: Any, n_studies: int) -> float:
    rng = np.random.default_rng(20261130)
    found = [test(draw(rng)) for _ in range(n_studies)]
    return float(np.mean([isinstance(each, SharesTest) and each.p < 0.05 for each in found]))


@pytest.mark.slow
def test_true_nulls_are_rejected_at_most_as_often_as_they_should() -> None:
    """Three standard errors above .05 for n = 30, and far below with the few picks of the exact test."""

    def picked(share: float, n: int) -> Any:
        return lambda rng: {name: (int(rng.binomial(n, share)), n) for name in "ABC"}

    def opened(rng: Any) -> dict[str, list[tuple[int, int]]]:
        of_people = {name: rng.beta(0.5, 2, 20) for name in "ABC"}  # participants differ much, and many open nothing
        return {name: [(int(rng.binomial(5, share)), 5) for share in own] for name, own in of_people.items()}

    n_studies = 2000
    bound = 0.05 + 3 * np.sqrt(0.05 * 0.95 / n_studies)
    assert 0.03 < rejected(picked(0.5, 30), picking_test, n_studies) < bound
    assert rejected(picked(0.1, 15), picking_test, n_studies) < 0.05
    assert 0.02 < rejected(opened, mean_shares, n_studies // 4) < 0.05 + 3 * np.sqrt(0.05 * 0.95 * 4 / n_studies)
