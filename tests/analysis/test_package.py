"""The study package: what is in it, that its scripts give the report's numbers in R and Python, and when it refuses."""

from __future__ import annotations

import csv
import functools
import hashlib
import io
import json
import re
import subprocess
import sys
import zipfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.test import Client
from django.utils import timezone

from accounts.services import create_token
from analysis.files.listing import PACKAGE, file_of, files_of, offers_of
from analysis.files.numbers import HEADS, lines_of
from analysis.models import Report
from analysis.results.codec import decode
from analysis.results.report import Results
from analysis.services import build_report, download
from analysis.services.packages import download_package, request_files
from analysis.services.report_cache import cached_document
from charting import render
from core.errors import ParallaxError
from core.models import LogEntry
from jobs.archives import clean_jobs, store
from jobs.models import Job, JobStatus
from studies.data.services.retention import erase_expired, set_retention
from studies.models import Participant, Response, Study, StudyMembership
from studies.monitoring.services.exclusions import exclude
from studies.participation.services.withdrawal import withdraw
from tests.analysis.conftest import FEW_RESAMPLES
from tests.factories.analysis import planted_person
from tests.factories.evaluation import make_run_at
from tests.factories.questionnaires import every_kind, make_study_asking, words
from tests.factories.studies import make_study

pytestmark = [pytest.mark.integration, pytest.mark.django_db, pytest.mark.usefixtures("pictures_once")]
ALGORITHMS = "toppop,corngr,puresvd:factors=4"
FITTED = ("ordinal", "ordinal_pair", "nested")  # by iteration, with code of the scripts' own
RATINGS = {"TopPop": (5, 4, 5, 3, 4), "CorNgr": (2, 3, 1, 2, 4), "PureSVD4": (3, 3, 2, 4, 1)}


@pytest.fixture(scope="module")
def built(module_database: None) -> Report:
    """A report on people whose answers differ within every condition and in every variable; one of them is left out."""
    run = make_run_at("succeeded", algorithms=ALGORITHMS)
    study = make_study(slug="packed-films", run=run, settings=FEW_RESAMPLES)
    for place, (label, given) in enumerate(RATINGS.items()):
        for number in range(6 + place):
            turned = [1 + (rating - 1 + (number * (rank + 1)) // 4) % 5 for rank, rating in enumerate(given)]
            planted_person(study, label, turned, 1 + (number + place) % 5, n_watched=1 + (number + place) % 3,
                           n_heard=number % 2, first_item=(number * 3 + place) % 9)  # fmt: skip
    exclude(participant=Participant.objects.order_by("pk")[0], reason="Answered at random")
    report = build_report(study=study)
    cached_document(report)
    return report


@pytest.fixture
def report(built: Report) -> Report:
    return Report.objects.get(pk=built.pk)


@pytest.fixture
def answered(report: Report) -> Study:
    return report.study


@pytest.fixture(scope="module")
def packed(built: Report, pictures_once: None) -> bytes:
    """The package of the report, of which no download is recorded."""
    file = file_of(built, PACKAGE, lambda: cached_document(built))
    assert file is not None
    return file.make()


@pytest.fixture
def unpacked(packed: bytes, tmp_path: Path) -> Path:
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        archive.extractall(tmp_path)
    return tmp_path


def run(command: list[str], folder: Path) -> tuple[int, list[list[str]], str]:
    """Exit status, the lines that the script printed, and its last word."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    assert lines, done.stderr
    return done.returncode, [line.split("\t") for line in lines[1:-1]], lines[-1]


def check_recomputed(command: list[str], folder: Path) -> None:
    """Every number that the report's JSON holds comes back from the script, to the digits a reader could want."""
    numbers = json.loads((folder / "report" / "report.json").read_text())
    reported = {line[:5]: line[5] for line in lines_of(decode(Results, numbers["results"]))}
    kinds = {line[1] for line in reported}
    assert kinds >= {"described", "anova", "welch", "brown_forsythe", "kruskal", "tukey", "games_howell",
                     "sign_test", "tau_b", "value", "hedges", "dunn", "correlation_overall", "correlation_within",
                     "correlation_between", "ordinal", "ordinal_pair", "nested"}  # fmt: skip
    assert {line[4] for line in reported if line[1] == "tau_b"} == {"coefficient", "p", "p_holm"}
    for kind in ("correlation_within", "tau_b"):
        assert {"list.popularity", "list.overlap_between"} <= {line[2] for line in reported if line[1] == kind}
    status, lines, last = run(command, folder)
    recomputed = {tuple(line[:5]): float(line[5]) for line in lines}
    assert set(recomputed) == set(reported)
    for name, value in reported.items():
        near = {"rel": 1e-3, "abs": 1e-3} if name[1] in FITTED else {"rel": 1e-6, "abs": 1e-8}
        assert recomputed[name] == pytest.approx(value, **near), name
    assert (status, last[:20]) == (0, f"# {len(reported)} of {len(reported)} numbers agree"[:20])
    # The script compares indeed: of a changed number it says so.
    path = folder / "report" / "numbers.csv"
    rows = list(csv.reader(path.read_text().splitlines()))
    assert tuple(rows[0]) == HEADS
    place = next(place for place, row in enumerate(rows) if row[1:5] == ["anova", "", "", "f"])
    rows[place][5] = str(float(rows[place][5]) * 1.0001)
    kept = path.read_text()
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
    status, _, last = run(command, folder)
    assert (status, last.split()[1]) == (1, str(len(reported) - 1))
    path.write_text(kept)
    # It starts from the answers: where one of each kind is not what it was, that kind's means differ and it fails.
    for name, column in (("items", "item.rating"), ("items", "item.watched"), ("participants", "overall.satisfaction")):
        corrupt(folder, f"data/{name}.csv", column)
    status, lines, _ = run(command, folder)
    differing = {(line[0], line[1]) for line in lines if line[-1] != "yes"}
    assert (status, differing >= {(key, "described") for key in ("accuracy", "fon", "satisfaction")}) == (1, True)


def corrupt(folder: Path, name: str, column: str) -> None:
    """Change one answer of an analysed participant."""
    path = folder / name
    analysed = {
        row["participant.id"] for row in csv.DictReader((folder / "data" / "analysed.csv").read_text().splitlines())
    }
    rows = list(csv.DictReader(path.read_text().splitlines()))
    row = next(row for row in rows if row["participant.id"] in analysed)
    row[column] = str(1 - int(row[column])) if column == "item.watched" else str(1 + int(row[column]) % 5)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


@pytest.mark.slow
@pytest.mark.parametrize("language", ["Python", "R"])
def test_both_scripts_recompute_the_report(unpacked: Path, rscript: str, language: str) -> None:
    commands = {
        "Python": [sys.executable, "scripts/recompute.py"],
        "R": [rscript, "--vanilla", "scripts/recompute.R"],
    }
    check_recomputed(commands[language], unpacked)


@pytest.mark.slow
def test_what_identifies_people_is_in_no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    # One picture stands for all: in compressed ones nothing could be found, and the SVG files hold the same words.
    drawn: list[bytes] = []
    as_pdf = render.svg_as_pdf

    def first_drawn(picture: str) -> bytes:
        drawn.append(drawn[0] if drawn else as_pdf(picture))
        return drawn[0]

    monkeypatch.setattr(render, "svg_as_pdf", first_drawn)
    monkeypatch.setattr(render, "svg_as_png", lambda picture, ppi: b"PNG")
    asked = every_kind()
    asked["after"].append({"key": "email", "kind": "text", "text": words("Your e-mail?"), "identifies": True})
    asked["items"].append({"key": "friend", "kind": "text", "text": words("For whom?"), "identifies": True})
    study = make_study_asking(asked, run=make_run_at("succeeded", algorithms=ALGORITHMS), per_condition=3)
    for place, (label, given) in enumerate(RATINGS.items()):
        for number in range(3):
            person = planted_person(study, label, given, 1 + (number + place) % 5)
            said = [("email", 0, "ada@example.org"), ("why", 0, "I like them"), ("friend", 2, "friend-4711")]
            Response.objects.bulk_create(
                Response(participant=person, question=question, rank=rank, value=value, provenance="person")
                for question, rank, value in said
            )
    packed = download(report=build_report(study=study), name=PACKAGE)
    with zipfile.ZipFile(io.BytesIO(packed.content)) as archive:
        whole = {name: archive.read(name) for name in archive.namelist()}
    assert b"I like them" in whole["data/participants.csv"]
    assert not [name for name, content in whole.items() if b"ada@example" in content or b"friend-4711" in content]
    data = {name: content for name, content in whole.items() if name.startswith("data/")}
    assert not [name for name, content in data.items() if b"after.email" in content or b"item.friend" in content]


@pytest.mark.slow
def test_package_holds_what_its_readme_names(unpacked: Path) -> None:
    names = {path.relative_to(unpacked).as_posix() for path in unpacked.rglob("*") if path.is_file()}
    assert {
        "README.md", "SHA256SUMS", "data/analysed.csv", "data/participants.csv", "data/participants_codebook.csv",
        "data/items.csv", "data/run-users.csv", "data/conditions.csv", "design/design.json",
        "design/preregistration.md", "report/report.html", "report/report.pdf", "report/report.json",
        "report/report.schema.json", "report/report.qmd", "report/apa.md", "report/numbers.csv",
        "report/figures/slope.svg", "report/figures/slope.png", "report/figures/slope.pdf",
        "report/tables/table-1.csv", "report/tables/table-1.md", "report/tables/table-1.tex",
        "scripts/recompute.py", "scripts/recompute.R",
    } <= names  # fmt: skip
    sums = dict(reversed(line.split("  ")) for line in (unpacked / "SHA256SUMS").read_text().splitlines())
    assert set(sums) == names - {"SHA256SUMS"}
    for name, digest in sums.items():
        assert hashlib.sha256((unpacked / name).read_bytes()).hexdigest() == digest
    design = json.loads((unpacked / "design/design.json").read_text())
    numbers = json.loads((unpacked / "report/report.json").read_text())
    assert design["design_hash"] == numbers["provenance"]["design_hash"]
    readme = (unpacked / "README.md").read_text()
    for told in (numbers["inputs_hash"], str(numbers["provenance"]["study_seed"]), "numpy", "Synthetic ratings"):
        assert told in readme
    analysed = list(csv.DictReader((unpacked / "data/analysed.csv").read_text().splitlines()))
    assert len(analysed) == numbers["results"]["flow"]["analysed"] == 20
    people = list(csv.DictReader((unpacked / "data/participants.csv").read_text().splitlines()))
    assert len(people) == 21
    assert "participant.code" not in people[0]
    check_quarto(unpacked)


def check_quarto(unpacked: Path) -> None:
    """The Quarto source has a header that is YAML, code that compiles, and names only files that are there."""
    source = (unpacked / "report" / "report.qmd").read_text()
    _, head, body = source.split("---\n", 2)
    facts = yaml.safe_load(head)
    assert facts["title"] == json.loads((unpacked / "report/report.json").read_text())["results"]["study"]["title"]
    assert set(facts["format"]) == {"html", "pdf"}
    named = re.findall(r"\]\((figures/[^)]+)\)", body)
    named += [f"tables/{name}" for name in re.findall(r'^table\("([^"]+)"\)$', body, re.MULTILINE)]
    named += re.findall(r'Path\("([^"]+\.json)"\)', body)
    assert len(named) > 20
    for name in named:
        assert (unpacked / "report" / name).is_file(), name
    (setup,) = re.findall(r"```\{python\}\n#\| include: false\n(.*?)```", body, re.S)
    compile(setup, "report.qmd", "exec")
    labels = re.findall(r"#\| label: (\S+)|\{#(fig-\S+?)\}", body)
    assert len(labels) == len(set(labels))


@pytest.mark.slow
def test_same_report_gives_the_same_package(report: Report, packed: bytes) -> None:
    report.drawings.all().delete()  # arranged anew, too
    assert download(report=report, name=PACKAGE).content == packed
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        names = archive.namelist()
        assert names == sorted(names)
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


@pytest.mark.slow
def test_changed_answers_give_no_package_and_taking_one_is_recorded(
    eager: None, report: Report, answered: Study, client: Client, django_capture_on_commit_callbacks: Any
) -> None:
    owner = StudyMembership.objects.get(study=answered).researcher
    client.force_login(owner)
    address = f"{report.get_absolute_url()}{PACKAGE}"
    with django_capture_on_commit_callbacks() as waiting:
        asked = client.get(address)
        assert client.get(address)["Location"] == asked["Location"]  # one request, however often it is asked for
    waited = client.get(asked["Location"]).text
    assert "Waiting" in waited
    assert "Download the" not in waited
    for callback in waiting:
        callback()
    assert "Download the" in client.get(asked["Location"]).text
    assert not LogEntry.objects.filter(facts__format="study package").exists()
    given = client.get(address)
    assert given["Content-Disposition"] == 'attachment; filename="packed-films-report-1-study-package.zip"'
    with zipfile.ZipFile(io.BytesIO(given.content)) as archive:
        assert archive.read("report/report.json") == download(report=report, name="report.json").content
    assert LogEntry.objects.get(facts__format="study package").actor == owner
    assert Job.objects.filter(kind="package").count() == 1
    exclude(participant=Participant.objects.order_by("pk")[6], reason="Late")
    with pytest.raises(ParallaxError, match="new report") as refused:
        download(report=report, name=PACKAGE)
    assert refused.value.code == "report.answers_changed"
    with django_capture_on_commit_callbacks(execute=True):
        again = client.get(address)
    page = client.get(again["Location"]).text
    assert "new report" in page
    assert "Download the" not in page
    with django_capture_on_commit_callbacks(execute=True):
        assert client.get(address)["Location"] == again["Location"]  # it says why for a while, and tries no new one
    assert LogEntry.objects.filter(facts__format="study package").count() == 1


def stored(report: Report, content: bytes = b"PK made by a worker") -> Job:
    """A request for the package of a report, as a worker leaves it."""
    job = request_files(report=report, asked_by=report.study.memberships.get().researcher)
    job.status, job.file = JobStatus.SUCCEEDED, store(job, ContentFile(content))
    job.save()
    return job


@pytest.mark.slow
def test_a_program_waits_for_a_package_and_is_told_why_there_is_none(
    eager: None, report: Report, answered: Study, django_capture_on_commit_callbacks: Any
) -> None:
    owner = StudyMembership.objects.get(study=answered).researcher
    token = create_token(owner=owner, name="p", scope="read data")[1]
    program = Client(headers={"Authorization": f"Bearer {token}"})
    address = f"/api/v1/reports/{report.pk}/files/{PACKAGE}"
    with django_capture_on_commit_callbacks() as waiting:
        first = program.get(address)
    assert len(waiting) == 1
    assert (first.status_code, first["Retry-After"]) == (202, "2")
    assert (first.json()["kind"], first.json()["status"]) == ("package", "queued")
    stored(report)
    given = program.get(address)
    assert (given.content, given["Content-Type"]) == (b"PK made by a worker", "application/zip")
    assert LogEntry.objects.get(facts__format="study package").actor == owner
    exclude(participant=Participant.objects.order_by("pk")[6], reason="Late")
    with django_capture_on_commit_callbacks(execute=True):
        assert program.get(address).status_code == 202
    refused = program.get(address)
    assert (refused.status_code, refused.json()["code"]) == (409, "report.package_failed")
    assert "new report" in refused.json()["detail"]


def test_stored_packages_go_with_time(report: Report) -> None:
    first, second = stored(report, b"PK one"), stored(report, b"PK two")
    given = download_package(report=report)
    assert given is not None
    assert given.content == b"PK two"
    Job.objects.filter(pk=second.pk).update(created_at=timezone.now() - timedelta(days=8))
    clean_jobs()
    assert [default_storage.exists(name) for name in (first.file, second.file)] == [True, False]
    given = download_package(report=report)
    assert given is not None
    assert given.content == b"PK one"
    first.delete()  # as with the study
    assert download_package(report=report) is None


@pytest.mark.parametrize("what", ["withdrawal", "retention"])
def test_stored_packages_go_with_the_data_in_them(report: Report, answered: Study, what: str) -> None:
    kept = stored(report)
    clean_jobs()
    assert default_storage.exists(kept.file)
    if what == "withdrawal":
        withdraw(participant=Participant.objects.filter(mode=report.mode).order_by("pk")[0])
    else:
        set_retention(study=answered, external_ids_days=None, answers_days=1)
        Study.objects.filter(pk=answered.pk).update(closed_at=timezone.now() - timedelta(days=2))
        assert erase_expired()["participants"] > 0
    assert download_package(report=report) is None
    clean_jobs()
    assert not default_storage.exists(kept.file)


@pytest.mark.slow
def test_page_offers_every_file_and_each_is_given(report: Report, answered: Study, client: Client) -> None:
    client.force_login(StudyMembership.objects.get(study=answered).researcher)
    page = client.get(report.get_absolute_url()).content.decode()
    arrange = functools.partial(cached_document, report)
    files = files_of(report, arrange)
    links = re.findall(rf'href="{report.get_absolute_url()}([^"#]+)"(?: download)?\s+aria-label', page)
    assert sorted(links) == sorted(files)
    offers = offers_of(files.values())
    assert [len(offer.files) for offer in offers["figures"]] == [3] * len(offers["figures"])
    download(report=report, name="figures/box-accuracy.png")  # as a worker draws it
    for name in ("report.qmd", "apa.md", "tables/flow.tex", "tables/flow.md", "figures/box-accuracy.png"):
        given = client.get(f"{report.get_absolute_url()}{name}")
        found = file_of(report, name, arrange)
        assert found is not None
        assert given["Content-Type"] == found.content_type
        assert given.content == found.make()
    for name in ("figures/nothing.svg", "report.exe", "figures/../report.pdf", "tables/"):
        assert client.get(f"{report.get_absolute_url()}{name}").status_code == 404
