"""The wording of a questionnaire: each text with its place, its replacement, and what differs besides wording.

Wording may be corrected while a study runs; everything else changes what answers mean. The questionnaire is plain data
throughout: a preset's YAML or a study's JSON.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from studies.instrument.measures import WATCHED
from studies.instrument.questionnaires.schema import blocks_in

WORDING = frozenset(
    {"text", "wordings", "help", "unit", "ends", "label", "name"}
)  # by language, or by branch and language
COUNTED = frozenset({"labels"})  # one text per scale point: only their number matters
PRESENT = frozenset({"other"})  # adds an answer option if present
PLAIN = {
    "text": "Question",
    "help": "Help text",
    "unit": "Unit",
    "other": "Label of the free-text answer",
}
LISTS = {"ends": ("Lowest point", "Highest point"), "labels": ()}


@dataclass(frozen=True)
class Wording:
    """One text of a questionnaire, in each of its languages.

    It is a text of `by_language`, or the text at a position of the list of each language.
    """

    name: str  # its place in the questionnaire, such as "after.why.text"; unique
    block: str  # name of the block, or "scales"
    key: str  # key of its question or scale
    label: str  # what it is, in words
    by_language: dict[str, Any]  # the part of the questionnaire that holds it
    position: int = -1  # in the list of a language; -1 for a plain text
    length: int = 0  # of the list of each language
    may_be_empty: bool = False  # whether the question does without it

    def text(self, language: str) -> str:
        """Return the text in a language; empty if there is none."""
        value = self.by_language.get(language)
        if self.position < 0:
            return str(value or "")
        return str(value[self.position]) if value else ""

    def is_missing(self, source: str, language: str) -> bool:
        """Whether the source language has a text, and the other has none."""
        return bool(self.text(source).strip()) and not self.text(language).strip()

    def put(self, language: str, text: str) -> None:
        """Replace the text in the questionnaire; an empty one is removed, and so is a list of empty ones."""
        value: str | list[str] = text
        if self.position >= 0:
            words = list(self.by_language.get(language) or [""] * self.length)
            words[self.position] = text
            value = words if any(words) else []
        if value:
            self.by_language[language] = value
        else:
            self.by_language.pop(language, None)


def wordings_of(questionnaire: Mapping[str, Any], *, consumed: str = "consumed") -> Iterator[Wording]:
    """Yield every wording of the questions and scales, in the order of the questionnaire.

    `consumed` is the study's past participle, in which labels of alternative wordings are put.

    Examples
    --------
    >>> questionnaire = {"after": [{"key": "why", "kind": "text", "text": {"en": "Why?"}}]}
    >>> [(wording.name, wording.label, wording.text("en")) for wording in wordings_of(questionnaire)]
    [('after.why.text', 'Question', 'Why?')]
    """
    for block in blocks_in(questionnaire):
        for question in questionnaire.get(block) or ():
            yield from _of_question(block, question, consumed)
    for scale in questionnaire.get("scales") or ():
        yield Wording(f"scales.{scale['key']}.name", "scales", scale["key"], "Name of the scale", scale["name"])


def n_missing(questionnaire: Mapping[str, Any], source: str, language: str) -> int:
    """Return the number of texts that the source language has and the other has not.

    Examples
    --------
    >>> n_missing({"after": [{"key": "why", "kind": "text", "text": {"en": "Why?"}}]}, "en", "it")
    1
    """
    return sum(wording.is_missing(source, language) for wording in wordings_of(questionnaire))


def with_wordings(questionnaire: Mapping[str, Any], texts: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    """Return the questionnaire with these texts; `texts` maps languages to names of wordings and their texts.

    Wordings that are not named stay as they are, and names of no wording are ignored.

    Examples
    --------
    >>> questionnaire = {"after": [{"key": "why", "kind": "text", "text": {"en": "Wy?", "it": "Perché?"}}]}
    >>> with_wordings(questionnaire, {"en": {"after.why.text": "Why?"}})["after"][0]["text"]["en"]
    'Why?'
    """
    changed = copy.deepcopy(dict(questionnaire))
    for wording in wordings_of(changed):
        for language, replacements in texts.items():
            text = replacements.get(wording.name)
            if text is not None and text != wording.text(language):
                wording.put(language, text)
    return changed


def _of_question(block: str, question: dict[str, Any], consumed: str) -> Iterator[Wording]:
    key = question["key"]
    stem = f"{block}.{key}"
    for name, label in PLAIN.items():
        if question.get(name):
            yield Wording(f"{stem}.{name}", block, key, label, question[name], may_be_empty=name == "help")
    for branch, texts in (question.get("wordings") or {}).items():
        case = consumed if branch == WATCHED else branch.replace("_", " ")
        yield Wording(f"{stem}.wordings.{branch}", block, key, f"Wording where {case}", texts)
    for name, labels in LISTS.items():
        yield from _of_list(f"{stem}.{name}", block, key, question.get(name) or {}, labels)
    for choice in question.get("choices") or ():
        value = choice["value"]
        yield Wording(f"{stem}.choices.{value}", block, key, f"Choice {value}", choice["label"])
    for row in question.get("rows") or ():
        yield Wording(f"{stem}.rows.{row['key']}", block, key, f"Row {row['key']}", row["text"])


def _of_list(stem: str, block: str, key: str, lists: dict[str, Any], labels: Sequence[str]) -> Iterator[Wording]:
    length = max((len(words) for words in lists.values()), default=0)
    for position in range(length):
        label = labels[position] if labels else f"Point {position + 1}"
        yield Wording(f"{stem}.{position}", block, key, label, lists, position, length)


def _bare(node: Any) -> Any:
    """Return part of a questionnaire without its wording."""
    if isinstance(node, Mapping):
        bare: dict[str, Any] = {}
        for name, value in node.items():
            if name in WORDING:
                continue
            if name in COUNTED:
                bare[name] = sorted({len(points) for points in value.values()})
            elif name in PRESENT:
                bare[name] = bool(value)
            else:
                bare[name] = _bare(value)
        return bare
    return [_bare(part) for part in node] if isinstance(node, list | tuple) else node


def reworded(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Return the keys of the questions and scales whose wording differs.

    Between the two `other_than_wording` finds no difference. In questionnaire order; empty if the wording is identical.
    """
    return [
        str(old["key"])
        for part in (*blocks_in(before), "scales")
        for old, new in zip(before.get(part, ()), after.get(part, ()), strict=True)
        if old != new
    ]


def other_than_wording(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Describe the differences between two questionnaires other than wording.

    One sentence per question, scale or setting; empty if answers to both mean the same. Both questionnaires are valid.
    """
    differences = []
    parts = (*blocks_in(before, after), "scales")
    for part in parts:
        was = {str(entry["key"]): entry for entry in before.get(part, ())}
        now = {str(entry["key"]): entry for entry in after.get(part, ())}
        what = "The scale" if part == "scales" else "The question"
        differences += [f"{what} {key!r} is gone." for key in was if key not in now]
        differences += [f"{what} {key!r} is new." for key in now if key not in was]
        shared = [key for key in was if key in now]
        if shared != [key for key in now if key in was]:
            differences.append(f"The order in the block {part!r} is another.")
        for key in shared:
            old, new = _bare(was[key]), _bare(now[key])
            names = sorted(name for name in {*old, *new} if old.get(name) != new.get(name))
            if names:
                differences.append(f"{what} {key!r} differs in {', '.join(names)}.")
    rest = sorted({*before, *after} - set(parts))
    differences += [f"The setting {name!r} differs." for name in rest if before.get(name) != after.get(name)]
    return differences
