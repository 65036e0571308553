"""Tables of how participants flowed through the study, and of where the numbers come from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis.tables.cells import Column, Row, Table, text, whole

FLOW = (
    ("declined", "Declined"),
    ("consented", "Gave consent"),
    ("screened_out", "Screened out"),
    ("quota_full", "Came when the study was full"),
    ("assigned", "Assigned to a condition"),
    ("abandoned", "Abandoned"),
    ("withdrawn", "Withdrew"),
    ("under_way", "Still under way"),
    ("completed", "Completed"),
    ("excluded", "Left out of the analysis"),
    ("analysed", "Analysed here"),
)


def flow_table(flow: Mapping[str, Any]) -> Table:
    """Who came how far."""
    rows = tuple(Row((text(name), whole(flow.get(key, 0)))) for key, name in FLOW)
    return Table("flow", "Participants from consent to analysis", (Column("Participants"), Column("n", True)), rows)


def exclusions_said(flow: Mapping[str, Any]) -> str:
    """Whom the researcher left out, and why."""
    found = flow.get("excluded_for") or []
    if not found:
        return "Everybody who completed is analysed; nobody was excluded by hand."
    said = []
    if by_hand := [one for one in found if one.get("how", "hand") == "hand"]:
        reasons = "; ".join(f"{one['n']:,} for “{one['reason']}”" for one in by_hand)
        n = sum(one["n"] for one in by_hand)
        said.append(f"Of those who completed, the researcher excluded {n:,} by hand: {reasons}.")
    if by_rule := [one for one in found if one.get("how", "hand") != "hand"]:
        reasons = "; ".join(f"{one['n']:,} {one['reason'].lower()}" for one in by_rule)
        n = sum(one["n"] for one in by_rule)
        said.append(f"The plan's rule left out {n:,}{' more' if by_hand else ''}: {reasons}.")
    return " ".join(said)


def flow_by_condition(flow: Mapping[str, Any]) -> Table:
    """Who came how far, by condition."""
    keys = ("target", "assigned", "under_way", "abandoned", "completed", "analysed")
    rows = tuple(Row((text(line["condition"]), *(whole(line[key]) for key in keys))) for line in flow["by_condition"])
    names = ("Target", "Assigned", "Under way", "Abandoned", "Completed", "Analysed")
    columns = (Column("Algorithm"), *(Column(name, True) for name in names))
    return Table("flow-by-condition", "The same by condition", columns, rows)


def provenance_table(provenance: Mapping[str, Any], plan: Mapping[str, Any], inputs_hash: str) -> Table:
    """Every hash, seed and version behind the numbers."""
    lines = [
        ("Inputs of this report", inputs_hash),
        ("Design of the study", provenance["design_hash"]),
        ("Dataset", f"{provenance['dataset']}, version {provenance['dataset_version']}"),
        ("Content of the dataset", provenance["dataset_hash"]),
        ("Answers", provenance["answers_digest"]),
        ("Inputs of the run", provenance["run_inputs_hash"]),
        ("Test cases of the run", provenance["run_cases_digest"]),
    ]
    lines += [(f"Model {one['condition']}", one["digest"]) for one in provenance["models"]]
    for one in provenance["run_results"]:
        suffix = f", profiles of {one['profile_length']} ratings" if one["profile_length"] else ""
        lines.append((f"Results {one['condition']}{suffix}", one["digest"]))
    lines += [
        ("Seed of the study", str(provenance["study_seed"])),
        ("Seed of the run", str(provenance["run_seed"])),
        ("Resamples", f"{plan['resamples']:,}"),
    ]
    lines += [(f"Seed of the bootstrap, {name}", str(seed)) for name, seed in provenance["bootstrap_seeds"]]
    lines += [(f"Version of {name}", version) for name, version in provenance["versions"]]
    rows = tuple(Row((text(name), text(value))) for name, value in lines)
    return Table("provenance", "Inputs, seeds and versions", (Column("What"), Column("Value")), rows)
