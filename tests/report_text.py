"""The words of a report: everything that is read in it, but for the cells of its tables."""

from __future__ import annotations

from analysis.files.document import Chapter, document_of
from analysis.models import Report
from tests.approval import without_variable

# It names the versions of the packages that are installed.
LEFT_OUT = frozenset({"provenance"})


def words_of_chapter(chapter: Chapter) -> str:
    """A line for each heading, sentence, caption, title and note."""
    lines = []
    for section in chapter.sections:
        lines += ["", f"## {section.title}"]
        for block in section.blocks:
            lines += [text for text in (block.heading, block.text, *block.points) if text]
            for figure in block.figures:
                lines += [f"Figure: {figure.spec['usermeta']['title']}", figure.caption]
            if block.table is not None:
                columns = " | ".join(column.name for column in block.table.columns)
                lines += [f"Table: {block.table.title} [{columns}]", block.table.note]
    return "\n".join(line for line in lines if line or line == "").strip() + "\n"


def text_of_report(report: Report) -> str:
    """The first screen and every chapter, without dates and digests."""
    document = document_of(report)
    facts = [f"{fact.heading}: {fact.number} ({fact.evidence})" for fact in document.facts]
    screen = ["".join(run.text for run in document.headline), *document.evidence, document.scope, *facts]
    chapters = [
        words_of_chapter(Chapter(chapter.key, chapter.title, chapter.about, sections=kept))
        for chapter in document.chapters
        if (kept := tuple(section for section in chapter.sections if section.key not in LEFT_OUT))
    ]
    return without_variable("\n".join(["\n".join(filter(None, screen)) + "\n", *chapters]))
