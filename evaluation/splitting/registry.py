"""The splits by name: their options with types, defaults and limits, what they suit, and one parser.

A split is written ``name`` or ``name:option=value,option=value``; `parse_split` reads it, `str` writes it, and
`partitions` makes it:

    spec = parse_split("temporal-global:share=.1")
    for partition in partitions(spec, RatingRows.of(user_items, times=times, reserved=reserved), seed=1):
        ...

Splits for which `SplitKind.trains_many` is false give exactly one partition.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from core.errors import ParameterError
from evaluation.splitting.development import with_development
from evaluation.splitting.kinds import SPLITS, Pairs, SplitKind
from evaluation.splitting.options import DevEval
from evaluation.splitting.partition import Partition
from evaluation.splitting.rows import RatingRows

__all__ = ["SPLITS", "Pairs", "SplitKind", "SplitSpec", "parse_split", "partitions", "split_kind", "split_spec"]


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

    @property
    def trained_by(self) -> tuple[str, int]:
        """The option that says how often every algorithm is trained, and its value (test users 0: everyone).

        Raises
        ------
        ParameterError
            Every algorithm is trained once.
        """
        name = next((name for name in ("k", "test_users") if self.trains_many and hasattr(self.options, name)), None)
        if name is None:
            raise ParameterError(f"The split {self.kind.key} trains every algorithm once.")
        return name, getattr(self.options, name)

    def n_trainings(self, n_users: int) -> int:
        """How often every algorithm is trained, at most, on a dataset of `n_users`.

        Examples
        --------
        >>> parse_split("k-fold:k=4").n_trainings(50), parse_split("temporal-exact:test_users=0").n_trainings(50)
        (4, 50)
        >>> parse_split("probe").n_trainings(50)
        1
        """
        if not self.trains_many:
            return 1
        name, value = self.trained_by
        return value if name == "k" else min(value or n_users, n_users)


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
    >>> rows = RatingRows.of(csr_array([[1.0, 1.0], [1.0, 1.0]]))
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
