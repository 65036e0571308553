"""The protocols by name: their questions, settings and suitable tasks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from core.errors import ParameterError
from evaluation.metrics.catalogue import METRICS
from evaluation.metrics.definition import task_comment
from recommenders.parameters import ParameterInfo, check_value, read_value

TIES = ("expected", "worst", "best")
MODES = ("sampled", "exact")


@dataclass(frozen=True, slots=True)
class Definition:
    """The definition of a protocol."""

    key: str  # name in commands
    title: str
    question: str  # the question it answers, in one sentence
    settings: Mapping[str, Any]  # every setting with its default
    words: Mapping[str, tuple[str, ...]]  # the allowed values of categorical settings
    tasks: tuple[str, ...]  # keys of the `TASKS` it suits
    every: bool  # whether hidden ratings between the limits are cases too
    excluded: str  # which items are never candidates (`evaluation.protocols.cases.make_cases`)
    usual: tuple[str, ...] = ()  # names of the default metrics; {n} is replaced by the list length

    @property
    def metrics(self) -> tuple[str, ...]:
        """The keys of the metrics it measures."""
        return tuple(key for key, definition in METRICS.items() if self.key in definition.protocols)

    def described(self) -> tuple[ParameterInfo, ...]:
        """Describe the settings in their order, for forms. A default of "" means that the dataset determines it, or
        that there is none.
        """
        return tuple(self._described(name, default) for name, default in self.settings.items())

    def _described(self, name: str, default: Any) -> ParameterInfo:
        description, minimum, maximum = _DESCRIPTIONS[name]
        is_open = name in _LIMITS or default is None
        return ParameterInfo(
            name=name,
            type=float if is_open else type(default),
            default="" if is_open else default,
            description=description,
            minimum=minimum,
            maximum=maximum,
            choices=self.words.get(name, ()),
        )

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

    def suits(self, task: str) -> str | None:
        """None if the protocol suits the task, else a sentence about the tasks it suits; see `task_comment`."""
        return task_comment(f"The protocol {self.key}", self.tasks, task, self.question, joined_by="and")


_LIMITS = {"relevant": 5.0, "irrelevant": 1.0}
# Each setting: its description, smallest and largest value.
_DESCRIPTIONS: Mapping[str, tuple[str, float | None, float | None]] = MappingProxyType(
    {
        "relevant": (
            "Lowest relevant rating. If empty, the highest that a fifth of all ratings reach; 5 where it was given on "
            "a scale of 1 to 5 or 0.5 to 5.",
            *(None, None),
        ),
        "irrelevant": (
            "Highest irrelevant rating. If empty, the lowest that a twentieth of all ratings do not exceed; 1 where it "
            "was given on a scale of 1 to 5 or 0.5 to 5.",
            *(None, None),
        ),
        "negatives": ("Candidates per test item: unrated items drawn at random.", 1, None),
        "ties": ("How equal scores count: their expected value, or the worst or best order.", None, None),
        "g": ("Generality of the data, above 0 and below 1; if empty, that of the cases.", 0, 1),
        "mode": (
            "Candidates sampled, as published, or all unrated items, without sampling noise. Both are measured; this "
            "one is shown in the table.",
            *(None, None),
        ),
        "known": ("Whether items known from training are left out of lists, or recommended again.", None, None),
        "utility": ("Utility of a hidden item: its rating, or the utility given with the dataset.", None, None),
        "clip": ("Whether predictions are limited to the rating scale.", None, None),
        "pairs": ("All pairs of users and items, or only pairs with a hidden rating.", None, None),
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
                words={"ties": TIES, "mode": MODES},
                tasks=("some",),
                every=False,
                excluded="rated",
            ),
            Definition(
                key="full-ranking",
                title="Full ranking",
                question="How high do the hidden ratings rank in the user's whole list?",
                settings={**_LIMITS, "known": "left-out", "utility": "rating"},
                words={"known": ("left-out", "again"), "utility": ("rating", "given")},
                tasks=("some", "all", "utility"),
                every=True,
                excluded="trained",
                usual=("precision@{n}", "recall@{n}", "ndcg@{n}", "ap@{n}", "rr@{n}", "catalogue-coverage@{n}"),
            ),
            Definition(
                key="test-observations",
                title="Test observations",
                question="In which order does the algorithm rank the user's own hidden ratings?",
                settings=_LIMITS,
                words={},
                tasks=("all", "utility"),
                every=True,
                excluded="trained",
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
                excluded="trained",
                usual=("rmse", "mae", "nmae", "prediction-coverage"),
            ),
            Definition(
                key="unconstrained",
                title="Unconstrained",
                question="Which pairs of user and item rank highest in one list over all users?",
                settings={**_LIMITS, "pairs": "all"},
                words={"pairs": ("all", "observations")},
                tasks=("all",),
                every=True,
                excluded="trained",
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
