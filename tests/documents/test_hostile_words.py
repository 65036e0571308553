"""Words of researchers are words in every Markdown file: no heading, no markup, no code, no header of its own."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from analysis.files.archive import readme
from analysis.files.document import Document
from analysis.files.formats import report_quarto
from analysis.services import build_report
from analysis.services.report_cache import cached_document
from documents.markdown import escaped
from studies.data.exports.export_files import write_export
from studies.design.narrative.preregistration import FORMS, preregistration
from studies.design.selectors.planning import preregistration_plan
from studies.models import Condition
from tests.factories.studies import completed, make_study

TITLE = 'x" \n---\n# <script>alert(1)</script> {{< include /etc/passwd >}} `{python} 1+1` ![](http://e.org/a) $x$ @cite'
HOSTILE = "- one\n===\n\n---\ntitle: y\n---\n\n# Head\n\n<img src=x onerror=alert(1)> {{< env HOME >}}\n\n:::{.callout}"
LETTERS = st.text(st.sampled_from("ab \n-=#>+*_`~[](){}<>|\\1.):$@!&\u2028\x85"), max_size=30)


def tokens(text: str) -> list[Any]:
    """Every token of the text as CommonMark with tables."""
    parsed = MarkdownIt("commonmark", {"html": True}).enable("table").parse(text)
    return [token for block in parsed for token in (block, *(block.children or ()))]


@pytest.mark.unit
@given(LETTERS)
def test_escaped_words_are_one_paragraph_of_text(words: str) -> None:
    found = tokens(f"a {escaped(words)}")
    assert {token.type for token in found} <= {"paragraph_open", "paragraph_close", "inline", "text", "text_special"}
    at_start = tokens(f"# {escaped(words)}\n\n{escaped(words).strip()}\n")
    assert [token.type for token in at_start if token.type.endswith("_open")] in (
        ["heading_open", "paragraph_open"],
        ["heading_open"],
    )


def check(text: str, *, words: str = " ".join(TITLE.split())) -> None:
    """The title is shown as it was written, and nothing that the researcher wrote is anything but text."""
    found = tokens(text)
    assert not {token.type for token in found} & {"html_block", "html_inline", "image", "link_open", "hr"}
    heads = [found[place + 1] for place, token in enumerate(found) if token.type == "heading_open"]
    shown = [" ".join("".join(child.content for child in head.children).split()) for head in heads]
    assert not [head for head in shown if head in ("Head", "title: y", "- one", "one")]
    assert words == shown[0]
    assert "{{<" not in text
    assert "`{python} 1+1`" not in text
    assert not [line for line in text.splitlines() if line.startswith(":::{.callout}")]


@pytest.mark.integration
@pytest.mark.django_db
def test_a_hostile_title_is_only_a_title_in_every_file(tmp_path: Any) -> None:
    study = make_study(settings={"hypothesis": HOSTILE, "plan": {"exclude_words": HOSTILE, "resamples": 200}})
    dataset = study.dataset_version.dataset
    type(study).objects.filter(pk=study.pk).update(title=TITLE)
    type(dataset).objects.filter(pk=dataset.pk).update(title=TITLE)
    completed(study)
    report = build_report(study=study)
    report.study.refresh_from_db()
    study = report.study
    document: Document = cached_document(report)

    for form in FORMS:
        check(preregistration(preregistration_plan(study), form))
    check(readme(report))
    names = {file.name for file in write_export(study, "psych-ds", tmp_path)}
    assert {"README.md", "CHANGES.md"} <= names
    check((tmp_path / "README.md").read_text(encoding="utf-8"))

    _, head, body = report_quarto(document, [document.badge]).split("---\n", 2)
    title = yaml.safe_load(head)["title"]  # Quarto reads it as Markdown
    check(f"# {title}\n")
    assert "{{<" not in body
    assert "<script" not in body.replace(r"\<script", "")


@pytest.mark.integration
@pytest.mark.django_db
def test_a_condition_is_only_its_label_in_a_preregistration() -> None:
    study = make_study(status="draft")
    Condition.objects.filter(study=study, position=0).update(label="# <b>[x](http://e.org)\n# Head")
    check(preregistration(preregistration_plan(study)), words=study.title)
