"""Variables about a recommended item: one column in long files, one for each rank in wide ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from catalog.item_types import EXCERPT, FALLBACK_LANGUAGE
from studies.data.codebook.participants import Person, list_variables, participant_variables, rated_variables, same_as
from studies.data.codebook.questions import Reader, order_variables, question_variables, scale_variable
from studies.data.codebook.variable import YES_NO, Variable, lifted, shown
from studies.design.selectors.placeholders import asked_questions, item_words
from studies.enums import Provenance
from studies.instrument.flow import whole_flow
from studies.instrument.measures import BRANCHES, WATCHED
from studies.instrument.outcomes import SAMPLE_PLAYED, is_played
from studies.instrument.questionnaires import schema
from studies.instrument.questionnaires.core import measures_of
from studies.instrument.scales import ScaleOfStudy, scales_of
from studies.models import Study
from studies.participation.selectors.responses import Recommended
from studies.presentation import FALLBACK, MODEL, REMOTE, STORED
from studies.settings import OPENED, PLAYED

EXPLAINED_BY = {
    MODEL: "the algorithm's decomposition of the score by the participant's ratings",
    FALLBACK: "the fallback text, where the algorithm could not explain the item",
    STORED: "the stored text of the item",
    REMOTE: "the text of the remote recommender",
}
FROM_EVENTS = "from the events since the list was there"


@dataclass(frozen=True)
class RecommendedRow:
    """A recommended item with the participant it was shown to."""

    person: Person
    item: Recommended


READER: Reader[Recommended] = Reader(
    answers=lambda item: item.answers,
    not_asked=lambda item: item.not_asked,
    orders=lambda item: item.orders,
    is_erased=lambda item: False,  # an erased participant has no items
)


def _scored(scale: ScaleOfStudy) -> Variable[Recommended]:
    return scale_variable(f"item.scale.{scale.key}", scale, lambda item: scale.score(item.answers))


def _measure(field: str) -> Callable[[Recommended], Any]:
    return lambda item: getattr(item.measures, field) if item.measures else None


def _shuffled(study: Study) -> tuple[Variable[Recommended], ...]:
    if not study.design.shuffles:
        return ()
    meaning = "Rank by the model before the list was shuffled"
    return (
        Variable("item.model_rank", meaning, "integer", lambda i: i.slot.model_rank, minimum=1,
                 allowed="empty where the list was shown as ranked"),
    )  # fmt: skip


def _explanations(study: Study) -> tuple[Variable[Recommended], ...]:
    """What was shown as the reason of a recommendation, in studies that give one."""
    if not study.design.explains:
        return ()
    usual, own = (MODEL, FALLBACK), study.design.explanations
    kinds = tuple((kind, meaning) for kind, meaning in EXPLAINED_BY.items() if kind in usual or kind in own)
    return (
        Variable("item.explanation", "Explanation shown with it", "text", lambda i: i.explanation or None,
                 allowed="in the language of the pages; empty where none was shown"),
        Variable("item.explanation_kind", "Where the explanation comes from", "category",
                 lambda i: i.slot.explanation_kind or None, values=kinds),
    )  # fmt: skip


def _behaviour(study: Study) -> tuple[Variable[Recommended], ...]:
    """What was counted of each item, in studies that say so."""
    of_kinds: dict[str, tuple[Variable[Recommended], ...]] = {
        OPENED: (
            Variable("item.opened", "How often its details were opened", "integer",
                     lambda i: int(i.looked_at.get("details_opened", 0)), minimum=0, derivation=FROM_EVENTS),
        ),
        PLAYED: (
            Variable("item.played", "Whether its sample was played, or opened on another site", "boolean",
                     is_played, values=YES_NO, derivation=FROM_EVENTS),
            Variable("item.played_seconds", "Time that its sample was played in the page", "number",
                     lambda i: float(i.looked_at.get(SAMPLE_PLAYED, 0)), minimum=0, derivation=FROM_EVENTS,
                     allowed="seconds; 0 for a sample on another site, whose time is not known"),
        ),
    }  # fmt: skip
    return tuple(variable for kind in study.design.recorded for variable in of_kinds[kind])


def _measures(measures: frozenset[str], consumed: str) -> tuple[Variable[Recommended], ...]:
    """What the study's own measures are sums of, where it asks for them."""
    fon = (
        Variable(
            "item.branch",
            "Wording in which the rating was asked",
            "category",
            _measure("branch"),
            values=tuple((branch, consumed if branch == WATCHED else branch) for branch in BRANCHES),
            derivation="from item.watched and item.trailer_seen",
        ),
        Variable(
            "item.fon",
            "First-order novelty",
            "integer",
            _measure("fon"),
            values=(("1", f"not {consumed}"), ("0", consumed)),
            derivation="1 - item.watched",
            direction="high is newer",
        ),
    )
    son = (
        Variable("item.son", "Second-order novelty", "integer", _measure("son"),
                 values=(("1", f"neither {consumed} nor heard of"), ("0", "else")),
                 derivation="1 where item.watched and item.heard are both 0", direction="high is newer"),
    )  # fmt: skip
    return (*(fon if "fon" in measures else ()), *(son if "son" in measures else ()))


def item_variables(study: Study) -> tuple[Variable[Recommended], ...]:
    """Variables of each recommended item."""
    questionnaire = asked_questions(study)
    item_questions = questionnaire.items
    questions = [
        variable for q in item_questions for variable in question_variables(schema.ITEMS, f"item.{q.key}", q, READER)
    ]
    questions += order_variables(schema.ITEMS, "item", item_questions, READER)
    scales = [_scored(scale) for scale in scales_of(questionnaire) if scale.is_about_items]
    consumed = item_words(study.design, FALLBACK_LANGUAGE).consumed
    sample = study.design.kind_of_item.sample
    measures = measures_of(questionnaire)
    provenance: Variable[Recommended] = Variable(
        "item.rating_provenance", "Where the rating comes from", "category", lambda i: i.provenance.get("rating"),
        values=same_as(Provenance.values),
    )  # fmt: skip
    a_sample = f"{'an' if sample == EXCERPT else 'a'} {sample}"
    return (
        Variable("item.rank", "Rank of the recommended item", "integer", lambda i: i.slot.rank, minimum=1),
        Variable("item.id", "Recommended item", "text", lambda i: i.slot.item.external_id,
                 allowed="the dataset's own id"),
        Variable("item.title", "Its title and year", "text", lambda i: str(i.slot.item)),
        Variable("item.score", "Score the model gave it", "number", lambda i: i.slot.score,
                 allowed="empty where popularity filled the slot", direction="high ranks first"),
        Variable("item.is_filled", "Whether popularity filled the slot", "boolean", lambda i: i.slot.is_filled,
                 values=YES_NO),
        *_shuffled(study),
        *_explanations(study),
        *questions,
        *scales,
        *_measures(measures, consumed),
        Variable("item.details_opened", "Whether its details were opened", "boolean",
                 lambda i: "details_opened" in i.looked_at, values=YES_NO, derivation=FROM_EVENTS),
        Variable("item.has_trailer", f"Whether there was {a_sample} of it when the list was made", "boolean",
                 lambda i: i.slot.has_trailer, values=YES_NO,
                 allowed="for an item without one, questions refer to its details; empty if unknown"),
        Variable("item.trailer_opened", f"Whether its {sample} was opened", "boolean",
                 lambda i: "trailer_opened" in i.looked_at, values=YES_NO, derivation=FROM_EVENTS),
        *_behaviour(study),
        *([provenance] if "accuracy" in measures else []),
    )  # fmt: skip


def long_variables(study: Study, *, with_identifying: bool = False) -> tuple[Variable[RecommendedRow], ...]:
    """Columns of the file with one row per participant and recommended item."""
    of_people = (*participant_variables(study), *list_variables(study))
    people: list[Variable[RecommendedRow]] = [lifted(v, lambda row: row.person) for v in of_people]
    items: list[Variable[RecommendedRow]] = [lifted(v, lambda row: row.item) for v in item_variables(study)]
    return shown([*people, *items], with_identifying=with_identifying)


def wide_variables(study: Study, *, with_identifying: bool = False) -> tuple[Variable[Person], ...]:
    """Columns of the file with one row per participant; names contain the numbers of ratings, and of the items of the
    only list.
    """
    variables = [*participant_variables(study)]
    for position in range(1, study.design.items_asked.most + 1):
        variables += rated_variables(study, position)
    is_several = whole_flow(study.design).lists.is_several
    for rank in () if is_several else range(1, study.design.longest_list + 1):
        variables += [_at(variable, rank) for variable in item_variables(study) if variable.name != "item.rank"]
    return shown(variables, with_identifying=with_identifying)


def _at(variable: Variable[Any], rank: int) -> Variable[Person]:
    def read(person: Person) -> Any:
        return variable.read(person.record.items[rank - 1]) if len(person.record.items) >= rank else None

    name, meaning = variable.name.replace("item.", f"item.{rank}.", 1), f"{variable.meaning} (item {rank})"
    return replace(variable, name=name, meaning=meaning, read=read)
