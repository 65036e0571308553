"""Strata and quotas as tables: rows and text state the same, and rows come and go without losing anything."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest
from django.http import QueryDict
from django.test import Client
from django.urls import reverse
from hypothesis import given, settings
from hypothesis import strategies as st

from studies.console.forms.group_tables import GroupTable, QuotaTable, StrataTable
from studies.design.selectors.stated_facts import age_limits
from studies.enums import Role
from studies.models import Study
from tests.factories.studies import make_study

QUESTIONS = ("gender", "age")
WORDS = st.text("abcdefghij ", min_size=1, max_size=8).map(str.strip).filter(bool)
BANDS = (
    st.tuples(st.integers(0, 99), st.integers(0, 99)).map(sorted).map(lambda ends: {"low": ends[0], "high": ends[1]})
)
ANSWERS = st.lists(WORDS, min_size=1, max_size=3, unique=True).map(lambda words: {"answers": ", ".join(words)})
SHARES = st.none() | st.integers(0, 1000).map(lambda tenths: tenths / 10)


def posted(kind: type[GroupTable], name: str, rows: list[dict[str, Any]], step: str = "") -> GroupTable:
    """The table of rows as a browser posts them."""
    said: dict[str, Any] = {f"{name}_row": list(range(len(rows)))}
    said |= {f"{name}-{number}-{key}": value for number, row in enumerate(rows) for key, value in row.items()}
    table = kind.posted(name, QUESTIONS, QueryDict(urlencode(said, doseq=True)), step=step)
    assert table is not None
    return table


@pytest.mark.unit
class TestRoundTrip:
    @settings(max_examples=50, deadline=None)
    @given(st.lists(st.tuples(WORDS, ANSWERS, SHARES), min_size=1, max_size=4), st.lists(BANDS, max_size=3))
    def test_strata_from_rows_to_text_and_back(self, groups: list[Any], bands: list[dict[str, int]]) -> None:
        rows = [{"question": "gender", "name": name, **answers} for name, answers, _share in groups]
        rows += [{"question": "gender", "name": "the rest"}]
        rows += [{"question": "age", **band} for band in bands]
        for row, (_name, _answers, share) in zip(rows, groups, strict=False):
            row |= {} if share is None else {"share": share}
        if len({row["name"] for row in rows if "name" in row}) <= len(groups):
            return  # two groups of one name
        table = posted(StrataTable, "strata", rows)
        assert all(row.is_valid() for row in table.forms)
        assert StrataTable.rows_of(table.text(), ()) == table.filled() == rows

    @settings(max_examples=50, deadline=None)
    @given(st.lists(st.tuples(st.integers(0, 999), st.none() | WORDS, ANSWERS | BANDS, st.none() | BANDS), max_size=4))
    def test_quotas_from_rows_to_text_and_back(self, quotas: list[Any]) -> None:
        rows: list[dict[str, Any]] = []
        for most, name, test, other in quotas:
            rows.append({"most": most, **({"name": name} if name else {}), "question": "gender", **test})
            rows += [{"question": "age", **other}] if other else []
        table = posted(QuotaTable, "quotas", [*rows, {}])
        assert all(row.is_valid() for row in table.forms)
        assert QuotaTable.rows_of(table.text(), ()) == table.filled() == rows

    def test_yes_and_no_stay_words(self) -> None:
        rows = QuotaTable.rows_of("5: first_visit = yes", ["first_visit"])
        assert rows == [{"most": 5, "question": "first_visit", "answers": "yes"}]

    def test_step_leaves_entries_as_they_were(self) -> None:
        rows = [{"question": "age", "low": "twenty"}, {"question": "age", "low": 35, "high": 50, "share": 4}]
        table = posted(StrataTable, "strata", rows, step="add-strata")
        assert [row["low"].value() for row in table.forms] == ["twenty", "35", None]
        assert not any(row.is_bound for row in table.forms)
        table = posted(StrataTable, "strata", rows, step="remove-strata-0")
        assert list(table.rows) == [1]
        assert table.text() == "age: 35-50 4%"
        assert len(posted(QuotaTable, "quotas", [{}], step="remove-quotas-0").rows) == 1

    @pytest.mark.parametrize(
        ("row", "field", "said"),
        [
            ({"name": "women"}, "question", "Choose the question"),
            ({"question": "age", "low": 3}, "high", "both ends"),
            ({"question": "age", "high": 3}, "low", "both ends"),
            ({"question": "age", "low": 5, "high": 3}, "high", "below its beginning"),
            ({"question": "age", "low": 1, "high": 3, "answers": "x"}, "answers", "not both"),
            ({"question": "age"}, "name", "Name the group"),
            ({"question": "age", "name": "a=b"}, "name", "Leave out the characters"),
            ({"question": "age", "answers": "a;b"}, "answers", "Leave out the characters"),
            ({"question": "shoes", "name": "x"}, "question", "Select a valid choice"),
        ],
    )
    def test_row_says_what_is_wrong_beside_its_field(self, row: dict[str, Any], field: str, said: str) -> None:
        (form,) = posted(StrataTable, "strata", [row]).forms
        assert said in str(form.errors[field])

    def test_quota_needs_answers(self) -> None:
        (form,) = posted(QuotaTable, "quotas", [{"most": 5, "question": "age"}]).forms
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
        for table in form.tables.values():
            fields[f"{table.name}_row"] = list(table.rows)
            fields |= {
                f"{row.prefix}-{name}": value
                for row in table.forms
                for name, value in row.initial.items()
                if value is not None
            }
        return {**fields, **changes}

    def test_rows_are_saved_and_text_that_was_not_changed_yields(self, draft: Study, owner: Client) -> None:
        quota = {"most": 60, "name": "women", "question": "gender", "answers": "woman"}
        fields = self._fields(owner, draft, **{f"quotas-0-{name}": value for name, value in quota.items()})
        before = draft.settings["strata"]
        response = owner.post(reverse("studies:sample", args=[draft.slug]), fields)
        assert response.status_code == 302, response.context["form"].errors
        draft.refresh_from_db()
        assert draft.settings["strata"] == before
        where = [{"question": "gender", "values": ["woman"]}]
        assert draft.settings["quotas"] == [{"name": "women", "most": 60, "where": where}]

    def test_step_saves_nothing_and_keeps_every_entry(self, draft: Study, owner: Client) -> None:
        fields = self._fields(owner, draft, step="add-quotas", per_condition="wide")
        form = owner.post(reverse("studies:sample", args=[draft.slug]), fields).context["form"]
        assert len(form.tables["quotas"].rows) == 2
        assert (form["youngest"].value(), form["per_condition"].value()) == ("21", "wide")
        draft.refresh_from_db()
        assert age_limits(draft) == (20, 50)

    def test_changed_text_replaces_the_table(self, draft: Study, owner: Client) -> None:
        fields = self._fields(owner, draft, strata="age: 20-29; 30-39")
        owner.post(reverse("studies:sample", args=[draft.slug]), fields)
        draft.refresh_from_db()
        assert draft.settings["strata"] == [{"question": "age", "bands": [[20, 29], [30, 39]]}]

    def test_error_of_a_row_is_in_the_summary_and_beside_its_field(self, draft: Study, owner: Client) -> None:
        fields = self._fields(owner, draft, **{"quotas-0-most": "5"})
        html = owner.post(reverse("studies:sample", args=[draft.slug]), fields).content.decode()
        assert 'href="#id_quotas-0-question">Question</a>: Choose the question' in html
        assert "<strong>Question:</strong> Choose the question" in html
        assert "Line 1 of the quotas" not in html
