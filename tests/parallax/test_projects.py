"""What belongs to a project: those inside see it as their role allows, and to everyone else none of it is there."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from accounts.enums import ProjectRole, Scope
from accounts.models import Project, User
from accounts.services.projects import create_project, set_member
from analysis.files.document import KEYS
from analysis.models import Report
from analysis.services import build_report
from analysis.services.requests import request_report
from analysis.services.samples import publish_sample
from catalog.models import Dataset, DatasetVersion, Item
from catalog.selectors.items import item_with_key
from core.artefacts import store_file
from core.errors import ParallaxError
from evaluation.models import EvaluationRun
from evaluation.services.projects import move_dataset
from jobs.models import Job, JobStatus
from studies.enums import Mode, Role
from studies.team.services.members import add_member
from tests.approval import assert_page_approved
from tests.factories.accounts import UserFactory, client_with_token
from tests.factories.addresses import named_addresses
from tests.factories.catalog import make_items, make_version
from tests.factories.evaluation import make_run, make_run_at
from tests.factories.projects import OF_DATA, OPEN_LISTS, PRESSED
from tests.factories.studies import completed, enter, make_study

pytestmark = [pytest.mark.integration, pytest.mark.django_db]

MARK = "quokka"  # in the names and titles of everything private, and nowhere else
INSIDE = ("viewer", "member", "owner")
# Who is signed in, and is not in the project; the analyst and the owner of its study are.
OUTSIDE = ("stranger", "administrator", "analyst", "study owner")
QUERIES = {
    "search": ("q=ratings", "q=film", "q={run}", "q=run {run}"),
    "evaluation:list": ("", "status=succeeded"),
    "evaluation:compare": ("", "a={run}&b={run}"),
    "catalog:items": ("", "q=film"),
    "evaluation:try": ("", "q=film"),
    "studies:new": ("", "run={run}"),
    "analysis:list": ("",),
}
API_OF_DATA = {
    "api:datasets-detail", "api:models-detail", "api:runs-detail", "api:runs-results", "api:runs-metrics",
    "api:runs-users", "api:runs-curves", "api:runs-profiles", "api:runs-cases",
}  # fmt: skip
API_OF_REPORTS = {
    "api:reports-detail", "api:reports-numbers", "api:reports-file", "api:reports-package", "api:reports-bayesian",
    "api:reports-comments",
}  # fmt: skip


class Scene:
    """A project with a dataset, a run, a study and its report, and one person in every relation to them."""

    def __init__(self) -> None:
        self.people: dict[str, User] = {name: UserFactory() for name in (*INSIDE, *OUTSIDE)}
        self.people["administrator"] = UserFactory(is_staff=True, is_superuser=True)
        owner = self.people["owner"]
        self.project = create_project(name="Quokka project", owner=owner)
        for role in (ProjectRole.VIEWER, ProjectRole.MEMBER):
            set_member(project=self.project, email=self.people[role].email, role=role, actor=owner)
        self.version = private_version(self.project, self.people["owner"])
        self.run = make_run_at("succeeded", version=self.version)
        # Outside the project: the owner of the study and an analyst of it, and a person who asked for jobs on it.
        self.study = make_study(slug="good-films", run=self.run, owner=self.people["study owner"])
        add_member(study=self.study, email=self.people["analyst"].email, role=Role.ANALYST)
        add_member(study=self.study, email=owner.email, role=Role.OWNER)
        completed(self.study)
        completed(self.study, Mode.SIMULATED)
        self.report = build_report(study=self.study, mode=Mode.SIMULATED)
        self.request = request_report(study=self.study, mode=Mode.SIMULATED, asked_by=self.people["study owner"])
        self.membership = self.project.memberships.get(researcher=owner)
        self.jobs()

    def jobs(self) -> None:
        """Jobs of an owner of the project on its data."""
        owner = self.people["owner"]
        file = default_storage.save("experiments/test.zip", ContentFile(b"PK"))
        runs = {"experiment": "croc-hot", "runs": {"main": self.run.pk}}
        self.experiment = self.version.jobs.create(kind="experiment", owner=owner, payload=runs, file=file)
        upload = {"source": "quokka.npz", "folder": "", "kind": "matrix", "params": {}, "learned_from": ""}
        self.upload = self.version.jobs.create(kind="model-upload", owner=owner, payload=upload)
        files = {"source": "quokka.csv", "proposal": {"layout": "delimited", "parts": []}}
        self.job = self.project.jobs.create(kind="import", owner=owner, payload=files, status=JobStatus.FAILED)
        self.version.jobs.create(kind="subset", owner=owner, payload={"source": "quokka"})
        chosen = {"per_condition": 30, "seed": 1, "factors": [50, 300], "reserve": 0.15}
        replicated = {"paper": "cremonesi-2011", "run": self.run.pk, "chosen": chosen}
        self.replication = self.study.jobs.create(kind="replication", owner=owner, payload=replicated)

    def arguments(self, name: str) -> dict[str, Any]:
        """The arguments of an address, all of which are of the private dataset."""
        space, _colon, own = name.partition(":")
        run: dict[str, Any] = {"pk": self.run.pk, "name": self.version.dataset.name, "number": self.version.number}
        item = self.version.items.get(index=0)
        if own in ("experiment-job", "experiment-file"):
            return {"pk": self.experiment.pk}
        if own in ("uploaded", "cancel-upload"):
            return {"pk": self.upload.pk}
        if space == "analysis":
            pk = self.request.pk if own.startswith("request") else self.report.pk
            return {"pk": pk, "study": self.study.slug, "number": self.report.number, "chapter": KEYS[0],
                    "mode": "light", "width": "wide", "name": "report.json", "rest": "files/"}  # fmt: skip
        if space == "studies":
            return {"slug": self.study.slug, "pk": 1, "block": "overall", "kind": "text", "key": "comment",
                    "form": "osf", "outcome": "complete"}  # fmt: skip
        if space == "api":
            is_report, is_model = own.startswith("reports"), own.startswith("models")
            pk = self.report.pk if is_report else self.run.pk
            model = self.run.algorithms.earliest("position").model_id
            files = {"reports-file": "report.json", "runs-cases": "train.inter"}
            name = files.get(own, self.version.dataset.name)
            return {"pk": model if is_model else pk, "name": name, "slug": self.study.slug, "table": "wide", "job": 0,
                    "form": "osf", "outcome": "complete", "number": self.version.number,
                    "code": self.study.participants.earliest("pk").code}  # fmt: skip
        if name.startswith("api-"):
            return {}
        return {
            "catalog": {**run, "pk": self.job.pk, "step": "columns", "index": 0, "item_id": item.pk},
            "evaluation": {**run, "key": "croc-hot"} if own != "figure" else {**run, "name": "recall"},
            "projects": {**run, "pk": self.project.pk, "membership": self.membership.pk},
            "replication": {"pk": self.replication.pk},
            "design": {"key": "ratings"},
        }.get(space, {"path": "README.md"})

    def addresses(self) -> Iterator[tuple[str, str]]:
        """Every address of the site but those of accounts, the administration and participants' tokens."""
        for name, names in routes():
            if name == "api:nothing" or name.startswith(("accounts:", "admin:", "participant:", "account_", "mfa_")):
                continue
            if name.startswith(("openid", "djdt")):
                continue
            given = self.arguments(name)
            path = reverse(name, kwargs={key: given[key] for key in names})
            for query in QUERIES.get(name, ("",)):
                yield name, f"{path}?{query.format(run=self.run.pk)}" if query else path


def routes() -> Iterator[tuple[str, set[str]]]:
    """Every address by its name, with its arguments."""
    for space, name, names in named_addresses():
        yield f"{space}:{name}" if space else name, names


def private_version(project: Project, owner: User) -> DatasetVersion:
    """A dataset of the project whose name, titles and picture carry the mark."""
    store_file("clips/qu/quokka.wav", b"RIFF" + bytes(4) + b"WAVEfmt " + bytes(200))
    first, *others = make_items(40)
    films = (replace(first, clip="clips/qu/quokka.wav"), *others)
    # Imported under these titles: a process keeps its search index by number and content of a version, and the next
    # test may have the same number and the content of the factory.
    items = tuple(replace(film, title=f"Quokka film {index:02d}") for index, film in enumerate(films))
    version = make_version(name="quokka-ratings", items=items)
    Dataset.objects.filter(pk=version.dataset_id).update(title="Quokka ratings", owner=owner, project=project)
    return DatasetVersion.objects.select_related("dataset").get(pk=version.pk)


def signed_in(user: User | None) -> Client:
    client = Client()
    if user is not None:
        client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


@dataclass(frozen=True)
class Answer:
    status: int
    text: str
    headers: Any

    @property
    def is_marked(self) -> bool:
        """Whether it shows something of the project."""
        return MARK in self.text.casefold()


def ask(client: Client, address: str, data: dict[str, Any] | None = None) -> Answer:
    """Get an address, or post to it; what comes is read, and its files are closed."""
    response: Any = client.get(address) if data is None else client.post(address, data)
    raw = b"".join(response.streaming_content) if response.streaming else response.content
    for close in response._resource_closers:  # `response.close` would also close the connection of the test
        close()
    return Answer(response.status_code, bytes(raw).decode(errors="replace"), response.headers)


@pytest.fixture(scope="module")
def made(module_database: None) -> Scene:
    return Scene()


@pytest.fixture
def scene(made: Scene) -> Scene:
    return made


def is_closed(name: str) -> bool:
    """Whether the address is about the dataset, the run or the project, or about a report that shows them."""
    lists = ("analysis:list", "analysis:new", "replication:start")
    of_reports = name.startswith(("analysis:", "replication:")) and name not in lists
    return of_reports or name in OF_DATA or name in API_OF_DATA | API_OF_REPORTS


def test_every_address_of_data_has_a_rule() -> None:
    spaces = ("catalog", "evaluation", "projects")
    named = {name for name, _names in routes() if name.partition(":")[0] in spaces}
    assert named == set(OF_DATA) | OPEN_LISTS
    assert {name for name, of in OF_DATA.items() if 405 in of.values()} == set(PRESSED)


@pytest.mark.parametrize("who", ["stranger", "administrator"])
def test_to_strangers_and_administrators_no_address_shows_any_of_it(scene: Scene, who: str) -> None:
    client, seen = signed_in(scene.people[who]), 0
    for name, address in scene.addresses():
        answer = ask(client, address)
        assert not answer.is_marked, address
        if is_closed(name):
            assert answer.status in (404, 405), (address, answer.status)
            pressed = ask(client, address, {})
            assert pressed.status in (404, 405), (address, pressed.status)
            assert not pressed.is_marked, address
        seen += answer.status == 200
    assert seen > 15


def test_to_visitors_no_address_shows_any_of_it(scene: Scene) -> None:
    client = Client()
    for name, address in scene.addresses():
        answer = ask(client, address)
        assert not answer.is_marked, address
        if is_closed(name):
            assert answer.status in (302, 401, 404), (address, answer.status)
    for name in ("catalog:poster", "catalog:clip"):
        address = reverse(name, args=[scene.version.items.get(index=0).pk])
        assert ask(client, address).status == 404


@pytest.mark.parametrize("who", INSIDE)
def test_inside_the_project_each_address_answers_as_the_role_allows(scene: Scene, who: str) -> None:
    client = signed_in(scene.people[who])
    answered, shown = {}, 0
    for name, address in scene.addresses():
        if name not in OF_DATA and name not in API_OF_DATA:
            continue
        answer, expected = ask(client, address), OF_DATA.get(name, {}).get(who, 200)
        answered[address] = (200 if answer.status == 302 and expected == 200 else answer.status, expected)
        shown += answer.is_marked
    assert {address: pair for address, pair in answered.items() if pair[0] != pair[1]} == {}
    assert shown > 12


@pytest.mark.parametrize("who", INSIDE)
def test_inside_the_project_buttons_work_as_the_role_allows(scene: Scene, who: str) -> None:
    client = signed_in(scene.people[who])
    given = {name: address for name, address in scene.addresses() if name in PRESSED}
    # A public dataset's owner and staff may change it, which a viewer of a project may not.
    User.objects.filter(pk=scene.people["viewer"].pk).update(is_staff=True)
    found = {name: ask(client, address, {}).status for name, address in given.items()}
    assert found == {name: of[who] for name, of in PRESSED.items()}


@pytest.mark.parametrize("who", ["analyst", "study owner"])
def test_members_of_a_study_keep_the_study_without_the_dataset_the_run_or_reports(scene: Scene, who: str) -> None:
    client, seen = signed_in(scene.people[who]), 0
    for name, address in scene.addresses():
        answer = ask(client, address)
        if name in ("catalog:poster", "catalog:clip"):
            assert answer.status == 200, address
        elif is_closed(name):
            assert answer.status in (404, 405), (address, answer.status)
        elif name.startswith(("studies:", "api:studies", "api:designs")) or name == "home":
            seen += answer.status == 200
        else:  # lists and choices offer none of it
            assert not answer.is_marked, address
    assert seen > 20
    assert ask(client, f"{reverse('studies:lists', args=[scene.study.slug])}?r0=4").is_marked
    link = reverse("evaluation:detail", args=[scene.run.pk])
    assert link not in ask(client, reverse("studies:dataset", args=[scene.study.slug])).text
    refused = ask(client, reverse("studies:duplicate", args=[scene.study.slug]))
    assert refused.status == 403
    assert "you are not" in refused.text


def test_the_api_names_the_project_and_lists_what_the_researcher_sees(scene: Scene) -> None:
    public = make_run_at("succeeded", version=make_version(name="open"))
    found = {}
    for who, user in scene.people.items():
        client = client_with_token(user)
        datasets = client.get(reverse("api:datasets-list")).json()["results"]
        runs = client.get(reverse("api:runs-list")).json()["results"]
        models = client.get(reverse("api:models-list")).json()["results"]
        found[who] = (
            {row["name"]: row["project"] for row in datasets},
            {row["id"]: row["project"] for row in runs},
            {row["dataset"] for row in models},
        )
    outside = ({"open": None}, {public.pk: None}, {"open"})
    inside = (
        {"open": None, "quokka-ratings": "Quokka project"},
        {public.pk: None, scene.run.pk: "Quokka project"},
        {"open", "quokka-ratings"},
    )
    assert found == {who: inside if who in INSIDE else outside for who in scene.people}


def test_private_pictures_are_private_and_public_ones_public(scene: Scene) -> None:
    public = make_version(name="open").items.get(index=0)
    private = scene.version.items.get(index=0)
    client = signed_in(scene.people["viewer"])
    for address, expected in (
        (private.poster_url, "private"), (private.clip_url, "private"), (public.poster_url, "public"),
    ):  # fmt: skip
        answer = ask(client, address)
        assert answer.status == 200
        assert expected in answer.headers["Cache-Control"]
        assert ("public" in answer.headers["Cache-Control"]) == (expected == "public")
    assert ask(Client(), public.poster_url).status == 200


def test_participants_see_pictures_by_their_own_token_while_they_take_part(scene: Scene) -> None:
    token, client = enter(scene.study).token, Client()
    client.post(reverse("participant:page", args=[token, "about"]), {"continue": "1"})
    item = scene.version.items.get(index=0)
    addresses = [reverse(f"participant:{name}", args=[token, item.pk]) for name in ("poster", "clip")]
    sheet = client.get(reverse("participant:details", args=[token, item.pk])).text
    assert f'src="{addresses[0]}?v=' in sheet
    assert f"/catalog/posters/{item.pk}" not in sheet
    assert (
        client.get(reverse("participant:trailer", args=[token, item.pk])).headers["Location"].startswith(addresses[1])
    )
    for address in addresses:
        answer = ask(client, address)
        assert answer.status == 200, address
        assert "private" in answer.headers["Cache-Control"]
        assert client.get(address.replace(token, "x" * len(token))).status_code == 404
    other = make_version(name="open").items.get(index=0)
    assert client.get(reverse("participant:poster", args=[token, other.pk])).status_code == 404
    client.post(reverse("participant:withdraw", args=[token]), {"confirm": "yes"})
    scene.study.participants.filter(status="consented").update(status="withdrawn")
    assert [client.get(address).status_code for address in addresses] == [404, 404]


def test_cards_of_participants_name_no_token_but_their_own(scene: Scene) -> None:
    pages = {}
    for _ in range(2):
        participant = completed(scene.study, Mode.PREVIEW)
        participant.step, participant.status = "rate", "active"
        entry = enter(scene.study, Mode.PREVIEW)
        fields = {name: getattr(participant, name) for name in ("step", "status", "condition_id", "assigned_at")}
        scene.study.participants.filter(pk=entry.participant.pk).update(**fields)
        pages[entry.token] = Client().get(reverse("participant:page", args=[entry.token, "rate"])).text
    for token, page in pages.items():
        assert page.count(f"/s/p/{token}/posters/") >= 20
        assert all(other not in page for other in pages if other != token)


def test_a_run_is_in_the_project_of_its_dataset_and_moves_with_it(scene: Scene) -> None:
    dataset, stranger = scene.version.dataset, scene.people["stranger"]
    queued = make_run(version=scene.version, seed=9)
    assert queued.project == scene.project
    # A run without a project is no more visible than its dataset.
    EvaluationRun.objects.filter(pk=queued.pk).update(project=None)
    assert not EvaluationRun.objects.visible_to(stranger).exists()
    assert move_dataset(dataset=dataset, project=None) == 2
    assert EvaluationRun.objects.visible_to(stranger).count() == 2
    other = create_project(name="Other", owner=stranger)
    EvaluationRun.objects.filter(pk=queued.pk).update(project=other)
    assert move_dataset(dataset=dataset, project=scene.project) == 1
    queued.refresh_from_db()
    assert queued.project == other
    assert not EvaluationRun.objects.visible_to(stranger).exists()  # of a dataset that they do not see


def test_moving_asks_first_and_says_who_will_see_it(scene: Scene) -> None:
    client, dataset = signed_in(scene.people["owner"]), scene.version.dataset
    address = reverse("projects:move", args=[dataset.name])
    assert_page_approved("projects/move", client.get(address).text)
    assert_page_approved("projects/move-out", client.post(address, {"project": ""}).text)
    assert Dataset.objects.get(pk=dataset.pk).project == scene.project
    assert client.post(address, {"project": "", "is_confirmed": "on"}).status_code == 302
    assert Dataset.objects.get(pk=dataset.pk).project is None
    assert signed_in(scene.people["stranger"]).get(scene.version.get_absolute_url()).status_code == 200
    asked = client.post(address, {"project": scene.project.pk}).text
    assert_page_approved("projects/move-in", asked)
    assert scene.people["viewer"].name in asked
    client.post(address, {"project": scene.project.pk, "is_confirmed": "on"})
    assert signed_in(scene.people["stranger"]).get(scene.version.get_absolute_url()).status_code == 404
    unmoved = client.post(address, {"project": scene.project.pk})
    assert unmoved.status_code == 400


def test_sample_reports_of_a_project_are_closed_to_everyone_else(scene: Scene) -> None:
    with pytest.raises(ParallaxError, match="dataset public first"):
        publish_sample(report=scene.report)
    Report.objects.filter(pk=scene.report.pk).update(is_sample=True)
    assert Client().get(scene.report.get_absolute_url()).status_code == 302
    assert signed_in(scene.people["stranger"]).get(scene.report.get_absolute_url()).status_code == 404
    assert not ask(Client(), "/").is_marked


def test_only_what_the_researcher_may_change_is_offered_for_runs(scene: Scene) -> None:
    offered = {who: ask(signed_in(user), reverse("evaluation:new")).is_marked for who, user in scene.people.items()}
    assert offered == {who: who in ("member", "owner") for who in scene.people}
    for who in ("viewer", "stranger"):
        answer = signed_in(scene.people[who]).post(reverse("evaluation:new"), {"dataset": scene.version.dataset.name})
        assert answer.status_code == 200
    assert EvaluationRun.objects.count() == 1


def test_a_request_for_a_report_is_refused_to_members_of_the_study_outside(scene: Scene) -> None:
    client = signed_in(scene.people["analyst"])
    before = Job.objects.count()
    assert client.post(reverse("analysis:new"), {"study": scene.study.slug}).status_code == 400
    asked = client_with_token(scene.people["analyst"], Scope.REPORT).post(
        reverse("api:reports-list"), {"study": scene.study.slug}, "application/json"
    )
    assert asked.status_code == 404
    assert Job.objects.count() == before


def test_the_items_of_a_version_are_found_by_its_key_alone(scene: Scene) -> None:
    other = make_version(name="open")
    assert item_with_key(other, Item.objects.filter(version=scene.version).earliest("pk").pk) is None


def test_commands_see_everything_and_import_into_a_project(scene: Scene, tmp_path: Any) -> None:
    file, out = tmp_path / "ratings.csv", io.StringIO()
    file.write_text("user,item,rating\nann,Alien,4\nann,Brazil,5\nbob,Alien,3\nbob,Brazil,2\n")
    call_command("import_dataset", str(file), name="second", project="Quokka project", stdout=out)
    assert Dataset.objects.get(name="second").project == scene.project
    assert "Quokka project" in out.getvalue()
    for wrong, words in (("Nothing", "There is no project"), ("0", "There is no project")):
        with pytest.raises(Exception, match=words):
            call_command("import_dataset", str(file), name="third", project=wrong, stdout=out)
    twin = create_project(name="Quokka project", owner=scene.people["stranger"])
    with pytest.raises(Exception, match="by its number"):
        call_command("import_dataset", str(file), name="third", project="Quokka project", stdout=out)
    with pytest.raises(Exception, match="it there first"):
        call_command("import_dataset", str(file), name="second", project=str(twin.pk), stdout=out)
    assert not Dataset.objects.filter(name="third").exists()
