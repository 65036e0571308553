"""The metrics by name: what each one is, when it has no value, and its exact spelling.

A name prints every choice that changes the value: ``recall@5``, ``fallout@5(ties=worst)``,
``precision-raghavan@5(g=.8)``. A choice that is not printed has its default.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, get_args

from core.errors import ParameterError
from evaluation.metrics.hits import Ties
from evaluation.metrics.ranking import RankingResult


@dataclass(frozen=True, slots=True)
class Definition:
    """What a metric is.

    Parameters
    ----------
    key : str
        The name before "@".
    title : str
        As tables print it.
    formula : str
        In TeX.
    low, high : float
        The range of its values.
    direction : {"higher", "lower"}
        Which is better.
    choices : tuple of str
        What a name may state in parentheses.
    empty : str
        When it has no value; such a cell is None, never NaN.
    task : str
        The recommendation task it suits, and why.
    has_user_values : bool
        Whether it is a mean of values by user, which paired tests need.
    """

    key: str
    title: str
    formula: str
    low: float
    high: float
    direction: Literal["higher", "lower"]
    choices: tuple[str, ...]
    empty: str
    task: str
    has_user_values: bool


METRICS: Mapping[str, Definition] = MappingProxyType(
    {
        definition.key: definition
        for definition in (
            Definition(
                key="recall",
                title="Recall",
                formula=r"\frac{1}{|T^+|} \sum_{(u,i) \in T^+} h(u,i)",
                low=0.0,
                high=1.0,
                direction="higher",
                choices=("ties",),
                empty="No value without a relevant case; a user without one has no value of their own.",
                task="Recommend some good items: how often an item the person likes reaches the list.",
                has_user_values=True,
            ),
            Definition(
                key="fallout",
                title="Fallout",
                formula=r"\frac{1}{|T^-|} \sum_{(u,i) \in T^-} h(u,i)",
                low=0.0,
                high=1.0,
                direction="lower",
                choices=("ties",),
                empty="No value without an irrelevant case; a user without one has no value of their own.",
                task="Recommend some good items: how often an item the person dislikes reaches the list.",
                has_user_values=True,
            ),
            Definition(
                key="precision-raghavan",
                title="Precision (Raghavan)",
                formula=r"\frac{r g}{r g + f (1 - g)}",
                low=0.0,
                high=1.0,
                direction="higher",
                choices=("g", "ties"),
                empty="No value where recall or fallout has none, or where nothing was retrieved (0/0).",
                task="Recommend some good items: recall and fallout in one number, given the generality g. "
                "It is not the precision of the list, and close to 1 where g is.",
                has_user_values=False,
            ),
            Definition(
                key="f",
                title="F",
                formula=r"\frac{2 P r}{P + r}",
                low=0.0,
                high=1.0,
                direction="higher",
                choices=("g", "ties"),
                empty="No value where recall or fallout has none; 0 where nothing was retrieved.",
                task="Recommend some good items: where P is close to 1 it is about 2r/(1 + r) and repeats "
                "recall, so the two count as one metric in comparisons.",
                has_user_values=False,
            ),
        )
    }
)

_SPELLING = re.compile(r"(?P<key>[a-z][a-z-]*)@(?P<n>[0-9]+)(?:\((?P<choices>[^()]*)\))?")


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric with its list length and choices; `str` gives its one canonical name.

    Parameters
    ----------
    key : str
        Of `METRICS`.
    n : int
        List length, >= 1.
    g : float, optional
        Generality, in [0, 1]; None: the share of relevant cases.
    ties : {"expected", "worst", "best"}
    """

    key: str
    n: int
    g: float | None = None
    ties: Ties = "expected"

    def __post_init__(self) -> None:
        known = definition(self.key)
        if self.n < 1:
            raise ParameterError(f"The list length of {self.key} is {self.n}: it has to be at least 1.")
        if self.g is not None and "g" not in known.choices:
            raise ParameterError(f"{self.key} has no choice of g.")
        if self.g is not None and not 0.0 <= self.g <= 1.0:
            raise ParameterError(f"g of {self.key} is {self.g!r}: it has to be between 0 and 1.")
        if self.ties not in get_args(Ties):
            raise ParameterError(f"Ties can count as 'expected', 'worst' or 'best', not {self.ties!r}.")

    def __str__(self) -> str:
        stated = []
        if self.g is not None:
            stated.append(f"g={repr(float(self.g)).removeprefix('0') if 0 < self.g < 1 else f'{self.g:g}'}")
        if self.ties != "expected":
            stated.append(f"ties={self.ties}")
        return f"{self.key}@{self.n}" + (f"({','.join(stated)})" if stated else "")

    @property
    def definition(self) -> Definition:
        """What it is."""
        return METRICS[self.key]

    def value(self, result: RankingResult) -> float | None:
        """The metric's value in a result that was measured with the same choices.

        Raises
        ------
        ParameterError
            The result has no list length `n`, or was measured with another g or rule for ties.
        """
        if self.n not in result.ns:
            raise ParameterError(f"{self} needs list length {self.n}, but {list(result.ns)} were measured.")
        if self.ties != result.ties:
            raise ParameterError(f"{self} counts ties as {self.ties}, the result as {result.ties}.")
        measured_g = result.g if result.is_g_given else None
        if "g" in self.definition.choices and self.g != measured_g:
            measured = "the share of relevant cases" if measured_g is None else f"{measured_g:g}"
            raise ParameterError(f"{self} was asked for, but the g of the result is {measured}.")
        values = {
            "recall": result.recall,
            "fallout": result.fallout,
            "precision-raghavan": result.precision,
            "f": result.f,
        }[self.key]
        return None if values is None else values[result.ns.index(self.n)]


def definition(key: str) -> Definition:
    """What the metric called `key` is.

    Raises
    ------
    ParameterError
        No metric has that name.

    Examples
    --------
    >>> definition("fallout").direction
    'lower'
    """
    if key not in METRICS:
        raise ParameterError(f"There is no metric {key!r}: the metrics are {', '.join(METRICS)}.")
    return METRICS[key]


def metric(name: str) -> Metric:
    """Read a metric's name.

    Parameters
    ----------
    name : str
        "recall@5", "f@10(g=.8)", "recall@5(ties=worst)", "f@5(g=.8,ties=best)".

    Returns
    -------
    Metric

    Raises
    ------
    ParameterError
        Another spelling, an unknown metric, an unknown or repeated choice, or one that is out of range.

    Examples
    --------
    >>> str(metric("precision-raghavan@5(g=0.80)"))
    'precision-raghavan@5(g=.8)'
    """
    match = _SPELLING.fullmatch(name.strip())
    if match is None:
        raise ParameterError(f"{name!r} is no metric's name: write one with a list length, as 'recall@5'.")
    key, known = match["key"], definition(match["key"])
    chosen: dict[str, str] = {}
    for part in (match["choices"] or "").split(",") if match["choices"] is not None else []:
        choice, _, text = (piece.strip() for piece in part.partition("="))
        if choice not in known.choices or choice in chosen or not text:
            raise ParameterError(
                f"{part!r} in {name!r} cannot be read: {key} takes {' and '.join(known.choices)}, each once, "
                "as in 'g=.8' or 'ties=worst'."
            )
        chosen[choice] = text
    g: float | None = None
    if "g" in chosen:
        try:
            g = float(chosen["g"])
        except ValueError:
            raise ParameterError(f"g in {name!r} is {chosen['g']!r}: it has to be a number.") from None
    ties: Ties
    match chosen.get("ties", "expected"):
        case "expected":
            ties = "expected"
        case "worst":
            ties = "worst"
        case "best":
            ties = "best"
        case other:
            raise ParameterError(f"Ties can count as 'expected', 'worst' or 'best', not {other!r}.")
    return Metric(key=key, n=int(match["n"]), g=g, ties=ties)
