"""The form of a new study: its title, its template, its data, and how its models are chosen."""

from __future__ import annotations

from typing import Any

from django import forms

from catalog.forms.upload_limits import MOST_DATASET, FilesField, file_size
from catalog.models import Dataset, DatasetVersion
from catalog.selectors.datasets import newest_versions
from core.form_fields import offer
from evaluation.models import EvaluationRun
from evaluation.run_spec import named_algorithms
from evaluation.selectors.results import is_pooled
from evaluation.services.run_proposals import (
    COMPARED,
    QUICK,
    REPLICATION,
    TITLES,
    Proposal,
    labels_in_words,
    proposals_for,
    run_of_proposal,
)
from studies.design.presets.loader import load_preset, preset_keys
from studies.team.selectors.studies import runs_to_study

CUSTOM = "custom"
BEFORE_DATA = {  # what the cards say before there is a dataset whose size decides
    QUICK: "Three models: popularity, neighbourhoods, latent factors.",
    REPLICATION: "The seven models of Cremonesi et al. (2011).",
}
DEFAULT_TEMPLATE = "cremonesi-2011"


class _RunChoice(forms.ModelChoiceField[EvaluationRun]):
    def label_from_instance(self, run: EvaluationRun) -> str:
        label = f"Run {run.pk} on {run.version.dataset} · {run.n_algorithms} algorithms"  # type: ignore[attr-defined]
        return label if is_pooled(run) else f"{label} · {run.protocol['name']}"


class NewStudyForm(forms.Form):
    """A study from a template, on new files, on a dataset, or on the models of a finished run."""

    title = forms.CharField(max_length=200)
    slug = forms.SlugField(max_length=80, required=False, label="Link", help_text="From the title, if empty.")
    template = forms.ChoiceField(required=False, widget=forms.RadioSelect, initial=DEFAULT_TEMPLATE)
    dataset = forms.ChoiceField(required=False)
    uploads = FilesField(
        label="File", most=MOST_DATASET, help_text=f"CSV or another table, up to {file_size(MOST_DATASET)}."
    )
    kind = forms.ChoiceField(label="Models", widget=forms.RadioSelect)
    run = _RunChoice(queryset=EvaluationRun.objects.none(), empty_label=None, required=False)

    def __init__(self, *args: Any, researcher: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.newest = newest_versions(Dataset.objects.usable_by(researcher))
        offer(
            self, "dataset", [("", "Upload a file"), *((name, str(version)) for name, version in self.newest.items())]
        )
        offer(self, "run", runs_to_study(researcher))
        self.templates = [load_preset(key) for key in preset_keys()]
        offer(self, "template", [(each.key, each.title) for each in self.templates])
        chosen = self["template"].value() or DEFAULT_TEMPLATE
        self.chosen = next((each for each in self.templates if each.key == chosen), self.templates[0])
        kinds = TITLES if self.chosen.key == DEFAULT_TEMPLATE else {QUICK: TITLES[QUICK]}
        offer(self, "kind", [*kinds.items(), (CUSTOM, "Custom")])
        kind = self.initial.get("kind") or (CUSTOM if self.initial.get("run") else QUICK)
        self.initial["kind"] = kind if kind in {*kinds, CUSTOM} else QUICK
        version = self.newest.get(str(self["dataset"].value() or ""))
        proposals = proposals_for(version, self.chosen.quick_algorithms or COMPARED) if version else {}
        self.proposals = {key: proposal for key, proposal in proposals.items() if key in kinds}
        before = dict(BEFORE_DATA)
        if algorithms := self.chosen.quick_algorithms:
            before[QUICK] = f"{labels_in_words(named_algorithms(algorithms))}."
        self._before_data = [{"key": key, "title": kinds[key], "summary": before[key]} for key in kinds]

    @property
    def cards(self) -> list[dict[str, str]] | list[Proposal]:
        """The cards of the proposals, which know the dataset once it is chosen."""
        return list(self.proposals.values()) if self["dataset"].value() else self._before_data

    def clean_template(self) -> str:
        return self.cleaned_data["template"] or DEFAULT_TEMPLATE

    def clean(self) -> dict[str, Any]:
        """A finished run for a custom study; else a dataset that has the proposal, or files."""
        values = super().clean() or {}
        kind, dataset = values.get("kind"), values.get("dataset")
        if kind == CUSTOM:
            if not values.get("run"):
                self.add_error("run", "Choose a finished run, or start one first.")
        elif dataset and kind not in self.proposals:
            self.add_error("kind", "This dataset has too few ratings for these models.")
        elif not dataset and not values.get("uploads") and "uploads" not in self.errors:
            # Programs have no field for files: they import them first.
            self.add_error("uploads" if "uploads" in self.fields else "dataset", "Choose a file, or a dataset.")
        return values

    @property
    def version(self) -> DatasetVersion:
        """The version that the study is about: of the chosen run, or the newest of the chosen dataset."""
        cleaned = self.cleaned_data
        return cleaned["run"].version if cleaned["kind"] == CUSTOM else self.newest[cleaned["dataset"]]

    @property
    def described(self) -> dict[str, str]:
        """What the study is called, its link and its template."""
        return {name: self.cleaned_data[name] for name in ("title", "slug", "template")}

    def run_for(self, owner: Any) -> EvaluationRun:
        """The chosen run, or that of the chosen proposal, which may have begun only now."""
        cleaned = self.cleaned_data
        if cleaned["kind"] == CUSTOM:
            return cleaned["run"]  # type: ignore[no-any-return]
        return run_of_proposal(proposal=self.proposals[cleaned["kind"]], version=self.version, owner=owner)
