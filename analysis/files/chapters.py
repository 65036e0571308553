"""The chapters of a report: what belongs together, each a page of the console."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from documents.blocks import Section
from documents.tables import Side


@dataclass(frozen=True)
class Chapter:
    """A chapter with its sections; `about` says what it answers."""

    key: str
    title: str
    about: str
    side: Side = ""
    sections: tuple[Section, ...] = ()


_CHAPTERS = (
    Chapter("perceived", "Perceived", "What participants answered, and which algorithms differ.", "perceived"),
    Chapter("objective", "Objective", "What the offline run measured of the same models.", "objective"),
    Chapter("comparison", "Comparison", "Where the two sides agree, and where they contradict each other."),
    Chapter("sample", "Sample and flow", "Who took part, and who was excluded or lost."),
    Chapter(
        "robustness", "Robustness", "Whether the conclusions depend on items, covariates, exclusions or the model."
    ),
    Chapter("method", "Method", "What was planned, done and computed."),
    Chapter("supplement", "Supplement", "Everything else that was computed, each table once."),
)
# The sections of the main report by chapter; all others are the supplement's.
_CHAPTER_OF = {
    "measures": "perceived",
    "metrics": "objective",
    **dict.fromkeys(("agreement", "contrast", "equivalence"), "comparison"),
    **dict.fromkeys(("other-analyses", "exclusions"), "robustness"),
    "sample": "sample",
    **dict.fromkeys(("plan", "method"), "method"),
}
SUPPLEMENT = "supplement"
KEYS = tuple(chapter.key for chapter in _CHAPTERS)


def chapters_of(sections: Iterable[Section]) -> tuple[Chapter, ...]:
    """Return the chapters that have sections, in their order; within a chapter sections keep theirs.

    Examples
    --------
    >>> [chapter.key for chapter in chapters_of([Section("method", "Method"), Section("agreement", "Agreement")])]
    ['comparison', 'method']
    """
    filled = tuple(sections)
    chapters = []
    for chapter in _CHAPTERS:
        own = tuple(section for section in filled if _CHAPTER_OF.get(section.key, SUPPLEMENT) == chapter.key)
        if own:
            chapters.append(Chapter(chapter.key, chapter.title, chapter.about, chapter.side, own))
    return tuple(chapters)
