"""The page that tries models: what it says, and that its address holds everything."""

from __future__ import annotations

import dataclasses
import re
from html import unescape
from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from catalog.models import DatasetVersion
from catalog.services import import_parsed
from evaluation.models import TrainedModel
from evaluation.services.serving import recommend
from evaluation.services.training import train_on_everything
from tests.approval import assert_page_approved
from tests.factories.accounts import UserFactory
from tests.factories.catalog import make_parsed, make_version
from tests.factories.evaluation import make_run_at

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


def address(version: DatasetVersion) -> str:
    return reverse("evaluation:try", args=(version.dataset.name, version.number))


def words(html: str) -> str:
    return unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html)))


def train(version: DatasetVersion, algorithm: str, **params: object) -> TrainedModel:
    return train_on_everything(version=version, algorithm=algorithm, params=params, seed=1, threads=1).model


@pytest.fixture
def version() -> DatasetVersion:
    return make_version()


@pytest.fixture
def page(client: Client) -> Any:
    """Fetches the page of a version as a researcher."""
    client.force_login(UserFactory())

    def fetch(version: DatasetVersion, query: dict[str, Any] | None = None, **headers: str) -> str:
        response = client.get(address(version), query or {}, headers=headers)
        assert response.status_code == 200
        return response.content.decode()

    return fetch


def test_page_asks_for_a_sign_in_and_knows_only_its_own_versions(client: Client, version: DatasetVersion) -> None:
    url = address(version)
    assert client.get(url).url == f"{reverse('accounts:sign_in')}?next={url}"
    client.force_login(UserFactory())
    assert client.get(url.replace("/1/", "/9/")).status_code == 404
    assert client.post(url).status_code == 405


def test_version_without_models_says_what_goes_there(page: Any, version: DatasetVersion) -> None:
    html = page(version)
    assert_page_approved("evaluation/preview-without-models", html)
    assert "<form id=" not in html


def test_bare_address_chooses_the_newest_runs_models_and_asks_for_a_rating(page: Any, version: DatasetVersion) -> None:
    run = make_run_at("succeeded", version=version)
    html = page(version)
    for algorithm in run.algorithms.all():
        assert re.search(rf'value="{algorithm.model_id}"[^>]*checked', html)
        assert f"{algorithm.label} · run {run.pk}" in words(html)
    assert_page_approved("evaluation/preview-without-ratings", html)


def test_search_finds_items_to_rate_and_leaves_out_rated_ones(page: Any, version: DatasetVersion) -> None:
    model = train(version, "toppop")
    html = page(version, {"q": "Film 07", "model": model.pk, "n": 3})
    assert "Film 07" in words(html.split('id="found"')[1].split("</ul>")[0])
    html = page(version, {"q": "Film 07", "model": model.pk, "n": 3, "r6": 4})
    assert "Film 07" not in words(html.split('id="found"')[1].split("</ul>")[0])
    assert "No items match" in words(page(version, {"q": "zzzzqqqq", "model": model.pk}))


def test_htmx_is_given_the_found_items_alone(page: Any, version: DatasetVersion) -> None:
    train(version, "toppop")
    part = page(version, {"q": "Film 07"}, **{"HX-Request": "true", "HX-Target": "found"})
    assert part.lstrip().startswith("<ul")
    assert "Film 07" in part
    whole = page(
        version,
        {"q": "Film 07"},
        **{"HX-Request": "true", "HX-Target": "found", "HX-History-Restore-Request": "true"},
    )
    assert "<html" in whole


def test_lists_of_several_models_stand_side_by_side_with_their_reasons(page: Any, version: DatasetVersion) -> None:
    chosen = [train(version, "corngr", shrinkage=1), train(version, "toppop"), train(version, "puresvd", factors=4)]
    html = page(version, {"model": [one.pk for one in chosen], "n": 4, "r0": 5, "r3": 1, "r8": 4})
    articles = html.split("<article")[1:]
    assert len(articles) == 3
    served = [
        recommend(model=one, items=[0, 3, 8], ratings=[5.0, 1.0, 4.0], scale=(1.0, 5.0, 1.0), n=4) for one in chosen
    ]
    for article, model, given in zip(articles, chosen, served, strict=True):
        said = words(article)
        assert f"> {model.label} " in f"> {said.split('> ', 1)[-1]}"
        places = [said.index(f"Film {item + 1:02d}") for item in given.items]
        assert places == sorted(places)
    neighbours, popular, factors = (words(article) for article in articles)
    assert_page_approved("evaluation/preview", html)
    assert "Baseline" in neighbours
    assert "Baseline" not in factors
    assert "Why" not in popular
    assert re.search(r"Film 01 \+\d\.\d{3}", factors)
    assert "had no effect" not in factors
    assert articles[2].count("<rect") == 4 * 3


def test_rating_that_counts_against_says_so_beside_its_colour(page: Any, version: DatasetVersion) -> None:
    model = train(version, "nncosngr")
    html = page(version, {"model": model.pk, "r0": 5, "r3": 1})
    assert '<li class="against">' in html
    assert re.search(r"Film 04 lowers .* −\d", words(html))


def test_filled_places_are_marked(page: Any, version: DatasetVersion) -> None:
    model = train(version, "itemitem")
    html = page(version, {"model": model.pk, "r3": 1, "n": 2})
    assert_page_approved("evaluation/preview-filled", html)
    assert words(html).count("filled by popularity") == 2


def test_strongest_alone_and_independent_chances_are_said(page: Any, version: DatasetVersion) -> None:
    largest, noisy = train(version, "itemitem"), train(version, "itemitem", aggregate="noisy-or")
    assert "strongest" in words(page(version, {"model": largest.pk, "r0": 5}))
    assert "independent" in words(page(version, {"model": noisy.pk, "r0": 5}))


def test_taking_back_is_an_address_without_the_rating(page: Any, version: DatasetVersion) -> None:
    model = train(version, "toppop")
    html = page(version, {"q": "film", "model": model.pk, "n": 3, "r0": 5, "r3": 1})
    assert f'href="?q=film&amp;model={model.pk}&amp;n=3&amp;r3=1"' in html
    assert re.search(r'id="star-0-5" checked', html)
    assert re.search(r'id="star-3-1" checked', html)


@pytest.mark.parametrize(
    ("case", "query"),
    [
        ("rating-off-the-scale", {"r0": "6"}),
        ("rating-between-steps", {"r0": "2.5"}),
        ("unknown-item", {"r40": "3"}),
        ("list-too-long", {"r0": "3", "n": "21"}),
        ("no-model", {"r0": "3", "model": []}),
        ("unknown-model", {"r0": "3", "model": ["999999"]}),
    ],
)
def test_wrong_address_is_answered_without_lists(
    page: Any, version: DatasetVersion, case: str, query: dict[str, Any]
) -> None:
    model = train(version, "toppop")
    html = page(version, {"model": model.pk, "n": 5, **query})
    assert_page_approved(f"evaluation/preview-{case}", html)
    assert "<article" not in html


def test_at_most_seven_models_and_fifty_ratings(page: Any) -> None:
    version = make_version(n_items=60)
    models = [train(version, "puresvd", factors=factors).pk for factors in range(1, 9)]
    assert "7 models; 8 are" in words(page(version, {"model": models, "r0": 5}))
    many = {f"r{index}": 3 for index in range(51)}
    assert "51 are rated" in words(page(version, {"model": models[0], **many}))


def test_unrated_radio_and_foreign_parameters_are_no_ratings(page: Any, version: DatasetVersion) -> None:
    model = train(version, "toppop")
    html = page(version, {"model": model.pk, "r0": "", "rating": "5", "r": "5"})
    assert "<article" not in html


def test_usage_data_have_one_star(page: Any) -> None:
    parsed = make_parsed()
    ones = dataclasses.replace(parsed, values=np.ones_like(parsed.values))
    version = import_parsed(parsed=ones, name="used", title="Used", source_format="factory", is_synthetic=True)
    version.scale_high = version.scale_low  # a single point, as usage data are written
    version.save()
    model = train(version, "itemitem")
    html = page(version, {"model": model.pk, "r0": 1})
    assert_page_approved("evaluation/preview-usage", html)
    assert html.count('name="r0"') == 1
    assert "<article" in html
    assert "<article" not in page(version, {"model": model.pk, "r0": 5})


@pytest.mark.parametrize("n_rated", [1, 3])
def test_page_takes_the_same_queries_however_much_is_rated(
    client: Client, version: DatasetVersion, n_rated: int, django_assert_num_queries: Any
) -> None:
    model = train(version, "puresvd", factors=4)
    client.force_login(UserFactory())
    query = {"model": model.pk, **{f"r{index}": 4 for index in range(n_rated)}}
    client.get(address(version), query)  # the search index is built once a process
    with django_assert_num_queries(7):  # session, account, version, models, uses, listed, rated; items found are kept
        client.get(address(version), query)


def test_controls_have_labels_and_nothing_is_inline(page: Any, version: DatasetVersion) -> None:
    model = train(version, "nncosngr")
    html = page(version, {"model": model.pk, "r0": 5, "r3": 1})
    labelled = set(re.findall(r'<label\b[^>]*\bfor="([^"]+)"', html))
    for tag in re.findall(r"<input[^>]*>", html):
        if 'type="radio"' in tag or 'type="hidden"' in tag:
            continue
        (ident,) = re.findall(r'\bid="([^"]+)"', tag)
        assert ident in labelled
    idents = re.findall(r'\bid="([^"]+)"', html)
    assert len(idents) == len(set(idents))
    assert html.count("<h1>") == 1
    assert set(re.findall(r'aria-labelledby="([^"]+)"', html)) <= set(idents)
    assert "style=" not in html
    assert not re.search(r"\son\w+=", html)


def test_run_and_dataset_lead_to_the_page(client: Client) -> None:
    run = make_run_at("succeeded")
    client.force_login(UserFactory())
    html = client.get(reverse("evaluation:detail", args=(run.pk,))).content.decode()
    models = [algorithm.model_id for algorithm in run.algorithms.order_by("position")]
    url = address(run.version)
    assert f'href="{url}?{"&amp;".join(f"model={one}" for one in models)}"' in html
    for one in models:
        assert f'href="{url}?model={one}"' in html
    assert f'href="{url}"' in client.get(run.version.get_absolute_url()).content.decode()


def test_list_of_models_says_what_each_was_trained_on_and_who_measured_it(
    client: Client, version: DatasetVersion, django_assert_max_num_queries: Any
) -> None:
    client.force_login(UserFactory())
    url = reverse("evaluation:models")
    assert_page_approved("evaluation/models-none", client.get(url).content.decode())
    alone = train(version, "puresvd", factors=2)
    run = make_run_at("succeeded", version=version, algorithms="toppop")
    with django_assert_max_num_queries(8):
        html = client.get(url).content.decode()
    body = html[html.index("<tbody>") : html.index("</tbody>")]
    rows = body.split("<tr>")[1:]
    assert len(rows) == 2
    (of_run,) = (row for row in rows if reverse("evaluation:detail", args=[run.pk]) in row)
    (by_itself,) = (row for row in rows if "no run" in row)
    assert "TopPop" in of_run
    assert f"?model={alone.pk}" in by_itself
    assert "Factors 2" in words(by_itself)
    assert alone.digest[:12] in by_itself
