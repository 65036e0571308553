"""The form that makes a run, and that of the page that tries models; the services check what they mean."""

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

# One key may stand for several conditions: PureSVD is measured at two numbers of factors.
STUDY = ("toppop", "corngr", "nncosngr", "asysvd", "puresvd", "lsa")  # of Cremonesi et al. (2011): ticked at first
CONDITIONS = {"puresvd": ("puresvd:factors=50", "puresvd:factors=300")}


def algorithm_choices() -> list[tuple[str, str]]:
    """Give each algorithm as it is written in a command, and by title."""
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
        label="Protocol", choices=[(one.key, f"{one.title}: {one.question}") for one in PROTOCOLS.values()]
    )
    mode = forms.ChoiceField(
        label="Mode of one plus random",
        choices=[("sampled", "Sampled, as published"), ("exact", "Exact, without sampling noise")],
        help_text="Both are measured; this one fills the table.",
    )
    metrics = forms.CharField(
        label="More metrics",
        required=False,
        help_text="By name, separated by commas: recall@10 for one plus random; ndcg@10, map@10 for full ranking.",
    )
    split = forms.CharField(
        label="Split",
        initial="probe:share=0.1",
        help_text=f"What is hidden, as in a command. There are: {', '.join(SPLITS)}.",
    )
    reserve = forms.FloatField(
        label="Share of users to reserve",
        initial=0.15,
        min_value=0,
        max_value=0.9,
        help_text="Taken out before anything else, so that no model sees them; simulated participants stand on them.",
    )
    negatives = forms.IntegerField(
        label="Unrated items beside each test item",
        initial=1000,
        min_value=1,
        max_value=1_000_000,
        help_text="Of one plus random.",
    )
    relevant = forms.FloatField(label="Relevant from a rating of", initial=5)
    irrelevant = forms.FloatField(label="Irrelevant up to a rating of", initial=1)
    n = forms.IntegerField(label="Length of the list (N)", initial=5, min_value=1, max_value=100)
    profile_length = forms.IntegerField(
        label="Measure also with profiles of",
        initial=5,
        min_value=1,
        max_value=1000,
        help_text="Ratings; what a participant gives.",
    )
    seed = forms.IntegerField(label="Seed", initial=1, min_value=0)
    accept_fewer = forms.BooleanField(
        label="Start the run with the candidates there are", required=False, widget=forms.HiddenInput
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        names = [(line.dataset.name, f"{line.dataset} · version {line.newest.number}") for line in dataset_lines()]
        choices = algorithm_choices()
        self.fields["dataset"].choices = names  # type: ignore[attr-defined]
        self.fields["algorithms"].choices = choices  # type: ignore[attr-defined]
        self.fields["algorithms"].initial = [text for text, _ in choices if text.partition(":")[0] in STUDY]

    def groups(self) -> list[tuple[str, str, list[forms.BoundField]]]:
        """Give the fields as the page groups them: heading, how wide they stand, fields."""
        grouped = (
            ("What is measured", "wide", ("dataset", "algorithms", "more")),
            ("How", "wide", ("task", "protocol", "mode", "split", "metrics")),
            (
                "In numbers",
                "beside",
                ("relevant", "irrelevant", "n", "profile_length", "negatives", "reserve", "seed"),
            ),
        )
        return [(heading, width, [self[name] for name in names]) for heading, width, names in grouped]

    def protocol_settings(self) -> dict[str, Any]:
        """Give the protocol's name with those of the form's settings that it has."""
        name = self.cleaned_data["protocol"]
        known = ("relevant", "irrelevant", "negatives", "mode")
        return {"name": name} | {key: self.cleaned_data[key] for key in known if key in PROTOCOLS[name].settings}

    def is_confirmed(self) -> bool:
        """Whether the run may start: where fewer unrated items exist than are asked for, only once that is accepted."""
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
        """Give the chosen algorithms as one text, ticked ones first."""
        chosen = [*self.cleaned_data["algorithms"], self.cleaned_data["more"].strip()]
        return ",".join(filter(None, chosen))


class TryForm(forms.Form):
    """The profile, the models and the length of the lists of the page that tries models, all from the address.

    A rating is a parameter of its own: ``r12=4`` is 4 for the item of index 12. `rated` holds those that can be
    used, by index, also where something else is wrong.
    """

    MOST_MODELS = 7
    MOST_RATED = 50
    RATING = re.compile(r"r([0-9]{1,9})")
    STARS = ("1", "2", "3", "4", "5")

    q = forms.CharField(label="Find something to rate", required=False, max_length=200)
    model = forms.MultipleChoiceField(
        label="Models",
        widget=forms.CheckboxSelectMultiple,
        error_messages={
            "required": "Choose at least one model.",
            "invalid_choice": "There is no model %(value)s on this version of the dataset.",
        },
    )
    n = forms.IntegerField(label="Length of the lists", required=False, initial=5, min_value=1, max_value=20)

    def __init__(self, data: QueryDict, *, version: DatasetVersion, models: list[ModelLine]) -> None:
        super().__init__(data)
        self.asked = data
        self.rated: dict[int, float] = {}
        self.n_items = version.n_items
        # Stars as participants give them, which are mapped to the dataset's scale; on usage data there is one.
        self.is_usage = version.scale_low == version.scale_high
        self.points = ("1",) if self.is_usage else self.STARS
        self.scale = (version.scale_low, version.scale_high, version.scale_step) if self.is_usage else (1.0, 5.0, 1.0)
        choices = [(str(line.model.pk), f"{line.model.label} · {line.origin}") for line in models]
        self.fields["model"].choices = choices  # type: ignore[attr-defined]
        search = {"type": "search", "autocomplete": "off", "aria-controls": "found"}
        self.fields["q"].widget.attrs |= search

    def clean_model(self) -> list[int]:
        """Give the chosen models' primary keys, in the order of the address, none twice."""
        chosen = list(dict.fromkeys(map(int, self.cleaned_data["model"])))
        if len(chosen) > self.MOST_MODELS:
            raise forms.ValidationError(f"Choose at most {self.MOST_MODELS} models; {len(chosen)} are chosen.")
        return chosen

    def clean_n(self) -> int:
        """Give the length, 5 where the address names none."""
        return int(self.cleaned_data["n"] or self.fields["n"].initial)

    def clean(self) -> dict[str, Any]:
        """Read the ratings out of the address."""
        for name, value in self.data.items():
            found = self.RATING.fullmatch(name)
            if found is None or not value:  # an empty one is not rated
                continue
            index = int(found[1])
            if index >= self.n_items:
                self.add_error(
                    None, f"There is no item {index} in this version; they run from 0 to {self.n_items - 1}."
                )
            elif value not in self.points:
                self.add_error(
                    None, f"{value!r} is no rating; item {index} takes {self.points[0]} to {self.points[-1]}."
                )
            else:
                self.rated[index] = self.scale[0] if self.is_usage else float(value)
        if len(self.rated) > self.MOST_RATED:
            self.add_error(None, f"Rate at most {self.MOST_RATED} items here; {len(self.rated)} are rated.")
        return self.cleaned_data


class CompareForm(forms.Form):
    """Two runs to put side by side."""

    a = forms.ModelChoiceField(label="Run A", queryset=EvaluationRun.objects.none(), empty_label=None)
    b = forms.ModelChoiceField(label="Run B", queryset=EvaluationRun.objects.none(), empty_label=None)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("a", "b"):
            self.fields[name].queryset = succeeded_runs()  # type: ignore[attr-defined]
            self.fields[name].label_from_instance = run_line  # type: ignore[attr-defined]


def run_line(run: EvaluationRun) -> str:
    """Write a run in one line."""
    return f"Run {run.pk} · {run.version} · {run.protocol['name']} · {run.split['name']} · seed {run.seed}"
