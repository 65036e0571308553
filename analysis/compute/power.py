"""Power of the analysis of variance at the number of participants in a report, by effect size."""

from __future__ import annotations

from analysis.read.inputs import Answers
from analysis.results.follow_up import Power, PowerCurve
from core.errors import ParameterError
from inference.results import Undefined
from studies.design.selectors.planning import WISHED_POWER, power_plan
from studies.models import Study

LEAST_N = 2


def achieved_power(answers: Answers, study: Study, alpha: float) -> Power | Undefined:
    """Power at the size of the smallest tested condition, for the study's stated effect and others.

    It follows from the design and the numbers alone, never from the observed effect.
    """
    tested = [n for n in (len(answers.of(name)) for name in answers.conditions) if n >= LEAST_N]
    if len(tested) < LEAST_N:
        return Undefined("Fewer than two conditions have two participants.")
    try:
        plan = power_plan(
            conditions=len(tested),
            planned=min(tested),
            f=study.design.effect,
            power=WISHED_POWER,
            alpha=alpha,
        )
    except ParameterError as error:
        return Undefined(str(error))
    return Power(
        conditions=len(tested),
        n_per_condition=min(tested),
        is_smallest=len(set(tested)) > 1,
        alpha=alpha,
        target_power=WISHED_POWER,
        stated=plan.stated,
        n_values=plan.n_values,
        effects=tuple(PowerCurve(name=name, power=line) for name, line in plan.curves.items()),
        at_stated=plan.planned,
        needed=plan.needed,
        smallest=plan.smallest,
    )
