"""Sentences about equivalence within the smallest effect of interest."""

from __future__ import annotations

from analysis.results.comparison import Equivalence
from analysis.tables.levels import coverage
from documents.numbers import interval, number
from inference import apa
from inference.equivalence import BoundedPair
from inference.results import Undefined
from studies.design.narrative.plan import level

MOST_NAMED = 4


def sentences(tested: Equivalence) -> list[str]:
    """What was planned, what the pairs show, and the planned contrast."""
    variable, result = tested.variable, tested.result
    bound = number(tested.bound, 2, variable.is_share)
    opening = f"The plan names {bound} points of {variable.in_text} as the smallest effect of interest."
    if isinstance(result, Undefined):
        return [f"{opening} Equivalence could not be tested. {result.reason}"]
    same = [pair for pair in result.pairs if pair.is_equivalent]
    beyond = [pair for pair in result.pairs if pair.is_beyond]
    n_open = len(result.pairs) - len(same) - len(beyond)
    said = [
        f"{opening} Of {len(result.pairs)} pairs of algorithms, {_named(same)} shown to differ by less (practically "
        f"the same), and {_named(beyond)} shown to differ by more; for {n_open or 'none'} the data do not decide (two "
        f"one-sided tests and minimum-effect tests, α = {level(tested.alpha)}, each family corrected by Holm)."
    ]
    if tested.contrast is not None:
        test = tested.contrast
        finding = "is" if test.p_equivalence < tested.alpha else "is not"
        limits = interval(test.interval.low, test.interval.high, 2, variable.is_share)
        said.append(
            f"The difference of the planned contrast {finding} shown to lie within ± {bound}: "
            f"{coverage(2 * tested.alpha)} CI {limits}, {apa.p_value(test.p_equivalence)} for equivalence."
        )
    return said


def _named(pairs: list[BoundedPair]) -> str:
    if not pairs:
        return "none was"
    names = "; ".join(f"{pair.a} and {pair.b}" for pair in pairs[:MOST_NAMED])
    rest = "; …" if len(pairs) > MOST_NAMED else ""
    return f"{len(pairs)} ({names}{rest}) {'was' if len(pairs) == 1 else 'were'}"
