"""Subsets of a dataset: the next version, by service, command and page."""

from __future__ import annotations

import dataclasses
import json
from datetime import date
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from django.core.management import call_command
from django.db import DatabaseError
from django.test import Client

from catalog.importers.base import ParsedItem
from catalog.management.version_command import ImportLine
from catalog.models import DatasetVersion, Feature, Item
from catalog.selectors.datasets import newest_version
from catalog.selectors.parsed_items import parsed_items
from catalog.selectors.ratings import (
    features_of,
    item_ids_of,
    probe_of,
    ratings_of,
    timestamps_of,
    user_ids_of,
    utilities_of,
)
from catalog.services import create_subset, import_parsed, retire_version
from catalog.services import subset as subset_service
from catalog.subsetting.recipe import Recipe
from core.errors import ParallaxError
from core.models import LogEntry
from jobs.models import Job
from tests.approval import assert_page_approved
from tests.factories.accounts import UserFactory
from tests.factories.catalog import make_items, make_parsed, make_usage_version, make_version
from tests.factories.jobs import done
from tests.factories.pages import flat

pytestmark = [pytest.mark.integration, pytest.mark.django_db]

DAY = 86_400


def rows() -> tuple[int, ...]:
    return tuple(each.objects.count() for each in (DatasetVersion, Item, Feature, LogEntry))


def make_dated_version(name: str = "dated") -> DatasetVersion:
    """A version with times (one a day from 1 January 2020), utilities and a probe list."""
    parsed = make_parsed()
    start = 18_262 * DAY  # 1 January 2020
    return import_parsed(
        parsed=dataclasses.replace(
            parsed,
            timestamps=start + np.arange(parsed.n_ratings) * DAY,
            utilities=np.arange(parsed.n_ratings, dtype=np.float32),
            probe=np.column_stack((parsed.users[::50], parsed.items_rated[::50])).astype(np.int64),
        ),
        name=name,
        source_format="factory",
    )


def test_a_subset_keeps_its_ratings_and_the_metadata_of_its_items() -> None:
    picture = f"pictures/ab/{'ab' * 32}.png"
    items = tuple(
        dataclasses.replace(item, image=picture, links=(("imdb", item.external_id),)) for item in make_items(40)
    )
    base = make_version(items=items)
    actor = UserFactory()
    progress: list[tuple[str, int, int | None]] = []
    recipe = Recipe(feature=("genre", "Drama"), k_core=3)
    result = create_subset(version=base, recipe=recipe, actor=actor, progress=lambda *line: progress.append(line))
    version = result.version
    assert (version.number, result.is_new, newest_version("small").pk) == (2, True, version.pk)
    assert {"Drama"} == set(Feature.objects.filter(item__version=version, kind="genre").values_list("value", flat=True))
    ids = item_ids_of(version).tolist()
    assert parsed_items(version) == [item for item in parsed_items(base) if item.external_id in ids]
    assert version.items.first().image == picture
    whole, part = (ratings_of(each).user_items.toarray() for each in (base, version))
    users = np.isin(user_ids_of(base), user_ids_of(version))
    columns = [item_ids_of(base).tolist().index(each) for each in ids]
    assert np.array_equal(part, whole[users][:, columns])
    assert (part > 0).sum(axis=0).min() >= 3
    assert (part > 0).sum(axis=1).min() >= 3
    assert version.items.get(index=0).n_ratings == (part > 0).sum(axis=0)[0]
    assert (version.is_synthetic, version.source_format, version.scale_high) == (True, "factory", 5)
    assert ("genre", "Drama") in features_of(version).terms
    log = LogEntry.objects.get(object_id=version.pk)
    assert (log.actor, log.reason, log.facts) == (actor, "Subset of version 1.", result.entry)
    assert progress[0] == ("Applying step “Items with genre = Drama”", 1, 2)
    assert progress[-1] == ("Storing items", version.n_items, version.n_items)


def test_the_report_has_the_parent_s_hash_and_every_step_with_its_counts() -> None:
    base = make_version()
    first = create_subset(version=base, recipe=Recipe(random_users=30, seed=4, top_items=20)).version
    assert first.report["subsets"] == [
        {
            "parent": 1,
            "parent_hash": base.content_hash,
            "before": {"users": 60, "items": base.n_items, "ratings": 900},
            "steps": [
                {
                    "step": "top-items",
                    "words": "Top 20 items by number of ratings",
                    "parameters": {"top_items": 20},
                    "after": first.report["subsets"][0]["steps"][0]["after"],
                },
                {
                    "step": "random-users",
                    "words": "Random sample of 30 users, seed 4",
                    "parameters": {"random_users": 30, "seed": 4},
                    "after": {"users": first.n_users, "items": first.n_items, "ratings": first.n_ratings},
                },
            ],
        }
    ]
    assert (first.n_users, first.n_items) == (30, 20)
    assert first.report["rows_kept"] == base.report["rows_kept"]
    second = create_subset(version=first, recipe=Recipe(top_items=10)).version
    assert [entry["parent"] for entry in second.report["subsets"]] == [1, 2]


def test_the_same_recipe_on_the_same_parent_gives_the_same_digest() -> None:
    base = make_version()
    recipe = Recipe(random_share=0.5, k_core=3)
    first = create_subset(version=base, recipe=recipe)
    before = rows()
    again = create_subset(version=base, recipe=recipe)
    assert (again.version.pk, again.is_new, again.entry) == (first.version.pk, False, first.entry)
    assert rows() == before
    elsewhere = create_subset(version=make_version(name="other"), recipe=recipe).version
    assert elsewhere.content_hash == first.version.content_hash
    assert elsewhere.ratings_digest == first.version.ratings_digest
    other = create_subset(version=base, recipe=dataclasses.replace(recipe, seed=2)).version
    assert other.content_hash != first.version.content_hash


def test_a_retired_subset_is_brought_back_by_its_recipe() -> None:
    base = make_version()
    subset = create_subset(version=base, recipe=Recipe(k_core=5)).version
    retire_version(version=subset)
    assert newest_version("small").pk == base.pk
    assert not create_subset(version=base, recipe=Recipe(k_core=5)).is_new
    assert newest_version("small").pk == subset.pk


def test_times_utilities_and_the_probe_list_follow_the_ratings() -> None:
    base = make_dated_version()
    recipe = Recipe(date_from=date(2020, 2, 1), date_until=date(2020, 12, 31), k_core=2)
    version = create_subset(version=base, recipe=recipe).version
    times = timestamps_of(version)
    assert len(times) == version.n_ratings
    assert times.min() >= (18_262 + 31) * DAY
    assert times.max() < (18_262 + 366) * DAY
    utilities, probe = utilities_of(version), probe_of(version)
    assert utilities is not None
    assert np.array_equal(times // DAY - 18_262, utilities), "a rating of day d has the utility d"
    assert probe is not None
    matrix = ratings_of(version).user_items
    assert 0 < len(probe) < len(probe_of(base))
    assert all(matrix[user, item] > 0 for user, item in probe)


def test_usage_data_have_subsets_too() -> None:
    version = create_subset(version=make_usage_version(), recipe=Recipe(min_user_ratings=15, top_items=30)).version
    assert set(ratings_of(version).user_items.data) == {1.0}


@pytest.mark.parametrize(
    ("recipe", "code", "message"),
    [
        (Recipe(k_core=500), "subset.refused", "Step 1 of 1, “500-core”, leaves 0 users.*Nothing was stored"),
        (Recipe(date_from=date(2020, 1, 1)), "subset.refused", "ratings have no times. Leave the date range out"),
        (Recipe(feature=("genre", "Opera")), "subset.refused", "most frequent values of genre: Comedy, Drama"),
        (Recipe(feature=("colour", "red")), "subset.refused", "kinds of attributes: cast, director, genre"),
        (Recipe(random_users=61), "subset.refused", "only 60 users with ratings"),
        (Recipe(random_users=60), "subset.nothing_removed", "removes nothing from Small · version 1"),
    ],
)
def test_a_refusal_changes_nothing(recipe: Recipe, code: str, message: str) -> None:
    base = make_version(items=make_items(15))
    before = rows()
    with pytest.raises(ParallaxError, match=message) as refusal:
        create_subset(version=base, recipe=recipe)
    assert refusal.value.code == code
    assert rows() == before


def test_a_failure_while_storing_leaves_no_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    base = make_version()
    before = rows()

    def fail(*_: object, **__: object) -> None:
        raise DatabaseError("the disk is full")

    monkeypatch.setattr("catalog.services.versions.LogEntry.objects.create", fail)
    with pytest.raises(DatabaseError):
        create_subset(version=base, recipe=Recipe(k_core=5))
    assert rows() == before


def test_items_without_features_and_retired_versions() -> None:
    base = make_version(items=tuple(ParsedItem(str(number), f"Bare {number}") for number in range(1, 9)), per_user=4)
    with pytest.raises(ParallaxError, match="attributes: none"):
        create_subset(version=base, recipe=Recipe(feature=("genre", "Drama")))
    retire_version(version=base)
    with pytest.raises(ParallaxError, match="is retired") as refusal:
        create_subset(version=base, recipe=Recipe(k_core=2))
    assert refusal.value.code == "dataset.retired"


def test_the_command_prints_and_writes_the_recipe_and_its_counts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = make_dated_version()
    out = tmp_path / "subset.json"
    options = ["--from", "2020-02-01", "--feature", "genres=Drama", "--min-user-ratings", "2", "--json", str(out)]
    call_command("subset", "dated", *options)
    version = newest_version("dated")
    printed = capsys.readouterr().out
    assert "dated, version 2" in printed
    for words, counts in (
        ("Version 1", f"{base.n_users} +{base.n_items} +{base.n_ratings}"),
        ("Users with at least 2 ratings", f"{version.n_users} +{version.n_items} +{version.n_ratings}"),
    ):
        assert [line for line in printed.splitlines() if line.split(words)[-1].split() == counts.split(" +")], words
    assert "genre = Drama" in printed
    assert base.content_hash[:16] in printed
    assert "\r" not in printed
    written = json.loads(out.read_text())
    assert written["dataset_hash"] == version.content_hash
    assert {name: written[name] for name in ("parent", "parent_hash", "before", "steps")} == version.report["subsets"][
        0
    ]
    call_command("subset", "dated", "--parent", "1", *options)
    assert "already" in capsys.readouterr().out
    assert DatasetVersion.objects.count() == 2


def test_the_progress_line_changes_with_the_activity_and_is_removed() -> None:
    class Terminal(StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    line = ImportLine(terminal)  # type: ignore[arg-type]  # writes as a command's output does
    terminal.write = lambda text, ending="": StringIO.write(terminal, text)  # type: ignore[method-assign]
    for activity in ("Reading", "Reading", "Storing"):
        line.update(activity, 1_000, 2_000)
    line.clear()
    shown = [part.strip() for part in terminal.getvalue().split("\r")]
    assert shown == ["", "Reading: 1,000 of 2,000", "Storing: 1,000 of 2,000", "", ""]


@pytest.fixture
def owner(client: Client) -> Client:
    version = make_dated_version()
    version.dataset.owner = UserFactory()
    version.dataset.save()
    client.force_login(version.dataset.owner)
    return client


ADDRESS = "/catalog/dated/1/subset/"
EMPTY = {"seed": "1"}


def test_the_page_makes_a_subset_and_shows_its_recipe(owner: Client) -> None:
    assert f'href="{ADDRESS}"' in owner.get("/catalog/dated/1/").text
    assert_page_approved("catalog/subset", owner.get(ADDRESS).text)
    values = {"date_from": "2020-02-01", "kind": "genre", "value": "Drama", "k_core": "2", "random_share": "0.9"}
    page = done(owner, owner.post(ADDRESS, EMPTY | values))
    version = newest_version("dated")
    assert page.redirect_chain == [("/catalog/dated/2/", 302)]
    assert_page_approved("catalog/version-subset", page.text)
    entry = version.report["subsets"][0]
    for step in entry["steps"]:
        assert f'<th scope="row">{step["words"]}</th>' in page.text
    assert f'<td class="n">{version.n_ratings}</td>' in page.text
    assert f'title="{entry["parent_hash"]}"' in page.text
    again = done(owner, owner.post(ADDRESS, EMPTY | values)).text
    assert "already" in again
    assert DatasetVersion.objects.count() == 2


@pytest.mark.parametrize(
    ("values", "fields"),
    [
        ({}, {"__all__"}),
        ({"k_core": "0"}, {"k_core"}),
        ({"k_core": "400"}, {"__all__"}),
        ({"kind": "genre"}, {"__all__"}),
        ({"value": "Drama"}, {"__all__"}),
        ({"kind": "genre", "value": "<b>"}, {"__all__"}),
        ({"random_users": "5", "random_share": "0.5"}, {"__all__"}),
        ({"date_from": "2021-01-02", "date_until": "2021-01-01"}, {"__all__"}),
        ({"seed": "", "k_core": "2"}, {"seed"}),
        ({"kind": "colour", "value": "x"}, {"kind"}),
    ],
)
def test_the_page_refuses_and_keeps_the_values(owner: Client, values: dict[str, str], fields: set[str]) -> None:
    page = owner.post(ADDRESS, EMPTY | values)
    assert page.status_code == 400
    assert set(page.context["form"].errors) == fields
    assert "<b>" not in page.text.split("<main")[1]
    if values.get("k_core") == "400":
        assert 'value="400"' in page.text
    assert DatasetVersion.objects.count() == 1


def test_the_page_counts_what_steps_leave_before_anything_is_stored(owner: Client) -> None:
    values = {"kind": "genre", "value": "Drama", "k_core": "2"}
    count = owner.get(f"{ADDRESS}count/", EMPTY | values)
    assert count.status_code == 200
    assert "<html" not in count.text
    shown = flat(count.text)
    assert "genre = Drama" in shown
    without_script = flat(owner.post(ADDRESS, EMPTY | values | {"act": "count"}).text)
    assert shown in without_script
    assert not Job.objects.exists()
    done(owner, owner.post(ADDRESS, EMPTY | values))
    after = newest_version("dated").report["subsets"][0]["steps"][-1]["after"]
    row = "".join(f'<td class="n">{after[name]:,}</td>' for name in ("users", "items", "ratings"))
    assert f'<th scope="row">2-core</th>{row}' in shown
    assert_page_approved("catalog/subset-counted", count.text)
    assert_page_approved("catalog/subset-too-small", owner.get(f"{ADDRESS}count/", EMPTY | {"k_core": "400"}).text)
    assert_page_approved("catalog/subset-without-steps", owner.get(f"{ADDRESS}count/", EMPTY).text)


def test_steps_are_counted_by_the_worker_where_a_page_would_take_too_long(
    owner: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subset_service, "MOST_COUNTED", 1)
    assert_page_approved("catalog/subset-not-counted", owner.get(ADDRESS).text)
    assert "<table" not in owner.get(f"{ADDRESS}count/", EMPTY | {"k_core": "2"}).text
    page = done(owner, owner.post(ADDRESS, EMPTY | {"k_core": "400"})).text
    assert_page_approved("catalog/subset-failed", page)


def test_dates_are_not_offered_where_ratings_have_no_times(client: Client) -> None:
    make_version()
    client.force_login(UserFactory(is_staff=True))
    page = client.get("/catalog/small/1/subset/").text
    assert "no times" in page
    assert page.count("disabled") == 2


def test_only_owners_and_staff_make_subsets_and_only_of_versions_in_use(client: Client) -> None:
    version = make_version()
    client.force_login(UserFactory())
    address = "/catalog/small/1/subset/"
    assert "Make a subset" not in client.get("/catalog/small/1/").text
    assert client.get(address).status_code == client.post(address, {"k_core": "2", "seed": "1"}).status_code == 403
    client.force_login(UserFactory(is_staff=True))
    assert client.get(address).status_code == 200
    retire_version(version=version)
    assert client.get(address).status_code == 403
    assert client.get("/catalog/small/9/subset/").status_code == 404
