"""Pages of the runs: what they say in each state, and who may do what."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import User
from catalog.services import import_parsed
from evaluation.enums import RunStatus
from evaluation.experiments.yaml_loader import load, shipped
from evaluation.models import EvaluationRun
from evaluation.selectors.results import model_rows
from evaluation.tables import share
from recommenders import registry
from tests.approval import assert_page_approved
from tests.factories.accounts import UserFactory
from tests.factories.catalog import make_parsed, make_version
from tests.factories.evaluation import make_run, make_run_at, run_fields
from tests.factories.pages import MEASURED

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


@pytest.fixture
def alice() -> User:
    return UserFactory()


@pytest.fixture
def page(client: Client, alice: User) -> Any:
    """Fetches a page as Alice and gives its text."""
    client.force_login(alice)

    def fetch(name: str, **kwargs: Any) -> str:
        response = client.get(reverse(f"evaluation:{name}", kwargs=kwargs or None))
        assert response.status_code == 200
        return response.content.decode()

    return fetch


def words(html: str) -> str:
    """The text of a page without tags, in single spaces."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))


def test_pages_ask_for_a_sign_in(client: Client) -> None:
    run = make_run()
    for name, kwargs in (
        ("list", None),
        ("new", None),
        ("detail", {"pk": run.pk}),
        ("progress", {"pk": run.pk}),
        ("json", {"pk": run.pk}),
    ):
        url = reverse(f"evaluation:{name}", kwargs=kwargs)
        assert client.get(url).url == f"{reverse('accounts:sign_in')}?next={url}"
    assert client.post(reverse("evaluation:cancel", kwargs={"pk": run.pk})).status_code == 302
    run.refresh_from_db()
    assert run.status == RunStatus.QUEUED


def test_empty_list_says_what_goes_there(page: Any) -> None:
    assert_page_approved("evaluation/runs-none", page("list"))


def test_list_shows_each_run_with_its_state_in_words(page: Any) -> None:
    version = make_version()
    for status in RunStatus.values:
        make_run_at(status, version=version)
    html = page("list")
    for run in EvaluationRun.objects.all():
        assert f'<a href="{reverse("evaluation:detail", kwargs={"pk": run.pk})}">Run {run.pk}</a>' in html
    assert re.findall(r'class="state">(\w+)<', html) == ["Cancelled", "Failed", "Succeeded", "Running", "Queued"]
    assert html.count("synthetic ratings") == 5
    assert html.count("<td>One plus random</td>") == 5


@pytest.mark.parametrize("n_runs", [1, 3])
def test_list_takes_the_same_queries_however_long(
    client: Client, alice: User, django_assert_num_queries: Any, n_runs: int
) -> None:
    version = make_version()
    for seed in range(n_runs):
        make_run_at("running", version=version, seed=seed, owner=alice)
    client.force_login(alice)
    with django_assert_num_queries(5):  # session, account, datasets, count, runs
        client.get(reverse("evaluation:list"))


def test_queued_run_asks_for_its_progress_and_shows_none(page: Any) -> None:
    run = make_run()
    html = page("detail", pk=run.pk)
    assert f'hx-get="{reverse("evaluation:progress", kwargs={"pk": run.pk})}"' in html
    assert 'hx-trigger="every 1500ms"' in html
    assert_page_approved("evaluation/run-queued", html, MEASURED)
    assert '<progress max="1" value="0"' in html


def test_running_run_says_what_it_is_doing_and_how_far_it_is(page: Any) -> None:
    run = make_run_at("running")
    EvaluationRun.objects.filter(pk=run.pk).update(activity="Fitting PureSVD4")
    html = page("progress", pk=run.pk)
    assert "Fitting PureSVD4." in html
    assert '<progress max="10" value="1"' in html
    assert "1 of 10 parts" in words(html)


def test_progress_of_a_run_that_is_over_has_the_page_loaded_again(client: Client, alice: User) -> None:
    run = make_run_at("succeeded")
    client.force_login(alice)
    response = client.get(reverse("evaluation:progress", kwargs={"pk": run.pk}))
    assert response["HX-Refresh"] == "true"
    assert "hx-get" not in response.content.decode()
    running = client.get(reverse("evaluation:progress", kwargs={"pk": make_run_at("running", seed=2).pk}))
    assert "HX-Refresh" not in running


def test_succeeded_run_shows_table_two_the_curves_and_where_numbers_come_from(page: Any) -> None:
    run = make_run_at("succeeded")
    html = page("detail", pk=run.pk)
    said = words(html)
    for length in (0, 5):
        for row in model_rows(run, length):
            line = " ".join(share(row.cells[name].value) for name in ("recall", "fallout", "precision-raghavan", "f"))
            assert f"{row.label} {line}" in said
            assert row.model_hash in html
    assert_page_approved("evaluation/run-succeeded", html, MEASURED)
    assert run.inputs_hash in html
    assert run.cases_digest in html
    assert f"{run.n_relevant} hidden ratings" in said
    assert "reserved users 6" in said
    for key in ("recall", "fallout"):
        spec = json.loads(re.search(rf'<script id="chart-{key}" type="application/json">(.*?)</script>', html).group(1))
        assert set(spec) == {"light", "dark"}
        assert spec["light"]["title"]["subtitle"] == key.capitalize()
    recall = {row.label: row.cells["recall"].value or 0.0 for row in model_rows(run)}
    best = max(recall, key=lambda label: recall[label])
    assert f"recall, {share(recall[best])} in" in html


def test_page_says_below_the_table_which_models_had_been_there_before(page: Any) -> None:
    first = make_run_at("succeeded", algorithms="toppop", profile_lengths=())
    assert "Reused models" not in page("detail", pk=first.pk)
    again = make_run_at("succeeded", version=first.version, algorithms="toppop,random", profile_lengths=())
    said = words(page("detail", pk=again.pk))
    assert "recipe: TopPop." in said
    assert f"{100 * again.reserve:g}% of all" in said


def test_page_holds_nothing_inline_that_its_policy_forbids(page: Any) -> None:
    html = page("detail", pk=make_run_at("succeeded").pk)
    assert "style=" not in html
    assert not re.search(r"<script(?![^>]*(src=|type=\"application/json\"))", html)
    assert not re.search(r"\son\w+=", html)


def test_failed_run_says_why(page: Any) -> None:
    html = page("detail", pk=make_run_at("failed").pk)
    assert_page_approved("evaluation/run-failed", html, MEASURED)
    assert "hx-get" not in html.partition("<main")[2]


def test_run_without_irrelevant_cases_says_that_there_is_nothing_to_draw(page: Any) -> None:
    protocol = {"name": "one-plus-random", "negatives": 20, "relevant": 1.5, "irrelevant": 1.0}
    run = make_run_at("succeeded", protocol=protocol, split={"name": "probe", "share": 0.01}, seed=4)
    assert run.n_irrelevant == 0
    assert_page_approved("evaluation/run-without-irrelevant-cases", page("detail", pk=run.pk), MEASURED)


def test_owner_cancels_and_another_researcher_may_not(client: Client, alice: User) -> None:
    run = make_run(owner=alice)
    url = reverse("evaluation:cancel", kwargs={"pk": run.pk})
    bob = UserFactory()
    client.force_login(bob)
    assert "Cancel the run" not in client.get(reverse("evaluation:detail", kwargs={"pk": run.pk})).content.decode()
    assert client.post(url).status_code == 403
    client.force_login(alice)
    assert client.get(url).status_code == 405
    said = client.post(url, follow=True).content.decode()
    assert_page_approved("evaluation/run-cancelled", said, MEASURED)
    run.refresh_from_db()
    assert run.status == RunStatus.CANCELLED
    assert "cannot become cancelled" in client.post(url, follow=True).content.decode()


def test_staff_cancels_a_run_that_a_command_started(client: Client) -> None:
    run = make_run()
    client.force_login(UserFactory(is_staff=True))
    client.post(reverse("evaluation:cancel", kwargs={"pk": run.pk}))
    run.refresh_from_db()
    assert run.status == RunStatus.CANCELLED


def test_form_makes_a_run_of_its_rows(client: Client, alice: User) -> None:
    make_version()
    client.force_login(alice)
    rows = {"row": ["0:toppop", "4:puresvd", "2:puresvd"], "row4-factors": "4", "row2-factors": "6"}
    response = client.post(reverse("evaluation:new"), run_fields(**rows))
    run = EvaluationRun.objects.get()
    assert response.url == reverse("evaluation:detail", kwargs={"pk": run.pk})
    assert run.owner == alice
    assert list(run.algorithms.values_list("label", flat=True)) == ["TopPop", "PureSVD4", "PureSVD6"]
    assert (run.split["share"], run.reserve, run.protocol["negatives"], run.seed) == (0.2, 0.1, 20, 1)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"row": []}, "Name at least one algorithm"),
        ({"liked": 2}, "Liked ratings have to be above disliked ones"),
        ({"liked": 11}, "11 is not one of the available choices"),
        ({"split": "k-fold", "split-k-fold-k": 900}, "a run trains at most 500"),
        ({"split-probe-share": "", "split-probe-list": "/etc/hostname"}, "Pass files to the command evaluate"),
        ({"protocol": "full-ranking", "metrics": "rmse"}, "does not measure rmse"),
        ({"metrics": "beauty"}, "beauty"),
    ],
)
def test_form_says_what_is_wrong_and_keeps_what_was_typed(
    client: Client, alice: User, changes: dict[str, Any], said: str
) -> None:
    make_version()
    client.force_login(alice)
    html = client.post(reverse("evaluation:new"), run_fields(**changes)).content.decode()
    assert said in html
    assert 'name="protocol-one-plus-random-negatives" value="20"' in html
    assert not EvaluationRun.objects.exists()


def test_form_gives_a_protocol_the_settings_that_it_has(client: Client, alice: User) -> None:
    make_version()
    client.force_login(alice)
    client.post(
        reverse("evaluation:new"),
        run_fields(
            protocol="full-ranking",
            metrics="ndcg@10, map@10",
            task="all",
        ),
    )
    run = EvaluationRun.objects.get()
    assert run.protocol == {
        "name": "full-ranking",
        "relevant": 4.0,
        "irrelevant": 2.0,
        "known": "left-out",
        "utility": "rating",
    }
    assert run.metrics == ["ndcg@10(gain=linear)", "ap@10(over=relevant)"]
    assert run.task == "all"


def test_stopped_run_is_taken_up_again_by_its_owner_alone(client: Client, alice: User) -> None:
    run = make_run_at("failed", owner=alice)
    url = reverse("evaluation:resume", kwargs={"pk": run.pk})
    client.force_login(UserFactory())
    assert "Resume" not in client.get(run_page(run)).content.decode()
    assert client.post(url).status_code == 403
    client.force_login(alice)
    assert "Resume" in client.get(run_page(run)).content.decode()
    assert "was resumed" in client.post(url, follow=True).content.decode()
    run.refresh_from_db()
    assert run.status == RunStatus.QUEUED
    assert "cannot become queued" in client.post(url, follow=True).content.decode()


def run_page(run: EvaluationRun) -> str:
    return reverse("evaluation:detail", kwargs={"pk": run.pk})


@pytest.mark.parametrize(
    ("protocol", "algorithms"),
    [
        ("full-ranking", "toppop,random"),
        ("test-observations", "toppop,random"),
        ("rating-prediction", "toppop,asysvd:factors=2,epochs=2"),
        ("unconstrained", "toppop,random"),
    ],
)
def test_page_shows_what_the_protocol_measured(page: Any, protocol: str, algorithms: str) -> None:
    run = make_run_at(
        "succeeded",
        protocol={"name": protocol, "relevant": 4.0, "irrelevant": 2.0},
        algorithms=algorithms,
        profile_lengths=(),
    )
    assert_page_approved(f"evaluation/run-{protocol}", page("detail", pk=run.pk), MEASURED)


def test_page_of_a_run_with_development_users_says_what_was_chosen_on_whom(page: Any) -> None:
    run = make_run_at("succeeded", split={"name": "dev-eval", "of": "holdout", "share": 0.3}, profile_lengths=())
    assert_page_approved("evaluation/run-with-development-users", page("detail", pk=run.pk), MEASURED)


def test_tests_page_gives_letters_and_every_pair(page: Any, client: Client) -> None:
    run = make_run_at("succeeded", algorithms="toppop,puresvd:factors=4,random", profile_lengths=())
    assert_page_approved("evaluation/run-tests", page("tests", pk=run.pk))
    url = reverse("evaluation:tests", kwargs={"pk": run.pk})
    assert "<strong>Bonferroni</strong>" in client.get(url, {"correction": "bonferroni"}).content.decode()
    assert client.get(url, {"correction": "none"}).status_code == 404
    assert client.get(url, {"test": "guess"}).status_code == 404
    assert "Rank-biserial r" in client.get(url, {"test": "signed-rank"}).content.decode()
    assert_page_approved("evaluation/run-tests-ranks", client.get(url, {"test": "nemenyi"}).content.decode())
    queued = client.get(reverse("evaluation:tests", kwargs={"pk": make_run(seed=9).pk}), follow=True)
    assert "no results yet" in queued.content.decode()


@pytest.mark.parametrize("seed", [14, 18])
def test_tests_page_sorts_by_the_values_it_shows_best_first(page: Any, seed: int) -> None:
    """Where a few users have most cases, means over users order recall (14) and fallout (18) otherwise than pooling."""
    parsed = make_parsed(per_user=30)
    is_kept = (parsed.users % 6 == 0) | (np.arange(len(parsed.users)) % 30 % 6 == 0)
    columns = {name: getattr(parsed, name)[is_kept] for name in ("users", "items_rated", "values")}
    version = import_parsed(
        parsed=replace(parsed, **columns), name="uneven", title="Uneven", source_format="factory", is_synthetic=True
    )
    run = make_run_at(
        "succeeded",
        version=version,
        algorithms="toppop,random,itemitem,popularity-likes",
        split={"name": "probe", "share": 0.4},
        reserve=0.0,
        profile_lengths=(),
        seed=seed,
    )
    html = page("tests", pk=run.pk)
    sections = re.findall(r"<h2 id=\"test-\d\">(?:<a[^>]*>)?(\w+)(?:</a>)?</h2>(.*?)</table>", html, flags=re.S)
    assert [name for name, _ in sections] == ["Recall", "Fallout"]
    for name, section in sections:
        values = [
            float(value)
            for value in re.findall(
                r'</th><td data-label="Letters">[a-z]+</td><td\s+class="n" data-label="Value">(\.\d{3}|1\.000)</td>',
                section,
            )
        ]
        assert len(values) == 4
        assert values == sorted(values, reverse=name == "Recall")
        assert f"Best ({'highest' if name == 'Recall' else 'lowest'}) first" in section


def test_pages_say_whether_values_are_pooled_over_cases_or_means_over_users(page: Any, client: Client) -> None:
    run = make_run_at("succeeded")
    other = make_run_at("succeeded", version=run.version, seed=2)
    assert "pooled over" in words(page("detail", pk=run.pk))
    compared = client.get(reverse("evaluation:compare"), {"a": run.pk, "b": other.pk}).content.decode()
    assert_page_approved("evaluation/compare-seeds", compared)


def test_compare_page_puts_two_runs_side_by_side(page: Any, client: Client) -> None:
    assert_page_approved("evaluation/compare-none", page("compare"))
    version = make_version()
    a = make_run_at("succeeded", version=version, profile_lengths=())
    b = make_run_at("succeeded", version=version, profile_lengths=(), seed=2, algorithms="toppop,random")
    url = reverse("evaluation:compare")
    assert_page_approved("evaluation/compare", client.get(url, {"a": a.pk, "b": b.pk}).content.decode())
    other = make_run_at("succeeded", version=make_version(name="other", seed=5), profile_lengths=())
    assert_page_approved("evaluation/compare-datasets", client.get(url, {"a": a.pk, "b": other.pk}).content.decode())


def test_compare_page_asks_for_the_second_run_first(page: Any, client: Client) -> None:
    a = make_run_at("succeeded", profile_lengths=())
    html = client.get(reverse("evaluation:compare"), {"a": a.pk}).content.decode()
    assert_page_approved("evaluation/compare-one", html)
    assert f'<option value="{a.pk}" selected>' in html
    assert "errorlist" not in html


def test_compare_page_shows_the_chosen_metric_and_significant_differences(page: Any, client: Client) -> None:
    page("compare")
    version = make_version()
    a, b = (make_run_at("succeeded", version=version, profile_lengths=(), seed=seed) for seed in (1, 2))
    url, both = reverse("evaluation:compare"), {"a": a.pk, "b": b.pk}
    html = client.get(url, {**both, "metric": "fallout"}).content.decode()
    assert "<td>fallout</td>" in html
    assert "<td>recall</td>" not in html
    none = client.get(url, {"a": a.pk, "b": a.pk, "significant": "on"}).content.decode()
    assert "none is significant" in none
    refused = client.get(url, {**both, "metric": "sales"}).content.decode()
    assert "no metric sales" in refused
    assert "<td>recall</td>" in refused


def test_list_shows_the_runs_asked_for(page: Any, client: Client) -> None:
    page("list")
    first = make_run_at("succeeded", profile_lengths=())
    second = make_run(version=make_version(name="other", seed=5), seed=2)

    def numbers(**query: str) -> list[int]:
        html = client.get(reverse("evaluation:list"), query).content.decode()
        return [int(number) for number in re.findall(r">Run (\d+)</a>", html)]

    assert numbers() == [second.pk, first.pk]
    assert numbers(status="succeeded") == [first.pk]
    assert numbers(dataset="other") == [second.pk]
    assert numbers(protocol="one-plus-random", sort="-created") == [first.pk, second.pk]
    assert numbers(sort="status") == [second.pk, first.pk]
    assert numbers(status="cancelled") == []
    html = client.get(reverse("evaluation:list"), {"status": "asleep"}).content.decode()
    assert_page_approved("evaluation/runs-filtered", html)


def test_results_are_sorted_and_compared_with_a_baseline(page: Any, client: Client) -> None:
    run = make_run_at("succeeded", profile_lengths=())
    page("detail", pk=run.pk)
    url = reverse("evaluation:detail", kwargs={"pk": run.pk})

    def rows(**query: str) -> list[tuple[str, str]]:
        html = client.get(url, query).content.decode()
        return re.findall(r'<tr data-algorithm="(\w+)".*?<td class="n">(\S+)', html, flags=re.S)

    recall = {row.label: row.cells["recall"].value for row in model_rows(run)}
    best_first = sorted(recall, key=lambda label: -round(recall[label] or 0, 3))
    assert [label for label, _ in rows(sort="recall")] == best_first
    assert [label for label, _ in rows(sort="label")] == sorted(recall, key=str.casefold)
    assert [label for label, _ in rows(sort="-label")] == sorted(recall, key=str.casefold, reverse=True)
    worst = best_first[-1]
    assert [label for label, _ in rows(sort="recall", baseline=worst)] == [worst, *best_first[:-1]]
    html = client.get(url, {"baseline": worst, "sort": "recall"}).content.decode()
    assert f"from {worst}, as printed" in html
    assert 'aria-sort="descending"' in html
    assert "as printed" not in client.get(url, {"baseline": "nothing"}).content.decode()


def test_files_of_a_run(client: Client, alice: User) -> None:
    client.force_login(alice)
    run = make_run_at("succeeded", profile_lengths=())
    metrics = b"".join(client.get(reverse("evaluation:metrics_csv", kwargs={"pk": run.pk})).streaming_content).decode()
    lines = metrics.splitlines()
    assert lines[0] == "algorithm,profile_length,metric,n,value,remark"
    recall = next(row.cells["recall"].value for row in model_rows(run) if row.label == "TopPop")
    assert f"TopPop,whole,recall,5,{recall!r}," in lines
    users = b"".join(client.get(reverse("evaluation:users_csv", kwargs={"pk": run.pk})).streaming_content).decode()
    assert users.splitlines()[0] == "user,metric,algorithm,profile_length,value"
    figure = client.get(reverse("evaluation:figure", kwargs={"pk": run.pk, "name": "recall"}))
    assert figure.content.startswith(b"<svg")
    assert client.get(reverse("evaluation:figure", kwargs={"pk": run.pk, "name": "roc"})).status_code == 404
    queued = make_run(seed=2)
    for name, more in (("metrics_csv", {}), ("figure", {"name": "recall"})):
        assert client.get(reverse(f"evaluation:{name}", kwargs={"pk": queued.pk, **more})).status_code == 404


def test_form_offers_every_algorithm_and_says_when_there_is_no_dataset(page: Any) -> None:
    assert "none has been imported yet" in words(page("new"))
    make_version()
    html = page("new")
    for key in registry.keys():  # noqa: SIM118 — a function, not a mapping's
        assert f'<option value="{key}">' in html


def test_json_of_a_run_is_its_document_or_says_why_there_is_none(client: Client, alice: User) -> None:
    client.force_login(alice)
    run = make_run_at("succeeded")
    document = client.get(reverse("evaluation:json", kwargs={"pk": run.pk})).json()
    assert [row["recall"] for row in document["algorithms"]] == [row.cells["recall"].value for row in model_rows(run)]
    queued = client.get(reverse("evaluation:json", kwargs={"pk": make_run(seed=2).pk}))
    assert queued.status_code == 409
    assert queued.json()["code"] in ("run.no_results", "run.not_prepared")


def test_experiments_are_listed_with_their_question_and_command(page: Any) -> None:
    html = page("experiments")
    text = words(html)
    for name in shipped():
        experiment = load(name)
        assert html.count(f'id="{name}"') == 1
        assert f"run_experiment {name} --dataset NAME" in text
        assert experiment.needs_words in text
    assert_page_approved("evaluation/experiments", html)
    assert reverse("evaluation:experiments") in page("list")
