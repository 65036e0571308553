"""The parts that pages of the console consist of: sections, tables, and forms of one button."""

from __future__ import annotations

from typing import Any

from django import forms
from django.template import engines
from lxml import html
from lxml.html import HtmlElement

from studies.console.forms.data import ReasonForm


class _UploadForm(forms.Form):
    file = forms.FileField()


def _rendered(source: str, **context: Any) -> HtmlElement:
    return html.fromstring(engines["django"].from_string(source).render({"csrf_token": "token", **context}))


def test_a_section_is_named_by_its_heading() -> None:
    drawn = _rendered('{% section "kept" title %}<p>{{ words }}</p>{% endsection %}', title="Kept & <b>", words="<i>")
    assert drawn.tag == "section"
    (heading,) = drawn.xpath("h2")
    assert drawn.get("aria-labelledby") == heading.get("id") == "kept"
    assert heading.text == "Kept & <b>"
    assert drawn.xpath("string(p)") == "<i>"


def test_a_table_scrolls_by_the_keyboard_and_has_a_name() -> None:
    drawn = _rendered(
        '{% table "Rows of "|add:name "folded" frame="tall" %}<tr><td>1</td></tr>{% endtable %}', name='"x"'
    )
    assert dict(drawn.attrib) == {
        "class": "scroll tall",
        "tabindex": "0",
        "role": "region",
        "aria-label": 'Rows of "x"',
    }
    (table,) = drawn.xpath("table")
    assert dict(table.attrib) == {"class": "folded"}
    assert table.xpath("string(.//td)") == "1"
    plain = _rendered('{% table "Rows" %}{% endtable %}')
    assert plain.get("class") == "scroll"
    assert dict(plain.xpath("table")[0].attrib) == {}


def test_a_form_of_one_button_is_posted_to_a_view() -> None:
    drawn = _rendered('{% post_form "Remove" "accounts:token_revoke" 7 kind="plain" about=who %}', who='Ada "A"')
    assert dict(drawn.attrib) == {"method": "post", "action": "/account/tokens/7/revoke/"}
    (button,) = drawn.xpath("button")
    assert dict(button.attrib) == {"class": "plain", "aria-label": 'Remove Ada "A"'}
    assert button.text == "Remove"
    assert drawn.xpath("input/@name") == ["csrfmiddlewaretoken"]


def test_a_form_of_one_button_shows_fields_and_what_the_button_posts() -> None:
    drawn = _rendered('{% post_form "Save" form=form kind="go" name="part" value="notes" %}', form=ReasonForm({}))
    assert dict(drawn.attrib) == {"method": "post", "class": "stack narrow"}  # to the address of the page
    assert dict(drawn.xpath("button")[0].attrib) == {"class": "go", "name": "part", "value": "notes"}
    assert drawn.xpath(".//label/text()") == ["Reason"]
    assert drawn.xpath(".//div[@class='problems']//a/@href") == ["#id_reason"]
    upload = _rendered('{% post_form "Load" form=form %}', form=_UploadForm())
    assert upload.get("enctype") == "multipart/form-data"
