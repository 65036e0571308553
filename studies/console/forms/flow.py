"""What participants go through, as the stage asks for it: known items, their scale, recommendations, and how many lists
each participant meets.
"""

from __future__ import annotations

from typing import Any

from django import forms

from core.form_fields import offer
from studies.console.forms.setting_fields import setting_field
from studies.console.forms.stage_form import StageForm
from studies.design.presets.loader import sendable_answers
from studies.design.selectors.placeholders import key_in_words
from studies.design.services.canaries import remote_conditions
from studies.design.services.design import change_design
from studies.flow_pages import FLOW_2011, IN_TURN, NOTHING, ONE, ONE_LIST, SHOWN, SIDE_BY_SIDE, Lists, written_flow
from studies.instrument.flow import flow_of, questionnaire_of
from studies.known_items import FIVE_STARS, HALF_STARS, LIKES, SCALES, SEVEN_POINTS, TEN_POINTS
from studies.models import Study
from studies.settings import LONGEST_PREPARATION, StudySettings
from studies.usage_data import CHOICE, STARS, is_usage

ORDER_LABELS = {
    "random": "At random for each participant",
    "popularity": "Most rated first",
    "title": "By title",
    "strata": "Mixed evenly from well known to little known, at random for each participant",
    "entropy0": "Most informative first: entropy of ratings with missing ones (entropy0), the same for everyone",
    "pop-entropy": "Most informative first: log popularity × entropy of ratings, the same for everyone",
}
ELICITATION_LABELS = {
    STARS: "Rate them",
    CHOICE: "Choose them",
}
SCALE_LABELS = {
    FIVE_STARS.key: "1 to 5, stars",
    HALF_STARS.key: "0.5 to 5, stars in half steps",
    SEVEN_POINTS.key: "1 to 7, numbers",
    TEN_POINTS.key: "1 to 10, numbers",
    LIKES.key: "Dislike or like",
}
LISTS_LABELS = {ONE: "One list", IN_TURN: "Each condition’s list in turn", SIDE_BY_SIDE: "Two lists side by side"}
NOT_COMPARED = "Lists side by side need questions that compare them. Create a study from the template two-lists."
COMPARED = "The pages of this study compare lists side by side. Create another study for lists one by one."
REMOTE_SETTINGS = ("preparation_seconds", "sent_answers")
PLAIN_SETTINGS = ("ratings_asked", "list_length", "item_order", "idle_minutes")


class FlowForm(StageForm):
    """Elicitation, recommendations and the order of items of a draft."""

    folded = {
        "Known items": ("elicitation", "elicitation_scale", "taken_from", "ratings_most", "item_order"),
        "Interruptions": ("idle_minutes",),
        "Remote recommender": REMOTE_SETTINGS,
    }
    elicitation = setting_field(
        forms.ChoiceField, StudySettings, "elicitation", choices=list(ELICITATION_LABELS.items())
    )
    elicitation_scale = setting_field(
        forms.ChoiceField, StudySettings, "elicitation_scale", choices=list(SCALE_LABELS.items())
    )
    taken_from = setting_field(forms.FloatField, StudySettings, "taken_from")
    ratings_asked = setting_field(forms.IntegerField, StudySettings, "ratings_asked")
    ratings_most = setting_field(forms.IntegerField, StudySettings, "ratings_most", required=False)
    list_length = setting_field(forms.IntegerField, StudySettings, "list_length")
    item_order = setting_field(forms.ChoiceField, StudySettings, "item_order", choices=list(ORDER_LABELS.items()))
    shown = forms.ChoiceField(
        label="Each participant meets", choices=list(LISTS_LABELS.items()), widget=forms.RadioSelect
    )
    leave_out = forms.BooleanField(label="Leave out items of earlier lists", required=False)
    pairs_each = forms.IntegerField(label="Pairs to compare (empty: every pair)", required=False, min_value=1)
    idle_minutes = setting_field(forms.IntegerField, StudySettings, "idle_minutes")
    preparation_seconds = setting_field(
        forms.FloatField,
        StudySettings,
        "preparation_seconds",
        required=False,
        min_value=0,
        max_value=LONGEST_PREPARATION,
    )
    sent_answers = setting_field(forms.MultipleChoiceField, StudySettings, "sent_answers")

    def __init__(self, study: Study, data: Any = None) -> None:
        design = study.design
        lists = design.flow.lists
        initial = {
            "shown": lists.shown,
            "leave_out": lists.leave_out == SHOWN or not lists.is_several,
            "pairs_each": lists.pairs_each,
            **design.model_dump(include={*PLAIN_SETTINGS, *REMOTE_SETTINGS, "elicitation", "elicitation_scale"}),
            # An exact number is left empty: otherwise a higher number of items would contradict a field that is folded.
            "ratings_most": design.items_asked.most if design.items_asked.is_range else None,
            "taken_from": design.model_copy(update={"elicitation": STARS}).lowest_taken,
        }
        super().__init__(study, data, initial=initial)
        if not is_usage(study.dataset_version):
            del self.fields["taken_from"]
        if remote_conditions(study):
            sendable = sendable_answers(questionnaire_of(study))
            offer(self, "sent_answers", [(key, key_in_words(key, design)) for key in sendable])
        else:
            for name in REMOTE_SETTINGS:
                del self.fields[name]

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        if self.cleaned_data.get("elicitation") == CHOICE:  # nothing is rated
            for name in ("taken_from", "elicitation_scale"):
                self.errors.pop(name, None)
                self.cleaned_data.pop(name, None)
        fewest, most = self.cleaned_data.get("ratings_asked"), self.cleaned_data.get("ratings_most")
        if fewest and most and most < fewest:
            self.add_error("ratings_most", f"At least {fewest}. Leave it empty to ask for exactly {fewest}.")
        is_compared = self.study.design.flow.lists.shown == SIDE_BY_SIDE
        if is_compared != (self.cleaned_data.get("shown") == SIDE_BY_SIDE):
            self.add_error("shown", COMPARED if is_compared else NOT_COMPARED)
        scale = SCALES.get(self.cleaned_data.get("elicitation_scale", ""), FIVE_STARS).scale
        if "taken_from" in self.cleaned_data and not scale.holds(self.cleaned_data["taken_from"]):
            self.add_error("taken_from", f"A rating {scale.words()}.")
        return cleaned

    def save(self, actor: Any) -> None:
        cleaned = self.cleaned_data
        changed = {name: cleaned[name] for name in PLAIN_SETTINGS}
        changed["ratings_most"] = cleaned["ratings_most"] or cleaned["ratings_asked"]
        if cleaned["elicitation"] != self.study.design.elicitation:
            changed["elicitation"] = cleaned["elicitation"]
        if "elicitation_scale" in cleaned:
            changed["elicitation_scale"] = cleaned["elicitation_scale"]
        if "sent_answers" in cleaned:
            changed |= {name: cleaned[name] for name in REMOTE_SETTINGS}
        if lowest := cleaned.get("taken_from"):
            changed["taken_from"] = int(lowest) if lowest.is_integer() else lowest
        if (lists := self._lists()) != self.study.design.flow.lists:
            flow = flow_of(self.study)
            is_plain = lists == ONE_LIST and flow.pages in (FLOW_2011, (*FLOW_2011[:-2], FLOW_2011[-1]))
            changed["flow"] = None if is_plain else written_flow(flow, lists)
        change_design(study=self.study, actor=actor, settings=changed)

    def _lists(self) -> Lists:
        cleaned = self.cleaned_data
        if cleaned["shown"] == ONE:
            return ONE_LIST
        pairs = {"pairs_each": cleaned["pairs_each"]} if cleaned["shown"] == SIDE_BY_SIDE else {}
        return Lists(shown=cleaned["shown"], leave_out=SHOWN if cleaned["leave_out"] else NOTHING, **pairs)
