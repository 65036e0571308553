"""Sentences about effect sizes, the ordinal model, correlations, and items as a sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from analysis.enums import variable_of
from analysis.tables.cells import listed, p_alone, written
from studies.plans import in_text

Result = Mapping[str, Any]
ALPHA = 0.05


def _p(p: float) -> str:
    alone = p_alone(p)
    return alone if alone[0] in "<>" else f"= {alone}"


def families(n_variables: int) -> str:
    """That Tukey's test keeps its error within one variable only."""
    if n_variables < 2:
        return ""
    return (
        f"Tukey's test holds its error at α within one variable. {n_variables} variables are {n_variables} families: "
        "over all of them together the chance of one false difference is larger."
    )


def largest(found: Result) -> str:
    """The largest effect of a variable with its interval, and Cohen's f."""
    pairs = [pair for pair in found["hedges"] if pair["is_defined"]]
    name = in_text(found["name"])
    if not pairs:
        return f"There is no effect size of {name}. {found['hedges'][0]['reason']}" if found["hedges"] else ""
    best = max(pairs, key=lambda pair: abs(pair["g"]))
    a, b, sign = (best["a"], best["b"], 1) if best["g"] >= 0 else (best["b"], best["a"], -1)
    if best["g"] == 0:
        return f"In {name} no two algorithms differ."
    limits = best["interval"]
    ends = ""
    if limits:
        low, high = sorted((sign * limits["low"], sign * limits["high"]))
        ends = f", 95 % CI [{written(low)}, {written(high)}]"
    f = "" if found["cohens_f"] is None else f" Over all algorithms, Cohen's f = {written(found['cohens_f'])}."
    return f"The largest difference in {name} is {a} over {b}, g = {written(abs(best['g']))}{ends}.{f}"


def detectable(found: Result, order: Result | None) -> str:
    """What effect the study could have seen, said where no order can be claimed."""
    seen = found["detectable"]
    if order is None or not order["is_empty"] or not seen["is_defined"]:
        return ""
    points = ""
    if seen["difference"] is not None:
        points = (
            f", such as two algorithms {written(seen['difference'])} apart at the ends and the others in the middle"
        )
    return (
        f"With {seen['n_per_condition']:,} participants in the smallest of {seen['conditions']} conditions the "
        f"analysis of variance finds an effect of f = {written(seen['f'])} in {100 * seen['power']:.0f} of 100 "
        f"studies{points}; smaller ones may be there unseen."
    )


def ordinal(found: Result, variable: Result | None, alpha: float = ALPHA) -> list[str]:
    """The ordinal model's test, whether its assumption holds, and where it disagrees with the classical tests."""
    model = found["ordinal"]
    if model is None:
        return []
    name = in_text(found["name"])
    if not model["is_defined"]:
        return [f"There is no ordinal model of {name}. {model['reason']}"]
    verb = "differ" if model["p"] < alpha else "could not be shown to differ"
    said = [
        "By the ordinal model, which takes the answers as ordered steps and no means, the algorithms "
        f"{verb} in {name}: LR χ²({model['df']}) = {written(model['lr'])}, p {_p(model['p'])}."
    ]
    if model["empty_categories"]:
        steps = listed([f"{value:g}" for value in model["empty_categories"]])
        said.append(f"Nobody answered {steps}, so the model has no border there.")
    if model["proportional_p"] is not None and model["proportional_p"] < alpha:
        said.append(
            "One shift an algorithm is too few: the distances between answers differ by algorithm "
            f"(test of proportional odds, LR χ²({model['proportional_df']}) = {written(model['proportional_lr'])}, "
            f"p {_p(model['proportional_p'])}). Read the counted shares."
        )
    if variable is not None:
        said.append(_against(model, variable, alpha))
    return said


def _against(model: Result, variable: Result, alpha: float) -> str:
    """Whether the model and the tests of means come to the same pairs."""
    classical = variable["anova"]
    changes = []
    if classical["is_defined"] and (classical["p"] < alpha) != (model["p"] < alpha):
        verdict = "finds a difference" if model["p"] < alpha else "finds none"
        changes.append(f"over all algorithms it {verdict} where the analysis of variance says otherwise")
    order = variable["orders"]["tukey"]
    tukey = {(above, below) for above, others in order["dominates"].items() for below in others}
    own = set()
    for pair in model["pairs"]["pairs"]:
        if pair["is_significant"]:
            own.add((pair["a"], pair["b"]) if pair["difference"] > 0 else (pair["b"], pair["a"]))
    place = {name: index for index, name in enumerate(order["names"])}

    def told(relation: set[tuple[str, str]]) -> str:
        ordered = sorted(relation, key=lambda pair: (place.get(pair[0], 0), place.get(pair[1], 0)))
        return listed([f"{above} over {below}" for above, below in ordered])

    if tukey - own:
        changes.append(f"it does not confirm {told(tukey - own)}")
    if own - tukey:
        changes.append(f"it finds besides {told(own - tukey)}")
    if not changes:
        return "It comes to the same pairs as Tukey's test."
    return f"It disagrees with the tests of means: {'; '.join(changes)}."


def novelty(found: Sequence[Result]) -> str:
    """How the two orders of novelty go together, within and between algorithms."""
    one = next((pair for pair in found if (pair["a"], pair["b"]) == ("fon", "son")), None)
    if one is None:
        return ""
    parts = []
    for key, where in (("within", "within algorithms"), ("between", "between the algorithms' means")):
        result = one[key]
        if not result["is_defined"]:
            parts.append(f"{where} there is no correlation ({_lowered(result['reason'])})")
            continue
        limits = result["interval"]
        ends = f", 95 % CI [{written(limits['low'], 2, True)}, {written(limits['high'], 2, True)}]" if limits else ""
        parts.append(f"{where} r = {written(result['coefficient'], 2, True)}{ends}")
    return f"First- and second-order novelty: {'; '.join(parts)}."


def _lowered(reason: str) -> str:
    return (reason[0].lower() + reason[1:]).removesuffix(".")


def differing(found: Sequence[Result], alpha: float = ALPHA) -> str:
    """Pairs of variables that go one way inside algorithms and the other between their means."""
    turned = []
    for one in found:
        within, between = one["within"], one["between"]
        if within["is_defined"] and between["is_defined"]:
            both = within["p"] < alpha and between["p"] < alpha
            if both and within["coefficient"] * between["coefficient"] < 0:
                turned.append(f"{variable_of(one['a'], one).in_text} and {variable_of(one['b'], one).in_text}")
    if not turned:
        return ""
    return (
        f"Within algorithms and between them {listed(turned)} go opposite ways: what holds of algorithms does not hold "
        "of people."
    )


def crossed(model: Result, variable: Result, alpha: float = ALPHA) -> list[str]:
    """What becomes of perceived accuracy when the items are a sample too."""
    if not model["is_defined"]:
        return [f"There is no model of participants and items. {model['reason']}"]
    verb = "differ" if model["p"] < alpha else "could not be shown to differ"
    said = [
        f"Taken over other participants and other items, the algorithms {verb} in the ratings of single items: Wald "
        f"χ²({model['df']}) = {written(model['chi_squared'])}, p {_p(model['p'])} (large-sample). Participants "
        f"make up {100 * model['share_persons']:.0f} % of the variance, items {100 * model['share_items']:.0f} %, and "
        f"{100 * model['share_residual']:.0f} % is left."
    ]
    order = variable["orders"]["tukey"]
    tukey = {(above, below) for above, others in order["dominates"].items() for below in others}
    own = {
        (pair["a"], pair["b"]) if pair["difference"] > 0 else (pair["b"], pair["a"])
        for pair in model["pairs"]["pairs"]
        if pair["is_significant"]
    }
    place = {name: index for index, name in enumerate(order["names"])}
    lost = sorted(tukey - own, key=lambda pair: (place[pair[0]], place[pair[1]]))
    if lost:
        pairs = listed([f"{above} over {below}" for above, below in lost])
        said.append(
            f"With items as a sample, and p adjusted by Holm, these pairs of Tukey's are not confirmed: {pairs}."
        )
    elif tukey:
        said.append("Every pair that Tukey's test orders in perceived accuracy is confirmed for other items.")
    return said
