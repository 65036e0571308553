"""Whether the conditions of a study are the full product of its factors."""

from __future__ import annotations

from studies.models import Study
from studies.presentation import cells_of


def crossing_problem(study: Study) -> str:
    """What keeps the conditions from being the product of the study's factors, in sentences; empty where they are."""
    conditions, factors = list(study.conditions.order_by("position")), study.design.factors
    if not factors:
        crossed = [condition.label for condition in conditions if condition.levels or condition.presentation]
        return f"No factors are set, and these conditions are of some: {', '.join(crossed)}." if crossed else ""
    cells = {cell.label: cell for cell in cells_of(factors)}
    by_levels = {tuple(sorted(condition.levels.items())): condition for condition in conditions}
    models: dict[str, set[str]] = {}
    missing = []
    for label, cell in cells.items():
        condition = by_levels.pop(tuple(sorted(cell.levels.items())), None)
        if condition is None or condition.presentation != cell.presentation.stored():
            missing.append(label)
        else:
            models.setdefault(cell.recommender, set()).add(condition.model_digest)
    extra = [condition.label for condition in by_levels.values()]
    several = [name for name, digests in models.items() if len(digests) > 1]
    sentences = [
        f"The factors have cells without a condition: {', '.join(missing)}." if missing else "",
        f"These conditions are no cells of the factors: {', '.join(extra)}." if extra else "",
        f"Conditions with the recommender {several[0]} have different models." if several else "",
    ]
    problem = " ".join(filter(None, sentences))
    return f"{problem} Choose the conditions again." if problem else ""
