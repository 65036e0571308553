"""Folded templates give the same text as Django's own, in every language and whatever surrounds a tag."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.template import Context, Engine, TemplateDoesNotExist, TemplateSyntaxError, engines
from django.template.base import TextNode
from django.template.defaulttags import LoadNode
from django.templatetags.i18n import BlockTranslateNode, TranslateNode
from django.templatetags.static import StaticNode
from django.test import override_settings
from django.utils import translation

from core.folding import Folded

pytestmark = pytest.mark.unit

LIBRARIES = {"i18n": "django.templatetags.i18n", "static": "django.templatetags.static"}
FOLDED, PLAIN = "core.folding.Folded", "django.template.loaders.cached.Loader"
CONSTANT = (TranslateNode, StaticNode, LoadNode)

RATING = "A rating is a whole number from 1 to 5."
CLOSED = "This page is not open at this point of the study."

SNIPPETS = {
    "plain": f'{{% translate "{RATING}" %}}',
    "between": 'a{% translate "Continue" %}b{# seen by nobody #}c{% comment %}d{% endcomment %}e',
    "special": """{% translate "Fish & <chips> 'n' “tea” è 100% 5%% %s %(n)s" %}""",
    "quotes": r"""{% translate 'She said \'so\' & "so"' %}""",
    "filtered": '{% translate "Continue"|add:name %}{% static "a.css"|add:msgid %}'
    '{% translate "Continue"|upper %}{% translate name %}{% translate "a&b"|force_escape %}',
    "by variable": "{% translate msgid %}|{% translate missing %}",
    "as": '{% translate "Continue" as there %}[{{ there }}]{% static "a.css" as style %}[{{ style }}]',
    "noop": '{% translate "Continue" noop %}',
    "in context": '{% translate "March" context "abbrev. month" %}{% translate "March" context which %}',
    "underscored": '{{ _("Continue") }}{% translate _("Continue") %}',
    "block": f"{{% blocktranslate %}}{CLOSED}{{% endblocktranslate %}}",
    "block in context": '{% blocktranslate context "abbrev. month" %}March{% endblocktranslate %}',
    "block trimmed": "{% blocktranslate trimmed %}\n  This page is not open\n  at this point of the study.\n"
    "{% endblocktranslate %}",
    "block special": "{% blocktranslate %}<b>100%</b> & %s è “tea”{% endblocktranslate %}",
    "block as": "{% blocktranslate asvar there %}Continue{% endblocktranslate %}[{{ there }}]",
    "block with": "{% blocktranslate with code=name %}Your participant code is "
    '<span class="code">{{ code }}</span>.{% endblocktranslate %}',
    "block of a variable": "{% blocktranslate %}Hello {{ name }}{% endblocktranslate %}",
    "block counted": "{% blocktranslate count n=two %}{{ n }} film{% plural %}{{ n }} films{% endblocktranslate %}",
    "static": """{% static "css/base.css" %}{% static 'a b&c".css' %}{% static name %}{% get_static_prefix %}""",
    "escaping off": '{% autoescape off %}{% static "a&b.css" %}{% translate "a & <b>" %}{{ name }}{% endautoescape %}',
    "branches": '{% if name %}{% translate "Continue" %}{% elif two %}x{% else %}y{% endif %}'
    '{% if missing %}x{% elif two %}{% translate "Language" %}{% endif %}'
    '{% if missing %}x{% else %}{% translate "Details" %}{% endif %}',
    "loops": '{% for x in "ab" %}{% translate "Continue" %}{{ x }}{% empty %}y{% endfor %}'
    '{% for x in missing %}x{% empty %}{% translate "Language" %}{% endfor %}',
    "changes": '{% for x in "aab" %}{% ifchanged x %}{% translate "Continue" %}{% else %}={% endifchanged %}'
    "{% endfor %}",
    "wraps": '{% with a=name %}{% filter upper %}{% translate "Continue" %}{% endfilter %}{{ a }}{% endwith %}'
    '{% spaceless %}<p> {% translate "Continue" %} </p> <p></p>{% endspaceless %}',
    "another language": '{% language "it" %}{% translate "Continue" %}{% endlanguage %}{% translate "Continue" %}'
    '{% language spoken %}{% if name %}{% translate "Continue" %}{% endif %}{% endlanguage %}',
    "current": "{% get_current_language as code %}{{ code }}",
}
SOURCES = {name: "{% load i18n static %}" + text for name, text in SNIPPETS.items()} | {
    "parent": '{% load i18n %}<title>{% block title %}{% translate "Language" %}{% endblock %}</title>'
    '{% if name %}{% block body %}{% translate "Details" %}{% endblock %}{% endif %}{% translate "Continue" %}',
    "child": '{% extends "parent" %}{% load i18n %}{% block body %}{{ block.super }}, {% translate "Search" %}'
    "{% block inner %}{% endblock %}{% endblock %}",
    "grandchild": '{% extends "child" %}{% load i18n %}{% block title %}{% translate "Show" %}{% endblock %}'
    '{% block inner %}{% include "plain" %}{% for x in "ab" %}{% include "between" with name=x only %}{% endfor %}'
    "{% endblock %}",
    "of a variable": '{% extends which_parent %}{% load i18n %}{% block title %}{% translate "Show" %}{% endblock %}',
    "including in Italian": '{% load i18n %}{% language "it" %}{% include "plain" %}{% endlanguage %}'
    '{% include "plain" %}',
}
CONTEXT = {
    "name": "O'Neil & <Sons>",
    "two": 2,
    "msgid": RATING,
    "which": "abbrev. month",
    "which_parent": "parent",
    "spoken": "it",
}


def engine(loader: str, sources: dict[str, str], **options: Any) -> Engine:
    loaders = [(loader, [("django.template.loaders.locmem.Loader", sources)])]
    return Engine(loaders=loaders, libraries=LIBRARIES, **options)


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("escaping", [True, False])
def test_folded_template_reads_as_the_plain_one(name: str, escaping: bool) -> None:
    folded, plain = (engine(loader, SOURCES, autoescape=escaping) for loader in (FOLDED, PLAIN))
    for language in ("en", "it", "en", "it-ch", None, "it"):  # back and forth: none is shown in another's place
        with translation.override(language):
            assert folded.render_to_string(name, CONTEXT) == plain.render_to_string(name, CONTEXT)


def test_constant_tags_become_one_text_in_the_language_asked_for() -> None:
    source = f'{{% load i18n static %}}<p>{{% translate "{RATING}" %}}</p>{{% blocktranslate %}}{CLOSED}'
    source += '{% endblocktranslate %}{% static "a.css" %}{% translate "Fish & <chips>" %}'
    folded = engine(FOLDED, {"page": source})
    said = {
        "en": f"<p>{RATING}</p>{CLOSED}/static/a.cssFish & <chips>",
        "it": "<p>Una valutazione è un numero intero da 1 a 5.</p>"
        "A questo punto dello studio questa pagina non è aperta./static/a.cssFish & <chips>",
    }
    for language, text in said.items():
        with translation.override(language):
            (only,) = folded.get_template("page").nodelist
            assert isinstance(only, TextNode)
            assert only.s == text


def test_tags_that_need_the_page_are_left() -> None:
    names = ("filtered", "by variable", "as", "another language", "block as", "block with", "block counted", "static")
    kinds = (TranslateNode, BlockTranslateNode, StaticNode)
    for name in names:
        nodes = engine(FOLDED, SOURCES).get_template(name).nodelist
        assert any(nodes.get_nodes_by_type(kind) for kind in kinds), name


def test_address_that_escaping_changes_is_left() -> None:
    nodes = engine(FOLDED, {"page": """{% load static %}{% static "it's.css" %}"""}).get_template("page").nodelist
    folded = engine(FOLDED, {"page": """{% load static %}{% static "its.css" %}"""}).get_template("page").nodelist
    assert nodes.get_nodes_by_type(StaticNode)
    assert not folded.get_nodes_by_type(StaticNode)


def test_file_that_a_manifest_lacks_fails_where_it_is_shown(tmp_path: Path) -> None:
    manifest = {"BACKEND": "django.contrib.staticfiles.storage.ManifestStaticFilesStorage"}
    page = '{% load static %}{% if name %}{% static "nowhere.css" %}{% endif %}'
    folded = engine(FOLDED, {"page": page})
    with override_settings(STORAGES=settings.STORAGES | {"staticfiles": manifest}, STATIC_ROOT=tmp_path):
        assert folded.render_to_string("page") == ""
        with pytest.raises(ValueError, match=r"nowhere\.css"):
            folded.render_to_string("page", CONTEXT)


def test_address_that_another_storage_makes_is_left() -> None:
    elsewhere = {"BACKEND": "django.core.files.storage.InMemoryStorage", "OPTIONS": {"base_url": "/signed/"}}
    with override_settings(STORAGES=settings.STORAGES | {"staticfiles": elsewhere}):
        nodes = engine(FOLDED, {"page": '{% load static %}{% static "a.css" %}'}).get_template("page").nodelist
    assert nodes.get_nodes_by_type(StaticNode)


def test_every_branch_is_folded() -> None:
    for name in ("branches", "loops", "changes", "wraps", "child"):
        nodes = engine(FOLDED, SOURCES).get_template(name).nodelist
        assert not any(nodes.get_nodes_by_type(kind) for kind in CONSTANT), name


def test_nothing_is_folded_while_debugging() -> None:
    nodes = engine(FOLDED, SOURCES, debug=True).get_template("plain").nodelist
    assert len(nodes.get_nodes_by_type(TranslateNode)) == 1


def test_template_is_kept_for_each_language() -> None:
    folded = engine(FOLDED, SOURCES)
    with translation.override("en"):
        english = folded.get_template("plain")
        assert folded.get_template("plain") is english
    with translation.override("it"):
        assert folded.get_template("plain") is not english


def test_missing_template_is_named() -> None:
    folded = engine(FOLDED, {})
    for _ in range(2):  # the second time it is known to be missing
        with pytest.raises(TemplateDoesNotExist, match=r"^nowhere\.html$"):
            folded.get_template("nowhere.html")


@pytest.mark.parametrize(
    "within",
    [
        '{% language "it" %}{% if x %}{% block body %}{% endblock %}{% endif %}{% endlanguage %}',
        "{% for code in codes %}{% language code %}{% include 'plain' %}{% endlanguage %}{% endfor %}",
    ],
)
@pytest.mark.parametrize("debug", [True, False])
def test_languages_that_folding_would_mix_are_refused(within: str, debug: bool) -> None:
    folded = engine(FOLDED, SOURCES | {"mixed.html": "{% load i18n %}" + within}, debug=debug)
    with pytest.raises(TemplateSyntaxError, match=r"^mixed\.html: a language tag"):
        folded.get_template("mixed.html")


def test_threads_in_two_languages_read_their_own() -> None:
    folded = engine(FOLDED, SOURCES)
    texts: dict[str, set[str]] = {"en": set(), "it": set()}
    ready = threading.Barrier(4)

    def read(language: str) -> None:
        ready.wait()
        with translation.override(language):
            for _ in range(50):
                texts[language].add(folded.render_to_string("grandchild", CONTEXT))
                folded.template_loaders[0].reset()  # so that they compile at the same time, too

    threads = [threading.Thread(target=read, args=[language]) for language in ("en", "it") * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    plain = engine(PLAIN, SOURCES)
    for language, seen in texts.items():
        with translation.override(language):
            assert seen == {plain.render_to_string("grandchild", CONTEXT)}


PROBLEM = "This did not become a page:"


class Anything(int):
    """Stands for whatever a template asks for: a number, with every attribute, that has two parts."""

    template = "participant/questions/likert.html"  # what a question includes

    def __getattr__(self, name: str) -> Anything:
        if name.startswith("__") or name in ("render", "resolve_expression"):
            raise AttributeError(name)
        return Anything(self)

    def __iter__(self) -> Iterator[Anything]:
        return iter((Anything(self), Anything(self)))

    def __len__(self) -> int:
        return 2


class Whatever(Context):
    """A context in which every name stands for something: for 0, or for 3."""

    value = 0

    def __getitem__(self, key: str) -> Any:
        try:
            return super().__getitem__(key)
        except KeyError:
            return Anything(self.value)

    def __contains__(self, key: str) -> bool:
        return True


def outcome(made: Engine, name: str, value: int) -> str:
    context = Whatever({"csrf_token": "token"})
    context.value = value
    try:
        return made.get_template(name).render(context)
    except Exception as problem:  # an address of nothing, and so on: the same both ways
        return f"{PROBLEM} {type(problem).__name__}: {problem}"


@pytest.mark.parametrize("folder", ["base.html", "participant", "forms", "accounts", "console", "analysis"])
def test_every_page_of_the_project_reads_the_same(folder: str) -> None:
    root = Path(settings.BASE_DIR) / "templates"
    files = [root / folder] if folder.endswith(".html") else sorted((root / folder).rglob("*.html"))
    names = [file.relative_to(root).as_posix() for file in files]
    used = engines["django"].engine
    plain = Engine(dirs=used.dirs, loaders=[(PLAIN, used.loaders[0][1])], libraries=used.libraries)
    for language in ("en", "it"):
        for name, value in product(names, (0, 3)):
            with translation.override(language):
                expected = outcome(plain, name, value)
                assert outcome(used, name, value) == expected, name
            if folder in ("base.html", "participant"):  # elsewhere some pages ask for more than a number can be
                assert not expected.startswith(PROBLEM), (name, expected)


def test_pages_of_the_project_are_folded() -> None:
    (loader,) = engines["django"].engine.template_loaders
    assert isinstance(loader, Folded)
    nodes = engines["django"].engine.get_template("participant/rate.html").nodelist
    assert not any(nodes.get_nodes_by_type(kind) for kind in CONSTANT)
