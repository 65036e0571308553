"""Strata and quotas as rows: rows and settings state the same, and rows come and go without losing anything."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

import pytest
from django.test import Client
from django.urls import reverse
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from studies.console.forms.group_rows import (
    GroupRow,
    QuotaRow,
    StratumRow,
    quotas_of,
    rows_of_quotas,
    rows_of_strata,
    strata_of,
)
from studies.design.presets.loader import load_preset
from studies.design.selectors.stated_facts import age_limits
from studies.enums import Role
from studies.models import Study
from studies.settings import read_settings
from tests.factories.studies import make_study

R = TypeVar("R", bound=GroupRow)
STORED = load_preset("cremonesi-2011").settings
QUESTIONS = {"gender": False, "age": False, "seen": True}
WORDS = st.text("abcdefghij ", min_size=1, max_size=8).map(str.strip).filter(bool)
BANDS = (
    st.tuples(st.integers(0, 99), st.integers(0, 99)).map(sorted).map(lambda ends: {"low": ends[0], "high": ends[1]})
)
ANSWERS = st.lists(WORDS, min_size=1, max_size=3, unique=True).map(lambda words: {"answers": ", ".join(words)})


def posted(kind: type[R], rows: Iterable[dict[str, Any]]) -> list[R]:
    """The rows as a browser posts them, checked."""
    forms = [kind(QUESTIONS, row) for row in rows]
    assert all(form.is_valid() for form in forms), [form.errors for form in forms]
    return forms


@pytest.mark.unit
class TestRows:
    def test_strata_of_the_template_are_read_back_as_they_were(self) -> None:
        design = read_settings(STORED)
        rules, shares = strata_of(posted(StratumRow, [*rows_of_strata(design), {}]))
        assert rules == [rule.stored() for rule in design.strata]
        assert [rule["question"] for rule in rules] == ["gender", "age"]
        assert shares == design.expected_shares

    def test_shares_and_answers_of_yes_no_questions(self) -> None:
        rows = [
            {"question": "seen", "name": "knows it", "answers": "Yes", "share": "12.5"},
            {"question": "age", "low": 20, "high": 29, "share": "10"},
            {"question": "seen", "name": "new"},
            {"question": "gender", "answers": "woman, girl"},
        ]
        rules, shares = strata_of(posted(StratumRow, rows))
        assert rules == [
            {"question": "seen", "groups": [{"name": "knows it", "values": [True]}], "rest": "new"},
            {"question": "age", "bands": [[20, 29]]},
            {
                "question": "gender",
                "groups": [{"name": "woman or girl", "values": ["woman", "girl"]}],
                "rest": "all others",
            },
        ]
        assert shares == {"seen": {"knows it": 12.5}, "age": {"20-29": 10.0}}
        design = read_settings({**STORED, "strata": rules, "expected_shares": shares})
        assert strata_of(posted(StratumRow, rows_of_strata(design))) == (rules, shares)

    @settings(max_examples=50, deadline=None)
    @given(st.lists(st.tuples(st.integers(0, 999), st.none() | WORDS, ANSWERS | BANDS, st.none() | BANDS), max_size=4))
    def test_quotas_are_read_back_as_they_were(self, quotas: list[Any]) -> None:
        rows: list[dict[str, Any]] = []
        for most, name, test, other in quotas:
            rows.append({"most": most, "name": name or "", "question": "gender", **test})
            rows += [{"question": "age", **other}] if other else []
        stated = quotas_of(posted(QuotaRow, [*rows, {}]))
        assert [quota["most"] for quota in stated] == [most for most, *_rest in quotas]
        assume(len({quota["name"] for quota in stated}) == len(stated))
        design = read_settings({**STORED, "quotas": stated})
        assert quotas_of(posted(QuotaRow, rows_of_quotas(design))) == stated

    @pytest.mark.parametrize(
        ("rows", "said"),
        [
            ([{"name": "a"}, {"name": "b"}], "has all other answers"),
            ([{"name": "women", "answers": "woman"}, {"low": 20, "high": 34}], "either bands"),
            ([{"low": 20, "high": 34}, {"name": "rest"}], "either bands"),
            ([{"name": "all"}], "either bands"),
        ],
    )
    def test_rows_of_a_question_that_do_not_go_together(self, rows: list[dict[str, Any]], said: str) -> None:
        forms = posted(StratumRow, [{"question": "age", **row} for row in rows])
        strata_of(forms)
        assert said in str(forms[-1].errors)
        assert not any(form.errors for form in forms[:-1])

    def test_first_quota_needs_a_limit(self) -> None:
        (form,) = posted(QuotaRow, [{"question": "age", "low": 1, "high": 3}])
        assert quotas_of([form]) == []
        assert "Give the limit" in str(form.errors["most"])

    @pytest.mark.parametrize(
        ("row", "field", "said"),
        [
            ({"name": "women"}, "question", "Choose the question"),
            ({"question": "age", "low": 3}, "high", "both ends"),
            ({"question": "age", "high": 3}, "low", "both ends"),
            ({"question": "age", "low": 5, "high": 3}, "high", "below its beginning"),
            ({"question": "age", "low": 1, "high": 3, "answers": "x"}, "answers", "not both"),
            ({"question": "age"}, "name", "Name the group"),
            ({"question": "shoes", "name": "x"}, "question", "Select a valid choice"),
        ],
    )
    def test_row_says_what_is_wrong_beside_its_field(self, row: dict[str, Any], field: str, said: str) -> None:
        form = StratumRow(QUESTIONS, row)
        assert said in str(form.errors[field])

    def test_quota_needs_answers(self) -> None:
        form = QuotaRow(QUESTIONS, {"most": 5, "question": "age"})
        assert "answers that count" in str(form.errors["answers"])


@pytest.mark.integration
@pytest.mark.django_db
class TestParticipantsStage:
    @pytest.fixture
    def draft(self) -> Study:
        return make_study(status="draft", per_condition=30)

    @pytest.fixture
    def owner(self, draft: Study, client: Client) -> Client:
        client.force_login(draft.memberships.get(role=Role.OWNER).researcher)
        return client

    def _fields(self, owner: Client, draft: Study, **changes: Any) -> dict[str, Any]:
        form = owner.get(reverse("studies:sample", args=[draft.slug])).context["form"]
        fields = {**form.initial, "youngest": 21}
        fields |= {bound.html_name: bound.value() or "" for row in form.nested_forms for bound in row}
        return {**fields, **changes}

    def test_rows_are_saved_and_the_others_stay(self, draft: Study, owner: Client) -> None:
        quota = {"most": 60, "name": "women", "question": "gender", "answers": "woman"}
        fields = self._fields(owner, draft, **{f"quotas0-{name}": value for name, value in quota.items()})
        before = draft.settings["strata"]
        response = owner.post(reverse("studies:sample", args=[draft.slug]), fields)
        assert response.status_code == 302, response.context["form"].errors
        draft.refresh_from_db()
        assert draft.settings["strata"] == before
        where = [{"question": "gender", "values": ["woman"]}]
        assert draft.settings["quotas"] == [{"name": "women", "most": 60, "where": where}]

    def test_step_saves_nothing_and_keeps_every_entry(self, draft: Study, owner: Client) -> None:
        fields = self._fields(owner, draft, step="add:quotas", per_condition="wide")
        form = owner.post(reverse("studies:sample", args=[draft.slug]), fields).context["form"]
        assert len(form.quotas.rows) == 1
        assert (form["youngest"].value(), form["per_condition"].value()) == ("21", "wide")
        draft.refresh_from_db()
        assert age_limits(draft) == (20, 50)

    def test_error_of_a_row_is_in_the_summary_and_beside_its_field(self, draft: Study, owner: Client) -> None:
        fields = self._fields(owner, draft, **{"quotas0-most": "5"})
        html = owner.post(reverse("studies:sample", args=[draft.slug]), fields).content.decode()
        assert 'href="#id_quotas0-question">Question</a>: Choose the question' in html
        assert html.count("Choose the question") == 2
