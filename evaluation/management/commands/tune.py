"""Search for the parameters of an algorithm by validation on development users."""

from __future__ import annotations

import csv
import json
from argparse import ArgumentParser, ArgumentTypeError
from dataclasses import asdict, astuple
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from catalog.selectors.datasets import newest_version
from charting.render import png, svg
from core.commands import ParallaxCommand
from evaluation.charts import score_by_size, tuning_trace
from evaluation.management.arguments import add_inputs, at_least_one, check_folders
from evaluation.management.progress_line import ProgressLine
from evaluation.metrics.registry import metric as named_metric
from evaluation.protocols.registry import protocol
from evaluation.run_spec import RunSpec
from evaluation.selectors.runs import run_numbered
from evaluation.services.model_size import choose_size
from evaluation.services.tuning import INTERRUPTED, Budget, Search, Trial, search
from recommenders import registry
from recommenders.search_space import Setting, Space, code, numeric_values
from recommenders.size_selection import RULES, SIZES, Choice

DECIMALS = 4
DRAWERS: dict[str, Any] = {".svg": lambda spec: svg(spec).encode(), ".png": png}


class Command(ParallaxCommand):
    help = (
        "Compare parameters of an algorithm on development users, which a later run excludes; with --sizes, its sizes "
        "on held-out ratings, by the algorithm's own criterion. Stores nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", metavar="NAME", help="name of the dataset; its newest version is used")
        parser.add_argument("algorithm", metavar="ALGORITHM", help="any, for example corngr or corngr:shrinkage=10")
        parser.add_argument(
            "--grid", default="", help="every combination, for example 'neighbours=50,200;shrinkage=0,100'"
        )
        parser.add_argument("--random", type=at_least_one, default=0, metavar="N", help="N settings drawn at random")
        parser.add_argument(
            "--range",
            default="",
            help="what random settings are drawn from, for example 'factors=10..300;reg=0.1..100:log' (default: every "
            "parameter whose limits are known)",
        )
        parser.add_argument("--fits", type=at_least_one, metavar="N", help="budget: the most models to fit")
        parser.add_argument("--minutes", type=_positive, metavar="M", help="budget: the most minutes")
        parser.add_argument("--metric", default="", help="for example ndcg@10 (default: the first of the protocol)")
        parser.add_argument(
            "--development", type=float, default=0.5, help="share of the test users for the search (default: 0.5)"
        )
        add_inputs(parser, split="probe:share=0.1", reserve=0.0, protocol="one-plus-random", n=5, seed=1, threads=None)
        sizes = parser.add_argument_group("sizes", "Dimensions or classes; the options above but --seed do not apply.")
        sizes.add_argument(
            "--sizes",
            type=_sizes,
            nargs="?",
            const=(),
            metavar="2,5,10",
            help=f"sizes of {', '.join(SIZES)} to compare (without any: a standard grid)",
        )
        sizes.add_argument("--share", type=float, default=0.1, help="share held out (default: %(default)s)")
        sizes.add_argument(
            "--rule",
            default=RULES[0],
            help="best, or smallest-near: the smallest within one standard error of the best (default: %(default)s)",
        )
        sizes.add_argument("--run", type=int, metavar="ID", help="use only the training side of this run")
        parser.add_argument("--json", type=Path, metavar="FILE", help="write all results")
        parser.add_argument("--csv", type=Path, metavar="FILE", help="write the table")
        parser.add_argument("--figure", type=Path, metavar="FILE", help="write the curve, as .svg or .png")

    def handle(self, *args: Any, **options: Any) -> None:
        figure: Path | None = options["figure"]
        check_folders(options["json"], options["csv"], figure)
        if figure is not None and figure.suffix not in DRAWERS:
            raise CommandError(f"{figure.name} is neither an .svg nor a .png file. Choose one of them.")
        with ProgressLine(self.stderr, "Stopped before any setting was measured.") as progress:
            version = newest_version(options["name"])
            result: Choice | Search
            if options["sizes"] is not None:
                key, params = registry.named_values(options["algorithm"])
                result = choose_size(
                    version=version,
                    algorithm=key,
                    values=options["sizes"] or None,
                    params=params,
                    share=options["share"],
                    rule=options["rule"],
                    seed=options["seed"],
                    threads=options["threads"] or settings.NUMERIC_THREADS,
                    run=None if options["run"] is None else run_numbered(options["run"]),
                    progress=progress,
                )
                lines, shown = size_lines(result, params), score_by_size(registry.algorithm(key).name, result)
                facts = {"run": options["run"], "seed": options["seed"], "share": options["share"], "params": params}
            else:
                result = search(
                    version=version,
                    spec=RunSpec.of(
                        algorithms=options["algorithm"],
                        metrics=options["metric"],
                        profile_lengths=(),
                        **{name: options[name] for name in ("split", "protocol", "reserve", "seed", "n", "threads")},
                    ),
                    space=Space(options["grid"], options["random"], options["range"]),
                    budget=Budget(options["fits"], None if options["minutes"] is None else 60 * options["minutes"]),
                    development=options["development"],
                    progress=progress,
                )
                lines, shown = search_lines(result, options["name"]), drawing(result)
                facts = {"code": result.code, "evaluate": evaluate_command(result, options["name"])}
        for written in lines:
            self.stdout.write(written)
        if options["json"]:
            document = {"dataset": options["name"], "dataset_hash": version.content_hash, **facts, **asdict(result)}
            options["json"].write_text(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n")
        if options["csv"]:
            with options["csv"].open("w", newline="", encoding="utf-8") as stream:
                csv.writer(stream).writerows(size_rows(result) if isinstance(result, Choice) else search_rows(result))
        if figure is not None:
            figure.write_bytes(DRAWERS[figure.suffix](shown["light"]))
        for file in filter(None, (options["json"], options["csv"], figure)):
            self.stdout.write(f"Written to {file}.")


def size_lines(choice: Choice, params: Setting) -> list[str]:
    """Format the sizes as a table, then the choice; `params` are those of all sizes."""
    direction = "higher" if choice.is_higher_better else "lower"
    rows = [[choice.parameter, "score", "std. error", "epochs", ""]]
    for size in choice.sizes:
        numbers = [str(size.value), f"{size.score:.5f}", f"{size.standard_error:.5f}", str(size.epochs or "")]
        rows.append([*numbers, "chosen" if size.value == choice.chosen else ""])
    widths = (10, 12, 11, 7, 7)
    table = [" ".join(map(str.rjust, row, widths)).rstrip() for row in rows]
    chosen = code(choice.algorithm, {**params, choice.parameter: str(choice.chosen)})
    heading = f"{choice.criterion}; {direction} is better."
    return [heading, "", *table, "", choice.in_words, f"Train or measure {chosen}"]


def size_rows(choice: Choice) -> list[tuple[Any, ...]]:
    """The sizes as rows of a CSV file."""
    rows = [(*astuple(size), int(size.value == choice.chosen)) for size in choice.sizes]
    return [(choice.parameter, "score", "standard_error", "epochs", "is_chosen"), *rows]


def search_lines(result: Search, dataset: str) -> list[str]:
    """Format the trials as a table, then what was not tried, the choice, and how to evaluate it."""
    best, measured = result.best, [trial for trial in result.trials if trial.value is not None]
    direction = "higher" if result.is_higher_better else "lower"
    width = max(len(_written(setting)) for setting in (*(trial.setting for trial in result.trials), *result.left))
    lines = [
        f"{result.metric} on {result.n_development:,} development users; {direction} is better.",
        "",
        f"{'setting'.ljust(width)} {'value':>9} {'95% CI':>18} {'fit (s)':>8}",
    ]
    for trial in result.trials:
        lines.append(f"{_written(trial.setting).ljust(width)} {_numbers(trial)}{'  chosen' if trial is best else ''}")
    if result.left:
        why = (
            "The search was interrupted" if result.stopped_by == INTERRUPTED else f"Budget spent ({result.stopped_by})"
        )
        names = "; ".join(map(_written, result.left[:10])) + ("; …" if len(result.left) > 10 else "")
        lines += ["", f"{why}. Not tried ({len(result.left):,}): {names}."]
    lines += [
        "",
        f"Chosen of {len(measured):,} settings: {result.code}",
        "Equal values are decided for the setting that was tried first. The value of the chosen setting is too "
        "favourable, because it is the best of several. All settings were measured on the same users, so differences "
        "between them are more precise than the intervals suggest.",
        f"Measure it on the {result.n_evaluation:,} other test users, who had no part in the search, with",
        f"    {evaluate_command(result, dataset)}",
        "A run with another split or seed may test the same users again.",
    ]
    return lines


def evaluate_command(result: Search, dataset: str) -> str:
    """Return the command that measures the chosen setting on the users who had no part in the search."""
    stated = {name: value for name, value in result.protocol.items() if name != "name"}
    usual = protocol(str(result.protocol["name"])).settings
    changed = {name: value for name, value in stated.items() if value != usual[name]}
    words = ",".join(f"{name}={value}" for name, value in changed.items())
    parts = [
        f".venv/bin/python manage.py evaluate {dataset} --algorithms '{result.code}' --split '{result.split}'",
        f"--protocol '{result.protocol['name']}{':' if words else ''}{words}'",
        f"--metrics '{result.metric}' --n {result.n} --seed {result.seed}",
    ]
    return " ".join(parts) + (f" --reserve {result.reserve:g}" if result.reserve else "")


def _numbers(trial: Trial) -> str:
    if trial.value is None:
        return f"no value: {trial.reason}"
    interval = "" if trial.low is None else f"[{trial.low:.{DECIMALS}f}, {trial.high:.{DECIMALS}f}]"
    caveat = f"  {trial.reason}" if trial.reason else ""
    return f"{trial.value:>9.{DECIMALS}f} {interval:>18} {trial.fit_seconds:>8.2f}{caveat}"


def _written(setting: Setting) -> str:
    return ", ".join(f"{name}={value}" for name, value in setting.items())


def drawing(result: Search) -> dict[str, Any]:
    """Draw the metric by the only searched parameter if that is a number, otherwise the best value so far by trial."""
    measured = [trial for trial in result.trials if trial.value is not None]
    best = _written(result.best.setting)
    by_value = numeric_values([trial.setting for trial in measured])
    x_title, x_values = by_value or (
        "Model, in the order of fitting; the line is the best so far",
        list(range(1, len(measured) + 1)),
    )
    points = sorted(zip(x_values, measured, strict=True), key=lambda point: point[0])
    return tuning_trace(
        [(x, _estimate(trial)) for x, trial in points],
        title=f"{result.name} has the best {result.metric} with {best}, of {len(measured)} settings",
        x_title=x_title,
        metric=result.metric,
        chosen=[trial for _, trial in points].index(result.best),
        best_so_far=None if by_value else [trial.best_so_far for trial in measured if trial.best_so_far is not None],
        is_share=named_metric(result.metric).definition.high <= 1,
    )


def _estimate(trial: Trial) -> tuple[float, float, float]:
    value = float(trial.value or 0.0)
    return (value, value, value) if trial.low is None or trial.high is None else (value, trial.low, trial.high)


def search_rows(result: Search) -> list[list[Any]]:
    """The settings as rows of a CSV file, those that were not tried at the end."""
    names = list(result.best.setting)
    facts = ("value", "low", "high", "n_users", "fit_seconds", "best_so_far", "reason")
    rows: list[list[Any]] = [[*names, "is_tried", "is_chosen", *facts]]
    for trial in result.trials:
        rows.append([*trial.setting.values(), 1, int(trial is result.best), *(getattr(trial, fact) for fact in facts)])
    return [*rows, *([*setting.values(), 0, 0, *[""] * len(facts)] for setting in result.left)]


def _sizes(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(piece) for piece in text.split(","))
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not valid; write whole numbers, such as 2,5,10.") from None


def _positive(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not number > 0:
        raise ArgumentTypeError(f"{text!r} is not a number above 0; omit the option for no limit.")
    return number
