"""A finished report as a replication, and its files."""

from __future__ import annotations

from pathlib import Path

from analysis.models import Report
from analysis.package import write_report
from evaluation.models import EvaluationRun
from parallax.replication import pages, stages
from parallax.replication.published import Published
from studies.models import Study


def simulated(
    *, paper: Published, report: Report, run: EvaluationRun, chosen: stages.Settings, walked: str
) -> pages.Replication:
    """The replication of a report on simulated participants; `walked` says how their pages were served."""
    return pages.Replication(
        paper=paper,
        report=report,
        names=stages.names_of(report, paper.algorithms),
        facts={
            **pages.dataset_facts(run.version),
            "hidden": run.split.get("share", 0.0),
            "factors": list(chosen.factors),
            "walked": walked,
        },
    )


def answered(*, paper: Published, report: Report, study: Study) -> pages.Replication:
    """The replication of a report on the participants of a closed study. Raises `replicate.other_conditions`."""
    results, split = report.read_results(), study.run.split
    return pages.Replication(
        paper=paper,
        report=report,
        names=stages.names_by_algorithm(study, paper),
        facts={
            **pages.dataset_facts(study.dataset_version),
            "hidden": split["share"] if split["name"] == "probe" else None,
            "factors": sorted(row.params["factors"] for row in results.conditions if row.algorithm == "puresvd"),
        },
    )


def write_folder(replication: pages.Replication, folder: Path) -> None:
    """Write the comparison, and the whole report into its folder `report`."""
    write_report(report=replication.report, folder=folder / "report", progress=lambda words: None)
    pages.write(replication, folder)
