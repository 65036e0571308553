"""Shipped blocks of questions that can be added to a study: the library of scales."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from core.errors import ParameterError
from studies.instrument.questionnaires.document import read_document
from studies.instrument.questionnaires.schema import questionnaire_from
from studies.instrument.scales import scales_of

FOLDER = Path(__file__).parent / "question_blocks"


@dataclass(frozen=True)
class Block:
    """Questions with their scales as a YAML document, what they are for, and where they come from."""

    key: str
    title: str
    description: str
    citation: str  # in APA style
    licence: str  # a note, in sentences
    scoring: str  # how the scores are computed, in sentences
    wording: str  # who worded the questions in each language, in sentences
    document: str

    @property
    def questionnaire(self) -> dict[str, Any]:
        return read_document(self.document)

    @property
    def n_items(self) -> int:
        return sum(len(scale.members) for scale in scales_of(questionnaire_from(self.questionnaire)))

    @property
    def languages(self) -> tuple[str, ...]:
        return tuple(questionnaire_from(self.questionnaire).questions[0].text)


def block_keys() -> tuple[str, ...]:
    """Names of the shipped blocks, in alphabetical order."""
    return tuple(sorted(file.stem for file in FOLDER.glob("*.yaml")))


def load_block(key: str) -> Block:
    """Find a block; ParameterError names the known ones."""
    if key not in block_keys():
        raise ParameterError(f"There is no block {key!r}; the blocks are {', '.join(block_keys())}.")
    text = (FOLDER / f"{key}.yaml").read_text(encoding="utf-8")
    head, _rule, document = text.partition("\n---\n")
    header = yaml.safe_load(head)
    return Block(key=key, document=document, **header)
