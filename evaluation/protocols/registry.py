"""The protocols by name: their questions, settings and suitable tasks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

from core.errors import ParameterError
from evaluation.metrics.catalogue import METRICS
from evaluation.metrics.definition import task_comment
from recommenders.parameters import ParameterInfo, check_value, read_value


@dataclass(frozen=True, slots=True)
class Definition:
    """The definition of a protocol."""

    key: str  # name in commands
    title: str
    question: str  # the question it answers, in one sentence
    settings: Mapping[str, Any]  # every setting with its default
    tasks: tuple[str, ...]  # keys of the `TASKS` it suits
    every: bool = True  # whether hidden ratings between the limits are cases too
    excluded: str = "trained"  # which items are never candidates (`evaluation.protocols.cases.build_cases`)
    usual: tuple[str, ...] = ()  # names of the default metrics; {n} is replaced by the list length

    @property
    def metrics(self) -> tuple[str, ...]:
        """The keys of the metrics it measures."""
        return tuple(key for key, definition in METRICS.items() if self.key in definition.protocols)

    def described(self) -> tuple[ParameterInfo, ...]:
        """Describe the settings in their order, for forms. A default of "" means that the dataset determines it, or
        that there is none.
        """
        described = []
        for name, default in self.settings.items():
            about, is_open = _SETTINGS[name], name in _LIMITS or default is None
            kind, shown = (float, "") if is_open else (type(default), default)
            described.append(
                ParameterInfo(name, kind, shown, about.description, about.minimum, about.maximum, about.words)
            )
        return tuple(described)

    def completed(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Fill in the defaults of the settings.

        `settings` are those that differ from their defaults; "name" may be among them. Returns every setting by name,
        and the protocol's "name". Raises ParameterError for an unknown setting or value.
        """
        unknown = sorted(set(settings) - {"name", *self.settings})
        if unknown:
            raise ParameterError(
                f"The protocol {self.key} has no setting {', '.join(unknown)}. Available: "
                f"{', '.join(sorted(self.settings))}."
            )
        complete = {"name": self.key, **self.settings, **settings}
        for info in self.described():
            if (value := settings.get(info.name)) is not None:
                complete[info.name] = read_value(info, value)
                check_value(info, complete[info.name])
        return complete

    def task_problem(self, task: str) -> str | None:
        """None if the protocol suits the task, else a sentence about the tasks it suits; see `task_comment`."""
        return task_comment(f"The protocol {self.key}", self.tasks, task, self.question, joined_by="and")


_LIMITS = {"relevant": 5.0, "irrelevant": 1.0}


class _Setting(NamedTuple):
    description: str
    minimum: float | None = None
    maximum: float | None = None
    words: tuple[str, ...] = ()  # the allowed values, if it is categorical


_SETTINGS: Mapping[str, _Setting] = MappingProxyType(
    {
        "relevant": _Setting(
            "Lowest relevant rating. If empty, the highest that a fifth of all ratings reach; 5 where it was given on "
            "a scale of 1 to 5 or 0.5 to 5."
        ),
        "irrelevant": _Setting(
            "Highest irrelevant rating. If empty, the lowest that a twentieth of all ratings do not exceed; 1 where it "
            "was given on a scale of 1 to 5 or 0.5 to 5."
        ),
        "negatives": _Setting("Candidates per test item: unrated items drawn at random.", 1),
        "ties": _Setting(
            "How equal scores count: their expected value, or the worst or best order.",
            words=("expected", "worst", "best"),
        ),
        "g": _Setting("Generality of the data, above 0 and below 1; if empty, that of the cases.", 0, 1),
        "mode": _Setting(
            "Candidates sampled, as published, or all unrated items, without sampling noise. Both are measured; this "
            "one is shown in the table.",
            words=("sampled", "exact"),
        ),
        "known": _Setting(
            "Whether items known from training are left out of lists, or recommended again.",
            words=("left-out", "again"),
        ),
        "utility": _Setting(
            "Utility of a hidden item: its rating, or the utility given with the dataset.", words=("rating", "given")
        ),
        "clip": _Setting("Whether predictions are limited to the rating scale.", words=("scale", "none")),
        "pairs": _Setting(
            "All pairs of users and items, or only pairs with a hidden rating.", words=("all", "observations")
        ),
    }
)
PROTOCOLS: Mapping[str, Definition] = MappingProxyType(
    {
        definition.key: definition
        for definition in (
            Definition(
                key="one-plus-random",
                title="One plus random",
                question="Does a rated item reach the list among randomly drawn items that were not rated?",
                settings={**_LIMITS, "negatives": 1000, "ties": "expected", "g": None, "mode": "sampled"},
                tasks=("some",),
                every=False,
                excluded="rated",
            ),
            Definition(
                key="full-ranking",
                title="Full ranking",
                question="How high do the hidden ratings rank in the user's whole list?",
                settings={**_LIMITS, "known": "left-out", "utility": "rating"},
                tasks=("some", "all", "utility"),
                usual=("precision@{n}", "recall@{n}", "ndcg@{n}", "ap@{n}", "rr@{n}", "catalogue-coverage@{n}"),
            ),
            Definition(
                key="test-observations",
                title="Test observations",
                question="In which order does the algorithm rank the user's own hidden ratings?",
                settings=_LIMITS,
                tasks=("all", "utility"),
                usual=("croc-area", "roc-area", "kendall", "half-life"),
            ),
            Definition(
                key="rating-prediction",
                title="Rating prediction",
                question="How far are predicted ratings from the hidden ones?",
                settings={**_LIMITS, "clip": "scale"},
                tasks=("prediction",),
                usual=("rmse", "mae", "nmae", "prediction-coverage"),
            ),
            Definition(
                key="unconstrained",
                title="Unconstrained",
                question="Which pairs of user and item rank highest in one list over all users?",
                settings={**_LIMITS, "pairs": "all"},
                tasks=("all",),
                usual=("groc-area",),
            ),
        )
    }
)


def protocol(name: str) -> Definition:
    """Return the protocol called `name`. Raises ParameterError for an unknown protocol.

    Examples
    --------
    >>> protocol("full-ranking").completed({"known": "again"})["relevant"]
    5.0
    """
    if name not in PROTOCOLS:
        raise ParameterError(f"Unknown protocol {name!r}. Available: {', '.join(PROTOCOLS)}.")
    return PROTOCOLS[name]
