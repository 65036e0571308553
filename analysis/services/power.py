"""What the number of participants in a report can show: power of the analysis of variance by effect and size."""

from __future__ import annotations

from typing import Any

from analysis.selectors.inputs import Answers
from core.errors import ParameterError
from studies.models import Study
from studies.selectors.planning import MEDIUM, WISHED_POWER, power_plan

LEAST_N = 2


def achieved_power(answers: Answers, study: Study, alpha: float) -> dict[str, Any]:
    """Power at the size of the smallest condition that the tests take in, for the study's stated effect and others.

    It is computed from the design and the numbers alone, never from the effect that was found.
    """
    sizes = [len(answers.of(name)) for name in answers.conditions]
    tested = [n for n in sizes if n >= LEAST_N]
    if len(tested) < LEAST_N:
        return {"is_defined": False, "reason": "Fewer than two conditions have two participants."}
    try:
        found = power_plan(
            conditions=len(tested),
            planned=min(tested),
            f=float(study.settings.get("effect", MEDIUM)),
            power=WISHED_POWER,
            alpha=alpha,
        )
    except ParameterError as refused:
        return {"is_defined": False, "reason": str(refused)}
    return {
        "is_defined": True,
        "conditions": len(tested),
        "n_per_condition": min(tested),
        "is_smallest": len(set(tested)) > 1,
        "alpha": alpha,
        "wished_power": WISHED_POWER,
        "stated": found.stated,
        "n_values": list(found.n_values),
        "effects": [{"name": name, "power": list(line)} for name, line in found.curves.items()],
        "at_stated": found.planned.as_dict(),
        "needed": found.needed.as_dict(),
        "smallest": found.smallest.as_dict(),
    }
