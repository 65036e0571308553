"""Every split: options, hidden ratings, assumptions, implementation, and whether a study may use its models."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import ParameterError
from evaluation.splitting.cold_start import cold_start
from evaluation.splitting.folds import DEPENDENCE, k_fold
from evaluation.splitting.holdout import holdout, listed_probe, share_of_all
from evaluation.splitting.options import (
    AllButN,
    ColdStartItems,
    DevEval,
    GivenN,
    Holdout,
    KFold,
    LeaveOneOut,
    Probe,
    RandomPerUser,
    Strangers,
    TemporalExact,
    TemporalShare,
)
from evaluation.splitting.partition import Partition
from evaluation.splitting.per_user import all_but_n, given_n, leave_one_out, random_per_user
from evaluation.splitting.rows import RatingRows
from evaluation.splitting.strangers import strangers
from evaluation.splitting.temporal import temporal_exact, temporal_global, temporal_per_user
from recommenders.parameters import Parameters

Pairs = tuple[NDArray[np.integer], NDArray[np.integer]]
Maker = Callable[[RatingRows, Any, int, Pairs | None], Iterator[Partition]]
STRANGERS = "strangers"  # the split whose test users are as new to the models as participants
ONE_MODEL = "Trains one model per algorithm, without the hidden ratings, so a study can serve this model."


@dataclass(frozen=True, slots=True)
class SplitKind:
    """A split."""

    key: str  # as written in commands
    title: str
    # `options.described()` gives names, types, defaults, limits and descriptions, for forms and documentation.
    options: type[Parameters]
    hides: str  # what is hidden, in a sentence
    assumes: str  # what it simulates or assumes
    make: Maker  # (rows, options, seed, listed pairs) -> partitions
    trains_many: bool = False  # whether every algorithm is trained once per partition; no split for a study then
    needs_times: Callable[[Any], bool] = lambda options: False  # whether ratings need times

    @property
    def may_back_a_study(self) -> bool:
        """Whether a study may serve the models trained on it."""
        return not self.trains_many

    @property
    def why(self) -> str:
        """Why a study may or may not use it."""
        if self.may_back_a_study:
            return ONE_MODEL
        return "Trains several models per algorithm, none of which represents it, so a study cannot use them."


def _always(_: Any) -> bool:
    return True


def _make_probe(rows: RatingRows, options: Probe, seed: int, listed: Pairs | None) -> Iterator[Partition]:
    if not options.list:
        yield share_of_all(rows, share=options.share, seed=seed, purpose="probe")
        return
    if listed is None:
        raise ParameterError(f"The probe list {options.list!r} must be read first: pass its pairs.")
    yield listed_probe(rows, *listed)


def _make_development(rows: RatingRows, options: DevEval, seed: int, listed: Pairs | None) -> Iterator[Partition]:
    raise ParameterError("dev-eval wraps another split: name it, as in 'dev-eval:of=all-but-n,n=1'.")


SPLITS: Mapping[str, SplitKind] = MappingProxyType(
    {
        kind.key: kind
        for kind in (
            SplitKind(
                "holdout",
                "Holdout",
                Holdout,
                "A random share of all ratings, or of each user's.",
                "Time does not matter. With ratings of all users, active users are tested more often.",
                lambda rows, o, seed, _: iter([holdout(rows, share=o.share, within=o.within, seed=seed)]),
            ),
            SplitKind(
                "probe",
                "Probe",
                Probe,
                "A random share of all ratings, or those of a list; high ratings should be recommended, low ratings "
                "avoided.",
                "Time does not matter (unless a list was drawn by time). Cremonesi et al. hide 1.4%.",
                _make_probe,
            ),
            SplitKind(
                "temporal-exact",
                "Exact in time",
                TemporalExact,
                "For each test user, all ratings of all users from one of their actions on; the user's own are tested.",
                "Nothing: it simulates a system that is retrained before each recommendation.",
                lambda rows, o, seed, _: temporal_exact(rows, test_users=o.test_users, seed=seed),
                trains_many=True,
                needs_times=_always,
            ),
            SplitKind(
                "temporal-global",
                "One test time",
                TemporalShare,
                "All ratings from one test time on; those of test users are tested.",
                "A system trained once, at that time.",
                lambda rows, o, seed, _: iter(
                    [temporal_global(rows, share=o.share, test_users=o.test_users, seed=seed)]
                ),
                needs_times=_always,
            ),
            SplitKind(
                "temporal-per-user",
                "A test time for each user",
                TemporalShare,
                "Each test user's own ratings from an individual test time on.",
                "Order matters within users; later ratings of other users may be known.",
                lambda rows, o, seed, _: iter(
                    [temporal_per_user(rows, share=o.share, test_users=o.test_users, seed=seed)]
                ),
                needs_times=_always,
            ),
            SplitKind(
                "random-per-user",
                "A random number of each user's ratings",
                RandomPerUser,
                "A random number of randomly drawn ratings of each test user.",
                "Time does not matter.",
                lambda rows, o, seed, _: iter([random_per_user(rows, test_users=o.test_users, seed=seed)]),
            ),
            SplitKind(
                "given-n",
                "Given n",
                GivenN,
                "All but n ratings of each test user; n are known.",
                "Users have given exactly n ratings: suited to diagnosis rather than to choosing an algorithm.",
                lambda rows, o, seed, _: iter([given_n(rows, n=o.n, test_users=o.test_users, seed=seed)]),
            ),
            SplitKind(
                "all-but-n",
                "All but n",
                AllButN,
                "n ratings of each test user.",
                "Users give exactly n more ratings: suited to diagnosis rather than to choosing an algorithm.",
                lambda rows, o, seed, _: iter([all_but_n(rows, n=o.n, test_users=o.test_users, seed=seed)]),
            ),
            SplitKind(
                STRANGERS,
                "Strangers",
                Strangers,
                "All ratings of a share of the users: some of each are given as a profile, the others are tested.",
                "Users are new to the models, and known by few ratings, as participants of a study are.",
                lambda rows, o, seed, _: iter(
                    [
                        strangers(
                            rows, share=o.share, given=o.given, hidden=o.hidden, seed=seed, given_share=o.given_share
                        )
                    ]
                ),
            ),
            SplitKind(
                "k-fold",
                "k folds",
                KFold,
                "Each fold of ratings, or of users, in turn.",
                DEPENDENCE,
                lambda rows, o, seed, _: k_fold(rows, k=o.k, over=o.over, hide=o.hide, seed=seed),
                trains_many=True,
            ),
            SplitKind(
                "leave-one-out",
                "Leave one out",
                LeaveOneOut,
                "One rating of each test user: the last, or one at random.",
                "One rating per user is informative enough; later ratings of other users are known.",
                lambda rows, o, seed, _: iter([leave_one_out(rows, which=o.which, test_users=o.test_users, seed=seed)]),
                needs_times=lambda options: bool(options.which == "last"),
            ),
            SplitKind(
                "cold-start-items",
                "Cold items",
                ColdStartItems,
                "Items whole, so that no training rating touches them; or, hot, as large a share of ratings.",
                "That new items arrive with features and without ratings. Good is an item that was rated (implicit), "
                "or rated high (explicit).",
                lambda rows, o, seed, _: iter([cold_start(rows, share=o.share, start=o.start, seed=seed)]),
            ),
            SplitKind(
                "dev-eval",
                "Development and evaluation users",
                DevEval,
                "The hidden ratings of the wrapped split; the test users form two groups.",
                "The choice is made on the development group only, and tested once on the other.",
                _make_development,
            ),
        )
    }
)
