"""Parsing of the forms on participant pages into answers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.http import QueryDict

from core.errors import ParameterError
from studies.instrument.questionnaires import schema
from studies.participation.selectors.question_presenter import DECLINE_RAW, WAS, in_one


def value_of(question: schema.Question, raw: str) -> Any:
    """Return the answer for the raw value of a radio button or field; None if it is empty."""
    raw = raw.strip()
    if not raw:
        return None
    if raw == DECLINE_RAW and question.may_decline:
        return dict(schema.DECLINED)
    return question.parsed(raw)


def _posted(question: schema.Question, data: QueryDict) -> tuple[bool, Any]:
    key = question.key
    if data.get(f"{key}--declined") and question.may_decline:
        return True, dict(schema.DECLINED)
    if question.rows:
        names = {row.key: f"{key}.{row.key}" for row in question.rows}
        rows = {row: value_of(question, str(data[name])) for row, name in names.items() if name in data}
        answered_rows = {row: value for row, value in rows.items() if value is not None}
        return bool(rows) or key in data, answered_rows or None
    own_words = _own_words(question, data)
    if key not in data and own_words is None:
        return False, None
    if question.takes_several:
        # A hidden field of the same name marks the question as present when no box is ticked.
        chosen = [raw for raw in data.getlist(key) if raw and not (question.other and raw == schema.OTHER)]
        return True, [*chosen, *([own_words] if own_words else [])] or None
    return True, value_of(question, str(data[key])) if own_words is None else own_words


def _own_words(question: schema.Question, data: QueryDict) -> dict[str, str] | None:
    """Return the free-text answer ("other"), if the participant chose it.

    Text without the choice counts as choosing it, unless another button is pressed. The page's script sends no such
    text; participants without the script need not select the option as well.
    """
    if not question.other:
        return None
    words = data.get(f"{question.key}.{schema.OTHER}", "").strip()
    pressed = [raw for raw in data.getlist(question.key) if raw]
    may_speak = question.takes_several or not pressed
    return {schema.OTHER: words} if schema.OTHER in pressed or (words and may_speak) else None


def _is_untouched(question: schema.Question, data: QueryDict) -> bool:
    # What the page was rendered with may be older than the stored answer.
    key = question.key
    if f"{WAS}{key}" not in data:
        return False
    names = [name for name in data if name in (key, f"{key}--declined") or name.startswith(f"{key}.")]
    posted = in_one((name, value) for name in names for value in data.getlist(name))
    return posted == str(data[f"{WAS}{key}"]).replace("\r\n", "\n")


def _is_valid(question: schema.Question, value: Any) -> bool:
    try:
        if value is not None:
            question.check(value)
    except ParameterError:
        return False
    return True


def posted_answers(questions: Iterable[schema.Question], data: QueryDict) -> dict[str, Any]:
    """Return the answers of a form by question key, with None for fields left empty.

    Questions left unchanged are omitted: they may have been answered since in another tab or on another device, and
    participants who return with an id of another site are not shown the stored answers. What cannot be stored was
    not rendered but typed, and sent before by the page's script.
    """
    answers = {}
    for question in questions:
        is_present, value = _posted(question, data)
        if is_present and not (_is_untouched(question, data) and _is_valid(question, value)):
            answers[question.key] = value
    return answers
