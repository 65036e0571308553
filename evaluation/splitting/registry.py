"""The splits by name: their options with types, defaults and limits, what they suit, and one parser.

A split is written ``name`` or ``name:option=value,option=value``; `parse_split` reads it, `str` writes it, and
`partitions` makes it:

    spec = parse_split("temporal-global:share=.1")
    for partition in partitions(spec, RatingRows.of(user_items, times=times, reserved=reserved), seed=1):
        ...

Splits for which `SplitKind.trains_many` is false give exactly one partition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import ParameterError
from evaluation.splitting.cold_start import cold_start
from evaluation.splitting.development import with_development
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
    TemporalExact,
    TemporalShare,
)
from evaluation.splitting.partition import Partition
from evaluation.splitting.per_user import all_but_n, given_n, leave_one_out, random_per_user
from evaluation.splitting.rows import RatingRows
from evaluation.splitting.temporal import temporal_exact, temporal_global, temporal_per_user
from recommenders.parameters import Parameters

Pairs = tuple[NDArray[np.integer], NDArray[np.integer]]
Maker = Callable[[RatingRows, Any, int, Pairs | None], Iterator[Partition]]
ONE_MODEL = "Trains one model per algorithm, without the hidden side, so it can back a study: that model is served."


@dataclass(frozen=True, slots=True)
class SplitKind:
    """One split.

    Parameters
    ----------
    key : str
        As commands write it.
    title : str
    options : type of Parameters
        `options.described()` gives names, types, defaults, limits and descriptions, for forms and documentation.
    hides : str
        What is hidden, in a sentence.
    assumes : str
        What it simulates, or takes for granted.
    trains_many : bool
        Whether every algorithm is trained once for each partition; such a split cannot back a study.
    needs_times : callable
        Whether, with given options, ratings need times.
    make : callable
        (rows, options, seed, listed pairs) -> partitions.
    """

    key: str
    title: str
    options: type[Parameters]
    hides: str
    assumes: str
    trains_many: bool
    needs_times: Callable[[Any], bool]
    make: Maker

    @property
    def may_back_a_study(self) -> bool:
        """Whether a study may serve the models trained on it."""
        return not self.trains_many

    @property
    def why(self) -> str:
        """Why it may back a study, or may not."""
        if self.may_back_a_study:
            return ONE_MODEL
        return "Trains several models per algorithm, none of which is the one to serve, so it cannot back a study."


def _never(_: Any) -> bool:
    return False


def _always(_: Any) -> bool:
    return True


def _make_probe(rows: RatingRows, options: Probe, seed: int, listed: Pairs | None) -> Iterator[Partition]:
    if not options.list:
        yield share_of_all(rows, share=options.share, seed=seed, purpose="probe")
        return
    if listed is None:
        raise ParameterError(f"The probe list {options.list!r} has to be read first: give its pairs.")
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
                "That time does not matter. Of all ratings, active users are tested more often than others.",
                False,
                _never,
                lambda rows, o, seed, _: iter([holdout(rows, share=o.share, within=o.within, seed=seed)]),
            ),
            SplitKind(
                "probe",
                "Probe",
                Probe,
                "A random share of all ratings, or those of a list given; of them the high ones are to be found, and "
                "the low ones to be avoided.",
                "That time does not matter (a list may have been drawn otherwise). Cremonesi et al. hide 1.4 %.",
                False,
                _never,
                _make_probe,
            ),
            SplitKind(
                "temporal-exact",
                "Exact in time",
                TemporalExact,
                "For each test user everything of everyone from one of their actions on; the user's own is tested.",
                "Nothing: it is what a system faces that is trained again before each recommendation.",
                True,
                _always,
                lambda rows, o, seed, _: temporal_exact(rows, test_users=o.test_users, seed=seed),
            ),
            SplitKind(
                "temporal-global",
                "One test time",
                TemporalShare,
                "Everything from one test time on; that of test users is tested.",
                "A system trained at that time and not again.",
                False,
                _always,
                lambda rows, o, seed, _: iter(
                    [temporal_global(rows, share=o.share, test_users=o.test_users, seed=seed)]
                ),
            ),
            SplitKind(
                "temporal-per-user",
                "A test time for each user",
                TemporalShare,
                "Each test user's own ratings from a time of theirs on.",
                "That the order within a user matters, but not that others' later ratings are known.",
                False,
                _always,
                lambda rows, o, seed, _: iter(
                    [temporal_per_user(rows, share=o.share, test_users=o.test_users, seed=seed)]
                ),
            ),
            SplitKind(
                "random-per-user",
                "A random number of each user's",
                RandomPerUser,
                "Of each test user a random number of ratings, drawn at random.",
                "That time does not matter.",
                False,
                _never,
                lambda rows, o, seed, _: iter([random_per_user(rows, test_users=o.test_users, seed=seed)]),
            ),
            SplitKind(
                "given-n",
                "Given n",
                GivenN,
                "All but n ratings of each test user; n are known.",
                "That people have given exactly n ratings: a diagnosis rather than a choice of algorithm.",
                False,
                _never,
                lambda rows, o, seed, _: iter([given_n(rows, n=o.n, test_users=o.test_users, seed=seed)]),
            ),
            SplitKind(
                "all-but-n",
                "All but n",
                AllButN,
                "n ratings of each test user.",
                "That people are to give exactly n more: a diagnosis rather than a choice of algorithm.",
                False,
                _never,
                lambda rows, o, seed, _: iter([all_but_n(rows, n=o.n, test_users=o.test_users, seed=seed)]),
            ),
            SplitKind(
                "k-fold",
                "k folds",
                KFold,
                "Each fold of ratings, or of users, in turn.",
                DEPENDENCE,
                True,
                _never,
                lambda rows, o, seed, _: k_fold(rows, k=o.k, over=o.over, hide=o.hide, seed=seed),
            ),
            SplitKind(
                "leave-one-out",
                "Leave one out",
                LeaveOneOut,
                "One rating of each test user: the last, or one at random.",
                "That one rating tells enough of a user; others' later ratings are known.",
                False,
                lambda options: bool(options.which == "last"),
                lambda rows, o, seed, _: iter([leave_one_out(rows, which=o.which, test_users=o.test_users, seed=seed)]),
            ),
            SplitKind(
                "cold-start-items",
                "Cold items",
                ColdStartItems,
                "Items whole, so that no training rating touches them; or, hot, as large a share of ratings.",
                "That new items arrive with features and without ratings. Good is an item that was rated (implicit), "
                "or rated high (explicit).",
                False,
                _never,
                lambda rows, o, seed, _: iter([cold_start(rows, share=o.share, start=o.start, seed=seed)]),
            ),
            SplitKind(
                "dev-eval",
                "Choose on some, test on others",
                DevEval,
                "What the split it wraps hides; the test users are in two groups.",
                "That whoever chooses looks at the development group only, and tests once on the other.",
                False,
                _never,
                _make_development,
            ),
        )
    }
)


@dataclass(frozen=True, slots=True)
class SplitSpec:
    """A split with its options; `str` writes it so that `parse_split` reads it back.

    Parameters
    ----------
    kind : SplitKind
    options : Parameters
    inner : SplitSpec, optional
        The split that dev-eval wraps.
    """

    kind: SplitKind
    options: Any
    inner: SplitSpec | None = None

    def __str__(self) -> str:
        values = dict(self.options.as_dict())
        if self.inner is not None:
            values = {"of": self.inner.kind.key, **values, **self.inner.options.as_dict()}
        stated = ",".join(f"{name}={_written(value)}" for name, value in values.items() if value != "")
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
    def may_back_a_study(self) -> bool:
        """Whether a study may serve the models trained on it."""
        return self.kind.may_back_a_study


def _written(value: bool | int | float | str) -> str:
    return repr(value) if isinstance(value, float) else str(value)


def split_kind(key: str) -> SplitKind:
    """The split of a name.

    Raises
    ------
    ParameterError
        There is none.

    Examples
    --------
    >>> split_kind("k-fold").may_back_a_study
    False
    """
    if key not in SPLITS:
        raise ParameterError(f"There is no split {key!r}; the splits are: {', '.join(SPLITS)}.")
    return SPLITS[key]


def split_spec(key: str, values: Mapping[str, Any] | None = None) -> SplitSpec:
    """A split from its name and options, text included; what is left out has its default.

    For dev-eval, ``of`` names the split it wraps, and options that are not its own are that one's.

    Raises
    ------
    ParameterError
        An unknown split or option, a value that is not allowed; dev-eval of nothing, of itself or of a split that
        trains several models.

    Examples
    --------
    >>> str(split_spec("given-n", {"n": "5"}))
    'given-n:n=5,test_users=0'
    """
    kind, given = split_kind(key), dict(values or {})
    inner: SplitSpec | None = None
    try:
        if kind.options is DevEval:
            name = str(given.pop("of", ""))
            own = {info.name: given.pop(info.name) for info in DevEval.described() if info.name in given}
            if not name or name == key:
                raise ParameterError("It wraps another split: name that, as in 'dev-eval:of=all-but-n,n=1'.")
            inner = split_spec(name, given)
            if inner.trains_many:
                raise ParameterError(f"It wraps a split with one model per algorithm; {name} trains several.")
            given = own
        return SplitSpec(kind, kind.options.from_mapping(given), inner)
    except ParameterError as error:
        raise ParameterError(f"Split {key}: {error}") from error


def parse_split(text: str) -> SplitSpec:
    """Read a split as commands and forms write it.

    Raises
    ------
    ParameterError
        The text is not of the form ``name:option=value,option=value``, or as `split_spec`.

    Examples
    --------
    >>> str(parse_split("probe:share=.014"))
    'probe:share=0.014'
    >>> str(parse_split("dev-eval:of=leave-one-out,which=random"))
    'dev-eval:of=leave-one-out,development=0.5,which=random,test_users=0'
    """
    key, _, options = text.strip().partition(":")
    values: dict[str, str] = {}
    for option in options.split(",") if options.strip() else ():
        name, is_pair, value = (part.strip() for part in option.partition("="))
        if not is_pair or not name or not value:
            raise ParameterError(f"{option!r} in the split {text!r} is not of the form name=value.")
        if name in values:
            raise ParameterError(f"The option {name} comes twice in the split {text!r}.")
        values[name] = value
    return split_spec(key, values)


def partitions(spec: SplitSpec, rows: RatingRows, seed: int, listed: Pairs | None = None) -> Iterator[Partition]:
    """Make a split's partitions, one by one.

    Parameters
    ----------
    spec : SplitSpec
    rows : RatingRows
    seed : int
        The same seed gives the same partitions, whatever the order they are made in.
    listed : pair of int arrays, optional
        Users and items of the probe list that ``probe:list=…`` names, as `holdout.listed_probe` takes them.

    Raises
    ------
    ParameterError, DataError
        The split needs times and there are none; as the split itself.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> rows = RatingRows.of(csr_array(np.ones((4, 5), dtype=np.float32)))
    >>> [fold.label for fold in partitions(parse_split("k-fold:k=2"), rows, seed=1)]
    ['fold 1 of 2', 'fold 2 of 2']
    """
    if spec.needs_times:
        rows.when()
    if spec.inner is None:
        return spec.kind.make(rows, spec.options, seed, listed)
    share = spec.options.development
    inner = spec.inner.kind.make(rows, spec.inner.options, seed, listed)
    return (with_development(one, development=share, seed=seed) for one in inner)
