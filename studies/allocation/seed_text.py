"""Sentences about the seed of the assignment."""

from __future__ import annotations

from collections.abc import Sequence


def commitment_sentence(commitment: str) -> str:
    """State the commitment to a secret seed, for a preregistration.

    Parameters
    ----------
    commitment : str
        SHA-256 of the seed.
    """
    return (
        "The seed of the assignment is 128 random bits, secret until the study closes. The SHA-256 hash of the seed, "
        f"written in hexadecimal, is {commitment}. With the seed and the allocation log the assignment can be "
        "replayed."
    )


def revealed_sentence(commitment: str, seed: str) -> str:
    """State the seed after the study is closed.

    Parameters
    ----------
    commitment : str
        SHA-256 of the seed.
    seed : str
        The seed in hexadecimal.
    """
    return (
        f"Seed of the assignment: {seed}, secret until the study closed. Its preregistered SHA-256 hash: {commitment}."
    )


def earlier_sentence(seeds: Sequence[str]) -> str:
    """State the seeds of earlier waves; empty when there were none.

    Parameters
    ----------
    seeds : sequence of str
        The seeds in hexadecimal, the first wave's first.
    """
    return f" Earlier waves of recruitment used other seeds, now revealed: {', '.join(seeds)}." if seeds else ""


def known_sentence(seed: int) -> str:
    """State a seed that was never secret."""
    return (
        f"The seed of the assignment is {seed}, a known seed, for simulations and demonstrations only: anyone who "
        "knows it can predict every assignment. With the seed and the allocation log the assignment can be replayed."
    )
