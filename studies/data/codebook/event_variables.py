"""Variables of records over time: ratings of known items, list requests, events, page times, the allocation log."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from catalog.selectors.item_fields import field_of
from recommenders.uploaded_lists import PARTICIPANT
from studies.allocation.assignment.draws import Seed
from studies.data.codebook.cells import iso_time
from studies.data.codebook.participants import Person, known_values, page_of_known_items, same_as
from studies.data.codebook.variable import INDIRECTLY, YES_NO, Variable
from studies.enums import AllocationKind, Mode, Provenance
from studies.flow_pages import CHOICE, COMPARE, ELICIT, ITEM_QUESTIONS, QUESTIONS
from studies.instrument.flow import CONSENT, flow_of, whole_flow
from studies.models import Allocation, Event, ProfileRating, Study
from studies.monitoring.selectors.page_times import PageSummary, TimeOnPage
from studies.settings import PLAYED

CLOCK = "ISO 8601, UTC, the server's clock"


@dataclass(frozen=True)
class Rated:
    """A rating of a known item."""

    person: Person
    order: int
    rating: ProfileRating


@dataclass(frozen=True)
class KeyedRating:
    """A rating as models read it, with the keys of the participant's lists."""

    public_id: str
    profile_key: str
    segment_key: str
    item: str
    rating: str


@dataclass(frozen=True)
class EventRow:
    """An event, with its number among the participant's."""

    public_id: str
    mode: str
    condition: str | None
    order: int
    event: Event


@dataclass(frozen=True)
class PageTime:
    """A page that a participant finished. `finished_at` is the time of its last stored entry."""

    person: Person
    index: int
    name: str
    round: int
    finished_at: datetime
    spent: TimeOnPage = field(default_factory=TimeOnPage)


@dataclass(frozen=True)
class AllocationRow:
    """A line of the allocation log."""

    number: int
    public_id: str | None
    row: Allocation
    seed: Seed | None


def rating_variables(study: Study) -> tuple[Variable[Rated], ...]:
    """Variables of each rating, or choice, of a known item."""
    noun, verb = ("choice", "chosen") if study.design.is_choice else ("rating", "rated")
    source, scale = page_of_known_items(study), study.design.scale
    return (
        Variable("participant.id", "Id of the participant for publication", "text",
                 lambda r: r.person.record.public_id),
        Variable("participant.mode", "Mode of the participant", "category",
                 lambda r: r.person.record.participant.mode, values=same_as(Mode.values)),
        Variable("rating.order", f"Number of the {noun}, in the order given", "integer", lambda r: r.order,
                 minimum=1),
        Variable("rating.item", f"Item {verb}", "text", lambda r: r.rating.item.external_id,
                 allowed="the dataset's own id", source=source),
        Variable("rating.title", "Its title and year", "text", lambda r: str(r.rating.item)),
        Variable("rating.value", noun.capitalize(), read=lambda r: scale.value(r.rating.rating), source=source,
                 **known_values(study)),
        Variable("rating.n_changes", "How often it was changed", "integer", lambda r: r.rating.n_changes, minimum=0),
        Variable("rating.provenance", "Where it comes from", "category", lambda r: r.rating.provenance,
                 values=same_as(Provenance.values)),
        Variable("rating.time_first_utc", "When it was first given", "datetime", lambda r: r.rating.rated_at,
                 allowed=CLOCK),
        Variable("rating.time_changed_utc", "When it was last changed", "datetime", lambda r: r.rating.changed_at,
                 allowed=CLOCK),
    )  # fmt: skip


def _fact(*names: str) -> Any:
    return lambda h: next((h.event.facts[name] for name in names if name in h.event.facts), None)


def profile_variables(study: Study) -> tuple[Variable[KeyedRating], ...]:
    """Variables of each rating of a profile, by the keys of uploaded lists."""
    return (
        Variable("key", "Key of lists for exactly this profile", "text", lambda r: r.profile_key,
                 allowed="profile: and a SHA-256"),
        Variable("participant", "Key of lists for this participant", "text",
                 lambda r: f"{PARTICIPANT}{r.public_id}", allowed="participant: and participant.id"),
        Variable("segment", "Key of lists for its most frequent genre", "text", lambda r: r.segment_key,
                 allowed="segment: and the genre; empty where no item has one"),
        Variable("item", "Rated item", "text", lambda r: r.item, allowed="the dataset's own id"),
        Variable("rating", "Rating on the scale of the dataset", "number", lambda r: r.rating),
    )  # fmt: skip


def list_request_variables(study: Study) -> tuple[Variable[Person], ...]:
    """Variables of each request for a list, in studies with a remote recommender. Its key is left out: the service
    knows it, and could tell which of its users a row is about.
    """

    def requested(name: str) -> Any:
        return lambda p: getattr(p.record.participant.list_request, name)

    def answer(person: Person) -> dict[str, Any] | None:
        stored = person.record.participant.list_request.answer
        if stored is None:
            return None
        ids = field_of(study.dataset_version, "ids")
        return {**stored, "items": [ids[index] for index in stored["items"]]}

    return (
        Variable("participant.id", "Id of the participant for publication", "text", lambda p: p.record.public_id),
        Variable("participant.mode", "Mode of the participant", "category", lambda p: p.record.participant.mode,
                 values=same_as(Mode.values)),
        Variable("request.time_requested_utc", "When the participant left the page of known items", "datetime",
                 requested("requested_at"), allowed=CLOCK),
        Variable("request.time_shown_utc", "When the list was shown", "datetime", requested("shown_at"), allowed=CLOCK),
        Variable("request.attempts", "How often the remote recommender was asked", "integer", requested("attempts"),
                 allowed="0 in conditions with another recommender", minimum=0),
        Variable("request.seconds", "Time that its answer took", "number", requested("seconds"), allowed="seconds",
                 minimum=0),
        Variable("request.version", "Its version", "text", requested("version")),
        Variable("request.error", "Why it gave no list at the last attempt", "text", requested("error"),
                 identifies=INDIRECTLY),
        Variable("request.answer", "Its answer: the model, items by the dataset's own id, scores, explanations by "
                 "language, and what else the service said", "text", answer, allowed="JSON object",
                 identifies=INDIRECTLY),
    )  # fmt: skip


def event_variables(study: Study) -> tuple[Variable[EventRow], ...]:
    """Variables of each event; facts without their own column are in the last one."""
    played = ", and sample_played with its seconds among the facts" if PLAYED in study.design.recorded else ""
    return (
        Variable("participant.id", "Id of the participant for publication", "text", lambda h: h.public_id),
        Variable("participant.mode", "Mode of the participant", "category", lambda h: h.mode,
                 values=same_as(Mode.values)),
        Variable("participant.condition", "Condition", "category", lambda h: h.condition),
        Variable("event.order", "Number of the event among the participant's", "integer", lambda h: h.order,
                 minimum=1),
        Variable("event.kind", "What happened", "text", lambda h: h.event.kind,
                 allowed="page_view, search, details_opened, trailer_opened, rating_changed, answer_changed and "
                         "answer_withdrawn are recorded by the server, page_shown and page_left by the browser"
                         f"{played}"),
        Variable("event.source", "Source of the event", "category", lambda h: "browser" if h.event.key else "server",
                 values=same_as(("server", "browser"))),
        Variable("event.page", "Page it happened on", "text", lambda h: h.event.page or _fact("page")(h)),
        Variable("event.item", "Item it is about", "text", _fact("item"), allowed="the dataset's own id"),
        Variable("event.rank", "Rank of the recommended item it is about", "integer",
                 lambda h: h.event.rank or _fact("rank")(h)),
        Variable("event.view", "View of the page, the same for all browser events of that view", "text",
                 _fact("view")),
        Variable("event.dwell_seconds", "Time that the page was in sight, since it was last out of sight", "number",
                 lambda h: _fact("dwell_seconds")(h) if h.event.seconds is None else h.event.seconds,
                 allowed="seconds; empty for anything but page_left", minimum=0,
                 derivation="a page that was out of sight meanwhile has several; their sum is the time spent on it"),
        Variable("event.hidden_seconds", "Time that the page was open and out of sight before that", "number",
                 lambda h: h.event.hidden_seconds, allowed="seconds; empty for anything but page_left", minimum=0),
        Variable("event.time_server_utc", "When the server recorded it", "datetime", lambda h: h.event.at,
                 allowed=CLOCK),
        Variable("event.time_client_utc", "When it happened by the browser's clock", "text",
                 lambda h: iso_time(h.event.client_at) if h.event.client_at else _fact("client_time", "client_at")(h),
                 allowed="ISO 8601; the browser's clock may be wrong, and without its script there is none"),
        Variable("event.facts", "All recorded facts", "text", lambda h: h.event.facts, allowed="JSON object",
                 identifies=INDIRECTLY),
    )  # fmt: skip


def page_variables(study: Study) -> tuple[Variable[PageTime], ...]:
    """Page times, under oTree's column names."""
    kinds = (QUESTIONS, ELICIT, ITEM_QUESTIONS, CHOICE, COMPARE)
    timed = [page.key for page in flow_of(study).pages if page.kind in kinds]
    return (
        Variable("session_code", "The study", "text", lambda p: study.slug),
        Variable("participant_id_in_session", "Number of the participant in order of entry", "integer",
                 lambda p: p.person.number, minimum=1),
        Variable("participant_code", "Id of the participant for publication", "text",
                 lambda p: p.person.record.public_id, derivation="the same as participant.id in other files"),
        Variable("page_index", "Number of the page", "integer", lambda p: p.index, minimum=1),
        Variable("app_name", "Part of the platform", "text", lambda p: "study"),
        Variable("page_name", "The page", "category", lambda p: p.name,
                 values=same_as((CONSENT, *timed))),
        Variable("epoch_time_completed", "When it was finished", "number", lambda p: p.finished_at.timestamp(),
                 allowed="seconds since 1970-01-01 UTC",
                 derivation="time of the last entry that the server stored for the page"),
        Variable("round_number", "Rank of the item on pages about items, else 1", "integer", lambda p: p.round,
                 minimum=1),
        Variable("timeout_happened", "Whether the page ended by itself", "boolean", lambda p: False, values=YES_NO),
        Variable("is_wait_page", "Whether it is a waiting page", "boolean", lambda p: False, values=YES_NO),
        Variable("dwell_seconds", "Time that the page was in sight", "number", lambda p: p.spent.seconds,
                 allowed="seconds; empty where the browser reported none", minimum=0,
                 derivation="sum over all views of the page, of the time that it was in sight"),
        Variable("hidden_seconds", "Time that the page was open and out of sight", "number",
                 lambda p: p.spent.hidden_seconds, allowed="seconds; empty where the browser reported none", minimum=0),
        Variable("n_views", "How often the server showed the page", "integer", lambda p: p.spent.n_views, minimum=0),
    )  # fmt: skip


def page_summary_variables(study: Study) -> tuple[Variable[PageSummary], ...]:
    """How long a page takes, over the participants who completed the study."""
    return (
        Variable("page_name", "The page", "category", lambda s: s.page,
                 values=same_as(whole_flow(study.design).keys)),
        Variable("participant_mode", "Mode of the participants", "category", lambda s: s.mode,
                 values=same_as(Mode.values)),
        Variable("n_participants", "Participants whose browser reported the time", "integer", lambda s: s.n, minimum=0),
        Variable("n_pages", "Pages of that name they had: one for each item, else one", "integer",
                 lambda s: s.n_pages, minimum=0),
        Variable("median_seconds", "Median time that one such page was in sight", "number", lambda s: s.median,
                 allowed="seconds; empty where no browser reported it", minimum=0,
                 derivation="of the sums of dwell_seconds by participant and page"),
        Variable("quartile_1_seconds", "First quartile of the same", "number", lambda s: s.quartile_1,
                 allowed="seconds", minimum=0),
        Variable("quartile_3_seconds", "Third quartile of the same", "number", lambda s: s.quartile_3,
                 allowed="seconds", minimum=0),
    )  # fmt: skip


def allocation_variables(study: Study) -> tuple[Variable[AllocationRow], ...]:
    """The allocation log, enough to replay the assignment with the study's seed."""
    arm = "sequence" if study.sequences.exists() else "condition"
    return (
        Variable("allocation.number", "Number of the line", "integer", lambda a: a.number, minimum=1),
        Variable("allocation.mode", "Mode of the participant", "category", lambda a: a.row.mode,
                 values=same_as(Mode.values)),
        Variable("allocation.kind", "Kind of entry", "category", lambda a: a.row.kind,
                 values=same_as(AllocationKind.values)),
        Variable("allocation.stratum", "Stratum", "text", lambda a: a.row.stratum, identifies=INDIRECTLY),
        Variable("allocation.block", "Block of the stratum's sequence", "integer", lambda a: a.row.block, minimum=0),
        Variable("allocation.place", "Place in the stratum's sequence", "integer", lambda a: a.row.place, minimum=0),
        Variable(f"allocation.{arm}", arm.capitalize(), "category", lambda a: getattr(a.row, arm).label),
        Variable("allocation.targets", f"Targets of all {arm}s at that moment", "text",
                 lambda a: getattr(a.row, "targets", None), allowed="JSON list; empty where not logged"),
        Variable("allocation.participant", "Participant, by the id for publication", "text", lambda a: a.public_id),
        Variable("allocation.time_utc", "When", "datetime", lambda a: a.row.at, allowed=CLOCK),
        Variable("allocation.seed", "Seed of the mode's sequence", "text", lambda a: a.seed,
                 allowed="128 bits in hexadecimal, or a whole number where the seed was known; empty until the close"),
    )  # fmt: skip
