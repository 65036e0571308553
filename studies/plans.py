"""The analysis plan of a study: what will be tested and how, named before anybody takes part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from types import MappingProxyType
from typing import Any

from core.errors import ParameterError
from studies import flags

PERCEIVED = ("accuracy", "fon", "son", "satisfaction")
LOWEST_ALPHA, HIGHEST_ALPHA = 0.0001, 0.2
FEWEST_RESAMPLES, MOST_RESAMPLES = 200, 20_000
LONGEST_RULE = 2000

# What every report computes; the plan names it so that the frozen design says it in its own words.
TESTS: Mapping[str, str] = MappingProxyType(
    {
        "difference": "one-way analysis of variance over the conditions",
        "pairs": "Tukey's HSD for every pair of conditions",
        "beside": "Welch with Games-Howell, and Kruskal-Wallis with Dunn-Holm",
        "offline_pairs": "sign tests over users between every pair, corrected by Holm",
        "comparison": "Kendall's tau-b with the exact two-sided p over all orders of the conditions",
        "exploratory": "all other pairs of a variable and a metric, corrected together by Holm",
    }
)


@dataclass(frozen=True)
class AnalysisPlan:
    """What is decided of an analysis before the data are there.

    Parameters
    ----------
    alpha : float
        Level of every test, two-sided, from `LOWEST_ALPHA` to `HIGHEST_ALPHA`.
    variables : tuple of str
        Perceived variables that are tested, at least one of `PERCEIVED`.
    scales : tuple of str
        Scales of the questionnaire that the plan names; any other is exploratory.
    exclude : tuple of str
        Keys of the quality flags that leave a participant out of the analysis.
    exclude_words : str
        A rule in the researcher's own words, for what no flag can say; may be empty.
    resamples : int
        Bootstrap resamples, from `FEWEST_RESAMPLES` to `MOST_RESAMPLES`.

    Raises
    ------
    ParameterError
        A value out of its range, or an unknown variable or flag.
    """

    alpha: float = 0.05
    variables: tuple[str, ...] = PERCEIVED
    scales: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    exclude_words: str = ""
    resamples: int = 2000

    def __post_init__(self) -> None:
        if not _is_number(self.alpha):
            raise ParameterError(f"The level α is a number; got {self.alpha!r}.")
        if not LOWEST_ALPHA <= self.alpha <= HIGHEST_ALPHA:
            raise ParameterError(f"The level α is from {LOWEST_ALPHA} to {HIGHEST_ALPHA}; got {self.alpha!r}.")
        if not self.variables:
            raise ParameterError("The plan names at least one perceived variable.")
        _refuse_unknown("perceived variable", self.variables, PERCEIVED)
        _refuse_unknown("quality flag", self.exclude, flags.KEYS)
        if len(self.exclude_words) > LONGEST_RULE:
            raise ParameterError(f"A rule of exclusion is a text of at most {LONGEST_RULE} characters.")
        if not _is_number(self.resamples) or self.resamples != int(self.resamples):
            raise ParameterError(f"The number of resamples is a whole number; got {self.resamples!r}.")
        if not FEWEST_RESAMPLES <= self.resamples <= MOST_RESAMPLES:
            raise ParameterError(
                f"The number of resamples is from {FEWEST_RESAMPLES} to {MOST_RESAMPLES:,}; got {self.resamples}."
            )

    def in_order(self) -> AnalysisPlan:
        """The same plan, its variables and flags in the order of `PERCEIVED` and of `studies.flags.KEYS`."""
        return replace(
            self,
            alpha=float(self.alpha),
            variables=tuple(one for one in PERCEIVED if one in self.variables),
            exclude=tuple(one for one in flags.KEYS if one in self.exclude),
        )

    def as_plain(self) -> dict[str, Any]:
        """The plan as the settings of a study hold it."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _refuse_unknown(what: str, given: Sequence[Any], known: Sequence[str]) -> None:
    for one in given:
        if one not in known:
            raise ParameterError(f"There is no {what} {one!r}; they are {', '.join(known)}.")
    if len(set(given)) < len(given):
        raise ParameterError(f"Each {what} is named once; got {', '.join(given)}.")


REFILL = "refill_excluded"  # the setting by which slots of completed participants whom the rule excludes are refilled


def plan_from(settings: Mapping[str, Any]) -> AnalysisPlan:
    """The plan that a study's settings give under ``plan``.

    Parameters
    ----------
    settings : mapping
        The study's settings; what they do not name has its default.

    Returns
    -------
    AnalysisPlan
        In order.

    Raises
    ------
    ParameterError
        An unknown name, or a value that cannot be.

    Examples
    --------
    >>> plan_from({"plan": {"alpha": 0.01, "variables": ["satisfaction", "accuracy"]}}).variables
    ('accuracy', 'satisfaction')
    """
    given = dict(settings.get("plan") or {})
    known = [field.name for field in fields(AnalysisPlan)]
    if unknown := sorted(set(given) - set(known)):
        raise ParameterError(f"The plan has no {unknown[0]!r}; it has {', '.join(known)}.")
    for name in ("variables", "scales", "exclude"):
        if name in given:
            if isinstance(given[name], str) or not isinstance(given[name], Sequence):
                raise ParameterError(f"The {name} of the plan are a list; got {given[name]!r}.")
            given[name] = tuple(given[name])
    if not isinstance(given.get("exclude_words", ""), str):
        raise ParameterError(f"A rule of exclusion is a text; got {given['exclude_words']!r}.")
    return AnalysisPlan(**given).in_order()
