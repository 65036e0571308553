"""Who is left out of analyses and why: by hand, or by the rule that the plan gave before anybody took part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from studies import flags
from studies.flags import Flag
from studies.models import Exclusion, Study
from studies.plans import plan_from
from studies.selectors.quality import excluded, flags_by_participant

HAND, RULE = "hand", "rule"
REASON_GONE = "The reason is erased"
LeftOut = Mapping[int, tuple[str, str]]  # a participant's key -> by hand or by rule, and the reason
Raised = Mapping[int, Sequence[Flag]]


def planned_rule(study: Study) -> tuple[str, ...]:
    """The flags for which the plan leaves somebody out: the plan of the launch, or of a draft the one it stands at.

    A study that was launched before plans were frozen has none.
    """
    found = list(study.versions.order_by("number").values_list("snapshot__plan__exclude", flat=True)[:1])
    return tuple(found[0] or ()) if found else plan_from(study.settings).exclude


def left_out_by_rule(raised: Raised, rule: Sequence[str]) -> dict[int, str]:
    """Those who have a flag that the rule names, with the name of the first of it that they have."""
    found = {}
    for pk, own in raised.items():
        keys = {flag.key for flag in own}
        first = next((key for key in rule if key in keys), None)
        if first is not None:
            found[pk] = flags.NAMES[first]
    return found


def joined(by_rule: Mapping[int, str], by_hand: Mapping[int, Exclusion]) -> dict[int, tuple[str, str]]:
    """Both together, with how and why; somebody to whom both apply counts as excluded by hand."""
    hand = {pk: (HAND, row.reason or REASON_GONE) for pk, row in by_hand.items()}
    return {**{pk: (RULE, name) for pk, name in by_rule.items()}, **hand}


def left_out(
    study: Study, modes: Sequence[str], *, by_hand: bool = True, rule: Sequence[str] = ()
) -> dict[int, tuple[str, str]]:
    """Whom an analysis leaves out: those excluded by hand, and those with a flag that the rule names.

    Somebody to whom both apply counts as excluded by hand; of several flags the first of the rule counts.
    """
    named = left_out_by_rule(flags_by_participant(study, modes), rule) if rule else {}
    return joined(named, excluded(study, modes) if by_hand else {})


def left_out_as_planned(study: Study, modes: Sequence[str]) -> dict[int, tuple[str, str]]:
    """Whom the analysis leaves out that carries out the plan: by hand, and by the plan's own rule."""
    return left_out(study, modes, rule=planned_rule(study))


def reason_told(how: str, reason: str) -> str:
    """Why somebody is left out, in words that say when it is the plan that does it."""
    return f"By the plan: {reason}" if how == RULE else reason


def by_frequency(reasons: Iterable[str]) -> list[tuple[str, int]]:
    """How many have each reason, the most frequent first."""
    return sorted(Counter(reasons).items(), key=lambda pair: (-pair[1], pair[0]))
