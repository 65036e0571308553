"""What a report does otherwise than the plan that was frozen at the launch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from analysis.enums import VARIABLE_OF
from analysis.selectors.plans import FrozenPlan
from evaluation.models import EvaluationRun
from studies.plans import SCALE_PREFIX

Deviation = dict[str, Any]


def deviations(
    *,
    frozen: FrozenPlan,
    plan: Mapping[str, Any],
    run: EvaluationRun,
    flow: Mapping[str, Any],
    versions: Sequence[Sequence[str]],
) -> list[Deviation]:
    """Every difference as data, in the order of the plan; empty where there is none."""
    planned = frozen.plan
    return [
        *_level(planned, plan),
        *_primary(plan),
        *_variables(planned, plan),
        *_exclusions(planned, plan, flow),
        *_participants(frozen, flow),
        *_reopenings(frozen),
        *_run(frozen, run),
        *_versions(frozen.versions, versions),
    ]


def _level(planned: Mapping[str, Any], plan: Mapping[str, Any]) -> list[Deviation]:
    if planned["alpha"] == plan["alpha"]:
        return []
    return [{"of": "alpha", "planned": planned["alpha"], "done": plan["alpha"]}]


def _primary(plan: Mapping[str, Any]) -> list[Deviation]:
    """Whether the report has both sides of the primary pair."""
    primary = plan["primary"]
    found: list[Deviation] = []
    if primary["perceived"] not in (*plan["variables"], *(f"{SCALE_PREFIX}{key}" for key in plan["scales"])):
        found.append({"of": "primary", "lacks": "variable", "key": primary["perceived"]})
    if primary["objective"] not in plan["metrics"]:
        found.append({"of": "primary", "lacks": "metric", "key": primary["objective"]})
    return found


def _variables(planned: Mapping[str, Any], plan: Mapping[str, Any]) -> list[Deviation]:
    left = [key for key in VARIABLE_OF if key in planned["variables"] and key not in plan["variables"]]
    return [{"of": "variables", "left_out": left}] if left else []


def _exclusions(planned: Mapping[str, Any], plan: Mapping[str, Any], flow: Mapping[str, Any]) -> list[Deviation]:
    found: list[Deviation] = []
    if planned["exclude"] != plan["exclude"]:
        found.append({"of": "rule", "planned": planned["exclude"], "done": plan["exclude"]})
    if not plan["by_hand"]:
        found.append({"of": "by_hand_taken_in"})
    n = sum(one["n"] for one in flow["excluded_for"] if one["how"] == "hand")
    if n:
        found.append({"of": "by_hand", "n": n, "words": planned["exclude_words"]})
    return found


def _participants(frozen: FrozenPlan, flow: Mapping[str, Any]) -> list[Deviation]:
    """Conditions that do not stand at the number they were launched with, and what was decided about it since."""
    extended = {label for one in frozen.extensions for label in one.targets}
    off = []
    for one in flow["by_condition"]:
        planned = frozen.targets.get(one["condition"], one["target"])
        if planned != one["analysed"] or one["condition"] in extended:
            line = {"condition": one["condition"], "target": planned, "analysed": one["analysed"]}
            off.append({**line, "extended": one["target"]} if one["condition"] in extended else line)
    if not off:
        return []
    found: Deviation = {
        "of": "participants",
        "target": sum(frozen.targets.get(one["condition"], one["target"]) for one in flow["by_condition"]),
        "analysed": flow["analysed"],
        "under_way": flow["under_way"],
        "conditions": off,
    }
    if frozen.extensions:
        found["extended"] = sum(one["target"] for one in flow["by_condition"])
        found["extensions"] = [
            {
                "version": one.version,
                "day": one.day,
                "by": one.by,
                "why": one.why,
                "targets": [
                    {"condition": label, "before": before, "after": after}
                    for label, (before, after) in one.targets.items()
                ],
            }
            for one in frozen.extensions
        ]
    return [found]


def _reopenings(frozen: FrozenPlan) -> list[Deviation]:
    """Every time that recruitment was reopened after a close, when outcomes could already be seen."""
    return [{"of": "reopened", **asdict(one)} for one in frozen.reopenings]


def _run(frozen: FrozenPlan, run: EvaluationRun) -> list[Deviation]:
    """Another run than the pinned one; one of the same inputs is the same measurement."""
    if frozen.run == run.inputs_hash:
        return []
    planned = {"n": frozen.plan["n"], "profile_lengths": frozen.plan["profile_lengths"]}
    done = {"n": run.n, "profile_lengths": list(run.profile_lengths)}
    return [
        {
            "of": "run",
            "planned": frozen.run,
            "done": run.inputs_hash,
            "settings": [
                {"name": name, "planned": planned[name], "done": done[name]}
                for name in planned
                if planned[name] != done[name]
            ],
        }
    ]


def _versions(launch: Mapping[str, str], now: Sequence[Sequence[str]]) -> list[Deviation]:
    changed = [
        {"name": name, "planned": launch[name], "done": version}
        for name, version in now
        if launch.get(name, version) != version
    ]
    return [{"of": "versions", "changed": changed}] if changed else []
