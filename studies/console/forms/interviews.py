"""Forms of interview sessions: start, notes, the evaluator's questions, and what a study prepares for them."""

from __future__ import annotations

from typing import Any

from django import forms

from accounts.services.device_lock import LONGEST_PIN, SHORTEST_PIN
from core.form_fields import offer
from studies.instrument.questionnaires.conditions import as_text
from studies.instrument.questionnaires.kinds import Likert, LongText, Number, OneChoice, YesNo
from studies.instrument.questionnaires.schema import Question
from studies.models import Interview, Study
from studies.participation.services.interviews import LONGEST_LABEL, LONGEST_NOTE
from studies.recruitment.selectors.recruitment import InterviewPlace, places_of

RATING_5, RATING_7 = "likert_5", "likert_7"
KIND_LABELS = [
    (RATING_5, "Rating from 1 to 5"),
    (RATING_7, "Rating from 1 to 7"),
    (OneChoice.kind, "One of several answers"),
    (YesNo.kind, "Yes or no"),
    (Number.kind, "Whole number"),
    (LongText.kind, "Text"),
]


def _note(label: str, help_text: str = "") -> forms.CharField:
    area = forms.Textarea(attrs={"rows": 3})
    return forms.CharField(label=label, required=False, max_length=LONGEST_NOTE, widget=area, help_text=help_text)


class InterviewForm(forms.Form):
    """An interviewer's notes before a session, and the PIN of the device."""

    place = forms.ChoiceField(required=False)
    label = forms.CharField(
        label="Label of the interviewee",
        required=False,
        max_length=LONGEST_LABEL,
        help_text="Your own label for this session. No name is needed.",
    )
    note = _note("Note before the session", "Only members of the study see it.")
    pin = forms.CharField(
        label="PIN for this device",
        required=False,
        max_length=LONGEST_PIN,
        widget=forms.PasswordInput(attrs={"inputmode": "numeric", "autocomplete": "off"}),
    )

    def __init__(self, study: Study, data: Any = None, *, has_pin: bool = False, **options: Any) -> None:
        super().__init__(data, **options)
        places = places_of(study)
        if places:
            listed = [(place.code, place.label) for place in places]
            offer(self, "place", [("", "–"), *listed])
        else:
            del self.fields["place"]
        digits = f"{SHORTEST_PIN} to {LONGEST_PIN} digits, to unlock the device after a session."
        self.fields["pin"].help_text = (
            f"This device has a PIN. To change it, enter {digits}"
            if has_pin
            else f"{digits} Empty: your password unlocks it."
        )

    def session(self) -> dict[str, str]:
        return {name: self.cleaned_data.get(name, "") for name in ("place", "label", "note")}


class NotesForm(forms.Form):
    """The notes of a session."""

    before = _note("Note before the session")
    after = _note("Note after the session")


class EvaluationForm(forms.Form):
    """The evaluator's questions about one session."""

    def __init__(self, questions: tuple[Question, ...], interview: Interview, data: Any = None) -> None:
        super().__init__(data, prefix="evaluator")
        for question in questions:
            field = _field(question)
            field.label = next(iter(question.text.values()))
            field.required = question.required
            answer = interview.evaluation.get(question.key)
            field.initial = ("no", "yes")[answer] if isinstance(answer, bool) else answer
            self.fields[question.key] = field


def _field(question: Question) -> forms.Field:
    if question.is_on_points:
        points = [(point, str(point)) for point in range(question.minimum, question.maximum + 1)]
        return forms.TypedChoiceField(choices=points, coerce=int, empty_value=None, widget=forms.RadioSelect)
    if question.fixed_answers:
        answers = [(as_text(value), label) for value, label in question.fixed_answers]
        return forms.TypedChoiceField(
            choices=answers, coerce=question.parsed, empty_value=None, widget=forms.RadioSelect
        )
    if question.choices:
        choices = [(choice.value, next(iter(choice.label.values()))) for choice in question.choices]
        return forms.ChoiceField(choices=choices, widget=forms.RadioSelect)
    if isinstance(question, Number):
        number = forms.FloatField if question.decimals else forms.IntegerField
        return number(min_value=question.minimum, max_value=question.maximum)
    return forms.CharField(
        max_length=question.max_length,
        widget=forms.Textarea(attrs={"rows": 3}) if question.kind == LongText.kind else forms.TextInput,
    )


class PlacesForm(forms.Form):
    """The places of a study's interviews, one per line."""

    lines = forms.CharField(
        label="Places, one per line",
        required=False,
        max_length=20_000,
        widget=forms.Textarea(attrs={"rows": 5, "spellcheck": "false"}),
        help_text="code = label, for example: <code>lab = Laboratory, room 12</code>. The data hold the code.",
    )

    def __init__(self, study: Study, data: Any = None) -> None:
        lines = "\n".join(f"{place.code} = {place.label}" for place in places_of(study))
        super().__init__(data, initial={"lines": lines})

    def places(self) -> list[InterviewPlace]:
        lines = [line.partition("=") for line in self.cleaned_data["lines"].splitlines() if line.strip()]
        return [InterviewPlace(code.strip(), label.strip()) for code, _sign, label in lines]


class EvaluatorQuestionForm(forms.Form):
    """A new question for the evaluator."""

    text = forms.CharField(label="Question", max_length=300)
    key = forms.CharField(max_length=40, help_text="Its name in exports: lower-case letters, digits and underscores.")
    kind = forms.ChoiceField(label="Answer", choices=KIND_LABELS)
    options = forms.CharField(
        label="Answers to choose from",
        required=False,
        max_length=4000,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
        help_text="Only for “One of several answers”. One per line: code = label.",
    )
    required = forms.BooleanField(label="An answer is required", required=False, initial=True)

    def question(self, language: str) -> dict[str, Any]:
        """The question as the questionnaire stores it, with its texts in one language."""
        cleaned = self.cleaned_data
        kind = cleaned["kind"]
        question: dict[str, Any] = {
            "key": cleaned["key"],
            "kind": Likert.kind if kind in (RATING_5, RATING_7) else kind,
            "text": {language: cleaned["text"]},
            "required": cleaned["required"],
        }
        if question["kind"] == Likert.kind:
            question |= {"minimum": 1, "maximum": 5 if kind == RATING_5 else 7}
        if kind == OneChoice.kind:
            lines = [line.partition("=") for line in cleaned["options"].splitlines() if line.strip()]
            question["choices"] = [
                {"value": code.strip(), "label": {language: label.strip() or code.strip()}} for code, _s, label in lines
            ]
        return question
