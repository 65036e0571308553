"""A program, run by test_fifty_in_turn.py: fifty people at the same instant, who meet three conditions in six orders.

It prints one JSON object of what it found; the test says what is right.
"""

# ruff: noqa: I001 - the first import from the tests sets Django up

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.studies.hundred_at_once import ABOUT, about, at_once, faults

from django.core.management import call_command
from django.db import connection

from studies.allocation.selectors.allocations import replayed_log
from studies.design.services.launch import launch_study
from studies.enums import Mode
from studies.models import Study
from studies.participation.services import enrolment
from studies.recruitment.services.recruitment import MOST_ENTERING, set_limits
from tests.factories.studies import add_conditions, add_sequences, enter, make_study

N = 50


def study_in_turn(slug: str, like: Study | None = None, **settings: Any) -> Study:
    study = make_study(slug=slug, status="draft", run=like.run if like else None, settings=settings)
    add_conditions(study, 3)
    add_sequences(study, target=10)
    launch_study(study=study)
    set_limits(study=study, most_per_network=MOST_ENTERING, pause_at=MOST_ENTERING)  # a crowd is what is tested
    study.refresh_from_db()
    return study


def crowd(study: Study, answers: Any) -> dict[str, Any]:
    """Fifty come at once and are assigned at once."""
    entered = at_once([lambda: enter(study) for _ in range(N)])
    people = [entry.participant for entry in entered]
    done = at_once(
        [lambda p=p, n=n: enrolment.accept_about(participant=p, answers=answers(n)) for n, p in enumerate(people)]
    )
    blocks: dict[str, list[int]] = {}
    rows = study.allocations.order_by("stratum", "place").values_list("stratum", "block", "sequence__position")
    for stratum, block, position in rows:
        blocks.setdefault(f"{stratum} {block}", []).append(position)
    return {
        "faults": faults(entered) + faults(done),
        "blocks": [sorted(block) for block in blocks.values()],
        "statuses": sorted(set(study.participants.values_list("status", flat=True))),
        "replayed": replayed_log(study, Mode.LIVE).problem,
    }


def main() -> None:
    call_command("migrate", run_syncdb=True, verbosity=0, interactive=False)
    first = study_in_turn("one-stratum", strata=[])
    found = {
        "vendor": connection.vendor,
        "one_stratum": crowd(first, lambda number: ABOUT),
        "strata": crowd(study_in_turn("strata", first), about),
    }
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
