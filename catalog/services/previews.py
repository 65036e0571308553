"""What the pages of an import show of its files: the proposal, sampled rows, and the histogram of ratings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from catalog.importers.auto import propose
from catalog.importers.base import Limits, Policy, RatingScale
from catalog.importers.detector.file_syntax import InspectedFile, examined
from catalog.importers.options import Options
from catalog.importers.proposal import Part, Proposal, Question, of_json
from catalog.importers.scales import ScaleFinding, detect_scale, distinct_values, scale_of_text, usual_limits
from catalog.importers.sources import SourceFile, open_source
from catalog.models import DatasetVersion
from catalog.selectors.server_files import server_file
from catalog.selectors.shape import value_counts
from catalog.services.dataset_import import import_refusals
from catalog.services.item_facts import installed_languages
from catalog.services.upload_folders import RATINGS, file_in, folder_of
from core.errors import ParallaxError
from jobs.models import Job

UPLOAD_LIMITS = Limits(bytes_unpacked=2 * 2**30)
SERVER_LIMITS = Limits()
ROWS_SHOWN, POINTS_LABELLED, STRAYS_SHOWN, BINS = 8, 21, 5, 20


@dataclass(frozen=True, slots=True)
class Table:
    """The first rows of a part of the proposal."""

    part: Part
    rows: Sequence[tuple[int, tuple[str, ...]]]  # each with its line; 0: not known


@dataclass(frozen=True, slots=True)
class Bar:
    """A value of the histogram, or a gap in it."""

    label: str
    n: int
    state: str  # used, unused, none (not rated), stray, gap
    value: float = 0.0


@dataclass(frozen=True, slots=True)
class Histogram:
    """Ratings per point of the scale, or rows per count or event."""

    bars: Sequence[Bar]
    n: int
    is_whole: bool  # whether all rows are counted
    scale: RatingScale | None = None
    ends: Sequence[float] = ()  # where liked and disliked can end: the points, or the edges of equal parts
    finding: str = ""  # which rating is the most frequent

    @property
    def most(self) -> int:
        """The rows of the highest bar; what is not rated may go beyond it."""
        return max((bar.n for bar in self.bars if bar.state == "used"), default=0) or 1


@dataclass(frozen=True, slots=True)
class ImportPreview:
    """What is proposed for the files of a job."""

    proposal: Proposal
    tables: Sequence[Table]
    histogram: Histogram | None
    questions: Sequence[Question]  # without an answer
    limits: dict[str, float]  # of liked ("relevant") and disliked ("irrelevant") ratings, in the file's values


def ratings_path(job: Job) -> Path:
    """The file or folder that a job imports. Raises ParallaxError for `upload.gone` and `import.bad_path`."""
    if path := job.payload.get("path"):
        return server_file(path)
    uploads = job.payload.get("folder", "")
    folder = folder_of(uploads, RATINGS)
    if not uploads or not folder.is_dir() or not any(folder.iterdir()):
        raise ParallaxError("upload.gone", "The uploaded file is no longer there. Upload it again.")
    return file_in(uploads, RATINGS) or folder


def limits_of(job: Job) -> Limits:
    """How far a job's files may unfold."""
    return SERVER_LIMITS if job.payload.get("path") else UPLOAD_LIMITS


def options_of(job: Job) -> dict[str, Any]:
    """The options of the importers that were chosen on the pages."""
    chosen: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in job.payload.get("options", {}).items()
    }
    if "scale" in chosen:
        chosen["scale"] = scale_of_text(chosen["scale"])
    if "has_header" in chosen:
        chosen["has_header"] = chosen["has_header"] == "yes"
    if items := job.payload.get("items_file"):
        chosen["items_file"] = folder_of(job.payload["folder"], items.partition("/")[0]) / items.partition("/")[2]
    return chosen


def proposal_of(job: Job) -> Proposal:
    """What an import of a job's files would do. Raises ParallaxError for `import.refused` and `import.bad_option`, and
    as `ratings_path` does.
    """
    path, stored = ratings_path(job), job.payload
    with import_refusals():  # also of a scale that cannot be
        return propose(
            path,
            format=stored.get("format", "auto"),
            policy=Policy(limits=limits_of(job)),
            options=Options(**options_of(job), languages=installed_languages()),
            recipe=of_json(stored["recipe"]) if "recipe" in stored else None,
            roles=stored.get("roles", {}),
        )


def preview_of(job: Job, *, has_rows: bool = True) -> ImportPreview:
    """The stored proposal of a job, with sampled rows and their histogram for the pages that show them. Raises as
    `proposal_of` does.
    """
    path = ratings_path(job)
    # Uploads of earlier versions have none.
    proposal = of_json(job.payload["proposal"]) if "proposal" in job.payload else proposal_of(job)
    if not has_rows:
        return ImportPreview(proposal, (), None, proposal.questions, {})
    with import_refusals():
        files = dict(open_source(path, limits_of(job)).files)
        if (items := options_of(job).get("items_file")) is not None:
            files |= open_source(items, limits_of(job)).files
        samples = [(part, _sampled(files[part.files[0].lower()], part)) for part in proposal.parts]
    tables = [Table(part, sample.rows[:ROWS_SHOWN]) for part, sample in samples]
    sample = next(sample for part, sample in samples if part.use == "ratings")
    numbers = [] if proposal.is_usage else sample.numbers_of(proposal.ratings, "rating")
    if not numbers:
        return ImportPreview(proposal, tables, _usage_histogram(sample, proposal), proposal.questions, {})
    distinct, counts = distinct_values(np.array([number for _, number in numbers]))
    finding = detect_scale(distinct, counts, proposal.values, column=proposal.ratings.column("rating"))
    questions = [*proposal.questions]
    if finding.outliers and finding.question is not None and not questions:
        lines = [str(line) for line, number in numbers if number in finding.outliers and sample.is_whole]
        known = f"({'line' if len(lines) == 1 else 'lines'} {', '.join(lines[:3])}{', …' if len(lines) > 3 else ''})"
        questions.append(
            replace(finding.question, text=finding.question.text.replace(" {line}", f" {known}" * bool(lines)))
        )
    histogram = _histogram(finding, dict(zip(distinct.tolist(), counts.tolist(), strict=True)), sample.is_whole)
    limits: dict[str, float] = {}
    if finding.scale is not None:
        rated = [bar for bar in histogram.bars if bar.state == "used"]
        points, n = np.array([bar.value for bar in rated]), np.array([bar.n for bar in rated])
        limits = usual_limits(finding.scale.low, finding.scale.high, points, n)
        if not finding.scale.step:  # a part is below its upper edge
            above = next(end for end in histogram.ends if end > limits["irrelevant"])
            limits |= {"irrelevant": above} if above < limits["relevant"] else {}
        chosen = job.payload.get("limits", {})
        limits |= chosen if set(chosen.values()) <= set(histogram.ends) else {}
    return ImportPreview(proposal, tables, histogram, questions, limits)


def histogram_of(version: DatasetVersion) -> Histogram | None:
    """The ratings of a stored version per point of its scale, in the source's values; None for usage data."""
    low, high, shift = version.scale_low, version.scale_high, version.rating_shift
    if low == high:
        return None
    scale = RatingScale(low - shift, high - shift, version.scale_step)
    return _histogram(ScaleFinding(scale), {value - shift: n for value, n in value_counts(version) if n}, True)


def _sampled(file: SourceFile, part: Part) -> InspectedFile:
    written = part.written
    options = Options(encoding=written.encoding, has_header=written.lines_before > 0)
    if written.records in ("table", "matrix"):
        options = replace(options, delimiter=written.delimiter, quoting=written.has_quotes, decimal=written.decimal)
    if written.records in ("sections", "baskets"):
        options = replace(options, has_header=None)
    return examined(file, options, are_baskets=written.records == "baskets")


def _histogram(finding: ScaleFinding, counts_by_value: dict[float, int], is_whole: bool) -> Histogram:
    """Ratings per point of the scale; values that are none come first and outliers last."""
    scale = finding.scale
    is_stray = {value: scale is not None and not scale.is_on(np.array([value]))[0] for value in counts_by_value}
    rated = {value: n for value, n in counts_by_value.items() if value not in finding.not_rated and not is_stray[value]}
    strays = [value for value in counts_by_value if is_stray[value] and value not in finding.not_rated][:STRAYS_SHOWN]
    ends, points = list(rated), list(rated.values())
    if scale is not None and scale.step:
        near = Counter({round((value - scale.low) / scale.step): n for value, n in rated.items()})
        ends = list(scale.values())
        points = [near[at] for at in range(len(ends))]
    elif scale is not None:
        ends = np.linspace(scale.low, scale.high, BINS + 1).round(4).tolist()
        points = np.histogram(list(rated), ends, weights=list(rated.values()))[0].astype(int).tolist()
    every = 1 if len(points) <= POINTS_LABELLED else len(points) // 10
    bars = [
        Bar("" if at % every else f"{value:g}", n, "used" if n else "unused", value)
        for at, (value, n) in enumerate(zip(ends, points, strict=False))
    ]
    most = [at for at, n in enumerate(points) if n == max(points)]
    if not rated:
        words = ""
    elif len(ends) > len(points):
        words = f"{ends[most[0]]:g} to {ends[most[0] + 1]:g} are the most frequent."
    elif len(most) <= 2:
        words = f"{' and '.join(f'{ends[at]:g}' for at in most)} {'is' if len(most) == 1 else 'are'} the most frequent."
    else:
        words = f"{len(most)} points of the scale are the most frequent."
    unrated = [Bar(f"{value:g}", counts_by_value[value], "none", value) for value in finding.not_rated]
    off_scale = [Bar(f"{value:g}", counts_by_value[value], "stray", value) for value in strays]
    gap = Bar("", 0, "gap")
    unrated += [gap] if unrated and unrated[-1].value != 0 else []
    shown = [*unrated, *bars, *([gap] if strays else []), *off_scale]
    return Histogram(shown, sum(points), is_whole, scale, ends, words)


def _usage_histogram(sample: InspectedFile, proposal: Proposal) -> Histogram | None:
    """Rows per event, or per range of counts; None where rows have neither."""
    counts = Counter(filter(None, sample.texts_of(proposal.ratings, "event")))
    bars = [Bar(text, n, "used" if text in (proposal.events or counts) else "none") for text, n in counts.most_common()]
    if not bars:
        numbers = [number for _, number in sample.numbers_of(proposal.ratings, "count") if number > 0]
        powers = Counter(int(np.log2(max(number, 1))) for number in numbers)
        ranges = {at: f"{2**at:,} to {2 ** (at + 1) - 1:,}" if at else "1" for at in range(max(powers, default=-1) + 1)}
        bars = [Bar(label, powers[at], "used") for at, label in ranges.items()]
    return Histogram(bars, sum(bar.n for bar in bars), sample.is_whole) if bars else None
