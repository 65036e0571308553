"""Formats: the named layouts and the kinds of files that need none, from the table of layouts."""

from __future__ import annotations

from catalog.importers.auto import FORMATS
from catalog.importers.detector.layouts import LAYOUTS, Layout
from catalog.item_types import ITEM_TYPES
from reference.markdown import code, table


def entries() -> str:
    """A table of the named layouts, a table of the other formats, and one of the item types."""
    layouts = table(
        ("`--format`", "data", "files and meaning", "scale", "item type"),
        (
            (
                code(name),
                each.title,
                each.sentence,
                _scale(each),
                code(each.proposal.item_type) if each.proposal.item_type else "by columns",
            )
            for name, each in LAYOUTS.items()
        ),
    )
    formats = table(
        ("`--format`", "files", "meaning"),
        ((code(name), each.title, each.sentence) for name, each in FORMATS.items() if name not in LAYOUTS),
    )
    kinds = table(
        ("item type", "title", "on cards", "in details", "picture"),
        (
            (code(kind.key), kind.title, ", ".join(sum(kind.card, ())), ", ".join(kind.details), kind.picture)
            for kind in ITEM_TYPES.values()
        ),
    )
    return f"### Named layouts\n\n{layouts}\n\n### Any file\n\n{formats}\n\n### Item types by key\n\n{kinds}"


def _scale(layout: Layout) -> str:
    if layout.refuse:
        return "refused"
    rated = layout.proposal.values
    if not rated.scale:
        return "usage" if layout.proposal.is_usage else "detected"
    low, high, step = rated.scale.split(":")
    left_out = f"; {', '.join(f'{value:g}' for value in rated.not_rated)} is no rating" if rated.not_rated else ""
    return f"{low} to {high}, {'any number' if step == 'none' else f'steps of {step}'}{left_out}"
