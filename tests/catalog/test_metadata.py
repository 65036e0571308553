"""Facts added to a dataset later: the next version, by service, command and page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.db import DatabaseError, connection
from django.test import Client

from catalog.forms import metadata as metadata_forms
from catalog.importers.base import ParsedItem
from catalog.models import DatasetVersion, Feature
from catalog.selectors.datasets import newest_version
from catalog.selectors.items import facts_of_item
from catalog.selectors.ratings import features_of, ratings_of
from catalog.services import add_metadata, retire_version
from core.errors import ParallaxError
from core.models import LogEntry
from tests.approval import assert_page_approved
from tests.factories.accounts import UserFactory
from tests.factories.catalog import make_version
from tests.factories.jobs import done

pytestmark = [pytest.mark.integration, pytest.mark.django_db]

FACTS = "item,kind,value\n1,genre,Comedy\n1,genre,Noir\n1,actor,Ann\n2,plot,Another story.\n3,year,2015\n99,tag,x\n"


def facts(tmp_path: Path, text: str = FACTS, name: str = "facts.csv") -> Path:
    path = tmp_path / name
    path.write_text(text)
    return path


def test_a_file_may_name_items_by_their_ids_elsewhere(tmp_path: Path) -> None:
    base = make_version()
    base.items.filter(index=1).update(links={"imdb": "0114709"})
    file = facts(tmp_path, "imdb_id,plot\ntt0114709,Toys.\n0999,Of no item.\n")
    version = add_metadata(version=base, path=file, options={"columns": {"item": "imdb_id"}}, link="imdb")
    assert [item.plot for item in version.items.all()].count("Toys.") == 1
    assert version.items.get(index=1).plot == "Toys."
    assert version.report["metadata"][-1]["read"]["dropped"] == {"unknown item": 1}
    with pytest.raises(ParallaxError, match="id of 'tmdb'"):
        add_metadata(version=base, path=file, options={"columns": {"item": "imdb_id"}}, link="tmdb")


def counts() -> tuple[int, int, int]:
    return DatasetVersion.objects.count(), Feature.objects.count(), LogEntry.objects.count()


def test_facts_make_the_next_version_and_leave_the_first_as_it_was(tmp_path: Path) -> None:
    base = make_version()
    before = features_of(base).terms
    actor = UserFactory()
    said: list[tuple[str, int, int | None]] = []
    version = add_metadata(version=base, path=facts(tmp_path), actor=actor, progress=lambda *now: said.append(now))
    assert (base.number, version.number, version.dataset) == (1, 2, base.dataset)
    assert version.ratings_digest == base.ratings_digest  # one copy of the ratings
    assert (version.is_synthetic, version.source_format) == (base.is_synthetic, base.source_format)
    assert ratings_of(version).user_items.nnz == base.n_ratings == version.n_ratings
    base.refresh_from_db()
    assert features_of(base).terms == before
    assert list(base.items.values_list("title", "n_ratings")) == list(version.items.values_list("title", "n_ratings"))
    first, second, third = version.items.order_by("index")[:3]
    assert facts_of_item(first.version, first)["genre"] == ("Comedy", "Noir")
    assert facts_of_item(first.version, first)["cast"] == ("Actor 0", "Actress 0", "Ann")
    assert (second.plot, base.items.get(index=1).plot) == ("Another story.", "A short story about number 2.")
    assert third.year == 2015
    assert list(third.features.filter(kind="decade").values_list("value", flat=True)) == ["2010s"]
    assert ("genre", "Noir") in features_of(version).terms
    assert version.report["metadata"] == [
        {
            "base_version": 1,
            "items_changed": 3,
            "facts_added": {"genre": 1, "cast": 1},
            "fields_replaced": {"plot": 1, "year": 1},
            "facts_known": 1,
            "read": version.report["metadata"][0]["read"],
        }
    ]
    assert version.report["metadata"][0]["read"]["dropped"] == {"unknown item": 1}
    assert version.report["rows_kept"] == base.report["rows_kept"]
    log = LogEntry.objects.get(object_id=version.pk)
    assert log.actor == actor
    assert "facts.csv" in log.reason
    assert said[-1] == ("Storing items", 40, 40)


def test_items_read_back_from_rows_are_the_items_that_were_imported() -> None:
    """The hash of a version follows from its rows alone, so equal content is found however it came about."""
    from catalog.selectors.parsed_items import parsed_items
    from catalog.selectors.ratings import ARTEFACT_KIND, scale_of
    from catalog.services.versions import store_version
    from core import artefacts

    base = make_version()
    again, _ = store_version(
        name=base.dataset.name,
        title=None,
        arrays=artefacts.load(ARTEFACT_KIND, base.ratings_digest).arrays,
        scale=scale_of(base),
        items=parsed_items(base),
        source_format="other",
        is_synthetic=base.is_synthetic,
        report={},
        owner=None,
    )
    assert again.pk == base.pk


def test_items_without_a_feature_get_their_first(tmp_path: Path) -> None:
    base = make_version(items=tuple(ParsedItem(str(number), f"Bare {number}") for number in range(1, 9)), per_user=4)
    said: list[tuple[str, int, int | None]] = []
    version = add_metadata(version=base, path=facts(tmp_path), progress=lambda *now: said.append(now))
    assert facts_of_item(version, version.items.get(index=0))["genre"] == ("Comedy", "Noir")
    assert ("Reading facts.csv", 6, None) in said
    assert add_metadata(version=base, path=facts(tmp_path, "item,tag\n1,x\n")).number == 3


def test_the_same_facts_twice_are_one_version_and_nothing_new_is_said(tmp_path: Path) -> None:
    base = make_version()
    version = add_metadata(version=base, path=facts(tmp_path))
    stands = counts()
    assert add_metadata(version=base, path=facts(tmp_path)).pk == version.pk
    with pytest.raises(ParallaxError, match="says already") as nothing:
        add_metadata(version=version, path=facts(tmp_path))
    assert nothing.value.code == "metadata.nothing_new"
    assert counts() == stands
    more = add_metadata(version=version, path=facts(tmp_path, "item,image\n4,https://a.example/4.jpg\n"))
    assert [entry["base_version"] for entry in more.report["metadata"]] == [1, 2]
    assert more.items.get(index=3).image_url == "https://a.example/4.jpg"
    assert more.report["metadata"][1]["facts_added"] == {"image": 1}


@pytest.mark.parametrize(
    ("text", "options", "code", "message"),
    [
        ("item,kind,value\n1,year,soon\n2,tag,x\n", {}, "import.refused", "facts.csv, line 2, column value: 'soon'"),
        (FACTS, {"columns": {"kind": "kind"}}, "import.bad_option", "both a column of kinds and a column of values"),
        (FACTS, {"colour": "red"}, "import.bad_option", "no option called colour"),
    ],
)
def test_what_is_refused_leaves_nothing(
    tmp_path: Path, text: str, options: dict[str, object], code: str, message: str
) -> None:
    base = make_version()
    stands = counts()
    with pytest.raises(ParallaxError, match=message) as refusal:
        add_metadata(version=base, path=facts(tmp_path, text), options=options)
    assert refusal.value.code == code
    assert counts() == stands


def test_a_failure_among_the_rows_leaves_none(tmp_path: Path) -> None:
    base = make_version()
    stands = counts()
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE TRIGGER full_disk BEFORE INSERT ON catalog_feature WHEN NEW.position > 1 "
            "BEGIN SELECT RAISE(ABORT, 'No space left on device'); END"
        )
    with pytest.raises(DatabaseError, match="No space left"):
        add_metadata(version=base, path=facts(tmp_path))
    assert counts() == stands


def test_an_item_has_so_many_facts_and_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base = make_version()
    stands = counts()
    monkeypatch.setattr("catalog.services.metadata.MOST_FACTS", 5)
    with pytest.raises(ParallaxError, match="than 5 facts"):
        add_metadata(version=base, path=facts(tmp_path))
    assert counts() == stands


def test_a_retired_version_gets_no_facts(tmp_path: Path) -> None:
    base = make_version()
    retire_version(version=base)
    with pytest.raises(ParallaxError, match="is retired"):
        add_metadata(version=base, path=facts(tmp_path))


def test_the_command_prints_what_was_added(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_version(name="films")
    path = facts(tmp_path, "who;says;what\n1;mood;slow\n1;year;soon\n99;mood;x\n77;mood;x\n2;plot;Other.\n")
    columns = ["--column", "item=who", "--column", "kind=says", "--column", "value=what", "--rename", "mood=tempo"]
    target = tmp_path / "report.json"
    call_command("add_metadata", "films", str(path), *columns, "--drop-bad-rows", "--json", str(target))
    out = capsys.readouterr().out
    assert "films, version 2" in out
    for words in ("tempo added 1", "plot replaced 1", "items changed 2", "rows kept 2", "2 × unknown item"):
        assert words in " ".join(out.split())
    assert "facts.csv, line 3" in out
    written = json.loads(target.read_text())
    assert (written["version"], written["items_changed"], written["dataset_hash"]) == (
        2,
        2,
        newest_version("films").content_hash,
    )
    call_command("add_metadata", "films", str(facts(tmp_path, "item,genres,extra\n1,Noir,1\n", "wide.csv")))
    assert "'extra'" in capsys.readouterr().out


def test_the_page_adds_facts_from_a_file(client: Client) -> None:
    version = make_version()
    client.force_login(UserFactory(is_staff=True))
    assert f'href="{version.get_absolute_url()}metadata/"' in client.get(version.get_absolute_url()).text
    address = f"{version.get_absolute_url()}metadata/"
    assert_page_approved("catalog/metadata", client.get(address).text)
    bad = SimpleUploadedFile("facts.csv", b"item,kind,value\n1,year,<soon>\n")
    page = done(client, client.post(address, {"file": bad, "on_bad_row": "refuse"})).text
    assert_page_approved("catalog/metadata-refused", page)
    assert "&lt;soon&gt;" in page
    assert DatasetVersion.objects.count() == 1
    good = SimpleUploadedFile("facts.csv", FACTS.encode() + b"1,year,soon\n")
    response = done(client, client.post(address, {"file": good, "on_bad_row": "drop"}))
    assert response.redirect_chain == [("/catalog/small/2/", 302)]
    assert_page_approved("catalog/metadata-added", response.text)


def test_an_items_page_shows_kinds_it_has_no_place_for(client: Client, tmp_path: Path) -> None:
    text = "item,kind,value\n1,producer,Pat\n1,producer,Sam\n1,mood,slow\n"
    version = add_metadata(version=make_version(), path=facts(tmp_path, text))
    client.force_login(UserFactory())
    page = client.get(f"{version.get_absolute_url()}items/0/").text
    assert '<th scope="row">Mood</th><td>slow</td>' in page
    assert '<th scope="row">Producer</th><td>Pat, Sam</td>' in page
    assert ">Genre<" not in page


def test_the_page_refuses_files_too_large_for_it(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    version = make_version()
    client.force_login(UserFactory(is_staff=True))
    monkeypatch.setattr(metadata_forms.MetadataForm.base_fields["file"], "most", 10)
    upload = SimpleUploadedFile("facts.csv", FACTS.encode())
    page = client.post(f"{version.get_absolute_url()}metadata/", {"file": upload, "on_bad_row": "drop"}).text
    assert "add_metadata" in page
    assert DatasetVersion.objects.count() == 1


def test_the_page_is_for_staff_and_the_datasets_owner(client: Client) -> None:
    version = make_version()
    owner = UserFactory()
    address = f"{version.get_absolute_url()}metadata/"
    client.force_login(owner)
    upload = {"file": SimpleUploadedFile("facts.csv", FACTS.encode()), "on_bad_row": "drop"}
    assert client.post(address, upload).status_code == 403
    assert "Add item metadata" not in client.get(version.get_absolute_url()).text
    assert DatasetVersion.objects.count() == 1
    version.dataset.owner = owner
    version.dataset.save()
    assert "Metadata file" in client.get(address).text
    retire_version(version=version)
    assert client.get(address).status_code == 403
