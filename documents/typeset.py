"""The letters of a sentence that are statistics and are set in italics: on a page, in a PDF, LaTeX or Markdown."""

from __future__ import annotations

import re
from typing import NamedTuple

# A letter of a statistic before its value: "p = .03", "F(6, 203)", and a heading that begins with one: "p, Holm".
_BEFORE_VALUE = r"(?<![\w&])(?:(?:p|d|W|M|SD|SE|n|N|τ_b|ρ)(?=\s[=<>≥≤]\s|\||\s\.?\d)|[rb](?=\s[=<>≥≤]\s)|[FHt](?=\(\d))"
_HEADING = r"^(?:n|M|SD|SE|p|t|F|SS|MS|df|τ_b|ρ)(?=$|,)"
_STATISTIC = re.compile(f"({_HEADING}|{_BEFORE_VALUE})")
_OPERATOR = re.compile(r" ([=<>≥≤]) ")
_HARD_SPACE = "\u00a0"


class Piece(NamedTuple):
    """A stretch of text that is set one way; ``τ_b`` in it is set as a tau with a subscript b."""

    text: str
    is_italic: bool = False


def pieces(text: str) -> list[Piece]:
    """Cut a sentence or a cell at its statistics, and bind expressions with hard spaces.

    Examples
    --------
    >>> [piece.text for piece in pieces("a test, p = .03") if piece.is_italic]
    ['p']
    """
    stretches = enumerate(_STATISTIC.split(text))  # every second one is a statistic
    bound = rf"{_HARD_SPACE}\1{_HARD_SPACE}"
    return [Piece(_OPERATOR.sub(bound, part), is_italic=bool(index % 2)) for index, part in stretches if part]
