"""What is told of the seed of the assignment."""

from __future__ import annotations


def commitment_sentence(commitment: str) -> str:
    """What a preregistration tells of a secret seed.

    Parameters
    ----------
    commitment : str
        SHA-256 of the seed.

    Returns
    -------
    str
    """
    return (
        "The seed of the assignment is 128 random bits, secret until the study closes. The SHA-256 hash of the seed, "
        f"written in hexadecimal, is {commitment}. With the seed and the allocation log the assignment can be "
        "replayed."
    )


def revealed_sentence(commitment: str, seed: str, *, is_reopened: bool) -> str:
    """What is told of the seed once the study is closed.

    Parameters
    ----------
    commitment : str
        SHA-256 of the seed.
    seed : str
        The seed in hexadecimal.
    is_reopened : bool
        Whether participants are assigned by it again.

    Returns
    -------
    str
    """
    later = " The study was reopened after that, so anyone can predict the later assignments." if is_reopened else ""
    return (
        f"Seed of the assignment: {seed}, secret until the study closed. Its preregistered SHA-256 hash: {commitment}."
        f"{later}"
    )


def known_sentence(seed: int) -> str:
    """What is told of a seed that was never secret.

    Parameters
    ----------
    seed : int
        The seed.

    Returns
    -------
    str
    """
    return (
        f"The seed of the assignment is {seed}, a known seed, for simulations and demonstrations only: anyone who "
        "knows it can predict every assignment. With the seed and the allocation log the assignment can be replayed."
    )
