"""Sections on method and provenance."""

from __future__ import annotations

from analysis.charts import method as charts
from analysis.narrative import design_checks as checks
from analysis.narrative import figures as titles
from analysis.narrative import objective as objective_narrative
from analysis.narrative import plan as plan_narrative
from analysis.results.objective import FULL_RANKING, ObjectiveSide
from analysis.results.plan import ReportPlan
from analysis.results.provenance import Provenance
from analysis.results.report import Results
from analysis.tables import figures as figure_tables
from analysis.tables import method as tables
from analysis.tables.cells import listed
from documents.blocks import Figure, FigureMaker, Section
from evaluation.protocols.case_facts import CandidateRange
from evaluation.reported_kinds import ERRORS
from inference.results import Undefined
from studies.design.narrative.plan import level
from studies.known_items import FIVE_STARS, SCALE, ItemsAsked, scale_rule
from studies.usage_data import CHOICE, ELICITATION, SETTING, taken_rule


def method_section(results: Results, badge: str) -> Section:
    """Procedure, measures, run, tests and power."""
    section = Section("method", "Method")
    if results.power is not None:
        section.say(titles.power_sentence(results.power))
    section.say(_measures(results, "simulated participant" if badge else "participant"))
    section.say(plan_narrative.planned_scales(results))
    for sentence in checks.sentences(results.design_checks):
        section.say(sentence)
    section.say(_run(results.objective))
    section.say(_titles(results))
    section.say(
        f"Tests are at α = {level(results.plan.alpha)}; t tests are two-sided unless the plan says otherwise. Three "
        "families have this level each: the headline, the pairs of algorithms on either side, and the exploratory "
        "tests. Rates have exact limits (Clopper and Pearson) with the effective number of cases; other metrics "
        f"have percentile intervals over {results.plan.resamples:,} resamples of test users with all their cases."
    )
    return section


def power_section(results: Results, figure: FigureMaker) -> Section:
    """The supplement's power curve."""
    section = Section("power", "Power")
    section.draw(_power_figure(results, figure))
    return section


def _power_figure(results: Results, figure: FigureMaker) -> Figure | None:
    power = results.power
    if power is None or isinstance(power, Undefined):
        return None
    return figure(
        "power",
        charts.power(power, titles.power_title(power)),
        "Power of the analysis of variance by effect size (Cohen's f) and participants in each condition; the "
        f"hairline marks the {power.n_per_condition} of this report.",
        figure_tables.power_table(power),
    )


def _measures(results: Results, noun: str) -> str:
    study, consumed = results.study, results.study.words.consumed
    settings, did = {SCALE: study.elicitation_scale or FIVE_STARS.key}, "rated"
    if study.elicitation == CHOICE:
        profile, did = taken_rule({ELICITATION: CHOICE}), "chose"
    elif study.taken_from is not None:
        profile = taken_rule({**settings, SETTING: study.taken_from})
    else:
        profile = scale_rule(settings)
    asked = ItemsAsked(study.ratings_asked, study.ratings_most or study.ratings_asked)
    median = "" if study.ratings_median is None else f" (median {study.ratings_median:g})"
    return (
        f"Each {noun} met one algorithm, {did} {asked} items{median} and judged {study.list_length} "
        f"recommendations. {profile} Perceived accuracy is the mean rating of the recommended items, first-order "
        f"novelty the share never {consumed}, second-order novelty the share neither {consumed} nor heard of, and "
        "satisfaction one answer about the whole list. The tests use exact sums of answers."
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
        f"{objective_narrative.acquaintance(run.split)}"
    )


def _titles(results: Results) -> str:
    """Which models have no content but titles."""
    names = [condition.label for condition in results.conditions if condition.is_of_titles]
    if not names:
        return ""
    verb = "was" if len(names) == 1 else "were"
    return f"{listed(names)} {verb} trained on the words of the items' titles: the dataset has no other item features."


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
        f"{objective_narrative.acquaintance(run.split)}"
    )


def _predicted_ratings(run: ObjectiveSide) -> str:
    clipped = ", clipped to the rating scale" if run.protocol["clip"] == "scale" else ""
    return (
        f"The offline run predicted {(run.n_relevant or 0) + (run.n_irrelevant or 0):,} hidden ratings{clipped}. RMSE "
        "and MAE are the root mean squared and the mean absolute error of a user's predicted ratings, as means over "
        "users. Hidden ratings are of items that users chose to rate, so errors do not measure lists of recommended "
        "items. The models are those that participants met, by digest. "
        f"{objective_narrative.acquaintance(run.split)}"
    )


def provenance_section(provenance: Provenance, followed: ReportPlan, inputs_hash: str) -> Section:
    """Every hash, seed and version."""
    section = Section("provenance", "Provenance")
    section.say("The same inputs give the same report.")
    section.put(tables.provenance_table(provenance, followed, inputs_hash))
    return section
