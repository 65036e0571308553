"""What the forms of the participant pages hold, read as answers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from django.http import QueryDict

from studies.questionnaires import schema
from studies.selectors.asking import DECLINE_RAW, WAS, in_one

YES, NO = "yes", "no"
_WHOLE = re.compile(r"-?[0-9]{1,9}")
_DECIMAL = re.compile(r"-?[0-9]{1,9}([.,][0-9]{1,9})?")


def whole_number(raw: str) -> int | None:
    """Return the whole number that a form or an address says, or None where it says none.

    `str.isdigit` would let "²" through, and a text of thousands of digits: int refuses both.
    """
    return int(raw) if _WHOLE.fullmatch(raw) else None


def _number(raw: str) -> int | float | None:
    """Return the number that a form says; an Italian writes a comma where an Englishman writes a point."""
    if (whole := whole_number(raw)) is not None:
        return whole
    return float(raw.replace(",", ".")) if _DECIMAL.fullmatch(raw) else None


def value_of(question: schema.Question, raw: str) -> Any:
    """Return a radio button's or field's raw value as the answer it stands for; None where it is empty."""
    raw = raw.strip()
    if not raw:
        return None
    if raw == DECLINE_RAW and question.may_decline:
        return dict(schema.DECLINED)
    if question.kind == schema.YES_NO:
        return {YES: True, NO: False}.get(raw, raw)
    if question.kind == schema.SLIDER or (question.kind == schema.NUMBER and question.decimals):
        number = _number(raw)
        return raw if number is None else number
    if question.is_on_points or question.kind == schema.NUMBER:
        whole = whole_number(raw)
        return raw if whole is None else whole
    return raw


def _posted(question: schema.Question, data: QueryDict) -> tuple[bool, Any]:
    """Return whether the form holds the question, and what it says of it."""
    key = question.key
    if data.get(f"{key}--declined") and question.may_decline:
        return True, dict(schema.DECLINED)
    if question.kind == schema.MATRIX:
        names = {row.key: f"{key}.{row.key}" for row in question.rows}
        rows = {row: value_of(question, str(data[name])) for row, name in names.items() if name in data}
        given = {row: value for row, value in rows.items() if value is not None}
        return bool(rows) or key in data, given or None
    said = _own_words(question, data)
    if key not in data and said is None:
        return False, None
    if question.kind == schema.MULTIPLE:
        # A hidden field of the same name says that the question was there though no box is ticked.
        chosen = [raw for raw in data.getlist(key) if raw and not (question.other and raw == schema.OTHER)]
        return True, [*chosen, *([said] if said else [])] or None
    return True, value_of(question, str(data[key])) if said is None else said


def _own_words(question: schema.Question, data: QueryDict) -> dict[str, str] | None:
    """Return the answer in one's own words, where that was chosen.

    Words without the choice choose it, unless another button is pressed: the page's script sends none, and a reader
    without it need not say twice that they wrote something.
    """
    if not question.other:
        return None
    words = data.get(f"{question.key}.{schema.OTHER}", "").strip()
    pressed = [raw for raw in data.getlist(question.key) if raw]
    may_speak = question.kind == schema.MULTIPLE or not pressed
    return {schema.OTHER: words} if schema.OTHER in pressed or (words and may_speak) else None


def _is_untouched(question: schema.Question, data: QueryDict) -> bool:
    """Whether the form says of the question what its page was drawn with, which may be older than what is stored."""
    key = question.key
    if f"{WAS}{key}" not in data:
        return False
    names = [name for name in data if name in (key, f"{key}--declined") or name.startswith(f"{key}.")]
    said = in_one((name, value) for name in names for value in data.getlist(name))
    return said == str(data[f"{WAS}{key}"]).replace("\r\n", "\n")


def posted_answers(questions: Iterable[schema.Question], data: QueryDict) -> dict[str, Any]:
    """Return what a form says of the questions it holds: by key, None for what is left empty.

    A question that was left as its page showed it is not among them: another tab, or another device, may have
    answered it since, and who comes back by an id of another site is not shown what stands there.
    """
    found = {}
    for question in questions:
        if _is_untouched(question, data):
            continue
        is_there, value = _posted(question, data)
        if is_there:
            found[question.key] = value
    return found
