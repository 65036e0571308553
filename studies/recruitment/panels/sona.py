"""SONA: a survey code in the link, returned in the address that grants credit."""

from __future__ import annotations

from urllib.parse import parse_qsl, quote, urlsplit

from studies.recruitment.panels.panel import APPROVED, AWAITING, REJECTED, RETURNED, TIMED_OUT, Columns, Panel

CODE = "survey_code"


def credit_url(shown: str) -> str:
    """Convert the credit address that SONA shows into a template.

    The template has ``{id}`` for the participant's code; other addresses are unchanged.

    Examples
    --------
    >>> credit_url("https://x.sona-systems.com/webstudy_credit.aspx?experiment_id=9&credit_token=ab&survey_code=XXXX")
    'https://x.sona-systems.com/webstudy_credit.aspx?experiment_id=9&credit_token=ab&survey_code={id}'
    """
    try:
        parts = urlsplit(shown)
    except ValueError:
        return shown
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    if CODE not in dict(pairs):
        return shown
    query = "&".join(
        f"{quote(name, safe='')}={'{id}' if name == CODE else quote(value, safe='{}')}" for name, value in pairs
    )
    return f"{parts.scheme}://{parts.netloc}{parts.path}?{query}"


PANEL = Panel(
    key="sona",
    name="SONA",
    person=("id",),
    placeholders={"id": "%SURVEY_CODE%"},
    exit_from=credit_url,
    columns=Columns(
        person=("Survey ID", "Survey Code", "survey_code", "id"),
        status=("Credit Status", "Status"),
    ),
    states={
        "awaiting action": AWAITING,
        "pending": AWAITING,
        "signed up": AWAITING,
        "participated": APPROVED,
        "credit granted": APPROVED,
        "no show": TIMED_OUT,
        "no show excused": TIMED_OUT,
        "excused no show": TIMED_OUT,
        "no show unexcused": REJECTED,
        "unexcused no show": REJECTED,
        "cancelled": RETURNED,
        "canceled": RETURNED,
    },
)
