"""The protocols by name: what each one asks, its settings, and the tasks it suits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from core.errors import ParameterError
from evaluation.metrics.definition import TASKS

TIES = ("expected", "worst", "best")
MODES = ("sampled", "exact")


@dataclass(frozen=True, slots=True)
class Definition:
    """What a protocol is.

    Parameters
    ----------
    key : str
        Name in commands.
    title : str
    question : str
        What it asks, in one sentence.
    settings : mapping
        Every setting with its default.
    words : mapping
        The values a setting may have, for those that are words.
    tasks : tuple of str
        Keys of `TASKS` it suits.
    every : bool
        Hidden ratings between the limits are cases too.
    barred : str
        Which items are never candidates (`evaluation.protocols.cases.make_cases`).
    metrics : tuple of str
        Keys of the metrics it has numbers for.
    usual : tuple of str
        Names of those that are measured unless others are asked for; {n} stands for the list length.
    """

    key: str
    title: str
    question: str
    settings: Mapping[str, Any]
    words: Mapping[str, tuple[str, ...]]
    tasks: tuple[str, ...]
    every: bool
    barred: str
    metrics: tuple[str, ...]
    usual: tuple[str, ...] = ()

    def completed(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Give the settings with their defaults filled in.

        Parameters
        ----------
        given : mapping
            Settings that differ from their defaults; "name" may be among them.

        Returns
        -------
        dict
            Every setting by name, and the protocol's "name".

        Raises
        ------
        ParameterError
            A setting that the protocol does not have, or a word it does not know.
        """
        unknown = sorted(set(given) - {"name", *self.settings})
        if unknown:
            raise ParameterError(
                f"The protocol {self.key} has no setting {', '.join(unknown)}; it has: "
                f"{', '.join(sorted(self.settings))}."
            )
        found = {"name": self.key, **self.settings, **given}
        for name, allowed in self.words.items():
            if found[name] not in allowed:
                raise ParameterError(
                    f"The setting {name} of {self.key} is one of {', '.join(allowed)}; this is {found[name]!r}."
                )
        return found

    def suits(self, task: str) -> str | None:
        """None where the protocol suits the task, else a sentence that says which it suits.

        Parameters
        ----------
        task : str
            A key of `TASKS`.

        Returns
        -------
        str or None

        Raises
        ------
        ParameterError
            No task has that key.
        """
        if task not in TASKS:
            raise ParameterError(f"There is no task {task!r}; there are: {', '.join(TASKS)}.")
        if task in self.tasks:
            return None
        suited = " and ".join(f"“{TASKS[one]}”" for one in self.tasks)
        return f"The protocol {self.key} does not suit the task “{TASKS[task]}” but {suited}: {self.question}"


_LIMITS = {"relevant": 5.0, "irrelevant": 1.0}
_LISTED = ("precision", "recall", "f-beta", "hit-rate", "ap", "rr", "dcg", "ndcg", "utility", "fpr", "fdr", "half-life")
_ORDERS = ("spearman", "kendall")
_BEYOND = ("catalogue-coverage", "gini", "novelty", "diversity")

PROTOCOLS: Mapping[str, Definition] = MappingProxyType(
    {
        one.key: one
        for one in (
            Definition(
                key="one-plus-random",
                title="One plus random",
                question="Does a rated item reach the list among randomly drawn items that were not rated?",
                settings={**_LIMITS, "negatives": 1000, "ties": "expected", "g": None, "mode": "sampled"},
                words={"ties": TIES, "mode": MODES},
                tasks=("some",),
                every=False,
                barred="rated",
                metrics=("recall", "fallout", "precision-raghavan", "f"),
            ),
            Definition(
                key="full-ranking",
                title="Full ranking",
                question="Where do the hidden ratings stand in the person's whole list?",
                settings={**_LIMITS, "known": "left-out", "utility": "rating"},
                words={"known": ("left-out", "again"), "utility": ("rating", "given")},
                tasks=("some", "all", "utility"),
                every=True,
                barred="trained",
                metrics=(*_LISTED, *_BEYOND),
                usual=("precision@{n}", "recall@{n}", "ndcg@{n}", "ap@{n}", "rr@{n}", "catalogue-coverage@{n}"),
            ),
            Definition(
                key="test-observations",
                title="Test observations",
                question="In which order do the person's own hidden ratings come?",
                settings=_LIMITS,
                words={},
                tasks=("all", "utility"),
                every=True,
                barred="trained",
                metrics=(*_LISTED, *_ORDERS, "roc-area", "croc-area", "precision-recall-11"),
                usual=("croc-area", "roc-area", "kendall", "half-life"),
            ),
            Definition(
                key="rating-prediction",
                title="Rating prediction",
                question="How far are predicted ratings from the hidden ones?",
                settings={**_LIMITS, "clip": "scale"},
                words={"clip": ("scale", "none")},
                tasks=("prediction",),
                every=True,
                barred="trained",
                metrics=("mae", "mse", "rmse", "nmae", "mae-extremes", "prediction-coverage"),
                usual=("rmse", "mae", "nmae", "prediction-coverage"),
            ),
            Definition(
                key="unconstrained",
                title="Unconstrained",
                question="Which pairs of person and item come first in one list over everyone?",
                settings={**_LIMITS, "pairs": "all"},
                words={"pairs": ("all", "observations")},
                tasks=("all",),
                every=True,
                barred="trained",
                metrics=("groc-area", "average-precision"),
                usual=("groc-area",),
            ),
        )
    }
)


def protocol(name: str) -> Definition:
    """Give the protocol called `name`.

    Parameters
    ----------
    name : str
        Its key.

    Returns
    -------
    Definition

    Raises
    ------
    ParameterError
        There is none.

    Examples
    --------
    >>> protocol("full-ranking").completed({"known": "again"})["relevant"]
    5.0
    """
    if name not in PROTOCOLS:
        raise ParameterError(f"There is no protocol {name!r}; there are: {', '.join(PROTOCOLS)}.")
    return PROTOCOLS[name]
