"""The study package: everything needed to check a report, in one archive."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path

from analysis.files.contents import write_design, write_people, write_plan, write_run, write_scripts
from analysis.files.document import DATASET_BADGE, SYNTHETIC_NOTICE
from analysis.files.numbers import numbers_csv
from analysis.models import Report
from analysis.present import verdict
from analysis.read import Progress, no_progress
from core.provenance import versions
from documents.markdown import escaped
from documents.numbers import capital, listed
from studies.allocation.selectors.assignment_seed import seed_sentence
from studies.data.exports.table_files import Written, sums_of, write_text, zipped_to

SUMS = "SHA256SUMS"


def package_of(report: Report, files: Mapping[str, Callable[[], bytes]], progress: Progress = no_progress) -> bytes:
    """The package as a zip archive: the same report gives the same bytes. `files` are those of the report itself.

    Raises `report.answers_changed`.
    """
    with tempfile.TemporaryDirectory(prefix="package-") as name:
        folder = Path(name) / "files"
        folder.mkdir()
        progress("Writing the answers")
        write_people(report, folder)
        write_plan(report, folder)
        progress("Writing the results of the run")
        write_run(report, folder)
        write_design(report, folder)
        write_scripts(report, folder)
        for file_name, make in files.items():
            path = folder / "report" / file_name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(make())
        write_text(folder, "report/numbers.csv", numbers_csv(report.read_results()))
        progress("Packing")
        write_text(folder, "README.md", readme(report))
        written = _written(folder)
        sums = write_text(folder, SUMS, sums_of(written))
        archive = Path(name) / "all.zip"
        zipped_to(sorted([*written, sums], key=lambda file: file.name), folder, archive)
        return archive.read_bytes()


def _written(folder: Path) -> list[Written]:
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return [Written(name, None, sha256(content).hexdigest(), len(content)) for name, content in sorted(files.items())]


def _where(is_there: bool, name: str, content: str) -> list[str]:
    return [f"- `data/{name}.csv`: {content}"] if is_there else []


def readme(report: Report) -> str:
    """What the package contains, how to check it, and its provenance."""
    study, provenance, results = report.study, report.read_provenance(), report.read_results()
    notices = [verdict.simulated_notice(results)]
    if provenance.is_dataset_synthetic:
        notices.append(f"{DATASET_BADGE}. {SYNTHETIC_NOTICE}")
    has_scales = any(variable.variable.scale for variable in results.variables)
    weights = "1 for a user with a value" if results.objective.is_by_user else "the user's number of cases"
    per, answers = (" and occasion", "occasions") if results.is_in_turn else ("", "participants")
    unchecked = ["bootstrap intervals"]
    if not results.is_in_turn:
        unchecked.append("degrees of freedom of mixed models")
    if results.choices:
        unchecked.append("ranks and popularity of what was picked")
    lines = [
        f"# {escaped(study.title)}",
        "",
        f"Report {report.number} of the study `{study.slug}`, with everything that is needed to check it.",
        "",
        *(f"**{notice}**\n" for notice in notices if notice),
        "## Contents",
        "",
        f"- `data/analysed.csv`: one row per analysed participant{per}, with the four measures and the score of each "
        "scale that the plan names",
        *_where(has_scales, "scales", "the questions of each planned scale, and how their answers are scored"),
        "- `data/plan.csv`: the tested variables, and the primary pair of a variable and a metric",
        "- `data/participants.csv`: one row per participant who gave consent, analysed or not, with every answer",
        "- `data/items.csv`: one row per participant and recommended item",
        *_where(
            results.is_in_turn, "occasions", "one row per participant and occasion, with the answers about its list"
        ),
        *_where(
            results.lists_shown is not None,
            "lists",
            "one row per analysed participant, with the metrics of the list shown",
        ),
        "- `data/*_codebook.csv`, `_codebook.json`, `_schema.json`: the meaning of every column",
        "- `data/conditions.csv`: the conditions in the order of the design, with their models",
        "- `data/run-users.csv`: recall and fallout of each model for each test user, by profile length (0 is the "
        f"whole profile), with {weights}; an empty cell means no case",
        *_where(
            results.matrix is not None,
            "run-metrics",
            "every other metric of the models; sign is −1 where lower is better",
        ),
        *_where(
            results.advantage is not None,
            "separated",
            "the pairs that the primary metric separates, the better algorithm first",
        ),
        *_where(
            results.contrast is not None,
            "contrast",
            "the planned contrast, the primary test: conditions expected higher and lower",
        ),
        *_where(
            results.factorial is not None,
            "effects",
            "the weights of the conditions in every effect of factors or doses, by variable",
        ),
        *_where(
            bool(results.preferences),
            "preferences",
            "the analysed preferences between two lists, from −2 for the left one to 2; identical lists are left out",
        ),
        *_where(
            results.equivalence is not None, "equivalence", "the smallest effect of interest in the primary variable"
        ),
        "- `design/`: the frozen design and its hash, the questionnaire, the texts participants read, and the "
        "preregistration",
        "- `report/`: the report as HTML, PDF, JSON (with its schema), Quarto source and sentences for a paper, each "
        "figure as SVG, PNG and PDF, each table as CSV, Markdown and LaTeX",
        "- `report/numbers.csv`: the numbers that the scripts recompute",
        "- `scripts/recompute.py`, `scripts/recompute.R`: the same numbers, from the answers under `data/`",
        f"- `{SUMS}`: checksums of every file but itself",
        "",
        "Participant ids are pseudonyms created for publication; they cannot be traced back.",
        "",
        "## Check the report",
        "",
        "    sha256sum --check SHA256SUMS",
        "    Rscript scripts/recompute.R",
        "    python scripts/recompute.py",
        "",
        "R needs no package; Python needs numpy, scipy and pandas. Each script prints every recomputed number "
        f"next to the report's, and ends with an error if any differs. Measures and scores are computed from the "
        f"answers in `{answers}.csv` and `items.csv`; `analysed.csv` says only who is analysed, in which "
        "condition. Mixed and ordinal models are fitted by independent code and agree within .1%, all other numbers "
        f"within a millionth. {capital(listed(unchecked))} are not recomputed.",
        "",
        "## Provenance",
        "",
        f"- Inputs of the report: `{report.inputs_hash}`",
        f"- Design: `{provenance.design_hash}`",
        f"- Answers: `{provenance.answers_digest}`",
        f"- Run: `{provenance.run_inputs_hash}`",
        f"- Dataset: {provenance.dataset}, version {provenance.dataset_version}, `{provenance.dataset_hash}`",
        f"- Seed of the study: {provenance.study_seed}; of the run: {provenance.run_seed}",
        f"- {seed_sentence(report.study)}",
        *(f"- Seed of the bootstrap, {name}: {seed}" for name, seed in provenance.bootstrap_seeds),
        *(f"- Computed with {name} {version}" for name, version in provenance.versions),
        *(f"- Packed with {name} {version}" for name, version in versions().items()),
        "",
    ]
    return "\n".join(lines)
