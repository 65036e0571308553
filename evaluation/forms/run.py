"""The form of a new run: a proposal that fits the dataset, or every setting; and the form that starts an experiment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.db.models import QuerySet
from django.http import QueryDict

from catalog.models import Dataset, DatasetVersion
from catalog.selectors.datasets import dataset_lines
from catalog.services.previews import histogram_of
from core.errors import ParallaxError, ParameterError
from core.form_fields import offer
from evaluation.experiments.schema import Experiment
from evaluation.forms.algorithm_rows import AlgorithmRows, picker
from evaluation.forms.choice_cards import ChoiceCards
from evaluation.forms.parameter_fields import ParameterForm, entered
from evaluation.forms.split_choice import LIMITS, PROTOCOL_KINDS, SplitChoice, protocol_cards
from evaluation.metrics.definition import TASKS
from evaluation.metrics.registry import metric
from evaluation.run_spec import MAX_N, RunSpec, named_algorithms, named_settings, split_names, written
from evaluation.selectors.repeats import MOST_REPEATS
from evaluation.services.experiments import lacking_data
from evaluation.services.run_inputs import limits_of
from evaluation.services.run_proposals import Proposal, proposals_for
from evaluation.splitting.registry import STRANGERS

CUSTOM = "custom"
COUNT = "count"  # the button that only counts the test cases
PARTS = {"algorithms": AlgorithmRows.of, "split": SplitChoice.of, "protocol": protocol_cards}
STATED = tuple(PARTS)  # as written in commands, in the address of a prepared form
PLAIN = {"algorithms": "toppop", "split": STRANGERS, "protocol": "one-plus-random"}  # where no proposal fits


def _texts(name: str) -> dict[str, Any]:
    field = RunSpec.model_fields[name]
    return {"label": field.title or "", "help_text": field.description or ""}


class CustomForm(forms.Form):
    """Every setting of a run except its dataset and the limits of relevance."""

    algorithm = forms.ChoiceField(label="Algorithm to add", required=False)
    task = forms.ChoiceField(
        label="Task", choices=[(key, f"{words[:1].upper()}{words[1:]}") for key, words in TASKS.items()]
    )
    metrics = forms.CharField(required=False, **_texts("metrics"))
    n = forms.IntegerField(initial=5, min_value=1, max_value=MAX_N, **_texts("n"))
    profile_length = forms.IntegerField(initial=5, min_value=1, max_value=1000, **_texts("profile_lengths"))
    reserve = forms.FloatField(initial=0.15, min_value=0, max_value=0.9, **_texts("reserve"))
    seed = forms.IntegerField(initial=1, min_value=0, **_texts("seed"))
    repeats = forms.IntegerField(
        label="Repetitions",
        initial=1,
        min_value=1,
        max_value=MOST_REPEATS,
        help_text="Runs that differ in the seed alone, this one included.",
    )

    def __init__(self, data: QueryDict | None, *, step: str = "", first: Mapping[str, Any]) -> None:
        """`data` are checked unless a button adds or removes an algorithm; `first` are the settings without data."""
        is_checked = data is not None and not step
        super().__init__(data if is_checked else None)
        offer(self, "algorithm", [("", "Choose an algorithm"), *picker()])
        if data is None:
            self.algorithms = AlgorithmRows.of(first["algorithms"])
            self.split, self.protocol = SplitChoice.of(first["split"]), protocol_cards(first["protocol"])
            return
        self.algorithms = AlgorithmRows.posted(data, is_checked=is_checked)
        self.split = SplitChoice.posted(data, is_checked=is_checked)
        self.protocol = ChoiceCards.posted("protocol", PROTOCOL_KINDS, data, is_checked=is_checked)
        if step:
            self.initial = {**entered(self, data), "algorithm": ""}
            self.algorithms.change(step, data)
            self.fields["algorithm"].widget.attrs["autofocus"] = self.algorithms.added is None

    @property
    def parts(self) -> list[ParameterForm]:
        """The forms of the algorithms, of the chosen split and of the chosen protocol."""
        return [*(row.form for row in self.algorithms.rows), *self.split.forms, self.protocol.chosen.form]

    @property
    def measured(self) -> list[forms.BoundField]:
        """The fields of what is measured."""
        return [self[name] for name in ("n", "profile_length", "metrics")]

    @property
    def repeated(self) -> list[forms.BoundField]:
        """The fields of how often, and with which random numbers and users."""
        return [self[name] for name in ("reserve", "seed", "repeats")]

    def is_valid(self) -> bool:
        """Return whether the fields, those of the algorithms, of the split and of the protocol are valid."""
        return super().is_valid() and all(form.is_valid() for form in self.parts if form.is_bound)

    def clean(self) -> dict[str, Any]:
        """Check what concerns several fields."""
        if not self.algorithms.rows:
            self.add_error("algorithm", "Name at least one algorithm: choose one and press Add.")
        development = self.split.development
        if development.is_bound and all(form.is_valid() for form in self.split.forms):
            problem = self.split.problem()
            if problem:
                development.add_error("divide", problem)
        return self.cleaned_data

    def clean_metrics(self) -> list[str]:
        """Return the names of the metrics, each one known."""
        names = split_names(self.cleaned_data["metrics"])
        for name in names:
            try:
                metric(name)
            except ParameterError as problem:
                raise forms.ValidationError(str(problem)) from problem
        return names

    def determines_cases(self) -> bool:
        """Return whether all that determines the test cases is valid."""
        checked = (form for form in (*self.split.forms, self.protocol.chosen.form) if form.is_bound)
        return not self.errors.keys() & {"reserve", "seed"} and all(form.is_valid() for form in checked)

    def values(self) -> dict[str, Any]:
        """Return the valid settings, as `RunSpec.of` takes them."""
        inputs = {name: self.cleaned_data[name] for name in ("task", "metrics", "reserve", "seed", "n")}
        return {
            **inputs,
            "algorithms": self.algorithms.named_settings(),
            "profile_lengths": (self.cleaned_data["profile_length"],),
        }


class RunForm(forms.Form):
    """Dataset, kind and limits of relevance of a new run; and with `CUSTOM` every other setting.

    `step` names the button that was pressed if the run is not to start yet. A form that shows another dataset than the
    chosen one is shown again for that, as limits and proposals are the dataset's.
    """

    dataset = forms.ChoiceField(label="Dataset")
    kind = forms.ChoiceField(label="Settings", widget=forms.RadioSelect)

    def __init__(
        self,
        data: QueryDict | None = None,
        *,
        query: Mapping[str, str] | None = None,
        newest: Mapping[str, DatasetVersion],
    ) -> None:
        """`newest` are the versions to choose from, by the name of their dataset, at least one. `query` names the
        dataset that is chosen at first, and may state the settings of `STATED`.
        """
        query = query or {}
        name = (data or query).get("dataset", "")
        self.version = newest.get(name) or next(iter(newest.values()))
        self.step = str(data.get("step") or "") if data is not None else ""
        is_moved = data is not None and data.get("shown", name) != name
        is_checked = data is not None and not is_moved and self.step in ("", COUNT)
        super().__init__(data if is_checked else None)
        offer(
            self,
            "dataset",
            [(name, f"{version.dataset} · version {version.number}") for name, version in newest.items()],
        )
        self.proposals = proposals_for(self.version)
        titles = [*((key, proposal.title) for key, proposal in self.proposals.items()), (CUSTOM, "Custom")]
        offer(self, "kind", titles)
        self.text_problem = ""
        first = self._first(query)
        self.stated = [(name, query.get(name) or written(first[name])) for name in STATED]
        is_stated = any(query.get(name) for name in STATED)
        self.initial = {"dataset": name, "kind": CUSTOM if is_stated else titles[0][0]}
        self._offer_limits(first["protocol"])
        if data is not None and not is_checked:
            self.initial |= entered(self, data) if not is_moved else {"kind": data.get("kind")}
        is_custom = data is not None and not is_moved and data.get("kind") == CUSTOM
        self.custom = CustomForm(data if is_custom else None, step="" if is_checked else self.step, first=first)
        self.is_open = is_custom or bool(self.text_problem)

    def _first(self, query: Mapping[str, str]) -> dict[str, Any]:
        """The settings with which a custom run begins: those of the first proposal, or those that the query states."""
        proposal = next(iter(self.proposals.values()), None)
        first: dict[str, Any] = proposal.spec.model_dump() if proposal else _parsed(PLAIN)
        try:
            return {**first, **_parsed({name: query[name] for name in STATED if query.get(name)})}
        except (ParameterError, ParallaxError) as problem:
            self.text_problem = str(problem)
            return first

    def _offer_limits(self, protocol: Mapping[str, Any]) -> None:
        """Add the fields of the limits, in the source's values; usage data have none."""
        self.histogram = histogram_of(self.version)
        self.limits: dict[str, float] = {}
        if self.histogram is None:
            return
        ends, shift = self.histogram.ends, self.version.rating_shift
        usual = limits_of(self.version)
        for name, label, limit in (("disliked", "Disliked up to", "irrelevant"), ("liked", "Liked from", "relevant")):
            value = float(protocol.get(limit, usual[limit])) - shift
            fitting = [end for end in ends if (end <= value if limit == "relevant" else end >= value)]
            self.limits[limit] = max(fitting) if limit == "relevant" else min(fitting)
            self.fields[name] = forms.ChoiceField(label=label, choices=[(f"{end:g}", f"{end:g}") for end in ends])
            self.initial[name] = f"{self.limits[limit]:g}"

    @property
    def cards(self) -> list[Proposal]:
        """The proposals, for their cards."""
        return list(self.proposals.values())

    def limit_fields(self) -> list[forms.BoundField]:
        """Return the fields of the limits."""
        return [self[name] for name in ("disliked", "liked") if name in self.fields]

    @property
    def nested_forms(self) -> list[forms.Form]:
        """The forms within this one, for the summary of errors."""
        return [self.custom, *self.custom.parts]

    def is_valid(self) -> bool:
        """Return whether the fields are valid, and those of a custom run."""
        return super().is_valid() and (not self.custom.is_bound or self.custom.is_valid())

    def clean(self) -> dict[str, Any]:
        """Check that the limits are apart."""
        values = super().clean() or {}
        if {"disliked", "liked"} <= values.keys() and float(values["disliked"]) >= float(values["liked"]):
            self.add_error("liked", "Liked ratings have to be above disliked ones.")
        return values

    def spec(self) -> RunSpec:
        """Return the inputs of the run; raises as `RunSpec.of`."""
        values = self.custom.values() if self.custom.is_bound else self._proposal().spec.model_dump()
        return RunSpec.of(**{**values, "split": self._split(), "protocol": self._protocol()})

    @property
    def repeats(self) -> int:
        """How many runs are to be started."""
        return int(self.custom.cleaned_data["repeats"]) if self.custom.is_bound else 1

    def _proposal(self) -> Proposal:
        return self.proposals[self.cleaned_data["kind"]]

    def _split(self) -> dict[str, Any]:
        return self.custom.split.settings() if self.custom.is_bound else self._proposal().spec.split

    def _protocol(self) -> dict[str, Any]:
        """The protocol, with limits where they differ from those that the dataset has without any."""
        settings = self.custom.protocol.settings() if self.custom.is_bound else self._proposal().spec.protocol
        if self.histogram is None:
            return settings
        shift = self.version.rating_shift
        chosen = {
            limit: float(self.cleaned_data[name]) for limit, name in zip(LIMITS, ("disliked", "liked"), strict=True)
        }
        return settings | ({} if chosen == self.limits else {limit: value + shift for limit, value in chosen.items()})

    def case_inputs(self) -> dict[str, Any] | None:
        """Return what determines the test cases, as `case_counts` takes it; None as long as it is invalid."""
        if not self.is_bound or self.errors or (self.custom.is_bound and not self.custom.determines_cases()):
            return None
        values = self.custom.cleaned_data if self.custom.is_bound else self._proposal().spec.model_dump()
        return {
            "version": self.version,
            "split": self._split(),
            "protocol": self._protocol(),
            "reserved": values["reserve"],
            "seed": values["seed"],
        }


def _parsed(texts: Mapping[str, str]) -> dict[str, Any]:
    """Settings that are written as in commands. Raises ParameterError or ParallaxError for invalid ones."""
    values = {
        name: (named_algorithms if name == "algorithms" else named_settings)(text) for name, text in texts.items()
    }
    for name, value in values.items():
        PARTS[name](value)  # type: ignore[operator]
    return values


class ExperimentForm(forms.Form):
    """The dataset on which an experiment is run; one that has the data it needs is chosen first."""

    dataset = forms.ChoiceField(label="Dataset")

    def __init__(self, data: Any = None, *, datasets: QuerySet[Dataset], experiment: Experiment) -> None:
        super().__init__(data)
        lines = sorted(dataset_lines(datasets), key=lambda line: bool(lacking_data(experiment, line.newest)))
        names = [(line.dataset.name, f"{line.dataset} · version {line.newest.number}") for line in lines]
        offer(self, "dataset", names)
