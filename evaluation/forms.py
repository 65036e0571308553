"""Forms of runs: new run, model preview, and comparison. Services validate the content."""

from __future__ import annotations

import re
from typing import Any

from django import forms
from django.http import QueryDict

from catalog.models import DatasetVersion
from catalog.selectors.datasets import dataset_lines, newest_version
from evaluation.metrics.definition import TASKS
from evaluation.models import EvaluationRun
from evaluation.protocols.registry import PROTOCOLS
from evaluation.selectors.candidates import candidate_warning
from evaluation.selectors.models import ModelLine
from evaluation.selectors.runs import succeeded_runs
from evaluation.splitting.registry import SPLITS
from recommenders import registry

# One algorithm may have several conditions: PureSVD is measured with two numbers of factors.
STUDY = ("toppop", "corngr", "nncosngr", "asysvd", "puresvd", "lsa")  # of Cremonesi et al. (2011): preselected
CONDITIONS = {"puresvd": ("puresvd:factors=50", "puresvd:factors=300")}


def algorithm_choices() -> list[tuple[str, str]]:
    """Return each algorithm as written in commands, with its title."""
    choices = []
    for key in registry.keys():  # noqa: SIM118 — a function, not a mapping's
        for text in CONDITIONS.get(key, (key,)):
            _, params = registry.parse(text)
            kind = registry.algorithm(key)
            label = kind.label(params)
            choices.append((text, f"{label} · {kind.title.removesuffix(f' ({kind.name})')}"))
    return choices


class RunForm(forms.Form):
    """Dataset, algorithms, split, protocol and seed of a new run."""

    dataset = forms.ChoiceField(label="Dataset")
    algorithms = forms.MultipleChoiceField(label="Algorithms", widget=forms.CheckboxSelectMultiple, required=False)
    more = forms.CharField(
        label="More algorithms",
        required=False,
        help_text="As in a command, separated by commas: puresvd:factors=150",
    )
    task = forms.ChoiceField(
        label="Task", choices=[(key, f"{words[:1].upper()}{words[1:]}") for key, words in TASKS.items()]
    )
    protocol = forms.ChoiceField(
        label="Protocol",
        choices=[(definition.key, f"{definition.title}: {definition.question}") for definition in PROTOCOLS.values()],
    )
    mode = forms.ChoiceField(
        label="Mode of one plus random",
        choices=[("sampled", "Sampled, as published"), ("exact", "Exact, without sampling noise")],
        help_text="Both modes are measured; this one is shown in the table.",
    )
    metrics = forms.CharField(
        label="More metrics",
        required=False,
        help_text="By name, separated by commas: recall@10 for one plus random; ndcg@10, map@10 for full ranking.",
    )
    split = forms.CharField(
        label="Split",
        initial="probe:share=0.1",
        help_text=f"Which ratings are hidden, as in a command. Available: {', '.join(SPLITS)}.",
    )
    reserve = forms.FloatField(
        label="Share of users to reserve",
        initial=0.15,
        min_value=0,
        max_value=0.9,
        help_text="Excluded first, so that no model sees them; simulated participants use their ratings.",
    )
    negatives = forms.IntegerField(
        label="Candidates per test item",
        initial=1000,
        min_value=1,
        max_value=1_000_000,
        help_text="Unrated items drawn for each test item, in one plus random.",
    )
    relevant = forms.FloatField(label="Relevant from a rating of", initial=5)
    irrelevant = forms.FloatField(label="Irrelevant up to a rating of", initial=1)
    n = forms.IntegerField(label="Length of the list (N)", initial=5, min_value=1, max_value=100)
    profile_length = forms.IntegerField(
        label="Length of short profiles",
        initial=5,
        min_value=1,
        max_value=1000,
        help_text="Results are also measured with profiles of this many ratings, as participants give.",
    )
    seed = forms.IntegerField(label="Seed", initial=1, min_value=0)
    accept_fewer = forms.BooleanField(
        label="Start the run with fewer candidates", required=False, widget=forms.HiddenInput
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        names = [(line.dataset.name, f"{line.dataset} · version {line.newest.number}") for line in dataset_lines()]
        choices = algorithm_choices()
        self.fields["dataset"].choices = names  # type: ignore[attr-defined]
        self.fields["algorithms"].choices = choices  # type: ignore[attr-defined]
        self.fields["algorithms"].initial = [text for text, _ in choices if text.partition(":")[0] in STUDY]

    def groups(self) -> list[tuple[str, str, list[forms.BoundField]]]:
        """Return the fields in groups: heading, width, fields."""
        grouped = (
            ("Data and algorithms", "wide", ("dataset", "algorithms", "more")),
            ("Method", "wide", ("task", "protocol", "mode", "split", "metrics")),
            (
                "Settings",
                "beside",
                ("relevant", "irrelevant", "n", "profile_length", "negatives", "reserve", "seed"),
            ),
        )
        return [(heading, width, [self[name] for name in names]) for heading, width, names in grouped]

    def protocol_settings(self) -> dict[str, Any]:
        """Return the protocol's name with its settings from the form."""
        name = self.cleaned_data["protocol"]
        known = ("relevant", "irrelevant", "negatives", "mode")
        return {"name": name} | {key: self.cleaned_data[key] for key in known if key in PROTOCOLS[name].settings}

    def is_confirmed(self) -> bool:
        """Return whether the run may start; with fewer unrated items than candidates only after confirmation."""
        if self.cleaned_data["accept_fewer"] or self.cleaned_data["protocol"] != "one-plus-random":
            return True
        version = newest_version(self.cleaned_data["dataset"])
        name = self.cleaned_data["split"].partition(":")[0].strip()
        warning = candidate_warning(version, self.protocol_settings(), {"name": name})
        if warning:
            self.fields["accept_fewer"].widget = forms.CheckboxInput()
            self.add_error("accept_fewer", warning)
        return not warning

    def algorithms_text(self) -> str:
        """Return the chosen algorithms as text, selected ones first."""
        chosen = [*self.cleaned_data["algorithms"], self.cleaned_data["more"].strip()]
        return ",".join(filter(None, chosen))


class TryForm(forms.Form):
    """Profile, models and list length of the model preview, all from the query string.

    Each rating is a parameter: ``r12=4`` is a rating of 4 for item 12. `rated` has the valid ratings by item index,
    even if other parameters are invalid.
    """

    MAX_MODELS = 7
    MAX_RATED = 50
    RATING = re.compile(r"r([0-9]{1,9})")
    STARS = ("1", "2", "3", "4", "5")

    q = forms.CharField(label="Search for items to rate", required=False, max_length=200)
    model = forms.MultipleChoiceField(
        label="Models",
        widget=forms.CheckboxSelectMultiple,
        error_messages={
            "required": "Choose at least one model.",
            "invalid_choice": "This version of the dataset has no model %(value)s.",
        },
    )
    n = forms.IntegerField(label="Length of the lists", required=False, initial=5, min_value=1, max_value=20)

    def __init__(self, data: QueryDict, *, version: DatasetVersion, models: list[ModelLine]) -> None:
        super().__init__(data)
        self.query = data
        self.rated: dict[int, float] = {}
        self.n_items = version.n_items
        # Stars are mapped to the dataset's scale; usage data have only one.
        self.is_usage = version.scale_low == version.scale_high
        self.points = ("1",) if self.is_usage else self.STARS
        self.scale = (version.scale_low, version.scale_high, version.scale_step) if self.is_usage else (1.0, 5.0, 1.0)
        choices = [(str(line.model.pk), f"{line.model.label} · {line.origin}") for line in models]
        self.fields["model"].choices = choices  # type: ignore[attr-defined]
        search = {"type": "search", "autocomplete": "off", "aria-controls": "found"}
        self.fields["q"].widget.attrs |= search

    def clean_model(self) -> list[int]:
        """Return the primary keys of the chosen models in order, without duplicates."""
        chosen = list(dict.fromkeys(map(int, self.cleaned_data["model"])))
        if len(chosen) > self.MAX_MODELS:
            raise forms.ValidationError(f"Choose at most {self.MAX_MODELS} models; {len(chosen)} are selected.")
        return chosen

    def clean_n(self) -> int:
        """Return the list length; 5 by default."""
        return int(self.cleaned_data["n"] or self.fields["n"].initial)

    def clean(self) -> dict[str, Any]:
        """Read the ratings from the query string."""
        for name, value in self.data.items():
            match = self.RATING.fullmatch(name)
            if match is None or not value:  # an empty value is no rating
                continue
            index = int(match[1])
            if index >= self.n_items:
                self.add_error(
                    None, f"This version has no item {index}; items are numbered from 0 to {self.n_items - 1}."
                )
            elif value not in self.points:
                self.add_error(
                    None, f"{value!r} is not a valid rating of item {index}; use {self.points[0]} to {self.points[-1]}."
                )
            else:
                self.rated[index] = self.scale[0] if self.is_usage else float(value)
        if len(self.rated) > self.MAX_RATED:
            self.add_error(None, f"Rate at most {self.MAX_RATED} items here; {len(self.rated)} are rated.")
        return self.cleaned_data


class CompareForm(forms.Form):
    """Two runs to compare."""

    a = forms.ModelChoiceField(label="Run A", queryset=EvaluationRun.objects.none(), empty_label=None)
    b = forms.ModelChoiceField(label="Run B", queryset=EvaluationRun.objects.none(), empty_label=None)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("a", "b"):
            self.fields[name].queryset = succeeded_runs()  # type: ignore[attr-defined]
            self.fields[name].label_from_instance = run_line  # type: ignore[attr-defined]


def run_line(run: EvaluationRun) -> str:
    """Describe a run in one line."""
    return f"Run {run.pk} · {run.version} · {run.protocol['name']} · {run.split['name']} · seed {run.seed}"
