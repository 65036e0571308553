"""The form that makes a run; what it means is checked by the service."""

from __future__ import annotations

from typing import Any

from django import forms

from catalog.selectors.datasets import dataset_lines
from evaluation.models import EvaluationRun
from evaluation.protocols.registry import PROTOCOLS, TASKS
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

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"label_suffix": "", **kwargs})
        names = [(line.dataset.name, f"{line.dataset} · version {line.newest.number}") for line in dataset_lines()]
        choices = algorithm_choices()
        self.fields["dataset"].choices = names  # type: ignore[attr-defined]
        self.fields["algorithms"].choices = choices  # type: ignore[attr-defined]
        self.fields["algorithms"].initial = [text for text, _ in choices if text.partition(":")[0] in STUDY]

    def protocol_settings(self) -> dict[str, Any]:
        """Give the protocol's name with those of the form's settings that it has."""
        name = self.cleaned_data["protocol"]
        known = ("relevant", "irrelevant", "negatives", "mode")
        return {"name": name} | {key: self.cleaned_data[key] for key in known if key in PROTOCOLS[name].settings}

    def algorithms_text(self) -> str:
        """Give the chosen algorithms as one text, ticked ones first."""
        chosen = [*self.cleaned_data["algorithms"], self.cleaned_data["more"].strip()]
        return ",".join(filter(None, chosen))


class CompareForm(forms.Form):
    """Two runs to put side by side."""

    a = forms.ModelChoiceField(label="Run A", queryset=EvaluationRun.objects.none(), empty_label=None)
    b = forms.ModelChoiceField(label="Run B", queryset=EvaluationRun.objects.none(), empty_label=None)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"label_suffix": "", **kwargs})
        for name in ("a", "b"):
            self.fields[name].queryset = succeeded_runs()  # type: ignore[attr-defined]
            self.fields[name].label_from_instance = run_line  # type: ignore[attr-defined]


def run_line(run: EvaluationRun) -> str:
    """Write a run in one line."""
    return f"Run {run.pk} · {run.version} · {run.protocol['name']} · {run.split['name']} · seed {run.seed}"
