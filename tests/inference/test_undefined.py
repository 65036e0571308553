"""A procedure without a result states the reason."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from inference.agreement import kendall, spearman
from inference.anova import brown_forsythe, one_way, shapiro_residuals, welch
from inference.bootstrap import mean_interval, user_means
from inference.contrasts import planned_contrast
from inference.correlation import between_conditions, over_all, pearson, within_conditions, within_each
from inference.effect_sizes import hedges_g_between
from inference.equivalence import equivalence
from inference.order_bootstrap import tau_distribution
from inference.ordinal import cumulative_link
from inference.paired import friedman, nemenyi, sign_test, sign_tests_between, signed_rank, signed_ranks_between
from inference.paired_hits import hit_tests_between
from inference.posthoc import games_howell, tukey_hsd
from inference.rank_tests import dunn_holm, kruskal_wallis
from inference.reliability import cronbach_alpha
from inference.results import Undefined

pytestmark = pytest.mark.unit

nan = float("nan")
RNG = np.random.default_rng(1)
ALIKE = {"A": [3, 3], "B": [3, 3]}
ALONE = {"A": [1, 2, 3]}
EMPTY: dict[str, list[int]] = {"A": [], "B": []}
ONE_EACH = {"A": [1], "B": [2]}

CASES: list[tuple[str, list[Callable[[], object]]]] = [
    ("Kendall's tau-b", [lambda: kendall([1], [1]), lambda: kendall([1, 1], [1, 2]), lambda: kendall([1, 2], [1, 1])]),
    ("Spearman's rho", [lambda: spearman([1], [1]), lambda: spearman([1, 1], [1, 2])]),
    ("One-way ANOVA", [lambda: one_way(ALONE), lambda: one_way(ALIKE), lambda: one_way(ONE_EACH)]),
    ("Welch ANOVA", [lambda: welch(ALONE), lambda: welch(ALIKE), lambda: welch({"A": [1, 1], "B": [1, 2]})]),
    ("Tukey HSD", [lambda: tukey_hsd(ALONE), lambda: tukey_hsd(ALIKE)]),
    ("Games-Howell", [lambda: games_howell(ALONE)]),
    ("Kruskal-Wallis", [lambda: kruskal_wallis(ALONE), lambda: kruskal_wallis(ALIKE)]),
    ("Dunn-Holm", [lambda: dunn_holm(ALONE), lambda: dunn_holm(ALIKE)]),
    ("Brown-Forsythe", [lambda: brown_forsythe(ALONE), lambda: brown_forsythe(ALIKE)]),
    ("Shapiro-Wilk", [lambda: shapiro_residuals(EMPTY), lambda: shapiro_residuals(ALIKE)]),
    (
        "Bootstrap",
        [
            lambda: user_means([[nan, 1]], 9, RNG),
            lambda: mean_interval([nan], 9, RNG),
        ],
    ),
    ("Bootstrap of tau-b", [lambda: tau_distribution([[1, 1]], [[1, 2]])]),
    ("Planned contrast", [lambda: planned_contrast({"A": [], "B": [1, 2]}, ["A"], ["B"])]),
    ("Pearson's r", [lambda: pearson([1], [1]), lambda: pearson([1, 1, 1], [1, 2, 3]), lambda: over_all({}, {})]),
    ("Pearson's r", [lambda: within_each({"A": []}, {"A": []})["A"]]),
    (
        "Pooled within-condition correlation",
        [
            lambda: within_conditions(ONE_EACH, ONE_EACH),
            lambda: within_conditions(ALIKE, ALIKE),
            lambda: within_conditions({"A": [1, 2]}, {"A": [1, 2]}),
        ],
    ),
    (
        "Correlation of condition means",
        [
            lambda: between_conditions(ONE_EACH, ONE_EACH),
            lambda: between_conditions({**ONE_EACH, "C": [3]}, {"A": [1], "B": [1], "C": [1]}),
        ],
    ),
    ("Hedges' g", [lambda: hedges_g_between(ONE_EACH)[0], lambda: hedges_g_between(ALIKE)[0]]),
    ("Equivalence test", [lambda: equivalence(ONE_EACH, 0.5)]),
    ("Friedman", [lambda: friedman(ALONE), lambda: friedman({"A": [1], "B": [2]}), lambda: friedman(ALIKE)]),
    ("Nemenyi", [lambda: nemenyi(ALONE), lambda: nemenyi({"A": [1], "B": [2]}), lambda: nemenyi(ALIKE)]),
    ("Ordinal model (cumulative link)", [lambda: cumulative_link(ALONE), lambda: cumulative_link(ALIKE)]),
    ("Sign test", [lambda: sign_test([1, 2], [1, 2]), lambda: sign_tests_between({"A": [1]})]),
    ("Sign-flip permutation by user", [lambda: hit_tests_between({"A": [1]}, [1], rng=RNG)]),
    ("Sign-flip permutation by user", [lambda: hit_tests_between({"A": [1]}, [1], rng=RNG)]),
    (
        "McNemar",
        [lambda: hit_tests_between({"A": [1]}, [1], "mcnemar", rng=RNG)],
    ),
    ("Wilcoxon signed rank", [lambda: signed_rank([1, 2], [1, 2]), lambda: signed_ranks_between({"A": [1]})]),
    (
        "Cronbach's alpha",
        [
            lambda: cronbach_alpha([[1], [2]]),
            lambda: cronbach_alpha([[1, 2]]),
            lambda: cronbach_alpha([[1, 2], [2, 1]]),
        ],
    ),
]


@pytest.mark.parametrize(("procedure", "calls"), CASES)
def test_an_undefined_result_states_its_reason(procedure: str, calls: list[Callable[[], object]]) -> None:
    for call in calls:
        found = call()
        assert isinstance(found, Undefined)
        assert found.reason
