"""The section on the participants: their flow, who they are, and how they took part."""

from __future__ import annotations

from analysis.charts import method as charts
from analysis.narrative import sample as narrative
from analysis.results.report import Results
from analysis.tables import method as flow_tables
from analysis.tables import sample as tables
from documents.blocks import FigureMaker, Section
from studies.recruitment.interviewer_text import interviewed_sentence


def sample_section(results: Results, badge: str) -> Section:
    """The flow of participants, and who was analysed."""
    section, noun = Section("sample", "Participants"), "simulated participant" if badge else "participant"
    section.say(_exclusions(results))
    if interviews := results.flow.interviews:
        section.say(interviewed_sentence(interviews.n, interviews.interviewers, interviews.is_nested))
    section.put(flow_tables.flow_table(results.flow))
    if (sample := results.sample) is not None and sample.characteristics:
        section.say(narrative.analysed(sample, noun))
        section.put(tables.characteristics_table(sample))
        section.say(narrative.small_cells(sample))
        section.say(narrative.balance(sample))
    return section


def conduct_section(results: Results, badge: str, figure: FigureMaker) -> Section:
    """The supplement's participants: the flow by condition, and how they took part."""
    section, noun = Section("conduct", "Participants in detail"), "simulated participant" if badge else "participant"
    section.draw(
        figure(
            "flow",
            charts.consort(results),
            "The flow of participants after CONSORT: how many reached each stage, and where the others left.",
            flow_tables.flow_table(results.flow),
        )
    )
    section.put(flow_tables.flow_by_condition(results.flow))
    if (sample := results.sample) is not None:
        section.say(narrative.duration(sample.total))
        section.say(narrative.opened(sample.total, noun, has_trailers=results.study.words.has_trailers))
        section.say(narrative.comments(sample, noun))
        section.put(tables.conduct_table(sample, has_trailers=results.study.words.has_trailers))
    return section


def _exclusions(results: Results) -> str:
    sentence, n = flow_tables.exclusions_sentence(results.flow), results.answers.n_incomplete
    return f"{sentence} {n} completed the study without all answers and are excluded." if n else sentence
