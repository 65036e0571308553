"""Settings of an algorithm to compare: every combination of a grid, random draws from ranges, or sizes of a model.

A setting maps names of parameters to values as they are written in a command (``{"factors": "50"}``).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.errors import ParameterError
from recommenders import registry
from recommenders.data_limits import TrainingSize
from recommenders.parameters import ParameterInfo, read_value
from recommenders.size_selection import SIZES

Setting = Mapping[str, str]
MAX_SETTINGS = 10_000
DIGITS = 4  # of a number that is drawn
LOG_FROM = 10.0  # ratio of the ends from which a range is drawn on a log scale
DRAWS = 100  # attempts per setting to draw one that is new
_SCALES = ("log", "linear")


@dataclass(frozen=True)
class Range:
    """A range of numbers, ends included. `is_log`: uniform in the logarithm; `is_whole`: whole numbers only."""

    low: float
    high: float
    is_log: bool
    is_whole: bool

    def draw(self, rng: np.random.Generator) -> str:
        """Draw a value, with four significant digits unless it is a whole number.

        Examples
        --------
        >>> Range(10, 300, is_log=True, is_whole=True).draw(np.random.default_rng(1))
        '56'
        """
        # Whole numbers are cells of width 1, so that the ends are as likely as the others.
        low, high = (self.low - 0.5, self.high + 0.5) if self.is_whole else (self.low, self.high)
        share = rng.random()
        value = low * (high / low) ** share if self.is_log else low + (high - low) * share
        value = min(max(value, self.low), self.high)
        return str(round(value)) if self.is_whole else repr(float(f"{value:.{DIGITS}g}"))


Domain = Range | tuple[str, ...]


@dataclass(frozen=True)
class Space:
    """The settings to compare: a `grid`, or `n_random` draws from `ranges` (empty: all parameters with limits)."""

    grid: str = ""
    n_random: int = 0
    ranges: str = ""

    def settings(
        self, key: str, fixed: Setting, size: Callable[[], TrainingSize], rng: np.random.Generator
    ) -> tuple[Setting, ...]:
        """Return the settings of an algorithm. `size`: that of the training data, called where these limit the draws.

        Raises ParameterError for neither or both kinds, for text of another form, or for a parameter that is `fixed`.
        """
        if bool(self.grid) == bool(self.n_random):
            raise ParameterError(
                "Search either a grid (--grid 'factors=10,50') or a number of random settings (--random)."
            )
        if self.ranges and self.grid:
            raise ParameterError("Ranges are for random settings; list the values of a grid.")
        if self.grid:
            chosen = grid(key, self.grid)
        else:
            drawn_from = domains(key, self.ranges) if self.ranges else default_domains(key, size(), fixed)
            chosen = tuple(random_settings(drawn_from, self.n_random, rng))
        both = sorted(set(fixed) & set(chosen[0]))
        if both:
            raise ParameterError(f"{both[0]} is both fixed and searched. State it once.")
        return chosen


def grid(key: str, text: str) -> tuple[Setting, ...]:
    """Parse a grid and return its combinations; the last parameter changes fastest. Raises ParameterError for another
    form, an unknown or repeated parameter, a value that is not of the parameter's type, or more than 10,000
    combinations.

    Examples
    --------
    >>> [dict(setting) for setting in grid("corngr", "neighbours=50,200;negative=keep")]
    [{'neighbours': '50', 'negative': 'keep'}, {'neighbours': '200', 'negative': 'keep'}]
    """
    values = {info.name: _values(info, piece) for info, piece in _pieces(key, text, "neighbours=10,50;negative=keep")}
    n_settings = math.prod(map(len, values.values()))
    if n_settings > MAX_SETTINGS:
        raise ParameterError(
            f"The grid has {n_settings:,} combinations; the most is {MAX_SETTINGS:,}. Use fewer values or --random."
        )
    return tuple(dict(zip(values, chosen, strict=True)) for chosen in itertools.product(*values.values()))


def domains(key: str, text: str) -> dict[str, Domain]:
    """Parse the ranges and lists of values to draw from. Ranges are whole numbers for whole parameters; they are on a
    log scale if they are positive and the upper end is at least ten times the lower, unless ``:log`` or ``:linear``
    follows. Raises ParameterError for another form, as `grid` does, and for limits outside those of the parameter.

    Examples
    --------
    >>> domains("ials", "factors=10..300;alpha=0..40")["factors"]
    Range(low=10.0, high=300.0, is_log=True, is_whole=True)
    """
    return {
        info.name: _range(info, piece) if ".." in piece else _values(info, piece)
        for info, piece in _pieces(key, text, "factors=10..300;reg=0.1..100:log")
    }


def default_domains(key: str, size: TrainingSize, fixed: Setting) -> dict[str, Domain]:
    """Return the domains of the parameters that the schema or the data limit at both ends, without the `fixed` ones:
    categories, yes or no, and numbers with limits. Raises ParameterError if there is none.

    Examples
    --------
    >>> default_domains("puresvd", TrainingSize(n_users=9, n_items=30), {})
    {'factors': Range(low=1.0, high=9.0, is_log=False, is_whole=True)}
    """
    limits = registry.algorithm(key).limits(size)
    domains: dict[str, Domain] = {}
    infos = registry.algorithm(key).Params.described()
    for info in infos:
        high = limits[info.name].largest if info.name in limits else info.maximum
        if info.name in fixed:
            continue
        if info.choices:
            domains[info.name] = info.choices
        elif info.type is bool:
            domains[info.name] = ("false", "true")
        elif info.minimum is not None and high is not None and info.minimum < high:
            domains[info.name] = _range_of(info, info.minimum, high)
    if not domains:
        names = ", ".join(info.name for info in infos if info.name not in fixed) or "none"
        raise ParameterError(
            f"{key} has no parameter whose limits are known. Give the ranges to draw from, as in "
            f"--range NAME=LOW..HIGH; its free parameters: {names}."
        )
    return domains


def random_settings(chosen: Mapping[str, Domain], n: int, rng: np.random.Generator) -> Iterator[Setting]:
    """Draw `n` different settings, or all that are found where there are fewer; a larger `n` begins with the same.

    Source: Bergstra & Bengio (2012), JMLR 13:281-305.

    Examples
    --------
    >>> [setting["among"] for setting in random_settings({"among": ("all", "raters")}, 9, np.random.default_rng(1))]
    ['all', 'raters']
    """
    past: set[tuple[str, ...]] = set()
    for _ in range(n * DRAWS):
        values = tuple(
            domain.draw(rng) if isinstance(domain, Range) else domain[int(rng.integers(len(domain)))]
            for domain in chosen.values()
        )
        if values in past:
            continue
        past.add(values)
        yield dict(zip(chosen, values, strict=True))
        if len(past) == n:
            return


def possible_sizes(key: str, size: TrainingSize, values: Sequence[int] = ()) -> list[int]:
    """Return the sizes, of `values` or else of `SIZES`, that data of this size can have.

    Examples
    --------
    >>> possible_sizes("aspect", TrainingSize(n_users=9, n_items=30))
    [2, 5]
    """
    limit = registry.algorithm(key).limits(size)[SIZES[key].parameter]
    return [value for value in values or SIZES[key].values if value <= limit.largest]


def code(key: str, setting: Setting) -> str:
    """Write an algorithm with its parameters as commands take it.

    Examples
    --------
    >>> code("puresvd", {"factors": "50"}), code("toppop", {})
    ('puresvd:factors=50', 'toppop')
    """
    stated = ",".join(f"{name}={value}" for name, value in setting.items())
    return f"{key}:{stated}" if stated else key


def numeric_values(settings: Sequence[Setting]) -> tuple[str, list[float]] | None:
    """Return the only parameter of the settings and its values; None if there are several, or one without numbers.

    Examples
    --------
    >>> numeric_values([{"factors": "10"}, {"factors": "50"}])
    ('factors', [10.0, 50.0])
    """
    if not settings or len(settings[0]) != 1:
        return None
    (name,) = settings[0]
    try:
        return name, [float(setting[name]) for setting in settings]
    except ValueError:
        return None


def _pieces(key: str, text: str, example: str) -> Iterator[tuple[ParameterInfo, str]]:
    """Yield each parameter with the text behind its equals sign."""
    infos = {info.name: info for info in registry.algorithm(key).Params.described()}
    names: set[str] = set()
    for piece in text.split(";"):
        name, equals, values = (part.strip() for part in piece.partition("="))
        if not (name and equals and values):
            raise ParameterError(f"{piece!r} in {text!r} is not valid. Write it as in {example!r}.")
        if name not in infos:
            raise ParameterError(f"{key} has no parameter {name}; its parameters are: {', '.join(infos) or 'none'}.")
        if name in names:
            raise ParameterError(f"The parameter {name} comes twice in {text!r}; list its values together.")
        names.add(name)
        yield infos[name], values


def _values(info: ParameterInfo, text: str) -> tuple[str, ...]:
    """Read a list of values without repetitions. Limits and choices are left to the search, which lists refusals."""
    values = tuple(dict.fromkeys(value.strip() for value in text.split(",")))
    for value in values:
        if not value:
            raise ParameterError(f"A value of {info.name} is empty in {text!r}.")
        if info.type in (int, float):
            read_value(info, value)
    return values


def _range(info: ParameterInfo, text: str) -> Range:
    ends, colon, scale = text.partition(":")
    if info.type not in (int, float):
        raise ParameterError(f"The parameter {info.name} is not a number. List its values, separated by commas.")
    if colon and scale not in _SCALES:
        raise ParameterError(f"The scale of {info.name} is log or linear, not {scale!r}.")
    low, _, high = ends.partition("..")
    low_value, high_value = float(read_value(info, low.strip())), float(read_value(info, high.strip()))
    minimum = -math.inf if info.minimum is None else info.minimum
    maximum = math.inf if info.maximum is None else info.maximum
    if not minimum <= low_value < high_value <= maximum or not math.isfinite(high_value - low_value):
        raise ParameterError(
            f"The range {ends} of {info.name} must ascend and lie within {minimum:g} to {maximum:g}, its limits."
        )
    if scale == "log" and low_value <= 0:
        raise ParameterError(f"The range {ends} of {info.name} begins at {low}, which a log scale does not have.")
    return _range_of(info, low_value, high_value, scale)


def _range_of(info: ParameterInfo, low: float, high: float, scale: str = "") -> Range:
    is_wide = low > 0 and high / low >= LOG_FROM
    return Range(float(low), float(high), scale == "log" or (is_wide and scale != "linear"), info.type is int)
