"""The section on the participants: their flow, who they are, and how they took part."""

from __future__ import annotations

from analysis.charts import method as charts
from analysis.narrative import sample as narrative
from analysis.results.report import Results
from analysis.tables import method as flow_tables
from analysis.tables import sample as tables
from documents.blocks import FigureMaker, Section
from studies.recruitment.interviewer_text import interviewed_sentence


def sample_section(results: Results, badge: str, figure: FigureMaker) -> Section:
    """The flow of participants and the analysed ones by condition; reports of older versions have the flow alone."""
    section = Section("sample", "Participants")
    flow = figure(
        "flow",
        charts.consort(results),
        "The flow of participants after CONSORT: how many reached each stage, and where the others left. The table "
        "below has it by condition.",
        flow_tables.flow_table(results.flow),
    )
    section.draw(flow)
    if flow is None:
        section.put(flow_tables.flow_table(results.flow))
    section.put(flow_tables.flow_by_condition(results.flow), is_folded=True)
    section.say(_exclusions(results))
    if interviews := results.flow.interviews:
        section.say(interviewed_sentence(interviews.n, interviews.interviewers, interviews.is_nested))
    _put_sample(section, results, "simulated participant" if badge else "participant")
    return section


def _put_sample(section: Section, results: Results, noun: str) -> None:
    sample = results.sample
    if sample is None:
        return
    if sample.characteristics:
        section.head("Characteristics by condition")
        section.say(narrative.analysed(sample, noun))
        section.put(tables.characteristics_table(sample))
        section.say(narrative.small_cells(sample))
        section.say(narrative.balance(sample))
        section.put(tables.balance_table(sample), is_folded=True)
    section.head("Duration, details and comments")
    section.say(narrative.duration(sample.total))
    section.say(narrative.opened(sample.total, noun, has_trailers=results.study.words.has_trailers))
    section.say(narrative.comments(sample, noun))
    section.put(tables.conduct_table(sample, has_trailers=results.study.words.has_trailers))


def _exclusions(results: Results) -> str:
    sentence, n = flow_tables.exclusions_sentence(results.flow), results.answers.n_incomplete
    return f"{sentence} {n} completed the study without all answers and are excluded." if n else sentence
