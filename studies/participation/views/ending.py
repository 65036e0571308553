"""The last page, withdrawal and exit links."""

from __future__ import annotations

from functools import partial

from django.http import HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _

from studies.design.selectors import texts as written
from studies.design.selectors.texts import rendered
from studies.instrument.flow import Place
from studies.participation.services import events, exit_links, withdrawal
from studies.participation.views.message_pages import hand_back_url, message_page
from studies.participation.views.message_pages import outcome as outcome_page
from studies.participation.views.visit import Visit, of_participant
from studies.recruitment.panels import exits


@partial(of_participant, even_when_over=True)
def withdraw(visit: Visit) -> HttpResponse:
    """Ask for confirmation, then erase the participant's data; the personal link is required; an id is not enough."""
    if visit.is_limited:
        return message_page(
            visit.request,
            _("Your personal link is required"),
            text=_("To withdraw, open your personal link, or write to the people who run the study."),
            participant=visit.participant,
            action_url=visit.links.to(visit.here),
        )
    if visit.request.method == "POST":
        # The exit address is built before the erasure, since it may contain an id.
        exit_link = exit_links.exit_link_of(participant=visit.participant, outcome=exits.WITHDREW)
        withdrawal.withdraw(participant=visit.participant)
        visit.participant.refresh_from_db()
        page = outcome_page(visit.request, visit.participant, withdraw_url="", exit_link=exit_link)
        return page or visit.redirect_to_page(visit.here)
    return visit.page("withdraw", visit.here, step="withdraw", back_url=visit.links.to(visit.here))


def end(visit: Visit, at: Place) -> HttpResponse:
    """The debriefing, the completion code, and the exit link to the referring site."""
    texts = written.texts_of(visit.study, visit.language)
    own_link = visit.request.build_absolute_uri(reverse("participant:resume", args=[visit.token]))
    is_guarded = exit_links.is_code_guarded(participant=visit.participant, since=visit.since)
    exit_link = None if is_guarded else exit_links.exit_link_of(participant=visit.participant)
    words = exit_link.text.get(visit.language, "") if exit_link else ""
    context = {
        "debriefing_html": rendered(texts.get("debriefing", "")),
        "exit_html": rendered(words) if words else "",
        "own_link": "" if visit.is_limited else own_link,
        "exit_link": visit.shown_exit(exit_link),
        "is_guarded": is_guarded,
        "hand_back_url": hand_back_url(visit.request),
    }
    return visit.page("thanks", at, **context)


@partial(of_participant, even_when_over=True)
def leave(visit: Visit) -> HttpResponse:
    """Redirect to the panel; a participant who has not finished is redirected to their page."""
    exit_link = exit_links.exit_link_of(participant=visit.participant)
    is_guarded = exit_links.is_code_guarded(participant=visit.participant, since=visit.since)
    if exit_link is None or not exit_link.url or is_guarded:
        return visit.redirect_to_page(visit.here)
    if visit.participant.erased_at is None:
        events.record_view(participant=visit.participant, kind="led_out", facts={"outcome": exit_link.outcome})
    return HttpResponseRedirect(exit_link.url)
