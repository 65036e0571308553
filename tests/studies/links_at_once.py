"""A program, run by test_links_at_once.py on one database after the other: one link, one id, many presses at once."""

# ruff: noqa: I001 - the first import from the tests sets Django up

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.studies.hundred_at_once import at_once, faults, study_of_seven

from django.core.management import call_command
from django.db import connection

from core.errors import ParallaxError
from studies.models import ExternalId, Study
from studies.participation.services.entry_gate import EntryAttempt
from studies.participation.services import consenting
from studies.recruitment.services.recruitment import create_links, set_panel
from studies.recruitment.services.submissions import load_submissions
from tests.factories.studies import assigned, enter, recruit_on_prolific

N = 40


def one_link(study: Study) -> dict[str, Any]:
    """Forty presses on one personal link, and forty on forty others."""
    set_panel(study=study, panel="none", entrance="personal")
    (_link, key), *others = create_links(study=study, n=N + 1)
    same = at_once([lambda: consenting.consent(EntryAttempt(study=study, entry_key=key, browser_key="b" * 43))] * N)
    each = at_once(
        [lambda k=k: consenting.consent(EntryAttempt(study=study, entry_key=k, browser_key=k)) for _link, k in others]
    )
    ((_link, key),) = create_links(study=study, n=1)
    browsers = at_once(
        [
            lambda n=n: consenting.consent(EntryAttempt(study=study, entry_key=key, browser_key=f"{n:043d}"))
            for n in range(N)
        ]
    )
    refused = [one for one in browsers if isinstance(one, ParallaxError)]
    return {
        "faults": faults(same) + faults(each) + faults([one for one in browsers if one not in refused]),
        "refused": dict(Counter(one.code for one in refused)),
        "people": len({entry.participant.pk for entry in same}),
        "tokens": len({entry.token for entry in same}),
        "participants": study.participants.count(),
    }


def one_id(study: Study) -> dict[str, Any]:
    """Forty devices that bring the same id at the same instant."""
    recruit_on_prolific(study)
    done = at_once([lambda: enter(study, parameters={"PROLIFIC_PID": "Ab1"}) for _ in range(N)])
    refused = Counter(one.code for one in done if isinstance(one, ParallaxError))
    return {
        "faults": faults([one for one in done if not isinstance(one, ParallaxError)]),
        "refused": dict(refused),
        "participants": study.participants.count(),
        "ids": ExternalId.objects.filter(study=study).count(),
    }


def one_list(study: Study) -> dict[str, Any]:
    """One panel's list loaded eight times at the same instant, while its people come back."""
    recruit_on_prolific(study)
    people = [assigned(study) for _ in range(10)]
    for number, person in enumerate(people):
        ExternalId.objects.create(study=study, participant=person, name="PROLIFIC_PID", value=f"p{number}")
    rows = "".join(f"s{number},p{number},RETURNED\n" for number in range(10))
    data = f"Submission id,Participant id,Status\n{rows}".encode()
    done = at_once([lambda: load_submissions(study=study, data=data)] * 8)
    return {
        "faults": faults(done),
        "returned": sum(one.n_returned for one in done),
        "new": sum(one.n_new for one in done),
        "released": study.allocations.filter(kind="released").count(),
    }


def one_form(study: Study) -> dict[str, Any]:
    """One consent form declined forty times at the same instant, and forty others."""
    same = at_once([lambda: consenting.decline(study=study, entry_key="k" * 43)] * N)
    each = at_once([lambda k=k: consenting.decline(study=study, entry_key=f"{k:043d}") for k in range(N)])
    study.refresh_from_db()
    return {"faults": faults(same) + faults(each), "declined": study.n_declined}


def main() -> None:
    call_command("migrate", run_syncdb=True, verbosity=0, interactive=False)
    call_command("flush", verbosity=0, interactive=False)  # another program was here before
    first = study_of_seven("one-link", 20)
    found = {
        "vendor": connection.vendor,
        "one_link": one_link(first),
        "one_id": one_id(study_of_seven("one-id", 20, first)),
        "one_list": one_list(study_of_seven("one-list", 20, first)),
        "one_form": one_form(study_of_seven("one-form", 20, first)),
    }
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
