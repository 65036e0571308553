"""The study package: everything that somebody needs to check a report, in one archive."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from analysis.exports.document import DATASET_BADGE
from analysis.models import Report
from analysis.narrative import verdict
from analysis.package.contents import write_contrast, write_design, write_people, write_run, write_scripts
from analysis.package.numbers import numbers_csv
from core.provenance import versions
from studies.exports.writing import Written, write_text, zipped_to
from studies.selectors.assignment_seed import seed_sentence

SUMS = "SHA256SUMS"
Progress = Callable[[str], None]


def silent(words: str) -> None:
    """Tell nobody."""


def package_of(report: Report, files: Mapping[str, Callable[[], bytes]], progress: Progress = silent) -> bytes:
    """The package as a zip archive: the same report gives the same bytes. `files` are those of the report itself.

    Raises `report.answers_changed`.
    """
    with tempfile.TemporaryDirectory(prefix="package-") as name:
        folder = Path(name) / "files"
        folder.mkdir()
        progress("Writing what people answered")
        write_people(report, folder)
        write_contrast(report, folder)
        progress("Writing what the run measured")
        write_run(report, folder)
        write_design(report, folder)
        write_scripts(report, folder)
        for file, make in files.items():
            path = folder / "report" / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(make())
        write_text(folder, "report/numbers.csv", numbers_csv(report.results))
        progress("Packing")
        write_text(folder, "README.md", readme(report))
        written = _written(folder)
        write_text(folder, SUMS, "".join(f"{one.sha256}  {one.name}\n" for one in written))
        archive = Path(name) / "all.zip"
        zipped_to(_written(folder), folder, archive)
        return archive.read_bytes()


def _written(folder: Path) -> list[Written]:
    """Every file there is, by name."""
    paths = sorted(
        (path for path in folder.rglob("*") if path.is_file()), key=lambda path: path.relative_to(folder).as_posix()
    )
    found = []
    for path in paths:
        content = path.read_bytes()
        name = path.relative_to(folder).as_posix()
        found.append(Written(name, None, hashlib.sha256(content).hexdigest(), len(content)))
    return found


def readme(report: Report) -> str:
    """What the package is, what is in it, how to check it, and what it was made with."""
    study, provenance = report.study, report.provenance
    notices = [verdict.simulated_notice(report.results)]
    if provenance["is_dataset_synthetic"]:
        notices.append(f"{DATASET_BADGE}: what was measured offline says nothing of the world.")
    lines = [
        f"# {study.title}",
        "",
        f"Report {report.number} of the study `{study.slug}`, with everything that is needed to check it.",
        "",
        *(f"**{notice}**\n" for notice in notices if notice),
        "## What is in it",
        "",
        "- `data/analysed.csv`: one row a participant whom the report analyses, with the four measures and "
        "the score of each scale that the plan names",
        "- `data/participants.csv`: one row a participant who gave consent, whether analysed or not, with every answer",
        "- `data/items.csv`: one row a participant and recommended item",
        "- `data/*_codebook.csv`, `_codebook.json`, `_schema.json`: what every column means",
        "- `data/conditions.csv`: the conditions in the order of the design, with their models",
        "- `data/run-users.csv`: recall and fallout of each model for each test user, by profile length (0 is the "
        "whole profile), with the user's number of cases; an empty cell means no case",
        *(
            ["- `data/contrast.csv`: the planned contrast, the primary test: conditions expected higher and lower"]
            if "contrast" in report.results
            else []
        ),
        "- `design/`: the frozen design and its hash, the questionnaire, the texts people read, the preregistration",
        "- `report/`: the report as HTML, PDF, JSON (with its schema), Quarto source and sentences for a paper, each "
        "figure as SVG, PNG and PDF, each table as CSV, Markdown and LaTeX",
        "- `report/numbers.csv`: the numbers that the scripts recompute",
        "- `scripts/recompute.py`, `scripts/recompute.R`: the main tests, from the files under `data/` alone",
        f"- `{SUMS}`: checksums of every file but itself",
        "",
        "Ids of participants are made for publication and lead back to nobody.",
        "",
        "## How to check it",
        "",
        "    sha256sum --check SHA256SUMS",
        "    Rscript scripts/recompute.R",
        "    python scripts/recompute.py",
        "",
        "R needs no package; Python needs numpy, scipy and pandas. Each script prints every number it recomputed "
        "beside the report's, and ends with an error if one differs. Bootstrap intervals are not among them: they need "
        "the seeds below and the code.",
        "",
        "## Where it comes from",
        "",
        f"- Inputs of the report: `{report.inputs_hash}`",
        f"- Design: `{provenance['design_hash']}`",
        f"- Answers: `{provenance['answers_digest']}`",
        f"- Run: `{provenance['run_inputs_hash']}`",
        f"- Dataset: {provenance['dataset']}, version {provenance['dataset_version']}, `{provenance['dataset_hash']}`",
        f"- Seed of the study: {provenance['study_seed']}; of the run: {provenance['run_seed']}",
        f"- {seed_sentence(report.study)}",
        *(f"- Seed of the bootstrap, {name}: {seed}" for name, seed in provenance["bootstrap_seeds"]),
        *(f"- Computed with {name} {version}" for name, version in provenance["versions"]),
        *(f"- Packed with {name} {version}" for name, version in versions().items()),
        "",
    ]
    return "\n".join(lines)
