"""The form of a new run: data, algorithms, split, protocol and settings, which services validate; and the form that
starts an experiment.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from django import forms
from django.db.models import QuerySet
from django.http import QueryDict

from catalog.models import Dataset, DatasetVersion
from catalog.selectors.datasets import dataset_lines, newest_version
from catalog.selectors.ratings import features_of
from core.errors import DataError, ParallaxError, ParameterError
from core.form_fields import offer
from evaluation.experiments.schema import Experiment
from evaluation.forms.algorithm_rows import AlgorithmRows, named_algorithms, picker
from evaluation.forms.parameter_fields import COPY, ParameterForm, entered, is_changed
from evaluation.forms.split_choice import ProtocolChoice, SplitChoice
from evaluation.metrics.definition import TASKS
from evaluation.metrics.registry import metric
from evaluation.run_spec import MAX_N, RunSpec, split_names
from evaluation.selectors.cases import candidate_warning
from evaluation.selectors.repeats import MOST_REPEATS
from evaluation.services.experiments import lacking_data
from evaluation.splitting.registry import STRANGERS
from recommenders.data_limits import TrainingSize
from recommenders.registry import feasible_params

Part = TypeVar("Part", AlgorithmRows, SplitChoice, ProtocolChoice)

# Of Cremonesi et al. (2011), who measured PureSVD with two numbers of factors.
STUDY = "toppop,corngr,nncosngr,asysvd,puresvd,puresvd:factors=300,lsa"
FIRST = {"algorithms_text": STUDY, "split_text": STRANGERS, "protocol_text": "one-plus-random"}
TEXT_HELP = "As in commands. If you change this text, it replaces the fields above."
APPLY = "apply"


def _study_algorithms(version: DatasetVersion | None) -> str:
    """Return the study's algorithms as text, without those that these ratings are too few for or lack features of."""
    if version is None:
        return STUDY
    size = TrainingSize(version.n_users, version.n_items, features_of(version, "alone"))
    return ",".join(text for text in STUDY.split(",") if _is_possible(text, size))


def _is_possible(text: str, size: TrainingSize) -> bool:
    ((key, values),) = named_algorithms(text)
    try:
        feasible_params(key, values, size)
    except (ParameterError, DataError):
        return False
    return True


def _texts(name: str) -> dict[str, Any]:
    field = RunSpec.model_fields[name]
    return {"label": field.title or "", "help_text": field.description or ""}


def _text(label: str) -> forms.CharField:
    return forms.CharField(label=label, required=False, max_length=10_000, help_text=TEXT_HELP)


def _copy() -> forms.CharField:
    return forms.CharField(required=False, widget=forms.HiddenInput)


class RunForm(forms.Form):
    """Dataset, algorithms, split, protocol and settings of a new run.

    `step` names the button that was pressed if the run is not to start yet: an algorithm is added or removed, which
    leaves everything else as it was entered, unchecked; or a text is applied to the fields.
    """

    dataset = forms.ChoiceField(label="Dataset")
    algorithm = forms.ChoiceField(label="Algorithm to add", required=False)
    algorithms_text = _text("Algorithms as text")
    algorithms_text_shown = _copy()
    split_text = _text("Split as text")
    split_text_shown = _copy()
    protocol_text = _text("Protocol as text")
    protocol_text_shown = _copy()
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
    accept_fewer = forms.BooleanField(
        label="Start the run with fewer candidates", required=False, widget=forms.HiddenInput
    )

    def __init__(self, data: QueryDict | None = None, *, dataset: str = "", datasets: QuerySet[Dataset]) -> None:
        """`datasets` are those to choose from; `dataset` is the name of the one that is chosen at first."""
        self.datasets = datasets
        self.step = str(data.get("step") or "") if data is not None else ""
        is_checked = data is not None and self.step in ("", APPLY)
        super().__init__(data if is_checked else None, initial={"dataset": dataset})
        newest = {line.dataset.name: line.newest for line in dataset_lines(datasets)}
        names = [(name, f"{version.dataset} · version {version.number}") for name, version in newest.items()]
        offer(self, "dataset", names)
        shown = newest.get(dataset, next(iter(newest.values()), None))
        self.first = FIRST if data is not None else {**FIRST, "algorithms_text": _study_algorithms(shown)}
        offer(self, "algorithm", [("", "Choose an algorithm"), *picker()])
        if data is not None and not is_checked:
            self.initial = entered(self, data)
        self.text_problems: dict[str, str] = {}
        self.changed_texts = [name.removesuffix("_text") for name in FIRST if data and is_changed(data, name)]
        self.algorithms, checked = self._part(
            data, "algorithms_text", lambda text: AlgorithmRows.of(named_algorithms(text)), AlgorithmRows.posted
        )
        self.split, checked_split = self._part(data, "split_text", SplitChoice.of, SplitChoice.posted)
        self.protocol, checked_protocol = self._part(data, "protocol_text", ProtocolChoice.of, ProtocolChoice.posted)
        if data is not None and not is_checked:
            for rows in {id(rows): rows for rows in (self.algorithms, checked)}.values():
                rows.change(self.step, str(data.get("algorithm")))
            self.initial["algorithm"] = ""
            self.fields["algorithm"].widget.attrs["autofocus"] = self.algorithms.added is None
        self._show(
            {
                "algorithms_text": checked.text(),
                "split_text": checked_split.text(),
                "protocol_text": checked_protocol.text(),
            }
        )

    def _part(
        self,
        data: QueryDict | None,
        name: str,
        of_text: Callable[[str], Part],
        posted: Callable[..., Part],
    ) -> tuple[Part, Part]:
        """Return a part as it is shown, and checked, which is its text: from a changed text, or from its fields."""
        text = self.first[name] if data is None else str(data.get(name))
        if data is None or name.removesuffix("_text") in self.changed_texts:
            try:
                return (part := of_text(text)), part
            except (ParameterError, ParallaxError) as problem:
                self.text_problems[name] = str(problem)
        checked = posted(data, is_checked=True)
        return (checked if self.is_bound else posted(data, is_checked=False)), checked

    def _show(self, texts: dict[str, str]) -> None:
        """Show the texts of the fields, and their copies; an invalid text stays as it was typed."""
        shown: Any = self.initial
        if self.is_bound:
            self.data = shown = self.data.copy()  # type: ignore[attr-defined]
        for name, text in texts.items():
            shown[f"{name}{COPY}"] = text
            if name not in self.text_problems:
                shown[name] = text

    @property
    def nested_forms(self) -> list[ParameterForm]:
        """The forms of the algorithms, of the chosen split and of the chosen protocol."""
        return [*self.algorithms.forms, *self.split.forms, *self.protocol.forms]

    def texts(self) -> dict[str, tuple[forms.BoundField, forms.BoundField]]:
        """Return the field of each text and that of its hidden copy, by the part of the form."""
        return {name.removesuffix("_text"): (self[name], self[f"{name}{COPY}"]) for name in FIRST}

    def settings_fields(self) -> list[forms.BoundField]:
        """Return the fields of numbers, which stand side by side."""
        return [self[name] for name in ("n", "profile_length", "reserve", "seed", "repeats")]

    def is_valid(self) -> bool:
        """Return whether the fields, those of the algorithms, of the split and of the protocol are valid."""
        return super().is_valid() and all(form.is_valid() for form in self.nested_forms if form.is_bound)

    def clean(self) -> dict[str, Any]:
        """Check what concerns several fields."""
        for name, problem in self.text_problems.items():
            self.add_error(name, problem)
        if not self.algorithms.rows and "algorithms_text" not in self.text_problems:
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

    def version(self) -> DatasetVersion:
        """Return the newest version of the chosen dataset."""
        return newest_version(self.cleaned_data["dataset"], self.datasets)

    def is_confirmed(self) -> bool:
        """Return whether the run may start; with fewer unrated items than candidates only after confirmation."""
        if self.cleaned_data["accept_fewer"]:
            return True
        settings = self.protocol.settings()
        complete = {info.name: info.default for info in self.protocol.cards.chosen.kind.described} | settings
        warning = candidate_warning(self.version(), complete, self.split.settings())
        if warning:
            self.fields["accept_fewer"].widget = forms.CheckboxInput()
            self.add_error("accept_fewer", warning)
        return not warning

    def case_inputs(self) -> dict[str, Any] | None:
        """Return what determines the test cases, as `case_counts` takes it; None as long as it is invalid."""
        if not self.is_bound or self.errors.keys() & {"dataset", "reserve", "seed", "split_text", "protocol_text"}:
            return None
        checked = (form for form in (*self.split.forms, *self.protocol.forms) if form.is_bound)
        if not all(form.is_valid() for form in checked):
            return None
        values = self.cleaned_data
        return {
            "version": self.version(),
            "split": self.split.settings(),
            "protocol": self.protocol.settings(),
            "reserved": values["reserve"],
            "seed": values["seed"],
        }

    def spec(self) -> RunSpec:
        """Return the inputs of the run; raises as `RunSpec.of`."""
        values = self.cleaned_data
        return RunSpec.of(
            algorithms=self.algorithms.named_settings(),
            split=self.split.settings(),
            protocol=self.protocol.settings(),
            profile_lengths=(values["profile_length"],),
            **{name: values[name] for name in ("task", "metrics", "reserve", "seed", "n")},
        )


class ExperimentForm(forms.Form):
    """The dataset on which an experiment is run; one that has the data it needs is chosen first."""

    dataset = forms.ChoiceField(label="Dataset")

    def __init__(self, data: Any = None, *, datasets: QuerySet[Dataset], experiment: Experiment) -> None:
        super().__init__(data)
        lines = sorted(dataset_lines(datasets), key=lambda line: bool(lacking_data(experiment, line.newest)))
        names = [(line.dataset.name, f"{line.dataset} · version {line.newest.number}") for line in lines]
        offer(self, "dataset", names)
