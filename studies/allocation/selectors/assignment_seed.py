"""The seed of a study's assignment: secret until the study closes, with a hash as commitment, unless it was set."""

from __future__ import annotations

import hashlib
from typing import Any

from core.provenance import derived_seed
from studies.allocation.assignment.draws import Seed
from studies.enums import Mode, StudyStatus
from studies.models import Study

KNOWN_SEED = "known seed, for simulations and demonstrations only"


def seed_state(study: Study) -> tuple[str, str]:
    """Return the seed's state in one word, with an explanation."""
    if is_seed_known(study):
        return "Known", "for simulations and demonstrations only"
    if is_seed_revealed(study):
        return "Revealed", "the assignment can be replayed"
    return "Secret", "revealed when the study closes"


def seed_sentence(study: Study) -> str:
    """Describe the seed in the study's current state."""
    if is_seed_known(study):
        return known_sentence(study.seed)
    sentence = commitment_sentence(seed_commitment(study))
    if is_seed_revealed(study):
        sentence = (
            f"Seed of the assignment: {study.assignment_seed}, secret until the study closed. Its preregistered "
            f"SHA-256 hash: {seed_commitment(study)}."
        )
    if earlier := ", ".join(seed for _n_lines, seed in study.earlier_seeds):
        sentence += f" Earlier waves of recruitment used other seeds, now revealed: {earlier}."
    return sentence


def assignment_seed(study: Study, mode: str) -> Seed:
    """Return the seed that assigns newcomers of one mode; use `revealed_seed` for anything shown."""
    if mode == Mode.LIVE and study.assignment_seed:
        return study.assignment_seed
    return derived_seed(study.seed, "assignment", mode)


def seeds_by_line(study: Study, mode: str) -> dict[int, Seed]:
    """Return the seed of each wave of one mode, by the number of allocation log lines before the wave."""
    earlier = study.earlier_seeds if mode == Mode.LIVE else []
    starts = [0, *(n_lines for n_lines, _seed in earlier)]
    return dict(zip(starts, [*(seed for _n_lines, seed in earlier), assignment_seed(study, mode)], strict=True))


def is_seed_known(study: Study) -> bool:
    """Whether the seed was set explicitly, so that the assignment can be predicted."""
    return not study.assignment_seed


def seed_commitment(study: Study) -> str:
    """Return the SHA-256 of the secret seed's text, in hexadecimal; empty for a known seed."""
    return hashlib.sha256(study.assignment_seed.encode()).hexdigest() if study.assignment_seed else ""


def is_seed_revealed(study: Study) -> bool:
    """Whether the seed may be shown: it is a known seed, or the study is closed."""
    return is_seed_known(study) or study.status == StudyStatus.CLOSED


def revealed_seed(study: Study, mode: str = Mode.LIVE, line: int | None = None) -> Seed | None:
    """Return the seed of a line of one mode's allocation log, counted from 0; None while it is secret.

    Without a line, return the seed of the current wave.
    """
    # Seeds of earlier waves were revealed when those were closed, so their lines can be replayed at any time.
    if line is not None and mode == Mode.LIVE:
        for n_lines, seed in study.earlier_seeds:
            if line < n_lines:
                return str(seed)
    return assignment_seed(study, mode) if mode != Mode.LIVE or is_seed_revealed(study) else None


def seed_facts(study: Study) -> dict[str, Any]:
    """Return the facts about the seed that accompany the study's data, as plain JSON."""
    if is_seed_known(study):
        return {"seed": study.seed, "assignment_seed": KNOWN_SEED}
    earlier = [seed for _n_lines, seed in study.earlier_seeds]
    return {
        "assignment_seed_sha256": seed_commitment(study),
        "assignment_seed": revealed_seed(study),
        **({"earlier_assignment_seeds": earlier} if earlier else {}),
    }


def commitment_sentence(commitment: str) -> str:
    """State the commitment to a secret seed, for a preregistration."""
    return (
        "The seed of the assignment is 128 random bits, secret until the study closes. The SHA-256 hash of the seed, "
        f"written in hexadecimal, is {commitment}. With the seed and the allocation log the assignment can be "
        "replayed."
    )


def known_sentence(seed: int) -> str:
    """State a seed that was never secret."""
    return (
        f"The seed of the assignment is {seed}, a known seed, for simulations and demonstrations only: anyone who "
        "knows it can predict every assignment. With the seed and the allocation log the assignment can be replayed."
    )
