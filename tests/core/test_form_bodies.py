"""The console's forms take JSON as they take a page's fields, with all faults at once."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from django import forms
from rest_framework.exceptions import ValidationError

from core.form_bodies import described, filled

pytestmark = pytest.mark.unit


class Form(forms.Form):
    """A form of every kind of field."""

    title = forms.CharField(max_length=10)
    n = forms.IntegerField(min_value=1, initial=3)
    share = forms.FloatField(required=False, max_value=1)
    since = forms.DateField(required=False)
    kind = forms.ChoiceField(choices=[("a", "A"), ("b", "B")], required=False)
    metrics = forms.MultipleChoiceField(choices=[("recall", "Recall"), ("fallout", "Fallout")], required=False)
    is_blind = forms.BooleanField(required=False, initial=True)

    def clean(self) -> Any:
        if self.cleaned_data.get("title") == "none":
            raise forms.ValidationError("Write a title.")
        return self.cleaned_data


def test_json_fills_the_form_and_what_is_left_out_is_as_the_form_begins() -> None:
    body = {"title": "Films", "since": "2026-01-02", "metrics": ["recall", "fallout"], "share": 0.5}
    assert filled(Form, body).cleaned_data == {
        "title": "Films", "n": 3, "share": 0.5, "since": date(2026, 1, 2), "kind": "",
        "metrics": ["recall", "fallout"], "is_blind": True,
    }  # fmt: skip
    chosen = filled(Form, {"title": "Films", "n": 7, "is_blind": False, "kind": "b", "share": None}).cleaned_data
    assert (chosen["n"], chosen["is_blind"], chosen["kind"], chosen["share"]) == (7, False, "b", None)


def test_a_form_whose_fields_have_a_prefix_on_its_page_takes_their_names_alone() -> None:
    form = filled(lambda data, _files: Form(data, prefix="new"), {"title": "Films", "is_blind": False})
    assert (form.cleaned_data["title"], form.cleaned_data["n"], form.cleaned_data["is_blind"]) == ("Films", 3, False)


def test_every_fault_is_named_with_its_field() -> None:
    with pytest.raises(ValidationError) as refused:
        filled(Form, {"n": 0, "is_blind": "perhaps", "share": {"of": 1}, "kinds": "a"})
    detail: Any = refused.value.detail
    assert set(detail) == {"title", "n", "is_blind", "share", "kinds"}
    assert "Did you mean kind?" in str(detail["kinds"])
    with pytest.raises(ValidationError) as refused:
        filled(Form, {"title": "none"})
    assert [str(text) for text in refused.value.detail["non_field_errors"]] == ["Write a title."]  # type: ignore[call-overload,index]
    with pytest.raises(ValidationError, match="Send an object"):
        filled(Form, ["title"])


def test_the_description_has_the_limits_of_the_form() -> None:
    fields: Any = described(Form, "Body", without=["metrics"])().fields
    assert set(fields) == {"title", "n", "share", "since", "kind", "is_blind"}
    assert (fields["title"].required, fields["title"].max_length, fields["n"].required) == (True, 10, False)
    assert (fields["n"].min_value, fields["share"].max_value, [*fields["kind"].choices]) == (1, 1, ["a", "b"])
