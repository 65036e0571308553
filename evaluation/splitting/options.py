"""The options of each split: types, defaults, limits and descriptions, for commands, forms and documentation."""

from __future__ import annotations

from dataclasses import dataclass

from core.errors import ParameterError
from recommenders.parameters import Parameters, parameter

BELOW_ONE = 0.999


def _test_users(default: int = 0) -> int:
    return parameter(default, description="Number of test users, drawn at random; 0: all eligible users.", minimum=0)


@dataclass(frozen=True)
class Holdout(Parameters):
    """Options of ``holdout``."""

    share: float = parameter(0.2, description="Share of ratings to hide.", minimum=0.0, maximum=BELOW_ONE)
    within: str = parameter("all", description="Of all ratings, or of each user's.", choices=("all", "user"))


@dataclass(frozen=True)
class Probe(Parameters):
    """Options of ``probe``."""

    share: float = parameter(0.014, description="Share of ratings to hide.", minimum=0.0, maximum=BELOW_ONE)
    list: str = parameter(
        "", description="A file of pairs to hide instead of a random share, or 'dataset' for the dataset's own list."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.list and self.share != Probe.share:
            raise ParameterError("Give a share or a list, not both: a list determines what is hidden.")


@dataclass(frozen=True)
class TemporalExact(Parameters):
    """Options of ``temporal-exact``."""

    test_users: int = _test_users(100)


@dataclass(frozen=True)
class TemporalShare(Parameters):
    """Options of ``temporal-global`` and ``temporal-per-user``."""

    share: float = parameter(
        0.2,
        description="Share of the latest ratings that sets the test time; 0: the time of a rating drawn at random.",
        minimum=0.0,
        maximum=BELOW_ONE,
    )
    test_users: int = _test_users()


@dataclass(frozen=True)
class RandomPerUser(Parameters):
    """Options of ``random-per-user``."""

    test_users: int = _test_users(2000)


@dataclass(frozen=True)
class GivenN(Parameters):
    """Options of ``given-n``."""

    n: int = parameter(5, description="Known ratings of each test user.", minimum=1)
    test_users: int = _test_users()


@dataclass(frozen=True)
class AllButN(Parameters):
    """Options of ``all-but-n``."""

    n: int = parameter(1, description="Hidden ratings of each test user.", minimum=1)
    test_users: int = _test_users()


@dataclass(frozen=True)
class Strangers(Parameters):
    """Options of ``strangers``."""

    share: float = parameter(0.1, description="Share of users held out whole.", minimum=0.0, maximum=BELOW_ONE)
    given: int = parameter(5, description="Given ratings of each test user; 0: all but the hidden ones.", minimum=0)
    hidden: int = parameter(0, description="Hidden ratings of each test user; 0: all but the given ones.", minimum=0)
    given_share: float = parameter(
        0.0,
        description="Given share of each test user's ratings, at least one given and one hidden; 0: a fixed number.",
        minimum=0.0,
        maximum=BELOW_ONE,
        is_added=True,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if sum(value > 0 for value in (self.given, self.hidden, self.given_share)) != 1:
            raise ParameterError(
                "Either `given` or `hidden` ratings or `given_share` is above 0, and the others are 0, as in "
                "'strangers:given=5', 'strangers:given=0,hidden=3' and 'strangers:given=0,given_share=.8'."
            )


@dataclass(frozen=True)
class KFold(Parameters):
    """Options of ``k-fold``."""

    k: int = parameter(5, description="Number of folds.", minimum=2)
    over: str = parameter("ratings", description="What is cut into folds.", choices=("ratings", "users"))
    hide: float = parameter(
        0.2, description="For folds over users: share of a test user's ratings to hide.", minimum=0.0, maximum=BELOW_ONE
    )


@dataclass(frozen=True)
class LeaveOneOut(Parameters):
    """Options of ``leave-one-out``."""

    which: str = parameter("last", description="Which rating is hidden.", choices=("last", "random"))
    test_users: int = _test_users()


@dataclass(frozen=True)
class ColdStartItems(Parameters):
    """Options of ``cold-start-items``."""

    share: float = parameter(
        0.1, description="Share of items (hot: of ratings) to hide.", minimum=0.0, maximum=BELOW_ONE
    )
    start: str = parameter(
        "cold", description="Whole items, or ratings of items that keep some.", choices=("cold", "hot")
    )
    outcome: str = parameter(
        "implicit",
        description="A good item: one that was rated, or one that was rated high.",
        choices=("implicit", "explicit"),
    )
    threshold: float = parameter(4.0, description="Explicit: the rating from which an item is good.")
    candidates: str = parameter(
        "rated",
        description="Explicit, test observations: rank the test items a user rated, or all (as implicit always does).",
        choices=("rated", "all"),
        is_added=True,
    )


@dataclass(frozen=True)
class DevEval(Parameters):
    """Options of ``dev-eval`` itself; the others are those of the split named by ``of``."""

    development: float = parameter(
        0.5, description="Share of the test users in the development group.", minimum=0.001, maximum=BELOW_ONE
    )
