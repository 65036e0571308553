from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from decimal import Decimal, InvalidOperation
from typing import Any

from studies.management.study_command import StudyCommand
from studies.monitoring.selectors.estimate import cost_of, estimate_of

LARGEST = Decimal(100_000)


def amount(raw: str) -> Decimal:
    """A sum of money or a percentage."""
    try:
        value = Decimal(raw)
    except InvalidOperation:
        raise ArgumentTypeError(f"{raw!r} is not a number; write it like 2.50") from None
    if not (value.is_finite() and 0 <= value <= LARGEST):
        raise ArgumentTypeError(f"{raw} is not between 0 and {LARGEST:,}")
    return value


class Command(StudyCommand):
    help = "Estimate how long a study takes a participant, and what the whole study costs at a reward."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("--reward", type=amount, help="of one participant, in any currency")
        parser.add_argument("--fee", type=amount, default=Decimal(0), help="what the panel adds, in percent")

    def handle(self, *args: Any, **options: Any) -> None:
        study = self.study(options["slug"])
        estimate = estimate_of(study)
        self.stdout.write(f"Estimates for {study.slug}, minutes:")
        for step in estimate.steps:
            self.stdout.write(f"  {step.name:<28}{step.minutes:>6.1f}  {step.basis}")
        self.stdout.write(f"  {'Total':<28}{estimate.minutes:>6.1f}")
        self.stdout.write(estimate.basis)
        if estimate.is_assumed:
            self.stdout.write("Assumed times are rough guesses, in seconds per question, item and word.")
        if options["reward"] is None:
            self.stdout.write("Add --reward to estimate the cost of the study.")
            return
        cost = cost_of(estimate, reward=options["reward"], fee_percent=options["fee"])
        self.stdout.write(
            f"At {cost.reward:,} for each of {estimate.n_planned:,} participants: {cost.rewards:,} plus a fee of "
            f"{cost.fee:,} ({cost.fee_percent:g}%), {cost.total:,} in total; {cost.remaining:,} remaining."
        )
        if cost.an_hour is not None:
            self.stdout.write(f"That pays about {cost.an_hour:,} an hour.")
