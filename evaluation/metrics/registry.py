"""The metrics by name: definitions, undefined cases and canonical spelling.

A name states every choice that changes the value: ``recall@5``, ``ndcg@10(gain=linear)``,
``ap@10(over=relevant)``, ``precision-raghavan@5(g=.8)``. Two defaults are omitted: ties that count in expectation, and
a g that is the share of relevant cases.

`METRICS` has the definitions; `metric` parses a name and `str` prints it. Values are computed in `list_values` (from
`ranks`, `top_n` and `graded`), `rating` for errors of predictions, `rank_correlation` and `half_life` for whole lists,
`curves`, `customer_curves` and `user_curves` for curves, and `beyond_accuracy`; `resampling` computes those of
one-plus-random from sums over users.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from core.errors import ParameterError
from evaluation.metrics.catalogue import METRICS
from evaluation.metrics.definition import TASKS, Choice, Definition, Value, written

__all__ = ["METRICS", "TASKS", "Choice", "Definition", "Metric", "definition", "metric"]

_SPELLING = re.compile(r"(?P<key>[a-z][a-z0-9-]*)(?:@(?P<n>[0-9]+))?(?:\((?P<choices>[^()]*)\))?")
_ALSO = {"f1": "f-beta", "map": "ap", "mrr": "rr"}  # aliases


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric with its list length and choices; `str` returns its canonical name.

    Raises ParameterError for an unknown metric; a list length where there is none, or none where there is one; a choice
    the metric does not have, or a value it does not allow.

    Examples
    --------
    >>> str(Metric("ndcg", 10))
    'ndcg@10(gain=linear)'
    """

    key: str  # of `METRICS`
    n: int | None = None  # list length, >= 1; None for a metric without one
    # (name, value); every choice of the definition; those left out are filled in with their defaults, in order.
    # A choice without a default, or that another replaces, is left out.
    options: tuple[tuple[str, Value], ...] = ()

    def __post_init__(self) -> None:
        known = definition(self.key)
        if known.needs_n and self.n is None:
            raise ParameterError(f"{self.key} needs a list length, as in '{self.key}@5'.")
        if not known.needs_n and self.n is not None:
            raise ParameterError(f"{self.key} takes no list length; remove @{self.n}.")
        if self.n is not None and self.n < 1:
            raise ParameterError(f"The list length of {self.key} is {self.n}: it must be at least 1.")
        stated = dict(self.options)
        unknown = sorted(set(stated) - set(known.choices))
        if unknown:
            raise ParameterError(f"{self.key} has no choice of {unknown[0]}.")
        replaced = {option.replaces for option in known.options if option.name in stated}
        if refused := sorted(replaced & set(stated)):
            raise ParameterError(f"{self.key} states {refused[0]} and what takes its place; remove one of the two.")
        filled = tuple(
            (option.name, option.check(stated.get(option.name, option.default), self.key))  # type: ignore[arg-type]
            for option in known.options
            if option.name in stated or (option.default is not None and option.name not in replaced)
        )
        object.__setattr__(self, "options", filled)

    def __str__(self) -> str:
        values = dict(self.options)
        stated = [
            f"{option.name}={written(values[option.name])}"
            for option in self.definition.options
            if option.name in values and (option.is_printed or values[option.name] != option.default)
        ]
        length = "" if self.n is None else f"@{self.n}"
        return f"{self.key}{length}" + (f"({','.join(stated)})" if stated else "")

    @property
    def definition(self) -> Definition:
        """The definition of the metric."""
        return METRICS[self.key]

    @property
    def g(self) -> Value | None:
        """The generality, in [0, 1]; None: the share of relevant cases."""
        return dict(self.options).get("g")

    @property
    def ties(self) -> Value:
        """How ties count."""
        return dict(self.options).get("ties", "expected")

    def option(self, name: str) -> Value:
        """The value of one of `options`, for example ``metric("ap@10").option("over")``. Raises ParameterError when the
        metric has no such choice.
        """
        values = dict(self.options)
        if name not in values:
            raise ParameterError(f"{self.key} has no choice of {name}.")
        return values[name]


def definition(key: str) -> Definition:
    """Return the definition of the metric `key`. Raises ParameterError for an unknown metric."""
    if key not in METRICS:
        raise ParameterError(f"Unknown metric {key!r}. Available: {', '.join(METRICS)}.")
    return METRICS[key]


def metric(name: str) -> Metric:
    """Parse a metric's name.

    Examples of `name` are "recall@5", "f@10(g=.8)", "recall@5(ties=worst)", "rmse", and "half-life(alpha=10)"; "f1",
    "map" and "mrr" are aliases of "f-beta", "ap" and "rr". Raises ParameterError for another spelling, an unknown
    metric, an unknown or repeated choice, or one that is out of range.

    Examples
    --------
    >>> str(metric("precision-raghavan@5(g=0.80)")), str(metric("ap@10"))
    ('precision-raghavan@5(g=.8)', 'ap@10(over=relevant)')
    """
    match = _SPELLING.fullmatch(name.strip())
    if match is None:
        raise ParameterError(f"{name!r} is not the name of a metric. Write it with its list length, as in 'recall@5'.")
    key = _ALSO.get(match["key"], match["key"])
    known = definition(key)
    choices: dict[str, Value] = {}
    for part in match["choices"].split(",") if match["choices"] is not None else []:
        choice, _, text = (piece.strip() for piece in part.partition("="))
        if choice not in known.choices or choice in choices or not text:
            takes = "takes no choices"
            if known.options:
                option = known.options[0]
                example = f"{option.name}={written(0.8 if option.default is None else option.default)}"
                takes = f"takes {' and '.join(known.choices)}, each once, as in '{example}'"
            raise ParameterError(f"{part!r} in {name!r} is not valid: {key} {takes}.")
        choices[choice] = next(option for option in known.options if option.name == choice).check(text, name)
    return Metric(key, None if match["n"] is None else int(match["n"]), tuple(choices.items()))


def direction_of(name: str) -> Literal["higher", "lower", "neither"]:
    """Which direction of a metric is better. Its name may lack the list length, as in tables of one length. Raises
    ParameterError for an unknown metric.

    Examples
    --------
    >>> direction_of("fallout"), direction_of("recall@5"), direction_of("rmse"), direction_of("recall(ties=served)")
    ('lower', 'higher', 'lower', 'higher')
    """
    key = name.partition("@")[0].partition("(")[0]
    return definition(_ALSO.get(key, key)).direction
