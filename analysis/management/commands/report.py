"""Build a study's report and write it as files."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from analysis.enums import VARIABLE_OF
from analysis.models import Report
from analysis.narrative import plan as of_plan
from analysis.narrative import verdict
from analysis.package import write_report
from analysis.services import build_report
from analysis.services.plans import Overrides
from analysis.tables.cells import written
from core.errors import ParallaxError
from evaluation.models import EvaluationRun
from studies import flags
from studies.enums import Mode
from studies.models import Study

SHORT = {"fon": "FON", "son": "SON"}


class Command(BaseCommand):
    help = "Build the report of a study: perceived against objective quality of the same models."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", metavar="SLUG", help="the study")
        parser.add_argument(
            "--out", type=Path, metavar="DIR", help="write the report in every form here, and the study package"
        )
        parser.add_argument(
            "--mode",
            choices=[Mode.LIVE.value, Mode.SIMULATED.value],
            help="whose answers (default: participants if any have completed, else simulated ones)",
        )
        parser.add_argument(
            "--run", type=int, metavar="ID", help="a run of the study's own models (default: the study's)"
        )
        otherwise = parser.add_argument_group(
            "otherwise than planned",
            "The report follows the plan frozen at the launch, and says what deviates from it.",
        )
        otherwise.add_argument("--alpha", type=float, help="another level for all tests and orders")
        otherwise.add_argument(
            "--leave-out", nargs="+", default=[], choices=list(VARIABLE_OF), metavar="VARIABLE",
            help=f"planned variables that are not tested: {', '.join(VARIABLE_OF)}",
        )  # fmt: skip
        otherwise.add_argument(
            "--exclude", nargs="*", choices=flags.KEYS, metavar="FLAG",
            help="quality flags that leave a participant out, instead of the plan's; without a name none does. They "
            f"are {', '.join(flags.KEYS)}",
        )  # fmt: skip
        otherwise.add_argument("--with-excluded", action="store_true", help="take in those excluded by hand")

    def handle(self, *args: Any, **options: Any) -> None:
        study = Study.objects.filter(slug=options["slug"]).first()
        if study is None:
            raise CommandError(f"There is no study called {options['slug']}.")
        run = None
        if options["run"] is not None:
            run = EvaluationRun.objects.filter(pk=options["run"]).first()
            if run is None:
                raise CommandError(f"There is no run {options['run']}.")
        try:
            report = build_report(
                study=study, run=run, mode=options["mode"], overrides=self._overrides(options), progress=self._say
            )
            if options["out"] is not None:
                write_report(report=report, folder=options["out"], progress=self._say)
        except ParallaxError as refused:
            raise CommandError(str(refused)) from refused
        except OSError as problem:
            raise CommandError(f"The files cannot be written: {problem}") from problem
        for line in summary_lines(report):
            self.stdout.write(line)
        if options["out"] is not None:
            self.stdout.write(f"Open {options['out'] / 'report.html'}")

    def _overrides(self, options: dict[str, Any]) -> Overrides:
        return Overrides(
            alpha=options["alpha"],
            leave_out=tuple(options["leave_out"]),
            exclude=None if options["exclude"] is None else tuple(options["exclude"]),
            by_hand=False if options["with_excluded"] else None,
        )

    def _say(self, words: str) -> None:
        self.stdout.write(f"… {words}")


def summary_lines(report: Report) -> list[str]:
    """The verdict, and a line an algorithm with both sides beside each other."""
    results = report.results
    n = results["objective"]["n"]
    lines = ["", f"Report {report.number} of {report.study.slug}, inputs {report.inputs_hash[:12]}"]
    notice = verdict.simulated_notice(results)
    lines += [notice] if notice else []
    lines += ["".join(run.text for run in verdict.headline(results)) + ".", *verdict.few_said(results)]
    if results["flow"]["analysed"]:
        lines.append(verdict.paragraph(results))
    lines += of_plan.deviations(results)
    tested = [SHORT.get(variable["key"], variable["key"]) for variable in results["variables"]]
    heads = ("algorithm", "n", *tested, f"recall@{n}", f"fallout@{n}")
    table = []
    objective = {line["condition"]: line for line in results["objective"]["lengths"][0]["table"]}
    for condition in results["conditions"]:
        name = condition["label"]
        cells = [name, str(condition["n"])]
        for variable in results["variables"]:
            found = variable["described"].get(name)
            cells.append("–" if found is None else written(found["mean"]))
        for kind in ("recall", "fallout"):
            value = objective[name][kind]
            cells.append("–" if value is None else written(value, 3, is_share=True))
        table.append(cells)
    widths = [max(len(head), *(len(row[place]) for row in table)) for place, head in enumerate(heads)]
    lines.append("")
    for row in [list(heads), *table]:
        first, *others = row
        lines.append(
            "  ".join([first.ljust(widths[0]), *(c.rjust(w) for c, w in zip(others, widths[1:], strict=True))])
        )
    return [*lines, ""]
