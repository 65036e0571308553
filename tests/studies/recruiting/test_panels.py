"""Panels, exits and lists as pure data: who a link names, where people go, what a file says or why it is refused."""

from __future__ import annotations

from typing import Any

import pytest

from core.errors import DataError, ParameterError
from studies.recruitment.panels import exits
from studies.recruitment.panels.exits import Exit, checked_exit, exits_from, redirect_url
from studies.recruitment.panels.panel import STATES, Columns
from studies.recruitment.panels.sites import KEYS, MTURK, OPEN, PROLIFIC, SONA, panel_of, panel_with
from studies.recruitment.panels.submissions import (
    LARGEST,
    MOST_ENTRIES,
    MOST_PROBLEMS,
    MOST_ROWS,
    entries_of,
    read_submissions,
)

pytestmark = pytest.mark.unit


def test_every_panel_speaks_the_one_vocabulary() -> None:
    for key in KEYS:
        panel = panel_of(key)
        assert set(panel.states.values()) <= set(STATES)
        assert panel.person
    with pytest.raises(ParameterError, match="'Prolific'"):
        panel_of("Prolific")


@pytest.mark.parametrize(
    ("key", "parameters", "who"),
    [
        ("prolific", {"PROLIFIC_PID": "Ab", "STUDY_ID": "s", "SESSION_ID": "x"}, ("PROLIFIC_PID", "Ab")),
        ("prolific", {"STUDY_ID": "s", "SESSION_ID": "x"}, ("SESSION_ID", "x")),
        ("prolific", {"STUDY_ID": "s"}, None),
        ("prolific", {"prolific_pid": "Ab"}, None),
        ("prolific", {"PROLIFIC_PID": "A\x00"}, None),  # PostgreSQL would not even look for it
        ("prolific", {"PROLIFIC_PID": "{{%PROLIFIC_PID%}}"}, None),
        ("mturk", {"workerId": "W", "assignmentId": "A", "turkSubmitTo": "t"}, ("workerId", "W")),
        ("sona", {"id": "77"}, ("id", "77")),
        ("sona", {"id": "%SURVEY_CODE%"}, None),
        ("generic", {"participant_label": "p"}, ("participant_label", "p")),
        ("none", {"id": "77"}, None),
        ("none", {"workerId": "W"}, ("workerId", "W")),
        ("none", {"PROLIFIC_PID": ""}, None),
    ],
)
def test_a_link_names_whom_its_panel_says(key: str, parameters: dict[str, str], who: Any) -> None:
    assert panel_of(key).identify(parameters) == who


def test_links_to_paste_have_the_panels_own_placeholders() -> None:
    assert PROLIFIC.query == ("?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}")
    assert SONA.query == "?id=%SURVEY_CODE%"
    assert MTURK.query == OPEN.query == ""


def test_a_preview_on_mechanical_turk_is_told_from_a_worker() -> None:
    looking = {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "hitId": "h"}
    assert MTURK.is_preview(looking)
    assert OPEN.is_preview(looking)
    assert not MTURK.is_preview({"assignmentId": "A1"})
    assert not PROLIFIC.is_preview(looking)


def test_a_mapping_of_ones_own_names_person_and_submission() -> None:
    panel = panel_with({"person": ["pid", "pid", "uid"], "submission": ["sid"]})
    assert panel.ids == ("pid", "uid", "sid")
    assert panel.query == "?pid=…"
    assert panel.identify({"sid": "1"}) == ("sid", "1")
    for names, told in ((["as"], "used by this site"), (["a b"], "letters, digits"), (list("abcdef"), "At most 5")):
        with pytest.raises(ParameterError, match=told):
            panel_with({"person": names})


def test_every_outcome_has_an_exit_and_completion_a_code_of_ones_own() -> None:
    found = exits_from({"quota_full": {"code": "static", "static_code": "Q"}}, OPEN)
    assert tuple(found) == exits.OUTCOMES
    assert {name: one.code for name, one in found.items()} == {
        "complete": "unique", "screened_out": "none", "quota_full": "static", "attention_failed": "none",
        "withdrew": "none",
    }  # fmt: skip


def test_prolific_is_gone_back_to_with_the_code_in_the_address() -> None:
    exit_ = checked_exit("complete", Exit("static", " C1A2 "), PROLIFIC)
    assert redirect_url(exit_.template(PROLIFIC), code=exit_.static_code, known_as="", parameters={}) == (
        "https://app.prolific.com/submissions/complete?cc=C1A2"
    )
    assert Exit("unique").template(PROLIFIC) == ""  # Prolific knows no codes but its own
    assert Exit("static", "C1").template(OPEN) == ""


def test_sona_grants_credit_to_the_code_that_came_in() -> None:
    shown = "https://x.sona-systems.com/webstudy_credit.aspx?experiment_id=9&credit_token=ab&survey_code=XXXX"
    exit_ = checked_exit("complete", Exit("none", url=shown), SONA)
    assert redirect_url(exit_.template(SONA), code="", known_as="4 2", parameters={}) == (
        "https://x.sona-systems.com/webstudy_credit.aspx?experiment_id=9&credit_token=ab&survey_code=4%202"
    )
    assert checked_exit("complete", Exit(url="https://a.example/"), SONA).url == "https://a.example/"
    with pytest.raises(ParameterError, match="begins with https://"):
        checked_exit("complete", Exit(url="https://[a?survey_code=1"), SONA)


def test_blanks_are_escaped_and_half_an_address_leads_nowhere() -> None:
    template = "https://a.example/end?c={code}&p={pid}"
    assert redirect_url(template, code="C", known_as="", parameters={"pid": "a&cc=X/#é"}) == (
        "https://a.example/end?c=C&p=a%26cc%3DX%2F%23%C3%A9"
    )
    assert redirect_url(template, code="C", known_as="", parameters={}) == ""
    assert redirect_url("https://a.example/", code="", known_as="", parameters={}) == "https://a.example/"


@pytest.mark.parametrize(
    ("outcome", "exit_", "told"),
    [
        ("died", Exit(), "no outcome 'died'"),
        ("complete", Exit("secret"), "A code is one of"),
        ("complete", Exit("static"), "1 to 64 characters"),
        ("complete", Exit("static", "a b"), "1 to 64 characters"),
        ("complete", Exit(url="javascript:alert(1)"), "begins with https://"),
        ("complete", Exit(url="//a.example"), "begins with https://"),
        ("complete", Exit(url="https://[a"), "begins with https://"),
        ("complete", Exit(url="https://a.example/\n"), None),
        ("complete", Exit(url="https://a.example/ b"), "begins with https://"),
        ("complete", Exit(url="https://{host}/"), "The host of an address is fixed"),
        ("complete", Exit(url="https://a.example/{code}"), "this exit has no code"),
        ("complete", Exit(url="https://a.example/" + "a" * 1000), "at most 1000"),
        ("complete", Exit(text={"en": "x" * 5001}), "at most 5000"),
    ],
)
def test_an_exit_that_leads_astray_is_refused(outcome: str, exit_: Exit, told: str | None) -> None:
    if told is None:
        assert checked_exit(outcome, exit_, OPEN).url == "https://a.example/"
        return
    with pytest.raises(ParameterError, match=told):
        checked_exit(outcome, exit_, OPEN)


def test_a_list_is_read_line_by_line_with_case_kept() -> None:
    assert entries_of("\ufeffAb\r\n\r\n ab , more\nAb\n", 5) == ("Ab", "ab")
    assert entries_of("", 5) == ()
    for text, told in (("ok\nmuch too long\n", "Line 2: an entry has at most 5"), ("a\x00", "Line 1: .*NUL"),
                       ("x" * 200_000, "Line 1: the list cannot be parsed"),
                       ("\n".join(map(str, range(MOST_ENTRIES + 1))), "at most 20,000")):  # fmt: skip
        with pytest.raises(DataError, match=told):
            entries_of(text, 5)


PROLIFIC_LIST = (
    "Submission id,Participant id,Status,Started at,Completion code\n"
    's1,p1,AWAITING REVIEW,"2026, May",C1\n'
    "s2,p2,RETURNED,,\n"
    "s3,p2,TIMED-OUT,,NOCODE\n"
    "\n"
    "s3,p2,TIMED-OUT,,NOCODE\n"
)


def _read(text: str | bytes, panel: str = "prolific") -> Any:
    found = panel_of(panel)
    data = text if isinstance(text, bytes) else text.encode()
    return read_submissions(data, found.columns, found.states)


def test_prolifics_list_is_read() -> None:
    rows, problems = _read(PROLIFIC_LIST)
    assert problems == ()
    assert [(r.line, r.person, r.submission, r.state, r.code) for r in rows] == [
        (2, "p1", "s1", "awaiting", "C1"), (3, "p2", "s2", "returned", ""), (4, "p2", "s3", "timed_out", "NOCODE"),
    ]  # fmt: skip
    assert _read(b"\xef\xbb\xbf" + PROLIFIC_LIST.replace(",", ";").encode())[0][1].state == "returned"
    assert len(_read(PROLIFIC_LIST.encode("utf-16"))[0]) == 3


def test_mturks_and_sonas_lists_are_read() -> None:
    rows, problems = _read("HITId,WorkerId,AssignmentId,AssignmentStatus,Answer.code\nh,W,A,Submitted,K7\n", "mturk")
    assert (problems, rows[0].state, rows[0].code, rows[0].submission) == ((), "awaiting", "K7", "A")
    rows, problems = _read("Survey ID\tCredit Status\n12\tParticipated\n13\tNo-Show (Excused)\n", "sona")
    assert ([row.state for row in rows], problems) == (["approved", "timed_out"], ())


def test_without_a_column_of_states_everybody_awaits() -> None:
    rows, problems = read_submissions(b"who\na\n", Columns(("who",)), {})
    assert (rows[0].state, rows[0].key, problems) == ("awaiting", "person:a", ())


@pytest.mark.parametrize(
    ("text", "line", "column", "reason"),
    [
        (b"", 0, "", "empty"),
        (b"\xff\xfa", 1, "", "not valid UTF-8"),
        (b"a,b\nc\xe9,d\n", 2, "", "not valid UTF-8"),
        ("a\n\x00\n", 2, "", "NUL"),
        ("Submission id,Status\n", 1, "Participant id", "no column with the participant's id"),
        ("Submission id,Participant id\n", 1, "Status", "There is no column with the submission's status"),
        ("Participant id,Status\np,RETURNED,x\n", 2, "", "The line has 3 cells, but the header has 2"),
        ("Participant id,Status\n,RETURNED\n", 2, "Participant id", "id is missing"),
        ("Participant id,Status\np,LOST\n", 2, "Status", "'LOST' is unknown"),
        (
            "Participant id,Status\np,RETURNED\np,APPROVED\n",
            3,
            "Participant id",
            "The line contradicts line 2 about 'p'",
        ),
        ('Participant id,Status\n"p"x,RETURNED\n', 2, "", "not valid CSV"),
        ("Participant id,Status\n" + "p" * 501 + ",RETURNED\n", 2, "Participant id", "the limit is 500"),
        (b"x" * (LARGEST + 1), 0, "", "the limit is"),
    ],
)
def test_a_bad_list_is_refused_with_line_column_and_reason(
    text: str | bytes, line: int, column: str, reason: str
) -> None:
    rows, problems = _read(text)
    assert rows == ()
    assert (problems[0].line, problems[0].column) == (line, column)
    assert reason in problems[0].reason


def test_a_list_beyond_measure_is_refused() -> None:
    rows, problems = read_submissions(b"who\n" + b"p\n" * (MOST_ROWS + 1), Columns(("who",)), {})
    assert (rows, problems[0].line) == ((), MOST_ROWS + 2)


def test_every_problem_is_told_up_to_a_limit() -> None:
    text = "Participant id,Status\n" + "p,LOST\n" * 3
    assert [problem.line for problem in _read(text)[1]] == [2, 3, 4]
    many = _read("Participant id,Status\n" + "p,LOST\n" * 90)[1]
    assert len(many) == MOST_PROBLEMS + 1
    assert "may be more" in many[-1].reason
