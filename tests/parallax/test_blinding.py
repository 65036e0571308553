"""While outcomes are blinded no page of the console and no address of the API shows them, and pilots count nowhere."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from django.core.cache import cache
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from accounts.models import User
from analysis.models import Report
from analysis.services import build_report
from core.errors import ParallaxError
from core.models import LogEntry
from jobs.models import Job
from jobs.services import do_job
from studies.allocation.selectors import allocations
from studies.data.services import exports
from studies.design.selectors import versions
from studies.design.services.launch import close_study
from studies.enums import Mode, Role
from studies.models import Participant, Response, Study
from studies.monitoring.selectors import live, monitor
from studies.monitoring.selectors.approvals import approvals_of
from studies.monitoring.selectors.consort import consort_of
from studies.monitoring.selectors.estimate import cost_of, estimate_of
from studies.monitoring.selectors.outcomes import outcomes_of
from studies.monitoring.selectors.page_times import step_times
from studies.monitoring.selectors.quality import flag_counts, flags_by_participant
from studies.monitoring.services.blinding import note_export, open_outcomes, require_open
from studies.recruitment.selectors import recruitment
from studies.recruitment.services.external_ids import store_external_ids
from studies.team.selectors import studies
from studies.team.services.members import add_member
from tests.factories.accounts import UserFactory, client_with_token
from tests.factories.addresses import named_addresses
from tests.factories.analysis import every_page
from tests.factories.evaluation import make_run_at
from tests.factories.studies import completed, make_study

pytestmark = [pytest.mark.integration, pytest.mark.django_db]

WORDS = "Xylophone-in-{}"  # what people say in their own words, with their condition
# Ratings of five items by three people of each condition; their means, 68 and 19 fifteenths, stand nowhere else.
MARKED = {
    "TopPop": ((5, 5, 5, 5, 4), (5, 5, 4, 4, 4), (4, 4, 5, 5, 4)),
    "PureSVD4": ((1, 1, 2, 1, 1), (1, 2, 1, 1, 1), (2, 1, 1, 2, 1)),
}
MEANS = (r"(?<![\d.])4\.53", r"(?<![\d.])1\.2(7|6{3})")
ENDLESS = {"slug": "good-films", "block": "overall", "key": "satisfaction", "form": "preregistration", "pk": 1,
           "outcome": "complete"}  # fmt: skip
PAGES_ONLY = "pages"


def mark(person: Participant) -> None:
    """Give somebody's answers values that can be found again."""
    assert person.condition is not None
    label = person.condition.label
    before = Participant.objects.filter(condition=person.condition, mode=person.mode, pk__lt=person.pk).count()
    for rank, rating in enumerate(MARKED[label][before % 3], start=1):
        Response.objects.filter(participant=person, question="rating", rank=rank).update(value=rating)
    Response.objects.filter(participant=person, question="comment").update(value=WORDS.format(label))


@pytest.fixture
def study() -> Study:
    cache.clear()
    made = make_study(per_condition=4, run=make_run_at("succeeded", profile_lengths=(5,)))
    for number in range(6):
        mark(completed(made, number=number))
    return made


def researcher(study: Study, role: str) -> User:
    if role == Role.OWNER:
        owner: User = study.memberships.get(role=Role.OWNER).researcher
        return owner
    other = UserFactory()
    add_member(study=study, email=other.email, role=role)
    return other


def signed_in(researcher: User) -> Client:
    client = Client()
    client.force_login(researcher, backend="django.contrib.auth.backends.ModelBackend")
    return client


def addresses(study: Study) -> Iterator[str]:
    """Every address of the console under /studies/ and /reports/ that can be asked for with GET."""
    given = {**ENDLESS, "slug": study.slug}
    for prefix, own, names in named_addresses():
        if prefix != "studies" and (prefix != "analysis" or names):
            continue  # of reports there are none yet
        choices: list[dict[str, Any]] = [{name: given[name] for name in names if name in given}]
        if "kind" in names:
            kinds = ("long", "wide", "events", "ratings", "json", "psych-ds", PAGES_ONLY)
            choices = [{**choices[0], "kind": kind} for kind in kinds]
        for one in choices:
            yield reverse(f"{prefix}:{own}", kwargs=one)


def whole(response: HttpResponse) -> str:
    """What came, archives opened."""
    raw = b"".join(response.streaming_content) if response.streaming else response.content  # type: ignore[attr-defined]
    if response.get("Content-Type") == "application/zip":
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            return "\n".join(archive.read(name).decode() for name in archive.namelist())
    return bytes(raw).decode(errors="replace")


def shown_outcomes(text: str) -> list[str]:
    """The marks of people's outcomes that stand in a text."""
    found = [WORDS.format(label) for label in MARKED if WORDS.format(label) in text]
    return [*found, *(mean for mean in MEANS if re.search(mean, text))]


@pytest.mark.slow
@pytest.mark.parametrize("role", [Role.OWNER, Role.ANALYST])
def test_no_page_of_the_console_shows_a_marked_answer_or_mean_while_blinded(study: Study, role: str) -> None:
    client = signed_in(researcher(study, role))
    seen = 0
    for address in addresses(study):
        response = client.get(address, headers={"HX-Request": "true"} if address.endswith("/live/") else {})
        if response.status_code in (403, 404, 405):
            continue  # owners' alone, nothing of that name, or a button
        seen += 1
        assert shown_outcomes(whole(response)) == [], address
        if response.status_code == 302:
            assert shown_outcomes(whole(client.get(response.headers["Location"]))) == [], address
    assert seen > (25 if role == Role.OWNER else 15)
    refused = client.get(reverse("studies:export", args=[study.slug, "long"]), follow=True)
    assert "stay shut" in refused.text
    assert "page_index" in whole(client.get(reverse("studies:export", args=[study.slug, PAGES_ONLY])))
    quality = client.get(reverse("studies:quality", args=[study.slug])).text
    assert "are exported" in quality
    study.refresh_from_db()
    assert study.outcomes_opened_at is None


@pytest.mark.parametrize("role", [Role.OWNER, Role.ANALYST])
def test_no_address_of_the_api_gives_them_and_what_would_is_refused(study: Study, role: str) -> None:
    client = client_with_token(researcher(study, role), "report")
    base = f"/api/v1/studies/{study.slug}/"
    given, refused = [], []
    for address in ("", "design/", "outcomes/", *(f"answers/{table}/" for table in (
        "long", "wide", "ratings", "events", "pages", "page-medians", "allocation"))):  # fmt: skip
        response = client.get(base + address)
        text = whole(response)
        assert shown_outcomes(text) == [], address
        (given if response.status_code == 200 else refused).append(address)
        if response.status_code != 200:
            assert response.status_code == 409
            assert json.loads(text)["code"] == "blinding.outcomes_shut"
    assert given == ["", "design/", "answers/pages/", "answers/page-medians/"]
    report = client.post("/api/v1/reports/", {"study": study.slug}, content_type="application/json")
    assert (report.status_code, report.json()["code"]) == (409, "blinding.outcomes_shut")
    assert not Report.objects.exists()
    study.refresh_from_db()
    assert study.outcomes_opened_at is None


@pytest.mark.slow
def test_a_report_on_people_is_neither_offered_nor_built_and_one_on_simulated_ones_is(study: Study) -> None:
    client = signed_in(researcher(study, Role.OWNER))
    offered = client.get(f"{reverse('analysis:list')}?study={study.slug}").text
    assert "on participants" in offered
    assert "Build report" not in offered
    for mode in ("", Mode.LIVE):
        answer = client.post(reverse("analysis:new"), {"study": study.slug, "mode": mode})
        assert answer.status_code == 400
        assert "stay shut" in answer.text
    assert not Report.objects.exists()
    for _ in range(2):
        completed(study, Mode.SIMULATED)
    client.post(reverse("analysis:new"), {"study": study.slug, "mode": Mode.SIMULATED})
    assert do_job(job_id=Job.objects.get(kind="report").pk)
    report = Report.objects.get()
    page = client.get(report.get_absolute_url()).text
    assert "simulated" in page
    assert shown_outcomes(page) == []
    study.refresh_from_db()
    assert study.outcomes_opened_at is None


@pytest.mark.slow
@pytest.mark.parametrize("how", ["opened", "closed"])
def test_once_outcomes_are_open_the_marks_are_where_they_belong(study: Study, how: str) -> None:
    owner = researcher(study, Role.OWNER)
    client = signed_in(owner)
    if how == "opened":
        client.post(reverse("studies:open-outcomes", args=[study.slug]), {"reason": "The board asks."})
    else:
        close_study(study=study)
    quality = client.get(reverse("studies:quality", args=[study.slug])).text
    assert all(re.search(mean, quality) for mean in MEANS)
    assert any(
        WORDS.format(label)
        in client.get(reverse("studies:data-live", args=[study.slug]), headers={"HX-Request": "true"}).text
        for label in MARKED
    )
    long = whole(client.get(reverse("studies:export", args=[study.slug, "long"])))
    assert all(WORDS.format(label) in long for label in MARKED)
    asked = client.post(reverse("analysis:new"), {"study": study.slug})["Location"]
    assert do_job(job_id=Job.objects.get(kind="report").pk)
    assert client.get(asked).headers["Location"] == Report.objects.get().get_absolute_url()
    built = every_page(client, Report.objects.get())
    assert all(re.search(mean, built) for mean in MEANS)
    opened = LogEntry.objects.filter(object_id=study.pk, kind="studies.study", facts__act="outcomes_opened")
    assert [entry.actor for entry in opened] == ([owner] if how == "opened" else [])


def test_what_a_command_takes_opens_the_outcomes_and_the_record_says_so(study: Study) -> None:
    note_export(study=study, kind=PAGES_ONLY)
    study.refresh_from_db()
    assert study.outcomes_opened_at is None
    build_report(study=study)
    study.refresh_from_db()
    assert study.outcomes_opened_at is not None
    first = study.outcomes_opened_at
    note_export(study=study, kind="long")
    study.refresh_from_db()
    assert study.outcomes_opened_at == first
    said = LogEntry.objects.filter(object_id=study.pk, kind="studies.study").order_by("pk")
    assert [entry.reason for entry in said][-3:] == [
        "Data exported: pages.", "A report unblinded the outcomes.", "Data exported: long.",
    ]  # fmt: skip


def test_answers_are_refused_only_while_people_have_taken_part() -> None:
    empty = make_study(slug="empty")
    require_open(study=empty)
    completed(empty, Mode.SIMULATED)
    completed(empty, Mode.PREVIEW)
    require_open(study=empty)
    completed(empty)
    require_open(study=empty, modes=[Mode.SIMULATED])
    with pytest.raises(ParallaxError, match="stay shut"):
        require_open(study=empty)
    with pytest.raises(ParallaxError, match="stay shut"):
        exports.request_export(study=empty, kind="json", options=exports.Options(include_simulated=True))


def counted(study: Study) -> dict[str, Any]:
    """Everything that is counted, measured or listed of people."""
    cache.clear()
    found = estimate_of(study)
    owner = researcher(study, Role.OWNER)
    conditions = list(study.conditions.order_by("position"))
    return {
        "by condition": monitor.counts_by_condition(study, Mode.LIVE),
        "by status": monitor.counts_by_status(study, Mode.LIVE),
        "funnel": monitor.funnel(study, Mode.LIVE),
        "activity": monitor.newest_activity(study, Mode.LIVE),
        "strata": live.stratum_lines(study, Mode.LIVE, conditions),
        "answers": live.newest_answers(study, Mode.LIVE),
        "flags": flag_counts(study, [Mode.LIVE]),
        "reasons": flags_by_participant(study, [Mode.LIVE]),
        "kept flags": live.cached_flag_counts(study, Mode.LIVE),
        "quotas": allocations.quota_counts(study),
        "slots": allocations.slots_held(study, Mode.LIVE),
        "flow": consort_of(study, Mode.LIVE),
        "outcomes": outcomes_of(study),
        "times": step_times(study, Mode.LIVE),
        "completed": (found.n_completed, cost_of(found, reward=Decimal(1)).remaining),
        "doors": recruitment.entrance_counts(study),
        "approvals": approvals_of(study),
        "consented": [line.n for line in versions.consent_lines(study)],
        "versions": [line.n for line in versions.design_lines(study)],
        "listed": [(one.n_completed, one.n_wanted) for one in studies.studies_of(owner)],
    }


def test_a_flag_says_that_ratings_are_alike_and_not_which(study: Study) -> None:
    person = Participant.objects.filter(study=study).earliest("pk")
    person.profile.update(rating=2)
    Response.objects.filter(participant=person, question="rating").update(value=2)
    page = signed_in(researcher(study, Role.OWNER)).get(reverse("studies:quality", args=[study.slug])).text
    assert "All 10" in page


def test_previews_and_pilots_change_no_count_of_people(study: Study) -> None:
    first = Participant.objects.filter(study=study, mode=Mode.LIVE).earliest("pk")
    store_external_ids(participant=first, ids={"PROLIFIC_PID": "same"})
    open_outcomes(study=study, reason="To compare them too.")
    before = counted(study)
    for mode in (Mode.PREVIEW, Mode.SIMULATED):
        for number in range(3):
            person = completed(study, mode, number=number)
            store_external_ids(participant=person, ids={"PROLIFIC_PID": "same"})
            mark(person)
    after = counted(study)
    for name, value in before.items():
        assert after[name] == value, name
    same_id = [dict(flag_counts(study, [mode]))["Same external id"] for mode in (Mode.PREVIEW, Mode.LIVE)]
    assert same_id[0] != same_id[1]
    quality = signed_in(researcher(study, Role.OWNER)).get(reverse("studies:quality", args=[study.slug]))
    assert [(mode, n) for mode, n in quality.context["counts"] if mode == Mode.LIVE] == [(Mode.LIVE, before["flags"])]
