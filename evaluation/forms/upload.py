"""The forms of a model that was learned elsewhere, and of the scores of another system."""

from __future__ import annotations

from typing import Any

from django import forms

from catalog.forms.upload_limits import MOST_MODEL, SizedFileField, file_size
from core.form_fields import offer
from core.outcomes import refusals_in
from evaluation.forms.parameter_fields import SEPARATORS, field_of
from evaluation.models import LONGEST_LABEL, RemoteRecommender
from evaluation.services.upload_jobs import LIMITS
from recommenders import registry

MODEL_LIMITS, SCORE_LIMITS = LIMITS.format("upload_model"), LIMITS.format("upload_scores")


class _TrainingForm(forms.Form):
    """Statements on what a model was learned from."""

    use_required_attribute = False
    learned_from = forms.RegexField(
        r"^[0-9a-f]{64}$",
        required=False,
        label="Digest of its training rows",
        help_text="training_hash of a run. Without it, tables say that the model may have seen the test ratings.",
    )

    are_strangers_unseen = forms.BooleanField(
        required=False,
        label="It saw no test user of the split strangers",
        help_text="Your statement, which Parallax cannot check: it was learned from no rating of the users on whom "
        "runs with this split test.",
    )


class CollectForm(_TrainingForm):
    """A remote recommender, and how fast it is asked for the lists of the test profiles of a run."""

    recommender = forms.ModelChoiceField(
        RemoteRecommender.objects.order_by("name"),
        to_field_name="name",
        help_text="An administrator registers one with the command register_recommender.",
    )
    per_second = forms.FloatField(label="Requests per second", min_value=0.1, max_value=1000, initial=10)
    field_order = ("recommender", "per_second")


class UploadModelForm(_TrainingForm):
    """A file with the parameters of the algorithm that reads it."""

    kind = forms.ChoiceField(label="Kind", widget=forms.RadioSelect)
    file = SizedFileField(
        most=MOST_MODEL, remedy=MODEL_LIMITS, help_text=f"CSV or .npz, at most {file_size(MOST_MODEL)}. {MODEL_LIMITS}"
    )
    field_order = ("kind", "file")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        kinds = {key: registry.algorithm(key) for key in registry.uploaded_keys()}
        offer(self, "kind", [(key, kind.title) for key, kind in kinds.items()])
        described = {key: kind.Params.described() for key, kind in kinds.items()}
        self.described = {key: [info for info in own if info.name != "upload"] for key, own in described.items()}
        self.fields.update({info.name: field_of(info) for own in self.described.values() for info in own})

    def clean(self) -> dict[str, Any]:
        """Check the parameters together."""
        if "," in self.cleaned_data.get("name", ""):
            self.add_error("name", SEPARATORS)
        if not self.errors:
            with refusals_in(self):
                registry.params_of(self.cleaned_data["kind"], self.params)
        return self.cleaned_data

    @property
    def params(self) -> dict[str, Any]:
        """The stated parameters of the chosen kind."""
        stated = self.cleaned_data
        own = self.described[stated["kind"]]
        return {i.name: stated[i.name] for i in own if stated.get(i.name) not in (None, "", i.default)}

    def chosen(self) -> dict[str, Any]:
        """The arguments of `request_upload`."""
        own = ("file", "kind", "learned_from", "are_strangers_unseen")
        return {**{name: self.cleaned_data[name] for name in own}, "params": self.params}


class UploadScoresForm(forms.Form):
    """Scores of another system for the cases of a run."""

    use_required_attribute = False
    name = forms.CharField(
        max_length=LONGEST_LABEL,
        label="Name of the system",
        help_text="In tables. Scores of the same name are replaced.",
    )
    file = SizedFileField(
        label="Scores",
        most=MOST_MODEL,
        remedy=SCORE_LIMITS,
        help_text=f"At most {file_size(MOST_MODEL)}. {SCORE_LIMITS}",
    )
    are_ratings = forms.BooleanField(
        required=False,
        label="The scores are predicted ratings",
        help_text="On the scale of the dataset. Without it, only their order counts.",
    )
