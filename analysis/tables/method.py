"""Tables of the flow of participants and of the provenance of the numbers."""

from __future__ import annotations

from analysis.enums import VARIABLE_OF
from analysis.results.flow import Flow
from analysis.results.plan import ReportPlan
from analysis.results.provenance import Provenance
from analysis.tables.cells import whole
from documents.tables import Numbers, Table, Words, plain_table, table
from studies.plans import SCALE_PREFIX


def flow_table(flow: Flow) -> Table:
    """Participants from consent to analysis."""
    counts = (
        ("Declined", flow.declined), ("Gave consent", flow.consented), ("Screened out", flow.screened_out),
        ("Turned away, study full", flow.quota_full), ("Assigned to a condition", flow.assigned),
        ("Abandoned", flow.abandoned), ("Withdrew", flow.withdrawn), ("Still taking part", flow.under_way),
        ("Completed", flow.completed), ("Excluded from the analysis", flow.excluded), ("Analysed", flow.analysed),
    )  # fmt: skip
    rows = [(name, whole(n)) for name, n in counts]
    return plain_table("flow", "Participants from consent to analysis", ("Participants", "n"), rows)


def exclusions_sentence(flow: Flow) -> str:
    """How many completers are excluded, and why."""
    if not flow.excluded_for:
        return "All participants who completed the study are analysed; none was excluded."
    by_hand = [reason for reason in flow.excluded_for if reason.how == "hand"]
    by_rule = [reason for reason in flow.excluded_for if reason.how != "hand"]
    sentences = []
    if by_hand:
        reasons = "; ".join(f"{reason.n:,} for “{reason.reason}”" for reason in by_hand)
        n = sum(reason.n for reason in by_hand)
        sentences.append(f"Of those who completed the study, the researcher excluded {n:,} by hand: {reasons}.")
    if by_rule:
        reasons = "; ".join(f"{reason.n:,} {reason.reason.lower()}" for reason in by_rule)
        n = sum(reason.n for reason in by_rule)
        sentences.append(f"The plan's rule excluded {n:,}{' more' if by_hand else ''}: {reasons}.")
    return " ".join(sentences)


def flow_by_condition(flow: Flow) -> Table:
    """Participants from assignment to analysis, by condition."""
    return table(
        "flow-by-condition",
        "Participants by condition",
        flow.by_condition,
        Words("Algorithm", lambda row: row.condition),
        Numbers("Target", lambda row: whole(row.target)),
        Numbers("Assigned", lambda row: whole(row.assigned)),
        Numbers("Still taking part", lambda row: whole(row.under_way)),
        Numbers("Abandoned", lambda row: whole(row.abandoned)),
        Numbers("Completed", lambda row: whole(row.completed)),
        Numbers("Analysed", lambda row: whole(row.analysed)),
    )


def provenance_table(provenance: Provenance, plan: ReportPlan, inputs_hash: str) -> Table:
    """Every hash, seed and version behind the numbers."""
    lines = [
        ("Inputs of this report", inputs_hash),
        ("Design of the study", provenance.design_hash),
        ("Dataset", f"{provenance.dataset}, version {provenance.dataset_version}"),
        ("Content of the dataset", provenance.dataset_hash),
        ("Answers", provenance.answers_digest),
        ("Inputs of the run", provenance.run_inputs_hash),
        ("Test cases of the run", provenance.run_cases_digest),
    ]
    lines += [(f"Model {model.condition}", model.digest) for model in provenance.models]
    for result in provenance.run_results:
        suffix = f", profiles of {result.profile_length} ratings" if result.profile_length else ""
        lines.append((f"Results {result.condition}{suffix}", result.digest))
    lines += [
        ("Seed of the study", str(provenance.study_seed)),
        ("Seed of the run", str(provenance.run_seed)),
        ("Resamples", f"{plan.resamples:,}"),
    ]
    lines += [(f"Seed of the bootstrap, {_resampled(name)}", str(seed)) for name, seed in provenance.bootstrap_seeds]
    lines += [(f"Version of {name}", version) for name, version in provenance.versions]
    return table(
        "provenance",
        "Inputs, seeds and versions",
        lines,
        Words("Input", lambda line: line[0]),
        Words("Value", lambda line: line[1]),
        note="The README of the study package names the random stream of each seed.",
    )


def _resampled(stream: str) -> str:
    """What a random stream of the bootstrap resamples, in words.

    Examples
    --------
    >>> _resampled("fon"), _resampled("scale.trust"), _resampled("users-0"), _resampled("users-5")
    ('first-order novelty', 'scale trust', 'users, whole profiles', 'users, profiles of 5 ratings')
    >>> _resampled("matrix-full-ranking/diversity@5"), _resampled("lists-shown")
    ('users, metric full-ranking/diversity@5', 'metrics of the lists shown')
    """
    if stream in VARIABLE_OF:
        return VARIABLE_OF[stream].in_text
    if stream.startswith(SCALE_PREFIX):
        return f"scale {stream.removeprefix(SCALE_PREFIX)}"
    if stream.startswith("users-"):
        length = int(stream.removeprefix("users-"))
        return f"users, profiles of {length} ratings" if length else "users, whole profiles"
    if stream.startswith("matrix-"):
        return f"users, metric {stream.removeprefix('matrix-')}"
    return "metrics of the lists shown" if stream == "lists-shown" else stream
