"""A Sphinx extension: checks, entries generated from the code, formulas as MathML, lists of pages, scroll areas.

Everything works from the file system: formulas need no script, and the search index is a script of its own.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from page_checks import problems
from reference import with_entries
from sphinx.application import Sphinx
from sphinx.util.logging import getLogger
from sphinx.writers.html5 import HTML5Translator

SECTIONS = {
    "Help": "faq\ntroubleshooting",
    "Tutorials": "tutorials/*",
    "Notebooks": "notebooks/*",
    "How-to guides": "how-to/*",
    "Sample reports": "gallery/*",
    "Reference": "reference/*",
    "Explanation": "explanation/*",
    "Architecture decisions": "adr/*",
}
NAMED = {
    '<th class="head"><p></p></th>': "<td></td>",
    "<th></th>": "<td></td>",  # of data frames in notebooks
    '<p class="caption" role="heading">': '<p class="caption">',
    '<aside class="sidebar-drawer">': '<aside class="sidebar-drawer" aria-label="Pages">',
    '<aside class="toc-drawer': '<aside aria-label="On this page" class="toc-drawer',
    '<div id="search-results">': '<h1>Search</h1>\n<div id="search-results">',
}
ELSEWHERE = re.compile(r'<(?:script|link|img)[^>]+(?:src|href)="https?:[^"]*"')
FORMULA = re.compile(r"\$`([^`]+)`\$")


def check_pages(app: Sphinx) -> None:
    """Warn of what pages show and cannot be used as written."""
    for problem in problems():
        getLogger(__name__).warning(problem)


def read_source(app: Sphinx, name: str, source: list[str]) -> None:
    """Complete a page before it is parsed."""
    text = with_entries(source[0]).replace("```math", "```{math}")
    text = FORMULA.sub(r"{math}`\1`", text)
    if name == app.config.root_doc:
        text = text.replace("[architecture decisions](adr/)", "architecture decisions") + "".join(
            f"\n\n```{{toctree}}\n:hidden:\n:glob:\n:caption: {title}\n\n{pages}\n```\n"
            for title, pages in SECTIONS.items()
        )
    source[0] = text


def visit_inline(self: HTML5Translator, node: nodes.math) -> None:
    """Write a formula within a line."""
    self.body.append(convert(node.astext()))
    raise nodes.SkipNode


def visit_block(self: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula on lines of its own."""
    self.body.append(f'<div class="formula" tabindex="0">{convert(node.astext(), display="block")}</div>')
    raise nodes.SkipNode


def reach_scroll_areas(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document) -> None:
    """Let the keyboard reach what scrolls sideways."""
    body = context.get("body")
    if body:
        body = re.sub(r'<div class="table-wrapper', r'<div tabindex="0" class="table-wrapper', body)
        context["body"] = body.replace("<pre>", '<pre tabindex="0">')


def name_parts(app: Sphinx, problem: Exception | None) -> None:
    """Name the landmarks of the theme, give the search page a heading, and make empty heads of columns plain cells."""
    if problem is not None or app.builder.name != "html":
        return
    for file in Path(app.outdir).rglob("*.html"):
        text = file.read_text(encoding="utf-8")
        for theme, landmark in NAMED.items():
            text = text.replace(theme, landmark)
        for part in ELSEWHERE.findall(text):
            getLogger(__name__).warning("%s loads a part from elsewhere: %s", file.name, part)
        file.write_text(text, encoding="utf-8")


def copy_index(app: Sphinx, problem: Exception | None) -> None:
    """Let the first page open without its name."""
    if problem is None and app.builder.name == "html":
        shutil.copyfile(Path(app.outdir) / f"{app.config.root_doc}.html", Path(app.outdir) / "index.html")


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the extension."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    app.connect("builder-inited", check_pages)
    app.connect("source-read", read_source)
    app.connect("html-page-context", reach_scroll_areas, priority=900)
    app.connect("build-finished", name_parts)
    app.connect("build-finished", copy_index, priority=600)
    return {"parallel_read_safe": False, "version": "1"}
