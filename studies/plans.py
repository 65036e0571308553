"""The analysis plan of a study: tests and exclusion rules fixed before data collection."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from types import MappingProxyType
from typing import Any, Literal

from core.errors import ParameterError
from studies.instrument import flags
from studies.instrument.questionnaires.conditions import is_number

PERCEIVED = ("accuracy", "fon", "son", "satisfaction")
SCALE_PREFIX = "scale."  # prefix of scale variables, as in export columns
LOWEST_ALPHA, HIGHEST_ALPHA = 0.0001, 0.2
FEWEST_RESAMPLES, MOST_RESAMPLES = 200, 100_000
LONGEST_RULE = 2000

PrimaryTest = Literal["contrast", "advantage", "rank correlation"]
ADVANTAGE_TEST = "average advantage of the metric's better conditions, a t test with separate variances"

# The analyses of every report, described in words for the frozen design. Designs that were frozen with other words keep
# them: one whose comparison is not `ADVANTAGE_TEST` has Kendall's tau-b as its primary test.
TESTS: Mapping[str, str] = MappingProxyType(
    {
        "difference": "Welch's analysis of variance over the conditions",
        "pairs": "Games-Howell for every pair of conditions",
        "beside": "one-way analysis of variance with Tukey's HSD, and Kruskal-Wallis with Dunn-Holm",
        "offline_pairs": "single-step max-|t| between every pair, clustered by user; sign flips where few users differ",
        "comparison": ADVANTAGE_TEST,
        "exploratory": "average advantage of other variables and metrics, at most 16 tests, corrected by Holm",
    }
)


CONTRAST_TEST = "planned contrast of the primary variable, a t test with the variance pooled over all conditions"
EQUIVALENCE_TEST = (
    "two one-sided tests and a minimum-effect test of every pair, and of the planned contrast, against the smallest "
    "effect of interest, with Welch's standard errors; the pairs corrected by Holm"
)
SMALLEST_EFFECT = "smallest_effect"  # setting of the primary pair


def in_text(name: str) -> str:
    """Return a name for use within a sentence: lower-case first letter unless it starts with an abbreviation.

    Examples
    --------
    >>> in_text("Perceived accuracy"), in_text("UEQ hedonic quality")
    ('perceived accuracy', 'UEQ hedonic quality')
    """
    return name if name[1:2].isupper() else name[:1].lower() + name[1:]


@dataclass(frozen=True)
class AnalysisPlan:
    """The decisions about an analysis that precede data collection.

    Raises ParameterError when a value is out of range, or a variable or flag is unknown.
    """

    alpha: float = 0.05  # level of every test, two-sided, from `LOWEST_ALPHA` to `HIGHEST_ALPHA`
    variables: tuple[str, ...] = PERCEIVED  # perceived variables to test, at least one of `PERCEIVED`
    scales: tuple[str, ...] = ()  # planned scales of the questionnaire; all others are exploratory
    exclude: tuple[str, ...] = ()  # keys of the quality flags that exclude a participant from the analysis
    exclude_words: str = ""  # an additional exclusion rule in free text; may be empty
    resamples: int = 20_000  # bootstrap resamples, from `FEWEST_RESAMPLES` to `MOST_RESAMPLES`
    covariates: tuple[str, ...] = ()  # questions before assignment, beside the stratification factors

    def __post_init__(self) -> None:
        if not is_number(self.alpha):
            raise ParameterError(f"The level α is a number; got {self.alpha!r}.")
        if not LOWEST_ALPHA <= self.alpha <= HIGHEST_ALPHA:
            raise ParameterError(f"The level α is from {LOWEST_ALPHA} to {HIGHEST_ALPHA}; got {self.alpha!r}.")
        if not self.variables:
            raise ParameterError("The plan names at least one perceived variable.")
        _refuse_unknown("perceived variable", self.variables, PERCEIVED)
        _refuse_unknown("quality flag", self.exclude, flags.KEYS)
        _refuse_unknown("covariate", self.covariates, self.covariates)
        if len(self.exclude_words) > LONGEST_RULE:
            raise ParameterError(f"A rule of exclusion is a text of at most {LONGEST_RULE} characters.")
        if not is_number(self.resamples) or self.resamples != int(self.resamples):
            raise ParameterError(f"The number of resamples is a whole number; got {self.resamples!r}.")
        if not FEWEST_RESAMPLES <= self.resamples <= MOST_RESAMPLES:
            raise ParameterError(
                f"The number of resamples is from {FEWEST_RESAMPLES} to {MOST_RESAMPLES:,}; got {self.resamples}."
            )

    def in_order(self) -> AnalysisPlan:
        """Return the plan with variables and flags in canonical order (`PERCEIVED`, `flags.KEYS`)."""
        return replace(
            self,
            alpha=float(self.alpha),
            variables=tuple(variable for variable in PERCEIVED if variable in self.variables),
            exclude=tuple(key for key in flags.KEYS if key in self.exclude),
        )

    @property
    def tested(self) -> tuple[str, ...]:
        """All tested variables: perceived variables, then scales with their prefix."""
        return (*self.variables, *(f"{SCALE_PREFIX}{key}" for key in self.scales))

    def as_plain(self) -> dict[str, Any]:
        """Return the plan as stored in the settings of a study."""
        plain = {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}
        if not self.covariates:  # so that plans without covariates stay the same bytes as before covariates existed
            del plain["covariates"]
        return plain


@dataclass(frozen=True)
class Contrast:
    """A planned contrast as the primary test: the primary variable in one set of conditions against another.

    Raises ParameterError when a set is empty, a condition occurs twice, or the number of sides is not 1 or 2.
    """

    # `higher`, `lower`: labels of conditions; those of `higher` are expected to have the larger mean
    higher: tuple[str, ...]
    lower: tuple[str, ...]
    sides: int = 2  # 1 for a one-sided test in that direction, 2 for a two-sided test

    def __post_init__(self) -> None:
        if not self.higher or not self.lower:
            raise ParameterError(
                "A planned contrast names at least one condition expected to be higher and one expected to be lower."
            )
        labels = (*self.higher, *self.lower)
        if twice := next((label for label in labels if labels.count(label) > 1), ""):
            raise ParameterError(f"A planned contrast names each condition once; got {twice!r} twice.")
        if isinstance(self.sides, bool) or self.sides not in (1, 2):
            raise ParameterError(f"A planned contrast has 1 or 2 sides; got {self.sides!r}.")

    def check(self, labels: Sequence[str]) -> None:
        """Raise ParameterError for a condition that the study does not have."""
        if unknown := next((label for label in (*self.higher, *self.lower) if label not in labels), ""):
            raise ParameterError(
                f"The planned contrast names {unknown!r}, which is no condition of the study; they are "
                f"{', '.join(labels)}."
            )

    def as_plain(self) -> dict[str, Any]:
        """Return the contrast as stored in a study's settings under ``primary``."""
        return {"higher": list(self.higher), "lower": list(self.lower), "sides": self.sides}


def contrast_from(primary: Mapping[str, Any]) -> Contrast | None:
    """Return the planned contrast in a study's ``primary``, or None if it is not the primary test.

    Raises ParameterError when the contrast is invalid.

    Examples
    --------
    >>> contrast_from({"contrast": {"higher": ["LSA"], "lower": ["TopPop"]}}).sides
    2
    >>> contrast_from({"perceived": "accuracy", "objective": "recall"})
    """
    contrast = primary.get("contrast")
    if contrast is None:
        return None
    if not isinstance(contrast, Mapping) or not set(contrast) <= {"higher", "lower", "sides"}:
        raise ParameterError(f"A planned contrast has higher, lower and sides; got {contrast!r}.")
    sets = []
    for name in ("higher", "lower"):
        labels = contrast.get(name, ())
        if (
            isinstance(labels, str)
            or not isinstance(labels, Sequence)
            or not all(isinstance(label, str) for label in labels)
        ):
            raise ParameterError(f"The {name} conditions of a planned contrast are a list of labels; got {labels!r}.")
        sets.append(tuple(labels))
    return Contrast(higher=sets[0], lower=sets[1], sides=contrast.get("sides", 2))


def primary_test_of(primary: Mapping[str, Any], tests: Mapping[str, str]) -> PrimaryTest:
    """The primary test of a plan, from its primary pair and the analyses in the words that were frozen.

    Examples
    --------
    >>> primary_test_of({}, TESTS), primary_test_of({}, {"comparison": "Kendall's tau-b with the exact two-sided p"})
    ('advantage', 'rank correlation')
    """
    if primary.get("contrast") is not None:
        return "contrast"
    return "advantage" if tests.get("comparison") == ADVANTAGE_TEST else "rank correlation"


def smallest_effect_from(primary: Mapping[str, Any]) -> float | None:
    """Return the smallest effect of interest in a study's ``primary``, in points of the variable, or None.

    Raises ParameterError for anything but a positive number.

    Examples
    --------
    >>> smallest_effect_from({"perceived": "accuracy", "objective": "recall", "smallest_effect": 0.3})
    0.3
    """
    effect = primary.get(SMALLEST_EFFECT)
    if effect is None:
        return None
    if not is_number(effect) or not 0 < effect < math.inf:
        raise ParameterError(f"The smallest effect of interest is a number above 0; got {effect!r}.")
    return float(effect)


def tests_of(primary: Mapping[str, Any]) -> dict[str, str]:
    """Return the analyses of a report on a study's ``primary``, in words, as stored in the frozen design."""
    tests = dict(TESTS)
    if contrast_from(primary) is not None:
        tests["contrast"] = CONTRAST_TEST
    if smallest_effect_from(primary) is not None:
        tests["equivalence"] = EQUIVALENCE_TEST
    return tests


def _refuse_unknown(what: str, names: Sequence[Any], known: Sequence[str]) -> None:
    for name in names:
        if name not in known:
            raise ParameterError(f"There is no {what} {name!r}; they are {', '.join(known)}.")
    if len(set(names)) < len(names):
        raise ParameterError(f"Each {what} is named once; got {', '.join(names)}.")


REFILL = "refill_excluded"  # setting: refill the slots of completed participants that the exclusion rule removes


def plan_from(settings: Mapping[str, Any]) -> AnalysisPlan:
    """Return the plan in a study's settings under ``plan``.

    Missing values have defaults; the result is in canonical order. Raises ParameterError when a name is unknown or a
    value is invalid.

    Examples
    --------
    >>> plan_from({"plan": {"alpha": 0.01, "variables": ["satisfaction", "accuracy"]}}).variables
    ('accuracy', 'satisfaction')
    """
    stored = dict(settings.get("plan") or {})
    known = [field.name for field in fields(AnalysisPlan)]
    if unknown := sorted(set(stored) - set(known)):
        raise ParameterError(f"The plan has no {unknown[0]!r}; it has {', '.join(known)}.")
    for name in ("variables", "scales", "exclude", "covariates"):
        if name in stored:
            if isinstance(stored[name], str) or not isinstance(stored[name], Sequence):
                raise ParameterError(f"The {name} of the plan are a list; got {stored[name]!r}.")
            stored[name] = tuple(stored[name])
    if not isinstance(stored.get("exclude_words", ""), str):
        raise ParameterError(f"A rule of exclusion is a text; got {stored['exclude_words']!r}.")
    return AnalysisPlan(**stored).in_order()
