"""Every split by name: options, hidden ratings, assumptions, and the partitions it makes.

    spec = split_spec("temporal-global", {"share": 0.1})
    for partition in partitions(spec, RatingRows.of(user_items, times=times, reserved=reserved), seed=1):
        ...

`str` writes a split as ``name`` or ``name:option=value,option=value``. Splits with `SplitKind.trains_many` false have
exactly one partition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import partial
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
from evaluation.splitting.partition import Partition, with_development
from evaluation.splitting.per_user import all_but_n, given_n, leave_one_out, random_per_user, strangers
from evaluation.splitting.rows import RatingRows
from evaluation.splitting.temporal import temporal_exact, temporal_global, temporal_per_user
from recommenders.parameters import Parameters

Pairs = tuple[NDArray[np.integer], NDArray[np.integer]]
STRANGERS = "strangers"  # the split whose test users are as new to the models as participants
MANY_MODELS = "Trains several models per algorithm, none of which represents it, so a study cannot use them."


@dataclass(frozen=True, slots=True)
class SplitKind:
    """A split."""

    key: str  # as written in commands
    title: str
    # `options.described()` gives names, types, defaults, limits and descriptions, for forms and documentation.
    options: type[Parameters]
    hides: str  # what is hidden, in a sentence
    assumes: str  # what it simulates or assumes
    make: Callable[..., Any]  # (rows, seed, and each option by name) -> a partition, or an iterator of many
    trains_many: bool = False  # whether every algorithm is trained once per partition; no split for a study then
    needs_times: Callable[[Any], bool] = lambda options: False  # whether ratings need times


def _always(_: Any) -> bool:
    return True


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
                holdout,
            ),
            SplitKind(
                "probe",
                "Probe",
                Probe,
                "A random share of all ratings, or those of a list; high ratings should be recommended, low ratings "
                "avoided.",
                "Time does not matter (unless a list was drawn by time). Cremonesi et al. hide 1.4%.",
                partial(share_of_all, purpose="probe"),  # unless there is a list
            ),
            SplitKind(
                "temporal-exact",
                "Exact in time",
                TemporalExact,
                "For each test user, all ratings of all users from one of their actions on; the user's own are tested.",
                "Nothing: it simulates a system that is retrained before each recommendation.",
                temporal_exact,
                trains_many=True,
                needs_times=_always,
            ),
            SplitKind(
                "temporal-global",
                "One test time",
                TemporalShare,
                "All ratings from one test time on; those of test users are tested.",
                "A system trained once, at that time.",
                temporal_global,
                needs_times=_always,
            ),
            SplitKind(
                "temporal-per-user",
                "A test time for each user",
                TemporalShare,
                "Each test user's own ratings from an individual test time on.",
                "Order matters within users; later ratings of other users may be known.",
                temporal_per_user,
                needs_times=_always,
            ),
            SplitKind(
                "random-per-user",
                "A random number of each user's ratings",
                RandomPerUser,
                "A random number of randomly drawn ratings of each test user.",
                "Time does not matter.",
                random_per_user,
            ),
            SplitKind(
                "given-n",
                "Given n",
                GivenN,
                "All but n ratings of each test user; n are known.",
                "Users have given exactly n ratings: suited to diagnosis rather than to choosing an algorithm.",
                given_n,
            ),
            SplitKind(
                "all-but-n",
                "All but n",
                AllButN,
                "n ratings of each test user.",
                "Users give exactly n more ratings: suited to diagnosis rather than to choosing an algorithm.",
                all_but_n,
            ),
            SplitKind(
                STRANGERS,
                "Strangers",
                Strangers,
                "All ratings of a share of the users: some of each are given as a profile, the others are tested.",
                "Users are new to the models, and known by few ratings, as participants of a study are.",
                strangers,
            ),
            SplitKind(
                "k-fold",
                "k folds",
                KFold,
                "Each fold of ratings, or of users, in turn.",
                DEPENDENCE,
                k_fold,
                trains_many=True,
            ),
            SplitKind(
                "leave-one-out",
                "Leave one out",
                LeaveOneOut,
                "One rating of each test user: the last, or one at random.",
                "One rating per user is informative enough; later ratings of other users are known.",
                leave_one_out,
                needs_times=lambda options: bool(options.which == "last"),
            ),
            SplitKind(
                "cold-start-items",
                "Cold items",
                ColdStartItems,
                "Items whole, so that no training rating touches them; or, hot, as large a share of ratings.",
                "That new items arrive with features and without ratings. Good is an item that was rated (implicit), "
                "or rated high (explicit).",
                lambda rows, *, share, start, seed, **_: cold_start(rows, share=share, start=start, seed=seed),
            ),
            SplitKind(
                "dev-eval",
                "Development and evaluation users",
                DevEval,
                "The hidden ratings of the wrapped split; the test users form two groups.",
                "The choice is made on the development group only, and tested once on the other.",
                with_development,  # of each partition of the split that it wraps
            ),
        )
    }
)


@dataclass(frozen=True, slots=True)
class SplitSpec:
    """A split with its options; `str` writes it as commands and forms state it."""

    kind: SplitKind
    options: Any
    inner: SplitSpec | None = None  # the split that dev-eval wraps

    def __str__(self) -> str:
        values = dict(self.options.as_dict())
        if self.inner is not None:
            values = {"of": self.inner.kind.key, **values, **self.inner.options.as_dict()}
        stated = ",".join(f"{name}={value}" for name, value in values.items() if value != "")
        return f"{self.kind.key}:{stated}" if stated else self.kind.key

    @property
    def needs_times(self) -> bool:
        """Whether the ratings need times."""
        return self.kind.needs_times(self.options) or (self.inner is not None and self.inner.needs_times)

    @property
    def trains_many(self) -> bool:
        """Whether every algorithm is trained several times."""
        return self.kind.trains_many

    @property
    def trained_by(self) -> tuple[str, int]:
        """The option that determines how often every algorithm is trained, and its value (test users 0: all). Raises
        ParameterError: every algorithm is trained once.
        """
        name = next((name for name in ("k", "test_users") if self.trains_many and hasattr(self.options, name)), None)
        if name is None:
            raise ParameterError(f"The split {self.kind.key} trains every algorithm once.")
        return name, getattr(self.options, name)

    def n_trainings(self, n_users: int) -> int:
        """Return how often every algorithm is trained at most on a dataset of `n_users`.

        Examples
        --------
        >>> split_spec("k-fold", {"k": 4}).n_trainings(50), split_spec("probe").n_trainings(50)
        (4, 1)
        >>> split_spec("temporal-exact", {"test_users": 0}).n_trainings(50)
        50
        """
        if not self.trains_many:
            return 1
        name, value = self.trained_by
        return value if name == "k" else min(value or n_users, n_users)


def split_spec(key: str, values: Mapping[str, Any] | None = None) -> SplitSpec:
    """Build a split from its name and options (values or text); other options get their defaults.

    For dev-eval, ``of`` names the wrapped split, which gets the options that are not dev-eval's own. Raises
    ParameterError: an unknown split or option, a value that is not allowed; dev-eval of nothing, of itself or of a
    split that trains several models.

    Examples
    --------
    >>> str(split_spec("given-n", {"n": "5"}))
    'given-n:n=5,test_users=0'
    """
    if key not in SPLITS:
        raise ParameterError(f"Unknown split {key!r}. Available: {', '.join(SPLITS)}.")
    kind, settings = SPLITS[key], dict(values or {})
    inner: SplitSpec | None = None
    try:
        if kind.options is DevEval:
            name = str(settings.pop("of", ""))
            own = {info.name: settings.pop(info.name) for info in DevEval.described() if info.name in settings}
            if not name or name == key:
                raise ParameterError("It wraps another split; name it as in 'dev-eval:of=all-but-n,n=1'.")
            inner = split_spec(name, settings)
            if inner.trains_many:
                raise ParameterError(f"It wraps a split with one model per algorithm; {name} trains several.")
            settings = own
        return SplitSpec(kind, kind.options.from_mapping(settings), inner)
    except ParameterError as error:
        raise ParameterError(f"Split {key}: {error}") from error


def spec_of(split: Mapping[str, Any]) -> SplitSpec:
    """Build a split as runs store it, with its name among its options. Raises ParameterError as `split_spec`."""
    return split_spec(str(split["name"]), {name: value for name, value in split.items() if name != "name"})


def partitions(spec: SplitSpec, rows: RatingRows, seed: int, listed: Pairs | None = None) -> Iterator[Partition]:
    """Yield the partitions of a split.

    `listed`: users and items of the probe list that ``probe:list=…`` names, as `holdout.listed_probe` takes them.
    Raises ParameterError or DataError when the split needs times and there are none; as the split itself.
    """
    if spec.needs_times:
        rows.when()
    options, make = asdict(spec.options), spec.kind.make
    if spec.inner is not None:
        return (make(inner, seed=seed, **options) for inner in partitions(spec.inner, rows, seed, listed))
    if options.pop("list", ""):
        if listed is None:
            raise ParameterError(f"The probe list {spec.options.list!r} must be read first: pass its pairs.")
        return iter([listed_probe(rows, *listed)])
    result = make(rows, seed=seed, **options)
    return result if spec.trains_many else iter([result])
