"""Judgements of two conditions side by side: cases by hand, invariances, and data without a result."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from core.errors import DataError
from inference import paired_comparisons as module
from inference.average_advantage import average_advantage
from inference.paired_comparisons import DavidsonResult, Judgements, davidson
from inference.results import Undefined

pytestmark = pytest.mark.unit


def judged(*rows: tuple[str, str | None, int], per_participant: int = 1) -> Judgements:
    """Judgements "AB": A on the left and B on the right, the preferred one, and how many alike."""
    each = [(pair, preferred) for pair, preferred, n in rows for _ in range(n)]
    left, right = zip(*(pair for pair, _preferred in each), strict=True)
    participants = [at // per_participant for at in range(len(each))]
    return Judgements(left, right, [preferred for _pair, preferred in each], participants)


def fitted(judgements: Judgements) -> DavidsonResult:
    found = davidson(judgements)
    assert isinstance(found, DavidsonResult)
    return found


def drawn(seed: int = 1, n: int = 40) -> Judgements:
    rng = np.random.default_rng(seed)
    rows = []
    for participant in range(n):
        for _ in range(3):
            left, right = rng.permutation(list("ABC"))[:2].tolist()
            rows.append((left, right, [left, right, None][rng.choice(3, p=[0.45, 0.35, 0.2])], participant))
    return Judgements(*zip(*rows, strict=True), names="ABC")


def test_two_conditions_on_balanced_sides_have_the_log_odds_of_the_preferences() -> None:
    found = fitted(
        judged(("AB", "A", 24), ("AB", "B", 6), ("BA", "A", 24), ("BA", "B", 6), ("AB", None, 8), ("BA", None, 8))
    )
    pair = found.pairs.pairs[0]
    assert pair.difference == pytest.approx(math.log(48 / 12))
    # The variance of log odds, by one judgement of each participant; ties say nothing of the difference.
    assert pair.se == pytest.approx(math.sqrt((1 / 48 + 1 / 12) * 76 / 75), rel=1e-3)
    assert pair.df == 75
    assert found.side.value == pytest.approx(0)
    # Ties are 16, and √(48 · 12) is the geometric mean of the others.
    assert found.tie == pytest.approx(math.log(16 / 24))
    assert found.test.f == pytest.approx((pair.difference / pair.se) ** 2)


def test_a_side_is_told_from_a_condition() -> None:
    found = fitted(judged(("AB", "A", 30), ("AB", "B", 10), ("BA", "B", 30), ("BA", "A", 10)))
    assert found.pairs.pairs[0].difference == pytest.approx(0)
    assert found.side.value == pytest.approx(math.log(3))
    assert found.tie is None


def test_the_same_judgements_of_fewer_people_are_less_certain() -> None:
    rows = (("AB", "A", 20), ("AB", "B", 20), ("BA", "A", 20), ("BA", "B", 10))
    apart, together = fitted(judged(*rows)), fitted(judged(*rows, per_participant=5))
    assert together.means.means == pytest.approx(apart.means.means)
    assert together.pairs.pairs[0].se > 2 * apart.pairs.pairs[0].se
    assert together.n_participants == 14


def test_results_do_not_depend_on_order_or_names() -> None:
    judgements = drawn()
    before, order = fitted(judgements), np.random.default_rng(2).permutation(len(judgements.left))
    columns = (judgements.left, judgements.right, judgements.preferred, judgements.participants)
    after = fitted(Judgements(*([column[at] for at in order] for column in columns), names="CABD"))
    assert after.test.f == pytest.approx(before.test.f)
    assert after.means.means == pytest.approx(before.means.means[[2, 0, 1]])
    assert after.pairs.left_out == ("D",)
    a_b, again = before.pairs.pairs[0], after.pairs.pairs[2]
    assert [again.difference, again.se, again.p] == pytest.approx([a_b.difference, a_b.se, a_b.p])


def test_exchanged_sides_turn_the_effect_of_the_side_alone() -> None:
    judgements = drawn()
    before, after = fitted(judgements), fitted(replace(judgements, left=judgements.right, right=judgements.left))
    assert after.side.value == pytest.approx(-before.side.value)
    assert after.means.means == pytest.approx(before.means.means)


def test_worths_and_their_covariance_serve_the_verdict() -> None:
    found = fitted(drawn())
    advantage = average_advantage(found.means, [("A", "B")])
    assert not isinstance(advantage, Undefined)
    pair = found.pairs.pairs[0]
    assert (advantage.value, advantage.se, advantage.df) == pytest.approx((pair.difference, pair.se, 39))


@pytest.mark.parametrize(
    ("judgements", "reason"),
    [
        (Judgements([], [], [], []), "two conditions"),
        (judged(("AB", "A", 6), ("AB", "B", 4)), "go together"),
        (judged(("AB", "A", 6), ("BA", "A", 4)), "no limit"),
        (judged(("AB", "A", 6), ("BA", "B", 4)), "no limit"),
        (judged(("AB", None, 6), ("BA", None, 4)), "no limit"),
        (judged(("AB", "A", 3), ("AB", "B", 2), ("BA", "A", 2), ("BA", "B", 2), per_participant=9), "too few"),
    ],
)
def test_judgements_without_worths_say_why(judgements: Judgements, reason: str) -> None:
    found = davidson(judgements)
    assert isinstance(found, Undefined)
    assert reason in found.reason


def test_a_search_that_does_not_end_has_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "STEPS", 2)
    assert isinstance(davidson(drawn()), Undefined)


@pytest.mark.parametrize("changes", [{"left": ["B"] * 10}, {"preferred": ["C"] * 10}])
def test_impossible_judgements_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(DataError, match="two different conditions"):
        davidson(replace(judged(("AB", "A", 6), ("AB", "B", 4)), **changes))
