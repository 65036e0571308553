"""Codes that people read out: participants' own, and completion codes.

A completion code is drawn once, unguessable and unlike any other of the study, and shown again on every load.
"""

from __future__ import annotations

import secrets

from django.db import transaction

from studies.models import Participant
from studies.recruiting.exits import STATIC, UNIQUE, Exit

LETTERS = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"  # none that is taken for another: no 0 O 1 I L
CODE_LENGTH = 6  # of a participant's own
COMPLETION_LENGTH = 8


def drawn_code(length: int) -> str:
    """A code that can be read out without mistakes."""
    return "".join(secrets.choice(LETTERS) for _ in range(length))


def new_code(participant: Participant) -> str:
    """Draw a code that nobody in the study has."""
    while True:
        code = drawn_code(COMPLETION_LENGTH)
        # Two equal codes at the same instant are as good as impossible; the database would refuse the second.
        if not Participant.objects.filter(study=participant.study_id, completion_code=code).exists():
            return code


@transaction.atomic
def code_of(*, participant: Participant, exit_: Exit) -> str:
    """The code that a participant is shown at an exit; one of their own is drawn at the first look and stored.

    Whoever was erased has none any more, and gets no other.
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
