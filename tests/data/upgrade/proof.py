"""Print what an upgrade must not change of the stored studies, as JSON: designs, exports, assignments, report inputs.

`proof.json` holds what the version before the flow of a study became data printed of the stored databases, once each
was migrated by it.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "parallax.settings")
django.setup()

from analysis.compute.plans import AS_PLANNED  # noqa: E402
from analysis.read import no_progress  # noqa: E402
from analysis.results.codec import encode  # noqa: E402
from analysis.results.plan import Planned, ReportPlan  # noqa: E402
from analysis.results.report import Provenance  # noqa: E402
from analysis.results.sample import Flow  # noqa: E402
from analysis.services.report_builder import _read  # noqa: E402
from core.provenance import digest_of  # noqa: E402
from studies.allocation.selectors.allocations import replayed_log  # noqa: E402
from studies.data.exports import psych_ds  # noqa: E402
from studies.data.exports.export_files import FORMATS, Options, write_export  # noqa: E402
from studies.design.services.launch import design_snapshot  # noqa: E402
from studies.enums import Mode  # noqa: E402
from studies.models import Study  # noqa: E402

psych_ds.CODE_VERSION = "1.0.0"  # of the version that printed `proof.json`
OF_THE_MOMENT = ("made_at", "versions", "files")  # facts of an export that are not the study's


def designs(study: Study) -> list[Any]:
    frozen = [(version.design_hash, digest_of(version.snapshot)) for version in study.versions.order_by("number")]
    return [study.design_hash, digest_of(design_snapshot(study)), *frozen]


def exports(study: Study) -> dict[str, str]:
    digests = {}
    for kind in FORMATS:
        for with_ids in (False, True):
            with tempfile.TemporaryDirectory() as folder:
                options = Options(include_simulated=True, include_external_ids=with_ids)
                for file in write_export(study, kind, Path(folder), options):
                    if file.name.endswith("_sha256sums.txt"):
                        continue  # it covers the moment, too
                    content = (Path(folder) / file.name).read_bytes()
                    if file.name.endswith("_export.json"):
                        facts = json.loads(content)
                        content = json.dumps({k: v for k, v in facts.items() if k not in OF_THE_MOMENT}).encode()
                    digests[f"{kind} {with_ids} {file.name}"] = hashlib.sha256(content).hexdigest()
    return digests


def report_inputs(study: Study) -> str:
    inputs, provenance = _read(
        study=study, run=study.run, mode=Mode.LIVE, overrides=AS_PLANNED, draft=None, progress=no_progress
    )
    of_data = {name: value for name, value in encode(Provenance, provenance).items() if name != "versions"}
    planned = encode(Planned, inputs.planned)
    planned.pop("deviations")  # they name the versions of the packages installed here
    read = {"plan": encode(ReportPlan, inputs.plan), "planned": planned}
    return digest_of({**read, "provenance": of_data, "flow": encode(Flow, inputs.flow)})


def main() -> None:
    found = {}
    for study in Study.objects.order_by("slug"):
        replay = replayed_log(study, Mode.LIVE)
        found[study.slug] = {
            "designs": designs(study),
            "exports": exports(study),
            "replay": [replay.n_lines, replay.n_holding, replay.problem],
            "report": report_inputs(study),
        }
    print(json.dumps(found))  # noqa: T201


main()
