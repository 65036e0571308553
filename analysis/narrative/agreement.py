"""Sentences on the agreement of both sides, pair by pair."""

from __future__ import annotations

from analysis.narrative.words import plural, tau_b
from analysis.results.advantage import DecidedPairs
from analysis.results.comparison import Comparison
from analysis.tables.cells import capital, relation
from inference.pair_decisions import PairClass
from inference.results import Undefined

KENDALL = "Kendall’s τ"


def agreement(comparison: Comparison) -> str:
    """How many pairs of algorithms each side separates, and in which direction."""
    decided, metric = comparison.decided, comparison.metric_word
    if not isinstance(decided, DecidedPairs):
        return ""
    counts = {decision: len(decided.of(decision)) for decision in PairClass}
    return (
        f"Of {plural(len(decided.pairs), 'pair')} of algorithms, participants and {metric} agree on "
        f"{counts[PairClass.AGREE]} and contradict each other on {counts[PairClass.CONTRADICT]}; participants alone "
        f"separate {counts[PairClass.PARTICIPANTS_ONLY]}, {metric} alone {counts[PairClass.OFFLINE_ONLY]}, and "
        f"{counts[PairClass.UNDECIDED]} are undecided."
    )


def same_direction(comparison: Comparison) -> str:
    """The pairs that both sides order alike, and those that Games-Howell only implies."""
    sentences = []
    if pairs := comparison.pairs(PairClass.AGREE):
        above = [
            (pair.a, pair.b) if pair.participants_favour == pair.a else (pair.b, pair.a)
            for pair in pairs
        ]  # fmt: skip
        sentences.append(f"Both sides put {relation(above, 'above')}.")
    if isinstance(comparison.decided, DecidedPairs) and (implied := comparison.decided.implied):
        sentences.append(
            f"Games-Howell does not separate {relation(implied, 'from')}, which a chain of its pairs implies; such "
            "pairs are not counted."
        )
    return " ".join(sentences)


def slope_title(comparison: Comparison) -> str:
    """The finding of the two ranked lists."""
    n = len(comparison.pairs(PairClass.CONTRADICT))
    if not n:
        return "No order reverses significantly"
    total = len(comparison.conditions) * (len(comparison.conditions) - 1) // 2
    return f"{n} of {plural(total, 'order')} {'reverses' if n == 1 else 'reverse'} significantly"


def grid_title(decided: DecidedPairs) -> str:
    """The finding of the grid of pairs."""
    agree, contradict = (len(decided.of(decision)) for decision in (PairClass.AGREE, PairClass.CONTRADICT))
    verb = "agrees" if agree == 1 else "agree"
    return (
        f"{agree} of {plural(len(decided.pairs), 'pair')} {verb}, {contradict or 'none'} "
        f"{'contradicts' if contradict == 1 else 'contradict'}"
    )


def scatter_title(comparison: Comparison, n: int) -> str:
    """The finding of one point per algorithm."""
    variable, metric, tau = comparison.variable.in_text, comparison.metric(n).in_text, comparison.tau
    if isinstance(tau, Undefined):
        return f"{capital(variable)} against {metric}"
    return f"{capital(variable)} against {metric} ({tau_b(tau, KENDALL)})"
