"""The words of every page that a participant can meet: of the paper's replication, and of a study of books."""

from __future__ import annotations

from urllib.parse import urljoin

import pytest
from django.test import Client
from lxml import html

from tests.approval import approved_name, assert_page_approved
from tests.e2e import states as e2e_states
from tests.e2e.states import State, states
from tests.factories.studies import make_usage_run
from tests.studies.test_item_words import run_of

pytestmark = [pytest.mark.integration, pytest.mark.django_db]

# What a browser presses before it looks at the page, for which a form is sent here: the XPath of a button or form.
SENT = {
    "consent, boxes empty": "//button[@value='yes']",
    "declined": "//button[@value='no']",
    "about, answers missing": "//*[@id='about']//button[@class='go']",
    "about, answer to confirm": "//*[@id='about']/button[@class='go']",
    "rate, too few": "//*[@id='tray']//form",
    "rate, too few chosen": "//*[@id='tray']//form",
    "item, answers missing": "//*[@id='continue']",
    "overall, answer missing": "//*[@id='continue']",
    "back by an id, ratings hidden": "//button[@value='resume']",
}
# The order of items to rate is drawn for each participant.
VARIABLE = {
    r"(?<=code is )\w+": "CODE",
    r"(?<=partecipante è )\w+": "CODE",
    r"Film \d\d": "Film N",
    r"\(x\)(?= \d (of|su) 5)": "( )",  # which of the rated films come first
    r"(?m)(?<=^> Film N).+$": "",
    r"(?m)(?<=^## Film N) \d{4} [^\W\d]+(?: Director \d)?$": " FACTS",
    r"(?m)^[A-Z0-9]{8}$": "CODE",
    r"/s/p/[\w-]+/": "/s/p/KEY/",
}


def page_of(name: str, state: State, language: str) -> str:
    """The page of a state, after the form is sent that the state asks for."""
    client = Client(headers={"accept-language": language})
    page = client.get(state.path, follow=True)
    if name not in SENT:
        return page.text
    address = page.redirect_chain[-1][0] if page.redirect_chain else state.path
    (pressed,) = html.document_fromstring(page.text).xpath(SENT[name])
    form = pressed if pressed.tag == "form" else next(pressed.iterancestors("form"))
    fields = dict(form.form_values())
    if pressed.get("name"):
        fields[pressed.get("name")] = pressed.get("value", "")
    return client.post(urljoin(address, form.get("action", "")), fields, follow=True).text


@pytest.mark.parametrize(("item_type", "language"), [("film", "en"), ("film", "it"), ("book", "en")])
def test_every_page_is_approved(item_type: str, language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(e2e_states, "make_usage_run", lambda: run_of(item_type, run=make_usage_run()))
    made = states(language, run_of(item_type))
    # A sheet opens by a script; its words are those of the page of details.
    shown = {name: state for name, state in made.items() if state.do is None or name in SENT}
    assert set(SENT) <= set(shown)
    for name, state in shown.items():
        page = page_of(name, state, language)
        assert_page_approved(f"participant/{item_type}s-{language}/{approved_name(name)}", page, VARIABLE)
