"""Forms of the console's recruiting pages; what they mean is checked by the services."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from core.form_fields import offer
from core.outcomes import refusals_in
from studies.design.selectors.texts import language_name, languages_of
from studies.enums import Entrance, StudyStatus
from studies.models import Study
from studies.participation.services.entry_limits import MOST_PER_NETWORK, default_pause_threshold
from studies.participation.services.slot_queue import LEAST_PER_NETWORK, NETWORK_SHARE
from studies.recruitment.panels import exits
from studies.recruitment.panels.sites import GENERIC, KEYS, NAMES, NONE, panel_of
from studies.recruitment.panels.submissions import LARGEST, MOST_ENTRIES
from studies.recruitment.selectors.recruitment import recruiting_of
from studies.recruitment.services.recruitment import (
    LONGEST_GAP,
    MOST_ENTERING,
    MOST_PROGRESS_MINUTES,
    exclude_studies,
    set_exits,
    set_guests,
    set_limits,
    set_panel,
)
from studies.team.selectors.studies import readable_studies

CODE_LABELS = {
    exits.NO_CODE: "No code",
    exits.STATIC: "Fixed code",
    exits.UNIQUE: "Unique code per participant",
}


def _content(file: Any) -> bytes:
    if file.size > LARGEST:
        raise ValidationError(f"The file has {file.size:,} bytes; at most {LARGEST:,} are read.")
    return bytes(file.read())


class _ListForm(forms.Form):
    text = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 4}), strip=False)
    file = forms.FileField(required=False, label="Or a file", help_text="CSV or text; the first column counts.")
    text_label = "Ids, one per line"
    text_help = ""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["text"].label, self.fields["text"].help_text = self.text_label, self.text_help

    def clean_file(self) -> str:
        file = self.cleaned_data["file"]
        try:
            return "" if file is None else _content(file).decode("utf-8-sig")
        except UnicodeDecodeError as problem:
            raise ValidationError("This file is not UTF-8 text. Save it as CSV in UTF-8.") from problem

    @property
    def entries(self) -> str:
        return self.cleaned_data.get("file") or self.cleaned_data.get("text") or ""


class EntryFields(forms.Form):
    """Where participants come from, who may enter, and how many at once; `offer_studies` offers those to exclude."""

    GROUPS: Mapping[str, tuple[str, ...]] = {
        "Panel and entry": ("panel", "entrance", "person", "submission", "longest_gap_minutes"),
        "Entry limits": ("most_per_network", "pause_at", "progress_minutes"),
        "Earlier participants": ("studies",),
    }
    panel = forms.ChoiceField(choices=[(key, NAMES[key]) for key in KEYS])
    entrance = forms.ChoiceField(
        label="Entry",
        required=False,
        choices=[
            ("", "Default: panel id, or open link without a panel"),
            *(choice for choice in Entrance.choices if choice[0] != Entrance.INTERVIEW),
        ],
    )
    person = forms.CharField(
        label="Parameters with the participant id",
        required=False,
        max_length=500,
        help_text="For another site, separated by commas, such as pid. Empty: participant_label.",
    )
    submission = forms.CharField(
        label="Parameters that name a submission", required=False, max_length=500, help_text="For another site."
    )
    longest_gap_minutes = forms.IntegerField(
        label="Longest gap, minutes",
        required=False,
        min_value=1,
        max_value=LONGEST_GAP,
        help_text="For participants known by a panel’s id. Empty: no limit.",
    )
    most_per_network = forms.IntegerField(
        label="Participants per network in ten minutes",
        required=False,
        min_value=1,
        max_value=MOST_ENTERING,
        help_text=f"A university often has one address. Empty: {MOST_PER_NETWORK} consents, and "
        f"{NETWORK_SHARE:.0%} of the open slots, at least {LEAST_PER_NETWORK}, unfinished at once.",
    )
    pause_at = forms.IntegerField(
        label="Pause the study at this number in ten minutes", required=False, min_value=1, max_value=MOST_ENTERING
    )
    progress_minutes = forms.IntegerField(
        label="Minutes without progress until a slot yields",
        min_value=1,
        max_value=MOST_PROGRESS_MINUTES,
        help_text="Only while others wait.",
    )
    studies = forms.MultipleChoiceField(
        label="Exclude participants of",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="Recognised by the panel’s id in the link.",
    )

    @staticmethod
    def initial_entry(study: Study) -> dict[str, Any]:
        recruiting = recruiting_of(study)
        panel, gap = recruiting.panel, recruiting.longest_gap
        default = Entrance.OPEN if panel.key == NONE else Entrance.PANEL_ID
        own = panel.key == GENERIC
        return {
            "panel": panel.key,
            "entrance": "" if recruiting.entrance == default else recruiting.entrance,
            "person": ", ".join(panel.person) if own else "",
            "submission": ", ".join(panel.submission) if own else "",
            "longest_gap_minutes": "" if gap is None else int(gap.total_seconds() // 60),
            "most_per_network": recruiting.most_per_network or "",
            "pause_at": recruiting.pause_at or "",
            "progress_minutes": recruiting.progress_minutes,
            "studies": list(Study.objects.filter(pk__in=recruiting.excluded_studies).values_list("slug", flat=True)),
        }

    def offer_studies(self, study: Study, researcher: Any) -> None:
        """Offer the launched studies that the researcher reads, and say what an empty limit means."""
        pause = default_pause_threshold(study, recruiting_of(study))
        self.fields["pause_at"].help_text = f"Owners get a notice at half of it. Empty: {pause:,}."
        offered = readable_studies(researcher).exclude(pk=study.pk).exclude(status=StudyStatus.DRAFT)
        names = {each.slug: f"{each.title} ({each.slug})" for each in offered}
        offer(self, "studies", list(names.items()))
        chosen = self.initial["studies"]
        self.initial["studies"] = [slug for slug in chosen if slug in names]
        if n_hidden := len(chosen) - len(self.initial["studies"]):
            self.fields["studies"].help_text += f" {n_hidden:,} more, chosen by another owner, cannot be shown to you."
        elif not names:
            del self.fields["studies"]

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        panel, entrance = self.cleaned_data.get("panel", NONE), self.cleaned_data.get("entrance")
        if panel == NONE and entrance == Entrance.PANEL_ID:
            self.add_error("entrance", "Links carry no panel id without a panel.")
        with refusals_in(self, "person"):
            panel_of(panel, self._names())
        return cleaned

    def _names(self) -> dict[str, list[str]]:
        lists = {name: self.cleaned_data.get(name, "").split(",") for name in ("person", "submission")}
        return {name: [part.strip() for part in parts if part.strip()] for name, parts in lists.items()}

    def save_entry(self, study: Study, actor: Any) -> None:
        """Store what is entered. Raises as the services."""
        entry, limits = (
            {name: self.cleaned_data[name] for name in names}
            for names in (("panel", "entrance", "longest_gap_minutes"), self.GROUPS["Entry limits"])
        )
        set_panel(study=study, names=self._names(), actor=actor, **entry)
        set_limits(study=study, actor=actor, **limits)
        exclude_studies(study=study, slugs=self.cleaned_data.get("studies", ()), actor=actor)


class EntryForm(EntryFields):
    """The entry of a launched study."""

    def __init__(self, study: Study, researcher: Any, data: Any = None) -> None:
        super().__init__(data, initial=self.initial_entry(study))
        self.offer_studies(study, researcher)

    save = EntryFields.save_entry


class ExitForm(forms.Form):
    """The exit link of one outcome."""

    code = forms.ChoiceField(label="Completion code", choices=list(CODE_LABELS.items()))
    static_code = forms.CharField(label="Fixed code", required=False, max_length=exits.LONGEST_CODE)
    url = forms.CharField(
        label="Address to continue to",
        required=False,
        max_length=exits.LONGEST_URL,
        help_text="{code} is replaced by the code, {id} by the panel's id, {NAME} by a parameter of the link.",
    )

    def __init__(self, study: Study, outcome: str, exit_: exits.Exit, data: Any = None) -> None:
        self.outcome, self.label = outcome, exits.NAMES[outcome]
        self.languages, self.stored_texts = languages_of(study), dict(exit_.text)
        initial: dict[str, Any] = {"code": exit_.code, "static_code": exit_.static_code, "url": exit_.url}
        initial |= {f"text_{language}": exit_.text.get(language, "") for language in self.languages}
        super().__init__(data, initial=initial, prefix=outcome)
        if outcome == exits.QUOTA_FULL:
            self.fields["code"].help_text = (
                "Most people find the study full before they begin, so they have no unique code. Set a fixed code; "
                "otherwise they see only the text and the address, and no address that contains {code}."
            )
        for language in self.languages:
            self.fields[f"text_{language}"] = forms.CharField(
                label=f"Own text, {language_name(language)}",
                required=False,
                max_length=exits.LONGEST_TEXT,
                widget=forms.Textarea(attrs={"rows": 3}),
                help_text="You may use Markdown. Empty: the study’s own text for this outcome.",
            )

    def save(self, study: Study, actor: Any) -> None:
        cleaned = self.cleaned_data
        # Browsers send a line break as two characters.
        text = {language: cleaned[f"text_{language}"].replace("\r\n", "\n") for language in self.languages}
        text = {**self.stored_texts, **text}  # languages that a draft is not offered in keep their text
        exit_ = exits.Exit(cleaned["code"], cleaned["static_code"], cleaned["url"], text)
        set_exits(study=study, exits={self.outcome: exit_}, actor=actor)


class LinksForm(_ListForm):
    """Personal links to create."""

    n = forms.IntegerField(label="Number of links", required=False, min_value=1, max_value=MOST_ENTRIES, initial=20)
    text_label = "Or one for each label"
    text_help = "One label per line, to identify the links; labels are erased with them."
    field_order = ("n", "text", "file")


class GuestsForm(_ListForm):
    """The guest list."""

    text_help = "They replace the current list. Ids are case-sensitive."

    def save(self, study: Study, actor: Any) -> int:
        return set_guests(study=study, text=self.entries, actor=actor)


class SignedLinksForm(_ListForm):
    """Ids to sign."""

    replace_key = forms.BooleanField(
        label="Replace the key",
        required=False,
        help_text="All earlier signed links stop working, also for those who have begun.",
    )


class SubmissionsForm(forms.Form):
    """A panel's list, and its column names if the panel is unknown."""

    file = forms.FileField(label="The panel’s list (CSV)")
    person = forms.CharField(label="Column of participants’ ids", required=False, max_length=200)
    submission = forms.CharField(label="Column of submissions’ ids", required=False, max_length=200)
    status = forms.CharField(label="Column of states", required=False, max_length=200)
    code = forms.CharField(label="Column of completion codes", required=False, max_length=200)

    def clean_file(self) -> bytes:
        return _content(self.cleaned_data["file"])

    @property
    def column_names(self) -> Mapping[str, str]:
        return {name: value for name, value in self.cleaned_data.items() if name != "file"}
