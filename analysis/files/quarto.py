"""A Quarto document that reads the report's tables and figures, as a start for a paper."""

from __future__ import annotations

import json

from analysis.files.document import Document
from documents.blocks import Block, Figure
from documents.markdown import escaped, sentence

SETUP = r'''```{python}
#| include: false
import csv
import json
import re
from pathlib import Path

from IPython.display import Markdown

report = json.loads(Path("report.json").read_text(encoding="utf-8"))


def table(name):
    """A table of the report, as Markdown."""
    with (Path("tables") / name).open(encoding="utf-8", newline="") as file:
        heads, *rows = csv.reader(file)

    def shown(cell):
        try:
            number = float(cell)
        except ValueError:
            return re.sub(r"([\\`*_{}\[\]<>#|~^$@])", r"\\\1", cell)
        return cell if number.is_integer() and "e" not in cell else f"{number:.3f}"

    lines = [map(shown, heads), ["---"] * len(heads), *(map(shown, row) for row in rows)]
    return Markdown("\n".join("| " + " | ".join(line) + " |" for line in lines))
```
'''


def report_quarto(document: Document, badges: list[str]) -> str:
    """The source: the sentences of the report, with figures and tables by their file names."""
    report = document.report
    parts = [_header(document), SETUP]
    parts += [f"::: {{.callout-warning}}\n{sentence(badge)}\n:::\n" for badge in badges]
    parts.append(f"**{escaped(''.join(run.text for run in document.headline))}.**\n")
    parts += [f"{sentence(text)}\n" for text in (*document.evidence, document.scope, *document.limits) if text]
    for section in document.all_sections:
        parts.append(f"# {escaped(section.title)} {{#sec-{section.key}}}\n")
        for block in section.blocks:
            parts += _block(block)
    parts.append(
        "# Source\n\nThe numbers come from `report.json`, inputs "
        f'`{report.inputs_hash}`: `{{python}} report["inputs_hash"]`.\n'
    )
    return "\n".join(parts)


def _header(document: Document) -> str:
    report = document.report
    # JSON is YAML: a title with a colon or quotes needs no rules of its own.
    lines = {
        "title": escaped(report.study.title),  # Quarto reads it as Markdown
        "subtitle": f"Report {report.number}, created by Parallax",
        "date": report.created_at.date().isoformat(),
        "lang": "en",
    }
    head = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in lines.items()]
    head += [
        "format:", "  html:", "    toc: true", "    embed-resources: true", "  pdf:", "    toc: true",
        "    documentclass: scrartcl", "jupyter: python3", "execute:", "  echo: false",
    ]  # fmt: skip
    return "\n".join(["---", *head, "---", ""])


def _block(block: Block) -> list[str]:
    if block.heading:
        return [f"## {escaped(block.heading)}\n"]
    if block.figures:
        return [_figure(figure) for figure in block.figures]
    if block.table is not None:
        if block.is_folded:
            return []
        key = block.table.key
        label = f"#| label: tbl-{key}\n#| tbl-cap: {json.dumps(escaped(block.table.title), ensure_ascii=False)}"
        return [f'```{{python}}\n{label}\ntable("{key}.csv")\n```\n']
    return [f"{sentence(block.text)}\n"]


def _figure(figure: Figure) -> str:
    return f"![{sentence(figure.caption)}]({figure.file}){{#fig-{figure.key}}}\n"
