"""Questions on a page, and answers of simulated participants outside the answer model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from lxml import html

from studies.instrument.questionnaires.questions import IN_OWN_WORDS
from studies.instrument.questionnaires.schema import Questionnaire
from studies.instrument.scales import negative_members
from studies.simulation.answer_model import SimulatedPerson

DECLINED = "--declined"
OTHER = "other"
TYPED = ".//input[not(@type='radio' or @type='checkbox' or @type='hidden' or @type='range' or ancestor::label)]"
BOXES = f".//input[@type='checkbox'][not(contains(@name, '{DECLINED}'))]"
OWN_WORDS = f".//label//input[@type='text'][contains(@name, '.{OTHER}')]"
QUESTIONS = ".//*[contains(concat(' ', normalize-space(@class), ' '), ' question ')]"


def _in_own_words(question: html.HtmlElement, name: str) -> dict[str, str]:
    """Return the text for the "other" field, if the question has one."""
    return dict.fromkeys(question.xpath(f"{OWN_WORDS}[@name='{name}.{OTHER}']/@name"), IN_OWN_WORDS)


def key_of(question: html.HtmlElement) -> str:
    """Return the question's key."""
    return str(question.get("id", "")).removeprefix("question-")


def is_answered(question: html.HtmlElement) -> bool:
    """Whether all controls of the question have a value."""
    if question.xpath(f".//input[@checked][@value='{DECLINED}' or contains(@name, '{DECLINED}')]"):
        return True
    radios = set(question.xpath(".//input[@type='radio']/@name"))
    if radios != set(question.xpath(".//input[@type='radio'][@checked]/@name")):
        return False
    has_other = question.xpath(f".//input[@checked][@value='{OTHER}']")
    if has_other and question.xpath(f"{OWN_WORDS}[not(@value) or @value='']"):
        return False
    boxes = question.xpath(BOXES)
    if boxes and not any(box.get("checked") is not None for box in boxes):
        return False
    if question.xpath(".//select[not(option[@selected][@value != ''])]"):
        return False
    return all(field.get("value") for field in question.xpath(TYPED)) and all(
        (area.text or "").strip() for area in question.xpath(".//textarea")
    )


def form_values(form: html.HtmlElement) -> dict[str, Any]:
    """Return the form's current values as a browser would send them."""
    data: dict[str, Any] = {}
    for control in form.xpath(f"{QUESTIONS}[not(@hidden)]//input | {QUESTIONS}[not(@hidden)]//select"):
        name, kind = control.get("name"), control.get("type")
        if not name or kind == "hidden":
            continue
        if kind in ("radio", "checkbox"):
            if control.get("checked") is not None:
                data.setdefault(name, []).append(control.get("value", ""))
        elif control.tag == "select":
            data[name] = control.xpath("string(option[@selected]/@value)")
        else:
            data[name] = control.get("value", "")
    return data


@dataclass
class Respondent:
    """A simulated participant: fixed answers, the answering person once assigned, and a random stream for the rest.

    From the questionnaire it knows which statements are negatively worded and what may be typed. People infer both from
    the wording; a program cannot.
    """

    answers: Mapping[str, Any]
    rng: np.random.Generator
    questionnaire: Questionnaire
    person: SimulatedPerson | None = None

    def __post_init__(self) -> None:
        self.questions = {question.key: question for question in self.questionnaire.questions}
        self.negative = negative_members(self.questionnaire)

    def answer_to(self, question: html.HtmlElement, *, is_about: bool = False) -> dict[str, Any]:
        """Return the person's answer to a question, as form data for its controls."""
        data: dict[str, Any] = {name: self.answers[name] for name in question.xpath(".//@name") if name in self.answers}
        for name in dict.fromkeys(question.xpath(".//input[@type='radio']/@name")):
            if name not in data:
                data[name] = self._button(question, name, is_about=is_about)
            if data[name] == OTHER:
                data = _in_own_words(question, name) | data
        boxes = question.xpath(f"{BOXES}[not(@data-exclusive)]")
        if boxes and boxes[0].get("name", "") not in data:
            (around,) = question.xpath(".//div[contains(@class, 'rows')]")
            least, most = int(around.get("data-least", 1)), int(around.get("data-most", len(boxes)))
            values = [box.get("value", "") for box in boxes]
            n = int(self.rng.integers(max(1, least), min(most, len(values)) + 1))
            name = boxes[0].get("name", "")
            data[name] = [values[i] for i in sorted(self.rng.permutation(len(values))[:n])]
            if OTHER in data[name]:
                data |= _in_own_words(question, name)
        for control in question.xpath(".//select"):
            name = control.get("name", "")
            offered = [value for value in control.xpath(".//option/@value") if value not in ("", DECLINED)]
            if name not in data:
                data[name] = str(self.rng.choice(offered))
        for control in question.xpath(f"{TYPED} | .//textarea"):
            name = control.get("name", "")
            if name in data:
                continue
            if ranges := question.xpath(".//input[@type='range']"):
                data[name] = self._point(name, ranges[0])
            elif control.get("inputmode") or self.questions[name].required:
                data[name] = self.questions[name].simulated(lambda low, high: int(self.rng.integers(low, high + 1)))
        return data

    def _button(self, question: html.HtmlElement, name: str, *, is_about: bool) -> str:
        buttons = [b for b in question.xpath(f".//input[@type='radio'][@name='{name}']") if b.get("value") != DECLINED]
        values = [str(button.get("value", "")) for button in buttons]
        if is_about:
            return str(self.rng.choice(sorted({*values} - {"other"})))
        if self.person is not None and all(value.lstrip("-").isdigit() for value in values):
            answer = self.person.opinion(len(values), self.rng, name=name, is_negative=name in self.negative)
            return sorted(values, key=int)[int(answer.value) - 1]
        return str(self.rng.choice(values))

    def _point(self, key: str, line: html.HtmlElement) -> str:
        low, high = float(line.get("min", 0)), float(line.get("max", 100))
        step = float(line.get("step", 1))
        points = round((high - low) / step) + 1
        n = points // 2
        if self.person is not None:
            n = self.person.opinion(points, self.rng, name=key, is_negative=key in self.negative).value - 1
        return f"{low + n * step:.12g}"
