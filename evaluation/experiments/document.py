"""A document of headings, sentences, tables and pictures, as Markdown and as a page that stands alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True)
class Heading:
    """A heading of level 1 to 3."""

    text: str
    level: int = 2


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class Points:
    """A list of sentences."""

    entries: tuple[str, ...]


@dataclass(frozen=True)
class Grid:
    """A table; the first column names the row. One of words, and not of numbers, is set as text."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    is_words: bool = False


@dataclass(frozen=True)
class Picture:
    """A figure: the file it is in, what it shows in words, and its SVG for the page."""

    file: str
    words: str
    svg: str


Block = Heading | Text | Points | Grid | Picture

_STYLE = """
:root { color-scheme: light dark; --ink: #1d1f21; --quiet: #63686d; --paper: #fff; --line: #d6d9dc; }
@media (prefers-color-scheme: dark) { :root { --ink: #e7e8ea; --quiet: #a3a8ad; --paper: #17191b; --line: #3a3e42; } }
body { margin: 0 auto; padding: 1.5rem 1rem 4rem; max-width: 52rem; color: var(--ink); background: var(--paper);
  font: 16px/1.55 system-ui, sans-serif; }
h1 { font-size: 1.6rem; line-height: 1.25; } h2 { font-size: 1.2rem; margin-top: 2.5rem; }
h3 { font-size: 1rem; margin: 1.75rem 0 .25rem; }
.wide, figure { overflow-x: auto; margin: 1.25rem 0; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--quiet); padding-bottom: .35rem; }
th, td { padding: .25rem .9rem .25rem 0; border-bottom: 1px solid var(--line); text-align: right; }
th:first-child, td:first-child { text-align: left; }
.words th, .words td { text-align: left; vertical-align: top; }
.words tbody th { font-weight: normal; }
figure { background: #fff; padding: .5rem; }
figure svg { max-width: 100%; min-width: 36rem; height: auto; }
"""


def markdown(blocks: Sequence[Block]) -> str:
    """The document as Markdown; pictures are links to their files.

    Parameters
    ----------
    blocks : sequence of Block

    Returns
    -------
    str

    Examples
    --------
    >>> print(markdown([Heading("Found"), Grid("Recall", ("", "N = 5"), (("TopPop", ".266"),))]))
    ## Found
    <BLANKLINE>
    Recall
    <BLANKLINE>
    |  | N = 5 |
    | :--- | ---: |
    | TopPop | .266 |
    <BLANKLINE>
    """
    return "\n\n".join(_as_markdown(block) for block in blocks) + "\n"


def _as_markdown(block: Block) -> str:
    match block:
        case Heading(text, level):
            return f"{'#' * level} {text}"
        case Text(text):
            return text
        case Points(entries):
            return "\n".join(f"- {entry}" for entry in entries)
        case Grid(caption, head, rows, is_words):
            return f"{caption}\n\n{grid_markdown(head, rows, is_words=is_words)}"
        case Picture(file, words, _):
            return f"![{words}]({file})"


def grid_markdown(head: Sequence[str], rows: Sequence[Sequence[str]], *, is_words: bool = False) -> str:
    r"""A table as Markdown.

    Parameters
    ----------
    head : sequence of str
    rows : sequence of sequences of str
        Each as long as `head`.
    is_words : bool
        Whether the cells are set as text.

    Returns
    -------
    str

    Examples
    --------
    >>> grid_markdown(["a|b"], [["1"]]).splitlines()[0]
    '| a\\|b |'
    """
    lines = [head, [":---", *[":---" if is_words else "---:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def page(title: str, blocks: Sequence[Block]) -> str:
    """The document as one HTML page that needs nothing else.

    Parameters
    ----------
    title : str
    blocks : sequence of Block

    Returns
    -------
    str

    Examples
    --------
    >>> "<p>1 &lt; 2</p>" in page("Small", [Text("1 < 2")])
    True
    """
    body = "\n".join(_as_html(block) for block in blocks)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n{body}\n</main>\n"
        "</body>\n</html>\n"
    )


def _as_html(block: Block) -> str:
    match block:
        case Heading(text, level):
            return f"<h{level}>{escape(text)}</h{level}>"
        case Text(text):
            return f"<p>{escape(text)}</p>"
        case Points(entries):
            return f"<ul>{''.join(f'<li>{escape(entry)}</li>' for entry in entries)}</ul>"
        case Grid(caption, head, rows, is_words):
            heads = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in head)
            lines = "".join(
                f'<tr><th scope="row">{escape(row[0])}</th>{"".join(f"<td>{escape(cell)}</td>" for cell in row[1:])}'
                "</tr>"
                for row in rows
            )
            kind = "wide words" if is_words else "wide"
            return (
                f'<div class="{kind}"><table><caption>{escape(caption)}</caption><thead><tr>{heads}</tr></thead>'
                f"<tbody>{lines}</tbody></table></div>"
            )
        case Picture(_, _, svg):
            return f"<figure>{svg}</figure>"
