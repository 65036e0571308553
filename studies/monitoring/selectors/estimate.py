"""Duration and cost of a study, from participants' times or from assumed ones.

Researchers who preview their own study and simulated participants do not read as participants do, so their times are
never used.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from studies.allocation.selectors.allocations import n_slots
from studies.design.selectors.stated_facts import assumed_seconds
from studies.design.selectors.texts import texts_of
from studies.enums import Mode, ParticipantStatus
from studies.flow_pages import ABOUT, AFTER, CHOICE, COMPARE, ELICIT, ITEM_QUESTIONS, LIST, OVERALL
from studies.instrument.flow import CONSENT, flow_of
from studies.models import Participant, Study
from studies.monitoring.selectors.page_times import BROWSER, StepTime, step_times

FEWEST_PEOPLE = 5  # live participants for a usable median
CENT = Decimal("0.01")

NAMES = {
    ABOUT: "About you",
    ELICIT: "Rating known items",
    LIST: "The recommendations",
    ITEM_QUESTIONS: "Questions about each item",
    OVERALL: "The list as a whole",
    CHOICE: "The choice of an item",
    COMPARE: "The comparison of lists",
    AFTER: "Questions after the list",
}


def page_name(study: Study, key: str) -> str:
    """Return what researchers read of a page of the study's flow, or of consent."""
    return "Consent" if key == CONSENT else NAMES.get(flow_of(study).page(key).part, f"The page {key}")


@dataclass(frozen=True)
class StepEstimate:
    """Seconds of one step; `timing` is how long participants took, None where the time is assumed."""

    step: str
    name: str
    seconds: float
    timing: StepTime | None = None

    @property
    def minutes(self) -> float:
        return self.seconds / 60

    @property
    def quartile_minutes(self) -> tuple[float, float] | None:
        timing = self.timing
        return None if timing is None else ((timing.quartile_1 or 0.0) / 60, (timing.quartile_3 or 0.0) / 60)

    @property
    def basis(self) -> str:
        if self.timing is None:
            return "assumed"
        clock = "time in sight" if self.timing.source == BROWSER else "the server's clock, pauses included"
        return f"median of {self.timing.n:,} participants, {clock}"


@dataclass(frozen=True)
class Estimate:
    """A participant's expected time by step, and the number of planned participants."""

    steps: tuple[StepEstimate, ...]
    n_planned: int
    n_completed: int

    @property
    def minutes(self) -> float:
        return sum(step.seconds for step in self.steps) / 60

    @property
    def is_all_assumed(self) -> bool:
        return self.n_completed < FEWEST_PEOPLE

    @property
    def basis(self) -> str:
        if self.is_all_assumed:
            so_far = {0: "none has", 1: "1 has"}.get(self.n_completed, f"{self.n_completed} have")
            used = (
                f"All times are assumptions: measured times are used once {FEWEST_PEOPLE} live participants have "
                f"completed; so far {so_far}."
            )
        else:
            used = (
                f"Times are medians of {self.n_completed:,} live participants; steps that fewer than {FEWEST_PEOPLE} "
                "of them were timed at are assumed."
            )
        return f"{used} Previews and simulated participants never count."

    @property
    def is_assumed(self) -> bool:
        """Whether any step is assumed, other than consent, which cannot be timed."""
        return any(step.timing is None and step.step != CONSENT for step in self.steps)


@dataclass(frozen=True)
class Cost:
    """A study's cost at a reward: for all planned participants, and for those still to come."""

    reward: Decimal
    fee_percent: Decimal
    rewards: Decimal
    fee: Decimal
    total: Decimal
    remaining: Decimal
    an_hour: Decimal | None


def estimate_of(study: Study) -> Estimate:
    """Estimate every step: by live participants where enough were timed, else as stated."""
    n = Participant.objects.filter(study=study, mode=Mode.LIVE, status=ParticipantStatus.COMPLETED).count()
    timed = {timing.step: timing for timing in step_times(study, Mode.LIVE)} if n >= FEWEST_PEOPLE else {}
    texts = texts_of(study, study.design.languages[0])
    stated = assumed_seconds(study, str(texts.get("consent", "")), texts.get("consent_boxes", ()))
    steps = []
    for step, seconds in stated.items():
        name, timing = page_name(study, step), timed.get(step)
        if timing is None or timing.median is None or timing.n < FEWEST_PEOPLE:
            steps.append(StepEstimate(step, name, seconds))
        else:
            steps.append(StepEstimate(step, name, timing.median, timing))
    return Estimate(tuple(steps), n_slots(study), n)


def cost_of(estimate: Estimate, *, reward: Decimal, fee_percent: Decimal = Decimal(0)) -> Cost:
    """Multiply out; amounts are in the currency of the reward, whatever that is, rounded to cents at the end."""

    def cents(amount: Decimal) -> Decimal:
        return amount.quantize(CENT, ROUND_HALF_UP)

    rewards = reward * estimate.n_planned
    fee = rewards * fee_percent / 100
    to_come = max(0, estimate.n_planned - estimate.n_completed)
    remaining = reward * to_come * (1 + fee_percent / 100)
    an_hour = cents(reward * 60 / Decimal(estimate.minutes)) if estimate.minutes > 0 else None
    return Cost(reward, fee_percent, cents(rewards), cents(fee), cents(rewards + fee), cents(remaining), an_hour)
