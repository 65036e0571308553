"""Forms of the console's recruiting pages; what they mean is checked by the services."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from studies.enums import Entrance, StudyStatus
from studies.models import Study
from studies.recruiting import exits
from studies.recruiting.lists import MOST_ENTRIES
from studies.recruiting.registry import KEYS, NAMES
from studies.recruiting.submissions import LARGEST
from studies.selectors.console import readable_studies
from studies.selectors.recruiting import HowRecruited
from studies.selectors.texts import languages_of
from studies.services.entry_limits import MOST_PER_NETWORK
from studies.services.interviews import LONGEST_NOTE
from studies.services.recruiting import LONGEST_GAP, MOST_ENTERING

CODE_LABELS = {
    exits.NO_CODE: "No code",
    exits.STATIC: "One code for everybody",
    exits.UNIQUE: "A code of each participant's own",
}
ENTRANCE_LABELS = {
    Entrance.OPEN: "Anybody with the study's link",
    Entrance.PERSONAL: "Only by personal links",
    Entrance.GUEST: "Only ids on the guest list",
}


def _decoded(file: Any) -> str:
    try:
        return str(file.read().decode("utf-8-sig"))
    except UnicodeDecodeError as problem:
        raise ValidationError("This file is no text in UTF-8. Save it as CSV in UTF-8.") from problem


class _ListForm(forms.Form):
    """A list, pasted or uploaded."""

    text = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 4}), strip=False)
    file = forms.FileField(required=False, label="Or a file", help_text="CSV or text; the first column counts.")

    def clean_file(self) -> str:
        """Read the file."""
        file = self.cleaned_data["file"]
        if file is None:
            return ""
        if file.size > LARGEST:
            raise ValidationError(f"The file has {file.size:,} bytes; at most {LARGEST:,} are read.")
        return _decoded(file)

    @property
    def entries(self) -> str:
        """What was given, the file before what was pasted."""
        return self.cleaned_data.get("file") or self.cleaned_data.get("text") or ""


class PanelForm(forms.Form):
    """Where participants come from, and who may enter."""

    panel = forms.ChoiceField(choices=[(key, NAMES[key]) for key in KEYS])
    entrance = forms.ChoiceField(label="Who may enter", choices=list(ENTRANCE_LABELS.items()))
    person = forms.CharField(
        label="Parameters that name a person",
        required=False,
        max_length=500,
        help_text="For another site: with commas between, such as pid. Empty: participant_label.",
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
            "Known by a panel's id, somebody may go on within this time. By their personal link they always may. "
            "Empty: however long."
        ),
    )

    def __init__(self, recruiting: HowRecruited, data: Any = None) -> None:
        panel, gap = recruiting.panel, recruiting.longest_gap
        is_generic = panel.key == "generic"
        initial = {
            "panel": panel.key,
            "entrance": recruiting.entrance,
            "person": ", ".join(panel.person) if is_generic else "",
            "submission": ", ".join(panel.submission) if is_generic else "",
            "longest_gap_minutes": None if gap is None else int(gap.total_seconds() // 60),
        }
        super().__init__(data, initial=initial)
        self.order_fields(["panel", "entrance", "longest_gap_minutes", "person", "submission"])

    def changes(self) -> dict[str, Any]:
        """The cleaned values as `set_panel` takes them."""
        said = self.cleaned_data
        names = {
            name: [part.strip() for part in said[name].split(",") if part.strip()] for name in ("person", "submission")
        }
        return {
            "panel": said["panel"],
            "entrance": said["entrance"],
            "names": names,
            "longest_gap_minutes": said["longest_gap_minutes"],
        }


class ExcludedStudiesForm(forms.Form):
    """Studies whose participants are not admitted."""

    studies = forms.MultipleChoiceField(
        label="Not those who took part in",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=(
            "Participants are recognised by the panel’s id, so the link has to carry it. They leave by the exit "
            "“Screened out”, and nothing about them is stored."
        ),
    )

    def __init__(self, study: Study, researcher: Any, excluded: Sequence[int], data: Any = None) -> None:
        offered = list(readable_studies(researcher).exclude(pk=study.pk).exclude(status=StudyStatus.DRAFT))
        self.n_hidden = len(set(excluded) - {one.pk for one in offered})
        chosen = [one.slug for one in offered if one.pk in excluded]
        super().__init__(data, initial={"studies": chosen})
        self.fields["studies"].choices = [(one.slug, f"{one.title} ({one.slug})") for one in offered]  # type: ignore[attr-defined]


class LimitsForm(forms.Form):
    """How many may enter within ten minutes."""

    most_per_network = forms.IntegerField(
        label="Participants per network in ten minutes", required=False, min_value=1, max_value=MOST_ENTERING
    )
    pause_at = forms.IntegerField(
        label="Pause the study at so many in ten minutes", required=False, min_value=1, max_value=MOST_ENTERING
    )

    def __init__(self, recruiting: HowRecruited, pause_default: int, data: Any = None) -> None:
        initial = {"most_per_network": recruiting.most_per_network, "pause_at": recruiting.pause_at}
        super().__init__(data, initial=initial)
        self.fields["most_per_network"].help_text = (
            f"A university or company often has one network address for everyone. Raise it before a whole lecture "
            f"takes part. Empty: {MOST_PER_NETWORK}."
        )
        self.fields[
            "pause_at"
        ].help_text = (
            f"Owners get a notice at half of it. You can resume the study. Empty: {pause_default:,}, from the targets."
        )


class ExitForm(forms.Form):
    """One way out."""

    code = forms.ChoiceField(label="Completion code", choices=list(CODE_LABELS.items()))
    static_code = forms.CharField(label="The code for everybody", required=False, max_length=exits.LONGEST_CODE)
    url = forms.CharField(
        label="Address to go on to",
        required=False,
        max_length=exits.LONGEST_URL,
        help_text="{code} stands for the code, {id} for the panel's id, {NAME} for a parameter of the link.",
    )

    def __init__(self, study: Study, outcome: str, exit_: exits.Exit, data: Any = None) -> None:
        self.outcome, self.label = outcome, exits.NAMES[outcome]
        self.languages, self.kept = languages_of(study), dict(exit_.text)
        initial: dict[str, Any] = {"code": exit_.code, "static_code": exit_.static_code, "url": exit_.url}
        initial |= {f"text_{language}": exit_.text.get(language, "") for language in self.languages}
        super().__init__(data, initial=initial, prefix=outcome)
        if outcome == exits.QUOTA_FULL:
            self.fields["code"].help_text = (
                "Most people find the study full before they begin. They have no code of their own: give one for "
                "everybody, or they see words and address alone, and no address with {code} in it."
            )
        for language in self.languages:
            self.fields[f"text_{language}"] = forms.CharField(
                label=f"Own words ({language})",
                required=False,
                max_length=exits.LONGEST_TEXT,
                widget=forms.Textarea(attrs={"rows": 3}),
                help_text="Markdown. Empty: the study's own text for this ending.",
            )

    def exit(self) -> exits.Exit:
        """The cleaned values as an exit."""
        said = self.cleaned_data
        # Browsers send a line break as two characters.
        text = {language: said[f"text_{language}"].replace("\r\n", "\n") for language in self.languages}
        text = {**self.kept, **text}  # a language that a draft is not offered in keeps its words
        return exits.Exit(said["code"], said["static_code"], said["url"], text)


class LinksForm(_ListForm):
    """Personal links to be made."""

    n = forms.IntegerField(label="How many", required=False, min_value=1, max_value=MOST_ENTRIES, initial=20)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["text"].label = "Or one for each of these"
        self.fields["text"].help_text = "A label a line; it helps you to tell the links apart, and is erased with them."
        self.order_fields(["n", "text", "file"])


class GuestsForm(_ListForm):
    """The guest list."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["text"].label = "Ids, one a line"
        self.fields["text"].help_text = "They replace the list there is. Capitals and small letters are told apart."


class SubmissionsForm(forms.Form):
    """A panel's list, and how its columns are called where that is not known."""

    file = forms.FileField(label="The panel's list (CSV)")
    person = forms.CharField(label="Column of participants' ids", required=False, max_length=200)
    submission = forms.CharField(label="Column of submissions' ids", required=False, max_length=200)
    status = forms.CharField(label="Column of states", required=False, max_length=200)
    code = forms.CharField(label="Column of completion codes", required=False, max_length=200)
    COLUMNS = ("person", "submission", "status", "code")

    def clean_file(self) -> bytes:
        """Read the file."""
        file = self.cleaned_data["file"]
        if file.size > LARGEST:
            raise ValidationError(f"The file has {file.size:,} bytes; at most {LARGEST:,} are read.")
        return bytes(file.read())

    @property
    def named(self) -> Mapping[str, str]:
        """The columns that were named."""
        return {name: self.cleaned_data[name] for name in self.COLUMNS}


class InterviewForm(forms.Form):
    """What an interviewer notes before a session."""

    place = forms.CharField(required=False, max_length=LONGEST_NOTE, help_text="Such as: university, room 12.")
    label = forms.CharField(
        label="Label of the interviewee",
        required=False,
        max_length=LONGEST_NOTE,
        help_text="Your own sign for this session. No name is needed.",
    )
