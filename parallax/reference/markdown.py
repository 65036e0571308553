"""Markdown: tables, and docstrings in the numpydoc style."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

_ROLE = re.compile(r":math:`([^`]+)`")
_LITERAL = re.compile(r"``([^`]+)``")
_MATH = re.compile(r"\.\. math::\s*(.*)")
_OPTIONAL_SECTIONS = frozenset({"Examples"})
_SECTIONS = (
    frozenset({"Parameters", "Returns", "Raises", "References", "Notes", "Yields", "See Also"}) | _OPTIONAL_SECTIONS
)


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    r"""Return a table; line breaks in cells become spaces, and vertical bars are escaped.

    Examples
    --------
    >>> print(table(("a", "b"), [("1|2", "3")]))
    | a | b |
    |---|---|
    | 1\|2 | 3 |
    """
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    lines += ["| " + " | ".join(_cell(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def _cell(text: str) -> str:
    return re.sub(r"(?<!\\)\|", r"\\|", " ".join(text.split())) or "—"


def code(text: str) -> str:
    """Return text as code; nothing for an empty text."""
    return f"`{text}`" if text else ""


def from_docstring(text: str, *, with_examples: bool = True) -> str:
    r"""Return a docstring as Markdown: formulas, literals, sections and examples.

    Examples
    --------
    >>> print(from_docstring("Mean of ``x``.\n\n.. math:: m = 1"))
    Mean of `x`.
    <BLANKLINE>
    ```math
    m = 1
    ```
    """
    blocks = _with_sections(_with_formulas(text.strip("\n").splitlines()), with_examples=with_examples)
    joined = "\n".join(blocks)
    return re.sub(r"\n{3,}", "\n\n", joined).strip()


def inline(text: str) -> str:
    """Return one paragraph of a docstring as Markdown."""
    return _LITERAL.sub(r"`\1`", _ROLE.sub(r"$`\1`$", text))


def _with_formulas(lines: Sequence[str]) -> Iterator[str]:
    """The lines, with each formula as a fenced block."""
    position = 0
    while position < len(lines):
        match = _MATH.match(lines[position].strip())
        position += 1
        if match is None:
            yield lines[position - 1]
            continue
        formula = [match[1]] if match[1] else []
        while position < len(lines) and (not lines[position].strip() or lines[position].startswith("    ")):
            if lines[position].strip():
                formula.append(lines[position].strip())
            elif formula:
                break
            position += 1
        yield from ("", "```math", *formula, "```", "")


def _with_sections(lines: Iterable[str], *, with_examples: bool) -> Iterator[str]:
    waiting = list(lines)
    section, is_fenced, is_example = "", False, False
    for number, line in enumerate(waiting):
        following = waiting[number + 1].strip() if number + 1 < len(waiting) else ""
        if line.strip() in _SECTIONS and following and set(following) == {"-"}:
            if is_example:
                yield "```"
            section, is_example = line.strip(), False
            if with_examples or section not in _OPTIONAL_SECTIONS:
                yield from ("", f"**{section}**", "")
            continue
        if set(line.strip()) == {"-"} or (section in _OPTIONAL_SECTIONS and not with_examples):
            continue
        if line.startswith("```"):
            is_fenced = not is_fenced
            yield line
            continue
        if section in _OPTIONAL_SECTIONS:
            starts = line.startswith(">>>") and not is_example
            ends = is_example and not line.strip()
            is_example = (is_example or starts) and not ends
            yield from (
                ("```pycon", line) if starts else ("```", "") if ends else (line if is_example else inline(line),)
            )
        elif section == "Parameters" and line and not line.startswith(" ") and not is_fenced:
            yield f"- `{line.strip()}`:"
        else:
            yield line if is_fenced else inline(line)
    if is_example:
        yield "```"
