"""The metrics' table of the documentation, written from their definitions.

python -m evaluation.metrics.reference docs/reference/metrics.md
"""

from __future__ import annotations

import sys
from pathlib import Path

from evaluation.metrics.definition import TASKS, Choice, Definition, written
from evaluation.metrics.registry import METRICS, Metric

HEAD = """# Metrics

Written from the registry by `python -m evaluation.metrics.reference docs/reference/metrics.md`; a test holds the two
together. A metric's name prints every choice that changes its value. How ties count is left out of the name where
they count in expectation, and g where it is the share of relevant cases. `f1`, `map` and `mrr` are read as `f-beta`,
`ap` and `rr`.

A value that does not exist is none, never 0 and never NaN in a report; users without a value of their own are left
out of the mean and counted.
"""


def name_of(definition: Definition) -> str:
    """A metric's name with its choices at their defaults and a list length of 10.

    Parameters
    ----------
    definition : Definition

    Returns
    -------
    str
    """
    return str(Metric(definition.key, 10 if definition.needs_n else None))


def _number(limit: float) -> str:
    return "∞" if limit == float("inf") else written(float(limit))


def _choice(choice: Choice) -> str:
    default = "none" if choice.default is None else written(choice.default)
    return f"`{choice.name}` ({choice.limits()}; default {default}): {choice.description}"


def _row(definition: Definition) -> str:
    tasks = ", ".join(TASKS[task] for task in definition.tasks) or "—"
    better = {"higher": "higher", "lower": "lower", "neither": "—"}[definition.direction]
    cells = (
        f"`{name_of(definition)}`<br>{definition.title}",
        f"$`{definition.formula}`$".replace("|", r"\vert "),
        f"{_number(definition.low)} to {_number(definition.high)}",
        better,
        definition.empty,
        f"{tasks}: {definition.why}",
        "<br>".join(_choice(choice) for choice in definition.options) or "—",
        "yes" if definition.has_user_values else "no",
    )
    return f"| {' | '.join(cells)} |"


def table() -> str:
    """The page, in Markdown.

    Returns
    -------
    str

    Examples
    --------
    >>> table().splitlines()[0]
    '# Metrics'
    """
    parts = [HEAD]
    for group in dict.fromkeys(one.group for one in METRICS.values()):
        parts.append(f"## {group[0].upper()}{group[1:]}\n")
        parts.append("| name | formula | range | better | empty case | task, and why | choices | by user |")
        parts.append("|---|---|---|---|---|---|---|---|")
        parts.extend(_row(one) for one in METRICS.values() if one.group == group)
        parts.append("")
    return "\n".join(parts)


def main(arguments: list[str]) -> None:
    """Write the page to the file named, or print it.

    Parameters
    ----------
    arguments : list of str
        The file's path, or nothing.
    """
    if arguments:
        Path(arguments[0]).write_text(table(), encoding="utf-8")
    else:
        sys.stdout.write(table())


if __name__ == "__main__":
    main(sys.argv[1:])
