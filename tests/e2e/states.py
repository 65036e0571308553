"""Every page a participant can meet, as a study brought there by the services and an address to open."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from evaluation.models import EvaluationRun
from studies.design.services.launch import close_study, pause_study
from studies.enums import Mode, ParticipantStatus
from studies.models import ExternalId, Participant, Study
from studies.participation.services import enrolment, finishing, ratings, recommending, withdrawal
from studies.participation.services.finishing import fail_attention
from studies.participation.services.interviews import start_interview
from studies.recruitment.panels.exits import Exit
from studies.recruitment.services.entry_links import entry_link
from studies.recruitment.services.recruitment import set_exits, set_panel
from studies.settings import USED
from tests.factories import answering
from tests.factories.evaluation import make_run_at
from tests.factories.studies import (
    ABOUT,
    answer_item,
    enter,
    items_of,
    make_study,
    make_usage_run,
    recruit_on_prolific,
)


@dataclass(frozen=True)
class State:
    """A page: where it is, and what has to be done on it before it is looked at."""

    path: str
    do: Callable[[Any], None] | None = None


class Way:
    """One participant brought from step to step; asks for their language, so that each state is in one."""

    def __init__(self, study: Study, language: str, mode: str = Mode.LIVE) -> None:
        entry = enter(study, mode, language=language)
        self.participant: Participant = entry.participant
        self.study = study
        self.base = f"/s/p/{entry.token}/"

    def to(self, step: str) -> Way:
        order = ("about", "rate", "rated", "recommendations", "items", "open", "item 2", "overall", "thanks")
        for reached in order[1 : order.index(step) + 1]:
            getattr(self, "_" + reached.replace(" ", "_"))()
        return self

    def _rate(self) -> None:
        self.participant = enrolment.accept_about(participant=self.participant, answers=ABOUT)

    def _rated(self) -> None:
        chooses = self.study.design.is_choice
        for number, item in enumerate(items_of(self.study, 5)):
            ratings.rate_item(participant=self.participant, item=item, rating=USED if chooses else 1 + number)

    def _recommendations(self) -> None:
        recommending.finish_rating(participant=self.participant)

    def _items(self) -> None:
        finishing.finish_recommendations(participant=self.participant)

    def _open(self) -> None:
        answer_item(self.participant, 1, 2)

    def _item_2(self) -> None:
        answering.finish_item(participant=self.participant, rank=1)

    def _overall(self) -> None:
        for rank in range(2, 6):
            answer_item(self.participant, rank, rank)
            answering.finish_item(participant=self.participant, rank=rank)

    def _thanks(self) -> None:
        answering.answer(participant=self.participant, question="satisfaction", value=4)
        answering.finish(participant=self.participant)


def _recruiting(study: Callable[..., Study], way: Callable[..., Way], lang: str) -> dict[str, State]:
    """Doors and ways out: a panel's exits, somebody known by an id, an interviewer's device, a task only looked at."""
    panel, turk, invited = study(), study(), study()
    recruit_on_prolific(panel)
    set_panel(study=turk, panel="mturk", entrance="open")
    set_panel(study=invited, panel="none", entrance="personal")
    exits = {name: Exit("static", "C1A2B3D4") for name in ("complete", "attention_failed")}
    set_exits(study=panel, exits=exits)
    known, failed = way("rated", panel), way("rated", panel)
    ExternalId.objects.create(study=panel, participant=known.participant, name="PROLIFIC_PID", value="known")
    fail_attention(participant=failed.participant, reason="Two checks failed.")
    key = start_interview(study=panel, interviewer=None).key
    here = f"/s/{panel.slug}/{lang}"

    def go_on(page: Any) -> None:
        with page.expect_navigation():
            page.locator("button[value=resume]").click()

    return {
        "thanks, with a way back": State(way("thanks", panel).base),
        "attention failed, with a way back": State(failed.base),
        "known by an id": State(f"{here}&PROLIFIC_PID=known"),
        "back by an id, ratings hidden": State(f"{here}&PROLIFIC_PID=known", go_on),
        "handed over": State(f"/s/{panel.slug}/link/{key}/hand-over/{lang}"),
        "by a personal link": State(f"/s/{panel.slug}/link/{key}/{lang}"),
        "wrong link of one's own": State(f"/s/{panel.slug}/link/nonsense/{lang}"),
        "by invitation": State(f"/s/{invited.slug}/{lang}"),
        "only looked at": State(f"/s/{turk.slug}/{lang}&assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE"),
    }


def states(language: str, run: EvaluationRun | None = None) -> dict[str, State]:
    """Every state by name, in one language; a state's study is its own where its status matters."""
    run = run or make_run_at("succeeded")
    number = iter(range(1000))

    def study(**given: Any) -> Study:
        made = make_study(slug=f"study-{language}-{next(number)}", **{"run": run, "per_condition": 20, **given})
        if language not in made.texts:  # the researcher's own words stay English; the interface is translated
            made.texts = {**made.texts, language: made.texts["en"]}
            made.settings = {**made.settings, "languages": ["en", language]}
            made.save(update_fields=["texts", "settings"])
        return made

    def way(step: str, at: Study | None = None, mode: str = Mode.LIVE) -> Way:
        return Way(at or main, language, mode).to(step)

    def sheet(page: Any) -> None:
        page.locator("#grid a.poster").first.click()
        page.locator("#sheet h2").wait_for()

    def press(selector: str) -> Callable[[Any], None]:
        def pressed(page: Any) -> None:
            with page.expect_navigation():
                page.locator(selector).click()

        return pressed

    def send_too_few(page: Any) -> None:
        # The button is off until five are rated; without the script's help a form can be sent all the same.
        with page.expect_navigation():
            page.evaluate("document.querySelector('#tray form').submit()")
        page.locator(".problem").wait_for()

    main, choosing = study(), study(run=make_usage_run())
    lang = f"?lang={language}"
    found = {
        "consent": State(f"/s/{main.slug}/{lang}"),
        "consent, boxes empty": State(f"/s/{main.slug}/{lang}", press("button[value=yes]")),
        "declined": State(f"/s/{main.slug}/{lang}", press("button[value=no]")),
        "about": State(way("about").base),
        "about, answers missing": State(way("about").base, press("form.about button.go")),
        "rate": State(way("rate").base),
        "rate, five rated": State(way("rated").base),
        "rate, too few": State(way("rate").base, send_too_few),
        "rate, nothing found": State(way("rate").base + "rate/?q=zzzzqqqq"),
        "rate, five chosen": State(way("rated", choosing).base),
        "rate, too few chosen": State(way("rate", choosing).base, send_too_few),
        "recommendations for a choice": State(way("recommendations", choosing).base),
        "details in the sheet, to choose": State(way("rate", choosing).base, sheet),
        "details in the sheet": State(way("rate").base, sheet),
        "recommendations": State(way("recommendations").base),
        "item": State(way("items").base),
        "item, every question": State(way("open").base),
        "item, answers missing": State(way("items").base, press("#continue")),
        "item 2": State(way("item 2").base),
        "overall": State(way("overall").base),
        "overall, answer missing": State(way("overall").base, press("#continue")),
        "thanks": State(way("thanks").base),
        "withdraw": State(way("items").base + "withdraw/"),
        "wrong personal link": State(f"/s/p/nonsense/{lang}"),
        "wrong study link": State(f"/s/no-such-study/{lang}"),
        "damaged signed link": State(f"/s/{main.slug}/{lang}&as=xyz"),
        "preview": State(f"{entry_link(study=main, mode=Mode.PREVIEW)}&lang={language}"),
        "preview, under way": State(way("rate", mode=Mode.PREVIEW).base),
    }
    found |= _recruiting(study, way, lang)
    details = way("items")
    item = items_of(main, 1)[0]
    found["details as a page"] = State(f"{details.base}details/{item.pk}/")
    found["page that is not there"] = State(f"{details.base}details/999999/")
    left = way("items")
    withdrawal.withdraw(participant=left.participant)
    found["withdrawn"] = State(left.base)
    outside = way("about")
    enrolment.accept_about(participant=outside.participant, answers={**ABOUT, "age": 70})
    found["screened out"] = State(outside.base)
    for status in (ParticipantStatus.RETURNED, ParticipantStatus.ATTENTION_FAILED):
        gone = way("items")
        Participant.objects.filter(pk=gone.participant.pk).update(status=status)  # by panels, from outside this way
        found[str(status)] = State(gone.base)
    full = study(per_condition=1)
    late = Way(full, language)
    for _condition in range(full.conditions.count()):
        Way(full, language).to("rated")
    enrolment.accept_about(participant=late.participant, answers=ABOUT)
    found["full, at the entrance"] = State(f"/s/{full.slug}/{lang}")
    found["full, after about"] = State(late.base)
    for name, stop in (("paused", pause_study), ("closed", close_study)):
        stopped = study()
        under_way = way("items", stopped)
        stop(study=stopped)
        found[f"{name}, at the entrance"] = State(f"/s/{stopped.slug}/{lang}")
        found[f"{name}, under way"] = State(under_way.base)
    return found
