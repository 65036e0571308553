"""Sentences for a paper's results section, after APA's seventh edition; each stands by itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from analysis.enums import Metric, variable_of
from analysis.narrative import contrast, verdict
from analysis.tables.cells import written
from inference import apa
from inference.results import Interval

Result = Mapping[str, Any]
Part = tuple[str, list[str]]
ALPHA = 0.05


def apa_sentences(results: Result) -> list[Part]:
    """Headings, each with its sentences: variables, what was measured, both sides together."""
    parts = [(variable_of(one["key"], one).name, of_variable(one)) for one in results["variables"]]
    n = results["objective"]["n"]
    parts += [
        (Metric(kind, one["profile_length"], n).name, of_metric(one, kind))
        for one in results["objective"]["lengths"]
        for kind in ("recall", "fallout")
    ]
    if (planned := results.get("contrast")) is not None:
        parts.append(("Planned contrast", [contrast.sentence(planned)]))
    parts.append(("Perceived against objective", [_agreement(one, n) for one in results["comparisons"]]))
    return [(heading, sentences) for heading, sentences in parts if sentences]


def of_variable(variable: Result) -> list[str]:
    """Means, the analysis of variance, the tests that assume less, and the pairs that Tukey's test tells apart."""
    defined = variable_of(variable["key"], variable)
    if not variable["described"]:
        return [f"Nobody has finished, so there is no {defined.in_text} to report."]
    said = [f"{_means(variable, is_share=defined.is_share)}."]
    said.append(_test(variable["anova"], "A one-way analysis of variance", _anova))
    said.append(_test(variable["welch"], "Welch's test, which allows unequal variances,", _welch))
    said.append(_test(variable["brown_forsythe"], "The Brown-Forsythe test of equal spread", _plain_f))
    said.append(_test(variable["kruskal"], "The Kruskal-Wallis test", _kruskal))
    said += _pairs(variable["tests"]["tukey"], "Tukey's HSD", is_share=defined.is_share)
    said += _pairs(variable["tests"]["games_howell"], "Games-Howell", is_share=defined.is_share)
    return said


def _means(variable: Result, *, is_share: bool) -> str:
    told = []
    for name in variable["conditions"]:
        found = variable["described"].get(name)
        if found is None:
            continue
        spread = "" if found["sd"] is None else f", SD = {written(found['sd'], 2, is_share)}"
        told.append(f"{name} (M = {written(found['mean'], 2, is_share)}{spread}, n = {found['n']})")
    return f"{variable_of(variable['key'], variable).name} by algorithm: {'; '.join(told)}"


def _test(found: Result, name: str, said: Callable[[Result], str]) -> str:
    return f"{name} gave {said(found)}." if found["is_defined"] else f"{name} could not be computed. {found['reason']}"


def _anova(found: Result) -> str:
    limits = found["eta_squared_ci"]
    interval = Interval(limits["low"], limits["high"]) if limits else None
    text = apa.f_test(found["f"], found["df_between"], found["df_within"], found["p"], found["eta_squared"], interval)
    return f"{_minus(text)}, ω² = {apa.share(max(0.0, found['omega_squared']))}"


def _welch(found: Result) -> str:
    return apa.f_test(found["f"], found["df_between"], float(found["df_within"]), found["p"])


def _plain_f(found: Result) -> str:
    return apa.f_test(found["f"], found["df_between"], found["df_within"], found["p"])


def _kruskal(found: Result) -> str:
    effect = found["rank_epsilon_squared"]
    told = "" if effect is None else f", ε² = {apa.share(effect)}"
    return f"H({found['df']}) = {apa.number(found['h'])}, {apa.p_value(found['p'])}{told}"


def _pairs(tested: Result, name: str, *, is_share: bool) -> list[str]:
    if not tested["is_defined"]:
        return []
    said = []
    for pair in tested["pairs"]:
        if not pair["is_significant"] or pair["p"] is None:
            continue
        above, below, sign = (pair["a"], pair["b"], 1) if pair["difference"] > 0 else (pair["b"], pair["a"], -1)
        limits = ""
        if pair["ci_low"] is not None:
            low, high = sorted((sign * pair["ci_low"], sign * pair["ci_high"]))
            limits = f", 95% CI [{written(low, 2, is_share)}, {written(high, 2, is_share)}]"
        difference = written(sign * pair["difference"], 2, is_share)
        said.append(f"{name}: {above} above {below}, mean difference {difference}{limits}, {apa.p_value(pair['p'])}.")
    if not said:
        said.append(f"{name} told no pair of algorithms apart.")
    return said


def of_metric(length: Result, kind: str) -> list[str]:
    """Values with intervals, and the pairs that sign tests over users tell apart."""
    told = []
    for line in length["table"]:
        if line[kind] is None:
            continue
        limits = line["intervals"][kind]
        interval = "" if limits is None else f", 95% CI [{apa.share(limits[0], 3)}, {apa.share(limits[1], 3)}]"
        told.append(f"{line['condition']} {apa.share(line[kind], 3)}{interval}")
    said = [f"{kind.capitalize()} by algorithm, intervals by resampling users: {'; '.join(told)}."] if told else []
    tests = length[kind]["sign_tests"]
    if not tests["is_defined"]:
        return [*said, f"There is no sign test. {tests['reason']}"]
    for pair in tests["pairs"]:
        if pair["is_significant"] and pair["p"] is not None:
            more, fewer = ("a", "b") if pair["n_a"] > pair["n_b"] else ("b", "a")
            said.append(
                f"Of {pair['n_a'] + pair['n_b']} users whose {kind} differed, {pair[f'n_{more}']} had the higher with "
                f"{pair[more]} and {pair[f'n_{fewer}']} with {pair[fewer]}, exact sign test with Holm's correction, "
                f"{apa.p_value(pair['p'])}."
            )
    return said


def _agreement(comparison: Result, n: int) -> str:
    variable, metric = variable_of(comparison["variable"], comparison), verdict.metric_of(comparison, n)
    role = "primary pair" if comparison["is_primary"] else "exploratory"
    if not comparison.get("is_tested", True):
        role = "primary pair, exploratory beside the planned contrast"
    opening = f"{variable.name} and {metric.in_text} ({role})"
    tau, rho = comparison["tau"], comparison["rho"]
    if not tau["is_defined"]:
        return f"{opening}: no rank correlation. {tau['reason']}"
    said = [f"τ_b = {_minus(apa.share(tau['coefficient']))}"]
    drawn = comparison["tau_bootstrap"]
    if drawn["is_defined"]:
        said.append(f"95% of resamples [{_minus(apa.share(drawn['ci_low']))}, {_minus(apa.share(drawn['ci_high']))}]")
    said.append(f"{_method(tau)} {apa.p_value(tau['p'])}")
    if comparison["p_holm"] is not None:
        said.append(f"with Holm's correction {apa.p_value(comparison['p_holm'])}")
    if rho["is_defined"]:
        said.append(f"ρ = {_minus(apa.share(rho['coefficient']))}, {_method(rho)} {apa.p_value(rho['p'])}")
    return f"{opening}, {len(comparison['conditions'])} algorithms: {', '.join(said)}."


def _method(found: Result) -> str:
    return "exact" if found["p_method"].startswith("exact") else str(found["p_method"])


def _minus(text: str) -> str:
    return text.replace("-", "−")


def as_text(parts: Sequence[Part], title: str, notices: Sequence[str] = ()) -> str:
    """The sentences as plain text."""
    lines = [title, "", *notices, *([""] if notices else [])]
    for heading, sentences in parts:
        lines += [heading, *sentences, ""]
    return "\n".join(lines)
