"""Metrics: formula, range, undefined cases, task and source, from their definitions."""

from __future__ import annotations

from evaluation.metrics.definition import TASKS, Choice, Definition, written
from evaluation.metrics.registry import METRICS, Metric, metric


def name_of(definition: Definition) -> str:
    """Return a metric's name with default choices and a list length of 10.

    Raises ValueError if the name is not read back as this metric.
    """
    name = str(Metric(definition.key, 10 if definition.needs_n else None))
    if metric(name).key != definition.key:
        raise ValueError(f"{name} is not read as {definition.key}.")
    return name


def _number(limit: float) -> str:
    return "∞" if limit == float("inf") else written(float(limit))


def _choice(choice: Choice) -> str:
    default = "none" if choice.default is None else written(choice.default)
    return f"`{choice.name}` ({choice.limits()}; default {default}): {choice.description}"


def _entry(definition: Definition) -> str:
    if not definition.source.endswith("."):
        raise ValueError(f"{definition.key} names no source.")
    tasks = ", ".join(TASKS[task] for task in definition.tasks)
    better = {"higher": "; higher is better", "lower": "; lower is better", "neither": ""}[definition.direction]
    facts = [
        f"**Formula:** $`{definition.formula}`$",
        f"**Range:** {_number(definition.low)} to {_number(definition.high)}{better}. "
        f"{'One value per user.' if definition.has_user_values else 'No values of single users.'}",
        f"**Undefined cases:** {definition.empty}",
        f"**Task:** {tasks}: {definition.why}" if tasks else f"**Meaning:** {definition.why}",
        *(f"**Choice** {_choice(choice)}" for choice in definition.options),
        f"**Source:** {definition.source}",
    ]
    return "\n".join([f"### `{name_of(definition)}`\n", f"{definition.title}.\n", *(f"- {fact}" for fact in facts), ""])


def entries() -> str:
    """Every metric by group."""
    parts = []
    for group in dict.fromkeys(definition.group for definition in METRICS.values()):
        parts.append(f"## {group[0].upper()}{group[1:]}\n")
        parts.extend(_entry(definition) for definition in METRICS.values() if definition.group == group)
    return "\n".join(parts)
