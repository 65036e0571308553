"""The wording of a questionnaire, text by text: everything is listed, and put back where it was."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest

from studies.design.presets.loader import block_keys, load_block, load_preset, preset_keys
from studies.instrument.questionnaires.schema import blocks_in, questionnaire_from
from studies.instrument.questionnaires.wording import (
    COUNTED,
    PRESENT,
    WORDING,
    other_than_wording,
    reworded,
    with_wordings,
    wordings_of,
)
from tests.factories.questionnaires import every_kind

pytestmark = pytest.mark.unit

SHIPPED = [
    *(pytest.param(load_preset(key).questionnaire, id=key) for key in preset_keys()),
    *(pytest.param(load_block(key).questionnaire, id=key) for key in block_keys()),
    pytest.param(json.loads(json.dumps(every_kind())), id="every kind"),  # as stored: no part is shared
]


def _parts(questionnaire: dict[str, Any]) -> dict[str, Any]:
    """The blocks and scales, whose wording may change."""
    return {name: questionnaire[name] for name in (*blocks_in(questionnaire), "scales") if name in questionnaire}


def _worded(node: Any, *, inside: bool = False) -> Iterator[str]:
    """Every text of the fields that are wording, found by their names alone."""
    if isinstance(node, dict):
        for name, part in node.items():
            yield from _worded(part, inside=inside or name in WORDING | COUNTED | PRESENT)
    elif isinstance(node, list):
        for part in node:
            yield from _worded(part, inside=inside)
    elif inside:
        yield node


def _texts(questionnaire: dict[str, Any], mark: str = "") -> dict[str, dict[str, str]]:
    """Every wording by language and name, followed by a mark."""
    texts: dict[str, dict[str, str]] = {}
    for wording in wordings_of(questionnaire):
        for language in wording.by_language:
            assert wording.name not in texts.setdefault(language, {})
            texts[language][wording.name] = wording.text(language) + mark
    return texts


@pytest.mark.parametrize("questionnaire", SHIPPED)
def test_what_is_listed_and_put_back_is_equal(questionnaire: dict[str, Any]) -> None:
    before = copy.deepcopy(questionnaire)
    assert with_wordings(questionnaire, _texts(questionnaire)) == before
    bare = {language: dict.fromkeys(texts, "") for language, texts in _texts(questionnaire).items()}
    emptied = with_wordings(questionnaire, bare)
    assert not list(_worded(_parts(emptied)))
    assert questionnaire == before  # the questionnaire itself is not changed


@pytest.mark.parametrize("questionnaire", SHIPPED)
def test_every_text_is_listed_once_and_is_nothing_but_wording(questionnaire: dict[str, Any]) -> None:
    listed = [text for texts in _texts(questionnaire).values() for text in texts.values()]
    assert sorted(listed) == sorted(_worded(_parts(questionnaire)))
    marked = with_wordings(questionnaire, _texts(questionnaire, "*"))
    assert all(text.endswith("*") for text in _worded(_parts(marked)))
    assert other_than_wording(questionnaire, marked) == []
    keys = [entry["key"] for part in _parts(questionnaire).values() for entry in part]
    assert reworded(questionnaire, marked) == keys
    questionnaire_from(marked, blocks_in(marked))


@pytest.mark.parametrize("questionnaire", SHIPPED)
def test_one_changed_text_changes_its_question_alone(questionnaire: dict[str, Any]) -> None:
    for wording in wordings_of(questionnaire):
        for language in wording.by_language:
            changed = with_wordings(questionnaire, {language: {wording.name: "Other words"}})
            assert reworded(questionnaire, changed) == [wording.key]
            assert sum(a != b for a, b in zip(_flat(questionnaire), _flat(changed), strict=True)) == 1


def _flat(questionnaire: dict[str, Any]) -> list[str]:
    """Every text in order: a replaced one keeps its place among the languages."""
    return list(_worded(_parts(questionnaire)))


def test_only_a_help_text_may_be_empty() -> None:
    optional = {wording.label for wording in wordings_of(every_kind()) if wording.may_be_empty}
    assert optional <= {"Help text"}
    asked = {"after": [{"key": "why", "kind": "text", "text": {"en": "Why?"}, "help": {"en": "In a word"}}]}
    assert [(wording.label, wording.may_be_empty) for wording in wordings_of(asked)] == [
        ("Question", False),
        ("Help text", True),
    ]
    assert with_wordings(asked, {"en": {"after.why.help": ""}, "it": {"no.such": "x"}})["after"][0]["help"] == {}
