"""The sample: how many took part, who they were, and who is left out."""

from __future__ import annotations

import itertools

from analysis.present import method
from analysis.present.words import cell_of, decimal, whole
from analysis.results.report import Results
from analysis.results.sample import AnswersOfCondition, Characteristic, Conduct, NumberSummary, Sample
from documents.blocks import FigureMaker, Section
from documents.numbers import NONE, capital, minutes, number, percent, plural
from documents.tables import Cell, Column, Numbers, Row, Table, Words, table, text
from inference.balance import LargestDifference
from studies.recruitment.interviewer_text import interviewed_sentence

NamedConduct = tuple[str, Conduct]


def sample_section(results: Results, badge: str) -> Section:
    """The flow of participants, and who was analysed."""
    section, noun = Section("sample", "Participants"), "simulated participant" if badge else "participant"
    n = results.answers.n_incomplete
    incomplete = f" {n} completed the study without all answers and are excluded." if n else ""
    section.say(f"{method.exclusions_sentence(results.flow)}{incomplete}")
    if interviews := results.flow.interviews:
        section.say(interviewed_sentence(interviews.n, interviews.interviewers, interviews.is_nested))
    section.put(method.flow_table(results.flow))
    if (sample := results.sample) is not None and sample.characteristics:
        section.say(analysed(sample, noun))
        section.put(characteristics_table(sample))
        section.say(small_cells(sample))
        section.say(balance(sample))
    return section


def conduct_section(results: Results, badge: str, figure: FigureMaker) -> Section:
    """The supplement's participants: the flow by condition, and how they took part."""
    section, noun = Section("conduct", "Participants in detail"), "simulated participant" if badge else "participant"
    caption = "The flow of participants after CONSORT: how many reached each stage, and where the others left."
    section.draw(figure("flow", method.consort(results), caption, method.flow_table(results.flow)))
    section.put(method.flow_by_condition(results))
    if (sample := results.sample) is not None:
        section.say(duration(sample.total))
        section.say(opened(sample.total, noun, has_trailers=results.study.words.has_trailers))
        section.say(comments(sample, noun))
        section.put(conduct_table(sample, has_trailers=results.study.words.has_trailers))
    return section


# Sentences


SMALL = 5  # fewer participants with one answer in one condition may be recognisable


def analysed(sample: Sample, noun: str) -> str:
    """The number of participants, and every number that they were asked for."""
    sizes = sorted(group.n for group in sample.by_condition)
    each = f"{sizes[0]:,}" if sizes[0] == sizes[-1] else f"{sizes[0]:,} to {sizes[-1]:,}"
    sentences = [f"{capital(plural(sample.total.n, noun))} were analysed, {each} in each {sample.arm}."]
    for characteristic in sample.characteristics:
        total = characteristic.total
        if (summary := total.number) is None:
            continue
        sd = "" if summary.sd is None else f", SD = {number(summary.sd)}"
        sentences.append(
            f"“{characteristic.question}”: M = {number(summary.mean)}{sd}, range {summary.minimum:,g} to "
            f"{summary.maximum:,g} (n = {total.n:,})."
        )
    if sample.total.n == 1:
        sentences[0] = f"1 {noun} was analysed."
    return " ".join(sentences)


def small_cells(sample: Sample) -> str:
    """That small cells are shown; empty where there is none."""
    n = sum(
        0 < count < SMALL
        for characteristic in sample.characteristics
        for group in characteristic.by_condition
        for count in group.counts
    )
    if not n:
        return ""
    verb = "is" if n == 1 else "are"
    return (
        f"{plural(n, 'cell')} of this table {verb} of fewer than five participants. No cell is suppressed: before you "
        "publish the table, check that no participant can be recognised by it."
    )


def balance(sample: Sample) -> str:
    """The largest standardised difference between two conditions, and what chance alone would give."""
    described = [
        (characteristic.balance, characteristic)
        for characteristic in sample.characteristics
        if isinstance(characteristic.balance, LargestDifference)
    ]
    if not described:
        return ""
    largest, answers = max(described, key=lambda entry: entry[0].difference)
    if largest.difference == 0:
        return f"The {sample.arm}s do not differ in any of these answers."
    by_chance = ""
    if answers.by_chance is not None:
        by_chance = f" Random assignment keeps this question's within {number(answers.by_chance)} in 95% of draws."
    return (
        f"The largest standardised difference between two {sample.arm}s is {number(largest.difference)} "
        f"(“{answers.question}”, {largest.a} and {largest.b}). It is not tested.{by_chance} "
        "Losses of participants can add to it."
    )


def duration(conduct: Conduct) -> str:
    """The median time with its range."""
    seconds = conduct.seconds
    if seconds is None:
        return ""
    times = (seconds.median, seconds.minimum, seconds.maximum)
    if seconds.maximum < 59.5:
        (median, low, high), unit = (f"{time:.0f}" for time in times), "s"
    else:
        (median, low, high), unit = map(minutes, times), "min"
    return f"From consent to the end, participation took a median of {median} {unit} (range {low} to {high})."


def opened(conduct: Conduct, noun: str, *, has_trailers: bool) -> str:
    """How often details and trailers were opened, and by how many."""
    times = _times(conduct.details_opened, conduct.opened_details, noun)
    sentence = f"Details of recommended items were opened {times}"
    if not has_trailers:
        return f"{sentence}."
    return f"{sentence}, and trailers {_times(conduct.trailers_opened, conduct.opened_trailers, noun)}."


def _times(n: int, people: int, noun: str) -> str:
    return f"{plural(n, 'time')} by {plural(people, noun)}" if n else "never"


def comments(sample: Sample, noun: str) -> str:
    """How many wrote a comment; reports hold the number alone."""
    if not sample.asks_comments:
        return ""
    if not sample.total.commented:
        return f"No {noun} wrote a comment."
    return (
        f"{plural(sample.total.commented, noun)} wrote a comment. Comments can identify people, so the report has only "
        "their number; members of the study read them on the report's page of comments."
    )


# Tables


ALL = "All"


def characteristics_table(sample: Sample) -> Table:
    """Every answer by condition: means of numbers, counts and shares of choices, counts of answers in words."""
    groups = [sample.total, *sample.by_condition]
    blank = Cell("", None)
    rows = [Row((text("n"), *(whole(group.n) for group in groups), blank, blank), group="Analysed participants")]
    for characteristic in sample.characteristics:
        answers = [characteristic.total, *characteristic.by_condition]
        name = f"{characteristic.question} ({characteristic.unit})" if characteristic.unit else characteristic.question
        balance = cell_of(characteristic.balance, lambda largest: decimal(largest.difference))
        ends = itertools.chain([(balance, decimal(characteristic.by_chance))], itertools.repeat((blank, blank)))
        for (label, cells), end in zip(_lines(characteristic, answers), ends, strict=False):
            rows.append(Row((text(label), *cells, *end), group=name))
    columns = (
        Column("Answer"),
        *(Column(name, True) for name in (ALL, *sample.conditions)),
        Column("Largest d", True),
        Column("By chance", True),
    )
    note = (
        "Numbers of participants, with the share of those who answered. Answers that no participant chose have no "
        "line. No answer: not asked, declined or left out. Where several answers could be chosen, shares can add up "
        "to more than 100%. Largest d: the absolute standardised difference after Yang and Dalton (2012), the largest "
        "over all pairs of conditions; not tested. By chance: 95% of 199 random assignments of the same participants "
        "stay within it."
    )
    return Table("sample", f"Analysed participants by {sample.arm}", columns, tuple(rows), note, "Question")


def _lines(characteristic: Characteristic, answers: list[AnswersOfCondition]) -> list[tuple[str, list[Cell]]]:
    lines: list[tuple[str, list[Cell]]] = []
    numbers = [group.number for group in answers]
    if any(numbers):
        lines.append(("M", [cell_of(number, lambda own: decimal(own.mean)) for number in numbers]))
        lines.append(("SD", [cell_of(number, lambda own: decimal(own.sd)) for number in numbers]))
        lines.append(("Range", [cell_of(number, _range) for number in numbers]))
    for index, label in enumerate(characteristic.answers):
        lines.append((label, [_share(group.counts[index], group.n) for group in answers]))
    if not lines:
        lines.append(("Answered", [whole(group.n) for group in answers]))
    if any(group.n_missing for group in answers):
        lines.append(("No answer", [whole(group.n_missing) for group in answers]))
    return lines


def _share(n: int, total: int) -> Cell:
    return Cell(f"{n:,} ({percent(n / total)})" if total else NONE, n if total else None)


def _range(number: NumberSummary) -> Cell:
    return Cell(f"{number.minimum:,g} to {number.maximum:,g}", f"{number.minimum!r} {number.maximum!r}")


def conduct_table(sample: Sample, *, has_trailers: bool) -> Table:
    """Duration, opened details and trailers, and comments, by condition."""
    trailers = (
        Numbers[NamedConduct]("Trailers opened, times", lambda row: whole(row[1].trailers_opened)),
        Numbers[NamedConduct]("Trailers opened, participants", lambda row: whole(row[1].opened_trailers)),
    )
    commented = Numbers[NamedConduct]("Commented", lambda row: whole(row[1].commented))
    return table(
        "conduct",
        f"Duration and conduct by {sample.arm}",
        [*zip(sample.conditions, sample.by_condition, strict=True), (ALL, sample.total)],
        Words("Algorithm", lambda row: row[0]),
        Numbers("n", lambda row: whole(row[1].n)),
        Numbers("Median, min:s", lambda row: cell_of(row[1].seconds, lambda of: Cell(minutes(of.median), of.median))),
        Numbers("Range, min:s", lambda row: cell_of(row[1].seconds, _range_of_minutes)),
        Numbers("Details opened, times", lambda row: whole(row[1].details_opened)),
        Numbers("Details opened, participants", lambda row: whole(row[1].opened_details)),
        *(trailers if has_trailers else ()),
        *((commented,) if sample.asks_comments else ()),
        note="Duration is the time from consent to the end; CSV files have it in seconds. Details are counted each "
        "time they were opened, from the list of recommendations on.",
    )


def _range_of_minutes(seconds: NumberSummary) -> Cell:
    low, high = seconds.minimum, seconds.maximum
    return Cell(f"{minutes(low)} to {minutes(high)}", f"{low!r} {high!r}")
