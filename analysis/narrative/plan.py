"""Sentences about the plan that was frozen, what a report does otherwise, and what exclusions changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from analysis.enums import VARIABLE_OF, variable_of
from analysis.narrative import contrast
from analysis.tables.cells import listed, p_alone, written
from studies import flags
from studies.narrative.plan import contrast_in_words, level, metric_label, rule_of_exclusion
from studies.plans import AnalysisPlan, contrast_from

Result = Mapping[str, Any]
VERDICTS = {
    "alike": "ranks the algorithms much as participants do",
    "against": "ranks the algorithms in the opposite direction to participants",
    "open": "gives no evidence that it ranks the algorithms as participants do",
    "none": "cannot be compared with what participants say",
}
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip


def frozen(results: Result) -> list[str]:
    """What was planned, and since when that stands."""
    plan, n = results["planned"]["plan"], results["objective"]["n"]
    if results.get("is_pilot"):
        opening = "This plan is that of the draft as it stands. Nothing is frozen before the launch."
    elif results["planned"]["is_frozen"]:
        opening = "This plan was frozen with the design when the study was launched."
    else:
        opening = (
            "This study was launched before plans were frozen with the design: the primary pair was named then, and "
            "the rest is the plan that stands where nothing is said. Whether it was meant so cannot be told from here."
        )
    variables = listed([VARIABLE_OF[key].in_text for key in plan["variables"]])
    names = {one["key"]: one["name"] for one in results.get("scales", ())}
    named = [f"“{names.get(key, key)}”" for key in plan["scales"]]
    scales = f"; the scale{'s' if len(named) > 1 else ''} {listed(named)}" if named else ""
    primary = plan["primary"]
    of_contrast = contrast_from(primary)
    test = "" if of_contrast is None else f"; as the primary test the contrast {contrast_in_words(of_contrast)}"
    metric = _lowered(metric_label(primary["objective"], plan.get("n", n)))
    rule = rule_of_exclusion(AnalysisPlan(exclude=tuple(plan["exclude"]), exclude_words=plan["exclude_words"]))
    return [
        opening,
        f"Planned: α = {level(plan['alpha'])}; {variables}{scales}; as the primary pair "
        f"{variable_of(primary['perceived'], results).in_text} and {metric}{test}; "
        f"{plan['resamples']:,} resamples. {rule}",
    ]


def _lowered(name: str) -> str:
    return name[0].lower() + name[1:]


def deviations(results: Result) -> list[str]:
    """One sentence a deviation, or that there is none."""
    found = results["planned"]["deviations"]
    said = [_said(one, results) for one in found] or ["Nothing deviates from the plan."]
    if results["mode"] != "live":
        said.append("The plan is about people: on simulated participants it is tried, and not carried out.")
    return said


def _said(one: Result, results: Result) -> str:
    return SAID[one["of"]](one, results)


def _alpha(one: Result, results: Result) -> str:
    return f"The tests are at α = {level(one['done'])}; the plan says {level(one['planned'])}."


def _primary(one: Result, results: Result) -> str:
    if one["lacks"] == "variable":
        name = variable_of(one["key"], results).in_text
        return f"The primary pair is missing: {name} was left out, so that every comparison here is exploratory."
    metric = _lowered(metric_label(one["key"], results["objective"]["n"]))
    return (
        f"The primary pair is missing: the run did not measure {metric}, so that every comparison here is exploratory."
    )


def _variables(one: Result, results: Result) -> str:
    return f"Planned and left out here: {listed([VARIABLE_OF[key].in_text for key in one['left_out']])}."


def _rule(one: Result, results: Result) -> str:
    planned, done = (_flags(one[key]) for key in ("planned", "done"))
    return f"Left out by rule {done}; the plan says that {planned}."


def _flags(keys: Sequence[str]) -> str:
    if not keys:
        return "is nobody"
    return f"is whoever has the flag {' or '.join(flags.NAMES[key].lower() for key in keys)}"


def _by_hand_taken_in(one: Result, results: Result) -> str:
    return "Participants excluded by hand are taken in."


def _by_hand(one: Result, results: Result) -> str:
    n = one["n"]
    who = "One participant was" if n == 1 else f"{n:,} participants were"
    if one["words"]:
        return (
            f"{who} excluded by hand. The plan has a rule in words, “{one['words'].rstrip('. ')}”; whether it covers "
            "the reasons given below is for the reader to judge."
        )
    return f"{who} excluded by hand, for reasons that the plan does not name."


def _participants(one: Result, results: Result) -> str:
    off = one["conditions"]
    where = listed([_standing(each) for each in off[:8]])
    more = f", and {len(off) - 8} more" if len(off) > 8 else ""
    planned = f"the plan has {one['target']:,}"
    if "extensions" in one:
        planned = f"the plan of the launch has {one['target']:,}, extended to {one['extended']:,} since"
    said = f"{one['analysed']:,} participants are analysed; {planned} ({where}{more})."
    for extension in one.get("extensions", ()):
        said += f" {_extension(extension)}"
    if one["under_way"]:
        people = "one is" if one["under_way"] == 1 else f"{one['under_way']:,} are"
        said += f" The study was not over when this report was made: {people} still under way."
    return said


def _reopened(one: Result, results: Result) -> str:
    by = f" by {one['by']}" if one["by"] else ""
    return (
        f"The study was closed on {_day(one['closed'])}, and recruitment was reopened{by} on {_day(one['day'])}: "
        f"“{one['why'].rstrip('. ')}”. Outcomes could be seen in between, so the number of participants was "
        "not fixed in advance."
    )


def _standing(one: Result) -> str:
    said = f"{one['condition']} {one['analysed']:,} of {one['target']:,}"
    return f"{said}, extended to {one['extended']:,}" if "extended" in one else said


def _extension(one: Result) -> str:
    """When targets grew, by whom, by how much, and why."""
    grown = listed([f"{each['condition']} from {each['before']:,} to {each['after']:,}" for each in one["targets"]])
    by = f" by {one['by']}" if one["by"] else ""
    return (
        f"Version {one['version']} of the design, made{by} on {_day(one['day'])}, extended {grown}: "
        f"“{one['why'].rstrip('. ')}”."
    )


def _day(iso: str) -> str:
    """A day as it is written.

    Examples
    --------
    >>> _day("2026-03-04")
    '4 March 2026'
    """
    year, month, day = (int(part) for part in iso.split("-"))
    return f"{day} {MONTHS[month - 1]} {year}"


def _run(one: Result, results: Result) -> str:
    said = (
        f"The offline side is another run (inputs {one['done'][:12]}) than the one that the design pins "
        f"({one['planned'][:12]}), of the same models."
    )
    names = {"n": "lists of", "profile_lengths": "short profiles of"}
    for each in one["settings"]:
        said += (
            f" It has {names[each['name']]} {_numbers(each['done'])} where the plan has {_numbers(each['planned'])}."
        )
    return said


def _numbers(value: Any) -> str:
    if isinstance(value, list):
        return " and ".join(map(str, value)) or "no length"
    return str(value)


def _versions(one: Result, results: Result) -> str:
    changed = listed([f"{each['name']} {each['done']} (then {each['planned']})" for each in one["changed"]])
    return f"The software is not that of the launch: {changed}."


SAID: dict[str, Callable[[Result, Result], str]] = {
    "alpha": _alpha,
    "primary": _primary,
    "variables": _variables,
    "rule": _rule,
    "by_hand_taken_in": _by_hand_taken_in,
    "by_hand": _by_hand,
    "participants": _participants,
    "reopened": _reopened,
    "run": _run,
    "versions": _versions,
}


def exclusions(results: Result) -> list[str]:
    """What being left out changed: each variable and the primary pair, with and without."""
    found = results["exclusions"]
    n = found["n"]
    said = [
        f"{n['kept']:,} of the {n['everybody']:,} who answered everything are analysed. Below stands what the analysis "
        "would have said with all of them."
    ]
    if n["kept"]:
        said += [_variable(one) for one in found["variables"]]
        if "contrast" in found:
            said.append(contrast.both_ways(found["contrast"]))
        if found["primary"] is not None:
            said.append(_verdicts(found["primary"], results["objective"]["n"]))
    return said


def _variable(one: Result) -> str:
    name = variable_of(one["key"], one).name
    if one["survives"] is None:
        return f"{name}: no test among those who are analysed, so there is no conclusion to compare."
    if one["survives"]:
        return f"{name}: the conclusion survives, with the same pairs in order."
    changes = []
    tests = [one[side]["anova"] for side in ("kept", "everybody")]
    if not tests[1]["is_defined"]:
        changes.append("with everybody there is no test")
    if one["only_kept"]:
        changes.append(f"only without them is {_relation(one['only_kept'])}")
    if one["only_everybody"]:
        changes.append(f"only with them is {_relation(one['only_everybody'])}")
    if not changes:
        changes.append("the analysis of variance falls on the other side of α")
    return f"{name}: the conclusion changes: {'; '.join(changes)}."


def _relation(pairs: Sequence[Sequence[str]]) -> str:
    return listed([f"{above} above {below}" for above, below in pairs])


def _verdicts(primary: Result, n: int) -> str:
    metric = _lowered(metric_label(primary["metric"], n))
    kept, everybody = primary["verdicts"]
    numbers = f"{_tau(primary['kept'])} without and {_tau(primary['everybody'])} with them"
    if primary["survives"]:
        return f"The verdict on the primary pair is the same both ways ({numbers}): {metric} {VERDICTS[kept]}."
    return (
        f"The verdict on the primary pair changes ({numbers}): without those who are left out {metric} "
        f"{VERDICTS[kept]}; with them it {VERDICTS[everybody]}."
    )


def _tau(found: Result) -> str:
    if not found["is_defined"]:
        return "no τ_b"
    alone = p_alone(found["p"])
    p = alone if alone[0] in "<>" else f"= {alone}"
    return f"τ_b = {written(found['coefficient'], 2, is_share=True)}, p {p}"


def planned_scales(results: Result) -> str:
    """What the score of each tested scale is; nothing where the plan names none."""
    asked = {one["key"]: len(one["questions"]) for one in results.get("scales", ())}
    said = []
    for one in results["variables"]:
        variable = variable_of(one["key"], one)
        if variable.scale:
            n = asked[variable.scale]
            score = "one answer" if n == 1 else f"the mean of {n} answers"
            said.append(f"{variable.name} is {score}, {variable.unit}.")
    return " ".join(said)


def scales(found: Sequence[Result]) -> str:
    """Which scales the plan names."""
    planned = [one["name"] for one in found if one.get("is_planned")]
    unadjusted = "Their p values are not adjusted for one another."
    if not planned:
        return f"These scales are exploratory: the plan names none of them. {unadjusted}"
    if len(planned) == len(found):
        return f"The plan names {'this scale' if len(found) == 1 else 'these scales'}. {unadjusted}"
    return f"The plan names {listed(planned)}; the other scales are exploratory. {unadjusted}"
