"""Choose the size of a model by validation on a part of the training data."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from catalog.selectors.datasets import newest_version
from charting.render import svg
from core.commands import ParallaxCommand
from evaluation.charts import score_by_size
from evaluation.management.arguments import at_least_one, check_folders, named_values
from evaluation.management.progress_line import ProgressLine
from evaluation.selectors.runs import run_numbered
from evaluation.services.model_size import choose_size
from recommenders import registry
from recommenders.size_selection import RULES, SIZES, Choice


class Command(ParallaxCommand):
    help = "Compare sizes of an algorithm (dimensions, classes) on held-out ratings and recommend one. Stores nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", metavar="NAME", help="name of the dataset; its newest version is used")
        parser.add_argument("--algorithm", required=True, metavar="KEY", help=f"one of {', '.join(SIZES)}")
        parser.add_argument("--values", metavar="2,5,10", help="sizes to compare (default: a standard grid)")
        parser.add_argument("--param", action="append", default=[], metavar="NAME=VALUE", help="parameter of all sizes")
        parser.add_argument("--share", type=float, default=0.1, help="share held out (default: %(default)s)")
        parser.add_argument(
            "--rule",
            default=RULES[0],
            help="best, or smallest-near: the smallest within one standard error of the best (default: %(default)s)",
        )
        parser.add_argument("--run", type=int, metavar="ID", help="use only the training side of this run")
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument("--threads", type=at_least_one, help="numeric threads (default: NUMERIC_THREADS)")
        parser.add_argument("--json", type=Path, metavar="FILE", help="write all results")
        parser.add_argument("--svg", type=Path, metavar="FILE", help="write the curve")

    def handle(self, *args: Any, **options: Any) -> None:
        check_folders(options["json"], options["svg"])
        with ProgressLine(self.stderr, "Stopped. Nothing was chosen.") as progress:
            version = newest_version(options["name"])
            values = _values(options["values"])
            params = named_values(options["param"], "iterations=20")
            choice = choose_size(
                version=version,
                algorithm=options["algorithm"],
                values=values,
                params=params,
                share=options["share"],
                rule=options["rule"],
                seed=options["seed"],
                threads=options["threads"] or settings.NUMERIC_THREADS,
                run=None if options["run"] is None else run_numbered(options["run"]),
                progress=progress,
            )
        name = registry.algorithm(choice.algorithm).name
        for written in lines(choice, name):
            self.stdout.write(written)
        if options["json"]:
            document = {
                "dataset": options["name"],
                "dataset_hash": version.content_hash,
                "run": options["run"],
                "seed": options["seed"],
                "share": options["share"],
                "params": params,
                **asdict(choice),
            }
            options["json"].write_text(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n")
            self.stdout.write(f"Written to {options['json']}.")
        if options["svg"]:
            spec = score_by_size(name, choice)
            options["svg"].write_text(svg(spec["light"]))
            self.stdout.write(f"Figure written to {options['svg']}.")


def lines(choice: Choice, name: str) -> list[str]:
    """Format the results as a table and the choice as sentences."""
    heads = [choice.parameter.rjust(10), "score".rjust(12), "std. error".rjust(11), "epochs".rjust(7)]
    direction = "higher" if choice.is_higher_better else "lower"
    rows = [
        f"{choice.criterion}; {direction} is better.",
        f"{choice.n_held_out:,} ratings of {choice.n_people:,} users were held out.",
        "",
        " ".join(heads),
    ]
    for size in choice.sizes:
        mark = "  chosen" if size.value == choice.chosen else ""
        epochs = "" if size.epochs is None else str(size.epochs)
        rows.append(f"{size.value:>10} {size.score:>12.5f} {size.standard_error:>11.5f} {epochs:>7}{mark}")
    why = "the best" if choice.rule == "best" else "the smallest within one standard error of the best"
    rows += ["", f"{name}: {choice.chosen} is {why}. Train it with --param {choice.parameter}={choice.chosen}."]
    ends = {choice.sizes[0].value: "smaller", choice.sizes[-1].value: "larger"}
    if choice.best.value in ends:
        rows.append(f"The best size is at the end of the range; try {ends[choice.best.value]} values too.")
    return rows


def _values(text: str | None) -> list[int] | None:
    if text is None:
        return None
    try:
        return [int(piece) for piece in text.split(",")]
    except ValueError:
        raise CommandError(f"--values {text} is not valid. Write whole numbers, as in --values 2,5,10.") from None
