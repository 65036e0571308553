"""The splits by name, with their options and partitions.

    spec = split_spec("temporal-global", {"share": 0.1})
    for partition in partitions(spec, RatingRows.of(user_items, times=times, reserved=reserved), seed=1):
        ...

`str` writes a split as ``name`` or ``name:option=value,option=value``. Splits with `SplitKind.trains_many` false have
exactly one partition.
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

__all__ = ["SPLITS", "Pairs", "SplitKind", "SplitSpec", "partitions", "split_kind", "split_spec"]


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


def _written(value: bool | int | float | str) -> str:
    return repr(value) if isinstance(value, float) else str(value)


def split_kind(key: str) -> SplitKind:
    """Return the split of a name. Raises ParameterError for an unknown split."""
    if key not in SPLITS:
        raise ParameterError(f"Unknown split {key!r}. Available: {', '.join(SPLITS)}.")
    return SPLITS[key]


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
    kind, settings = split_kind(key), dict(values or {})
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


def partitions(spec: SplitSpec, rows: RatingRows, seed: int, listed: Pairs | None = None) -> Iterator[Partition]:
    """Yield the partitions of a split.

    `listed`: users and items of the probe list that ``probe:list=…`` names, as `holdout.listed_probe` takes them.
    Raises ParameterError or DataError when the split needs times and there are none; as the split itself.
    """
    if spec.needs_times:
        rows.when()
    if spec.inner is None:
        return spec.kind.make(rows, spec.options, seed, listed)
    share = spec.options.development
    inner = spec.inner.kind.make(rows, spec.inner.options, seed, listed)
    return (with_development(partition, development=share, seed=seed) for partition in inner)
