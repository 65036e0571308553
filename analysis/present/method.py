"""The method: procedure, run, tests, power, checks of the design, and provenance."""

from __future__ import annotations

from analysis.enums import VARIABLE_OF
from analysis.present import objective, plan
from analysis.present.words import decimal, presentations_note, whole
from analysis.results import sample as results_sample
from analysis.results.follow_up import Power
from analysis.results.objective import FULL_RANKING, ObjectiveSide
from analysis.results.plan import ReportPlan
from analysis.results.report import Provenance, Results
from charting import marks
from charting.theme import Spec
from documents.blocks import FigureMaker, Section
from documents.numbers import capital, listed, named_p, number, number_word, percent, plural
from documents.tables import Column, Numbers, Row, Table, Words, plain_table, table
from evaluation.protocols.facts import CandidateRange
from evaluation.reported_kinds import ERRORS
from inference.results import Undefined
from studies.design.narrative.plan import level
from studies.known_items import FIVE_STARS, SCALES, ItemsAsked, scale_rule
from studies.monitoring import charts
from studies.settings import SCALE_PREFIX, StudySettings
from studies.usage_data import CHOICE, taken_rule


def method_section(results: Results, badge: str) -> Section:
    """Procedure, measures, run, tests and power."""
    section = Section("method", "Method")
    if results.power is not None:
        section.say(_power_sentence(results.power))
    section.say(
        _measures(results, "simulated participant" if badge else "participant"),
        plan.planned_scales(results),
        *sentences(results.design_checks),
        _run(results.objective),
        *results.objective.warnings,
        *(objective.lists_note(results.objective, length) for length in results.objective.lengths),
        _titles(results),
        _order(results),
        presentations_note(results.recommenders),
        *(f"Planned test: {results.plan.tests[each.variable_key]}." for each in results.shares),
        f"Tests are at α = {level(results.plan.alpha)}; t tests are two-sided unless the plan says otherwise. Three "
        "families have this level each: the headline, the pairs of algorithms on either side, and the exploratory "
        "tests. Rates have exact limits (Clopper and Pearson) with the effective number of cases; other metrics "
        f"have percentile intervals over {results.plan.resamples:,} resamples of test users with all their cases.",
    )
    return section


def power_section(results: Results, figure: FigureMaker) -> Section:
    """The supplement's power curve."""
    section, power = Section("power", "Power"), results.power
    if power is not None and not isinstance(power, Undefined):
        n, n_values = power.n_per_condition, list(power.n_values)
        caption = (
            "Power of the analysis of variance by effect size (Cohen's f) and participants in each condition; the "
            f"hairline marks the {n} of this report."
        )
        rows = tuple(
            Row((whole(size), *(decimal(curve.power[row], 2, is_share=True) for curve in power.effects)))
            for row, size in enumerate(n_values)
        )
        columns = (Column("Participants per condition", True), *(Column(curve.name, True) for curve in power.effects))
        numbers = Table("power", "Power of the analysis of variance", columns, rows)
        lines = {curve.name: curve.power for curve in power.effects}
        index = n_values.index(n)
        reached = ", ".join(f"{name} {number(line[index], 2, is_share=True)}" for name, line in lines.items())
        at_stated = number(power.at_stated.power, 2, True)
        chart = marks.curves(
            lines,
            title=f"{n} participants per condition give a power of {at_stated} for {power.stated}",
            y_title="Power of the analysis of variance",
            n_values=n_values,
            at_n=n,
            emphasised=(power.stated,),
            side="neutral",
            x_title="Participants per condition",
            description="Line chart of power by participants per condition, "
            f"{n_values[0]}–{n_values[-1]}; {n}: {reached}.",
        )
        section.draw(figure("power", chart, caption, numbers))
    return section


def _measures(results: Results, noun: str) -> str:
    study, consumed = results.study, results.study.words.consumed
    scale, did = study.elicitation_scale or FIVE_STARS.key, "rated"
    if study.elicitation == CHOICE:
        profile, did = taken_rule(StudySettings(elicitation="choice")), "chose"
    elif study.taken_from is not None:
        profile = taken_rule(StudySettings(elicitation_scale=scale, taken_from=study.taken_from))
    else:
        profile = scale_rule(SCALES[scale])
    requested = ItemsAsked(study.ratings_asked, study.ratings_most or study.ratings_asked)
    median = "" if study.ratings_median is None else f" (median {study.ratings_median:g})"
    judged = study.listed or study.list_length
    defined = {
        "accuracy": ("perceived accuracy", "the mean rating of the recommended items"),
        "fon": ("first-order novelty", f"the share never {consumed}"),
        "son": ("second-order novelty", f"the share neither {consumed} nor heard of"),
        "satisfaction": ("satisfaction", "one answer about the whole list"),
    }
    met, each = ("met every algorithm in turn", " of each") if results.is_in_turn else ("met one algorithm", "")
    if results.preferences:
        met, each = "compared two lists at a time", " of each"
    definitions = [words for key, words in defined.items() if key not in study.not_asked]
    parts = [
        f"{capital(name)} is {what}" if not number else f"{name} {what}"
        for number, (name, what) in enumerate(definitions)
    ]
    tests = "The tests use exact sums of answers."
    if results.preferences:
        tests = (
            "Preferences between two conditions are compared by the exact sign test, those between more by Davidson's "
            "model with a variance clustered by participant."
        )
    measures = ", and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))
    return (
        f"Each {noun} {met}, {did} {requested} items{median} and {'judged' if definitions else 'saw'} "
        f"{judged} recommendations{each}. {profile} {f'{measures}. ' if definitions else ''}"
        f"{tests}"
    )


def _run(run: ObjectiveSide) -> str:
    if run.protocol["name"] == FULL_RANKING:
        return _whole_lists(run)
    if run.tested == ERRORS:
        return _predicted_ratings(run)
    candidates = f"{run.protocol['negatives']:,}"
    if run.candidates is not None:
        candidates = CandidateRange(run.candidates.fewest, run.candidates.most, run.candidates.target).in_words
    return (
        f"The offline run ranked each hidden rating among {candidates} items that its user had not rated: "
        f"{run.n_relevant or 0:,} relevant cases (ratings of {run.protocol['relevant']:g} or more) for recall, and "
        f"{run.n_irrelevant or 0:,} irrelevant ones (ratings of {run.protocol['irrelevant']:g} or less) for fallout. "
        f"A hit is a rank among the first {run.n}. Users chose what to rate, so hidden ratings are not missing at "
        "random, and popular items are hidden more often. There is one split and one training of each model. The "
        "models are those that participants met, by digest. "
        f"{objective.test_users_note(run.split)}"
    )


def _titles(results: Results) -> str:
    names = [condition.label for condition in results.conditions if condition.is_of_titles]
    if not names:
        return ""
    verb = "was" if len(names) == 1 else "were"
    return f"{listed(names)} {verb} trained on the words of the items' titles: the dataset has no other item features."


def _order(results: Results) -> str:
    names = [condition.label for condition in results.conditions if condition.reads_order]
    if not names:
        return ""
    verb = "uses" if len(names) == 1 else "use"
    return (
        f"{listed(names)} {verb} the order of a profile. That of participants is the order in which they rated the "
        "items, not that in which they consumed them; that of test users follows the times in the dataset."
    )


def _whole_lists(run: ObjectiveSide) -> str:
    # The split of cold items recommends no others.
    items = "item without training ratings" if run.split.get("start") == "cold" else "item of the catalogue"
    ranked = f"every {items}, those that the user had rated in training included"
    if run.protocol["known"] == "left-out":
        ranked = f"every {items} that the user had not rated in training"
    return (
        f"The offline run ranked {ranked}, in one list per user as it is served: by score, equal scores by "
        f"popularity. A relevant case ({run.n_relevant or 0:,} hidden ratings of {run.protocol['relevant']:g} or more) "
        f"is a hit among the first {run.n}; all other items, the unrated ones included, count as not relevant, so "
        "precision does not count the items that a user likes but never rated. Recall is the mean over users with a "
        "relevant case of the share of their relevant cases in the list, and cannot be compared with recall of "
        "one-plus-random. The models are those that participants met, by digest. "
        f"{objective.test_users_note(run.split)}"
    )


def _predicted_ratings(run: ObjectiveSide) -> str:
    clipped = ", clipped to the rating scale" if run.protocol["clip"] == "scale" else ""
    return (
        f"The offline run predicted {(run.n_relevant or 0) + (run.n_irrelevant or 0):,} hidden ratings{clipped}. RMSE "
        "and MAE are the root mean squared and the mean absolute error of a user's predicted ratings, as means over "
        "users. Hidden ratings are of items that users chose to rate, so errors do not measure lists of recommended "
        "items. The models are those that participants met, by digest. "
        f"{objective.test_users_note(run.split)}"
    )


def provenance_section(provenance: Provenance, followed: ReportPlan, inputs_hash: str) -> Section:
    """Every hash, seed and version."""
    section = Section("provenance", "Provenance")
    section.say("The same inputs give the same report.")
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
        ("Resamples", f"{followed.resamples:,}"),
    ]
    lines += [(f"Seed of the bootstrap, {_resampled(name)}", str(seed)) for name, seed in provenance.bootstrap_seeds]
    lines += [(f"Version of {name}", version) for name, version in provenance.versions]
    numbers = table(
        "provenance",
        "Inputs, seeds and versions",
        lines,
        Words("Input", lambda line: line[0]),
        Words("Value", lambda line: line[1]),
        note="The README of the study package names the random stream of each seed.",
    )
    section.put(numbers)
    return section


# Sentences


NOTHING = (
    "The data were checked for people in several conditions, lists of different lengths, conditions collected at "
    "different times, overdispersed counts, ratings at an end of the scale, ungraded lists and reversed questions: "
    "none was found."
)


def sentences(checks: tuple[results_sample.DesignCheck, ...] | None) -> list[str]:
    """One sentence for each finding, or that there is none; nothing in reports that did not check."""
    if checks is None:
        return []
    nothing = [] if any(not isinstance(check, results_sample.Waits) for check in checks) else [NOTHING]
    return [*map(_sentence, checks), *nothing]


def _sentence(check: results_sample.DesignCheck) -> str:
    if isinstance(check, results_sample.OtherLengths):
        lengths = [
            f"{name} {low}" if low == check.most[name] else f"{name} {low} to {check.most[name]}"
            for name, low in check.fewest.items()
        ]
        return f"Participants judged lists of different lengths: {listed(lengths)}."
    if isinstance(check, results_sample.OtherDays):
        days = [f"{name} day {day + 1:.1f}" for name, day in check.median_day.items()]
        return (
            f"The conditions were not collected at the same time (Kruskal-Wallis, {named_p(check.p)}; median "
            f"{listed(days)}), so differences between them may be differences between days."
        )
    if isinstance(check, results_sample.Waits):
        waits = [f"{name} {number(seconds, 1)} s" for name, seconds in check.median_seconds.items()]
        tested = "" if check.p is None else f" (Kruskal-Wallis, {named_p(check.p)})"
        return f"Participants waited for their lists, in the median: {listed(waits)}{tested}."
    if isinstance(check, results_sample.SeveralConditions):
        took = "person took" if check.n == 1 else "people took"
        return f"{check.n:,} {took} part in several conditions, by the ids of their links. The tests count each time."
    if isinstance(check, results_sample.Overdispersed):
        return (
            f"Within conditions, the variance of how often {check.name} were opened is {number(check.dispersion)} "
            "times the mean, so a Poisson test would find differences too easily. This report tests no counts."
        )
    if isinstance(check, results_sample.AtTheEnd):
        end = "highest" if check.is_ceiling else "lowest"
        return (
            f"{percent(check.share)} of the ratings with {check.condition} are the {end} possible, so the scale may "
            "not show how far it differs from others."
        )
    if isinstance(check, results_sample.Ungraded):
        return f"{check.n:,} of {plural(check.analysed, 'participant')} gave every item of their list the same rating."
    return (
        f"“{check.question}” falls as the rest of {check.scale} rises (r = {number(check.r, is_share=True)}): is it "
        "reversed?"
    )


def _power_sentence(power: Power | Undefined) -> str:
    if isinstance(power, Undefined):
        return f"Power could not be computed. {power.reason}"
    subject = "in the smallest condition" if power.is_smallest else "in each condition"
    target = number(power.target_power, 2, True)
    return (
        f"With {power.n_per_condition} participants {subject} of {number_word(power.conditions)}, the analysis of "
        f"variance at α = {level(power.alpha)} has a power of {number(power.at_stated.power, 2, True)} for an effect "
        f"of {power.stated}; a power of {target} is reached from f = {number(power.smallest.f, 2)} (two conditions "
        f"{number(power.smallest.difference_in_sd, 2)} standard deviations apart and the others midway). For "
        f"{power.stated}, that power takes {power.needed.n_per_condition} participants in each condition. "
        "Power follows from the sample sizes alone, not from the observed effects."
    )


# Tables


def flow_table(flow: results_sample.Flow) -> Table:
    """Participants from consent to analysis."""
    counts = (
        ("Declined", flow.declined),
        ("Gave consent", flow.consented),
        ("Screened out", flow.screened_out),
        ("Turned away, study full", flow.quota_full),
        ("Assigned to a condition", flow.assigned),
        ("Abandoned", flow.abandoned),
        ("Withdrew", flow.withdrawn),
        ("Still taking part", flow.under_way),
        ("Completed", flow.completed),
        ("Excluded from the analysis", flow.excluded),
        ("Analysed", flow.analysed),
    )
    rows = [(name, whole(n)) for name, n in counts]
    return plain_table("flow", "Participants from consent to analysis", ("Participants", "n"), rows)


def exclusions_sentence(flow: results_sample.Flow) -> str:
    """How many completers are excluded, and why."""
    if not flow.excluded_for:
        return "All participants who completed the study are analysed; none was excluded."
    by_hand = [reason for reason in flow.excluded_for if reason.how == "hand"]
    by_rule = [reason for reason in flow.excluded_for if reason.how != "hand"]
    n_by_hand, n_by_rule = (sum(reason.n for reason in reasons) for reasons in (by_hand, by_rule))
    sentences = []
    if by_hand:
        reasons = "; ".join(f"{reason.n:,} for “{reason.reason}”" for reason in by_hand)
        sentences.append(f"Of those who completed the study, the researcher excluded {n_by_hand:,} by hand: {reasons}.")
    if by_rule:
        reasons = "; ".join(f"{reason.n:,} {reason.reason.lower()}" for reason in by_rule)
        sentences.append(f"The plan's rule excluded {n_by_rule:,}{' more' if by_hand else ''}: {reasons}.")
    return " ".join(sentences)


def flow_by_condition(results: Results) -> Table:
    """Participants from assignment to analysis, by condition, or by sequence of conditions."""
    title, head = ("Participants by condition", "Algorithm")
    if results.is_in_turn or results.preferences:
        title, head = "Participants by sequence", "Sequence"
    return table(
        "flow-by-condition",
        title,
        results.flow.by_condition,
        Words(head, lambda row: row.condition),
        Numbers("Target", lambda row: whole(row.target)),
        Numbers("Assigned", lambda row: whole(row.assigned)),
        Numbers("Still taking part", lambda row: whole(row.under_way)),
        Numbers("Abandoned", lambda row: whole(row.abandoned)),
        Numbers("Completed", lambda row: whole(row.completed)),
        Numbers("Analysed", lambda row: whole(row.analysed)),
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


# Charts


def consort(results: Results) -> Spec | None:
    """The flow of participants; None where there are none, or where a report is older than the diagram."""
    flow = results.flow
    if not flow.consented or flow.left_before is None:
        return None
    excluded = {reason.reason: reason.n for reason in flow.excluded_for}
    if n := results.answers.n_incomplete:
        excluded["not all answers given"] = n
    return charts.consort_diagram(
        charts.Flow(
            opened=None,  # openings still grow after a report is built, so it would not stay the same
            declined=flow.declined,
            consented=flow.consented,
            left_before=dict(flow.left_before),
            assigned=flow.assigned,
            left_after=dict(flow.left_after or ()),
            completed=flow.completed,
            excluded=excluded,
            analysed=flow.analysed,
        )
    )
