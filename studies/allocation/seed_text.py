"""Sentences about the seed of the assignment."""

from __future__ import annotations

from collections.abc import Sequence


def commitment_sentence(commitment: str) -> str:
    """State the commitment to a secret seed, for a preregistration."""
    return (
        "The seed of the assignment is 128 random bits, secret until the study closes. The SHA-256 hash of the seed, "
        f"written in hexadecimal, is {commitment}. With the seed and the allocation log the assignment can be "
        "replayed."
    )


def revealed_sentence(commitment: str, seed: str) -> str:
    """State the seed after the study is closed."""
    return (
        f"Seed of the assignment: {seed}, secret until the study closed. Its preregistered SHA-256 hash: {commitment}."
    )


def earlier_sentence(seeds: Sequence[str]) -> str:
    """State the seeds of earlier waves; empty when there were none."""
    return f" Earlier waves of recruitment used other seeds, now revealed: {', '.join(seeds)}." if seeds else ""


def known_sentence(seed: int) -> str:
    """State a seed that was never secret."""
    return (
        f"The seed of the assignment is {seed}, a known seed, for simulations and demonstrations only: anyone who "
        "knows it can predict every assignment. With the seed and the allocation log the assignment can be replayed."
    )
