"""The catalogue's pages, by what they say."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest
from django.test import Client
from lxml import etree
from pytest_django import DjangoAssertNumQueries

from accounts.models import User
from catalog.importers.base import ImportProblem
from catalog.models import Item
from catalog.selectors.shape import shape_of
from catalog.services import import_dataset, import_parsed, load_demo_dataset, retire_version
from core.provenance import digest_of
from tests.approval import assert_page_approved
from tests.factories.accounts import UserFactory
from tests.factories.catalog import make_items, make_parsed, make_version

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


@pytest.fixture
def researcher() -> User:
    return UserFactory()


@pytest.fixture
def console(client: Client, researcher: User) -> Client:
    client.force_login(researcher)
    return client


def titles(text: str) -> list[str]:
    return re.findall(r'loading="lazy">([^<]+)</a>', text)


def test_the_list_says_what_goes_there_when_it_is_empty(console: Client) -> None:
    assert_page_approved("catalog/datasets-none", console.get("/catalog/").text)


@pytest.mark.parametrize("names", [("a",), ("a", "b", "c")])
def test_the_list_leads_to_newest_versions(
    console: Client, names: tuple[str, ...], django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for name in names:
        make_version(name=name)
    make_version(name="a", seed=2)
    with django_assert_num_queries(4):  # session, account, datasets, versions
        page = console.get("/catalog/").text
    assert re.findall(r'href="(/catalog/\w/\d/)"', page) == [
        "/catalog/a/2/",
        *(f"/catalog/{name}/1/" for name in names[1:]),
    ]
    assert page.count("synthetic ratings") == len(names)


def test_a_version_shows_its_size_its_shape_and_that_it_is_synthetic(console: Client) -> None:
    version = make_version()
    shape = shape_of(version)
    page = console.get("/catalog/small/1/").text
    assert_page_approved("catalog/version-synthetic", page)
    assert f"{100 * (1 - 900 / 2400):.2f}%" in page
    assert version.content_hash in page
    for value, count in shape.values:
        assert re.search(rf'<td class="n">{value:g}</td>\s*<td class="n">{count:,}</td>', page)
    assert page.count('type="application/json"') == page.count("data-chart=") == 3
    assert "style=" not in page.split("<main")[1]


def test_ratings_of_people_are_not_called_synthetic(console: Client) -> None:
    make_version(is_synthetic=False)
    for address in ("/catalog/", "/catalog/small/1/", "/catalog/small/1/items/", "/catalog/small/1/items/0/"):
        assert "synthetic" not in console.get(address).text


def test_a_version_shows_what_its_import_left_out(console: Client) -> None:
    parsed = make_parsed()
    problem = ImportProblem("ratings.csv", 7, "rating", "9 is off the scale of 1 to 5")
    report = dataclasses.replace(
        parsed.report,
        dropped={"rating off the scale": 12},
        examples={"rating off the scale": (problem,)},
        warnings=("The last line has no line end.",),
    )
    import_parsed(parsed=dataclasses.replace(parsed, report=report), name="small", source_format="delimited")
    page = console.get("/catalog/small/1/").text
    assert_page_approved("catalog/version-with-excluded-rows", page)


def test_a_dataset_s_own_address_leads_to_its_newest_version(console: Client) -> None:
    make_version()
    make_version(seed=2)
    assert console.get("/catalog/small/").headers["Location"] == "/catalog/small/2/"
    assert console.get("/catalog/other/").status_code == 404
    assert console.get("/catalog/small/3/").status_code == 404


def test_the_grid_searches_and_filters_by_plain_links(console: Client) -> None:
    make_version()
    page = console.get("/catalog/small/1/items/", {"q": "1983"}).text
    assert sorted(titles(page)) == ["Film 04", "Film 34"]
    assert "2 items" in page
    page = console.get("/catalog/small/1/items/", {"q": "1983", "genre": "Western"}).text
    assert titles(page) == ["Film 04"]
    assert 'value="1983"' in page
    assert '<option value="Western" selected>' in page
    assert "No items match" in console.get("/catalog/small/1/items/", {"q": "qqqqqq"}).text


def test_the_grid_s_pages_hold_every_item_once_and_keep_the_filters(console: Client) -> None:
    make_version()
    first = console.get("/catalog/small/1/items/", {"order": "title"}).text
    assert "40 items, 1 to 24 shown" in first
    assert 'href="?order=title&amp;page=2"' in first
    second = console.get("/catalog/small/1/items/", {"order": "title", "page": "2"}).text
    assert titles(first) + titles(second) == [f"Film {index:02d}" for index in range(1, 41)]
    assert 'rel="next"' not in second
    assert_page_approved("catalog/items-past-the-last-page", console.get("/catalog/small/1/items/", {"page": "9"}).text)


@pytest.mark.parametrize(
    "asked", [{"genre": "Opera"}, {"decade": "x"}, {"order": "best"}, {"page": "0"}, {"q": "x" * 201}]
)
def test_the_grid_says_when_it_is_asked_for_what_it_does_not_know(console: Client, asked: dict[str, str]) -> None:
    make_version()
    page = console.get("/catalog/small/1/items/", asked)
    assert page.status_code == 200
    assert titles(page.text) == []
    assert_page_approved(f"catalog/items-refused-{next(iter(asked))}", page.text)


def test_htmx_is_given_the_results_alone_unless_it_restores_history(console: Client) -> None:
    make_version()
    address = "/catalog/small/1/items/?q=film"
    part = console.get(address, headers={"HX-Request": "true"})
    assert part.text.strip().startswith('<div id="results">')
    assert "<html" not in part.text
    assert "HX-Request" in part.headers["Vary"]
    whole = console.get(address, headers={"HX-Request": "true", "HX-History-Restore-Request": "true"})
    assert "<html" in whole.text
    assert titles(whole.text) == titles(part.text)


def test_the_grid_costs_the_same_for_one_and_for_many(
    console: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    make_version()
    console.get("/catalog/small/1/items/")
    for query in ("Film 01", "film"):
        console.get("/catalog/small/1/items/", {"q": query})
        with django_assert_num_queries(3):  # session, account, version; the items are kept
            console.get("/catalog/small/1/items/", {"q": query})


def test_an_item_s_page_says_what_is_known_of_it_and_escapes_it(console: Client) -> None:
    films = make_items(12)
    odd = dataclasses.replace(
        films[0],
        title="<b>Tom & Jerry</b>",
        trailer_url="https://example.org/trailer?a=1&b=2",
        features=(*films[0].features, ("alias", "Il film"), ("tag", "<script>")),
    )
    make_version(items=(odd, *films[1:]))
    page = console.get("/catalog/small/1/items/0/").text
    assert_page_approved("catalog/item", page)
    assert "&lt;b&gt;Tom &amp; Jerry&lt;/b&gt;" in page
    assert "<b>Tom" not in page
    assert "&lt;script&gt;" in page
    assert "Actor 0, Actress 0" in page
    assert "Il film" in page
    assert 'href="https://example.org/trailer?a=1&amp;b=2" rel="noopener noreferrer"' in page
    assert console.get("/catalog/small/1/items/99/").status_code == 404


def test_a_poster_is_open_to_all_and_kept_for_a_year(client: Client) -> None:
    item = load_demo_dataset().items.get(title="The Matrix")
    first = client.get(item.poster_url)
    assert first.headers["Content-Type"] == "image/svg+xml"
    assert first.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert "Matrix" in first.text
    again = client.get(item.poster_url, headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert client.get("/catalog/posters/0.svg").status_code == 404


def test_a_poster_s_address_follows_what_is_drawn() -> None:
    version = make_version()
    item = version.items.get(index=0)
    assert item.poster_url == Item.objects.get(pk=item.pk).poster_url
    other = Item(pk=item.pk, external_id=item.external_id, title="Another", year=item.year)
    assert other.poster_url.split("?")[0] == item.poster_url.split("?")[0]
    assert other.poster_url != item.poster_url


def test_a_poster_is_drawn_for_a_title_without_a_printable_character(client: Client) -> None:
    films = make_items(12)
    version = make_version(items=(dataclasses.replace(films[0], title="\x07"), *films[1:]))
    page = client.get(version.items.get(index=0).poster_url)
    assert page.status_code == 200
    assert ">Item 1<" in page.text


def test_data_that_nobody_invented_have_plain_cards(client: Client) -> None:
    invented = make_version(name="invented").items.get(index=0)
    item = make_version(is_synthetic=False).items.get(index=0)
    card = client.get(item.poster_url).text
    words = [each.text for each in etree.fromstring(card.encode()).iter("{*}text")]
    assert words == ["Film 01", "1980 · Director 0"]
    assert "Drawn poster" in client.get(invented.poster_url).text
    # Before there were cards, browsers kept the drawing of this address for a year.
    assert not item.poster_url.endswith(digest_of([item.poster_key, item.year])[:12])


def test_the_owner_retires_a_version_and_others_cannot(console: Client, researcher: User) -> None:
    version = make_version()
    button = "Retire version 1"
    assert button not in console.get("/catalog/small/1/").text
    assert console.post("/catalog/small/1/retire/").status_code == 403
    version.dataset.owner = researcher
    version.dataset.save()
    assert button in console.get("/catalog/small/1/").text
    page = console.post("/catalog/small/1/retire/", follow=True).text
    assert_page_approved("catalog/version-retired", page)
    assert button not in page
    assert "small" not in console.get("/catalog/").text


def test_an_administrator_retires_what_nobody_owns(client: Client) -> None:
    version = make_version()
    client.force_login(UserFactory(is_superuser=True))
    client.post("/catalog/small/1/retire/")
    version.refresh_from_db()
    assert version.retired_at is not None
    assert client.post("/catalog/small/1/retire/").status_code == 403


def test_pages_are_closed_to_strangers(client: Client) -> None:
    version = make_version()
    retire_version(version=version)
    for address in ("/catalog/", "/catalog/small/1/", "/catalog/small/1/items/", "/catalog/small/1/items/0/"):
        assert client.get(address).headers["Location"].startswith("/account/sign-in/")


def test_usage_without_ratings_has_a_page_that_says_so(console: Client, tmp_path: Path) -> None:
    (tmp_path / "retail.dat").write_text("1 2 3\n2 3\n3\n")
    import_dataset(path=tmp_path / "retail.dat", name="retail")
    page = console.get("/catalog/retail/1/").text
    assert_page_approved("catalog/version-of-usage", page)
    assert page.count("data-chart=") == 1
    listed = console.get("/catalog/").text
    assert_page_approved("catalog/datasets", listed)
