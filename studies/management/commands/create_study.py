from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from catalog.selectors.datasets import newest_version
from core.commands import ParallaxCommand
from core.errors import ParallaxError
from core.field_problems import FieldProblems
from evaluation.models import EvaluationRun
from evaluation.selectors.runs import failed_algorithms
from studies.allocation.selectors.assignment_seed import seed_sentence
from studies.design.presets.loader import load_preset, preset_keys
from studies.design.services.design import create_study
from studies.instrument.questionnaires.document import DocumentProblems, Lines, located, read_yaml
from studies.instrument.questionnaires.problems import QuestionnaireProblems
from studies.known_items import SCALES
from studies.settings import ITEM_ORDERS
from studies.team.owners import owner_line, study_owner

SETTINGS, QUESTIONNAIRE = "settings", "questionnaire"  # the parts of a design's file
# With their options.
OPTIONS = {
    "ratings_asked": "min_items",
    "ratings_most": "max_items",
    "elicitation_scale": "scale",
    "item_order": "item_order",
}


class Command(ParallaxCommand):
    help = "Create a draft study from a template; its conditions are the models that a run evaluated."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="the end of the participants' link: small letters, digits, hyphens")
        templates = (f"{key}: {load_preset(key).description}" for key in preset_keys())
        parser.add_argument("--template", default="cremonesi-2011", help=" ".join(templates).replace("%", "%%"))
        parser.add_argument("--dataset", required=True, help="name of the dataset")
        parser.add_argument("--run", type=int, help="the run whose models to study (default: the newest finished)")
        parser.add_argument(
            "--conditions",
            nargs="+",
            default=[],
            metavar="ALGORITHM",
            help="labels of the run's algorithms to compare, such as TopPop PureSVD50 (default: all of the run that "
            "the template can use)",
        )
        parser.add_argument(
            "--factors",
            type=Path,
            metavar="FILE",
            help="YAML list of factors with their levels, recommenders or presentations, whose full product is the "
            "conditions",
        )
        parser.add_argument(
            "--design",
            type=Path,
            metavar="FILE",
            help="YAML with settings, such as the flow, and parts of the questionnaire, which replace the template's",
        )
        parser.add_argument("--per-condition", type=int, default=30, help="participants per condition")
        parser.add_argument(
            "--seed",
            type=int,
            help="a known seed for the assignment, for simulations and demonstrations only (default: a secret seed "
            "drawn from the operating system)",
        )
        parser.add_argument(
            "--owner", metavar="EMAIL", help="account of the owner (default: the newest administrator's)"
        )
        parser.add_argument("--title", default="")
        parser.add_argument("--min-items", type=int, help="known items to rate or choose (default: the template's)")
        parser.add_argument("--max-items", type=int, help="maximum number (default: exactly the minimum)")
        parser.add_argument("--scale", choices=SCALES, help="scale of the ratings of known items (default: 5-stars)")
        parser.add_argument("--item-order", choices=ITEM_ORDERS, help="order in which items to rate are first shown")

    def read(self, file: Path) -> tuple[Any, Lines]:
        try:
            return read_yaml(file.read_text(encoding="utf-8"))
        except OSError as problem:
            raise CommandError(f"{file} cannot be read: {problem.strerror}.") from problem
        except UnicodeDecodeError as problem:
            raise CommandError(f"{file} is not valid YAML: {problem}") from problem
        except DocumentProblems as problem:
            raise CommandError(f"{file}:\n{problem}") from problem

    def design(self, file: Path | None) -> tuple[dict[str, Any], Lines]:
        if file is None:
            return {}, {}
        data, lines = self.read(file)
        parts = data.values() if isinstance(data, dict) and set(data) <= {SETTINGS, QUESTIONNAIRE} else [None]
        if not all(isinstance(part, dict) for part in parts):
            raise CommandError(f"{file}: A design has {SETTINGS} and {QUESTIONNAIRE}, each names with values.")
        return data, lines

    def handle(self, *args: Any, **options: Any) -> None:
        owner = study_owner(options["owner"])
        if options["run"] is None:
            run, version = None, newest_version(options["dataset"])
        else:
            run = EvaluationRun.objects.select_related("version__dataset").filter(pk=options["run"]).first()
            if run is None:
                raise CommandError(f"There is no run {options['run']}.")
            version = run.version
            if version.dataset.name != options["dataset"]:
                raise CommandError(f"Run {run.pk} measured {version.dataset.name}, not {options['dataset']}.")
        design, lines = self.design(options["design"])
        factors = {} if options["factors"] is None else {"factors": self.read(options["factors"])[0]}
        given = {name: options[option] for name, option in OPTIONS.items() if options[option] is not None}
        try:
            study = create_study(
                slug=options["slug"],
                template=options["template"],
                version=version,
                run=run,
                per_condition=options["per_condition"],
                seed=options["seed"],
                owner=owner,
                title=options["title"],
                labels=options["conditions"],
                settings={**design.get(SETTINGS, {}), **given, **factors},
                questionnaire=design.get(QUESTIONNAIRE),
            )
        except ParallaxError as refusal:
            cause = refusal.__cause__
            if not lines or not isinstance(cause, FieldProblems):
                raise
            part = QUESTIONNAIRE if isinstance(cause, QuestionnaireProblems) else SETTINGS
            raise CommandError(f"{options['design']}:\n{located(cause.problems, lines, (part,))}") from refusal
        self.stdout.write(
            f"Study {study.slug} created from {study.template}, version {study.template_version}, on "
            f"{study.dataset_version}, run {study.run_id}."
        )
        self.stdout.write(owner_line(owner, options["owner"]))
        self.stdout.write(seed_sentence(study))
        width = max(24, *(len(condition.label) + 2 for condition in study.conditions.all()))
        self.stdout.write(f"{'Condition':<{width}}{'Model':<16}{'Target':>8}")
        for condition in study.conditions.order_by("position"):
            self.stdout.write(f"{condition.label:<{width}}{condition.model_digest[:12]:<16}{condition.target:>8}")
        for failed in failed_algorithms(study.run):
            self.stdout.write(
                f"{failed.label} is not a condition, because it failed in run {study.run_id}: {failed.error}"
            )
