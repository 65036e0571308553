"""The documentation's own search, under `/help/`: the first page that it finds answers a newcomer's question."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse

from parallax.shell.documentation import FOLDER, documentation_page
from parallax.shell.help_search import search_documentation
from parallax.shell.search import PER_KIND
from tests.factories.accounts import UserFactory
from tests.factories.pages import flat
from tests.parallax.newcomer_questions import QUESTIONS

pytestmark = pytest.mark.integration


def section_of(url: str) -> tuple[str, str]:
    """The page of the documentation at an address, and the Markdown of the section that it names."""
    path, _, anchor = url.removeprefix(reverse("help")).partition("#")
    page = documentation_page(path)
    assert page is not None, path
    assert not anchor or f'id="{anchor}"' in page.body, url
    body = re.split(r"(?=<h[2-4] id=)", page.body)
    own = [part for part in body if f'id="{anchor}"' in part] if anchor else body[:1]
    return path, re.sub(r"<[^>]+>", "", own[0])


@pytest.mark.parametrize(("question", "pages", "words"), QUESTIONS, ids=[question for question, *_ in QUESTIONS])
def test_the_first_page_found_answers_the_question(question: str, pages: tuple[str, ...], words: str) -> None:
    found = search_documentation(question)
    path, section = section_of(found[0].url)
    assert path in pages, [match.url for match in found]
    assert " ".join(words.split()).lower() in " ".join(section.split()).lower(), found[0].url


def test_questions_are_not_copied_from_the_headings() -> None:
    headings = set(re.findall(r"^### (.+)$", (FOLDER / "faq.md").read_text(encoding="utf-8"), re.MULTILINE))
    assert sum(question in headings for question, *_ in QUESTIONS) <= 3
    assert len(QUESTIONS) >= 20


@pytest.mark.django_db
def test_visitors_and_researchers_search_the_documentation(client: Client) -> None:
    page = flat(client.get(reverse("help"), {"q": "Prolific"}).content.decode())
    assert 'value="Prolific"' in page
    assert f'href="{reverse("help", args=["how-to/recruit-on-prolific-mturk-sona.md"])}' in page
    assert "No page has any of these words" in flat(client.get(reverse("help"), {"q": "xyzzy"}).content.decode())
    client.force_login(UserFactory())
    assert f'href="{reverse("help")}?q=Prolific"' in client.get(reverse("search"), {"q": "Prolific"}).content.decode()


@pytest.mark.parametrize("query", ["", "?", '" OR', "NEAR(a b)", "title:x", "how do I", "*", "\x00", "é" * 100])
def test_any_query_is_only_words(query: str) -> None:
    assert len(search_documentation(query)) <= PER_KIND
