"""In which form times are written."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import lru_cache, partial

EARLIEST = datetime(1990, 1, 1, tzinfo=UTC).timestamp()
LEAST_SHARE = 0.95
# A year before 1990 is a time of a rating only by its column's name; a day count (1, 2, … 711) never is.
_SECONDS = re.compile(r"\d{9,19}(\.0+)?")
_CLOCKS = ("", " %H:%M:%S", " %H:%M", " %I:%M:%S %p", " %I:%M %p")
_DAYS = (
    "%d.%m.%Y", "%d.%m.%y", "%m/%d/%Y", "%d/%m/%Y", "%m/%d/%y", "%d/%m/%y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d",
    "%m %d, %Y", "%b %d, %Y", "%B %d, %Y", "%d %b %Y", "%d %B %Y", "%Y%m%d",
)  # fmt: skip
_OTHERS = ("%a %b %d %H:%M:%S %z %Y", "%a, %d %b %Y %H:%M:%S %z", "%Y-%m-%d %H:%M:%S.%f UTC", "%Y-%m-%d %H:%M:%S UTC",
           "%Y-%m-%d %H:%M", "%Y%m%d%H%M%S")  # fmt: skip
FORMS = (*(day + clock for day in _DAYS for clock in _CLOCKS), *_OTHERS)
TWINS = {"%m/%d": "%d/%m", "%d/%m": "%m/%d", "%m-%d": "%d-%m", "%d-%m": "%m-%d"}


def time_format_of(texts: Sequence[str], least: float = LEAST_SHARE) -> str | None:
    """The form of times, as `strptime` takes it; empty for seconds (or finer) since 1970 and ISO 8601; None: no times.

    Examples
    --------
    >>> time_format_of(["28.02.2012", "01.04.2011"]), time_format_of(["1302790671"]), time_format_of(["711", "3"])
    ('%d.%m.%Y', '', None)
    """
    forms = time_formats_of(tuple(texts), least)
    return forms[0] if forms else None


@lru_cache(maxsize=256)
def time_formats_of(texts: tuple[str, ...], least: float = LEAST_SHARE) -> tuple[str, ...]:
    """Every form in which a share of the texts are times from 1990 to next year; several where day and month could be
    either.
    """
    filled = [text.strip() for text in texts if text.strip()]
    if not filled or not any(mark.isdigit() for mark in filled[0]):
        return ()
    latest = datetime.now(UTC).timestamp() + 366 * 86_400
    if _is_most(filled, lambda text: EARLIEST <= _seconds(text) <= latest, least):
        return ("",)
    few = filled[:50]
    forms = [form for form in FORMS if _is_most(few, partial(_is_moment, form, latest), 0.9 * least)]
    return tuple(form for form in forms if _is_most(filled, partial(_is_moment, form, latest), least))


def _is_most(texts: Sequence[str], is_it: Callable[[str], bool], least: float) -> bool:
    return sum(map(is_it, texts)) >= least * len(texts)


def _seconds(text: str) -> float:
    """Seconds since 1970 of a text that gives them, or finer units, or ISO 8601; -1 for another."""
    if _SECONDS.fullmatch(text):
        number = float(text)
        while number >= 1e11:
            number /= 1000
        return number
    if len(text) < 10 or text[4:5] != "-":
        return -1
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return -1
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _is_moment(form: str, latest: float, text: str) -> bool:
    try:
        moment = datetime.strptime(text, form)  # noqa: DTZ007  # UTC where the text has no zone
    except ValueError:
        return False
    return EARLIEST <= (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() <= latest
