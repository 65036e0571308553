"""A search for parameters as a table and sentences."""

from __future__ import annotations

from evaluation.protocols.registry import protocol
from evaluation.services.tuning import INTERRUPTED, Search, Trial
from recommenders.search_space import Setting

DECIMALS = 4


def search_lines(result: Search, dataset: str) -> list[str]:
    """Format the trials as a table, then what was not tried, the choice, and how to evaluate it."""
    best, measured = result.best, [trial for trial in result.trials if trial.value is not None]
    direction = "higher" if result.is_higher_better else "lower"
    width = max(len(_written(setting)) for setting in (*(trial.setting for trial in result.trials), *result.left))
    lines = [
        f"{result.metric} on {result.n_development:,} development users; {direction} is better.",
        "",
        f"{'setting'.ljust(width)} {'value':>9} {'95% CI':>18} {'fit (s)':>8}",
    ]
    for trial in result.trials:
        lines.append(f"{_written(trial.setting).ljust(width)} {_numbers(trial)}{'  chosen' if trial is best else ''}")
    if result.left:
        why = (
            "The search was interrupted" if result.stopped_by == INTERRUPTED else f"Budget spent ({result.stopped_by})"
        )
        names = "; ".join(map(_written, result.left[:10])) + ("; …" if len(result.left) > 10 else "")
        lines += ["", f"{why}. Not tried ({len(result.left):,}): {names}."]
    lines += [
        "",
        f"Chosen of {len(measured):,} settings: {result.code}",
        "Equal values are decided for the setting that was tried first. The value of the chosen setting is too "
        "favourable, because it is the best of several. All settings were measured on the same users, so differences "
        "between them are more precise than the intervals suggest.",
        f"Measure it on the {result.n_evaluation:,} other test users, who had no part in the search, with",
        f"    {evaluate_command(result, dataset)}",
        "A run with another split or seed may test the same users again.",
    ]
    return lines


def evaluate_command(result: Search, dataset: str) -> str:
    """Return the command that measures the chosen setting on the users who had no part in the search."""
    stated = {name: value for name, value in result.protocol.items() if name != "name"}
    usual = protocol(str(result.protocol["name"])).settings
    changed = {name: value for name, value in stated.items() if value != usual[name]}
    words = ",".join(f"{name}={value}" for name, value in changed.items())
    parts = [
        f".venv/bin/python manage.py evaluate {dataset} --algorithms '{result.code}' --split '{result.split}'",
        f"--protocol '{result.protocol['name']}{':' if words else ''}{words}'",
        f"--metrics '{result.metric}' --n {result.n} --seed {result.seed}",
    ]
    return " ".join(parts) + (f" --reserve {result.reserve:g}" if result.reserve else "")


def _numbers(trial: Trial) -> str:
    if trial.value is None:
        return f"no value: {trial.reason}"
    interval = "" if trial.low is None else f"[{trial.low:.{DECIMALS}f}, {trial.high:.{DECIMALS}f}]"
    caveat = f"  {trial.reason}" if trial.reason else ""
    return f"{trial.value:>9.{DECIMALS}f} {interval:>18} {trial.fit_seconds:>8.2f}{caveat}"


def _written(setting: Setting) -> str:
    return ", ".join(f"{name}={value}" for name, value in setting.items())
