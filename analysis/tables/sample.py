"""Tables of the analysed participants: characteristics, balance, and how they took part."""

from __future__ import annotations

from analysis.results.sample import AnswersOfCondition, Characteristic, Conduct, NumberSummary, Sample
from analysis.tables.cells import MISSING, decimal, whole
from documents.numbers import NONE, minutes, percent
from documents.tables import Cell, Column, Row, Table, text
from inference.results import Undefined

ALL = "All"


def characteristics_table(sample: Sample) -> Table:
    """Every answer by condition: means of numbers, counts and shares of choices, counts of answers in words."""
    groups = [sample.total, *sample.by_condition]
    blank = Cell("", None)
    rows = [Row((text("n"), *(whole(group.n) for group in groups), blank), group="Analysed participants")]
    for characteristic in sample.characteristics:
        answers = [characteristic.total, *characteristic.by_condition]
        name = f"{characteristic.question} ({characteristic.unit})" if characteristic.unit else characteristic.question
        lines = _lines(characteristic, answers)
        balance = [_largest_difference(characteristic), *(blank for _ in lines[1:])]
        rows += [
            Row((text(label), *cells, largest), group=name)
            for (label, cells), largest in zip(lines, balance, strict=True)
        ]
    columns = (
        Column("Answer"), *(Column(name, True) for name in (ALL, *sample.conditions)),
        Column("Largest difference, SD", True),
    )  # fmt: skip
    note = (
        "Numbers of participants, with the share of those who answered. Answers that nobody chose have no line. No "
        "answer: not asked, declined or left out. Where several answers could be chosen, shares can add up to more "
        "than 100%. Largest difference: the absolute standardised difference after Yang and Dalton (2012), the largest "
        "over all pairs of conditions; not tested. Chance alone gives differences: see the text."
    )
    return Table("sample", "Analysed participants by condition", columns, tuple(rows), note, "Question")


def _largest_difference(characteristic: Characteristic) -> Cell:
    balance = characteristic.balance
    return MISSING if balance is None or isinstance(balance, Undefined) else decimal(balance.difference)


def _lines(
    characteristic: Characteristic, answers: list[AnswersOfCondition]
) -> list[tuple[str, list[Cell]]]:  # fmt: skip
    lines: list[tuple[str, list[Cell]]] = []
    if any(group.number is not None for group in answers):
        numbers = [group.number for group in answers]
        lines.append(("M", [decimal(None if number is None else number.mean) for number in numbers]))
        lines.append(("SD", [decimal(None if number is None else number.sd) for number in numbers]))
        lines.append(("Range", [_range(number) for number in numbers]))
    for index, label in enumerate(characteristic.answers):
        lines.append((label, [_share(group.counts[index], group.n) for group in answers]))
    if not lines:
        lines.append(("Answered", [whole(group.n) for group in answers]))
    if any(group.n_missing for group in answers):
        lines.append(("No answer", [whole(group.n_missing) for group in answers]))
    return lines


def _share(n: int, total: int) -> Cell:
    return Cell(f"{n:,} ({percent(n / total)})" if total else NONE, n if total else None)


def _range(number: NumberSummary | None) -> Cell:
    if number is None:
        return MISSING
    return Cell(f"{number.minimum:,g} to {number.maximum:,g}", f"{number.minimum!r} {number.maximum!r}")


def conduct_table(sample: Sample, *, has_trailers: bool) -> Table:
    """Duration, opened details and trailers, and comments, by condition."""
    named = [*zip(sample.conditions, sample.by_condition, strict=True), (ALL, sample.total)]
    rows = tuple(
        Row((text(name), *_conduct(group, has_trailers=has_trailers, asks_comments=sample.asks_comments)))
        for name, group in named
    )
    columns = [
        Column("Algorithm"), Column("n", True), Column("Median, min:s", True), Column("Range, min:s", True),
        Column("Details opened, times", True), Column("Details opened, participants", True),
    ]  # fmt: skip
    if has_trailers:
        columns += [Column("Trailers opened, times", True), Column("Trailers opened, participants", True)]
    if sample.asks_comments:
        columns.append(Column("Commented", True))
    note = (
        "Duration is the time from consent to the end; CSV files have it in seconds. Details are counted each time "
        "they were opened, from the list of recommendations on."
    )
    return Table("conduct", "Duration and conduct by condition", tuple(columns), rows, note)


def _conduct(group: Conduct, *, has_trailers: bool, asks_comments: bool) -> tuple[Cell, ...]:
    seconds = group.seconds
    span = MISSING
    if seconds is not None:
        low, high = seconds.minimum, seconds.maximum
        span = Cell(f"{minutes(low)} to {minutes(high)}", f"{low!r} {high!r}")
    return (
        whole(group.n),
        MISSING if seconds is None else Cell(minutes(seconds.median), seconds.median),
        span,
        whole(group.details_opened),
        whole(group.opened_details),
        *((whole(group.trailers_opened), whole(group.opened_trailers)) if has_trailers else ()),
        *((whole(group.commented),) if asks_comments else ()),
    )
