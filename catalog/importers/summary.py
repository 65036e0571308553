"""The summary of an import: what the dataset holds and lacks, and each doubt as a sentence."""

from __future__ import annotations

from typing import Any

import numpy as np

from catalog.importers.base import ParsedDataset
from catalog.importers.items import ItemNotes, equal_titles
from catalog.importers.proposal import Proposal
from catalog.importers.rows import DAMAGED_ID
from catalog.importers.scales import ScaleFinding

_MOST_SHOWN = 5
_MOST_POINTS = 21  # of a scale whose unused points are named


def summary_of(
    parsed: ParsedDataset, finding: ScaleFinding | None, notes: ItemNotes, proposal: Proposal
) -> tuple[dict[str, Any], list[str]]:
    """The summary in JSON values, and sentences on what is doubtful."""
    per_user = np.bincount(parsed.users, minlength=parsed.n_users)
    per_item = np.bincount(parsed.items_rated, minlength=parsed.n_items)
    is_rated = per_item > 0
    titles = equal_titles(parsed.items)
    damaged = [item for item in parsed.items if DAMAGED_ID.fullmatch(item.external_id)]
    n_damaged_rows = int(per_item[[bool(DAMAGED_ID.fullmatch(item.external_id)) for item in parsed.items]].sum())
    roles = {name for part in proposal.parts for name in part.roles()}
    unused = [
        column.name
        for part in proposal.parts
        if part.use == "ratings"
        for column in part.columns
        if column.name not in roles
    ]
    summary: dict[str, Any] = {
        "users": parsed.n_users,
        "items": parsed.n_items,
        "ratings": parsed.n_ratings,
        "ratings_per_user": _spread(per_user),
        "ratings_per_item": _spread(per_item[is_rated]),
        "users_with_one": round(float((per_user == 1).mean()), 4),
        "items_with_one": round(float((per_item[is_rated] == 1).mean()), 4),
        "items_without_ratings": int((~is_rated).sum()),
        # Beside the ratings, an item without an id has its title for one.
        "items_without_title": (
            notes.untitled
            if proposal.ratings.column("title")
            else sum(item.title == item.external_id for item in parsed.items)
        ),
        "equal_titles": [list(pair) for pair in titles[:_MOST_SHOWN]],
        "n_equal_titles": len(titles),
        "entities_repaired": notes.entities,
        "conflicting_facts": notes.conflicts,
        "damaged_ids": len(damaged),
        "columns_not_used": unused,
        "files_not_used": list(proposal.unused),
        "unused_points": [] if finding is None else list(finding.unused[:50]),
    }
    return summary, _doubts(parsed, summary, finding, damaged[0].external_id if damaged else "", n_damaged_rows, notes)


def _spread(counts: np.ndarray[Any, Any]) -> dict[str, float]:
    return {"median": float(np.median(counts)), "lowest": int(counts.min()), "highest": int(counts.max())}


def _doubts(
    parsed: ParsedDataset,
    summary: dict[str, Any],
    finding: ScaleFinding | None,
    damaged: str,
    n_damaged_rows: int,
    notes: ItemNotes,
) -> list[str]:
    doubts = []
    if (
        finding is not None
        and finding.scale is not None
        and finding.unused
        and len(finding.scale.values()) <= _MOST_POINTS
    ):
        shown = [f"{value:g}" for value in finding.unused[:_MOST_SHOWN]]
        more = len(finding.unused) - len(shown)
        listed = ", ".join(shown) + (f" and {more} more points" if more else "")
        doubts.append(f"No rating of {listed}; the scale is {finding.scale.low:g} to {finding.scale.high:g}.")
    for who in ("users", "items"):
        share = summary[f"{who}_with_one"]
        if share > 0.5:
            doubts.append(f"{share:.0%} of the {who} have one rating only.")
    untitled = summary["items_without_title"]
    if 0 < untitled < parsed.n_items:
        doubts.append(
            f"{untitled:,} {'item has' if untitled == 1 else 'items have'} no title: participants would see the id."
        )
    if summary["n_equal_titles"]:
        title, n = summary["equal_titles"][0]
        more = summary["n_equal_titles"] - 1
        rest = "" if not more else f", and {more:,} more {'title' if more == 1 else 'titles'}"
        doubts.append(f"{n} items share the title “{title}”{rest}: they may be editions of one work.")
    if notes.entities:
        doubts.append(f"HTML entities were replaced by characters in {notes.entities:,} texts.")
    if notes.addresses:
        doubts.append(
            f"{notes.addresses:,} {'address' if notes.addresses == 1 else 'addresses'} of images or trailers left out: "
            "not a web address (https://…)."
        )
    if notes.conflicts:
        doubts.append(f"{notes.conflicts:,} rows contradict the most frequent title or fact of their item.")
    if damaged:
        doubts.append(
            f"{summary['damaged_ids']:,} ids look damaged by a spreadsheet, such as {damaged} (in {n_damaged_rows:,} "
            "rows). Import the original file."
        )
    return doubts
