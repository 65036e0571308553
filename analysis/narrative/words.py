"""Small pieces of sentences that several narratives share."""

from __future__ import annotations

from collections.abc import Sequence

from documents import numbers
from documents.numbers import coefficient, p_with_sign, plural
from inference.results import AgreementResult

__all__ = ["coefficient", "plural"]
in_words = numbers.number_word  # former name


def method(tau: AgreementResult) -> str:
    """How a p value was computed: exactly, or from random orders."""
    return "exact" if tau.p_method.startswith("exact") else tau.p_method


def tau_b(tau: AgreementResult, symbol: str = "τ_b") -> str:
    """A rank correlation with its p value; `symbol` is for titles of charts, which have no subscripts.

    Examples
    --------
    >>> tau_b(AgreementResult(0.39, 0.3, "exact permutation", 7, 0.714))
    'τ_b = .39, exact p = .300'
    """
    return f"{symbol} = {coefficient(tau.coefficient)}, {method(tau)} p {p_with_sign(tau.p)}"


def length_words(length: int) -> str:
    """A profile length in a sentence."""
    return f"with profiles of {length} ratings" if length else "with whole profiles"


def sentences(parts: Sequence[str]) -> str:
    """Those sentences of a paragraph that there are."""
    return " ".join(part for part in parts if part)
