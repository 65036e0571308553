"""The form of a new run: proposals that fit the dataset, rows that come and go, and cases that are counted."""

from __future__ import annotations

import html
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest
from django.http import QueryDict
from django.test import Client
from django.urls import reverse
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.forms.algorithm_rows import AlgorithmRows, picker
from evaluation.forms.choice_cards import ChoiceCards
from evaluation.forms.split_choice import PROTOCOL_KINDS, SPLIT_KINDS, WRAPPER, SplitChoice, protocol_cards
from evaluation.models import EvaluationRun
from evaluation.protocols.registry import PROTOCOLS
from evaluation.run_spec import named_algorithms, written
from evaluation.services import case_counts as counting
from evaluation.services.case_counts import case_counts
from evaluation.splitting.registry import SPLITS
from recommenders import registry
from recommenders.parameters import ParameterInfo
from tests.factories.accounts import UserFactory
from tests.factories.catalog import make_version
from tests.factories.evaluation import make_run, run_fields, work_off

MANY = 10_000
LETTERS = st.text("abcdefghijklmnopqrstuvwxyz-", min_size=1, max_size=9).filter(lambda text: text.strip("-"))


def values_of(info: ParameterInfo) -> st.SearchStrategy[Any]:
    """The values that a parameter may have, as its description states them."""
    if info.type is bool:
        return st.booleans()
    if info.choices:
        return st.sampled_from(info.choices)
    if info.type is str:
        return LETTERS
    low, high = info.minimum or 0, MANY if info.maximum is None else info.maximum
    if info.type is int:
        return st.integers(int(low), int(high))
    return st.floats(low, high, allow_nan=False)


def posted_values(described: tuple[ParameterInfo, ...]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({info.name: values_of(info) for info in described})


def query(fields: dict[str, Any], prefix: str = "") -> QueryDict:
    """Fields as a browser posts them: an unticked box is missing, and a number is text."""
    said = {f"{prefix}{name}": "on" if value is True else value for name, value in fields.items() if value is not False}
    return QueryDict(urlencode(said, doseq=True))


@pytest.mark.unit
class TestRoundTrip:
    @pytest.mark.parametrize("key", [key for key in registry.keys() if key != "expected-utility"])  # noqa: SIM118
    def test_algorithm_from_fields_to_text_and_back(self, key: str) -> None:
        described = registry.algorithm(key).Params.described()

        @settings(max_examples=25, deadline=None)
        @given(posted_values(described))
        def check(values: dict[str, Any]) -> None:
            said = {"row": f"3:{key}", **query(values, "row3-").dict()}
            rows = AlgorithmRows.posted(query(said), is_checked=True)
            if rows.rows[0].form.errors:  # values that do not go together
                return
            assert registry.params_of(key, rows.named_settings()[0][1]) == registry.params_of(key, values)
            text = written(rows.named_settings())
            assert AlgorithmRows.of(named_algorithms(text)).named_settings() == rows.named_settings()

        check()

    def test_algorithm_on_top_of_another_names_it_with_its_options(self) -> None:
        text = "expected-utility:scorer=puresvd:factors=7,utility=given, toppop"
        rows = AlgorithmRows.of(named_algorithms(text))
        assert [key for key, _ in rows.named_settings()] == ["expected-utility", "toppop"]
        assert written(rows.named_settings()) == text

    @pytest.mark.parametrize("is_divided", [False, True])
    @pytest.mark.parametrize("kind", SPLIT_KINDS, ids=lambda kind: kind.key)
    def test_split_from_fields_to_settings_and_back(self, kind: Any, is_divided: bool) -> None:
        own = posted_values(WRAPPER.options.described())

        @settings(max_examples=25, deadline=None)
        @given(posted_values(tuple(kind.described)), own)
        def check(values: dict[str, Any], development: dict[str, Any]) -> None:
            said = {"split": kind.key, **query(values, f"split-{kind.key}-").dict()}
            said |= query({"divide": is_divided, **development}, f"{WRAPPER.key}-").dict()
            choice = SplitChoice.posted(query(said), is_checked=True)
            if any(form.errors for form in choice.forms) or choice.problem():
                return
            assert SplitChoice.of(choice.settings()).settings() == choice.settings()
            assert choice.settings()["name"] == (WRAPPER.key if is_divided else kind.key)

        check()

    @pytest.mark.parametrize("kind", PROTOCOL_KINDS, ids=lambda kind: kind.key)
    def test_protocol_from_fields_to_settings_and_back(self, kind: Any) -> None:
        @settings(max_examples=25, deadline=None)
        @given(posted_values(tuple(kind.described)))
        def check(values: dict[str, Any]) -> None:
            said = {"protocol": kind.key, **query(values, f"protocol-{kind.key}-").dict()}
            choice = ChoiceCards.posted("protocol", PROTOCOL_KINDS, query(said), is_checked=True)
            assert not choice.chosen.form.errors
            assert protocol_cards(choice.settings()).settings() == choice.settings()

        check()

    def test_every_registered_name_is_offered_once(self) -> None:
        offered = [key for _, members in picker() for key, _ in members]
        assert sorted(offered) == sorted(registry.keys())
        assert {kind.key for kind in SPLIT_KINDS} == set(SPLITS) - {WRAPPER.key}
        assert [kind.key for kind in PROTOCOL_KINDS] == list(PROTOCOLS)


@pytest.fixture
def signed_in(client: Client) -> Client:
    make_version()
    client.force_login(UserFactory())
    return client


NEW = "evaluation:new"


@pytest.mark.integration
@pytest.mark.django_db
class TestPage:
    def test_row_is_added_without_checking_or_losing_anything(self, signed_in: Client) -> None:
        fields = run_fields(row=["0:puresvd"], seed="x", **{"row0-factors": "many"}, step="add", algorithm="ials")
        form = signed_in.post(reverse(NEW), fields).context["form"]
        assert [row.id for row in form.custom.algorithms.rows] == ["0:puresvd", "1:ials"]
        assert not form.is_bound
        assert form.custom["seed"].value() == "x"
        assert form.custom.algorithms.rows[0].form["factors"].value() == "many"
        assert not EvaluationRun.objects.exists()

    def test_re_ranked_algorithm_is_added_behind_its_row_with_its_parameters(self, signed_in: Client) -> None:
        fields = run_fields(row=["0:puresvd", "4:toppop"], **{"row0-factors": "7", "rerank-0": "mmr"}, step="rerank-0")
        page = signed_in.post(reverse(NEW), fields)
        rows = page.context["form"].custom.algorithms.rows
        assert [row.id for row in rows] == ["0:puresvd", "5:puresvd|mmr", "4:toppop"]
        assert rows[1].form["factors"].value() == "7"
        assert {"mmr_strength", "mmr_kinds"} <= rows[1].form.fields.keys()
        assert 'id="rerank-5"' not in page.text  # a list is re-ranked once
        unknown = signed_in.post(reverse(NEW), {**fields, "rerank-0": "bubble-sort"}).context["form"]
        assert [row.id for row in unknown.custom.algorithms.rows] == ["0:puresvd", "4:toppop"]

    def test_row_is_removed(self, signed_in: Client) -> None:
        fields = run_fields(row=["0:puresvd", "5:toppop"], **{"row0-factors": "7"}, step="remove-5")
        form = signed_in.post(reverse(NEW), fields).context["form"]
        assert [row.label for row in form.custom.algorithms.rows] == ["PureSVD7"]

    def test_settings_as_text_fill_the_fields_in(self, signed_in: Client) -> None:
        texts = {"algorithms": "puresvd:factors=9,toppop", "split": "holdout:share=.3", "protocol": "full-ranking"}
        form = signed_in.get(reverse(NEW), texts).context["form"]
        assert form["kind"].value() == "custom"
        assert form.custom.algorithms.named_settings() == [("puresvd", {"factors": 9}), ("toppop", {})]
        assert form.custom.split.settings() == {"name": "holdout", "share": 0.3}
        assert form.custom.protocol.settings() == {"name": "full-ranking"}

    def test_limits_in_the_text_move_the_handles(self, signed_in: Client) -> None:
        form = signed_in.get(reverse(NEW), {"protocol": "full-ranking:relevant=4,irrelevant=2"}).context["form"]
        assert (form["disliked"].value(), form["liked"].value()) == ("2", "4")

    @pytest.mark.parametrize("text", ["best", "puresvd:factors=0", "toppop:x"])
    def test_invalid_text_is_refused_and_stays(self, signed_in: Client, text: str) -> None:
        page = signed_in.get(reverse(NEW), {"algorithms": text})
        assert page.context["form"].text_problem in html.unescape(page.text)
        assert f'value="{text}"' in page.text

    def test_error_stands_beside_its_field_with_its_label_and_in_the_summary(self, signed_in: Client) -> None:
        page = signed_in.post(reverse(NEW), run_fields(row=["3:puresvd"], **{"row3-factors": "0"})).content.decode()
        assert '<a\n  href="#id_row3-factors">Factors</a>: Ensure this value is greater than or equal to 1.' in page
        assert "<strong>Factors:</strong> Ensure this value is greater than or equal to 1." in page
        assert 'aria-invalid="true"' in page
        assert 'aria-describedby="id_row3-factors_helptext id_row3-factors_error"' in page

    def test_split_of_many_models_cannot_be_divided(self, signed_in: Client) -> None:
        page = signed_in.post(reverse(NEW), run_fields(split="k-fold", **{"dev-eval-divide": "on"})).content.decode()
        assert "k-fold trains several" in page
        assert not EvaluationRun.objects.exists()

    def test_repetitions_differ_in_the_seed_alone(self, signed_in: Client) -> None:
        signed_in.post(reverse(NEW), run_fields(repeats=3))
        runs = list(EvaluationRun.objects.all())
        assert len({run.seed for run in runs}) == len(runs) == 3
        assert len({str((run.split, run.protocol)) for run in runs}) == 1

    def test_count_warns_before_the_run_starts(self, signed_in: Client) -> None:
        fields = run_fields(**{"protocol-one-plus-random-negatives": "1000"})
        page = signed_in.post(reverse("evaluation:count"), fields).content.decode()
        assert "Fewer candidates than requested." in page
        assert "Fewer candidates" not in signed_in.post(reverse("evaluation:count"), run_fields()).content.decode()
        assert not EvaluationRun.objects.exists()

    def test_count_says_why_there_is_none(self, signed_in: Client) -> None:
        page = signed_in.post(reverse("evaluation:count"), run_fields(split="temporal-global")).content.decode()
        assert "time" in page
        assert "Test users" not in page
        invalid = signed_in.post(reverse("evaluation:count"), run_fields(reserve="x")).content.decode()
        assert "once the settings are valid" in invalid


@pytest.mark.integration
@pytest.mark.django_db(transaction=True)
class TestCounts:
    LIMITS = {"relevant": 4.0, "irrelevant": 2.0}

    @pytest.mark.parametrize(
        ("split", "protocol"),
        [
            ({"name": "probe", "share": 0.2}, {"name": "one-plus-random", "negatives": 20, **LIMITS}),
            ({"name": "given-n", "n": 5}, {"name": "full-ranking", **LIMITS}),
            ({"name": "k-fold", "k": 3}, {"name": "rating-prediction", **LIMITS}),
        ],
    )
    def test_counts_are_those_of_the_run(self, split: dict[str, Any], protocol: dict[str, Any]) -> None:
        run = work_off(make_run(split=split, protocol=protocol))
        counts = case_counts(version=run.version, split=split, protocol=protocol, reserved=run.reserve, seed=run.seed)
        assert counts.cases == run.n_relevant + run.n_irrelevant
        assert not counts.is_estimate

    def test_sample_of_a_large_dataset_estimates_the_counts(self, monkeypatch: pytest.MonkeyPatch) -> None:
        version = make_version(n_users=800)
        said: dict[str, Any] = {"version": version, "reserved": 0.1, "seed": 3}
        said |= {"protocol": {"name": "one-plus-random", "negatives": 20, **self.LIMITS}}
        for split in ({"name": "probe", "share": 0.2}, {"name": "all-but-n", "test_users": 300}):
            counting._counted.cache_clear()
            exact = case_counts(split=split, **said)
            monkeypatch.setattr(counting, "MOST_RATINGS", 5000)
            counting._counted.cache_clear()
            estimate = case_counts(split=split, **said)
            monkeypatch.undo()
            assert (exact.is_estimate, estimate.is_estimate) == (False, True)
            assert np.isclose(estimate.cases, exact.cases, rtol=0.2)
            assert np.isclose(estimate.users, exact.users, rtol=0.2)
            assert estimate.candidates == exact.candidates


@pytest.mark.django_db
def test_a_link_chooses_the_dataset() -> None:
    make_version(name="first")
    make_version(name="second")
    client = Client()
    client.force_login(UserFactory(), backend="django.contrib.auth.backends.ModelBackend")
    for name in ("first", "second"):
        page = client.get(reverse("evaluation:new"), {"dataset": name})
        assert f'<option value="{name}" selected>' in page.text
