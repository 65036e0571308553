"""Create the repetitions of a run."""

from __future__ import annotations

from core.errors import ParallaxError
from evaluation.enums import RunStatus
from evaluation.models import EvaluationRun
from evaluation.selectors.repeats import MOST_REPEATS, is_same_but_for_seed, repeat_seed
from evaluation.services.run_inputs import spec_of_run
from evaluation.services.runs import create_run


def check_repeats(*, repeats: int) -> None:
    """Raise ParallaxError with code ``run.bad_input`` for a number of repetitions that is not allowed."""
    if not 1 <= repeats <= MOST_REPEATS:
        raise ParallaxError(
            "run.bad_input", f"The number of repetitions is {repeats}; it must lie between 1 and {MOST_REPEATS}."
        )


def create_repeat(*, run: EvaluationRun, number: int, queue: str = "") -> EvaluationRun:
    """Create repetition `number` of a run, or return it if it has succeeded.

    It has all inputs of the run but the seed, which is derived from that of the run and the number.
    """
    check_repeats(repeats=number)
    seed = repeat_seed(run, number)
    comparable = EvaluationRun.objects.comparable_in(run.project_id)
    succeeded = comparable.filter(version=run.version, seed=seed, status=RunStatus.SUCCEEDED)
    for repeat in succeeded.order_by("pk"):
        if is_same_but_for_seed(run, repeat):
            return repeat
    return create_run(
        version=run.version,
        spec=spec_of_run(run=run, seed=seed),
        owner=run.owner,
        queue=queue,
        part_users=run.part_users,
    )
