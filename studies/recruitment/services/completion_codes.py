"""Readable codes: participant codes and completion codes.

A completion code is random, unique within the study, drawn once, and shown again on every load.
"""

from __future__ import annotations

import secrets

from django.db import transaction

from studies.models import Participant
from studies.recruitment.panels.exits import STATIC, UNIQUE, Exit

LETTERS = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"  # without look-alikes: no 0 O 1 I L
CODE_LENGTH = 6  # of a participant code
COMPLETION_LENGTH = 8


def random_code(length: int) -> str:
    """Return a random code of unambiguous characters."""
    return "".join(secrets.choice(LETTERS) for _ in range(length))


def new_code(participant: Participant) -> str:
    """Draw a code that is unique within the study."""
    while True:
        code = random_code(COMPLETION_LENGTH)
        # Concurrent equal codes are practically impossible; the database would reject the second.
        if not Participant.objects.filter(study=participant.study_id, completion_code=code).exists():
            return code


@transaction.atomic
def code_of(*, participant: Participant, exit_: Exit) -> str:
    """Return the code that a participant sees at an exit; a unique code is drawn and stored on first use.

    Erased participants have no code and get no new one.
    """
    if exit_.code == STATIC:
        return exit_.static_code
    if exit_.code != UNIQUE:
        return ""
    if not participant.completion_code:
        current = Participant.objects.select_for_update(of=("self",)).get(pk=participant.pk)
        if not current.completion_code and current.erased_at is None:
            current.completion_code = new_code(current)
            current.save(update_fields=["completion_code", "updated_at"])
        participant.completion_code = current.completion_code
    return participant.completion_code
