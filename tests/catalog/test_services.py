"""Imports happen whole or not at all, and content names its version."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.files.storage import storages
from django.db import DatabaseError, connection

from catalog import services
from catalog.importers.base import RatingScale
from catalog.models import Dataset, DatasetVersion, Feature, Item
from catalog.selectors import items as items_selectors
from catalog.selectors.datasets import newest_version
from catalog.selectors.items import facts_of_item
from catalog.selectors.ratings import features_of, item_ids_of, ratings_of, timestamps_of
from core import artefacts
from core.errors import ArtefactError, ParallaxError
from core.models import LogEntry
from recommenders.data import Scale
from tests.factories.accounts import UserFactory
from tests.factories.catalog import make_items, make_parsed, make_version

pytestmark = [pytest.mark.integration, pytest.mark.django_db]

RATINGS = "userId,movieId,rating,timestamp\n1,10,4.0,100\n1,20,0.5,101\n2,10,5.0,102\n"
MOVIES = 'movieId,title,genres\n10,"Matrix, The (1999)",Action|Sci-Fi\n20,Amelie (2001),Comedy\n'


def movielens(folder: Path, *, ratings: str | bytes = RATINGS, movies: str = MOVIES) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "ratings.csv").write_bytes(ratings if isinstance(ratings, bytes) else ratings.encode())
    (folder / "movies.csv").write_text(movies)
    return folder


def stored_ratings() -> set[str]:
    storage = storages["artefacts"]
    return set(storage.listdir("ratings")[0]) if storage.exists("ratings") else set()


def test_an_import_makes_items_features_and_ratings(tmp_path: Path) -> None:
    said: list[tuple[str, int, int | None]] = []
    version = services.import_dataset(
        path=movielens(tmp_path / "ml"), name="tiny", title="Tiny", progress=lambda *now: said.append(now)
    )
    assert (version.number, version.n_users, version.n_items, version.n_ratings) == (1, 2, 2, 3)
    assert (version.source_format, version.is_synthetic, version.dataset.title) == ("movielens-csv", False, "Tiny")
    matrix = version.items.get(external_id="10")
    assert (matrix.index, matrix.title, matrix.year, matrix.sort_title, matrix.n_ratings) == (
        0,
        "The Matrix",
        1999,
        "matrix",
        2,
    )
    assert facts_of_item(matrix.version, matrix)["genre"] == ("Action", "Sci-Fi")
    assert ratings_of(version).user_items.toarray().tolist() == [[4.0, 0.5], [5.0, 0.0]]
    assert ratings_of(version).scale == Scale(0.5, 5, 0.5)
    assert timestamps_of(version).tolist() == [100, 101, 102]
    assert version.report["rows_kept"] == 3
    assert ("Storing items", 2, 2) in said


def test_the_same_content_gives_the_same_version_and_other_content_the_next(tmp_path: Path) -> None:
    first = services.import_dataset(path=movielens(tmp_path / "ml"), name="tiny")
    again = services.import_dataset(path=movielens(tmp_path / "copy"), name="tiny")
    assert again.pk == first.pk
    rated = services.import_dataset(path=movielens(tmp_path / "ml", ratings=RATINGS.replace("5.0", "4.5")), name="tiny")
    described = services.import_dataset(
        path=movielens(tmp_path / "ml", movies=MOVIES.replace("Comedy", "Romance")), name="tiny"
    )
    assert [first.number, rated.number, described.number] == [1, 2, 3]
    assert len({first.content_hash, rated.content_hash, described.content_hash}) == 3
    assert first.ratings_digest == described.ratings_digest != rated.ratings_digest
    assert newest_version("tiny") == described


def test_the_hash_follows_from_content_alone(tmp_path: Path) -> None:
    lines = RATINGS.splitlines(keepends=True)
    reordered = lines[0] + "".join(reversed(lines[1:]))
    one = services.import_dataset(path=movielens(tmp_path / "ml"), name="one")
    other = services.import_dataset(path=movielens(tmp_path / "other", ratings=reordered), name="other")
    assert one.pk != other.pk
    assert one.content_hash == other.content_hash


@pytest.mark.parametrize(
    ("ratings", "place", "reason"),
    [
        (RATINGS.replace("rating,", "unknown,"), "ratings.csv", "no column is known to hold the ratings"),
        (RATINGS.replace("5.0", "5.3"), "ratings.csv, line 4, column rating", "5.3"),
        (RATINGS.replace("5.0", "9.0"), "ratings.csv, line 4, column rating", "off the scale"),
        (RATINGS.replace("2,10", "2,30"), "ratings.csv, line 4, column movieId", "30"),
        (RATINGS.encode().replace(b"0.5", b"\xff\xfe"), "ratings.csv, line 3", ""),
        (RATINGS[:-7], "ratings.csv, line 4", ""),
        (RATINGS + "1,10,3.0,103\n", "ratings.csv, line 5", ""),
    ],
    ids=["columns", "between-steps", "off-scale", "unknown-item", "encoding", "truncated", "twice"],
)
def test_a_malformed_dataset_leaves_nothing(tmp_path: Path, ratings: str | bytes, place: str, reason: str) -> None:
    before = stored_ratings()
    with pytest.raises(ParallaxError) as caught:
        services.import_dataset(path=movielens(tmp_path / "ml", ratings=ratings), name="tiny")
    assert caught.value.code == "import.refused"
    assert place in str(caught.value)
    assert reason in str(caught.value)
    assert caught.value.extra["total"] >= 1
    assert not Dataset.objects.exists()
    assert not DatasetVersion.objects.exists()
    assert not Item.objects.exists()
    assert stored_ratings() == before


def test_the_database_knows_the_new_rows_at_once() -> None:
    make_version(n_items=30)
    with connection.cursor() as cursor:
        cursor.execute("SELECT tbl, max(CAST(stat AS INTEGER)) FROM sqlite_stat1 GROUP BY tbl")
        counted = dict(cursor.fetchall())
    assert counted["catalog_item"] == Item.objects.count()
    assert counted["catalog_feature"] == Feature.objects.count()


def test_a_new_title_is_kept_without_a_new_version() -> None:
    first = services.import_parsed(parsed=make_parsed(), name="films", title="Films", source_format="factory")
    again = services.import_parsed(parsed=make_parsed(), name="films", title="All films", source_format="factory")
    assert again.pk == first.pk
    assert Dataset.objects.get().title == "All films"


def test_a_failure_among_the_rows_leaves_none() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE TRIGGER full_disk BEFORE INSERT ON catalog_feature WHEN NEW.position > 1 "
            "BEGIN SELECT RAISE(ABORT, 'No space left on device'); END"
        )
    with pytest.raises(DatabaseError, match="No space left"):
        make_version()
    assert not Dataset.objects.exists()
    assert not DatasetVersion.objects.exists()
    assert not Item.objects.exists()


def test_ratings_a_model_cannot_use_are_refused() -> None:
    parsed = make_parsed()
    from_zero = dataclasses.replace(parsed, values=parsed.values - 1, scale=RatingScale(0, 4, 1))
    with pytest.raises(ParallaxError, match="Shift a scale") as caught:
        services.import_parsed(parsed=from_zero, name="zero", source_format="factory")
    assert caught.value.code == "import.bad_data"
    empty = dataclasses.replace(
        parsed, users=parsed.users[:0], items_rated=parsed.items_rated[:0], values=parsed.values[:0]
    )
    with pytest.raises(ParallaxError, match="there are none"):
        services.import_parsed(parsed=empty, name="empty", source_format="factory")
    assert not Dataset.objects.exists()


@pytest.mark.parametrize(
    "address", ["javascript:alert(1)", "//evil.example/x", "https://a b", "https://x/" + "y" * 500]
)
def test_a_trailer_that_is_no_web_address_is_refused(address: str) -> None:
    films = make_items(12)
    items = (dataclasses.replace(films[0], trailer_url=address), *films[1:])
    with pytest.raises(ParallaxError, match=r"Item 1 \(Film 01\): the trailer"):
        make_version(items=items)
    assert not Dataset.objects.exists()


@pytest.mark.parametrize("name", ["", "Films", "a b", "../films", "x" * 81])
def test_a_name_that_would_not_do_in_an_address_is_refused(name: str) -> None:
    with pytest.raises(ParallaxError) as caught:
        make_version(name=name)
    assert caught.value.code == "dataset.bad_name"


def test_options_that_do_not_exist_are_refused(tmp_path: Path) -> None:
    folder = movielens(tmp_path / "ml")
    with pytest.raises(ParallaxError, match="called colour"):
        services.import_dataset(path=folder, name="tiny", options={"colour": "red"})
    with pytest.raises(ParallaxError, match="on_bad_row") as caught:
        services.import_dataset(path=folder, name="tiny", options={"on_bad_row": "ignore"})
    assert caught.value.code == "import.bad_option"


def test_bad_rows_are_dropped_and_counted_where_asked(tmp_path: Path) -> None:
    folder = movielens(tmp_path / "ml", ratings=RATINGS + "2,20,9.0,104\n")
    version = services.import_dataset(path=folder, name="tiny", options={"on_bad_row": "drop"})
    assert version.n_ratings == 3
    assert list(version.report["dropped"].values()) == [1]
    (examples,) = version.report["examples"].values()
    assert (examples[0]["file"], examples[0]["line"]) == ("ratings.csv", 5)


def test_a_retired_version_is_passed_over_until_it_is_imported_again() -> None:
    first, second = make_version(), make_version(seed=2)
    actor = UserFactory()
    services.retire_version(version=second, actor=actor)
    services.retire_version(version=second, actor=actor)
    assert newest_version("small") == first
    services.retire_version(version=first)
    with pytest.raises(ParallaxError) as caught:
        newest_version("small")
    assert caught.value.code == "dataset.unknown"
    assert make_version(seed=2).pk == second.pk
    assert newest_version("small") == second
    log = LogEntry.objects.filter(object_id=second.pk).values_list("from_status", "to_status", "actor")
    assert list(log) == [("open", "retired", actor.pk), ("retired", "open", None)]


def test_the_demo_catalogue_says_that_its_ratings_are_synthetic() -> None:
    version = services.load_demo_dataset()
    assert (version.dataset.name, version.is_synthetic) == ("demo-films", True)
    assert ratings_of(version).scale == Scale(1, 5, 1)
    assert version.n_items >= 400
    assert "synthetic" in version.report["warnings"][0]
    assert not version.items.filter(plot="").exists()
    assert services.load_demo_dataset() == version
    assert services.load_demo_dataset(seed=2).number == 2
    matrix = facts_of_item(version, version.items.get(title="The Matrix"))
    assert "Lana Wachowski" in matrix["director"]
    assert matrix["country"]


def test_features_are_ordered_terms_without_other_titles() -> None:
    films = make_items(12)
    renamed = dataclasses.replace(films[0], features=(*films[0].features, ("alias", "Il film"), ("decade", "1980s")))
    version = make_version(items=(renamed, *films[1:]))
    features = features_of(version)
    assert features is features_of(version)
    assert features.kinds == ("cast", "decade", "director", "genre", "plot")
    assert list(features.terms) == sorted(features.terms)
    dense = features.item_terms.toarray()
    assert dense.shape == (12, len(features.terms))
    column = features.terms.index(("genre", "Comedy"))
    assert np.flatnonzero(dense[:, column]).tolist() == [0, 4, 8]
    assert dense[:, features.terms.index(("plot", "short"))].tolist() == [1.0] * 12
    assert ("plot", "about") not in features.terms
    assert dense[0, features.terms.index(("decade", "1980s"))] == 1


def test_damaged_ratings_are_not_served() -> None:
    version = make_version(seed=77)
    folder = Path(storages["artefacts"].path(f"ratings/{version.ratings_digest}"))
    values = np.load(folder / "values.npy")
    values[0] = 5 if values[0] != 5 else 4
    np.save(folder / "values.npy", values)
    artefacts.clear_cache()
    with pytest.raises(ArtefactError, match="matches its digest"):
        item_ids_of(version)
    shutil.rmtree(folder)


def test_a_catalogue_that_is_kept_whole_is_read_in_four_queries_and_asked_no_more(
    django_assert_num_queries: Any,
) -> None:
    version = services.load_demo_dataset(seed=3)
    items_kept = items_selectors.ITEMS_KEPT
    with django_assert_num_queries(4):
        items_selectors.preload_items(version)
    with django_assert_num_queries(0):
        items_selectors.preload_items(version)
        (first, last) = items_selectors.items_at(version, [0, version.n_items - 1])
        assert items_selectors.item_with_key(version, last.pk) == last
        assert items_selectors.facts_of_item(version, first)["genre"]
        assert set(items_selectors.headlines_at(version, [0])) == {0}
    version.n_items = items_kept + 1
    with django_assert_num_queries(0):
        items_selectors.preload_items(version)
