"""Every page a participant can meet, as a study brought there by the services and an address to open."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.test import Client

from evaluation.models import EvaluationRun
from studies.design.services.launch import close_study, pause_study
from studies.enums import Mode, ParticipantStatus
from studies.models import Participant, Study
from studies.participation.services import withdrawal
from studies.participation.services.finishing import fail_attention
from studies.participation.services.interviews import start_interview
from studies.recruitment.panels.exits import Exit
from studies.recruitment.services.entry_links import entry_link
from studies.recruitment.services.recruitment import set_exits, set_panel
from tests.factories.evaluation import make_run_at
from tests.factories.studies import items_of, make_study, make_usage_run, recruit_on_prolific
from tests.factories.walking import ABOUT, HTMX, Person


@dataclass(frozen=True)
class State:
    """A page: where it is, and what has to be done on it before it is looked at."""

    path: str
    do: Callable[[Any], None] | None = None


def visitor(study: Study, **answers: str) -> Person:
    """A participant at a host that is served outside tests too, where the gallery is taken."""
    return Person(study, Client(SERVER_NAME="localhost"), answers=answers)


def participant_at(step: str, study: Study, language: str = "en", mode: str = Mode.LIVE, **parameters: str) -> Person:
    """A participant who has walked to a step, whose pages are in one language; `parameters` are of the study's link.

    `rated` is the page of ratings with all of them given, `open` the first item with every question answered, and
    `item 2` the item after it.
    """
    entry = f"{entry_link(study=study, mode=mode)}&" if mode == Mode.PREVIEW else f"/s/{study.slug}/?"
    page = {"rated": "rate", "open": "item", "item 2": "item"}.get(step, step)
    person = visitor(study).to(page, entry + urlencode({"lang": language, **parameters}))
    if step == "rated":
        person.rate_five()
    answers = {"watched": "no", "heard": "no", "trailer_seen": "yes", "rating": "3"}
    if step == "open":
        person.post("items/1/1/", answers, headers=HTMX)
    if step == "item 2":
        person.post("items/1/1/", {**answers, "continue": "1"})
    return person


def _recruiting(study: Callable[..., Study], way: Callable[..., Person], lang: str) -> dict[str, State]:
    """Doors and ways out: a panel's exits, somebody known by an id, an interviewer's device, a task only looked at."""
    panel, turk, invited = study(), study(), study()
    recruit_on_prolific(panel)
    set_panel(study=turk, panel="mturk", entrance="open")
    set_panel(study=invited, panel="none", entrance="personal")
    exits = {name: Exit("static", "C1A2B3D4") for name in ("complete", "attention_failed")}
    set_exits(study=panel, exits=exits)
    way("rated", panel, PROLIFIC_PID="known")
    failed = way("rated", panel, PROLIFIC_PID="failed")
    fail_attention(participant=failed.me, reason="Two checks failed.")
    key = start_interview(study=panel, interviewer=None).key
    here = f"/s/{panel.slug}/{lang}"

    def go_on(page: Any) -> None:
        with page.expect_navigation():
            page.locator("button[value=resume]").click()

    return {
        "thanks, with a way back": State(way("thanks", panel, PROLIFIC_PID="done").base),
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

    def way(step: str, at: Study | None = None, mode: str = Mode.LIVE, **ids: str) -> Person:
        return participant_at(step, at or main, language, mode, **ids)

    def sheet(page: Any) -> None:
        page.locator("#grid summary").first.click()
        page.locator("#grid [data-opens-sheet]").first.click()
        page.locator("#sheet h2").wait_for()

    def press(selector: str) -> Callable[[Any], None]:
        def pressed(page: Any) -> None:
            with page.expect_navigation():
                page.locator(selector).click()

        return pressed

    def leave_unanswered(page: Any) -> None:
        page.locator("#continue").click()
        page.locator(".problem").first.wait_for()

    def send_too_few(page: Any) -> None:
        # The button is off until five are rated; without the script's help a form can be sent all the same.
        with page.expect_navigation():
            page.evaluate("document.querySelector('#tray form').submit()")
        page.locator(".problem").wait_for()

    main, choosing = study(), study(run=make_usage_run())
    lang = f"?lang={language}"
    mistaken = way("about")
    mistaken.post("about/", {**ABOUT, "age": "15"})
    found = {
        "consent": State(f"/s/{main.slug}/{lang}"),
        "consent, boxes empty": State(f"/s/{main.slug}/{lang}", press("button[value=yes]")),
        "declined": State(f"/s/{main.slug}/{lang}", press("button[value=no]")),
        "about": State(way("about").base),
        "about, answers missing": State(way("about").base, press("form.about button.go")),
        "about, answer to confirm": State(mistaken.base, press("form.about > button.go")),
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
        "item": State(way("item").base),
        "item, every question": State(way("open").base),
        "item, answers missing": State(way("item").base, leave_unanswered),
        "item 2": State(way("item 2").base),
        "overall": State(way("overall").base),
        "overall, answer missing": State(way("overall").base, leave_unanswered),
        "thanks": State(way("thanks").base),
        "withdraw": State(way("item").base + "withdraw/"),
        "wrong personal link": State(f"/s/p/nonsense/{lang}"),
        "wrong study link": State(f"/s/no-such-study/{lang}"),
        "damaged signed link": State(f"/s/{main.slug}/{lang}&as=xyz"),
        "preview": State(f"{entry_link(study=main, mode=Mode.PREVIEW)}&lang={language}"),
        "preview, under way": State(way("rate", mode=Mode.PREVIEW).base),
    }
    found |= _recruiting(study, way, lang)
    details = way("item")
    item = items_of(main, 1)[0]
    found["details as a page"] = State(f"{details.base}details/{item.pk}/")
    found["page that is not there"] = State(f"{details.base}details/999999/")
    left = way("item")
    withdrawal.withdraw(participant=left.me)
    found["withdrawn"] = State(left.base)
    outside = visitor(main, age="70").to("message", f"/s/{main.slug}/{lang}")
    found["screened out"] = State(outside.base)
    for status in (ParticipantStatus.RETURNED, ParticipantStatus.ATTENTION_FAILED):
        gone = way("item")
        Participant.objects.filter(pk=gone.me.pk).update(status=status)  # by panels, from outside this way
        found[str(status)] = State(gone.base)
    full = study(per_condition=1)
    late = way("about", full)
    for _condition in range(full.conditions.count()):
        way("rated", full)
    late.post("about/", ABOUT)
    found["full, at the entrance"] = State(f"/s/{full.slug}/{lang}")
    found["full, after about"] = State(late.base)
    for name, stop in (("paused", pause_study), ("closed", close_study)):
        stopped = study()
        under_way = way("item", stopped)
        stop(study=stopped)
        found[f"{name}, at the entrance"] = State(f"/s/{stopped.slug}/{lang}")
        found[f"{name}, under way"] = State(under_way.base)
    return found
