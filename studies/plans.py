"""The analysis plan of a study: what will be tested and how, named before anybody takes part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from types import MappingProxyType
from typing import Any

from core.errors import ParameterError
from studies import flags

PERCEIVED = ("accuracy", "fon", "son", "satisfaction")
SCALE_PREFIX = "scale."  # of a planned scale among the variables, as the exports name its column
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


CONTRAST_TEST = "planned contrast of the primary variable, a t test with the variance pooled over all conditions"
EXPLORATORY_BESIDE_CONTRAST = "all pairs of a variable and a metric, corrected together by Holm"


def in_text(name: str) -> str:
    """A name within a sentence: its first letter is small, unless it begins with an abbreviation.

    Parameters
    ----------
    name : str
        Of a variable or a scale.

    Returns
    -------
    str

    Examples
    --------
    >>> in_text("Perceived accuracy"), in_text("UEQ hedonic quality")
    ('perceived accuracy', 'UEQ hedonic quality')
    """
    return name if name[1:2].isupper() else name[:1].lower() + name[1:]


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

    @property
    def tested(self) -> tuple[str, ...]:
        """Every variable that is tested: the perceived ones, then the scales under their prefix."""
        return (*self.variables, *(f"{SCALE_PREFIX}{key}" for key in self.scales))

    def as_plain(self) -> dict[str, Any]:
        """The plan as the settings of a study hold it."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}


@dataclass(frozen=True)
class Contrast:
    """A planned contrast as the primary test: the primary variable in some conditions against others.

    Parameters
    ----------
    higher, lower : tuple of str
        Labels of conditions; those of `higher` are expected to have the larger mean.
    sides : int
        1 where only that direction counts, else 2.

    Raises
    ------
    ParameterError
        An empty set, a condition named twice, or another number of sides.
    """

    higher: tuple[str, ...]
    lower: tuple[str, ...]
    sides: int = 2

    def __post_init__(self) -> None:
        if not self.higher or not self.lower:
            raise ParameterError(
                "A planned contrast names at least one condition expected to be higher and one expected to be lower."
            )
        named = (*self.higher, *self.lower)
        if twice := next((label for label in named if named.count(label) > 1), ""):
            raise ParameterError(f"A planned contrast names each condition once; got {twice!r} twice.")
        if isinstance(self.sides, bool) or self.sides not in (1, 2):
            raise ParameterError(f"A planned contrast has 1 or 2 sides; got {self.sides!r}.")

    def check(self, labels: Sequence[str]) -> None:
        """Refuse a condition that the study does not have; ParameterError names it.

        Parameters
        ----------
        labels : sequence of str
            The study's conditions.
        """
        if unknown := next((label for label in (*self.higher, *self.lower) if label not in labels), ""):
            raise ParameterError(
                f"The planned contrast names {unknown!r}, which is no condition of the study; they are "
                f"{', '.join(labels)}."
            )

    def as_plain(self) -> dict[str, Any]:
        """The contrast as the settings of a study hold it, under ``primary``."""
        return {"higher": list(self.higher), "lower": list(self.lower), "sides": self.sides}


def contrast_from(primary: Mapping[str, Any]) -> Contrast | None:
    """The planned contrast of a study's ``primary``; None where the rank correlation is the primary test.

    Parameters
    ----------
    primary : mapping
        With ``perceived`` and ``objective``, and perhaps ``contrast``.

    Returns
    -------
    Contrast or None

    Raises
    ------
    ParameterError
        A contrast that cannot be.

    Examples
    --------
    >>> contrast_from({"contrast": {"higher": ["LSA"], "lower": ["TopPop"]}}).sides
    2
    >>> contrast_from({"perceived": "accuracy", "objective": "recall"})
    """
    given = primary.get("contrast")
    if given is None:
        return None
    if not isinstance(given, Mapping) or not set(given) <= {"higher", "lower", "sides"}:
        raise ParameterError(f"A planned contrast has higher, lower and sides; got {given!r}.")
    sets = []
    for name in ("higher", "lower"):
        labels = given.get(name, ())
        if (
            isinstance(labels, str)
            or not isinstance(labels, Sequence)
            or not all(isinstance(one, str) for one in labels)
        ):
            raise ParameterError(f"The {name} conditions of a planned contrast are a list of labels; got {labels!r}.")
        sets.append(tuple(labels))
    return Contrast(higher=sets[0], lower=sets[1], sides=given.get("sides", 2))


def tests_of(contrast: Contrast | None) -> dict[str, str]:
    """What a report under this plan computes, in words, as the frozen design holds it.

    Parameters
    ----------
    contrast : Contrast or None
        The planned contrast, if it is the primary test.

    Returns
    -------
    dict of str to str
    """
    if contrast is None:
        return dict(TESTS)
    return {**TESTS, "contrast": CONTRAST_TEST, "exploratory": EXPLORATORY_BESIDE_CONTRAST}


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
