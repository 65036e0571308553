"""The pages of `docs/`, rendered from Markdown as they are in the checkout.

Lists that are generated from the code are in the documentation site alone, which Sphinx builds (`docs/_site`).
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import nh3
from django.conf import settings
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt

FOLDER = Path(settings.BASE_DIR) / "docs"
INDEX = "README.md"
GLOSSARY = "reference/glossary.md"
TOPICS: dict[str, str] = tomllib.loads(Path(__file__).with_name("help_topics.toml").read_text(encoding="utf-8"))
TAGS = {
    *("a", "blockquote", "br", "code", "em", "h1", "h2", "h3", "h4", "hr", "img", "li", "ol", "p", "pre", "strong"),
    *("table", "tbody", "td", "th", "thead", "tr", "ul"),
}
_parser = MarkdownIt("commonmark", {"html": False}).enable("table")
_HEADING = re.compile(r"<h1>(.*?)</h1>", re.DOTALL)
_TERM = re.compile(r'<h3 id="([^"]*)">([^<(]*?)(?: \(([^<)]*)\))?</h3>')
_LEVEL = re.compile(r"<h([2-4])>(.*?)</h\1>", re.DOTALL)


@dataclass(frozen=True)
class DocumentationPage:
    """A page with its title, and its body without it."""

    title: str
    body: SafeString


@lru_cache(maxsize=1)
def documentation_paths() -> frozenset[str]:
    """Paths of all pages below `docs/`."""
    return frozenset(file.relative_to(FOLDER).as_posix() for file in FOLDER.rglob("*.md"))


@lru_cache(maxsize=1)
def documentation_files() -> dict[str, Path]:
    """The pictures of `docs/images` and the sample reports of `docs/gallery` by their paths, as pages name them."""
    files = (*(FOLDER / "images").iterdir(), *(FOLDER / "gallery").glob("*.html"))
    return {file.relative_to(FOLDER).as_posix(): file for file in files}


@lru_cache(maxsize=64)
def documentation_page(path: str) -> DocumentationPage | None:
    """Return the page at a path, or the list of a folder's pages; None if there is neither.

    Only paths of `documentation_paths` are opened.
    """
    if path in documentation_paths():
        return _rendered(path, (FOLDER / path).read_text(encoding="utf-8"))
    names = sorted(name.removeprefix(path) for name in documentation_paths() if name.startswith(path))
    if not path.endswith("/") or not names:
        return None
    return _rendered(path, "\n".join([f"# {path}", *(f"- [{name}]({name})" for name in names)]))


def topic_of(view_name: str) -> str:
    """The page, with its heading, about what a view shows; the index for views without a topic."""
    return TOPICS[max((name for name in TOPICS if view_name.startswith(name)), key=len, default="search")]


@lru_cache(maxsize=1)
def glossary() -> dict[str, str]:
    """Anchors in the glossary by term in small letters; a heading names a term and, in brackets, other words for it."""
    page = documentation_page(GLOSSARY)
    headings = _TERM.findall(page.body) if page else []
    return {
        word.lower(): anchor for anchor, term, synonyms in headings for word in (term, *synonyms.split(", ")) if word
    }


def _rendered(path: str, markdown: str) -> DocumentationPage:
    html = nh3.clean(
        _parser.render(markdown),
        tags=TAGS,
        attributes={"a": {"href"}, "img": {"src", "alt"}, "ol": {"start"}},
        url_schemes={"https", "http", "mailto"},
    )
    heading = _HEADING.search(html)
    title = re.sub(r"<[^>]+>", "", heading[1]) if heading else path
    body = _HEADING.sub("", html, count=1)
    body = _LEVEL.sub(lambda part: f'<h{part[1]} id="{anchor_of(part[2])}">{part[2]}</h{part[1]}>', body)
    body = body.replace("<table>", '<div class="scroll" tabindex="0"><table>').replace("</table>", "</table></div>")
    body = body.replace("<pre>", '<pre tabindex="0">')  # scrolls sideways, by keyboard too
    return DocumentationPage(title, mark_safe(body))  # noqa: S308 -- cleaned above


def anchor_of(heading: str) -> str:
    """The anchor of a heading, which can have tags, as GitHub makes it."""
    return re.sub(r"\s", "-", re.sub(r"<[^>]+>|[^\w\s-]", "", heading).strip().lower())
