"""Tables of the console: sortable, highlighted, with failures, and empty; and cards to choose from."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from evaluation.forms.choice_cards import ChoiceCards
from evaluation.forms.split_choice import SplitChoice
from evaluation.sorting import Head
from parallax.design.components import Section, State
from parallax.design.items import HERE

AT = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
RUN = {
    "pk": 7,
    "n": 10,
    "protocol": {"mode": "full", "ties": "expected"},
    "version": {"dataset": {"name": "films"}, "number": 1},
}
NAMES = ("PureSVD50", "NNCosNgr", "TopPop", "CorNgr")


def sections() -> tuple[Section, ...]:
    """Results of a run, reports, empty lists, and cards to choose from."""
    return (
        Section(
            "results", "Results, sortable", (State("", "console/evaluation/_results.html", _results()),), wide=True
        ),
        Section("highlight", "Highlighted row", (State("", "design/highlight.html", {"names": NAMES}),), wide=True),
        Section("reports", "Reports", (State("", "analysis/parts/_reports.html", {"reports": _reports()}),), wide=True),
        Section("empty", "Empty lists", (State("", "design/empty.html"),)),
        Section("cards", "Cards to choose from", (_cards(),), wide=True),
    )


def _cards() -> State:
    cards = SplitChoice.of("holdout").cards
    first = ChoiceCards(cards.name, cards.cards[:4])
    return State("", "console/evaluation/_choice_cards.html", {"cards": first, "legend": "Split"})


def _results() -> dict[str, Any]:
    values = ((".312", ".208", "+.101"), (".297", ".190", "+.083"), (".211", ".107", ""), (".184", ".099", "−.008"))
    lines = [
        {
            "label": name,
            "is_baseline": name == "TopPop",
            "model_id": 3,
            "remarks": ["tuned"] if name == "PureSVD50" else [],
            "cells": [{"text": recall}, {"text": precision, "difference": difference}],
            "fit_seconds": "12.35",
            "score_seconds": "0.82",
        }
        for name, (recall, precision, difference) in zip(NAMES, values, strict=True)
    ]
    return {
        "run": RUN,
        "lines": lines,
        "label_head": Head("Algorithm", HERE, ""),
        "reused": ["TopPop"],
        "is_hits": True,
        "heads": [Head("Recall", HERE, "descending", "mean of cases"), Head("Precision", HERE, "")],
        "failed": [{"label": "AsySVD", "error": "It needs 12 GB of memory, and 8 GB are free."}],
    }


def _reports() -> list[dict[str, Any]]:
    report = {
        "number": 4,
        "get_absolute_url": "#",
        "study": {"title": "Films", "slug": "films"},
        "run_id": 7,
        "made_by": "A. Researcher",
        "created_at": AT,
    }
    return [
        report,
        {**report, "number": 3, "is_out_of_date": True, "mode": "simulated", "made_by": None},
        {
            **report,
            "number": 2,
            "is_sample": True,
            "study": {"title": "Recommendations for films, second wave", "slug": "films-2"},
        },
        {**report, "number": 1, "is_pilot": True},
    ]
