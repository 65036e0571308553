"""The text of a page as a person reads it: its title and main area, one line for each block.

`# ` stands before a heading, `- ` before an entry of a list, `! ` before an alert. Links are in angle brackets, except
those of terms to the glossary, buttons and fields in square ones; `(x)` and `[x]` are chosen.
"""

from __future__ import annotations

from lxml import html
from lxml.html import HtmlElement

INLINE = frozenset({
    "a", "abbr", "b", "bdi", "br", "button", "cite", "code", "data", "dfn", "em", "i", "img", "input", "kbd",
    "mark", "optgroup", "option", "output", "q", "s", "samp", "select", "small", "span", "strong", "sub", "sup",
    "textarea", "time", "u", "var",
})  # fmt: skip
SKIPPED = frozenset({"script", "style", "template", "svg", "dialog", "datalist", "math", "canvas", "object"})
# Enough of a long list to see how an entry is worded.
MOST_ENTRIES, ENTRIES_SHOWN = 8, 2
MOST_OPTIONS = 12
TYPED = frozenset({"text", "search", "email", "password", "number", "url", "tel", "date", "time", "datetime-local"})


def text_of_page(content: str) -> str:
    """The title, the main area and what comes after it, with the note of a preview before it."""
    root = html.document_fromstring(content)
    title = " ".join(root.findtext(".//title", default="").split())
    # A fragment, as htmx asks for, is all of it.
    areas = root.xpath("//main | //main/following-sibling::* | //*[@class='mode-note']") or root.xpath("//body")
    reader = _Reader()
    for area in areas:
        reader.read(area)
    return "\n".join([f"Title: {title}", "", *reader.lines]) + "\n"


class _Reader:
    """Gathers lines: text runs on until a block begins or ends."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._run: list[str] = []
        self._mark = ""

    def read(self, element: HtmlElement) -> None:
        if not isinstance(element.tag, str) or _is_hidden(element):
            return
        if element.tag in INLINE and not _has_block(element):
            self._run.append(_inline(element))
            return
        self._break()
        if element.tag == "tr":
            self._row(element)
            return
        self._mark = _mark_of(element) or self._mark
        self._run.append(element.text or "")
        shown = list(element)
        left_out = 0
        entries = [child for child in shown if child.tag in ("li", "article")]
        if len(entries) > MOST_ENTRIES and len(entries) == len(shown):
            shown, left_out = entries[:ENTRIES_SHOWN], len(entries) - ENTRIES_SHOWN
        for child in shown:
            self.read(child)
            self._run.append(child.tail or "")
        self._break()
        if left_out:
            self.lines.append(f"… {left_out} more")

    def _row(self, row: HtmlElement) -> None:
        cells = [_inline(cell) for cell in row if isinstance(cell.tag, str) and not _is_hidden(cell)]
        self._run.append(" | ".join(" ".join(cell.split()) for cell in cells))
        self._break()

    def _break(self) -> None:
        if line := " ".join("".join(self._run).split()):
            self.lines.append(self._mark + line)
            self._mark = ""
        self._run = []


def _is_hidden(element: HtmlElement) -> bool:
    return (
        element.tag in SKIPPED
        or element.get("hidden") is not None
        or element.get("aria-hidden") == "true"
        or element.get("class") == "terms small"
        or (element.tag == "input" and element.get("type") == "hidden")
    )


def _has_block(element: HtmlElement) -> bool:
    return any(isinstance(part.tag, str) and part.tag not in INLINE | SKIPPED for part in element.iterdescendants())


def _mark_of(element: HtmlElement) -> str:
    if element.get("role") == "alert":
        return "! "
    if element.tag in ("h1", "h2", "h3", "h4", "h5", "h6"):
        return "#" * int(element.tag[1]) + " "
    return {"li": "- ", "dd": "  ", "summary": "> ", "legend": "* "}.get(element.tag, "")


def _inline(element: HtmlElement) -> str:
    """An element in a line of text."""
    if not isinstance(element.tag, str) or _is_hidden(element):
        return ""
    if element.tag == "input":
        return _field(element)
    if element.tag == "select":
        return _choices(element)
    if element.tag == "br":
        return " "
    if element.tag == "img":
        return f" (picture: {element.get('alt')}) " if element.get("alt") else ""
    text = (element.text or "") + "".join(_inline(child) + (child.tail or "") for child in element)
    if element.tag == "textarea":
        return f" [{text.strip() or '    '}] "
    if element.tag == "button":
        return f" [{' '.join((text.strip() or element.get('aria-label', '')).split())}] "
    if element.tag == "a" and element.get("href") and element.get("class") != "term":
        return f"<{' '.join((text.strip() or element.get('aria-label', '')).split())}>"
    return text if element.tag in INLINE else f" {text} "


def _field(element: HtmlElement) -> str:
    kind = element.get("type", "text")
    if kind in ("radio", "checkbox"):
        sides = "()" if kind == "radio" else "[]"
        return f" {sides[0]}{'x' if element.get('checked') is not None else ' '}{sides[1]} "
    if kind in TYPED:
        return f" [{element.get('value') or element.get('placeholder') or '    '}] "
    return f" [{element.get('value') or kind}] "


def _choices(element: HtmlElement) -> str:
    options = [" ".join(option.text_content().split()) for option in element.iter("option")]
    if len(options) > MOST_OPTIONS:
        options = [*options[:ENTRIES_SHOWN], f"… {len(options) - ENTRIES_SHOWN} more"]
    return f" [{' | '.join(options)}] "
