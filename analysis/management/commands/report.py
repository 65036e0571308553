"""Build a study's report and write it as files."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from analysis.compute.plans import Overrides
from analysis.enums import VARIABLE_OF
from analysis.files.listing import write_report
from analysis.models import Report
from analysis.present import plan as plan_narrative
from analysis.present import verdict
from analysis.present.words import decimal
from analysis.services import build_report
from analysis.services.bayesian_jobs import request_bayesian
from documents.numbers import NONE, number
from evaluation.models import EvaluationRun
from evaluation.reported_kinds import ERRORS, kind_word
from jobs.services import do_job
from studies.enums import Mode
from studies.instrument import flags
from studies.management.study_command import StudyCommand

SHORT = {"fon": "FON", "son": "SON"}


class Command(StudyCommand):
    help = "Build the report of a study: perceived and objective quality of the same models."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", metavar="SLUG", help="the study")
        parser.add_argument(
            "--out",
            type=Path,
            metavar="DIR",
            help="write the report in every format to this folder, and the study package",
        )
        parser.add_argument(
            "--mode",
            choices=[Mode.LIVE.value, Mode.SIMULATED.value],
            help="answers of participants or of simulated ones (default: participants if any have completed)",
        )
        parser.add_argument(
            "--run", type=int, metavar="ID", help="a run of the study's own models (default: the study's)"
        )
        parser.add_argument(
            "--bayesian",
            action="store_true",
            help="compute the Bayesian analysis here and now, instead of by a worker later (minutes)",
        )
        deviations = parser.add_argument_group(
            "deviations from the plan",
            "The report follows the plan frozen at the launch, and states every deviation from it.",
        )
        deviations.add_argument("--alpha", type=float, help="level of all tests and orders")
        deviations.add_argument(
            "--leave-out",
            nargs="+",
            default=[],
            choices=list(VARIABLE_OF),
            metavar="VARIABLE",
            help=f"planned variables to omit: {', '.join(VARIABLE_OF)}",
        )
        deviations.add_argument(
            "--exclude",
            nargs="*",
            choices=flags.KEYS,
            metavar="FLAG",
            help="quality flags that exclude a participant, instead of the plan's; without a value, none does. "
            f"Flags: {', '.join(flags.KEYS)}",
        )
        deviations.add_argument("--with-excluded", action="store_true", help="include participants excluded by hand")

    def handle(self, *args: Any, **options: Any) -> None:
        study = self.study(options["slug"])
        run = None
        if options["run"] is not None:
            run = EvaluationRun.objects.filter(pk=options["run"]).first()
            if run is None:
                raise CommandError(f"There is no run {options['run']}.")
        overrides = Overrides(
            alpha=options["alpha"],
            leave_out=tuple(options["leave_out"]),
            exclude=None if options["exclude"] is None else tuple(options["exclude"]),
            by_hand=False if options["with_excluded"] else None,
        )
        try:
            report = build_report(study=study, run=run, mode=options["mode"], overrides=overrides, progress=self._say)
            if options["bayesian"]:
                report = self._with_bayesian(report)
            if options["out"] is not None:
                write_report(report=report, folder=options["out"], progress=self._say)
        except OSError as problem:
            raise CommandError(f"The files cannot be written: {problem}") from problem
        for line in summary_lines(report):
            self.stdout.write(line)
        if options["out"] is not None:
            self.stdout.write(f"Open {options['out'] / 'report.html'}")

    def _with_bayesian(self, report: Report) -> Report:
        self._say("computing the Bayesian analysis")
        analysis = request_bayesian(report=report)
        do_job(job_id=analysis.pk)
        analysis.refresh_from_db()
        if analysis.is_open:
            raise CommandError(
                f"A worker is at the Bayesian analysis ({analysis.activity or analysis.status}). Run the command again "
                "when the report's page shows it, or leave out --bayesian."
            )
        if analysis.error:
            raise CommandError(f"The Bayesian analysis could not be computed. {analysis.error}")
        return Report.objects.get(pk=report.pk)

    def _say(self, words: str) -> None:
        self.stdout.write(f"… {words}")


def summary_lines(report: Report) -> list[str]:
    """The verdict, and one line per algorithm with both sides."""
    results = report.read_results()
    lines = ["", f"Report {report.number} of {report.study.slug}, inputs {report.inputs_hash[:12]}"]
    notice = verdict.simulated_notice(results)
    lines += [notice] if notice else []
    lines += [*verdict.full_text(results), *verdict.limitations(results)]
    if results.planned is not None:
        lines += plan_narrative.deviations(results, results.planned)
    n, whole = results.objective.n, results.objective.lengths[0]
    tested = results.objective.tested
    names = [SHORT.get(variable.key, variable.key) for variable in results.variables]
    rows = [["algorithm", "n", *names, *(kind_word(kind) if kind in ERRORS else f"{kind}@{n}" for kind in tested)]]
    values = [(whole.values(kind), kind not in ERRORS) for kind in tested]
    for condition in results.conditions:
        described = [variable.described.get(condition.label) for variable in results.variables]
        means = [NONE if numbers is None else number(numbers.mean) for numbers in described]
        metrics = [decimal(metric[condition.label], 3, is_share=is_share).text for metric, is_share in values]
        rows.append([condition.label, str(condition.n), *means, *metrics])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines.append("")
    for first, *cells in rows:
        aligned = [cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True)]
        lines.append("  ".join([first.ljust(widths[0]), *aligned]))
    return [*lines, ""]
