"""Events reach the addresses of those who may see them: signed, tried again, logged, and never inside a network."""

from __future__ import annotations

import base64
import json
import subprocess
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from typing import Any

import pytest
from celery import current_app
from django.core import mail
from django.db import transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import Project, User
from accounts.services.accounts import deactivate
from catalog.models import Dataset
from core.models import LogEntry
from core.transitions import move
from jobs.models import JOB_MOVES, Job, JobStatus
from jobs.services import cancel
from parallax.webhooks import services
from parallax.webhooks.models import Delivery, EventType, Webhook
from studies.design.services.launch import launch_study, pause_study, resume_study
from studies.enums import Mode, Role
from studies.models import Study
from studies.monitoring.services.notice_rules import notify_due
from studies.team.services.members import add_member, remove_member
from tests.factories.accounts import UserFactory, client_with_token
from tests.factories.catalog import make_version
from tests.factories.remote import running
from tests.factories.studies import assigned, completed, make_study

pytestmark = [pytest.mark.integration, pytest.mark.django_db(transaction=True)]
LIST = "/api/v1/webhooks/"
EVERY_EVENT = EventType.values


class Receiver(ThreadingHTTPServer):
    """A server that stores what it is sent, and answers with `status` after `seconds`."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.status, self.seconds, self.address = 204, 0.0, ""
        self.requests: list[tuple[dict[str, str], bytes]] = []

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [json.loads(body) for _headers, body in self.requests]

    @property
    def types(self) -> list[str]:
        return [body["type"] for body in self.bodies]


class _Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.requests.append(({name.lower(): value for name, value in self.headers.items()}, body))
        time.sleep(self.server.seconds)
        self.send_response(self.server.status)
        if self.server.status == 302:
            self.send_header("Location", self.path)
        self.end_headers()

    def log_message(self, *args: Any) -> None: ...


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    settings.WEBHOOK_HOSTS = ["127.0.0.1"]
    server = Receiver()
    with running(server) as address:  # type: ignore[arg-type]
        server.address = f"{address}/events?of=parallax"
        yield server


@pytest.fixture(autouse=True)
def tasks_run_where_they_are_sent() -> Iterator[None]:
    current_app.conf.task_always_eager = True
    yield
    current_app.conf.task_always_eager = False


@pytest.fixture
def study() -> Study:
    return make_study(status="draft")


@pytest.fixture
def owner(study: Study) -> User:
    return study.memberships.get(role=Role.OWNER).researcher


@pytest.fixture
def researcher(transactional_db: None) -> User:
    """An account without studies."""
    return UserFactory()


def program(researcher: User, only: str = "") -> Client:
    return client_with_token(researcher, "read write", only=only)


def created(owner: User, receiver: Receiver, *events: str, study: Study | None = None) -> Webhook:
    return services.create_webhook(owner=owner, address=receiver.address, events=events or EVERY_EVENT, study=study)


def ping(webhook: Webhook) -> Delivery:
    return services.send(webhook, "ping", {"webhook": webhook.pk}, webhook.study)


def at(monkeypatch: pytest.MonkeyPatch, moment: datetime) -> None:
    """Move the time of deliveries."""
    monkeypatch.setattr(services, "timezone", SimpleNamespace(now=lambda: moment))


def finish(job: Job, status: str = JobStatus.SUCCEEDED) -> None:
    move(job, to=JobStatus.RUNNING, allowed=JOB_MOVES)
    move(job, to=status, allowed=JOB_MOVES)


def test_each_event_arrives_once_without_names_codes_or_answers(
    receiver: Receiver, study: Study, owner: User, settings: Any
) -> None:
    settings.SITE_URL = "https://parallax.example.org"
    created(owner, receiver)
    launch_study(study=study)
    pause_study(study=study)
    resume_study(study=study)
    participants = [completed(study, number=number) for number in range(2)]
    completed(study, Mode.SIMULATED)
    for _held in range(2):
        assigned(study)
    for _sweep in range(2):
        notify_due()
    job = study.jobs.create(kind="simulation", owner=owner)
    finish(job)
    assert receiver.types == [
        *("study.launched", "study.paused", "participant.completed", "participant.completed", "study.full"),
        "job.finished",
    ]
    of_study = {"study": study.slug, "url": f"https://parallax.example.org/api/v1/studies/{study.slug}/"}
    of_job = {"job": job.pk, "kind": "simulation", "status": "succeeded"}
    of_job["url"] = f"https://parallax.example.org/api/v1/jobs/{job.pk}/"
    assert [body["data"] for body in receiver.bodies] == [of_study] * 5 + [of_job]
    assert {*receiver.bodies[0]} == {"type", "timestamp", "data"}
    for participant in participants:
        assert all(participant.code.encode() not in body for _headers, body in receiver.requests)
    assert len({headers["webhook-id"] for headers, _body in receiver.requests}) == 6


def test_other_changes_of_the_log_are_no_events(receiver: Receiver, owner: User, study: Study) -> None:
    created(owner, receiver)
    launch_study(study=study)
    pause_study(study=study)
    add_member(study=study, email=UserFactory().email, role=Role.ANALYST)  # logged, of a study that stays paused
    job = study.jobs.create(kind="simulation", owner=owner)
    move(job, to=JobStatus.RUNNING, allowed=JOB_MOVES)
    move(job, to=JobStatus.QUEUED, allowed=JOB_MOVES)
    assert receiver.types == ["study.launched", "study.paused"]
    cancel(job)
    assert receiver.bodies[-1]["data"]["status"] == "cancelled"


def test_the_signature_is_that_of_the_published_example() -> None:
    secret, body = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", b'{"test": 2432232314}'
    example = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    assert services.signature(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, body) == example


def test_each_delivery_is_signed_by_the_secret_that_was_shown_once(receiver: Receiver, researcher: User) -> None:
    client = program(researcher)
    body = {"address": receiver.address, "events": ["study.full"]}
    response = client.post(LIST, body, "application/json")
    shown = response.json()
    assert response.status_code == 201
    assert client.get(response["Location"]).json() == {key: shown[key] for key in shown if key != "secret"}
    asked = client.post(f"{shown['url']}test/")
    assert (asked.status_code, asked["Location"]) == (202, f"{shown['url']}deliveries/")
    ((headers, sent),) = receiver.requests
    assert abs(int(headers["webhook-timestamp"]) - time.time()) < 60
    key = base64.b64decode(shown["secret"].removeprefix("whsec_"))
    assert len(key) == 32
    digest = subprocess.run(
        ["openssl", "dgst", "-sha256", "-mac", "HMAC", "-macopt", f"hexkey:{key.hex()}", "-binary"],
        input=f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + sent,
        capture_output=True, check=True,
    ).stdout  # fmt: skip
    assert headers["webhook-signature"] == f"v1,{base64.b64encode(digest).decode()}"
    assert headers["content-type"] == "application/json"
    (line,) = client.get(asked["Location"]).json()["results"]
    assert (line["id"], line["event"], line["payload"]) == (headers["webhook-id"], "ping", json.loads(sent))
    assert (line["status"], line["tries"], line["response_code"], line["error"], line["next_at"]) == (
        *("delivered", 1, 204, "", None),
    )  # fmt: skip
    assert client.get(asked["Location"], {"status": "failed"}).json()["results"] == []


def test_what_is_rolled_back_is_not_sent(receiver: Receiver, study: Study, owner: User) -> None:
    created(owner, receiver)
    with transaction.atomic():
        launch_study(study=study)
        assert receiver.requests == []
        transaction.set_rollback(True)
    assert (receiver.requests, Delivery.objects.count()) == ([], 0)


REFUSED = (
    "http://127.0.0.1:9", "https://127.0.0.1", "https://localhost", "https://[::1]", "https://10.0.0.1",
    "https://169.254.169.254/latest", "https://[::ffff:10.0.0.1]", "https://2130706433", "https://224.0.0.1",
    "http://93.184.215.14", "ftp://93.184.215.14", "https://me:pw@93.184.215.14", "93.184.215.14",
    "https://93.184.215.14/#a", "https://a..b/", "https://93.184.215.14/ü", f"https://{'a' * 64}.org",
)  # fmt: skip


def test_addresses_inside_a_network_are_refused_with_all_other_faults(researcher: User) -> None:
    client = program(researcher)
    for address in REFUSED:
        body = {"address": address, "events": ["study.closed"], "secret": "mine"}
        response = client.post(LIST, body, "application/json")
        assert response.status_code == 400, address
        assert {error["pointer"] for error in response.json()["errors"]} == {"/address", "/events", "/secret"}
    assert not Webhook.objects.exists()
    body = {"address": "https://93.184.215.14:8443/events?of=parallax", "events": ["study.full"]}
    assert client.post(LIST, body, "application/json").status_code == 201


def test_an_address_is_checked_again_at_each_connection(receiver: Receiver, researcher: User, settings: Any) -> None:
    webhook = created(researcher, receiver)
    settings.WEBHOOK_HOSTS = []
    ping(webhook)
    delivery = Delivery.objects.get()
    assert (receiver.requests, delivery.status, delivery.response_code) == ([], "pending", None)
    assert delivery.error == services.NOT_ALLOWED
    assert "PARALLAX_WEBHOOK_HOSTS" in delivery.error


def test_redirects_errors_and_late_answers_are_failures(
    receiver: Receiver, researcher: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert services.ANSWER_SECONDS == 10
    monkeypatch.setattr(services, "ANSWER_SECONDS", 0.2)
    webhook = created(researcher, receiver)
    for status, seconds, error in (
        (302, 0.0, "The answer has the status 302."),
        (500, 0.0, "The answer has the status 500."),
        (204, 0.5, "No answer within 0.2 seconds."),
    ):
        receiver.status, receiver.seconds = status, seconds
        ping(webhook)
        assert Delivery.objects.latest("pk").error == error
    assert len(receiver.requests) == 3
    receiver.server_close()
    ping(webhook)
    assert Delivery.objects.latest("pk").error.startswith("No connection")


def test_a_failed_delivery_is_tried_for_a_day_then_switched_off_and_its_owner_told_once(
    receiver: Receiver, researcher: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    receiver.status = 503
    webhook, began = created(researcher, receiver), timezone.now().replace(microsecond=0)
    at(monkeypatch, began)
    ping(webhook)
    minutes = 0
    for wait in (1, 4, 16, 64, 256, 1024):
        n_before = len(receiver.requests)
        at(monkeypatch, began + timedelta(minutes=minutes + wait, seconds=-1))
        services.sweep()
        assert len(receiver.requests) == n_before
        minutes += wait
        at(monkeypatch, began + timedelta(minutes=minutes))
        services.sweep()
        services.sweep()
        assert len(receiver.requests) == n_before + 1
    assert timedelta(minutes=minutes) < timedelta(days=1)
    ids = {(headers["webhook-id"], body) for headers, body in receiver.requests}
    assert (len(receiver.requests), len(ids)) == (7, 1)
    assert len({headers["webhook-signature"] for headers, _body in receiver.requests}) == 7  # at other times
    delivery = Delivery.objects.get()
    assert (delivery.status, delivery.tries, delivery.response_code, delivery.next_at) == ("failed", 7, 503, None)
    at(monkeypatch, began + timedelta(days=1, seconds=-1))
    services.sweep()
    assert (Webhook.objects.get().is_on, mail.outbox) == (True, [])
    ping(webhook)  # is not tried any more once the webhook is off
    at(monkeypatch, began + timedelta(days=1))
    for _sweep in range(2):
        services.sweep()
    (letter,) = mail.outbox
    assert (letter.to, receiver.address in letter.body) == ([researcher.email], True)
    assert f"/api/v1/webhooks/{webhook.pk}/deliveries/" in letter.body
    assert not Webhook.objects.get().is_on
    at(monkeypatch, began + timedelta(days=1, minutes=2))
    services.sweep()
    assert (Delivery.objects.latest("pk").status, len(receiver.requests)) == ("failed", 8)
    client = program(researcher)
    url = reverse("api:webhooks-detail", args=[webhook.pk])
    client.post(f"{url}test/")
    assert client.get(f"{url}deliveries/").json()["results"][0]["error"] == services.NOT_ENTITLED
    headers = {"If-Match": client.get(url)["ETag"]}
    changed = client.patch(url, {"is_on": True}, "application/json", headers=headers).json()
    assert (changed["is_on"], changed["failing_since"]) == (True, None)
    receiver.status = 200
    assert client.post(f"{url}test/").status_code == 202
    assert Delivery.objects.latest("pk").status == "delivered"


def test_a_success_ends_the_failure(receiver: Receiver, researcher: User, monkeypatch: pytest.MonkeyPatch) -> None:
    receiver.status = 500
    ping(created(researcher, receiver))
    assert Webhook.objects.get().failing_since is not None
    receiver.status = 200
    at(monkeypatch, timezone.now() + timedelta(minutes=2))
    services.sweep()
    assert (Webhook.objects.get().failing_since, Delivery.objects.get().tries) == (None, 2)


def test_a_message_that_is_lost_or_comes_twice_delivers_once(
    receiver: Receiver, researcher: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    webhook = created(researcher, receiver)
    monkeypatch.setattr(services, "enqueue_on_commit", lambda *args, **ids: None)
    ping(webhook)
    monkeypatch.undo()
    assert receiver.requests == []
    at(monkeypatch, timezone.now() + timedelta(seconds=61))
    services.sweep()
    services.sweep()
    services.deliver(delivery_id=Delivery.objects.get().pk, tries=0)
    assert len(receiver.requests) == 1


def test_the_log_is_kept_for_30_days(receiver: Receiver, researcher: User, monkeypatch: pytest.MonkeyPatch) -> None:
    ping(created(researcher, receiver))
    for days, n in ((29, 1), (31, 0)):
        at(monkeypatch, timezone.now() + timedelta(days=days))
        services.sweep()
        assert Delivery.objects.count() == n


def test_events_go_to_those_who_see_counts_alone(receiver: Receiver, owner: User, study: Study) -> None:
    people = {"owner": owner, "stranger": UserFactory(), "closed": UserFactory()}
    for role in (Role.ANALYST, Role.INTERVIEWER):
        people[role] = UserFactory()
        add_member(study=study, email=people[role].email, role=role)
    add_member(study=study, email=people["closed"].email, role=Role.ANALYST)
    webhooks = {name: created(person, receiver) for name, person in people.items()}
    created(owner, receiver, study=make_study(slug="other", status="draft", owner=owner))
    created(owner, receiver, "study.paused", "job.finished")
    deactivate(user=people["closed"], actor=UserFactory(is_superuser=True))

    def recipients() -> set[str]:
        found = {name for name, webhook in webhooks.items() if webhook.deliveries.exists()}
        n, _by_model = Delivery.objects.all().delete()
        assert n == len(found) == len(receiver.requests)
        receiver.requests.clear()
        return found

    launch_study(study=study)
    assert recipients() == {"owner", Role.ANALYST}
    remove_member(study=study, membership=study.memberships.get(researcher=people[Role.ANALYST]))
    completed(study)
    assert recipients() == {"owner"}
    finish(Job.objects.create(kind="model-upload", owner=people["stranger"], subject=study.dataset_version))
    assert recipients() == {"stranger"}


def test_an_event_that_waits_is_not_sent_to_those_who_lost_access(
    receiver: Receiver, owner: User, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    analyst = UserFactory()
    add_member(study=study, email=analyst.email, role=Role.ANALYST)
    created(analyst, receiver)
    receiver.status = 500
    launch_study(study=study)
    remove_member(study=study, membership=study.memberships.get(role=Role.ANALYST))
    at(monkeypatch, timezone.now() + timedelta(minutes=2))
    services.sweep()
    delivery = Delivery.objects.get()
    assert (delivery.status, delivery.error, len(receiver.requests)) == ("failed", services.NOT_ENTITLED, 1)


def test_a_limited_token_sees_and_makes_webhooks_of_its_study_alone(
    receiver: Receiver, owner: User, study: Study
) -> None:
    project = Project.objects.create(name="Films")
    project.memberships.create(researcher=owner, role="owner")
    Dataset.objects.update(project=project)
    other = make_study(slug="other", status="draft", owner=owner, version=make_version(name="other", seed=9))
    of_all, of_other = created(owner, receiver), created(owner, receiver, study=other)
    for only in (f"study:{study.pk}", f"project:{project.pk}"):
        Webhook.objects.filter(study=study).delete()
        client = program(owner, only)
        body: dict[str, Any] = {"address": receiver.address, "events": ["study.full"]}
        refused = client.post(LIST, body, "application/json")
        assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (400, "/study")
        assert client.post(LIST, {**body, "study": other.slug}, "application/json").status_code == 404
        own = client.post(LIST, {**body, "study": study.slug}, "application/json").json()
        assert own["study"] == study.slug
        assert [row["id"] for row in client.get(LIST).json()["results"]] == [own["id"]]
        for hidden in (of_all, of_other):
            url = reverse("api:webhooks-detail", args=[hidden.pk])
            for response in (client.get(url), client.delete(url), client.get(f"{url}deliveries/")):
                assert response.status_code == 404
            assert client.post(f"{url}test/").status_code == 404
    assert receiver.requests == []


def test_changes_are_logged(receiver: Receiver, researcher: User) -> None:
    created(researcher, receiver)
    client = program(researcher)
    url = client.get(LIST).json()["results"][0]["url"]
    changes = {"events": ["study.paused", "study.full", "study.full"], "is_on": False}
    headers = {"If-Match": client.get(url)["ETag"]}
    changed = client.patch(url, changes, "application/json", headers=headers)
    assert (changed.json()["events"], changed.json()["is_on"]) == (["study.full", "study.paused"], False)
    assert client.get(url).json() == changed.json()
    headers = {"If-Match": changed["ETag"]}
    assert client.patch(url, {"events": []}, "application/json", headers=headers).status_code == 400
    assert client.delete(url).status_code == 204
    entries = LogEntry.objects.filter(kind="webhooks.webhook", actor=researcher)
    acts = ["Webhook created.", "Webhook changed; it is off.", "Webhook deleted."]
    assert [entry.reason for entry in entries] == acts
