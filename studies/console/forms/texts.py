"""The researcher's texts as form fields, by language."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from django import forms
from django.urls import reverse

from catalog.item_words import Words
from core.form_fields import offer
from studies.console.forms.setting_fields import setting_field
from studies.console.forms.stage_form import StageForm
from studies.design.selectors.placeholders import item_words
from studies.design.selectors.texts import (
    CHANGEABLE_TEXTS,
    CONSENT_TEXTS,
    NOTE_TEXTS,
    interface_languages,
    language_name,
    languages_in_translation,
    languages_of,
    written_languages,
)
from studies.design.services.design import change_design
from studies.models import Study
from studies.monitoring.services.exclusions import LONGEST_REASON
from studies.settings import LONGEST_NOUN, StudySettings

LONGEST_TEXT = 20_000
LONGEST_TITLE = 200
NOUNS = (
    ("one", "Item noun, singular", "For example film, book or product; replaces {item} in texts."),
    ("many", "Item noun, plural", "Replaces {items} in texts; {rated_items} is replaced by number and noun."),
    ("consumed", "Item verb, past participle", "For example watched, read or used; replaces {consumed} in texts."),
    ("consume", "Item verb, infinitive", "For example watch; replaces {consume} in texts."),
    ("consume_it", "Item verb, with a pronoun", "For example watch it; replaces {consume_it} in texts."),
    ("you_consume", "Item verb, said to the participant", "As after “do you”; replaces {you_consume} in texts."),
)
GENDER = ("gender", "Gender of the item noun", "Endings in braces agree with it, such as piaciut{o/a} in texts.")
GENDER_NAMES = (("m", "masculine"), ("f", "feminine"), ("n", "neuter"))
GENDERLESS = ("en",)
BOXES = "consent_boxes"


@dataclass(frozen=True)
class _Text:
    label: str
    rows: int
    help_text: str = "You may use Markdown."
    is_needed: bool = True


_TEXTS = {
    "title": _Text("Title", 1, ""),
    "consent": _Text("Consent", 12),
    BOXES: _Text("Boxes to tick", 3, "One line each"),
    "debriefing": _Text("Debriefing", 12),
    "screened_out": _Text("Text for participants who are screened out", 3),
    "quota_full": _Text("Text when the study is full", 3),
    "withdrawn": _Text(
        "Text after a withdrawal",
        3,
        "You may use Markdown. Empty: the page says that everything is erased.",
        is_needed=False,
    ),
    "contact": _Text(
        "Contact",
        3,
        "You may use Markdown. Empty: the e-mail address of the study’s first owner.",
        is_needed=False,
    ),
    "declined": _Text(
        "Text for those who decline",
        3,
        "You may use Markdown. Empty: the page says that nothing was stored.",
        is_needed=False,
    ),
    "closed": _Text("Text when the study has ended", 3),
}


def text_key(name: str, language: str) -> str:
    """The field of a text in a language."""
    return f"{name}_{language}"


def text_fields(
    study: Study, languages: Sequence[str], names: Sequence[str], *, may_be_empty: bool = False
) -> dict[str, forms.CharField]:
    """The fields of these texts, language by language; with `may_be_empty` the form validates them itself."""
    fields = {}
    for language in languages:
        own = study.texts.get(language, {})
        for name in names:
            kind = _TEXTS[name]
            is_line = kind.rows == 1
            attrs: dict[str, Any] = {"lang": language} | ({} if is_line else {"rows": kind.rows})
            fields[text_key(name, language)] = forms.CharField(
                label=f"{kind.label}, {language_name(language)}",
                required=kind.is_needed and not may_be_empty,
                max_length=LONGEST_TITLE if is_line else LONGEST_TEXT,
                widget=forms.TextInput(attrs) if is_line else forms.Textarea(attrs),
                help_text=kind.help_text,
                initial="\n".join(own.get(name, ())) if name == BOXES else own.get(name, ""),
            )
    return fields


def noun_key(form: str, language: str) -> str:
    """The field of a form of the item's noun or verb in a language."""
    return f"item_{form}_{language}"


def noun_forms(language: str) -> tuple[tuple[str, str, str], ...]:
    """The forms of the item's noun and verb that a language has: name, label and help."""
    return NOUNS if language in GENDERLESS else (*NOUNS, GENDER)


def noun_fields(study: Study, languages: Sequence[str]) -> dict[str, forms.Field]:
    """What an item is called and what people do with it, in each language."""
    fields: dict[str, forms.Field] = {}
    for language in languages:
        words = asdict(item_words(study.design, language))
        for name, label, help_text in noun_forms(language):
            options: dict[str, Any] = {"label": f"{label}, {language_name(language)}", "initial": words[name]}
            options |= {"help_text": help_text, "required": False}
            fields[noun_key(name, language)] = (
                forms.ChoiceField(choices=[("", "none"), *GENDER_NAMES], **options)
                if name == GENDER[0]
                else forms.CharField(max_length=LONGEST_NOUN, widget=forms.TextInput({"lang": language}), **options)
            )
    return fields


def written_nouns(form: forms.Form, study: Study, languages: Sequence[str]) -> dict[str, Any]:
    """The setting from the cleaned `noun_fields`; empty where every word is the item type's."""
    nouns: dict[str, Any] = dict(study.design.item_noun)
    for language in languages:
        written = {name: form.cleaned_data[noun_key(name, language)] for name, *_texts in noun_forms(language)}
        if Words(**written) != item_words(study.design, language):
            nouns[language] = {name: word for name, word in written.items() if word}
    return {"item_noun": nouns} if nouns else {}


def written_text(raw: str, before: str) -> str:
    """The text as it is stored: with one character for a line break, and as before if only outer blanks differ."""
    # Browsers send a line break as two characters.
    text = raw.replace("\r\n", "\n").strip()
    return before if text == before.strip() else text


def written_texts(form: forms.Form, languages: Sequence[str], names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The cleaned values of `text_fields`, by language and name, as the services take them."""
    texts: dict[str, dict[str, Any]] = {}
    for language in languages:
        own: dict[str, Any] = {}
        for name in names:
            key = text_key(name, language)
            text = written_text(str(form.cleaned_data[key]), str(form.fields[key].initial))
            own[name] = [line.strip() for line in text.splitlines() if line.strip()] if name == BOXES else text
        texts[language] = own
    return texts


def why_field() -> forms.CharField:
    """The reason for a change of a running study."""
    return forms.CharField(
        label="Reason for the change", max_length=LONGEST_REASON, widget=forms.Textarea(attrs={"rows": 2})
    )


class TextsForm(forms.Form):
    """Texts in each language of the study, and the reason for the change."""

    names: tuple[str, ...]

    def __init__(self, study: Study, data: Any = None) -> None:
        super().__init__(data)
        self.languages = tuple(study.design.languages)
        self.fields.update(text_fields(study, self.languages, self.names))
        self.fields["why"] = why_field()

    def texts(self) -> dict[str, dict[str, Any]]:
        return written_texts(self, self.languages, self.names)

    @property
    def side_by_side(self) -> list[list[forms.BoundField]]:
        return [[self[text_key(name, language)] for name in self.names] for language in self.languages]


class ConsentForm(TextsForm):
    """The consent text and its boxes."""

    names = CONSENT_TEXTS


class NotesForm(TextsForm):
    """The texts for participants who decline or come too late, and the contact."""

    names = NOTE_TEXTS
    prefix = "notes"


class DraftTextsForm(StageForm):
    """The languages that a draft is offered in, its texts, and what an item is called, in each language."""

    FIRST = ("title", "consent", BOXES)  # the other texts are folded
    languages = setting_field(forms.MultipleChoiceField, StudySettings, "languages")

    def __init__(self, study: Study, data: Any = None) -> None:
        self.written = tuple(dict.fromkeys([*written_languages(study), *interface_languages()]))
        offered = [code for code in study.design.languages if code in self.written]
        own: dict[str, forms.Field] = {
            **noun_fields(study, self.written),
            **text_fields(study, self.written, CHANGEABLE_TEXTS, may_be_empty=True),
        }
        initial = {key: field.initial for key, field in own.items()}
        super().__init__(study, data, initial={"languages": offered or list(languages_of(study)), **initial})
        self.translating = frozenset(languages_in_translation(study))
        self.fields.update(own)
        offer(self, "languages", [(code, language_name(code)) for code in self.written])

    @property
    def first(self) -> list[forms.BoundField]:
        """The texts that are not folded."""
        return [self[text_key(name, self.written[0])] for name in self.FIRST]

    @property
    def folded(self) -> dict[str, list[str]]:  # type: ignore[override]
        folds: dict[str, list[str]] = {}
        for code in self.written:
            name, nouns = language_name(code), [noun_key(form, code) for form, *_texts in noun_forms(code)]
            if code == self.written[0]:
                others = [text_key(text, code) for text in CHANGEABLE_TEXTS if text not in self.FIRST]
                folds |= {f"Other texts in {name}": others, f"Words for an item in {name}": nouns}
            else:
                is_offered = code in self.study.design.languages
                texts = [text_key(text, code) for text in CHANGEABLE_TEXTS]
                folds[f"Texts in {name}{'' if is_offered else ', not offered'}"] = [*texts, *nouns]
        return {**folds, "Languages": ["languages"]}

    def amendments(self) -> dict[str, str]:
        consent, notes = (reverse(f"studies:{page}", args=[self.study.slug]) for page in ("consent", "versions"))
        keys = [(name, text_key(name, code)) for code in self.study.design.languages for name in CHANGEABLE_TEXTS]
        return {key: f"{consent}#id_{key}" for name, key in keys if name in CONSENT_TEXTS} | {
            key: f"{notes}#id_{NotesForm.prefix}-{key}" for name, key in keys if name in NOTE_TEXTS
        }

    def clean(self) -> dict[str, Any] | None:
        """Require the texts of each offered language that was complete before; the launch requires the others."""
        cleaned = super().clean()
        complete = [code for code in self.cleaned_data.get("languages", ()) if code not in self.translating]
        needed = [name for name in CHANGEABLE_TEXTS if _TEXTS[name].is_needed]
        for key in (text_key(name, code) for code in complete for name in needed):
            if self.cleaned_data.get(key) == "":
                self.add_error(key, "Required in every language the study is offered in.")
        return cleaned

    def save(self, actor: Any) -> None:
        texts = written_texts(self, self.written, CHANGEABLE_TEXTS)
        changed = {"languages": self.cleaned_data["languages"], **written_nouns(self, self.study, self.written)}
        texts = {code: own for code, own in texts.items() if code in self.study.texts or any(own.values())}
        change_design(study=self.study, actor=actor, settings=changed, texts=texts)
