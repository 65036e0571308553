"""Forms of the console's recruiting pages; what they mean is checked by the services."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from core.form_fields import offer
from studies.design.selectors.texts import language_name, languages_of
from studies.enums import Entrance, StudyStatus
from studies.models import Study
from studies.participation.services.entry_limits import MOST_PER_NETWORK
from studies.participation.services.slot_queue import LEAST_PER_NETWORK, NETWORK_SHARE
from studies.recruitment.panels import exits
from studies.recruitment.panels.sites import KEYS, NAMES, NONE
from studies.recruitment.panels.submissions import LARGEST, MOST_ENTRIES
from studies.recruitment.selectors.recruitment import RecruitmentSettings
from studies.recruitment.services.recruitment import LONGEST_GAP, MOST_ENTERING, MOST_PROGRESS_MINUTES
from studies.team.selectors.studies import readable_studies

CODE_LABELS = {
    exits.NO_CODE: "No code",
    exits.STATIC: "Fixed code",
    exits.UNIQUE: "Unique code per participant",
}
ENTRANCE_LABELS = {
    Entrance.OPEN: "Anyone with the study's link",
    Entrance.PERSONAL: "Only by personal links",
    Entrance.GUEST: "Only ids on the guest list",
    Entrance.SIGNED: "Only by signed links",
    Entrance.PANEL_ID: "Only with a panel id, once each",
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


class PanelForm(forms.Form):
    """Where participants come from, and who may enter."""

    panel = forms.ChoiceField(choices=[(key, NAMES[key]) for key in KEYS])
    entrance = forms.ChoiceField(
        label="Entry",
        required=False,
        choices=[("", "Default: with a panel, only with its id"), *ENTRANCE_LABELS.items()],
        help_text="Without a panel, the default is anyone with the study’s link.",
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
        help_text=(
            "Participants known by a panel's id can resume within this time; those with a personal link always can. "
            "Empty: no limit."
        ),
    )

    def __init__(self, study: Study, recruiting: RecruitmentSettings, data: Any = None) -> None:
        is_undecided = study.status == StudyStatus.DRAFT and recruiting.panel.key == NONE
        panel, gap = recruiting.panel, recruiting.longest_gap
        is_generic = panel.key == "generic"
        initial = {
            "panel": panel.key,
            "entrance": "" if is_undecided and recruiting.entrance == Entrance.OPEN else recruiting.entrance,
            "person": ", ".join(panel.person) if is_generic else "",
            "submission": ", ".join(panel.submission) if is_generic else "",
            "longest_gap_minutes": None if gap is None else int(gap.total_seconds() // 60),
        }
        super().__init__(data, initial=initial)
        self.order_fields(["panel", "entrance", "longest_gap_minutes", "person", "submission"])

    def changes(self) -> dict[str, Any]:
        cleaned = self.cleaned_data
        names = {
            name: [part.strip() for part in cleaned[name].split(",") if part.strip()]
            for name in ("person", "submission")
        }
        return {
            "panel": cleaned["panel"],
            "entrance": cleaned["entrance"],
            "names": names,
            "longest_gap_minutes": cleaned["longest_gap_minutes"],
        }


class ExcludedStudiesForm(forms.Form):
    """Studies whose participants are not admitted."""

    studies = forms.MultipleChoiceField(
        label="Exclude participants of",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=(
            "Participants are recognised by the panel’s id, so the link has to carry it. They leave by the exit "
            "“Screened out”, and nothing about them is stored."
        ),
    )

    def __init__(self, study: Study, researcher: Any, excluded: Sequence[int], data: Any = None) -> None:
        offered = list(readable_studies(researcher).exclude(pk=study.pk).exclude(status=StudyStatus.DRAFT))
        self.n_hidden = len(set(excluded) - {each.pk for each in offered})
        chosen = [each.slug for each in offered if each.pk in excluded]
        super().__init__(data, initial={"studies": chosen})
        offer(self, "studies", [(each.slug, f"{each.title} ({each.slug})") for each in offered])

    def changes(self) -> dict[str, Any]:
        return {"slugs": self.cleaned_data["studies"]}


class LimitsForm(forms.Form):
    """How many may enter within ten minutes."""

    most_per_network = forms.IntegerField(
        label="Participants per network in ten minutes", required=False, min_value=1, max_value=MOST_ENTERING
    )
    pause_at = forms.IntegerField(
        label="Pause the study at this number in ten minutes", required=False, min_value=1, max_value=MOST_ENTERING
    )
    progress_minutes = forms.IntegerField(
        label="Minutes without progress until a slot yields",
        min_value=1,
        max_value=MOST_PROGRESS_MINUTES,
        help_text="Only while others wait. An answer, a new page, a search or an opened detail is progress.",
    )

    def __init__(self, recruiting: RecruitmentSettings, pause_default: int, data: Any = None) -> None:
        initial = {
            "most_per_network": recruiting.most_per_network,
            "pause_at": recruiting.pause_at,
            "progress_minutes": recruiting.progress_minutes,
        }
        super().__init__(data, initial=initial)
        self.fields["most_per_network"].help_text = (
            f"A university or company often has one network address for everyone. Raise it before a whole lecture "
            f"takes part. Empty: {MOST_PER_NETWORK} give consent, and {NETWORK_SHARE:.0%} of the open slots, at least "
            f"{LEAST_PER_NETWORK}, are unfinished at the same time."
        )
        self.fields["pause_at"].help_text = (
            f"Counts who took a slot. Owners get a notice at half of it. You can resume the study. Empty: "
            f"{pause_default:,}, from the panel and the targets."
        )

    def changes(self) -> dict[str, Any]:
        return self.cleaned_data


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

    def changes(self) -> dict[str, Any]:
        cleaned = self.cleaned_data
        # Browsers send a line break as two characters.
        text = {language: cleaned[f"text_{language}"].replace("\r\n", "\n") for language in self.languages}
        text = {**self.stored_texts, **text}  # languages that a draft is not offered in keep their text
        exit_ = exits.Exit(cleaned["code"], cleaned["static_code"], cleaned["url"], text)
        return {"exits": {self.outcome: exit_}}


class LinksForm(_ListForm):
    """Personal links to create."""

    n = forms.IntegerField(label="Number of links", required=False, min_value=1, max_value=MOST_ENTRIES, initial=20)
    text_label = "Or one for each label"
    text_help = "One label per line, to identify the links; labels are erased with them."
    field_order = ("n", "text", "file")


class GuestsForm(_ListForm):
    """The guest list."""

    text_help = "They replace the current list. Ids are case-sensitive."

    def changes(self) -> dict[str, Any]:
        return {"text": self.entries}


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
    COLUMNS = ("person", "submission", "status", "code")

    def clean_file(self) -> bytes:
        return _content(self.cleaned_data["file"])

    @property
    def column_names(self) -> Mapping[str, str]:
        return {name: self.cleaned_data[name] for name in self.COLUMNS}
