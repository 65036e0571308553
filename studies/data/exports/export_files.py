"""An export: one folder with data, codebooks, checksums, the allocation log and the flow."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from charting.render import svg
from core.database import snapshot
from core.errors import ParallaxError
from core.provenance import versions
from studies.allocation.selectors.assignment_seed import seed_facts
from studies.data.codebook.cells import iso_time
from studies.data.codebook.event_variables import Rated, rating_variables
from studies.data.codebook.items import item_variables
from studies.data.codebook.participants import Person, list_variables, participant_variables
from studies.data.codebook.variable import shown
from studies.data.exports.psych_ds import write_package
from studies.data.exports.rows import Source
from studies.data.exports.table_files import (
    Written,
    sums_of,
    values_by_name,
    write_json,
    write_records,
    write_text,
)
from studies.data.exports.tables import Options, Table, tables_of, write_codebook, write_whole
from studies.enums import Mode
from studies.models import Participant, Study
from studies.monitoring.charts import consort_diagram
from studies.monitoring.selectors.consort import Consort, consort_of
from studies.monitoring.selectors.exclusions import by_frequency, reason_label, why_incomplete
from studies.monitoring.selectors.outcomes import WITHOUT_OUTCOMES, are_outcomes_blinded
from studies.participation.selectors.responses import records

FORMATS = ("long", "wide", "events", "pages", "ratings", "profiles", "json", "psych-ds")
BESIDE = {  # where there are any
    "long": ("lists", "comparisons", "choices"),
    "wide": ("lists", "comparisons", "choices", "list-requests"),
    "pages": ("page-medians",),
}


def exported_modes(study: Study, *, include_simulated: bool) -> list[str]:
    """The modes of an export: live data, and simulated data if requested.

    Raises `export.only_simulated` if there are only simulated data and they were not requested. Previews are never
    exported.
    """
    if include_simulated:
        return [Mode.LIVE, Mode.SIMULATED]
    modes = set(Participant.objects.filter(study=study).order_by().values_list("mode", flat=True).distinct())
    if Mode.SIMULATED in modes and Mode.LIVE not in modes:
        raise ParallaxError(
            "export.only_simulated",
            "This study has simulated participants only, and they are left out unless they are asked for. "
            "Ask for them with --include-simulated, or the box in the console.",
        )
    return [Mode.LIVE]


def write_export(study: Study, kind: str, folder: Path, options: Options | None = None) -> list[Written]:
    """Write every file of an export to a folder, which is created if missing.

    Files are written to a temporary folder and moved at the end, so that a fault leaves no partial export. Data and
    codebook depend only on the study: repeated exports are identical, byte for byte. All files reflect one moment.

    Raises `export.unknown_format`, `export.only_simulated`.
    """
    chosen = options or Options()
    if kind not in FORMATS:
        raise ParallaxError("export.unknown_format", f"An export is one of {', '.join(FORMATS)}; got {kind!r}.")
    modes = exported_modes(study, include_simulated=chosen.include_simulated)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".part-") as name:
        part = Path(name)
        with snapshot():
            study.refresh_from_db(fields=["n_opened", "n_declined"])
            source = Source(study, modes, chosen.without_excluded, chosen.include_external_ids)
            files = _written(study, kind, source, chosen, part)
        for file in files:
            target = folder / file.name
            target.parent.mkdir(parents=True, exist_ok=True)
            (part / file.name).replace(target)
    return files


def _written(study: Study, kind: str, source: Source, options: Options, folder: Path) -> list[Written]:
    stem = f"study-{study.slug}_{options.mark}{kind}"
    tables = tables_of(study, with_identifying=options.include_external_ids)
    if kind == "psych-ds":
        files = write_package(study, tables, source, options, folder)
    elif kind == "json":
        files = _json(source, options, folder, stem)
    else:
        files = write_whole(folder, stem, tables[kind], source)
        for other_kind in BESIDE.get(kind, ()):
            if other_kind in tables:
                files += write_whole(folder, f"study-{study.slug}_{other_kind}", tables[other_kind], source)
    # The log reveals conditions, so page times are exported without it while outcomes are blinded.
    is_blinded = kind in WITHOUT_OUTCOMES and are_outcomes_blinded(study, source.modes)
    if kind != "psych-ds" and not is_blinded:
        files += write_whole(folder, f"study-{study.slug}_allocation", tables["allocation"], source)
    flows = {mode: consort_of(study, mode, source.exclusions) for mode in source.modes}
    files.append(write_json(folder, f"study-{study.slug}_consort.json", {m: f.as_dict() for m, f in flows.items()}))
    for mode, flow in flows.items():
        badge = "" if mode == Mode.LIVE else "simulated participants"
        picture = svg(consort_diagram(flow, badge=badge))
        files.append(write_text(folder, f"study-{study.slug}_consort-{mode}.svg", picture))
    files.append(write_json(folder, f"{stem}_export.json", facts_of(kind, source, options, files, flows)))
    return [*files, write_text(folder, f"{stem}_sha256sums.txt", sums_of(files))]


def _json(source: Source, options: Options, folder: Path, stem: str) -> list[Written]:
    """One JSON file of participants, each with their items and ratings, and the same codebook as the tables."""
    study = source.study
    people = shown(participant_variables(study), with_identifying=options.include_external_ids)
    lists = shown(list_variables(study), with_identifying=options.include_external_ids)
    items = shown(item_variables(study), with_identifying=options.include_external_ids)
    ratings = [v for v in rating_variables(study) if v.name.startswith("rating.")]

    def of_list(person: Person) -> dict[str, Any]:
        of_items = [values_by_name(items, item) for item in person.record.items]
        return {**values_by_name(lists, person), "items": of_items}

    def participants() -> Iterator[dict[str, Any]]:
        for person in source.people():
            yield {
                **values_by_name(people, person),
                **({"lists": [*map(of_list, person.lists())]} if lists else of_list(person)),
                "ratings": [
                    values_by_name(ratings, Rated(person, order, rating))
                    for order, rating in enumerate(person.record.profile, start=1)
                ],
            }

    head = {"study": study.slug, "design_hash": study.design_hash}
    whole = Table("json", [*people, *lists, *items, *ratings], Source.people)
    data = write_records(folder, f"{stem}_data.json", head, "participants", participants())
    return [data, *write_codebook(folder, stem, whole)]


def facts_of(
    kind: str, source: Source, options: Options, files: Sequence[Written], flows: Mapping[str, Consort]
) -> dict[str, Any]:
    """Metadata of an export: provenance, exclusions, and incomplete participants with reasons."""
    study = source.study
    finished, incomplete = 0, []
    reasons = by_frequency(reason_label(*why) for why in source.exclusions.values())
    for record in records(study, source.modes, completed_only=True):
        finished += 1
        if (why := why_incomplete(study, record)) is not None:
            incomplete.append({"participant.id": record.public_id, "why": why})
    return {
        "study": study.slug,
        "title": study.title,
        "status": study.status,
        "design_hash": study.design_hash,
        "dataset": {"name": study.dataset_version.dataset.name, "content_hash": study.dataset_version.content_hash},
        "dataset_is_synthetic": study.dataset_version.is_synthetic,
        "models": {c.label: c.model_digest for c in study.conditions.order_by("position")},
        "seed": study.seed,
        **seed_facts(study),
        "modes": list(source.modes),
        "contains_simulated": Mode.SIMULATED in source.modes,
        "planted_effects": study.design.planted_effects if Mode.SIMULATED in source.modes else {},
        "contains_identifying": options.include_external_ids,
        "leaves_out_excluded": options.without_excluded,
        "excluded": [{"reason": reason, "n": n} for reason, n in reasons],
        "finished": finished,
        "finished_and_complete": finished - len(incomplete),
        "finished_and_not_complete": incomplete,
        "format": kind,
        "made_at": iso_time(datetime.now(UTC)),
        "versions": versions(),
        "files": {file.name: {"rows": file.n_rows, "bytes": file.n_bytes, "sha256": file.sha256} for file in files},
        "flow": {mode: flow.as_dict() for mode, flow in flows.items()},
    }
