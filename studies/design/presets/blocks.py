"""Shipped blocks of questions that can be added to a study."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from core.errors import ParameterError
from studies.instrument.questionnaires.document import read_document

FOLDER = Path(__file__).parent / "question_blocks"


@dataclass(frozen=True)
class Block:
    """Questions with their scales as a YAML document, and what they are for."""

    key: str
    title: str
    description: str
    document: str

    @property
    def questionnaire(self) -> dict[str, Any]:
        """The questions as plain data, read from the document each time."""
        return read_document(self.document)


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
    return Block(key, header["title"], header["description"], document)
