"""Shipped blocks of questions that can be added to a study."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from core.errors import ParameterError
from studies.questionnaires.document import read_document

FOLDER = Path(__file__).parent / "question_blocks"


@dataclass(frozen=True)
class Block:
    """Questions with their scales, and what they are for."""

    key: str
    title: str
    description: str
    questionnaire: dict[str, Any]


def block_keys() -> tuple[str, ...]:
    """Names of the shipped blocks, in alphabetical order."""
    return tuple(sorted(file.stem for file in FOLDER.glob("*.yaml")))


def load_block(key: str) -> Block:
    """Read a block; ParameterError names the known ones, or what is wrong with its content."""
    if key not in block_keys():
        raise ParameterError(f"There is no block {key!r}; the blocks are {', '.join(block_keys())}.")
    text = (FOLDER / f"{key}.yaml").read_text(encoding="utf-8")
    head, _rule, document = text.partition("\n---\n")
    told = yaml.safe_load(head)
    return Block(key, told["title"], told["description"], read_document(document))
