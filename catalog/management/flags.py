"""The flags of the import commands, by the options of the import service that they set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from catalog.importers.detector.file_syntax import SHOWN_DELIMITERS
from catalog.importers.proposal import Proposal, as_recipe
from core.errors import ParallaxError

# Options that name a column: --user-column, …
COLUMNS = ("user", "item", "rating", "time", "count", "event", "utility", "items_id", "title", "author", "year", "plot",
           "image", "trailer", "item_utility")  # fmt: skip
FLAGS: Mapping[str, str] = {
    "on_bad_row": "--fix all or --drop-bad-rows",
    "duplicates": "--keep-last",
    "fix": "--fix KIND",
    "format": "--format NAME",
    "usage": "--usage",
    "scale": "--scale LOW:HIGH:STEP",
    "zeros": "--zeros",
    "delimiter": "--delimiter CHARACTER",
    "decimal": "--decimal ,",
    "encoding": "--encoding NAME",
    "items_encoding": "--items-encoding NAME",
    "has_header": "--no-header",
    "items_file": "--items-file FILE",
    "features": "--feature KIND=COLUMN",
    "feature_separator": "--feature-separator TEXT",
    "events": "--events NAME,NAME",
    "not_rated": "--not-rated NUMBER",
    "zero": "--not-rated 0 or --scale LOW:HIGH:STEP",
    "time_format": "--time-format FORM",
    "quoting": "--quoting on|off",
    "bins": "--bins N",
    "merge_titles": "--merge-titles",
    **{name: f"--{name.replace('_', '-')}-column COLUMN" for name in COLUMNS},
}


def in_flags(refusal: ParallaxError) -> str:
    """A refusal of an import as a command prints it: options are named by their flags."""
    if "untaken" in refusal.extra:
        accepted = _listed(refusal.extra["taken"]) or "none of these options: its columns are fixed"
        return (
            f"Format {refusal.extra['format']} does not take {_listed(refusal.extra['untaken'])}; it takes {accepted}."
        )
    flags = _listed(refusal.extra.get("options", ()))
    return f"{refusal} Use {flags}." if flags else str(refusal)


def in_words(proposal: Proposal) -> str:
    """What would be done, with the recipe."""
    lines = []
    for part in proposal.parts:
        written = part.written
        how = [SHOWN_DELIMITERS.get(written.delimiter, written.delimiter), written.encoding.upper()]
        header = ["header"] if written.lines_before else ["no header"]
        how_written = [written.records, *(how + header if written.records == "table" else [])]
        rows = (
            [f"{proposal.sample['rows']:,} rows"] if part.use == "ratings" and proposal.sample.get("is_whole") else []
        )
        lines.append(f"{', '.join(part.files[:3])}: {', '.join([*how_written, *rows])}, for the {part.use}")
        width = max((len(column.name) for column in part.columns), default=0)
        lines += [
            f"  {column.name:<{width}}  {column.role or '-':<16} {column.confidence}: {column.evidence}".removesuffix(
                ": "
            )
            for column in part.columns
        ]
    lines += [*(f"Not read: {name}." for name in proposal.unused), *proposal.doubts]
    return "\n".join([*lines, "", as_recipe(proposal)])


def questions_in_words(proposal: Proposal) -> str:
    """The questions of a proposal, each with the options that answer it; empty where there are none."""
    lines = []
    for question in proposal.questions:
        answers = "; ".join(f"{label}: {_answer(question.about, value)}" for label, value in question.answers)
        lines.append(f"{question.text} {answers}")
    return "\n".join(lines)


def _answer(about: str, value: str) -> str:
    if value == "usage":
        return "--usage"
    flags = {"zero": "--scale" if ":" in value else "--not-rated", "rating": "--rating-column"}
    return f"{flags.get(about, '--' + about.replace('_', '-'))} {value}"


def _listed(options: Iterable[str]) -> str:
    return ", ".join(FLAGS[name] for name in options)
