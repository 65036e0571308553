"""The verdict: which objective metric, if any, ranks the algorithms as participants do, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from analysis.enums import Metric, variable_of
from analysis.narrative import contrast
from analysis.narrative.objective import length_words
from analysis.tables.cells import Side, listed, p_alone, written
from analysis.tables.levels import alpha_of, level_of
from inference import apa
from studies.planted_effects import told

Result = Mapping[str, Any]
WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


@dataclass(frozen=True)
class Run:
    """A piece of a heading, and the side whose colour it wears."""

    text: str
    side: Side = ""


def in_words(n: int) -> str:
    """A small number as a word.

    Examples
    --------
    >>> in_words(7), in_words(21)
    ('seven', '21')
    """
    return WORDS[n] if n < len(WORDS) else str(n)


def primary_of(results: Result) -> Result | None:
    """The comparison that the plan named, if both its sides exist."""
    return next((one for one in results["comparisons"] if one["is_primary"]), None)


def metric_of(comparison: Result, n: int) -> Metric:
    """The metric of a comparison."""
    return Metric(comparison["kind"], comparison["profile_length"], n)


def headline(results: Result) -> tuple[Run, ...]:
    """The verdict in one sentence."""
    if not results["flow"]["analysed"]:
        if results["flow"].get("excluded"):
            return (Run("Everybody who finished is left out, so there is nothing to compare"),)
        return (Run("Nobody has finished yet, so there is nothing to "), Run("compare"))
    if (planned := results.get("contrast")) is not None:
        variable = variable_of(planned["variable"], planned)
        before, after = contrast.finding(planned)
        return tuple(run for run in (Run(before), Run(variable.in_text, "perceived"), Run(after)) if run.text)
    comparison = primary_of(results)
    if comparison is None:
        return (Run("The plan names a pair of measures that this report does not have"),)
    variable = variable_of(comparison["variable"], comparison)
    people, metric = Run(variable.in_text, "perceived"), Run(comparison["kind"], "objective")
    tau = comparison["tau"]
    if not tau["is_defined"]:
        return (Run("Whether "), metric, Run(" ranks the algorithms as "), people, Run(" does cannot be told"))
    if tau["p"] >= alpha_of(comparison):
        return (Run("No evidence that "), metric, Run(" ranks the algorithms as "), people, Run(" does"))
    first = Run(capital(metric.text), "objective")
    if tau["coefficient"] > 0:
        return (first, Run(" ranks the algorithms much as "), people, Run(" does"))
    return (first, Run(" ranks the algorithms in the opposite direction to "), people)


def paragraph(results: Result) -> str:
    """The verdict's numbers: the planned contrast if there is one, and the rank correlation of the primary pair."""
    planned, n = results.get("contrast"), results["objective"]["n"]
    correlation = _correlation(results, n)
    if planned is None:
        return correlation
    said = (contrast.sentence(planned), contrast.beside(planned, n), "The rank correlations are exploratory.")
    return " ".join(one for one in (*said, correlation) if one)


def _correlation(results: Result, n: int) -> str:
    """Coefficient, exact p, interval, and what chance could have hidden."""
    comparison = primary_of(results)
    if comparison is None:
        return ""
    variable, metric = variable_of(comparison["variable"], comparison), metric_of(comparison, n)
    tau, k = comparison["tau"], len(comparison["conditions"])
    if not tau["is_defined"]:
        return f"There is no rank correlation of {variable.in_text} with {metric.in_text}. {tau['reason']}"
    said = [
        f"{capital(metric.in_text)} orders the {in_words(k)} algorithms with τ_b = {tau_text(tau['coefficient'])} to "
        f"{variable.in_text} ({_exact(tau)} p {equals(tau['p'])}{_interval(comparison['tau_bootstrap'])}).",
        f"{capital(_association(comparison, n))}." if is_significant(comparison) else "",
        _detectable(tau, k, alpha_of(comparison)),
        _directions(comparison, metric),
        exploratory(results),
        predicts(results),
    ]
    return " ".join(one for one in said if one)


def capital(words: str) -> str:
    """Words as a sentence begins."""
    return words[0].upper() + words[1:]


def tau_text(value: float) -> str:
    """A rank correlation as papers print it."""
    return written(value, 2, is_share=True)


def equals(p: float) -> str:
    """A p value with its sign, to stand after the letter."""
    alone = p_alone(p)
    return alone if alone[0] in "<>" else f"= {alone}"


def _exact(tau: Result) -> str:
    return "exact" if tau["p_method"].startswith("exact") else tau["p_method"]


def _interval(drawn: Result) -> str:
    if not drawn["is_defined"]:
        return ""
    return f"; 95 % of resamples {tau_text(drawn['ci_low'])} to {tau_text(drawn['ci_high'])}"


def _detectable(tau: Result, k: int, alpha: float) -> str:
    least = tau["smallest_detectable"]
    if least is None:
        return (
            f"With {in_words(k)} algorithms and these ties no order at all could have been told from chance, so this "
            "says nothing for or against a relation."
        )
    bound = f"With {in_words(k)} algorithms only |τ_b| ≥ {tau_text(least)} could have been told from chance"
    if tau["p"] < alpha:
        return f"{bound}."
    return f"{bound}: this does not show that the two are unrelated."


def _directions(comparison: Result, metric: Metric) -> str:
    found = comparison["directions"]
    if not found["is_defined"]:
        return ""
    return (
        f"In {found['same']} of {found['n_pairs']} pair{'s' if found['n_pairs'] != 1 else ''} of algorithms "
        f"{metric.kind} points the way participants do "
        f"(one-sided permutation p {equals(found['p'])})."
    )


def is_significant(comparison: Result) -> bool:
    """Whether a rank correlation is significant: as it stands for the primary pair, else after Holm's correction."""
    p = comparison["tau"]["p"] if comparison["p_holm"] is None else comparison["p_holm"]
    return bool(p < alpha_of(comparison))


def _association(comparison: Result, n: int) -> str:
    """What the sign of a rank correlation means: which way the variable goes with the better of the metric."""
    metric, variable = metric_of(comparison, n), variable_of(comparison["variable"], comparison)
    better = "higher" if metric.higher_is_better else "lower"
    way = "higher" if comparison["tau"]["coefficient"] > 0 else "lower"
    return f"algorithms with {better} {metric.in_text} had {way} {variable.in_text}"


def exploratory(results: Result) -> str:
    """What the other pairs of variable and metric show after Holm's correction."""
    n = results["objective"]["n"]
    family = [one for one in results["comparisons"] if one["p_holm"] is not None]
    if not family:
        return ""
    found = [one for one in family if one["p_holm"] < alpha_of(one)]
    if not found:
        pairs = f"{in_words(len(family))} exploratory pairs" if len(family) > 1 else "one exploratory pair"
        level = level_of(family[0])
        return f"Of the {pairs} of a variable and a metric none falls below {level} after Holm's correction."
    told = [
        f"{metric_of(one, n).in_text} with {variable_of(one['variable'], one).in_text} "
        f"(τ_b = {tau_text(one['tau']['coefficient'])}, corrected p {equals(one['p_holm'])}: {_association(one, n)})"
        for one in found
    ]
    return f"Significant exploratory correlations after Holm's correction: {listed(told)}."


def predicts(results: Result) -> str:
    """Which metrics were compared with which variables, where no rank correlation of them was positive."""
    defined = [one for one in results["comparisons"] if one["tau"]["is_defined"]]
    found = [one for one in defined if is_significant(one)]
    if not defined:
        return ""
    if not found:
        return f"{_compared(defined, results['objective']['n'])}; no other metric was compared."
    if all(one["tau"]["coefficient"] < 0 for one in found):
        return "No significant correlation was positive."
    return ""


def _compared(comparisons: Sequence[Result], n: int) -> str:
    """That no metric was correlated with any variable, each by its name."""
    kinds = [f"{kind} at {n}" for kind in dict.fromkeys(one["kind"] for one in comparisons)]
    lengths = list(dict.fromkeys(one["profile_length"] for one in comparisons))
    where = "" if lengths == [0] else f", {' or '.join(map(length_words, lengths))},"
    variables = listed(list(dict.fromkeys(variable_of(one["variable"], one).in_text for one in comparisons)), last="or")
    if len(kinds) == 1:
        return f"{capital(kinds[0])}{where} was not significantly correlated with {variables}"
    return f"Neither {' nor '.join(kinds)}{where} was significantly correlated with {variables}"


def facts(results: Result) -> list[tuple[str, Side, str, str]]:
    """The figures beside the verdict: heading, side, number, and what it rests on."""
    flow, people = results["flow"], "Simulated participants" if results["mode"] != "live" else "Participants"
    sizes = [one["n"] for one in results["conditions"]]
    each = f"{sizes[0]}" if len(set(sizes)) == 1 else f"{min(sizes)} to {max(sizes)}"
    found: list[tuple[str, Side, str, str]] = [
        (people, "", f"{flow['analysed']:,}", f"{each} in each of {len(sizes)} conditions"),
    ]
    comparison = primary_of(results)
    if comparison is None:
        return found
    variable = next(one for one in results["variables"] if one["key"] == comparison["variable"])
    anova = variable["anova"]
    if anova["is_defined"]:
        number = f"F({anova['df_between']}, {anova['df_within']}) = {written(anova['f'])}"
        tukey = variable["tests"]["tukey"]["pairs"]
        told = sum(pair["is_significant"] for pair in tukey)
        omega = apa.share(max(0.0, anova["omega_squared"]))
        rests = f"p {equals(anova['p'])}, ω² = {omega}, Tukey: {told} of {len(tukey)} pairs"
        found.append((variable["name"], "perceived", number, rests))
    metric = metric_of(comparison, results["objective"]["n"])
    length = next(one for one in results["objective"]["lengths"] if one["profile_length"] == metric.length)
    values = [one[metric.kind] for one in length["table"] if one[metric.kind] is not None]
    if values:
        low, high = written(min(values), 2, True), written(max(values), 2, True)
        tests = length[metric.kind]["sign_tests"].get("pairs", ())
        told = sum(pair["is_significant"] for pair in tests)
        rests = f"{length[metric.kind]['n_cases']:,} cases, sign tests: {told} of {len(tests)} pairs differ"
        found.append((metric.name, "objective", f"{low} to {high}", rests))
    return found


def simulated_notice(results: Result) -> str:
    """What has to be said first of a report on simulated participants; empty for people."""
    if results["mode"] == "live":
        return ""
    answers = results["answers"]
    shares = ""
    if answers["n"]:
        true = 100 * answers["n_true"] / answers["n"]
        shares = f" Of their {answers['n']:,} answers {true:.0f} % are true, from the users' own ratings, and " + (
            f"{100 - true:.0f} % are modelled."
        )
    planted = told(results.get("planted_effects", {}))
    planted = f" {planted} What is found below was put in." if planted else ""
    pilot = (
        "PILOT of a draft that has not been launched: no participant has taken part, and the design may still change. "
        if results.get("is_pilot")
        else ""
    )
    return (
        f"{pilot}These participants are simulated: they answer from ratings of users whom no model has seen, so this "
        f"report shows that the study runs and is no evidence about people.{shares}{planted}"
    )


def few_said(results: Result) -> list[str]:
    """What limits the whole report: nobody in a condition, one participant, one condition."""
    said: list[str] = []
    empty = [one["label"] for one in results["conditions"] if one["n"] == 0]
    single = [one["label"] for one in results["conditions"] if one["n"] == 1]
    if len(results["conditions"]) < 2:
        said.append("The study has one condition: there is nothing to compare it with.")
    if empty and results["flow"]["analysed"]:
        said.append(f"Nobody has finished with {listed(empty)}.")
    if single:
        said.append(f"One participant alone has finished with {listed(single)}: no test takes it in.")
    return said
