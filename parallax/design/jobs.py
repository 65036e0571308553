"""Work in the background, in each of its states."""

from __future__ import annotations

from typing import Any

from parallax.design.components import Section, State
from parallax.design.studies import SLUG
from parallax.design.tables import RUN

TRACEBACK = "recommenders.errors.DataError: The training rows hold no rating."


def sections() -> tuple[Section, ...]:
    """Imports, runs, simulations and reports."""
    return (
        Section("imports", "Imports", tuple(_imports())),
        Section("runs", "Runs", tuple(_runs())),
        Section("simulations", "Simulations", tuple(_simulations())),
        Section("reports", "Reports", tuple(_reports())),
    )


def _imports() -> list[State]:
    template, job = "console/catalog/_job.html", {"pk": 0, "kind": "import"}
    reading = {
        **job,
        "is_open": True,
        "status": "running",
        "get_status_display": "running",
        "activity": "Reading ratings",
    }
    problems = [
        {"file": "ratings.csv", "line": 17, "column": "rating", "reason": "7 is outside the scale 1–5."},
        {"file": "films.csv", "line": None, "column": "title", "reason": "The column is missing."},
    ]
    refused = "The file has 2 problems. Correct them, or change the columns."
    return [
        State(
            "queued", template, {"job": {**job, "is_open": True, "status": "queued", "get_status_display": "queued"}}
        ),
        State("running, 40% done", template, {"job": {**reading, "total": 100_000, "done": 40_000}}),
        State("failed", template, {"job": {**job, "status": "failed", "error": refused, "problems": problems}}),
        State(
            "failed, worth another attempt",
            template,
            {"job": {**job, "status": "failed", "error": "The disk is full."}},
        ),
        State("cancelled", template, {"job": {**job, "status": "cancelled"}}),
    ]


def _runs() -> list[State]:
    progress = {"total": 48, "done": 20, "leased": 2, "cases_per_second": 5200, "activity": "Evaluating NNCosNgr"}
    failed = [{"label": "AsySVD", "error": "It needs 12 GB of memory.", "error_detail": TRACEBACK}]
    return [
        _run("running", is_open=True, progress=progress, left="2 min 40 s"),
        _run("succeeded", failed=failed, failure_summary="1 of 7 algorithms failed."),
        _run("failed", error="The training rows hold no rating.", error_detail=TRACEBACK),
        _run("cancelled"),
    ]


def _run(status: str, error: str = "", error_detail: str = "", **context: Any) -> State:
    run = {**RUN, "status": status, "get_status_display": status, "error": error, "error_detail": error_detail}
    return State(status, "console/evaluation/_progress.html", {"run": run, "took": "1 min 20 s", **context})


def _simulations() -> list[State]:
    study, seat = {"slug": SLUG, "status": "draft"}, {"is_owner": True}
    jobs = (
        {"status": "running", "activity": "31 of 210 participants completed"},
        {"status": "done", "activity": "210 of 210 participants completed"},
        {"status": "failed", "error": "The site did not answer."},
    )
    return [
        State(
            job["status"], "console/studies/_simulation.html", {"study": study, "seat": seat, "job": {**job, "pk": 0}}
        )
        for job in jobs
    ]


def _reports() -> list[State]:
    request = {
        "pk": 0,
        "study": {"slug": SLUG},
        "activity": "Testing perceived accuracy",
        "get_absolute_url": "#specimen",
    }
    error = {"error": "The study has no participant who completed it."}
    return [
        State(
            status,
            "analysis/parts/_request.html",
            {"worker_request": {**request, **error, "status": status}, "is_open": is_open},
        )
        for status, is_open in (("running", True), ("failed", False), ("cancelled", False))
    ]
