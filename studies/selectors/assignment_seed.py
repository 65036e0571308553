"""The seed of a study's assignment: secret until the close, promised by its hash, and known where it was given."""

from __future__ import annotations

import hashlib
from typing import Any

from core.provenance import derived_seed
from studies.assignment.draws import Seed
from studies.enums import Mode, StudyStatus
from studies.models import Study
from studies.narrative.seed import commitment_sentence, earlier_sentence, known_sentence, revealed_sentence

KNOWN_SEED = "known seed, for simulations and demonstrations only"


def seed_state(study: Study) -> tuple[str, str]:
    """The seed's state in a word, and what it means."""
    if is_seed_known(study):
        return "Known", "for simulations and demonstrations only"
    if is_seed_revealed(study):
        return "Revealed", "the assignment can be replayed"
    return "Secret", "revealed when the study closes"


def seed_sentence(study: Study) -> str:
    """What a reader is told of the seed as the study stands."""
    if is_seed_known(study):
        return known_sentence(study.seed)
    if is_seed_revealed(study):
        sentence = revealed_sentence(seed_commitment(study), study.assignment_seed)
    else:
        sentence = commitment_sentence(seed_commitment(study))
    return sentence + earlier_sentence([seed for _n_lines, seed in study.earlier_seeds])


def assignment_seed(study: Study, mode: str) -> Seed:
    """The seed by which newcomers of one mode are assigned; `revealed_seed` is for anything shown."""
    if mode == Mode.LIVE and study.assignment_seed:
        return study.assignment_seed
    return derived_seed(study.seed, "assignment", mode)


def seeds_by_line(study: Study, mode: str) -> dict[int, Seed]:
    """The seed of each wave of one mode, by the number of lines of the allocation log before it; the first is 0."""
    earlier = study.earlier_seeds if mode == Mode.LIVE else []
    starts = [0, *(n_lines for n_lines, _seed in earlier)]
    return dict(zip(starts, [*(seed for _n_lines, seed in earlier), assignment_seed(study, mode)], strict=True))


def is_seed_known(study: Study) -> bool:
    """Whether the assignment of people follows from a seed that was given, so that it can be predicted."""
    return not study.assignment_seed


def seed_commitment(study: Study) -> str:
    """SHA-256 of the secret seed as it is written, in hexadecimal; empty where the seed is known."""
    return hashlib.sha256(study.assignment_seed.encode()).hexdigest() if study.assignment_seed else ""


def is_seed_revealed(study: Study) -> bool:
    """Whether the seed may be shown: it was known all along, or the study is closed."""
    return is_seed_known(study) or study.status == StudyStatus.CLOSED


def revealed_seed(study: Study, mode: str = Mode.LIVE, line: int | None = None) -> Seed | None:
    """The seed of a line of one mode's allocation log, counted from 0, as far as it may be shown; None while secret.

    Without a line it is the seed of the current wave.
    """
    if line is not None and mode == Mode.LIVE:
        for n_lines, seed in study.earlier_seeds:
            if line < n_lines:
                return str(seed)
    return assignment_seed(study, mode) if mode != Mode.LIVE or is_seed_revealed(study) else None


def seed_facts(study: Study) -> dict[str, Any]:
    """What is told of the seed wherever the study's data go, as plain JSON."""
    if is_seed_known(study):
        return {"seed": study.seed, "assignment_seed": KNOWN_SEED}
    earlier = [seed for _n_lines, seed in study.earlier_seeds]
    return {
        "assignment_seed_sha256": seed_commitment(study),
        "assignment_seed": revealed_seed(study),
        **({"earlier_assignment_seeds": earlier} if earlier else {}),
    }
