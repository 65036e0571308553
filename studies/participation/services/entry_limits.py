"""Limits on entries from one network, and reactions to unusual enrolment rates."""

from __future__ import annotations

import contextlib
import logging
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

from core.errors import NotAllowedInState, ParallaxError
from core.models import LogEntry
from core.rate_limits import RateLimit, seconds_to_wait
from studies.allocation.selectors.allocations import n_slots
from studies.design.services.launch import pause_study
from studies.enums import VOUCHED, Mode, NoticeKind, StudyStatus
from studies.models import Participant, Study
from studies.recruitment.panels.sites import NONE
from studies.recruitment.selectors.recruitment import RecruitmentSettings, recruiting_of
from studies.team.services.notices import notify_owners

logger = logging.getLogger(__name__)

LOCAL = "127.0.0.1"
WINDOW = timedelta(minutes=10)
MOST_PER_NETWORK = 60  # consents of one network within WINDOW: a school class and its neighbour, at once
LEAST_PAUSE = 100  # slots taken within WINDOW; fewer are no unusual rate, however small the study is
# Times the places of the study. A panel may fill a study within minutes; only slots that are taken and given up again
# and again come to so many.
PAUSE_FACTOR, PAUSE_FACTOR_OF_PANEL = 1.5, 3
ALARM_SHARE = 0.5  # of the number at which the study is paused
CONSENT, OPENED, DECLINED, ABOUT, EVENTS = "consent", "opened", "declined", "about", "events"
# What one network may do for each consent that it may give: pages are loaded again, fields are saved one by one.
PER_CONSENT = {CONSENT: 1, DECLINED: 1, OPENED: 10, ABOUT: 30, EVENTS: 100}


class NetworkLimitReached(ParallaxError):
    """The network has reached its limit; retry after `seconds`."""

    def __init__(self, seconds: int) -> None:
        minutes = -(-seconds // 60)
        super().__init__(
            "study.too_often",
            _(
                "Many people on your network have used this study in the last few minutes. Please try again in "
                "%(minutes)d min."
            )
            % {"minutes": minutes},
            {"seconds": seconds},
        )
        self.seconds = seconds


def refuse_if_too_often(
    *, study_id: int, action: str, network: str, mode: str = Mode.LIVE, recruiting: RecruitmentSettings | None = None
) -> None:
    """Count an action from a network, and raise NetworkLimitReached if it exceeds the study's limit.

    Previews and simulated participants are not counted. A digest of the network is stored for WINDOW.
    """
    if mode != Mode.LIVE:
        return
    recruiting = recruiting or recruiting_of(study_id)
    most = (recruiting.most_per_network or MOST_PER_NETWORK) * PER_CONSENT[action]
    limit = RateLimit(most, int(WINDOW.total_seconds()))
    if seconds := seconds_to_wait(limit, "study", str(study_id), action, network):
        raise NetworkLimitReached(seconds)


def network_of_slot(study: Study, mode: str, entrance: str, network: str) -> str:
    """The keyed digest by which the unfinished slots of a network are counted; empty for entries vouched for.

    So it is for the machine itself, which all seem to come from behind a proxy that is not trusted.
    """
    if mode != Mode.LIVE or entrance in VOUCHED or network in ("", LOCAL):
        return ""
    return salted_hmac("parallax.network", f"{study.pk}\n{network}", algorithm="sha256").hexdigest()


def default_pause_threshold(study: Study, recruiting: RecruitmentSettings) -> int:
    """The number of slots taken within WINDOW at which a study is paused whose researcher has set none."""
    factor = PAUSE_FACTOR if recruiting.panel.key == NONE else PAUSE_FACTOR_OF_PANEL
    return max(LEAST_PAUSE, round(factor * n_slots(study)))


def watch_enrolment(*, study: Study, recruiting: RecruitmentSettings, now: datetime | None = None) -> None:
    """After slots were taken, notify the owners of an unusual rate, and pause the study at a higher one.

    Only those who took a slot count, also if they hold it no more. The count restarts when the study is resumed.
    """
    moment = now or timezone.now()
    # Slots and not consents: people who are screened out would pause a study that recruits quickly.
    recent = Participant.objects.filter(study=study, mode=Mode.LIVE, assigned_at__gt=moment - WINDOW)
    threshold = recruiting.pause_at or default_pause_threshold(study, recruiting)
    alarm = max(1, round(ALARM_SHARE * threshold))
    # Nearly always, so the log of status changes is read only after this.
    if recent.count() < alarm:
        return
    kind = Study._meta.label_lower
    resumed = LogEntry.objects.filter(
        kind=kind, object_id=study.pk, from_status=StudyStatus.PAUSED, to_status=StudyStatus.LIVE
    ).order_by("-pk")
    # Otherwise the slots that caused the pause would pause the study again at once.
    resumed_at = resumed.values_list("at", flat=True).first()
    n = (recent if resumed_at is None else recent.filter(assigned_at__gt=resumed_at)).count()
    minutes = int(WINDOW.total_seconds() // 60)
    rate = f"{n:,} participants took a slot within {minutes} minutes"
    if n >= threshold:
        # A concurrent request may have paused the study already.
        with contextlib.suppress(NotAllowedInState), transaction.atomic():
            pause_study(study=study, reason=f"Paused automatically: {rate}, the limit is {threshold:,}.")
            text = (
                f"{rate}, so the study was paused. Check on the quality page whether they are real participants. Then "
                "resume the study; you can raise the limit on the recruiting page."
            )
            notify_owners(
                study=study, kind=NoticeKind.ENROLMENT_RATE, key=f"rate:paused:{moment.isoformat()}", text=text
            )
            logger.warning("paused by enrolment rate study=%s n=%s limit=%s", study.slug, n, threshold)
    elif n >= alarm:
        text = f"{rate}. The study is paused automatically at {threshold:,}."
        # One notice an hour, by its key: every further slot would send another.
        notify_owners(study=study, kind=NoticeKind.ENROLMENT_RATE, key=f"rate:{moment:%Y-%m-%dT%H}", text=text)
