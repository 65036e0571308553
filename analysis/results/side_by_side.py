"""What is computed where participants compared lists side by side."""

from __future__ import annotations

from dataclasses import dataclass

from analysis.results.rankings import OfVariable
from inference.ancova import FTest
from inference.paired import SignEffect
from inference.results import PairwiseResult, Undefined
from inference.t_tests import Contrast


@dataclass(frozen=True, kw_only=True)
class ComparedPair:
    """How participants compared the lists of two conditions: answers from clearly `a` to clearly `b`.

    `effect` is the share for `a` of the judgements with a preference. Identical lists are a tie by design: they are
    counted apart. `shared` is the mean share of items that are in both lists, of all that were shown.
    """

    a: str
    b: str
    steps: tuple[int, int, int, int, int]
    effect: SignEffect | Undefined
    n_identical: int
    shared: float | None

    @property
    def n_a(self) -> int:
        """Judgements for `a`."""
        return self.steps[0] + self.steps[1]

    @property
    def n_b(self) -> int:
        """Judgements for `b`."""
        return self.steps[3] + self.steps[4]


@dataclass(frozen=True, kw_only=True)
class DavidsonModel:
    """Log-worths, with sum 0; the test of all conditions; log odds of the left side, and of a tie between equals."""

    worths: dict[str, float]
    test: FTest
    side: Contrast
    tie: float | None


@dataclass(frozen=True, kw_only=True)
class Preference(OfVariable):
    """One question of preference.

    `rates` are the shares of judgements in which a condition was preferred, ties counting half. `tests` compares two
    conditions by the exact sign test, without ties: the difference is that of the shares, with an interval by
    bootstrap over participants. More are compared by the `model`, whose variance is clustered by participant.
    """

    n_participants: int
    n_left: int
    n_right: int
    pairs: tuple[ComparedPair, ...]
    rates: dict[str, float]
    tests: PairwiseResult | Undefined
    model: DavidsonModel | None = None

    @property
    def values(self) -> dict[str, float]:
        """What orders the conditions: log-worths, or of two conditions the shares of judgements."""
        return self.rates if self.model is None else self.model.worths

    @property
    def test_name(self) -> str:
        """The test that decides, within a sentence."""
        return "the sign test" if self.model is None else "Davidson's model"
